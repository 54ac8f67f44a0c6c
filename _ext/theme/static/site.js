// What the theme's buttons do, in one script of a few kilobytes: the theme's own, Bootstrap, and
// the scripts for copying and for closed boxes are twenty times as long. Names of classes and of
// what is stored are theirs, so that their style sheets fit.

const root = document.documentElement;
const all = (what, within = document) => [...within.querySelectorAll(what)];
const on = (node, event, act, options) => node?.addEventListener(event, act, options);
const stored = (store, key, value) => {
  try {
    if (value === undefined) return store().getItem(key);
    if (value === null) return store().removeItem(key);
    return store().setItem(key, value);
  } catch {
    return null; // a full or locked store: things work as long as the page is open
  }
};
const local = (key, value) => stored(() => localStorage, key, value);
const session = (key, value) => stored(() => sessionStorage, key, value);
const soon = (act, wait) => {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
};

const whenIdle = (act) =>
  globalThis.requestIdleCallback ? requestIdleCallback(act, { timeout: 2000 }) : setTimeout(act, 200);

/* Light and dark: follow the system until the reader chooses. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const show = (mode) => {
  root.dataset.mode = mode;
  root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
};
const MODES = ["auto", "dark", "light"];
const modeNow = () => (MODES.includes(root.dataset.mode) ? root.dataset.mode : "auto");
on(dark, "change", () => show(modeNow()));
for (const button of all(".theme-switch-button")) {
  on(button, "click", () => {
    // the step after "auto" always changes something
    const order = dark.matches ? ["auto", "light", "dark"] : MODES;
    const mode = order[(order.indexOf(modeNow()) + 1) % order.length];
    show(mode);
    local("mode", mode);
    local("theme", root.dataset.theme);
  });
}
show(modeNow());

/* Dialogs: a click beside one closes it. */
const closeFromOutside = ({ currentTarget: dialog, clientX, clientY }) => {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  const inside = left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
  if (dialog.open && !inside) dialog.close();
};

/* A dialog that closes gives the focus back to the button that opened it. */
let opener = null;
addEventListener("click", ({ target }) => {
  opener = target.closest?.("button") ?? opener;
}, true);
addEventListener("close", () => setTimeout(() => {
  if (document.activeElement === document.body) opener?.focus();
}), true);

/* Search: the button and Ctrl+K open a field. What searches comes when somebody goes there. */
const search = document.querySelector("#pst-search-dialog");
const fields = all("form.bd-search input");
const field = fields.find((input) => !search?.contains(input)) ?? fields[0];
const bringSearch = () => {
  if (document.querySelector('head > script[src$="searchindex.js"]')) return;
  const script = Object.assign(document.createElement("script"), {
    src: `${root.dataset.content_root}searchindex.js`,
    onerror: () => fields.forEach(({ form }) => form.after("The search could not be loaded.")),
  });
  document.head.append(script);
};
fields.forEach((input) => on(input, "focus", bringSearch));
const toggleSearch = () => {
  if (!field) return;
  if (search?.contains(field)) {
    if (search.open) search.close();
    else search.showModal();
  } else {
    field.focus();
    field.scrollIntoView({ block: "center" });
  }
  field.select();
};
const isMac = /^(Mac|iPhone)/.test(navigator.platform);
if (isMac) {
  all(".search-button__kbd-shortcut .kbd-shortcut__modifier").forEach((key) => {
    if (key.textContent === "Ctrl") key.textContent = "⌘";
  });
}
on(window, "keydown", (event) => {
  const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
  const [wanted, other] = isMac ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  const typing = document.activeElement?.matches("input, select, textarea");
  const asked = /^k$/i.test(key) && wanted && !other && !shiftKey && !altKey;
  if (asked || (key === "/" && !typing && !ctrlKey && !metaKey && !altKey)) {
    event.preventDefault();
    toggleSearch();
  }
}, true);
all(".search-button__button").forEach((button) => on(button, "click", toggleSearch));
on(search, "click", closeFromOutside);
on(search, "keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault(); // by itself it would empty the field first
  search.close();
});
if (document.querySelector(".bd-search-container")) {
  field.value = new URLSearchParams(location.search).get("q");
  field.focus();
  bringSearch(); // a page in the background gets no focus
}

