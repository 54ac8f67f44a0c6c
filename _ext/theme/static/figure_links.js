// What a reader takes along: the state of each figure that moves, in the page's address, so that a
// link shows it again; that of the head from page to page; and every picture, to be saved.

const KEY = "why-divide-by-root-dk.head";
// In these figures a reader meets the same head, so they have in common what was set.
const HEADS = ["head"];
const CARRIED = ["d_k", "n_keys", "divided", "draw", "power"];
const WAIT = 500;

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/* States as text, such as d_k:256,n_keys:64. Whatever comes from outside is compared with what a
   control can be, and goes no further if it is something else. */

const SWITCHED = new Map([[null, "off"], [false, "off"], [true, "on"]]);
const written = (value) =>
  SWITCHED.get(value) ?? (typeof value === "string" ? slug(value) : String(value));
const readState = (text) => new Map(text.split(",").map((part) => part.split(":")));
const writeState = (state) => [...state].map((pair) => pair.join(":")).join(",");

/** For each trait that a control sets, the function from a text to its value or undefined. */
function traitsOf(el) {
  const among = (values) => (text) => values.find((value) => written(value) === text);
  const within = (shape, low, high) => (text) =>
    shape.test(text) && low <= Number(text) && Number(text) <= high ? Number(text) : undefined;
  const traits = new Map();
  for (const { name, type, dataset, options } of el.querySelector("form").elements) {
    if (!name) continue;
    if (dataset.stops) traits.set(name, among(JSON.parse(`[${dataset.stops}]`)));
    else if (type === "checkbox") traits.set(name, among([false, true]));
    else if (options) traits.set(name, among([...options].map(({ value }) => value)));
    else if (name === "draw") traits.set(name, within(/^\d+$/, 1, 9999));
  }
  // scores of the head that were pulled, by the number of their key
  for (const [place, { min, max }] of el.querySelectorAll(".grip input").entries()) {
    traits.set(`pulled.${place + 1}`, within(/^-?\d+(\.\d)?$/, min, max));
  }
  return traits;
}

/** The value of a trait, or of one part of it. */
function valueOf(get, trait) {
  const [name, part] = trait.split(".");
  return part ? get(name)?.[part] : get(name);
}

function kept() {
  try {
    return readState(sessionStorage.getItem(KEY) ?? "");
  } catch {
    return new Map(); // nothing can be kept
  }
}
function keep(state) {
  try {
    if (state.size) sessionStorage.setItem(KEY, writeState(state));
    else sessionStorage.removeItem(KEY);
  } catch {
    // a full or locked store: the page itself still works
  }
}

const figures = new Map();
const arrived = !("whole" in document.documentElement.dataset); // and did not come back
let timer;

/** What differs from the page's own state. */
function changes({ model, own, traits }) {
  const changed = new Map();
  for (const trait of model ? traits.keys() : []) {
    const value = valueOf(model.get, trait);
    if (value !== undefined && value !== valueOf((name) => own[name], trait)) {
      changed.set(trait, written(value));
    }
  }
  return changed;
}

/** Write down how the figures are, a moment after the last change. */
function settle() {
  clearTimeout(timer);
  timer = undefined;
  const parts = location.search.slice(1).split("&").filter((part) =>
    part && !figures.get(part.split("=")[0])?.model); // without data what is asked for waits
  for (const [name, figure] of figures) {
    if (!figure.model) continue;
    const text = writeState(changes(figure));
    if (text) parts.push(`${name}=${text}`);
    if (!HEADS.includes(figure.kind)) continue;
    const moved = CARRIED.filter((trait) => figure.model.get(trait) !== figure.seen[trait]);
    if (!moved.length) continue;
    const state = kept();
    state.delete("");
    for (const trait of moved) {
      figure.seen[trait] = figure.model.get(trait);
      state.set(trait, written(figure.seen[trait]));
    }
    keep(state);
  }
  const url = new URL(location.href);
  url.search = parts.join("&");
  try {
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  } catch {
    // some browsers let no page from a disk change its address
  }
}

