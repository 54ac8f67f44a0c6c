// What the modules of all figures share. Numbers come out as in attnlib, which a test compares.

/** One of the uniform numbers below. */
function uniform(seed, stream, i) {
  const start = Math.imul(seed, 0x9e3779b1) + Math.imul(stream, 0x85ebca6b);
  const a = (start + Math.imul(0x6d2b79f5, i + 1)) | 0;
  let t = Math.imul(a ^ (a >>> 15), a | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
}

/** Uniform numbers; attnbook.drawing.draws has the same. */
const uniforms = (seed, stream, count) =>
  Array.from({ length: count }, (_, i) => uniform(seed, stream, i));

/** Standard normal numbers by the method of Box and Muller. */
function normals(seed, stream, count) {
  const numbers = new Array(count); // a plain loop, as some figures need many
  for (let i = 0; i < count; i++) {
    const [u, v] = [uniform(seed, stream, 2 * i), uniform(seed, stream, 2 * i + 1)];
    numbers[i] = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  }
  return numbers;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const length = (vector) => Math.hypot(...vector);

function softmax(logits) {
  const top = logits.reduce((a, b) => Math.max(a, b));
  const exponentials = logits.map((logit) => Math.exp(logit - top));
  const total = sum(exponentials);
  return exponentials.map((value) => value / total);
}

/** A coordinate, short and without an exponent. */
const number = (value) => String(Number(value.toFixed(2)));

/** A number's text with a proper minus sign. */
const minus = (text) => text.replaceAll("-", "−");

// Written only where it is new, because what is written is laid out anew.
const put = (node, name, value) =>
  node.getAttribute(name) === value || node.setAttribute(name, value);
const write = (node, text) => node.textContent === text || (node.textContent = text);

/** Give a part of a picture its outline. */
const outline = (root, selector, d) => put(root.querySelector(selector), "d", d);

// Outlines, as attnbook.drawing.svg writes them.
const pair = ([x, y]) => `${number(x)} ${number(y)}`;
const lineThrough = (points) => `M${points.map(pair).join("L")}`;
const dotsAt = (points) => points.map((point) => `M${pair(point)}h0`).join("");
const bar = (left, foot, wide, high) =>
  `M${number(left)} ${number(foot)}v${number(-high)}h${number(wide)}v${number(high)}z`;
const levelBar = (left, top, wide, thick) =>
  `M${number(left)} ${number(top)}h${number(wide)}v${number(thick)}h${number(-wide)}z`;
const square = (x, y, side) =>
  levelBar(x - Math.abs(side) / 2, y - side / 2, Math.abs(side), side);

/** Put the name of a line or a bar at its place in percent. */
const putName = (name, left, top) =>
  put(name, "style", `left:${number(left)}%;top:${number(top)}%`);

const armOf = (divided) => (divided ? "divided" : "undivided");

/** A slider's value as it is read. */
const reading = (value) => (value === null ? "off" : minus(String(Number(value.toPrecision(6)))));

const PLAIN = "(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?";
const PART = `([+-]?${PLAIN})`;
const ROOT = `(?:√(${PLAIN})$|(?:√|[sS]qrt)\\((${PLAIN})(?:/(${PLAIN}))?\\))`;
const NUMBER = new RegExp(
  `^(?:${PART}(?:\\^([+-]?[0-9]{1,4}))?|([+-]?|${PART}[*·]?)${ROOT})(?:/(?:${PART}|${ROOT}))?(%?)$`);
const UNCLEAR = /^[+-]?[1-9][0-9]{0,2},[0-9]{3}$/;

/** The number that a reader wrote, or null. */
function readNumber(text) {
  const found = NUMBER.exec(text.replace(/\s/g, "").replaceAll("−", "-"));
  if (!found) return null;
  const [, plain, power, sign, factor, ...roots] = found;
  const [below, percent] = [roots[3], roots.pop()];
  if ([plain, factor, ...roots].some((part) => UNCLEAR.test(part ?? ""))) return null;
  const decimal = (part) => Number((part ?? "1").replace(",", "."));
  const root = (place) =>
    Math.sqrt(decimal(roots[place] ?? roots[place + 1]) / decimal(roots[place + 2]));
  const above = plain
    ? decimal(plain) ** Number(power ?? 1) : decimal(factor ?? `${sign}1`) * root(0);
  const under = roots[4] ?? roots[5] ? root(4) : decimal(below);
  const value = above / (under * (percent ? 100 : 1));
  return [above, under, value].every(Number.isFinite) ? value : null;
}

/** The place of the stop next to a value; null is a stop of its own. */
function nearest(stops, value) {
  const distances = stops.map((stop) =>
    stop === null || value === null ? (stop === value ? 0 : Infinity) : Math.abs(stop - value));
  return distances.indexOf(Math.min(...distances));
}

/** The form of a figure; where a widget is shown, the markup comes first. */
function formOf({ model, el }) {
  if (!el.querySelector("form")) {
    el.classList.add("live-figure");
    el.innerHTML = model.get("still");
  }
  return el.querySelector("form");
}

const save = (model, changes) => {
  Object.entries(changes).forEach(([name, value]) => model.set(name, value));
  model.save_changes();
};

/** Update now and whenever one of the traits changes; returns what ends that. */
function follow(model, names, update) {
  names.forEach((name) => model.on(`change:${name}`, update));
  update();
  return () => names.forEach((name) => model.off(`change:${name}`, update));
}

/** A figure of which nothing is kept but its state: `draw(state, el)` as below. */
const moving = (names, draw) => ({
  render: (view) => connect(view, names, (state) => draw(state, view.el)),
});

/**
 * Connect the controls of a figure with its model, and draw whenever the state changes.
 * `draw(state)` moves what the picture holds and returns the words.
 */
function connect({ model, el }, names, draw) {
  const form = formOf({ model, el });
  const first = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  let setting = false;
  const set = (changes) => {
    setting = true; // one drawing for all changes together
    save(model, changes);
    setting = false;
    update();
  };
  const stops = (input) => (input.stops ??= JSON.parse(`[${input.dataset.stops}]`));
  const update = () => {
    if (setting) return;
    const state = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    for (const input of form.querySelectorAll("input")) {
      const value = state[input.name];
      if (input.type === "checkbox") input.checked = value;
      else if (input.type === "search") {
        if (input.value !== value) input.value = value; // or the caret would jump
      } else {
        input.value = nearest(stops(input), value);
        const shown = reading(value);
        if (input.ariaValueText === shown) continue; // what is written is laid out anew
        input.ariaValueText = shown;
        input.closest("label").querySelector(".value").textContent = shown;
      }
    }
    form.querySelectorAll("select[name]").forEach((list) => (list.value = state[list.name]));
    for (const list of form.querySelectorAll(".presets select")) {
      const fits = ({ value }) =>
        Object.entries(JSON.parse(value)).every(([name, wanted]) => state[name] === wanted);
      list.selectedIndex = [...list.options].findIndex(fits);
    }
    const words = draw(state);
    el.querySelector("svg")?.setAttribute("aria-label", words);
    write(el.querySelector(".figure-words"), words);
  };
  const moved = ({ target }) => {
    if (target.type === "checkbox") set({ [target.name]: target.checked });
    else if (target.type === "range") set({ [target.name]: stops(target)[target.value] });
    else if (target.matches(".presets select")) set(JSON.parse(target.value));
    else set({ [target.name]: target.value });
  };
  const pressed = ({ target }) => {
    const button = target.closest("button");
    if (button?.name === "draw") set({ draw: (model.get("draw") % 9999) + 1 });
  };
  // data-tap names two sliders, whose stops divide a picture into columns and, upwards, rows
  const tapped = ({ currentTarget: target, clientX, clientY }) => {
    const box = target.getBoundingClientRect();
    const shares = [(clientX - box.left) / box.width, (box.bottom - clientY) / box.height];
    const stop = (name, share) => {
      const all = stops(form.elements[name]);
      return all[Math.min(Math.max(Math.floor(share * all.length), 0), all.length - 1)];
    };
    const tap = target.dataset.tap.split(" ");
    set(Object.fromEntries(tap.map((name, axis) => [name, stop(name, shares[axis])])));
  };
  const reset = (event) => {
    event.preventDefault();
    set(first);
  };
  const submitted = (event) => event.preventDefault();
  form.addEventListener("input", moved);
  form.addEventListener("click", pressed);
  form.addEventListener("reset", reset);
  form.addEventListener("submit", submitted);
  el.querySelectorAll("[data-tap]").forEach((node) => node.addEventListener("click", tapped));
  return follow(model, names, update);
}
