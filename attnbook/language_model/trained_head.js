// The figure in which a reader looks into the heads of two small trained models; see
// trained_head.py. Of the scores, which come with its data, it reads those that it shows.

const [LINES, HEADS, LENGTH, FACTOR, FINE, CELL] = [12, 4, 24, 8, 200, 10];
const MODELS = ["divided", "undivided"];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const SWITCHES = ["Take this head’s division away", "Give this head the division"];

const read = (text, place) =>
  64 * DIGITS.indexOf(text[2 * place]) + DIGITS.indexOf(text[2 * place + 1]);
const percent = (share) => Math.floor(100 * share + 0.5);
const named = (symbol) =>
  ({ " ": "a space", "\n": "the end of the line" })[symbol] ?? `“${symbol}”`;
const choices = (form, name) => [...form.elements[name].options].map(({ value }) => value);

/** The weights of every row of a map, whose scores begin at a place of the data. */
function rowsOf(scores, first, factor) {
  return Array.from({ length: LENGTH }, (_, row) => softmax(Array.from({ length: row + 1 },
    (_, column) => -factor * read(scores, first + (row * (row + 1)) / 2 + column) / FINE)));
}

const squares = (rows) => rows
  .flatMap((weights, row) => weights.map(Math.sqrt).map((side, column) => side > 0.05
    ? square(CELL * (column + 0.5), CELL * (row + 0.5), 0.94 * CELL * side) : ""))
  .join("");

function render({ model, el }) {
  const form = formOf({ model, el });
  const room = el.querySelector(".trained");
  const keys = room.querySelector(".trained-keys");
  const [lines, heads] = [choices(form, "line"), choices(form, "head")];
  const { scores, expected, sure, losses } = JSON.parse(room.dataset.late);
  const names = ["line", "head", "position", "model", "switched"];
  let [shown, rows] = []; // the map on the screen and its weights: to draw it anew is slow
  const stop = connect({ model, el }, names, (state) => {
    const { line, position, switched } = state;
    const how = MODELS.indexOf(state.model);
    const [head, at] = [heads.indexOf(state.head), lines.indexOf(line)];
    const divides = (how === 0) !== switched;
    const map = (how * HEADS + head) * LINES + at;
    if (shown !== `${map} ${divides}`) {
      shown = `${map} ${divides}`;
      rows = rowsOf(scores, map * LENGTH * (LENGTH + 1) / 2, divides ? 1 : FACTOR);
      outline(room, ".bars", squares(rows));
    }
    write(form.querySelector(".switch span"), SWITCHES[how]);
    put(room, "class", `trained ${armOf(divides)}`);
    put(room.querySelector("svg"), "class", armOf(divides));
    outline(room, ".row", levelBar(0, CELL * (position - 1), CELL * LENGTH, CELL));
    room.querySelectorAll(".trained-letters span, b").forEach((letter, i) =>
      write(letter, line[i % LENGTH].replace(" ", "·")));
    const row = rows[position - 1];
    [...keys.children].forEach((cell, i) => {
      const [bar, , share] = cell.children;
      put(cell, "class", i === position - 1 ? "here" : i < position ? "seen" : "later");
      write(share, i < position ? String(percent(row[i]) || "") : "");
      put(bar, "style", `height:${share.textContent || 0}%`);
    });
    const best = row.indexOf(Math.max(...row));
    const change = switched ? head + 1 : 0;
    const place = ((how * (HEADS + 1) + change) * LINES + at) * LENGTH + position - 1;
    const [before, now] = [losses[how][0], losses[how][change]];
    return `${percent(row[best])}% on ${named(line[best])}; the model expects ` +
      `${named(expected[place])} (${read(sure, place)}%). ` +
      `Loss: ${switched ? `${before} to ${now}` : before}.`;
  });
  keys.addEventListener("click", ({ target }) => {
    const cell = target.closest(".trained-keys > span");
    if (cell) save(model, { position: [...keys.children].indexOf(cell) + 1 });
  });
  return stop;
}

export default { render };
