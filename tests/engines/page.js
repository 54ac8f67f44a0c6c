// What the tests ask of a page, in each browser alike.
const all = (what, within = document) => [...within.querySelectorAll(what)];
const shown = (node) => node.checkVisibility({ checkVisibilityCSS: true });
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const until = async (condition, what, seconds = 20) => {
  for (const end = performance.now() + 1000 * seconds; !(await condition()); await pause(0.02)) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
  }
};
const told = (node) => node.textContent.trim().replace(/\s+/g, " ").slice(0, 60);

/** Lay out all of the page, open what can be opened, and wait for what comes late. */
const prepare = async () => {
  document.documentElement.dataset.whole = "";
  all(".bd-article details").forEach((box) => (box.open = true));
  await document.fonts.ready;
  for (const figure of all(".live-figure")) {
    if (figure.querySelector("[data-late-from]")) figure.scrollIntoView();
    await until(() => figure.model, `${figure.dataset.figure} is alive`);
  }
  scrollTo(0, 0);
  await pause(0.2);
};

/** The parts of formulas that have more or fewer parts than they must. */
const incomplete = () =>
  all("mfrac, mroot, msub, msup, munder, mover, msubsup, munderover")
    .filter((node) => node.children.length !== (/sup$|over$/.test(node.tagName.slice(4)) ? 3 : 2))
    .map((node) => `${node.tagName} has ${node.children.length} parts: ${told(node)}`);

/** What is drawn outside its cell or before what it follows, of the parts of formulas. */
const garbled = (most) => {
  const found = [];
  const box = (node) => node.getBoundingClientRect();
  const formulas = all("math").filter((math) => shown(math) && box(math).width > 1);
  for (const math of formulas) {
    for (const cell of math.querySelectorAll("mtd")) {
      const [outer, parts] = [box(cell), [...cell.children].map(box)];
      const left = Math.min(...parts.map((part) => part.left));
      const right = Math.max(...parts.map((part) => part.right));
      const off = Math.max(outer.left - left, right - outer.right);
      if (off > most) found.push(`${told(cell)} leaves its cell by ${off.toFixed(1)} px`);
    }
    for (const cell of math.querySelectorAll("mtd.tml-right")) {
      const room = Number.parseFloat(getComputedStyle(cell).paddingRight);
      const right = Math.max(...[...cell.children].map((part) => box(part).right));
      const off = box(cell).right - room - right;
      if (off > most) found.push(`${told(cell)} ends ${off.toFixed(1)} px before its column`);
    }
    for (const row of math.querySelectorAll("mrow, mtd")) {
      const parts = [...row.children].filter((part) => box(part).width > 0.5);
      parts.slice(1).forEach((part, place) => {
        const off = box(parts[place]).right - box(part).left;
        const below = box(part).top > box(parts[place]).bottom; // a line was broken
        if (off > most && !below) {
          found.push(`${told(part)} begins ${off.toFixed(1)} px before ${told(parts[place])} ends`);
        }
      });
    }
  }
  return found;
};

/** Text properties of formulas that browsers do not reset, where a formula has taken them over. */
const inherited = () => {
  const WANTED = {
    "font-size-adjust": "none", "font-variant": "normal", "hanging-punctuation": "none",
    "letter-spacing": "normal", "text-indent": "0px", "text-transform": "none",
    "word-spacing": "0px",
  };
  const found = new Set();
  for (const node of all("math, mo")) {
    const style = getComputedStyle(node);
    for (const [name, value] of Object.entries(WANTED)) {
      const has = style.getPropertyValue(name);
      if (has && has !== value && !(has === "normal" || has === "0px")) {
        found.add(`${name} of a formula is ${has}`);
      }
    }
  }
  return [...found];
};

/** Move every control of every figure, and return what moves nothing. */
const still = async () => {
  const found = [];
  for (const figure of all(".live-figure")) {
    const form = figure.querySelector("form.figure-controls");
    if (!form) continue;
    const state = () => JSON.stringify([...form.elements].map(({ value, checked }) => [value, checked])) +
      [...figure.children].filter((part) => part !== form && !part.matches(".take"))
        .map((part) => part.innerHTML.replace(/\s+/g, "")).join();
    const first = state();
    const moved = async (name, act) => {
      const before = state();
      act();
      await pause(0.01);
      if (state() === before) found.push(`${figure.dataset.figure}: ${name} moves nothing`);
    };
    const tell = (control) => {
      control.dispatchEvent(new Event("input", { bubbles: true }));
      control.dispatchEvent(new Event("change", { bubbles: true }));
    };
    for (const control of all("input, select, button:not([type=reset])", figure)) {
      if (control.closest(".take") || control.closest("[hidden]") || control.disabled) continue;
      const name = control.name || control.getAttribute("aria-label") || control.localName;
      if (control.type === "range") {
        await moved(name, () => {
          control.value = control.value === control.max ? control.min : control.max;
          tell(control);
        });
      } else if (control.type === "search") {
        await moved(name, () => { control.value = "attention"; tell(control); });
      } else if (control.localName === "select") {
        const other = [...control.options].findIndex((option, place) =>
          place !== control.selectedIndex && !option.disabled);
        await moved(name, () => { control.selectedIndex = other; tell(control); });
      } else {
        await moved(name, () => control.click());
      }
    }
    form.querySelector("[type=reset]").click();
    await pause(0.01);
    if (state() !== first) found.push(`${figure.dataset.figure}: Reset does not bring it back`);
  }
  return found;
};

