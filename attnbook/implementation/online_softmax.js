// The figure in which the online softmax reads a row block by block; see online_softmax.py.

const [KEYS, WIDE, HIGH, ROOM, BROAD, SLIM] = [16, 640, 100, 40, 32, 10];
const TICKS = [6, 3, 0, -3, -6];
const NOTHING = { peak: -Infinity, total: 0, weighted: 0 };

function keysOf(row, draw) {
  const tenths = uniforms(draw, 0, KEYS).map((u) => Math.floor(81 * u) - 40);
  const values = uniforms(draw, 1, KEYS).map((u) => Math.floor(101 * u));
  if (row.startsWith("last")) tenths[KEYS - 1] = Math.max(...tenths) + 20;
  const raised = row === "last+800" ? 800 : 0;
  const keys = tenths.map((tenth, key) => ({
    s: (tenth + 10 * raised) / 10, v: values[key],
  }));
  const sign = { rising: 1, falling: -1 }[row];
  return { raised, keys: sign ? keys.sort((a, b) => sign * (a.s - b.s)) : keys };
}

/** One step of the recursion. */
function step(kept, block) {
  const top = Math.max(...block.map(({ s }) => s));
  const peak = Math.max(kept.peak, top);
  const terms = block.map(({ s }) => Math.exp(s - peak));
  const added = { top, total: sum(terms), weighted: sum(block.map(({ v }, j) => terms[j] * v)) };
  const factor = block.length ? Math.exp(kept.peak - peak) : 1;
  return {
    factor, added, peak,
    total: factor * kept.total + added.total,
    weighted: factor * kept.weighted + added.weighted,
  };
}

function exact(keys) {
  const p = softmax(keys.map(({ s }) => s));
  return sum(keys.map(({ v }, j) => p[j] * v));
}

const bars = (heights, first, end, broad) => heights
  .slice(0, end)
  .map((height, key) =>
    key < first ? "" : bar(ROOM * key + (ROOM - broad) / 2, HIGH, broad, HIGH * height))
  .join("");

const dots = (keys, first, end) => dotsAt(
  keys.slice(first, end).map(({ v }, j) => [ROOM * (first + j) + ROOM / 2, HIGH - v]));

const levels = (heights, ends) => heights
  .map((height, t) => {
    const y = number(HIGH * (1 - height));
    return `${t ? "" : `M0 ${y}`}V${y}H${ROOM * ends[t]}`;
  })
  .join("");

const shown = (value, digits) =>
  value === -Infinity ? "−∞" : minus(value.toFixed(digits));
const entries = ({ total, weighted }) => [shown(total, 4), shown(weighted, 2)];

export default moving(["row", "keys_read", "block_size", "draw"], (state, el) => {
  const { row, keys_read, block_size, draw } = state;
  const { raised, keys } = keysOf(row, draw);
  const ends = [];
  let [before, now, begun] = [NOTHING, step(NOTHING, []), 0];
  const history = [];
  for (let start = 0; start < keys_read; start += block_size) {
    const end = Math.min(start + block_size, keys_read);
    [begun, before] = [start, start ? now : NOTHING];
    now = step(before, keys.slice(start, end));
    ends.push(end);
    history.push(now);
  }
  const up = (s) => (s - raised + 6) / 12;
  const [logits, terms, outputs] = el.querySelectorAll("svg");
  const heights = keys.map(({ s }) => up(s));
  outline(logits, ".was", bars(heights, keys_read, KEYS, BROAD));
  outline(logits, ".read", bars(heights, 0, begun, SLIM));
  outline(logits, ".now", bars(heights, begun, keys_read, BROAD));
  outline(logits, ".limit", levels(history.map(({ peak }) => up(peak)), ends));
  const raisedBy = (kept) => keys.map(({ s }) => Math.exp(s - kept.peak));
  outline(terms, ".was", bars(raisedBy(before), 0, begun, BROAD));
  outline(terms, ".read", bars(raisedBy(now), 0, begun, SLIM));
  outline(terms, ".now", bars(raisedBy(now), begun, keys_read, BROAD));
  const whole = exact(keys);
  outline(outputs, ".even", `M0 ${number(HIGH - whole)}H${WIDE}`);
  outline(outputs, ".unread", dots(keys, keys_read, KEYS));
  outline(outputs, ".dots", dots(keys, 0, keys_read));
  const reached = history.map(({ weighted, total }) => weighted / total / 100);
  outline(outputs, ".limit", levels(reached, ends));
  logits.closest(".figure-panel").querySelectorAll(".figure-ticks span").forEach((tick, place) => {
    tick.textContent = minus(String(raised + TICKS[place]));
  });
  const { factor, added } = now;
  const kept = { total: factor * before.total, weighted: factor * before.weighted };
  const cells = [
    shown(before.peak, 1), ...entries(before), "", ...entries(kept),
    shown(added.top, 1), ...entries(added), shown(now.peak, 1), ...entries(now),
  ];
  el.querySelectorAll("tbody td").forEach((cell, place) => {
    cell.textContent = cells[place];
  });
  const times = factor.toFixed(4);
  el.querySelector("tbody th span").textContent = times;
  el.querySelector(".figure-note:last-child").textContent =
    `Multiply the old sums by ${times}, then add this block.`;
  el.querySelector(".figure-upright span:nth-child(2)").textContent =
    `all ${KEYS} keys: ${whole.toFixed(2)}`;
  if (!keys_read) return "No key has been read: both sums are zero, and there is no output yet.";
  const first = begun + 1;
  const block = first < keys_read ? `Keys ${first} to ${keys_read}` : `Key ${first}`;
  let change = "the largest logit and both sums stay";
  if (!begun) change = "nothing was kept before";
  else if (now.peak > before.peak) {
    change = `a new largest logit, both sums times ${times}`;
  }
  return `${block}: ${change}, output ${(now.weighted / now.total).toFixed(2)}.`;
});
