// The figure in which the Jacobian of a row of four keys follows its logits; see jacobian.py.

const [WIDE, BAR, GRID, ROW, THICK, LARGEST] = [380, 150, 180, 50, 24, 0.25];
const percent = (p) => (p >= 0.005 ? `${(100 * p).toFixed(0)}%` : "<1%");

const bars = (weights) => weights
  .map((p, row) => levelBar(0, ROW * (row + 0.5) - THICK / 2, Math.max(BAR * p, 1.5), THICK))
  .join("");

function squares(jacobian, rising) {
  return jacobian
    .flatMap((entries, row) => entries.map((entry, column) => {
      if ((row === column) !== rising) return "";
      const side = 0.92 * ROW * Math.sqrt(Math.abs(entry) / LARGEST);
      const [x, y] = [GRID + ROW * (column + 0.5), ROW * (row + 0.5)];
      const hole = rising ? "" : square(x, y, -Math.max(0.7 * side, side - 5));
      return square(x, y, side) + hole;
    }))
    .join("");
}

export default moving(["s1", "s2", "s3", "s4", "factor"], ({ s1, s2, s3, s4, factor }, el) => {
  const p = softmax([s1, s2, s3, s4].map((logit) => factor * logit));
  const jacobian = p.map((p_i, i) => p.map((p_j, j) => (i === j ? p_i * (1 - p_i) : -p_i * p_j)));
  const reaction = sum(jacobian.flat().map((entry) => entry ** 2));
  outline(el, ".figure-matrix .bars", bars(p));
  outline(el, "svg .rises", squares(jacobian, true));
  outline(el, "svg .falls", squares(jacobian, false));
  outline(el, ".figure-sum .bars", levelBar(0, 0, (WIDE * reaction) / LARGEST, THICK));
  const total = reaction >= 0.0005 ? reaction.toFixed(3) : "under 0.001";
  const values = el.querySelectorAll(":is(.figure-rows, .figure-sum) .value");
  [...p.map(percent), total].forEach((text, place) => {
    values[place].textContent = text;
  });
  const top = Math.max(...p);
  return `The largest weight is ${percent(top)}; ` + (top < 0.995
    ? `the squared entries add up to ${total}.` : "one key has it all, and nothing answers.");
});
