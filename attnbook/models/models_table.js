// A table that a reader can sort and filter, such as that of real models; see models_table.py.

/** A text in which a search finds capitals, signs and subscripts by plain letters. */
const folded = (text) => text.normalize("NFKC").toLowerCase();
const wordsOf = (text) => text.split(/\s+/).filter(Boolean);

/** Order lines by rank: what has none comes last, and equal ones stay as they were listed. */
const byRank = (column, descending) => (one, other) => {
  const [a, b] = [one.ranks[column], other.ranks[column]];
  const apart = a < 0 || b < 0 ? (a < 0) - (b < 0) : descending ? b - a : a - b;
  return apart || one.place - other.place;
};

function render({ model, el }) {
  const heads = () => [...el.querySelectorAll("th[aria-sort]")];
  let lines;
  const read = () => [...el.querySelectorAll("tbody tr")].map((row) => {
    const { places, schemes, text } = row.dataset;
    const [place, ...ranks] = places.split(" ").map(Number);
    return { row, place, ranks, schemes: schemes.split("|"), text };
  });
  const draw = ({ sort, descending, text, scheme }) => {
    lines ??= read();
    const names = heads().map((head) => head.firstChild.name);
    const way = descending ? "descending" : "ascending";
    const order = lines.map(({ place }) => place).join();
    lines.sort(sort ? byRank(names.indexOf(sort), descending) : (a, b) => a.place - b.place);
    if (lines.map(({ place }) => place).join() !== order) {
      el.querySelector(".models").scrollTop = 0; // first: later the table is laid out for it
      el.querySelector("tbody").append(...lines.map(({ row }) => row));
    }
    heads().forEach((head, column) =>
      put(head, "aria-sort", names[column] === sort ? way : "none"));
    const wanted = wordsOf(folded(text));
    for (const line of lines) {
      line.row.hidden = Boolean(scheme && !line.schemes.includes(scheme)) ||
        !wanted.every((word) => line.text.includes(word));
    }
    const count = lines.filter(({ row }) => !row.hidden).length;
    const filters = [
      ...(scheme ? [`has “${scheme}”`] : []),
      ...(wanted.length ? [`contains “${wordsOf(text).join(" ")}”`] : []),
    ].join(" and ");
    const shown = `${count} of ${lines.length} lines` +
      (filters && `: ${count ? "each" : "none"} ${filters}`);
    if (!count) return `${shown}. Change the filter or press Reset.`;
    if (!sort) return `${shown}. ${el.querySelector(".models").dataset.order}`;
    return `${shown}. Sorted by “${heads()[names.indexOf(sort)].dataset.label}”, ${way}.`;
  };
  const stop = connect({ model, el }, ["sort", "descending", "text", "scheme"], draw);
  const pressed = ({ target }) => {
    const name = target.closest("button")?.name;
    if (!name) return;
    const again = name === model.get("sort");
    save(model, { descending: again && !model.get("descending"), sort: name });
  };
  el.querySelector("thead").addEventListener("click", pressed);
  return stop;
}

export default { render };
