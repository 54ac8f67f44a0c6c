// The figure that subtracts from three scores and divides them; see subtract_or_divide.py.

const SCORES = [100, 102, 103];
const [WIDE, ROWS] = [640, [10, 30, 50]];
const [PLACES, DISTANCES] = [[-10, 110], [-3.25, 0.25]];

const across = (value, [low, high]) => (WIDE * (value - low)) / (high - low);

const dots = (values, ends) => dotsAt(values.map((value, key) => [across(value, ends), ROWS[key]]));

function stems(distances) {
  const end = number(across(0, DISTANCES));
  return distances
    .map((distance, key) => `M${number(across(distance, DISTANCES))} ${ROWS[key]}H${end}`)
    .join("");
}

const bars = (weights) =>
  weights.map((weight, key) => levelBar(0, ROWS[key] - 7, WIDE * weight, 14)).join("");

export default moving(["subtracted", "divisor"], ({ subtracted, divisor }, el) => {
  const z = SCORES.map((score) => (score - subtracted) / divisor);
  const [first, second, third] = z;
  const distances = z.map((score) => score - third);
  const p = softmax(z);
  const [where, apart, weights] = el.querySelectorAll("svg");
  for (const svg of [where, apart, weights]) {
    put(svg, "class", armOf(divisor > 1));
  }
  outline(where, ".dots", dots(z, PLACES));
  outline(apart, ".stems", stems(distances));
  outline(apart, ".dots", dots(distances, DISTANCES));
  outline(weights, ".bars", bars(p));
  const names = weights.parentNode.querySelectorAll(".figure-names span");
  p.forEach((weight, key) => (names[key].textContent = weight.toFixed(3)));
  const same = subtracted || divisor > 1 ? ", as before" : "";
  const compared = (now, was) => now + (now === was ? same : `, was ${was}`);
  const ratio = compared(first ? minus((second / first).toFixed(3)) : "none", "1.020");
  return `Second over first: ${ratio}. Third key's weight: ${compared(p[2].toFixed(3), "0.705")}.`;
});
