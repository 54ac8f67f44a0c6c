// What the modules of all figures share. Numbers come out as in attnlib, which a test compares.

/** Uniform numbers; attnlib.figures._draws has the same. */
function uniforms(seed, stream, count) {
  const start = (Math.imul(seed, 0x9e3779b1) + Math.imul(stream, 0x85ebca6b)) | 0;
  return Array.from({ length: count }, (_, i) => {
    const a = (start + Math.imul(0x6d2b79f5, i + 1)) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  });
}

/** Standard normal numbers by the method of Box and Muller. */
function normals(seed, stream, count) {
  const u = uniforms(seed, stream, 2 * count);
  return Array.from({ length: count }, (_, i) =>
    Math.sqrt(-2 * Math.log(u[2 * i])) * Math.cos(2 * Math.PI * u[2 * i + 1]));
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const length = (vector) => Math.hypot(...vector);

function softmax(logits) {
  const top = logits.reduce((a, b) => Math.max(a, b));
  const exponentials = logits.map((logit) => Math.exp(logit - top));
  const total = sum(exponentials);
  return exponentials.map((value) => value / total);
}

const entropy = (weights) => -sum(weights.map((p) => (p > 0 ? p * Math.log(p) : 0)));
const effectivePositions = (weights) => Math.exp(entropy(weights));
const meaningfulKeys = (weights) =>
  weights.filter((p) => p * (1 - p) > 0.1 / weights.length).length;

/** A coordinate, short and without an exponent. */
const number = (value) => String(Number(value.toFixed(2)));

/** A slider's value as it is read. */
const reading = (value) =>
  value === null ? "off" : String(Number(value.toPrecision(6))).replace("-", "−");

/** The place of the stop next to a value; null is a stop of its own. */
function nearest(stops, value) {
  const distances = stops.map((stop) =>
    stop === null || value === null ? (stop === value ? 0 : Infinity) : Math.abs(stop - value));
  return distances.indexOf(Math.min(...distances));
}

/**
 * Connect the controls of a figure with its model, and draw whenever the state changes.
 * `draw(state)` returns {words} after it has moved what the picture holds.
 */
function connect({ model, el }, names, draw) {
  if (!el.querySelector("form")) {
    el.classList.add("live-figure");
    el.innerHTML = model.get("still");
  }
  const form = el.querySelector("form");
  const first = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  let setting = false;
  const set = (changes) => {
    setting = true; // one drawing for all changes together
    Object.entries(changes).forEach(([name, value]) => model.set(name, value));
    setting = false;
    update();
    model.save_changes();
  };
  const stops = (input) => JSON.parse(`[${input.dataset.stops}]`);
  const update = () => {
    if (setting) return;
    const state = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    for (const input of form.querySelectorAll("input")) {
      const value = state[input.name];
      if (input.type === "checkbox") input.checked = value;
      else {
        input.value = nearest(stops(input), value);
        const shown = reading(value);
        input.setAttribute("aria-valuetext", shown);
        input.closest("label").querySelector("output").textContent = shown;
      }
    }
    for (const list of form.querySelectorAll(".presets select")) {
      const fits = ({ value }) =>
        Object.entries(JSON.parse(value)).every(([name, wanted]) => state[name] === wanted);
      list.selectedIndex = [...list.options].findIndex(fits);
    }
    const words = draw(state);
    el.querySelector("svg").setAttribute("aria-label", words);
    el.querySelector(".figure-words").textContent = words;
  };
  const moved = ({ target }) => {
    if (target.type === "checkbox") set({ [target.name]: target.checked });
    else if (target.type === "range") set({ [target.name]: stops(target)[target.value] });
    else if (target.matches(".presets select")) set(JSON.parse(target.value));
  };
  const pressed = ({ target }) => {
    const button = target.closest("button");
    if (button?.name === "draw") set({ draw: (model.get("draw") % 9999) + 1 });
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
  names.forEach((name) => model.on(`change:${name}`, update));
  update();
  return () => names.forEach((name) => model.off(`change:${name}`, update));
}