/** Let a figure that has come to life show what is asked for. */
function begin(figure, asked) {
  const { el, kind, own, traits } = figure;
  figure.model = el.model;
  const carried = HEADS.includes(kind) && asked === undefined;
  if (HEADS.includes(kind) && !carried && arrived) keep(new Map()); // a link says it all
  for (const [trait, text] of carried ? kept() : readState(asked ?? "")) {
    const value = carried && !CARRIED.includes(trait) ? undefined : traits.get(trait)?.(text);
    const [name, part] = trait.split(".");
    if (value !== undefined) {
      el.model.set(name, part ? { ...el.model.get(name), [part]: value } : value);
    }
  }
  figure.seen = { ...own };
  if (changes(figure).size) settle();
}

addEventListener("moved", () => {
  clearTimeout(timer);
  timer = setTimeout(settle, WAIT);
});
addEventListener("pagehide", () => timer && settle());
addEventListener("reset", ({ target }) => {
  const figure = [...figures.values()].find(({ el }) => el.contains(target));
  if (!figure || !HEADS.includes(figure.kind)) return;
  figure.seen = { ...figure.own };
  keep(new Map());
});

/* Pictures: what is on the screen, controls aside, as one drawing that needs nothing else. */

const CLEAR = "rgba(0, 0, 0, 0)";
const TYPE = ["font-family", "font-size", "font-style", "font-weight"];
const INSIDE = [...TYPE, "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "vector-effect", "text-anchor",
  "dominant-baseline"];
const SIDES = { Top: [0, 0, 1, 0], Right: [1, 0, 1, 1], Bottom: [0, 1, 1, 1], Left: [0, 0, 0, 1] };
const pen = document.createElement("canvas").getContext("2d");

/** A color as every program reads it. */
const plain = (value) => value.replace(/^color\(srgb (.*)\)/, (_, parts) => {
  const [red, green, blue, alpha = 1] = parts.split(/[ /]+/);
  return `rgba(${[red, green, blue].map((part) => Math.round(255 * part))}, ${alpha})`;
});

function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const dressed = (made, style, names) => {
  for (const name of names) made.setAttribute(name, plain(style.getPropertyValue(name)));
  return made;
};

