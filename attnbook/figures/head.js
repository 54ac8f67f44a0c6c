// The one head that stays with the reader, from its components to its weights; see head.py.

const FEW = 16;
const WIDE = 640;
const [QUERY_HIGH, SCORE_HIGH, WEIGHT_HIGH] = [64, 150, 110];
const [PRODUCT_HIGH, WALK_HIGH, EXPONENTIAL_HIGH, COST_HIGH, GRADIENT_HIGH] =
  [80, 200, 90, 90, 120];
const [LIMIT, DIVIDED_LIMIT] = [40, 10];
const [PITCH, POINTS, MOST, APART] = [20, 64, 9999.5, 7];
const [SEEN, LITTLE, ROOM, FREE] = [0.004, 0.0095, 18, 7];
const [WALK_LIMITS, COST_LIMIT, GRADIENT_LIMITS] = [[40, 80], 3, [0.1, 0.3]];
const DIALED = ["divisor", "start"];
const SWITCHED = ["weights", "exponential", "gradient"];
const STATE = ["view", "d_k", "n_keys", "divided", "power", "size", "temperature", "key",
  "draw", "pulled"];

const each = (values, outline) => values.map(outline).join("");
const largest = (values) => values.reduce((a, b) => Math.max(a, b));

function fixed(value, digits) {
  const text = value.toFixed(digits);
  return minus(Number(text) ? text : text.replace("-", ""));
}

const short = (value) => fixed(value, Math.abs(value) < 9.95 ? 1 : 0);

function strip(vector, high, span) {
  const pitch = Math.min(PITCH, WIDE / vector.length);
  const wide = pitch * (vector.length <= 128 ? 0.7 : 1);
  return each(vector, (value, i) =>
    bar(pitch * (i + 0.5) - wide / 2, high / 2, wide, (high * value) / span));
}

function columns(count) {
  const room = WIDE / count;
  return [room, Math.max(Math.min(room * (count <= FEW ? 0.6 : 0.8), 56), 2)];
}

const levelAt = (value, limit, high) =>
  (high / 2) * (1 - Math.max(Math.min(value / limit, 1), -1));

function standing(values, limit, high) {
  const [room, wide] = columns(values.length);
  return each(values, (value, i) =>
    bar(room * (i + 0.5) - wide / 2, high / 2, wide, high / 2 - levelAt(value, limit, high)));
}

function rising(shares, high) {
  const [room, wide] = columns(shares.length);
  return each(shares, (share, i) =>
    bar(room * (i + 0.5) - wide / 2, high, wide, high * share));
}

/** Where bars ended before the division, unless they are too small to be seen. */
function edges(factors, values, level, least = 0) {
  const [room, wide] = columns(values.length);
  return each(factors.length ? values : [], (value, i) => (Math.abs(value) < least ? ""
    : `M${number(room * (i + 0.5) - wide / 2)} ${number(level(value))}h${number(wide)}`));
}

const middle = (i, count) => (WIDE / count) * (i + 0.5);
const tips = (values, limit, high, places = values.keys()) =>
  dotsAt([...places].map((i) => [middle(i, values.length), levelAt(values[i], limit, high)]));

const beyond = (values, limit, high) => each(values.length > FEW ? [] : values, (value, i) => {
  if (Math.abs(value) <= limit) return "";
  const rest = value > 0 ? "-1l5 -6l5 6" : `${high + 1}l5 6l5 -6`;
  return `M${number(middle(i, values.length) - 5)} ${rest}z`;
});

/** A number beyond the end of its bar, and of what else is free of it there. */
function outside(i, count, value, limit, high, text, top, free = 0) {
  const off = (value >= 0 ? -1 : 1) * (Math.abs(value) > limit ? FREE : free);
  return [(100 * (i + 0.5)) / count, (100 * (levelAt(value, limit, high) + off)) / high, text,
    (value >= 0 ? "above" : "below") + (top ? " top" : "")];
}

const share = (value) => `${fixed(100 * value, value >= LITTLE ? 0 : 2)}%`;

function tops(shares, text) {
  const top = shares.indexOf(largest(shares));
  const label = (p, i) => [
    (100 * (i + 0.5)) / shares.length,
    100 * (1 - p),
    i === top || p >= LITTLE ? text(p) : "",
    i === top ? "tip top" : "tip",
  ];
  return shares.length <= FEW ? shares.map(label) : [label(shares[top], top)];
}

/** The scores that the reader has set, by the place of their key. */
const moved = ({ pulled, n_keys }) => new Map(
  Object.entries(n_keys > FEW ? {} : pulled)
    .map(([key, score]) => [key - 1, score]).filter(([i]) => i < n_keys));

