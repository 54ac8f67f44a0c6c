// The figure in which a row follows the temperature and not the width; see temperature.py.

const [WIDE, HIGH] = [640, 200];

function steps(weights) {
  const room = WIDE / weights.length;
  const levels = weights
    .map((height, place) => `V${number(HIGH * (1 - height))}H${number(room * (place + 1))}`);
  return `M0 ${HIGH}${levels.join("")}`;
}

export default moving(["ratio", "d_k", "n_keys", "draw"], ({ ratio, d_k, n_keys, draw }, el) => {
  const reach = length(normals(draw, 0, d_k)) / Math.sqrt(d_k);
  const keys = normals(draw, 1, n_keys).sort((a, b) => b - a);
  const row = (times) => softmax(keys.map((g) => (times / ratio) * g));
  const p = row(reach);
  const svg = el.querySelector("svg");
  drawRow(svg, p, WIDE, HIGH, true);
  outline(svg, ".limit", steps(row(1)));
  return `τ = ${ratio}·√${d_k} = ${(ratio * Math.sqrt(d_k)).toFixed(2)}: largest weight ` +
    `${p[0].toFixed(3)}, ${effectivePositions(p).toFixed(1)} effective positions of ${n_keys}.`;
});
