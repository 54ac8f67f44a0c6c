// What a reader takes along: the state of each figure that moves, in the page's address, so that a
// link shows it again; that of the head from page to page; and every picture, to be saved.

const KEY = "why-divide-by-root-dk.head";
// In these figures a reader meets the same head, so they have in common what was set.
const HEADS = ["head", "collapse"];
const CARRIED = ["d_k", "n_keys", "divided", "draw", "power"];
const WAIT = 500;

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/* States as text, such as d_k:256,n_keys:64. Whatever comes from outside is compared with what a
   control can be, and goes no further if it is something else. */

const written = (value) =>
  typeof value === "string" ? slug(value) : { null: "off", true: "on", false: "off" }[value] ?? `${value}`;
const readState = (text) => new Map(text.split(",").map((part) => part.split(":")));
const writeState = (state) => [...state].map((pair) => pair.join(":")).join(",");

/** For each trait that a control sets, the function from a text to its value or undefined. */
function traitsOf(form) {
  const among = (values) => (text) => values.find((value) => written(value) === text);
  const traits = new Map();
  for (const { name, type, dataset, options } of form.elements) {
    if (!name) continue;
    if (dataset.stops) traits.set(name, among(JSON.parse(`[${dataset.stops}]`)));
    else if (type === "checkbox") traits.set(name, among([false, true]));
    else if (options) traits.set(name, among([...options].map(({ value }) => value)));
    else if (name === "draw") {
      traits.set(name, (text) => (/^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined));
    }
  }
  return traits;
}

/** The states of figures in the address by their names, and what else is there. */
function query(names) {
  const [states, others] = [new Map(), []];
  for (const part of location.search.slice(1).split("&").filter(Boolean)) {
    const [name, text = ""] = part.split("=");
    if (!names.has(name)) others.push(part);
    else {
      try {
        states.set(name, decodeURIComponent(text));
      } catch {
        states.set(name, ""); // what cannot be read
      }
    }
  }
  return { states, others };
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
let timer;

/** What differs from the page's own state. */
function changes({ model, own, traits }) {
  const changed = [...traits.keys()].filter((trait) => model?.get(trait) !== own[trait]);
  return new Map(model ? changed.map((trait) => [trait, written(model.get(trait))]) : []);
}

/** Write down how the figures are, a moment after the last change. */
function settle() {
  clearTimeout(timer);
  timer = undefined;
  const { states, others } = query(figures);
  for (const [name, figure] of figures) {
    if (!figure.model) continue; // its data have not come, so what is asked for waits
    states.set(name, writeState(changes(figure)));
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
  const parts = [...states].filter(([, text]) => text).map((pair) => pair.join("="));
  const url = new URL(location.href);
  url.search = [...others, ...parts].join("&");
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
  for (const [trait, text] of carried ? kept() : readState(asked ?? "")) {
    const value = carried && !CARRIED.includes(trait) ? undefined : traits.get(trait)?.(text);
    if (value !== undefined) el.model.set(trait, value);
  }
  figure.seen = carried ? Object.fromEntries(CARRIED.map((trait) => [trait, el.model.get(trait)])) : { ...own };
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
const PAINT = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "vector-effect"];
const TYPE = ["font-family", "font-size", "font-style", "font-weight"];
const pen = document.createElement("canvas").getContext("2d");

/** A color as every program reads it. */
const plain = (value) => value.replace(/^color\(srgb ([^)]*)\)$/, (_, parts) => {
  const [red, green, blue, alpha = 1] = parts.split(/[ /]+/).map(Number);
  return `rgba(${[red, green, blue].map((part) => Math.round(255 * part)).join(", ")}, ${alpha})`;
});

function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Words with the left end of their line, in the type of an element. */
function words(text, style, x, y, wide) {
  const type = TYPE.map((name) => [name, style.getPropertyValue(name)]);
  const fit = wide && text.length > 1 ? { textLength: wide.toFixed(2) } : {};
  return shape("text", { ...Object.fromEntries(type), fill: plain(style.color), x, y, ...fit }, text);
}
function setType(style) {
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return pen.measureText("x");
}

/** The lines in which a text is laid out. */
function linesOf(node, opacity) {
  const style = getComputedStyle(node.parentElement);
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    const range = new Range();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const line = lines.at(-1);
    if (!box.width) continue;
    if (line && Math.abs(line.box.top - box.top) < 2) {
      line.text += ` ${word}`;
      line.right = box.right;
    } else lines.push({ text: word, box, right: box.right });
  }
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = setType(style);
  return lines.map(({ text, box, right }) => {
    const foot = box.top + (box.height * up) / (up + down);
    const node = words(text, style, box.left, foot, right - box.left);
    if (opacity < 1) node.setAttribute("opacity", opacity);
    return { node, box: new DOMRect(box.left, box.top, right - box.left, box.height) };
  });
}