/** Answer every question of the page, and return what is not replied to or does not open. */
const unanswered = async () => {
  const found = [];
  for (const form of all("form.prediction, form.ask")) {
    const name = form.getAttribute("aria-label");
    for (const field of all("input, select", form)) {
      if (field.type === "radio") field.checked = true;
      else if (field.localName === "select") field.selectedIndex = 1;
      else field.value = field.type === "range" ? field.max : "1";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    form.querySelector("[type=submit]").click();
    await pause(0.01);
    const said = form.querySelectorAll(".said");
    if (![...said].every((words) => words.textContent.trim() && shown(words))) {
      found.push(`nothing is said to ${name}`);
    }
    if (form.matches(".prediction") && form.querySelector("fieldset").disabled !== true) {
      found.push(`${name} does not stand`);
    }
    const next = form.closest("div.cell")?.nextElementSibling;
    if (form.matches(".prediction") && next?.matches("details.answering") && !next.open) {
      found.push(`what came out after ${name} stays closed`);
    }
  }
  return found;
};

/** Open each editor and close it again. */
const editors = async () => {
  const found = [];
  for (const button of all("button[data-edit]").filter(shown)) {
    const name = button.dataset.edit;
    button.click();
    await until(() => document.querySelector(".live-editor"), `an editor of ${name}`);
    document.querySelector(".live-editor .reset").click();
    if (document.querySelector(".live-editor")) found.push(`the editor of ${name} stays`);
    if (!shown(button)) found.push(`there is no way back to the editor of ${name}`);
    if (document.activeElement !== button) found.push(`Reset of ${name} loses the focus`);
  }
  return found;
};

/** Run the first cell that can be run, and return what it prints and what is said of it. */
const printed = async () => {
  const button = all("button[data-edit^=cell]").find(shown);
  button.click();
  await until(() => document.querySelector(".live-editor"), "an editor");
  const editor = document.querySelector(".live-editor");
  editor.querySelector(".run").click();
  const said = () => editor.querySelector(".live-said").textContent;
  const status = () => editor.querySelector("[role=status]").textContent;
  await until(() => said() || /stopped|not be loaded|Nothing/i.test(status()), "an output", 90);
  return [said(), status()];
};

/** Press every button of the page, whatever it does. */
const pressAll = async () => {
  addEventListener("submit", (event) => event.preventDefault()); // a form may lead to another page
  delete document.documentElement.dataset.whole; // a button may change the style of all that is laid out
  for (const button of all("button").filter((one) => !one.dataset.edit)) {
    if (!button.isConnected || button.disabled || !shown(button)) continue;
    button.click();
    await pause(0.005);
    all("dialog[open]").forEach((dialog) => dialog.close());
  }
  await pause(0.3);
};

/** Mark controls and groups that a reader meets, and return how each is called in the markup. */
const markNamed = (andLinks) => {
  const what = (andLinks ? "a[href], " : "") + "button, input, select, textarea, summary, fieldset, form, [role=region], dialog[open]";
  const met = all(what).filter((node) => shown(node) && !node.closest("[aria-hidden=true]"));
  met.forEach((node) => node.setAttribute("data-met", ""));
  return met.map((node) => node.outerHTML.slice(0, 120));
};

/** Search for a word in the dialog, or on the page of results, and return what is to be seen. */
const search = async (word) => {
  const page = document.querySelector("main .bd-search-container form");
  if (!page) all(".search-button__button").find(shown).click();
  const form = page ?? document.querySelector("#pst-search-dialog form");
  await until(() => document.querySelector(".search-found"), "the search");
  form.elements.q.value = word;
  form.elements.q.dispatchEvent(new Event("input", { bubbles: true }));
  await pause(0.1);
  const results = all(".search-found li", form.parentElement);
  const seen = results.filter((one) => one.getBoundingClientRect().height > 10);
  return [results.length, seen.length, form.parentElement.querySelector("[role=status]").textContent];
};

/** Leave nothing to be seen but formulas, and return where their pieces are in the page. */
const onlyFormulas = () => {
  const sheet = document.createElement("style");
  sheet.textContent = `* { background: none !important; visibility: hidden !important; }
    html { background: #fff !important; }
    math, math * { color: #000 !important; visibility: visible !important; }`;
  document.head.append(sheet);
  window.pieces = all(".bd-article span.math math")
    .flatMap((math) => (math.matches(".breaks") ? [...math.children] : [math]))
    .map((piece) => ({ piece, box: piece.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 1)
    .map(({ piece, box: { x, y, width, height } }) =>
      ({ piece, box: { name: told(piece), x, y: y + scrollY, width, height } }));
  return window.pieces.map(({ box }) => box);
};

/** Draw each piece again where it was, outside of all but the page, and no longer within. */
const alone = () => {
  const copies = window.pieces.map(({ piece }) => {
    const room = document.createElement("div");
    const { fontSize } = getComputedStyle(piece.closest("math").parentElement);
    room.style.cssText = `position: absolute; left: 0; top: 0; white-space: nowrap; font-size: ${fontSize}`;
    const math = piece.closest("math").cloneNode(piece.localName === "math");
    math.classList.remove("breaks");
    if (piece.localName !== "math") math.append(piece.cloneNode(true));
    room.append(math);
    return [room, piece.localName === "math" ? math : math.firstChild];
  });
  document.body.style.minHeight = `${document.documentElement.scrollHeight}px`;
  document.querySelector("main").style.display = "none";
  document.body.append(...copies.map(([room]) => room));
  const drawn = copies.map(([, copy]) => copy.getBoundingClientRect());
  copies.forEach(([room], place) => {
    const { x, y } = window.pieces[place].box;
    room.style.left = `${x - drawn[place].x}px`;
    room.style.top = `${y - (drawn[place].y + scrollY)}px`;
  });
};
