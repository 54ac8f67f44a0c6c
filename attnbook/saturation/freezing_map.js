// The figure in which a reader walks on the map of widths and keys; see freezing_map.py.

const WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const KEYS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const [CELL, FULL, HIGH, WIDE, ROWS, TOP, THICK, GAP] = [40, 36, 480, 400, 5, 8, 26, 4];

/** The first normal numbers of a stream; those of the last draw are kept. */
let kept = {};
function drawn(draw, stream, count) {
  if (kept.draw !== draw) kept = { draw };
  if (!(kept[stream]?.length >= count)) kept[stream] = normals(draw, stream, count);
  return kept[stream].slice(0, count);
}

function cell(x, y, side) {
  const [left, long] = [number(x - side / 2), number(side)];
  return `M${left} ${number(y - side / 2)}h${long}v${long}H${left}z`;
}

const squares = (means) =>
  means
    .flatMap((line, row) => line.map((mean, column) =>
      cell(CELL * (column + 0.5), HIGH - CELL * (row + 0.5), FULL * Math.sqrt(mean))))
    .join("");

/** The largest weights of a row and its effective positions; its exponentials fit as they are. */
function row(logits) {
  const best = new Array(Math.min(TOP, logits.length)).fill(-Infinity);
  let [total, moment] = [0, 0];
  for (const logit of logits) {
    const exponential = Math.exp(logit);
    total += exponential;
    moment += exponential * logit;
    if (logit <= best.at(-1)) continue;
    let place = best.length - 1;
    for (; place && best[place - 1] < logit; place--) best[place] = best[place - 1];
    best[place] = logit;
  }
  const positions = Math.exp(Math.log(total) - moment / total);
  return { weights: best.map((logit) => Math.exp(logit) / total), positions };
}

function cuts({ weights }, place) {
  const top = CELL * place + (CELL - THICK) / 2;
  let end = 0;
  return weights
    .map((p) => {
      const [start, weight] = [number(end), WIDE * p];
      end += weight;
      return `M${start} ${top}h${number(Math.max(weight - GAP, weight / 2))}v${THICK}H${start}z`;
    })
    .join("");
}

function render({ model, el }) {
  let both; // the weights of both maps
  let shown; // whether the map on the screen is the divided one: to draw it anew is slow
  return connect({ model, el }, ["d_k", "n_keys", "divided", "draw"], (state) => {
    const { d_k, n_keys, divided, draw } = state;
    const rows = Array.from({ length: ROWS }, (_, place) => {
      const query = drawn(draw, 2 * place, d_k);
      const reach = length(query) / (divided ? Math.sqrt(d_k) : 1);
      return row(drawn(draw, 2 * place + 1, n_keys).map((g) => reach * g));
    });
    const [map, bars] = el.querySelectorAll("svg");
    both ??= JSON.parse(map.dataset.means);
    const means = both[Number(divided)];
    const [column, line] = [WIDTHS.indexOf(d_k), KEYS.indexOf(n_keys)];
    const [x, y] = [CELL * (column + 0.5), HIGH - CELL * (line + 0.5)];
    if (shown !== divided) {
      [map, bars].forEach((svg) => put(svg, "class", armOf(divided)));
      outline(map, ".bars", squares(means));
      const threshold = map.querySelector(".threshold");
      if (divided) threshold.setAttribute("display", "none");
      else threshold.removeAttribute("display");
      shown = divided;
    }
    put(map.querySelector(".mark"), "transform", `translate(${x} ${y})`);
    outline(bars, ".bars", rows.map(cuts).join(""));
    const positions = rows.map((one) => one.positions);
    el.querySelectorAll(".figure-keys span").forEach((span, place) => {
      span.textContent = positions[place].toFixed(positions[place] >= 100 ? 0 : 1);
    });
    const side = d_k > 2 * Math.log(n_keys) ? "beyond" : "short of";
    const undivided = `not divided: ${side} the line; top key`;
    const top = divided ? "divided: the top key takes" : undivided;
    return `Width ${d_k}, ${n_keys} keys, ${top} ${means[line][column]} on average.`;
  });
}

export default { render };
