// The figure that subtracts from three scores and divides them; see subtract_or_divide.py.

const SCORES = [100, 102, 103];
const [WIDE, ROWS] = [640, [10, 30, 50]];
const [PLACES, DISTANCES] = [[-10, 110], [-3.25, 0.25]];

const across = (value, [low, high]) => (WIDE * (value - low)) / (high - low);
const minus = (text) => text.replaceAll("-", "−");
const signed = (value) => minus(number(value));

const dots = (values, ends) =>
  values.map((value, key) => `M${number(across(value, ends))} ${ROWS[key]}h0`).join("");

function stems(distances) {
  const end = number(across(0, DISTANCES));
  return distances
    .map((distance, key) => `M${number(across(distance, DISTANCES))} ${ROWS[key]}H${end}`)
    .join("");
}

const bars = (weights) => weights
  .map((weight, key) =>
    `M0 ${ROWS[key] - 7}h${number(WIDE * weight)}v14h${number(-WIDE * weight)}z`)
  .join("");

function render({ model, el }) {
  return connect({ model, el }, ["subtracted", "divisor"], ({ subtracted, divisor }) => {
    const z = SCORES.map((score) => (score - subtracted) / divisor);
    const [first, second, third] = z;
    const distances = z.map((score) => score - third);
    const p = softmax(z);
    const [where, apart, weights] = el.querySelectorAll("svg");
    for (const svg of [where, apart, weights]) {
      svg.setAttribute("class", divisor > 1 ? "divided" : "undivided");
    }
    where.querySelector(".dots").setAttribute("d", dots(z, PLACES));
    apart.querySelector(".stems").setAttribute("d", stems(distances));
    apart.querySelector(".dots").setAttribute("d", dots(distances, DISTANCES));
    weights.querySelector(".bars").setAttribute("d", bars(p));
    const ratio = first ? `is ${minus((second / first).toFixed(3))}` : "does not exist";
    return `${subtracted} subtracted, then divided by ${divisor}: the scores are ` +
      `${signed(first)}, ${signed(second)} and ${signed(third)}, ` +
      `the gaps ${signed(second - first)} and ${signed(third - second)}. ` +
      `The ratio of the second score to the first ${ratio}. The weights are ` +
      `${p[0].toFixed(3)}, ${p[1].toFixed(3)} and ${p[2].toFixed(3)}.`;
  });
}

export default { render };
