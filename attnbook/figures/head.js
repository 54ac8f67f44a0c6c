// The one head that stays with the reader, from its components to its weights; see head.py.

const FEW = 16;
const WIDE = 640;
const [QUERY_HIGH, SCORE_HIGH, WEIGHT_HIGH] = [64, 220, 130];
const [PITCH, LIMIT] = [20, 40];
const STATE = ["view", "d_k", "n_keys", "divided", "draw", "pulled"];

const each = (values, outline) => values.map(outline).join("");
const largest = (values) => values.reduce((a, b) => Math.max(a, b));

function fixed(value, digits) {
  const text = value.toFixed(digits);
  return minus(Number(text) ? text : text.replace("-", ""));
}

const short = (value) => fixed(value, Math.abs(value) < 9.95 ? 1 : 0);

function strip(vector, high) {
  const pitch = Math.min(PITCH, WIDE / vector.length);
  const wide = pitch * (vector.length <= 128 ? 0.7 : 1);
  return each(vector, (value, i) =>
    bar(pitch * (i + 0.5) - wide / 2, high / 2, wide, (high * value) / 6));
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
  return each(shares, (share, i) => bar(room * (i + 0.5) - wide / 2, high, wide, high * share));
}

const middle = (i, count) => (WIDE / count) * (i + 0.5);
const tips = (values, limit, high) =>
  dotsAt(values.map((value, i) => [middle(i, values.length), levelAt(value, limit, high)]));

const beyond = (values, limit, high) => each(values, (value, i) => {
  if (Math.abs(value) <= limit) return "";
  const rest = value > 0 ? "-4l5 -6l5 6" : `${high + 4}l5 6l5 -6`;
  return `M${number(middle(i, values.length) - 5)} ${rest}z`;
});

function percentages(shares) {
  const top = shares.indexOf(largest(shares));
  const label = (p, i) => [
    (100 * (i + 0.5)) / shares.length,
    100 * (1 - p),
    i === top || p >= 0.005 ? `${fixed(100 * p, 0)}%` : "",
    i === top ? "tip top" : "tip",
  ];
  return shares.length <= FEW ? shares.map(label) : [label(shares[top], top)];
}

/** The scores that the reader has set, by the place of their key. */
const moved = ({ pulled, n_keys }) => new Map(
  Object.entries(n_keys > FEW ? {} : pulled)
    .map(([key, score]) => [key - 1, score]).filter(([i]) => i < n_keys));

/** What a state means: all that the stages show. */
function computed(state) {
  const { d_k, n_keys, divided, draw } = state;
  const query = normals(draw, 0, d_k);
  const reach = length(query);
  const set = moved(state);
  const scores = normals(draw, 1, n_keys).map((g, i) => set.get(i) ?? reach * g);
  const divisor = divided ? Math.sqrt(d_k) : 1;
  const logits = scores.map((score) => score / divisor);
  return { ...state, query, scores, divisor, logits, weights: softmax(logits), moved: set.size };
}

// Each stage: its note, its outlines, and its labels with their places in percent.
const stages = {
  query: ({ d_k, query }) => [
    d_k > 1 ? `${d_k} random components` : "one random component",
    { components: strip(query, QUERY_HIGH) },
    [],
  ],
  scores({ d_k, n_keys, divided, divisor, scores, logits }) {
    const few = n_keys <= FEW;
    const top = scores.indexOf(largest(scores));
    return [
      divided ? `÷ √${d_k} = ${divisor.toFixed(1)}; pale: before`
        : few ? "query · key: pull up or down" : "query · key for each key",
      {
        ghost: divided ? standing(scores, LIMIT, SCORE_HIGH) : "",
        bars: standing(logits, LIMIT, SCORE_HIGH),
        tips: few ? tips(scores, LIMIT, SCORE_HIGH) : "",
        beyond: beyond(scores, LIMIT, SCORE_HIGH),
      },
      few ? logits.map((s, i) => [
        (100 * (i + 0.5)) / n_keys,
        50,
        short(s),
        (s >= 0 ? "below" : "above") + (i === top ? " top" : ""),
      ]) : [],
    ];
  },
  weights: ({ divided, scores, weights }) => [
    "softmax of the scores",
    {
      ghost: divided ? rising(softmax(scores), WEIGHT_HIGH) : "",
      bars: rising(weights, WEIGHT_HIGH),
    },
    percentages(weights),
  ],
};

function show(root, arm, [note, paths, labels]) {
  root.querySelector(".stage-title span").textContent = note;
  root.querySelector("svg").setAttribute("class", arm);
  Object.entries(paths).forEach(([kind, d]) => outline(root, `.${kind}`, d));
  root.querySelectorAll(".stage-labels span").forEach((span, i) => {
    const [left, top, text, kind] = labels[i] ?? [0, 0, "", ""];
    span.textContent = text;
    span.className = kind;
    span.setAttribute("style", `left:${number(left)}%;top:${number(top)}%`);
  });
}

function placeGrips(el, { n_keys, scores }) {
  el.querySelectorAll(".grip").forEach((grip, i) => {
    grip.hidden = n_keys > FEW || i >= n_keys;
    const score = grip.hidden ? 0 : scores[i];
    const top = (100 * levelAt(score, LIMIT, SCORE_HIGH)) / SCORE_HIGH;
    grip.setAttribute("style", `left:${number((100 * i) / n_keys)}%;top:${number(top)}%;` +
      `width:${number(100 / n_keys)}%`);
    const [input] = grip.children;
    input.value = number(score);
    input.setAttribute("aria-valuetext", fixed(score, 1));
  });
}

function draw(state, el) {
  const all = computed(state);
  const { d_k, n_keys, divided, weights, moved } = all;
  const crowd = n_keys > FEW ? " many" : n_keys === FEW ? " crowded" : "";
  el.querySelector(".one-head").className = `one-head${crowd}`;
  for (const [name, stage] of Object.entries(stages)) {
    const root = el.querySelector(`.stage.${name}`);
    if (root) show(root, armOf(divided), stage(all));
  }
  placeGrips(el, all);
  el.querySelectorAll(".stage-keys span").forEach((name, i) => {
    name.hidden = n_keys > FEW || i >= n_keys;
  });
  const pulled = moved === 1 ? ", one score pulled" : moved ? `, ${moved} scores pulled` : "";
  return `Width ${d_k}, ${divided ? "divided" : "not divided"}${pulled}: ` +
    `the largest of ${n_keys} weights is ${fixed(largest(weights), 2)}.`;
}

/** Let scores be pulled: by a pointer at the tip of a bar, by a mouse in its column, by keys. */
function letPull(model, el) {
  const pull = (i, score) => {
    const held = Math.max(Math.min(score, LIMIT), -LIMIT);
    save(model, { pulled: { ...model.get("pulled"), [i + 1]: Math.round(held * 10) / 10 } });
  };
  const plot = el.querySelector(".scores .stage-plot");
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
      pull(i, LIMIT * (1 - (2 * (clientY - off - box.top)) / box.height));
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
