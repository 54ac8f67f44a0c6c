// Cells that a reader edits and runs on the page; book/live_python.py puts python.js before this.
//
// A press on a button with `data-edit` opens an editor in place of the cell's code, or below an
// exercise. Of the cells above, Python runs what the code needs, each as the reader has left it.

const LIMIT = 30; // seconds that a cell may take
const STYLE = `
.live-editor { font-family: var(--book-sans, sans-serif); margin: 0.75rem 0; }
.live-code { border: 1px solid var(--pst-color-border); border-radius: 0.3rem; display: flex; }
.live-code > :is(pre, textarea) { border: 0; font: 0.875rem/1.5 var(--pst-font-family-monospace, monospace);
  margin: 0; padding: 0.5rem; }
.live-code > pre { background: var(--pst-color-surface); color: var(--pst-color-text-muted); flex: none;
  min-width: 2.75rem; overflow: hidden; text-align: right; }
.live-code .wrong { color: var(--pst-color-text-base); }
.live-code > textarea { background: var(--pst-color-background); color: var(--pst-color-text-base);
  flex: 1; min-width: 0; overflow: auto hidden; resize: none; white-space: pre; }
.live-row { align-items: center; display: flex; flex-wrap: wrap; font-size: 0.875rem; gap: 0.5rem;
  margin: 0.5rem 0; }
.live-row button { background: none; border: 1px solid var(--pst-color-border); border-radius: 0.3rem;
  color: var(--pst-color-text-base); min-height: 2.75rem; min-width: 4rem; }
.live-row .run { background: var(--pst-color-surface); font-weight: 600; }
.bd-article .live-said { font-size: 0.8125rem; margin: 0.5rem 0; white-space: pre-wrap; }
.live-said:empty { display: none; }
.live-editing > .cell_output::before { color: var(--pst-color-text-muted); content: "As printed";
  font: 0.875rem var(--book-sans, sans-serif); }
@media (width < 37.5rem) { .live-code > :is(pre, textarea) { font-size: 1rem; } }
`;
const here = document.currentScript;
const editors = [];
let busy = false;

const element = (name, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};

const megabytes = (bytes) => Math.round(bytes / 1e6);
const python = createRuntime({
  base: new URL(".", here.src),
  onProgress: (loaded, total) => {
    const said = `Loading Python: ${megabytes(loaded)} of ${megabytes(total)} MB`;
    editors.forEach(({ waits, say }) => waits() && say(said));
  },
});

/** Let Enter keep the indentation of a line, and deepen it after a colon. */
const indent = (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
  const { value, selectionStart } = event.target;
  const line = value.slice(0, selectionStart).split("\n").at(-1);
  event.preventDefault();
  const deeper = line.trimEnd().endsWith(":") ? "    " : "";
  document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}${deeper}`);
};

/** Return an editor: the text area with its numbers of lines, its buttons, and what it says. */
function makeEditor(code, label, run, reset) {
  const numbers = element("pre", { ariaHidden: "true" });
  const text = element("textarea", {
    value: code, spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off",
  });
  text.setAttribute("aria-label", label);
  const [go, stop, back] = ["Run", "Stop", "Reset"].map((name) =>
    element("button", { type: "button", textContent: name, className: name.toLowerCase() }));
  const status = element("span", { role: "status" });
  const said = element("pre", { className: "live-said" });
  const row = element("div", { className: "live-row" }, go, stop, back, status);
  const whole = element("div", { className: "live-editor d-print-none" },
    element("div", { className: "live-code" }, numbers, text), row, said);

  const count = (wrong) => {
    const lines = text.value.split("\n").length;
    text.rows = lines;
    numbers.replaceChildren(...Array.from({ length: lines }, (_, i) => (i + 1 === wrong
      ? element("b", { className: "wrong" }, `▸${i + 1}\n`)
      : `${i + 1}\n`)));
  };
  text.addEventListener("input", () => count());
  text.addEventListener("keydown", indent);
  text.addEventListener("keydown", ({ key, ctrlKey, metaKey }) =>
    key === "Enter" && (ctrlKey || metaKey) && go.click());
  go.addEventListener("click", run);
  stop.addEventListener("click", () => python.stop("Stopped."));
  back.addEventListener("click", reset);
  stop.hidden = true;
  count();
  return { whole, text, go, stop, back, said, status, count };
}

/** Open an editor where a button asks for it; `page` has the code of its cells and exercises. */
function edit(button, page) {
  const [kind, name] = button.dataset.edit.split(":");
  const opener = button.closest(".edit-run");
  const cell = opener.closest(".cell");
  const { above, code } = kind === "exercise"
    ? page.exercises[name]
    : { above: page.cells.filter(([place]) => place < +name), code: new Map(page.cells).get(+name) };

  const run = async () => {
    if (busy) return say("Another cell is running.");
    busy = own.waiting = true;
    [go.hidden, stop.hidden, back.disabled] = [true, false, true];
    stop.focus();
    said.textContent = "";
    count();
    let clock;
    try {
      say("Loading Python …");
      await python.start();
      say("Running …");
      own.waiting = false;
      clock = setTimeout(() => python.stop(
        `Stopped after ${LIMIT} seconds. Does a loop never end?`), LIMIT * 1000);
      tell(await python.run(text.value, sources()));
    } catch ({ message }) {
      say(message);
    }
    clearTimeout(clock);
    busy = own.waiting = false;
    [go.hidden, stop.hidden, back.disabled] = [false, true, false];
    go.focus();
  };
  const reset = () => {
    whole.remove();
    cell?.classList.remove("live-editing");
    shown?.removeAttribute("hidden");
    editors.splice(editors.indexOf(own), 1);
    opener.hidden = false;
    button.focus();
  };
  const sources = () => above.map((one) => {
    if (typeof one === "string") return one;
    const [place, source] = one;
    return editors.find((other) => other.place === place)?.text.value ?? source;
  });
  const tell = ({ output, error }) => {
    const where = error && (error.line ? ` (line ${error.line})` : error.above ? " (in a cell above)" : "");
    said.textContent = output + (error ? `✗ ${error.text}${where}\n` : "");
    say(error ? "Python stopped at an error." : output ? "" : "Done. Nothing was printed.");
    count(error?.line);
    const verdict = kind === "exercise" && output.match(/^([✓✗]) (.+)$/m);
    if (verdict && verdict[2] === name) {
      const detail = { exercise: name, passed: verdict[1] === "✓" };
      whole.dispatchEvent(new CustomEvent("judged", { bubbles: true, detail }));
    }
  };
  const say = (words) => { status.textContent = words; };

  const label = kind === "exercise" ? "Your answer, in Python" : "Code of this cell";
  const { whole, text, go, stop, back, said, status, count } = makeEditor(code, label, run, reset);
  const own = { text, say, place: kind === "cell" ? +name : null, waits: () => own.waiting };
  const shown = kind === "cell" ? cell.querySelector(":scope > .cell_input > *") : null;
  if (shown) shown.hidden = true;
  cell?.classList.add("live-editing");
  opener.hidden = true;
  opener.after(whole);
  editors.push(own);
  text.setSelectionRange(0, 0);
  text.focus();
  text.scrollLeft = 0; // a browser shows where the cursor was
  own.waiting = true;
  python.start().then(
    () => {
      document.querySelectorAll(".edit-run small").forEach((note) => note.remove());
      if (own.waiting) say("Python is ready.");
      own.waiting = false;
    },
    ({ message }) => say(message));
}

document.head.append(element("style", { textContent: STYLE }));
here.edit = edit;
