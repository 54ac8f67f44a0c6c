// The figure in which the Jacobian of a row of four keys follows its logits; see jacobian.py.

const [WIDE, BAR, GRID, ROW, THICK, LARGEST] = [420, 180, 220, 50, 24, 0.25];

const bars = (lengths) => lengths
  .map((long, row) => levelBar(0, ROW * (row + 0.5) - THICK / 2, long, THICK))
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
  outline(el, "svg .bars", bars([...p.map((weight) => BAR * weight), (WIDE * reaction) / LARGEST]));
  outline(el, "svg .rises", squares(jacobian, true));
  outline(el, "svg .falls", squares(jacobian, false));
  return `The largest weight is ${Math.max(...p).toFixed(2)}; ` +
    `the squared entries add up to ${reaction.toFixed(3)}.`;
});
