// The reader's own progress with the exercises, kept in the browser. PAGES, the labels of the
// exercises by page, are in exercises.js, which the build writes.

const KEY = "why-divide-by-root-dk.exercises";
const STATES = { tried: "tried", solved: "solved ✓", skipped: "skipped" };
const known = new Set(Object.values(PAGES).flat());

/** What is kept, {} where that makes no sense, null where nothing can be kept. */
const read = () => {
  let text;
  try {
    text = localStorage.getItem(KEY);
  } catch {
    return null;
  }
  try {
    const entries = Object.entries(JSON.parse(text) ?? {});
    return Object.fromEntries(entries.filter(([label, state]) =>
      known.has(label) && Object.hasOwn(STATES, state)));
  } catch {
    return {};
  }
};

const write = (kept) => {
  try {
    if (Object.keys(kept).length) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
  } catch {
    // a full or locked store: the page still shows it as long as it is open
  }
};

const element = (name, properties, ...children) => {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
};

/** The name of the page that a link leads to, as Sphinx calls it. */
const pageOf = (link) => {
  const root = new URL(document.documentElement.dataset.content_root, location.href).pathname;
  const path = decodeURI(new URL(link.href).pathname.slice(root.length));
  return path.replace(/(^|\/)$/, "$1index").replace(/\.html$/, "");
};

const start = (first) => {
  let kept = first;
  const lists = new Map();
  const counts = [];
  const notes = [...document.querySelectorAll(".progress-note")];

  const show = () => {
    for (const [label, list] of lists) {
      list.value = kept[label] ?? "";
      list.dataset.state = list.value;
    }
    const solved = (labels) => labels.filter((label) => kept[label] === "solved").length;
    for (const { labels, shown, spoken } of counts) {
      const done = solved(labels);
      shown.textContent = done ? `${done}/${labels.length}` : ""; // nobody starts with a row of zeros
      shown.classList.toggle("all", done === labels.length);
      spoken.textContent = done ? ` (${done} of ${labels.length} exercises solved)` : "";
    }
    for (const note of notes) {
      const output = note.querySelector("output");
      const count = String(solved([...lists.keys()]));
      if (output.textContent !== count) output.textContent = count; // it is read aloud
    }
  };
  const set = (label, state) => {
    kept = { ...(read() ?? kept) };
    if (state) kept[label] = state;
    else delete kept[label];
    write(kept);
    show();
  };

  for (const box of document.querySelectorAll("div.exercise.admonition[id]")) {
    if (!known.has(box.id)) continue;
    const name = box.querySelector(".caption-number")?.textContent.trim() ?? "this exercise";
    const list = element("select", { autocomplete: "off" },
      element("option", { value: "", textContent: "not yet" }),
      ...Object.entries(STATES).map(([value, textContent]) =>
        element("option", { value, textContent })));
    list.setAttribute("aria-label", `Your progress: ${name}`);
    list.addEventListener("change", () => set(box.id, list.value));
    lists.set(box.id, list);
    box.querySelector(".admonition-title").append(element("label", { className: "my-progress" },
      element("span", { textContent: "Your progress: " }), list));
  }
  for (const link of document.querySelectorAll(".bd-sidebar-primary .bd-links a.internal")) {
    const labels = PAGES[pageOf(link)];
    if (!labels) continue;
    const shown = element("span", { className: "progress-count", ariaHidden: "true" });
    const spoken = element("span", { className: "visually-hidden" });
    counts.push({ labels, shown, spoken });
    link.append(spoken, shown);
  }

  document.addEventListener("judged", ({ detail: { exercise, passed } }) => {
    const label = `ex-${exercise}`;
    const now = (read() ?? kept)[label];
    if (known.has(label) && now !== "solved") set(label, passed ? "solved" : "tried");
  });
  for (const note of notes) {
    note.querySelector("button").addEventListener("click", () => {
      kept = {};
      write(kept);
      show();
      note.querySelector("details").open = false;
      note.querySelector("summary").focus();
    });
  }
  const again = () => {
    kept = read() ?? kept;
    show();
  };
  addEventListener("storage", ({ key }) => (key === KEY || key === null) && again());
  addEventListener("pageshow", ({ persisted }) => persisted && again());
  show();
};

const first = read();
if (first) start(first);
else document.querySelectorAll(".progress-note").forEach((note) => { note.hidden = true; });
