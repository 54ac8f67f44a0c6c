// The figure in which a row follows the temperature and not the width; see temperature.py.

const [WIDE, HIGH] = [640, 200];

function steps(weights) {
  const room = WIDE / weights.length;
  const levels = weights
    .map(Math.sqrt)
    .map((height, place) => `V${number(HIGH * (1 - height))}H${number(room * (place + 1))}`);
  return `M0 ${HIGH}${levels.join("")}`;
}

function render({ model, el }) {
  return connect({ model, el }, ["ratio", "d_k", "n_keys", "draw"], (state) => {
    const { ratio, d_k, n_keys, draw } = state;
    const reach = length(normals(draw, 0, d_k)) / Math.sqrt(d_k);
    const keys = normals(draw, 1, n_keys).sort((a, b) => b - a);
    const row = (times) => softmax(keys.map((g) => (times / ratio) * g));
    const p = row(reach);
    const even = HIGH * (1 - Math.sqrt(1 / n_keys));
    const svg = el.querySelector("svg");
    svg.querySelector(".bars").setAttribute("d", rootBars(p, WIDE, HIGH));
    svg.querySelector(".limit").setAttribute("d", steps(row(1)));
    svg.querySelector(".even").setAttribute("d", `M0 ${number(even)}H${WIDE}`);
    return `Width ${d_k}, τ = ${ratio}·√${d_k} = ${(ratio * Math.sqrt(d_k)).toFixed(2)}, ` +
      `${n_keys} keys: largest weight ${p[0].toFixed(3)}, entropy ${entropy(p).toFixed(2)} ` +
      `of at most ${Math.log(n_keys).toFixed(2)} nats, ` +
      `${effectivePositions(p).toFixed(1)} effective positions. ` +
      `The query is ${reach.toFixed(2)}·√${d_k} long.`;
  });
}

export default { render };