/** A drawing of the page with its colors and strokes written in. */
function copied(svg, box, opacity) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  const hidden = to.filter((part, place) => {
    const style = getComputedStyle(from[place]);
    for (const { name } of [...part.attributes]) {
      if (/^(class|style|role|tabindex|display|aria-|data-)/.test(name)) part.removeAttribute(name);
    }
    for (const name of part.localName === "text" ? [...PAINT, ...TYPE, "text-anchor", "dominant-baseline"] : PAINT) {
      part.setAttribute(name, plain(style.getPropertyValue(name)));
    }
    return style.display === "none" || style.visibility === "hidden";
  });
  hidden.forEach((part) => part.remove());
  const { x, y, width, height } = box;
  for (const [key, value] of Object.entries({ x, y, width, height, overflow: "visible" })) {
    copy.setAttribute(key, value);
  }
  copy.setAttribute("opacity", opacity);
  return { node: copy, box };
}

/** Ground and edges of a box. */
function boxOf(style, { x, y, width, height }, opacity) {
  const rx = Number.parseFloat(style.borderTopLeftRadius) || 0;
  const box = new DOMRect(x, y, width, height);
  const found = [];
  const fill = plain(style.backgroundColor);
  if (fill !== CLEAR && width && height) {
    found.push({ node: shape("rect", { x, y, width, height, rx, fill, opacity }), box });
  }
  const edges = [["Top", 0, 0, 1, 0], ["Right", 1, 0, 1, 1], ["Bottom", 0, 1, 1, 1], ["Left", 0, 0, 0, 1]];
  for (const [side, ...ends] of edges) {
    const thick = Number.parseFloat(style[`border${side}Width`]);
    const stroke = plain(style[`border${side}Color`]);
    if (!thick || stroke === CLEAR) continue;
    const [x1, y1, x2, y2] = ends.map((end, place) => (place % 2 ? y + end * height : x + end * width));
    const dash = style[`border${side}Style`] === "dashed" ? 2 * thick : "none";
    const line = { x1, y1, x2, y2, stroke, "stroke-width": thick, "stroke-dasharray": dash, opacity };
    found.push({ node: shape("line", line), box });
  }
  return found;
}

/** What is drawn of a part of the page, each with where it is. */
function partsOf(node, shade) {
  if (node.nodeType === Node.TEXT_NODE) return linesOf(node, shade);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".figure-controls, .take, input, select")) return [];
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const opacity = shade * style.opacity;
  if (style.visibility === "hidden" || style.display === "none") return [];
  if (node.localName === "svg") return [copied(node, box, opacity)];
  const mark = getComputedStyle(node, "::before"); // the piece of a line before a name
  const marked = mark.content === '""' && mark.display === "inline-block";
  const [width, height] = [mark.width, mark.height].map(Number.parseFloat);
  const place = { width, height, y: box.y + (box.height - height) / 2,
    x: box.x + Number.parseFloat(style.paddingLeft) + Number.parseFloat(mark.marginLeft) };
  return [
    ...boxOf(style, box, opacity),
    ...(marked ? boxOf(mark, place, opacity) : []),
    ...[...node.childNodes].flatMap((child) => partsOf(child, opacity)),
  ];
}

const SUBSCRIPTS = { i: "ᵢ", j: "ⱼ", k: "ₖ", n: "ₙ" };

/** What the controls are set to: how each is called, and what it says. */
function settings(form) {
  return [...form.querySelectorAll("label:not(.presets)")].map((label) => {
    const control = label.querySelector("input, select");
    const copy = label.cloneNode(true);
    copy.querySelectorAll("input, select, output").forEach((part) => part.remove());
    copy.querySelectorAll("sub").forEach((sub) => sub.replaceWith(SUBSCRIPTS[sub.textContent] ?? sub.textContent));
    const value = control.type === "checkbox" ? (control.checked ? "on" : "off")
      : label.querySelector("output")?.textContent ?? control.selectedOptions?.[0].textContent ?? control.value;
    return { trait: control.name, name: copy.textContent.trim().replace(/\s+/g, " "), value };
  });
}