/** Where the axis of scores ends. */
const limitOf = (view) => (SWITCHED.includes(view) ? LIMIT : DIVIDED_LIMIT);

/** What a state means: all that the stages of its view show. */
function computed(state) {
  const { view, d_k, n_keys, draw } = state;
  const power = DIALED.includes(view) ? state.power
    : state.divided || view === "temperature" ? 0.5 : 0;
  const size = view === "start" ? state.size : 1;
  const extra = view === "temperature" ? state.temperature : 1;
  const query = normals(draw, 0, d_k).map((g) => size * g);
  if (view === "sum") return summed({ ...state, query });
  const reach = length(query) * size;
  const set = moved(state);
  const scores = normals(draw, 1, n_keys).map((g, i) => set.get(i) ?? reach * g);
  const factors = [];
  if (extra !== 1) factors.push(reading(extra));
  if (power) factors.push((power === 0.5 ? "√" : "") + d_k + (power % 0.5 ? `^${power}` : ""));
  const divisor = d_k ** power * extra;
  const logits = scores.map((score) => score / divisor);
  const weights = softmax(logits);
  const highest = largest(logits);
  const costs = view === "gradient" ? normals(draw, 2, n_keys) : [];
  return {
    ...state, size, extra, query, scores, factors, divisor, logits, weights, costs,
    limit: limitOf(view), few: n_keys <= FEW, top: scores.indexOf(largest(scores)),
    moved: [...set.keys()].sort((a, b) => a - b),
    raised: view === "exponential" ? logits.map((s) => Math.exp(s - highest)) : [],
    arm: !factors.length ? "undivided" : power === 0.5 && extra === 1 ? "divided" : "other",
  };
}

const dot = (a, b) => sum(a.map((value, i) => value * b[i]));

/** The running sums of the products of the query with each key. */
function summed(state) {
  const { d_k, draw, query } = state;
  const reach = length(query);
  const along = query.map((value) => value / reach);
  const keys = normals(draw, 1, FEW).map((height, place) => {
    const free = normals(draw, 3 + place, d_k);
    const rest = height - dot(free, along);
    return free.map((value, i) => value + rest * along[i]);
  });
  const sums = keys.map((key) => {
    let total = 0;
    return [0, ...key.map((value, i) => (total += value * query[i]))];
  });
  return { ...state, keys, sums, arm: "undivided" };
}

const flow = (weights, costs) => {
  const mean = dot(weights, costs);
  return weights.map((p, i) => p * (costs[i] - mean));
};