/* The words that were searched for are marked on the page that the result leads to. */
const marks = globalThis.CSS?.highlights;
const WORDS = "sphinx_highlight_terms";
const mark = () => {
  const searched = local(WORDS);
  if (!searched) return;
  local(WORDS, null);
  const terms = searched.match(/[\p{L}\p{N}_.]{2,}/gu)?.sort((a, b) => b.length - a.length);
  if (!terms) return;
  const begun = new RegExp(`(?<![\\p{L}\\p{N}])(?:${terms.join("|").replaceAll(".", "\\.")})`, "giu");
  const ranges = [];
  const walk = document.createTreeWalker(document.querySelector("article") ?? document.body,
    NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node.parentElement.closest("script, style, button, select, textarea")) continue;
    for (const { 0: word, index } of node.data.matchAll(begun)) {
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      ranges.push(range);
    }
  }
  if (ranges.length) {
    // in a page's own sheet this rule would be tried on every element of every page
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("::highlight(searched) { background-color: #fbe54e; color: #000; }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    marks.set("searched", new Highlight(...ranges));
    const hide = Object.assign(document.createElement("button"), {
      type: "button", className: "hide-searched d-print-none", textContent: "Hide search matches",
    });
    const forget = () => {
      marks.delete("searched");
      hide.remove();
    };
    on(hide, "click", forget);
    on(document, "keydown", ({ key }) => key === "Escape" && forget());
    document.querySelector("#searchbox")?.append(hide);
  }
};
if (marks && !document.querySelector(".bd-search-container")) {
  mark();
  // another page may have kept them a moment ago, which this one then hears a moment later
  const late = new AbortController();
  on(window, "storage", ({ key }) => key === WORDS && mark(), { signal: late.signal });
  setTimeout(() => late.abort(), 2000);
}

/* Sidebars: beside the text where there is room, dialogs on a phone. */
const move = (from, to) => {
  to.append(...from.childNodes);
  to.classList.add(...from.classList);
  from.className = "";
};
for (const [side, wide] of [["primary", "(min-width: 992px)"], ["secondary", ""]]) {
  const button = document.querySelector(`.${side}-toggle`);
  const dialog = document.querySelector(`#pst-${side}-sidebar-modal`);
  const sidebar = document.querySelector(`#pst-${side}-sidebar`);
  if (!button || !dialog || !sidebar) continue;
  on(button, "click", (event) => {
    event.preventDefault();
    if (wide && matchMedia(wide).matches) {
      sidebar.classList.toggle("pst-sidebar-hidden");
      return;
    }
    const before = document.activeElement;
    move(sidebar, dialog);
    dialog.showModal();
    on(dialog, "close", () => {
      move(dialog, sidebar);
      before?.focus();
    }, { once: true });
  });
  on(dialog, "click", closeFromOutside);
}

/* The sidebar stays where the reader left it, or shows where this page is in it. */
const sidebar = document.querySelector("#pst-primary-sidebar");
if (sidebar?.querySelector(".bd-docs-nav")) {
  const stood = Number.parseInt(session("sidebar-scroll-top"), 10);
  const here = all(".bd-docs-nav .active", sidebar).at(-1);
  if (!Number.isNaN(stood)) {
    sidebar.scrollTop = stood;
  } else if (here && here.getBoundingClientRect().y > innerHeight / 2) {
    const down = here.getBoundingClientRect().y - sidebar.getBoundingClientRect().y;
    sidebar.scrollTop = down - sidebar.clientHeight / 4;
  }
  on(sidebar, "scroll", () => session("sidebar-scroll-top", sidebar.scrollTop), { passive: true });
}

