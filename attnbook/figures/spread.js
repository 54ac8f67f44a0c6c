// The figure in which scores spread as the head gets wider; see spread.py.

const [TERMS, WIDE, HIGH, TOP, CELL, FULL] = [4, 640, 200, 0.8, 50, 4];
const [END, FARTHEST, STEPS] = [48, 6, 60];

/** What components from `width` to twice the width add to each score. */
const added = (draw, width, pairs) =>
  normals(draw, width + 1, pairs).map((g, pair) => {
    let product = 1;
    for (let i = 0; i < width / 2; i++) product *= uniform(draw, width, (pair * width) / 2 + i);
    return Math.sqrt(-2 * Math.log(product)) * g;
  });

/** The first terms of some pairs, and their scores at any width, each computed once. */
function drawPairs(draw, pairs) {
  const parts = normals(draw, 0, 2 * TERMS * pairs);
  const terms = Array.from({ length: TERMS }, () => new Array(pairs));
  for (let pair = 0, at = 0; pair < pairs; pair++, at += 2 * TERMS) {
    for (let i = 0; i < TERMS; i++) terms[i][pair] = parts[at + i] * parts[at + TERMS + i];
  }
  const mean = (one, other) => sum(one.map((t, pair) => t * other[pair])) / pairs;
  const products = terms.map((one) => terms.map((other) => mean(one, other)));
  const known = { 1: terms[0] };
  const scores = (d_k) => {
    if (!known[d_k]) {
      const narrow = d_k <= TERMS;
      const more = narrow ? terms[d_k - 1] : added(draw, d_k / 2, pairs);
      known[d_k] = scores(narrow ? d_k - 1 : d_k / 2).map((z, pair) => z + more[pair]);
    }
    return known[d_k];
  };
  return { draw, pairs, products, scores };
}

/**
 * The density of a score over its standard deviation. Given the query the score is normal, so this
 * is a mean of normal densities over the law of the query's length, taken on a grid of logarithms.
 */
function density(d_k) {
  const root = Math.sqrt(d_k);
  const low = 7 + 25 / root;
  const lengths = Array.from({ length: 3 * (low + 5) }, (_, i) => Math.exp((i / 3 - low) / root));
  const shares = lengths.map((r) => Math.exp(d_k * (Math.log(r) + (1 - r * r) / 2)));
  const total = sum(shares) * Math.sqrt(2 * Math.PI);
  return (x) =>
    sum(lengths.map((r, i) => (shares[i] * Math.exp(-((x / r) ** 2) / 2)) / r)) / total;
}

/** The place of a score in a picture that ends at plus and minus `end`. */
const acrossTo = (end) => (x) => (WIDE / 2) * (1 + x / end);

/** The curve of the density, close together in the middle, where it bends most. */
function curveOf(d_k, end) {
  const [exact, across] = [density(d_k), acrossTo(end)];
  return lineThrough(Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
    const step = i / STEPS - 1;
    const x = Math.min(end, FARTHEST) * Math.sign(step) * step ** 2;
    return [across(x), HIGH * (1 - Math.min(1, exact(x) / TOP))];
  }));
}

const squares = (products, positive) => products
  .flatMap((means, row) => means.map((mean, column) => {
    if ((mean > 0) !== positive) return "";
    const side = CELL * Math.min(1, Math.sqrt(Math.abs(mean) / FULL));
    const [x, y] = [CELL * (column + 0.5), CELL * (row + 0.5)];
    const hole = positive ? "" : square(x, y, -Math.max(0.6 * side, side - 4));
    return square(x, y, side) + hole;
  }))
  .join("");

const lines = (side) => Array.from({ length: side + 1 }, (_, place) =>
  `M0 ${CELL * place}H${CELL * side}M${CELL * place} 0V${CELL * side}`).join("");

/** A rounded number with a proper minus sign, and a zero without any. */
const signed = (value, digits) =>
  minus((Number(value.toFixed(digits)) + 0).toFixed(digits));

function withError(value, error) {
  const digits = error >= 1 ? 1 : 2;
  return `${signed(value, digits)} ± ${error.toFixed(digits)}`;
}

function render({ model, el }) {
  let drawn = {};
  const curves = {};
  return connect({ model, el }, ["d_k", "pairs", "divided", "draw"], (state) => {
    const { d_k, pairs, divided, draw } = state;
    if (drawn.draw !== draw || drawn.pairs !== pairs) drawn = drawPairs(draw, pairs);
    const deviation = divided ? 1 : Math.sqrt(d_k);
    const end = END / deviation; // like all places from here on, in standard deviations
    const across = acrossTo(end);
    const scores = drawn.scores(d_k).map((z) => z / Math.sqrt(d_k));

    const fineness = pairs < 100 ? 1 : pairs < 1000 ? 2 : 4;
    const half = Math.floor(end * fineness);
    const counts = Array(2 * half).fill(0);
    for (const x of scores) {
      const place = Math.floor(x * fineness) + half;
      if (place in counts) counts[place] += 1;
    }
    const thick = WIDE / 2 / end / fineness;
    const bars = counts.map((count, place) => {
      const high = HIGH * Math.min(1, (count * fineness) / pairs / TOP);
      return high && bar(across((place - half) / fineness), HIGH, thick, high);
    });
    const curve = (curves[[d_k, divided]] ??= curveOf(d_k, end));
    const products = drawn.products.slice(0, d_k).map((means) => means.slice(0, d_k));

    const [svg, table] = el.querySelectorAll("svg");
    put(svg, "class", armOf(divided));
    outline(svg, ".bars", bars.filter(Boolean).join(""));
    outline(svg, ".even", `M${number(across(-1))} 0V${HIGH}M${number(across(1))} 0V${HIGH}`);
    outline(svg, ".limit", curve);
    outline(table, ".axis", lines(products.length));
    outline(table, ".rises", squares(products, true));
    outline(table, ".falls", squares(products, false));
    for (const names of el.querySelectorAll(".figure-products .figure-keys")) {
      [...names.children].forEach((span, i) => {
        span.textContent = i < d_k ? `T${"₁₂₃₄"[i]}` : "";
      });
    }
    const off = d_k * (d_k - 1);
    const own = sum(products.map((means, i) => means[i]));
    el.querySelector(".figure-products .count").textContent = d_k > TERMS
      ? `Shown: ${TERMS ** 2} of all ${d_k ** 2} products, of which ${d_k} are on the ` +
        `diagonal and ${off} off it.`
      : `Sum on the diagonal (${d_k}): ${signed(own, 2)}; ` +
        `sum off it (${off}): ${signed(sum(products.flat()) - own, 2)}.`;

    const edge = el.querySelector(".figure-names span");
    putName(edge, (100 * across(1)) / WIDE, 8);
    edge.textContent = `±${Number(deviation.toPrecision(3))}`;
    const shown = scores.map((x) => x * deviation);
    const mean = sum(shown) / pairs;
    const variance = sum(shown.map((z) => (z - mean) ** 2)) / (pairs - 1);
    const error = deviation ** 2 * Math.sqrt((6 / d_k + 2) / pairs);
    const outside = pairs - sum(counts);
    return `${pairs} scores${divided ? ` divided by √${d_k}` : ""}: ` +
      `variance ${withError(variance, error)}, exactly ${(deviation ** 2).toFixed(0)}.` +
      (outside ? ` Farther out: ${outside}.` : "");
  });
}

export default { render };
