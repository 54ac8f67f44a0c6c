// The figure in which the Jacobian of a row of four keys follows its logits; see jacobian.py.

const [WIDE, BAR, GRID, ROW, THICK, LARGEST] = [420, 180, 220, 50, 24, 0.25];

function bars(lengths) {
  return lengths
    .map((long, row) =>
      `M0 ${number(ROW * (row + 0.5) - THICK / 2)}h${number(long)}v${THICK}h${number(-long)}z`)
    .join("");
}

function square(row, column, side) {
  const wide = Math.abs(side);
  const [x, y] = [GRID + ROW * (column + 0.5) - wide / 2, ROW * (row + 0.5) - side / 2];
  return `M${number(x)} ${number(y)}h${number(wide)}v${number(side)}h${number(-wide)}z`;
}

function squares(jacobian, rising) {
  return jacobian
    .flatMap((entries, row) => entries.map((entry, column) => {
      if ((row === column) !== rising) return "";
      const side = 0.92 * ROW * Math.sqrt(Math.abs(entry) / LARGEST);
      const hole = rising ? "" : square(row, column, -Math.max(0.7 * side, side - 5));
      return square(row, column, side) + hole;
    }))
    .join("");
}

function render({ model, el }) {
  return connect({ model, el }, ["s1", "s2", "s3", "s4", "factor"], (state) => {
    const { s1, s2, s3, s4, factor } = state;
    const p = softmax([s1, s2, s3, s4].map((logit) => factor * logit));
    const jacobian = p.map((p_i, i) => p.map((p_j, j) => (i === j ? p_i * (1 - p_i) : -p_i * p_j)));
    const reaction = sum(jacobian.flat().map((entry) => entry ** 2));
    const part = (name, d) => el.querySelector(`svg .${name}`).setAttribute("d", d);
    part("bars", bars([...p.map((weight) => BAR * weight), (WIDE * reaction) / LARGEST]));
    part("rises", squares(jacobian, true));
    part("falls", squares(jacobian, false));
    const [first, second, third, fourth] = p.map((weight) => weight.toFixed(2));
    const top = Math.max(...jacobian.map((entries, i) => entries[i]));
    return `Weights ${first}, ${second}, ${third} and ${fourth}: the squared entries of the ` +
      `Jacobian add up to ${reaction.toFixed(3)}, its squared Frobenius norm; the largest entry ` +
      `on its diagonal is ${top.toFixed(3)}.`;
  });
}

export default { render };
