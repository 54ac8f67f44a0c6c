// The figure in which a reader moves the scores of a short row one by one; see drag_scores.py.

const KEYS = ["first", "second", "third", "fourth", "fifth"];
const DIVISOR = 8;
const [WIDE, HIGH, TENTH, LEAST] = [640, 200, 0.1, 0.005];
const percent = (p) => `${(100 * p).toFixed(0)}%`;

function bars(weights) {
  const room = WIDE / weights.length;
  return weights
    .map((p, place) =>
      bar(room * (place + 0.2), HIGH, 0.6 * room, p > 0 ? Math.max(HIGH * p, 1.5) : 0))
    .join("");
}

export default moving([...KEYS, "divided"], (state, el) => {
  const { divided } = state;
  const scores = KEYS.map((key) => state[key]);
  const logits = scores.map((score) =>
    score === null ? -Infinity : score / (divided ? DIVISOR : 1));
  const p = softmax(logits);
  const svg = el.querySelector("svg");
  put(svg, "class", armOf(divided));
  outline(svg, ".bars", bars(p));
  el.querySelectorAll(".figure-names span").forEach((name, place) => {
    putName(name, (100 * (place + 0.5)) / KEYS.length, 98 - 100 * Math.max(p[place], TENTH));
    name.textContent = scores[place] === null ? "off" : p[place] >= LEAST ? percent(p[place]) : "";
  });
  const [best, second] = scores.filter((score) => score !== null).sort((a, b) => b - a);
  const [top, next] = [...p].sort((a, b) => b - a);
  const after = divided ? `divided by ${DIVISOR}` : "not divided";
  return `A lead of ${reading(best - second)}, ${after}: the best key weighs ${percent(top)}, ` +
    `the next ${next >= LEAST ? percent(next) : "under 1%"}.`;
});