/** The lines in which a text is laid out. */
function linesOf(text) {
  const style = getComputedStyle(text.parentElement);
  pen.font = `99px ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText("x");
  const lines = [];
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    const range = new Range();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left: x, right, top, width, height } = range.getBoundingClientRect();
    const line = lines.at(-1);
    if (line && Math.abs(line.top - top) < 2) {
      line.right = right;
      line.words += ` ${word}`;
    } else if (width) {
      lines.push({ x, right, top, y: top + (height * up) / (up + down), words: word });
    }
  }
  return lines.map(({ x, y, right, words }) => dressed(
    shape("text", { x, y, textLength: right - x, fill: plain(style.color) }, words), style, TYPE));
}

/** A drawing of the page with its colors and strokes written in. */
function copyOf(svg, { x, y, width, height }) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  const hidden = to.filter((part, place) => {
    const style = getComputedStyle(from[place]);
    part.removeAttribute("style");
    dressed(part, style, INSIDE);
    return style.display === "none" || style.visibility === "hidden";
  });
  hidden.forEach((part) => part.remove());
  for (const [key, value] of Object.entries({ x, y, width, height, overflow: "visible" })) {
    copy.setAttribute(key, value);
  }
  return copy;
}

/** Ground and edges of a box. */
function boxOf(style, { x, y, width, height }) {
  const fill = plain(style.backgroundColor);
  const rx = Number.parseFloat(style.borderTopLeftRadius);
  const found = fill === CLEAR ? [] : [shape("rect", { x, y, width, height, rx, fill })];
  for (const [side, ends] of Object.entries(SIDES)) {
    const [wide, color, kind] = ["Width", "Color", "Style"]
      .map((what) => style[`border${side}${what}`]);
    if (wide === "0px" || color === CLEAR) continue;
    const [x1, y1, x2, y2] = ends
      .map((end, place) => (place % 2 ? y + end * height : x + end * width));
    found.push(shape("line", { x1, y1, x2, y2, stroke: plain(color), "stroke-width": wide,
      "stroke-dasharray": kind === "dashed" ? "5 3" : "none" }));
  }
  return found;
}

/** What is drawn of a part of the page. */
function partsOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return linesOf(node);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches("form, .take, input, select")) return [];
  const [style, mark] = [getComputedStyle(node), getComputedStyle(node, "::before")];
  const box = node.getBoundingClientRect();
  if (style.visibility === "hidden" || style.display === "none") return [];
  if (node.localName === "svg") return [copyOf(node, box)];
  const parts = [...boxOf(style, box), ...[...node.childNodes].flatMap(partsOf)];
  if (mark.content === '""' && mark.display === "inline-block") { // a piece of a line before a name
    const [width, height, before, inside] =
      [mark.width, mark.height, mark.marginLeft, style.paddingLeft].map(Number.parseFloat);
    const y = box.y + (box.height - height) / 2;
    parts.push(...boxOf(mark, { x: box.x + before + inside, y, width, height }));
  }
  return style.opacity < 1 ? [shape("g", { opacity: style.opacity }, ...parts)] : parts;
}

/** What the controls are set to: how each is called, and what it says. */
function settings(el) {
  return [...el.querySelectorAll("form label:not(.presets)")].map((label) => {
    const [control, copy] = [label.querySelector("input, select"), label.cloneNode(true)];
    copy.querySelectorAll("input, select, .value").forEach((part) => part.remove());
    copy.querySelectorAll("sub")
      .forEach((sub) => sub.replaceWith(sub.textContent.replace("k", "ₖ").replace("model", "_model")));
    const value = control.type === "checkbox" ? written(control.checked)
      : label.querySelector(".value")?.textContent ?? control.value;
    return { trait: control.name, text: `${copy.textContent.trim()}: ${value}` };
  });
}

/** A figure as a drawing of its own, with its words, its settings and where it is from. */
function drawing({ el, title }, scale = 1) {
  const shown = [...el.children].filter((part) => !part.matches("form, .take"));
  const boxes = shown.map((part) => part.getBoundingClientRect());
  const edge = (side, best) => best(...boxes.map((box) => box[side]));
  const [left, top, pad] = [edge("left", Math.min), edge("top", Math.min), 16];
  const wide = edge("right", Math.max) - left;
  const said = el.querySelector(".figure-words");
  const style = getComputedStyle(said);
  const foot = [];
  pen.font = `12px ${style.fontFamily}`;
  const book = document.querySelector(".logo__title")?.textContent ?? document.title;
  for (const text of [...settings(el).map((one) => one.text), book]) {
    const longer = `${foot.at(-1)} · ${text}`;
    if (foot.length && pen.measureText(longer).width < wide) foot[foot.length - 1] = longer;
    else foot.push(text);
  }
  const end = edge("bottom", Math.max) - top + 2 * pad;
  const [width, height] = [Math.ceil(wide + 2 * pad), Math.ceil(end + 18 * foot.length + pad)];
  const ground = getComputedStyle(document.body).backgroundColor;
  const size = { width: scale * width, height: scale * height };
  const picture = shape("svg", { ...size, viewBox: `0 0 ${width} ${height}`, role: "img" },
    shape("title", {}, title), shape("desc", {}, said.textContent),
    shape("rect", { width, height, fill: plain(ground) }),
    shape("g", { transform: `translate(${pad - left} ${pad - top})` }, ...shown.flatMap(partsOf)),
    ...foot.map((text, place) => shape("text", { x: pad, y: end + 18 * place + 12,
      fill: plain(style.color), "font-family": style.fontFamily, "font-size": 12 }, text)));
  for (const part of picture.querySelectorAll("[vector-effect=non-scaling-stroke]")) {
    for (const name of ["stroke-width", "stroke-dasharray"]) {
      part.setAttribute(name, part.getAttribute(name).replace(/[\d.]+/g, (long) => scale * long));
    }
  }
  return new XMLSerializer().serializeToString(picture);
}

/** A picture, painted as a PNG. */
async function painted(image) {
  await image.decode();
  const size = { width: image.naturalWidth, height: image.naturalHeight };
  const canvas = Object.assign(document.createElement("canvas"), size);
  const context = canvas.getContext("2d");
  context.filter = image.isConnected ? getComputedStyle(image).filter : "none"; // as in the dark
  context.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A name that says how the figure was set. */
function fileName(figure) {
  const changed = changes(figure);
  const parts = settings(figure.el).filter(({ trait }) => changed.has(trait))
    .map(({ text }) => text.replace(/\S*ₖ/, ""));
  if (changed.has("draw")) parts.push(`draw ${changed.get("draw")}`);
  return slug(["attention", ...(parts.length ? parts : [figure.kind])].join(" ")).slice(0, 90);
}

/* The row below each picture. */

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The row: the link, beside what is said of it, and what can be saved, by its name. */
function row(title, saving, link) {
  const said = element("span", { role: "status" });
  const room = element("div", { className: "take" }, said);
  const press = (words, label, className, act) => {
    const button = element("button",
      { type: "button", className, textContent: words, ariaLabel: label });
    button.addEventListener("click", async () => {
      room.querySelector("input")?.remove();
      said.textContent = "";
      try {
        said.textContent = (await act()) ?? "";
      } catch {
        said.textContent = "This did not work here";
      }
    });
    room.append(button);
  };
  press("Copy link", `Copy link to ${title}`, "", async () => {
    const address = link();
    try {
      await navigator.clipboard.writeText(address);
      return "Link copied";
    } catch {
      const field = element("input",
        { type: "text", readOnly: true, value: address, ariaLabel: `Link to ${title}` });
      said.after(field);
      field.select();
      return "Copy this:";
    }
  });
  for (const [kind, act] of Object.entries(saving)) {
    press(kind, `Save ${title} as ${kind}`, "save", act);
  }
  return room;
}

const here = () => location.href.replace(/[?#].*/, "");
const headingOf = (node) => {
  const heading = node.closest("section")?.querySelector("h1, h2, h3").cloneNode(true);
  heading?.querySelectorAll(".headerlink, .section-number").forEach((part) => part.remove());
  return heading ? `the figure in “${heading.textContent.trim()}”` : "the figure";
};

for (const el of document.querySelectorAll(".live-figure:has(> .figure-controls)")) {
  const kind = el.dataset.figure;
  const count = [...figures.values()].filter((other) => other.kind === kind).length + 1;
  const name = count > 1 ? `${kind}.${count}` : kind;
  const own = JSON.parse(el.dataset.state);
  const figure = { el, kind, own, title: headingOf(el), traits: traitsOf(el) };
  figures.set(name, figure);
  const saving = el.querySelector("svg") ? {
    SVG() {
      const blob = new Blob([drawing(figure)], { type: "image/svg+xml" });
      download(blob, `${fileName(figure)}.svg`);
    },
    async PNG() {
      const text = encodeURIComponent(drawing(figure, 2));
      const image = element("img", { src: `data:image/svg+xml,${text}` });
      download(await painted(image), `${fileName(figure)}.png`);
    },
  } : {};
  el.append(row(figure.title, saving, () => {
    const text = writeState(changes(figure));
    return `${here()}?${name}${text && `=${text}`}`;
  }));
}

for (const figure of document.querySelectorAll("figure:has(> .plot)")) {
  const image = figure.querySelector("img");
  const number = figure.querySelector(".caption-number")?.textContent.trim() ?? "";
  const title = number ? number.replace("Fig.", "figure") : headingOf(figure);
  const save = async () => {
    image.loading = "eager";
    download(await painted(image), `${slug(title)}-${slug(figure.id.replace("fig-", ""))}.png`);
  };
  // a page from a disk may not read its own pictures, but open them, and a browser can save that
  const onDisk = location.protocol === "file:";
  const room = row(title, onDisk ? {} : { PNG: save }, () => `${here()}#${figure.id}`);
  if (onDisk) {
    const open = { href: image.src, target: "_blank", textContent: "Open picture" };
    room.append(element("a", { ...open, ariaLabel: `Open picture of ${title}` }));
  }
  figure.after(room);
}

/* What the address asks for. */
const asks = new URLSearchParams(location.search);
for (const [name, figure] of figures) {
  const asked = asks.get(name) ?? undefined;
  if (figure.el.model) begin(figure, asked);
  else figure.el.addEventListener("alive", () => begin(figure, asked), { once: true });
}
const first = [...asks.keys()].find((name) => figures.has(name));
if (first && !location.hash && arrived) {
  const { el } = figures.get(first);
  for (let box = el; (box = box.closest("details:not([open])")); ) box.open = true;
  el.scrollIntoView();
}