/** A figure as a drawing of its own, with its settings, where it is from, and its words. */
function drawing({ el, title }) {
  const parts = [...el.children].flatMap((child) => partsOf(child, 1));
  const edge = (side, best) => best(...parts.map(({ box }) => box[side]));
  const [left, top] = [edge("left", Math.min), edge("top", Math.min)];
  const [pad, line] = [16, 18];
  const width = Math.ceil(edge("right", Math.max) - left + 2 * pad);
  const style = getComputedStyle(el.querySelector(".figure-words"));
  const small = { getPropertyValue: (name) => (name === "font-size" ? "12px" : style.getPropertyValue(name)), color: style.color };
  setType({ fontStyle: style.fontStyle, fontWeight: style.fontWeight, fontFamily: style.fontFamily, fontSize: "12px" });
  const foot = [];
  const from = document.querySelector(".logo__title")?.textContent.trim() ?? document.title;
  for (const text of [...settings(el.querySelector("form")).map(({ name, value }) => `${name}: ${value}`), from]) {
    const longer = `${foot.at(-1)} · ${text}`;
    if (foot.length && pen.measureText(longer).width <= width - 2 * pad) foot[foot.length - 1] = longer;
    else foot.push(text);
  }
  const end = Math.ceil(edge("bottom", Math.max) - top + pad);
  const height = end + line * (foot.length + 0.5) + pad;
  let ground = el;
  while (ground && getComputedStyle(ground).backgroundColor === CLEAR) ground = ground.parentElement;
  const fill = ground ? plain(getComputedStyle(ground).backgroundColor) : "#fff";
  const picture = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    shape("title", {}, title),
    shape("desc", {}, el.querySelector(".figure-words").textContent),
    shape("rect", { width, height, fill }),
    shape("g", { transform: `translate(${pad - left} ${pad - top})` }, ...parts.map(({ node }) => node)),
    ...foot.map((text, place) => words(text, small, pad, end + line * (place + 1.5))));
  return { width, height, text: new XMLSerializer().serializeToString(picture) };
}

/** A picture, painted as a PNG. */
async function painted(image, width, height, scale = 1) {
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: scale * width, height: scale * height });
  const context = canvas.getContext("2d");
  context.filter = image.isConnected ? getComputedStyle(image).filter : "none"; // as in the dark
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A name that says which figure it is, and how it was set. */
function fileName(figure) {
  const changed = changes(figure);
  const parts = settings(figure.el.querySelector("form")).filter(({ trait }) => changed.has(trait))
    .map(({ trait, name, value }) => slug(`${value === "on" || value === "off" ? trait : name.replace(/\S*ₖ/, "")} ${value}`));
  if (changed.has("draw")) parts.push(`draw-${changed.get("draw")}`);
  return ["attention", ...(parts.length ? parts : [slug(figure.kind)])].join("-").slice(0, 90);
}

/* The row below each picture. */

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The row: what can be saved, by its name, and the link. */
function row(title, saving, link) {
  const said = element("span", { role: "status" });
  const room = element("div", { className: "take" }, said);
  const press = (words, label, className, act) => {
    const button = element("button", { type: "button", className, textContent: words, ariaLabel: label });
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
  for (const [kind, act] of Object.entries(saving)) {
    press(kind, `Save ${title} as ${kind}`, "save", act);
  }
  press("Copy link", `Copy link to ${title}`, "", async () => {
    const address = link();
    try {
      await navigator.clipboard.writeText(address);
      return "Link copied";
    } catch {
      const field = element("input", { type: "text", readOnly: true, value: address, ariaLabel: `Link to ${title}` });
      said.after(field);
      field.select();
      return "Copy this:";
    }
  });
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
  const figure = { el, kind, own, title: headingOf(el), traits: traitsOf(el.querySelector("form")) };
  figures.set(name, figure);
  const saving = el.querySelector("svg") ? {
    SVG() {
      download(new Blob([drawing(figure).text], { type: "image/svg+xml" }), `${fileName(figure)}.svg`);
    },
    async PNG() {
      const { text, width, height } = drawing(figure);
      const image = element("img", { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
      download(await painted(image, width, height, 2), `${fileName(figure)}.png`);
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
    const blob = await painted(image, image.naturalWidth, image.naturalHeight);
    download(blob, `${slug(title)}-${slug(figure.id.replace("fig-", ""))}.png`);
  };
  // from a disk no page may read a picture; there the picture itself is a link, which opens it
  figure.after(row(title, location.protocol === "file:" ? {} : { PNG: save }, () => `${here()}#${figure.id}`));
}

/* What the address asks for. */
const { states } = query(figures);
for (const [name, figure] of figures) {
  const asked = states.get(name);
  if (figure.el.model) begin(figure, asked);
  else figure.el.addEventListener("alive", () => begin(figure, asked), { once: true });
}
const [first] = states.keys();
if (first && !location.hash && !("whole" in document.documentElement.dataset)) {
  figures.get(first).el.scrollIntoView();
}