/* The contents of the page follow the reading. */
const contents = document.querySelector("#pst-page-toc-nav");
if (contents) {
  const links = all("a[href^='#']", contents);
  const headings = new Map();
  for (const link of links) {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target) headings.set(target.querySelector("h1, h2, h3, h4, h5, h6") ?? target, link);
  }
  let still = 0; // a link was followed: the page moves, and what it passes does not count
  const activate = (link) => {
    for (const one of links) {
      one.classList.toggle("active", one === link);
      if (one === link) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    all(".toc-entry", contents).forEach((entry) =>
      entry.classList.toggle("active", entry.contains(link)));
  };
  const follow = (hash) => {
    const link = hash.length > 1 && links.find((one) => one.hash === hash);
    if (!link) return;
    still = performance.now() + 1000;
    activate(link);
  };
  follow(location.hash);
  on(window, "hashchange", () => follow(location.hash));
  on(window, "click", ({ target }) => {
    const link = target.closest?.("a");
    if (link?.hash && link.href === location.href) follow(link.hash);
  });
  const watch = new IntersectionObserver((entries) => {
    const seen = entries.filter(({ isIntersecting }) => isIntersecting).at(-1);
    if (seen && performance.now() > still) activate(headings.get(seen.target));
  }, { rootMargin: "0px 0px -70% 0px" });
  for (const heading of headings.keys()) watch.observe(heading);
}

/* Back to top, which shows while the reader goes up, except over a figure; and a line below the buttons of the page. */
const up = document.querySelector("#pst-back-to-top");
on(up, "click", () => scrollTo(0, 0));
let before = scrollY;
on(window, "scroll", () => {
  const covers = () => [0.89, 0.96].some((part) =>
    document.elementsFromPoint(innerWidth - 60, part * innerHeight)
      .some((node) => node.matches(".live-figure, figure")));
  if (up) up.style.display = scrollY < before && scrollY > 0 && !covers() ? "block" : "none";
  before = scrollY;
}, { passive: true });
const start = document.querySelector(".sbt-scroll-pixel-helper");
if (start) {
  new IntersectionObserver(([{ boundingClientRect: { y } }]) =>
    document.body.classList.toggle("scrolled", y < 0)).observe(start);
}

/* A chapter on paper without what answers its questions; handout.css leaves it out. */
const launch = document.querySelector(".chapter-head nav.launch-buttons ul");
if (launch && document.querySelector(".solution, .answering, .told")) {
  const item = document.createElement("li");
  const button = Object.assign(document.createElement("button"), {
    type: "button", className: "handout", textContent: "Print without answers",
  });
  on(button, "click", () => {
    root.setAttribute("data-print", "handout");
    on(window, "afterprint", () => root.removeAttribute("data-print"), { once: true });
    print();
  });
  item.append(button);
  launch.append(item);
}

/* Buttons of the header */
for (const button of all(".btn-fullscreen-button")) {
  on(button, "click", () =>
    document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen?.());
}

/* What is closed opens on paper, which cannot be clicked, and for readers who follow a link into it. */
const arrive = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let box = target?.closest("details:not([open])");
  if (!box) return;
  for (; box; box = box.closest("details:not([open])")) box.open = true;
  target.scrollIntoView();
};
arrive();
on(window, "hashchange", arrive);
let closed = [];
on(window, "beforeprint", () => {
  closed = all(".bd-article details:not([open], .hide)");
  for (const box of closed) box.open = true;
});
on(window, "afterprint", () => {
  for (const box of closed) box.open = false;
});

/* Who comes back finds the place that was left. What was far from the window had no height of its
   own, so a browser that remembers how far down it was would be somewhere else. What a page asks
   about its layout while the next one comes, the reader waits for: so it is asked before. */