// Each stage: its note, its outlines, and its labels with their places in percent.
const stages = {
  query: ({ view, d_k, query }) => [
    d_k > 1 ? `${d_k} random components` : "one random component",
    { components: strip(query, QUERY_HIGH, view === "start" ? 12 : 6) },
    [],
  ],
  key: ({ key, keys }) => [
    `number ${key}, as many components`,
    { components: strip(keys[key - 1], QUERY_HIGH, 6) },
    [],
  ],
  products: ({ key, keys, query }) => [
    "query × key, one by one",
    { components: strip(keys[key - 1].map((value, i) => value * query[i]), PRODUCT_HIGH, 10) },
    [],
  ],
  walk({ d_k, key, sums }) {
    const pitch = Math.min(PITCH, WIDE / d_k);
    const step = Math.max(Math.floor(d_k / POINTS), 1);
    const limit = WALK_LIMITS[Number(d_k > 128)];
    const level = (value) => (WALK_HIGH / 2) * (1 - value / limit);
    const through = (valueAt, by) => {
      const points = [];
      for (let i = 0; i <= d_k; i += by) points.push([pitch * i, level(valueAt(i))]);
      return lineThrough(points);
    };
    const chosen = sums[key - 1];
    const [end, last] = [pitch * d_k, chosen[d_k]];
    const right = (100 * end) / WIDE;
    const place = (value) => [right, (100 * levelAt(value, limit, WALK_HIGH)) / WALK_HIGH];
    return [
      "pale: the other keys",
      {
        others: each(sums, (walk) => through((i) => walk[i], step)),
        typical: through(Math.sqrt, step) + through((i) => -Math.sqrt(i), step),
        walk: through((i) => chosen[i], 1),
        end: dotsAt([[end, level(last)]]),
      },
      [[...place(last), fixed(last, 1), "end top"],
        [...place(Math.max(Math.sqrt(d_k), APART) * (last >= 0 ? -1 : 1)), `±√${d_k}`, "end"],
        [0, 100, d_k > 4 ? "0" : "", "below"], [right, 100, String(d_k), "below"]],
      [limit / 2, 0, `−${limit / 2}`],
    ];
  },
  scores({ n_keys, factors, divisor, scores, logits, few, top, moved, limit }) {
    const by = factors.join("·");
    const cut = logits.filter((s) => Math.abs(s) > limit).length;
    const level = (value) => levelAt(value, limit, SCORE_HIGH);
    const hint = few ? "pull a dot" : cut ? `${cut} cut` : "";
    const equals = factors.length && by !== String(divisor)
      ? ` = ${Number(divisor.toPrecision(3))}` : "";
    const label = (s, i) => {
      const dot = Math.abs(s) > Math.abs(scores[i]) ? s : scores[i];
      // between bar and dot where there is room, and else beyond both
      const [end, free] = Math.abs(level(dot) - level(s)) >= ROOM ? [s, 0] : [dot, FREE];
      return outside(i, n_keys, end, limit, SCORE_HIGH, short(s), i === top, free);
    };
    return [
      (factors.length ? `÷ ${by}${equals}` : "query · key") + (hint && `; ${hint}`),
      {
        ghost: few ? "" : edges(factors, scores, level),
        bars: standing(logits, limit, SCORE_HIGH),
        set: tips(scores, limit, SCORE_HIGH, moved),
        tips: few ? tips(scores, limit, SCORE_HIGH) : "",
        before: beyond(scores, limit, SCORE_HIGH),
        beyond: beyond(logits, limit, SCORE_HIGH),
      },
      few ? logits.map(label) : [],
    ];
  },
  exponentials: ({ factors, scores, raised, top }) => [
    "one point more: × 2.7",
    {
      ghost: edges(factors, scores.map((s) => Math.exp(s - scores[top])),
        (e) => EXPONENTIAL_HIGH * (1 - e), SEEN),
      bars: rising(raised, EXPONENTIAL_HIGH),
    },
    tops(raised, (value) => fixed(value, 2)),
  ],
  weights: ({ factors, scores, weights, few }) => [
    factors.length ? `${few ? "dots, " : ""}lines: before dividing` : "softmax of the scores",
    {
      ghost: edges(factors, softmax(scores), (p) => WEIGHT_HIGH * (1 - p), SEEN),
      bars: rising(weights, WEIGHT_HIGH),
    },
    tops(weights, share),
  ],
  costs({ weights, costs }) {
    const mean = dot(weights, costs);
    const level = levelAt(mean, COST_LIMIT, COST_HIGH);
    return [
      `random u; line: ū = ${fixed(mean, 2)}`,
      {
        bars: standing(costs, COST_LIMIT, COST_HIGH),
        beyond: beyond(costs, COST_LIMIT, COST_HIGH),
        mean: `M0 ${number(level)}H${WIDE}`,
      },
      [],
    ];
  },
  gradient({ n_keys, factors, scores, weights, costs, few }) {
    const now = flow(weights, costs);
    const sizes = now.map(Math.abs);
    const top = sizes.indexOf(largest(sizes));
    const before = flow(softmax(scores), costs);
    const [low, high] = GRADIENT_LIMITS;
    const limit = largest([...sizes, ...before.map(Math.abs)]) <= low ? low : high;
    const text = (value, i) => (i === top || sizes[i] >= 0.15 * limit ? fixed(value, 2) : "");
    return [
      "p · (u − ū), for each score",
      {
        ghost: edges(factors, before, (value) => levelAt(value, limit, GRADIENT_HIGH),
          SEEN * limit),
        bars: standing(now, limit, GRADIENT_HIGH),
        beyond: beyond(now, limit, GRADIENT_HIGH),
      },
      few ? now.map((value, i) =>
        outside(i, n_keys, value, limit, GRADIENT_HIGH, text(value, i), i === top)) : [],
      [limit, 0, `−${limit}`],
    ];
  },
};

function show(root, arm, [note, paths, labels, ticks = []]) {
  write(root.querySelector(".stage-title span"), note);
  put(root.querySelector("svg"), "class", arm);
  Object.entries(paths).forEach(([kind, d]) => outline(root, `.${kind}`, d));
  const marks = root.querySelectorAll(".stage-ticks span");
  ticks.forEach((text, i) => write(marks[i], text));
  root.querySelectorAll(".stage-labels span").forEach((span, i) => {
    const [left, top, text, kind] = labels[i] ?? [0, 0, "", ""];
    write(span, text);
    put(span, "class", kind);
    putName(span, left, top);
  });
}

