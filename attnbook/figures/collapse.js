// The figure in which a row of weights collapses as the head gets wider; see collapse.py.

const [WIDE, HIGH] = [640, 200];

function render({ model, el }) {
  return connect({ model, el }, ["d_k", "n_keys", "divided", "draw"], (state) => {
    const { d_k, n_keys, divided, draw } = state;
    const reach = length(normals(draw, 0, d_k)) / (divided ? Math.sqrt(d_k) : 1);
    const p = softmax(normals(draw, 1, n_keys).map((g) => reach * g));
    const svg = el.querySelector("svg");
    svg.setAttribute("class", divided ? "divided" : "undivided");
    svg.querySelector(".bars").setAttribute("d", rootBars(p, WIDE, HIGH));
    svg.querySelector(".even").setAttribute("d", `M0 ${number(HIGH * (1 - n_keys ** -0.5))}H${WIDE}`);
    const division = divided ? "divided" : "not divided";
    const top = p.reduce((a, b) => Math.max(a, b));
    return `Width ${d_k}, ${n_keys} keys, ${division}: the largest weight is ` +
      `${top.toFixed(2)}, the row has ${effectivePositions(p).toFixed(1)} effective positions, ` +
      `and ${meaningfulKeys(p)} of its keys get a meaningful share of the gradient.`;
  });
}

export default { render };
