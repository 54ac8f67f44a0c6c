// The figure in which the lengths of gradients fan out; see gradient_quantiles.py.

const WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const KEYS = [2, 4, 16, 64, 256, 1024];
const [WIDE, HIGH, TOP, DECADES, APART, LOWEST] = [600, 240, 1, 12, 17, 230];
const STEP = WIDE / (WIDTHS.length - 1);

const height = (value) => (HIGH * (TOP - Math.log10(value))) / DECADES;
const power = (exponent) =>
  "10" + String(exponent).replace(/./g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign]));

function readingOf(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return exponent < -3
    ? `${mantissa}·${power(Number(exponent))}`
    : value.toFixed(digits - 1 - exponent);
}

function visible(values) {
  const points = values.map((value, i) => [STEP * i, height(value)]);
  const inside = points.filter(([, y]) => y <= HIGH);
  if (inside.length < points.length) {
    const [x, y] = inside.at(-1);
    const below = points[inside.length][1];
    inside.push([x + (STEP * (HIGH - y)) / (below - y), HIGH]);
  }
  return inside;
}

export default moving(["receiver", "n_keys", "d_k"], (state, el) => {
  const { receiver, n_keys, d_k } = state;
  const arms = ["not divided", "divided"].map((arm) =>
    table[receiver][arm][KEYS.indexOf(n_keys)]);
  const at = WIDTHS.indexOf(d_k);
  outline(el, ".here", `M${number(STEP * at)} 0V${HIGH}`);
  const ends = ["undivided", "divided"].map((name, i) => {
    const [low, median, high, mean] =
      [0, 1, 2, 3].map((column) => visible(arms[i].map((cell) => cell[column])));
    const part = (kind, d) => outline(el, `svg .${name} .${kind}`, d);
    const bottom = low.at(-1)[1] === HIGH ? `V${HIGH}` : "";
    part("band", `${lineThrough(high)}${bottom}L${lineThrough(low.reverse()).slice(1)}z`);
    part("median", lineThrough(median));
    part("mean", lineThrough(mean));
    const both = [...median, ...mean];
    part("marks", dotsAt(both.filter(([, y]) => y < HIGH)));
    part("reads", dotsAt(both.filter(([x]) => x === STEP * at)));
    return { median: median.at(-1), mean: mean.at(-1) };
  });
  let above = -Infinity;
  const names = el.querySelectorAll(".figure-names span");
  [ends[0].mean, ends[1].median, ends[0].median].forEach(([x, end], i) => {
    let y = end;
    if (x === WIDE) y = above = Math.max(y, above + APART);
    names[i].lastChild.textContent = end === HIGH ? " ↓" : "";
    putName(names[i], (100 * x) / WIDE, (100 * Math.min(y, LOWEST)) / HIGH);
  });
  const [, median, , mean, around, about] = arms[0][at];
  return `Not divided, width ${d_k}: the median is ${readingOf(median, 3)} ± ${around}%, ` +
    `the mean ${readingOf(mean, 3)} ± ${about}%.`;
});