const PLACE = `place:${location.pathname}`;
let moving = 0;
const remember = () => {
  moving = 0;
  const line = innerHeight / 4;
  const blocks = ".bd-article > section, .bd-article section[id] > *";
  let block = document.elementFromPoint(innerWidth / 2, line)?.closest(blocks);
  while (block?.matches("section[id]")) { // between two blocks, or below the last
    block = [...block.children].find((child) => child.getBoundingClientRect().bottom > line)
      ?? block.lastElementChild;
  }
  if (!block?.parentElement.id) return session(PLACE, null);
  const { parentElement: section } = block;
  const index = [...section.children].indexOf(block);
  return session(PLACE, JSON.stringify([section.id, index, block.getBoundingClientRect().top]));
};
on(window, "scroll", () => {
  clearTimeout(moving);
  moving = setTimeout(remember, 200);
}, { passive: true });
on(window, "pagehide", () => moving && remember());
const left = "whole" in root.dataset && session(PLACE);
if (left) {
  history.scrollRestoration = "manual";
  on(window, "load", () => {
    const [id, index, top] = JSON.parse(left);
    const block = document.getElementById(id)?.children[index];
    if (block) scrollBy({ top: block.getBoundingClientRect().top - top, behavior: "instant" });
  });
} else {
  session(PLACE, null);
}

/* Copy buttons. Examples are copied without their prompts, and then without what they print. */
const PROMPT = /^(?:>>> |\.\.\. )/;
const drawn = (paths) => `<svg xmlns="http://www.w3.org/2000/svg" class="icon" ` +
  'width="44" height="44" viewBox="0 0 24 24" stroke-width="1.5" stroke="currentColor" ' +
  `fill="none" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;
const COPY = drawn('<rect x="8" y="8" width="12" height="12" rx="2"/>' +
  '<path d="M16 8v-2a2 2 0 0 0 -2 -2h-8a2 2 0 0 0 -2 2v8a2 2 0 0 0 2 2h2"/>');
const DONE = drawn('<path d="M5 12l5 5l10 -10"/>');
const codeOf = (block) => {
  const copy = block.cloneNode(true);
  all(".linenos", copy).forEach((numbers) => numbers.remove());
  const lines = copy.textContent.split("\n");
  const kept = lines.some((line) => PROMPT.test(line))
    ? lines.filter((line) => PROMPT.test(line) || !line.trim())
    : lines;
  return kept.map((line) => line.replace(PROMPT, "")).join("\n").replace(/\n$/, "");
};
const copied = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // pages that came neither over an encrypted line nor from a disk have only the old way
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.style.cssText = "position:fixed;opacity:0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
  return undefined;
};
const say = (button, words, icon = COPY) => {
  button.dataset.tooltip = words;
  button.setAttribute("aria-label", words);
  button.innerHTML = icon;
  button.classList.toggle("success", icon === DONE);
};
const copier = Object.assign(document.createElement("button"), {
  type: "button", className: "copybtn o-tooltip--left",
});
say(copier, "Copy");
const addCopier = (block, index) => {
  block.id ||= `codecell${index}`;
  const button = copier.cloneNode(true);
  const rest = soon(() => say(button, "Copy"), 2000);
  on(button, "click", async () => {
    try {
      await copied(codeOf(block));
      say(button, "Copied!", DONE);
    } catch {
      say(button, "Failed to copy");
    }
    rest();
  });
  block.after(button);
};
// nobody copies in the first moment, which belongs to the page itself; in an output, whose first line
// is often full, the button would lie on numbers
whenIdle(() => all("div.highlight pre:not(.cell_output *)").forEach(addCopier));

/* What scrolls can be scrolled by keys. Sizes are read when the browser has just laid them out, and
   never inside closed boxes, which it would have to lay out for the asking. */
const SCROLLER = "pre, .cell_output > .output, .pst-scrollable-table-container";
const setKeys = (nodes) => {
  const found = nodes.map((node) =>
    [node, node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight]);
  for (const [node, scrolls] of found) {
    if (scrolls) node.tabIndex = 0;
    else if (node.tabIndex === 0) node.removeAttribute("tabindex");
  }
};
const sizes = new ResizeObserver((entries) =>
  setKeys([...new Set(entries.map(({ target }) => target.closest(SCROLLER)))]));
for (const box of all(SCROLLER)) {
  sizes.observe(box);
  for (const content of box.children) sizes.observe(content);
}
const shown = (node) => node.checkVisibility?.({ contentVisibilityAuto: true }) ?? true;
const later = soon(() => setKeys(all(SCROLLER).filter(shown)), 300);
const main = document.querySelector("#main-content");
if (main) new MutationObserver(later).observe(main, { subtree: true, childList: true });
