// The figure in which a reader moves the scores of a short row one by one; see drag_scores.py.

const KEYS = ["first", "second", "third", "fourth", "fifth"];
const DIVISOR = 8;
const [WIDE, HIGH] = [640, 200];

function bars(weights) {
  const room = WIDE / weights.length;
  return weights
    .map((weight, place) => bar(room * (place + 0.2), HIGH, 0.6 * room, HIGH * weight))
    .join("");
}

export default moving([...KEYS, "divided"], (state, el) => {
  const { divided } = state;
  const scores = KEYS.map((key) => state[key]);
  const logits = scores.map((score) =>
    score === null ? -Infinity : score / (divided ? DIVISOR : 1));
  const p = softmax(logits);
  const svg = el.querySelector("svg");
  svg.setAttribute("class", armOf(divided));
  outline(svg, ".bars", bars(p));
  el.querySelectorAll(".figure-names span").forEach((name, place) => {
    putName(name, (100 * (place + 0.5)) / KEYS.length, 100 * (1 - p[place]));
    name.textContent = scores[place] === null ? "off" : p[place].toFixed(3);
  });
  const [best, second] = scores.filter((score) => score !== null).sort((a, b) => b - a);
  const [top, next] = [...p].sort((a, b) => b - a);
  return `A lead of ${reading(best - second)}, ` +
    `${divided ? `divided by ${DIVISOR}` : "not divided"}: the best key gets ` +
    `${top.toFixed(3)} of the weight, the next ${next.toFixed(3)}.`;
});