function placeGrips(el, { n_keys, scores, limit }) {
  el.querySelectorAll(".grip").forEach((grip, i) => {
    grip.hidden = n_keys > FEW || i >= n_keys;
    const score = grip.hidden ? 0 : scores[i];
    const top = (100 * levelAt(score, limit, SCORE_HIGH)) / SCORE_HIGH;
    put(grip, "style", `left:${number((100 * i) / n_keys)}%;top:${number(top)}%;` +
      `width:${number(100 / n_keys)}%`);
    const [input] = grip.children;
    input.value = number(score);
    put(input, "aria-valuetext", fixed(score, 1));
  });
}

function words(all) {
  const { view, d_k, n_keys, size, factors, weights, costs, logits, moved } = all;
  if (view === "sum") {
    const scores = all.sums.map((walk) => walk[d_k]);
    return `Key ${all.key} ends at ${fixed(scores[all.key - 1], 1)}; the ${FEW} keys typically ` +
      `${fixed(length(scores) / Math.sqrt(FEW), 1)} from zero; √${d_k} is ` +
      `${fixed(Math.sqrt(d_k), 1)}.`;
  }
  const by = factors.length ? `÷ ${factors.join("·")}` : "not divided";
  if (view === "exponential") {
    const [first, second] = [...logits].sort((a, b) => b - a);
    const times = Math.exp(first - second);
    return `${by.replace("n", "N")}: a lead of ${fixed(first - second, 1)} makes ` +
      `key ${all.top + 1}’s exponential ` +
      `${times < MOST ? short(times) : "10,000+"} times the next.`;
  }
  const top = share(largest(weights));
  return `Width ${d_k}${size === 1 ? "" : `, size ${reading(size)}`}, ${by}` +
    (moved.length ? `, ${moved.length} pulled: ` : ": ") + (view === "gradient"
    ? `weights up to ${top}, gradients up to ` +
      `${fixed(largest(flow(weights, costs).map(Math.abs)), 2)}.`
    : `the largest of ${n_keys} weights is ${top}.`);
}

function draw(state, el) {
  const all = computed(state);
  const { view, n_keys, arm } = all;
  const crowd = view === "sum" ? "" : n_keys > FEW ? " many" : n_keys === FEW ? " crowded" : "";
  el.querySelector(".one-head").className = `one-head${crowd}`;
  for (const [name, stage] of Object.entries(stages)) {
    const root = el.querySelector(`.stage.${name}`);
    if (root) show(root, arm, stage(all));
  }
  if (view !== "sum") placeGrips(el, all);
  el.querySelectorAll(".stage-keys span").forEach((name, i) => {
    const last = i === FEW - 1;
    name.hidden = n_keys > FEW ? i > 0 && !last : i >= n_keys;
    if (last) name.textContent = Math.max(n_keys, FEW);
  });
  return words(all);
}

/** Let scores be pulled: by a pointer at the tip of a bar, by a mouse in its column, by keys. */
function letPull(model, el) {
  const pull = (i, score) => {
    const held = Math.max(Math.min(score, LIMIT), -LIMIT);
    save(model, { pulled: { ...model.get("pulled"), [i + 1]: Math.round(held * 10) / 10 } });
  };
  const plot = el.querySelector(".scores .stage-plot");
  if (!plot) return;
  const grips = [...plot.querySelectorAll(".grip")];
  grips.forEach((grip, i) =>
    grip.addEventListener("input", ({ target }) => pull(i, Number(target.value))));
  plot.addEventListener("pointerdown", (event) => {
    const i = grips.findIndex((grip) => {
      const { left, right } = grip.getBoundingClientRect();
      return left <= event.clientX && event.clientX < right;
    });
    const onGrip = event.target.closest(".grip");
    if (i < 0 || event.button || (!onGrip && event.pointerType !== "mouse")) return;
    const box = plot.querySelector("svg").getBoundingClientRect();
    const tip = grips[i].getBoundingClientRect();
    const off = onGrip ? event.clientY - (tip.top + tip.bottom) / 2 : 0;
    const follow = ({ clientY }) =>
      pull(i, limitOf(model.get("view")) * (1 - (2 * (clientY - off - box.top)) / box.height));
    const release = () => {
      plot.removeEventListener("pointermove", follow);
      plot.removeEventListener("pointerup", release);
      plot.removeEventListener("pointercancel", release);
    };
    event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerup", release);
    plot.addEventListener("pointercancel", release);
    grips[i].firstElementChild.focus({ preventScroll: true });
    if (!onGrip) follow(event);
  });
  // another draw brings its own scores
  el.querySelector("form").addEventListener("click", ({ target }) => {
    if (target.closest("[name=draw]")) save(model, { pulled: {} });
  });
}

export default {
  render(view) {
    formOf(view);
    letPull(view.model, view.el);
    return connect(view, STATE, (state) => draw(state, view.el));
  },
};
