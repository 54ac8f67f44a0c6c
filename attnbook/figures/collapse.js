// The figure in which a row of weights collapses as the head gets wider; see collapse.py.

const [WIDE, HIGH] = [640, 200];

export default moving(["d_k", "n_keys", "divided", "draw"], (state, el) => {
  const { d_k, n_keys, divided, draw } = state;
  const reach = length(normals(draw, 0, d_k)) / (divided ? Math.sqrt(d_k) : 1);
  const p = softmax(normals(draw, 1, n_keys).map((g) => reach * g));
  drawRow(el.querySelector("svg"), p, WIDE, HIGH, divided);
  const top = p.reduce((a, b) => Math.max(a, b));
  return `${divided ? "Divided" : "Not divided"}: largest weight ${top.toFixed(2)}, as ` +
    `spread out as ${effectivePositions(p).toFixed(1)} equal weights.`;
});
