/* The search: what can be found on the site, how it is found, and how it is shown. The build puts
   the index here, and site.js brings this file when somebody goes to a search field. */
{
const [PAGES, STYLE] = ["the index"];
const GROUPS = ["Chapters and pages", "Sections", "Glossary", "Exercises", "attnlib"];
const [PAGE, SECTION] = [0, 1];
/* How many of a group a dialog shows. */
const FEW = 3;

/* Words in one spelling: without capitals, accents and signs, with letters for Greek ones, and with
   an index as part of its letter, so that d_k, dₖ and dk are the same. */
const GREEK = Object.fromEntries(("α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta " +
  "κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma τ tau φ phi χ chi ψ psi ω omega √ sqrt ∞ " +
  "infinity").split(" ").map((word, at, all) => [word, all[at + 1]]).filter((_, at) => at % 2 === 0));
const spelled = (text) => text.normalize("NFKD").toLowerCase()
  .replace(/[\u0300-\u036f{}'’]/g, "").replace(/[α-ω√∞]/g, (sign) =>
    sign === "√" ? " sqrt " : (GREEK[sign] ?? sign))
  .replace(/_(\w)(?![a-z0-9])/g, "$1").replace(/\^/g, "").replace(/[^a-z0-9]+/g, " ").trim();

/* What readers call by other words than the book does. */
const SAME = [
  ["sqrt", "square root", "root"], ["variance", "var"], ["standard deviation", "std"],
  ["bfloat16", "bf16"], ["float16", "fp16", "half precision"], ["float32", "fp32"],
  ["layernorm", "layer normalization", "layer norm"], ["q k norm", "qk norm", "qknorm"],
  ["entropy", "kl divergence", "kullback leibler"], ["xavier", "glorot"], ["mup", "mu p"],
  ["gradient", "backprop", "backpropagation"], ["derivative", "jacobian"], ["initial", "init"],
  ["blockwise attention", "flash attention", "flashattention"], ["expectation", "expected value"],
  ["problem set", "homework", "assignment"], ["error", "nan"], ["learning rate", "lr"],
];
const STOP = new Set("a an and are by do does for how in is it of on or the to what why with".split(" "));

const chapterTitle = ([, number, [[, , title]]]) => (number ? `${number}. ${title}` : title);
const entries = PAGES.flatMap((page) => page[2].map(([kind, place, title, text]) => ({
  kind, title, text,
  page: chapterTitle(page),
  link: page[0] + (place && `#${place}`),
  head: ` ${spelled(title)} `,
  body: ` ${spelled(kind === SECTION ? `${page[2][0][2]} ${text}` : text)} `,
  /* what explains comes before what lists */
  worth: page[1] || kind > SECTION || /glossary|notation|index|summary/.test(page[0])
    ? 1 : /changelog|grading|benchmarks/.test(page[0]) ? 0.5 : 0.8,
})));
const vocabulary = [...new Set(entries.flatMap(({ head, body }) => (head + body).split(" ")))];

/* How many letters have to be changed, dropped, added or exchanged with their neighbor. */
const distance = (a, b) => {
  let [before, last] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
};

const known = (phrase) => entries.some(({ head, body }) =>
  head.includes(` ${phrase}`) || body.includes(` ${phrase}`));

/* What a word that the book does not have may mean: two words in one, or a slip of the finger. */
const meant = (word) => {
  const parted = [...word].map((_, at) => `${word.slice(0, at)} ${word.slice(at)}`)
    .find((phrase) => phrase.indexOf(" ") > 1 && known(phrase));
  if (parted) return [parted];
  const allowed = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  const near = vocabulary.map((other) => [other, Math.abs(other.length - word.length) > allowed &&
    other.length < word.length ? 9 : Math.min(distance(word, other), distance(word, other.slice(0, word.length)))])
    .filter(([, far]) => far <= allowed);
  const least = Math.min(...near.map(([, far]) => far));
  return near.filter(([, far]) => far === least).map(([other]) => other);
};

/* A question as a list of words, each with all that would do in its place. */
const asked = (question) => {
  let text = ` ${spelled(question)} `;
  SAME.forEach((phrases, at) => phrases.forEach((phrase) => {
    text = text.replaceAll(` ${phrase} `, ` =${at} `);
  }));
  const all = text.split(" ").filter(Boolean);
  const some = all.filter((word) => !STOP.has(word));
  return (some.length ? some : all).map((word) => {
    if (word.startsWith("=")) return SAME[word.slice(1)];
    return known(word) ? [word] : meant(word);
  });
};

/* How well some text answers to a phrase: as whole words better than as their beginning. */
const held = (text, phrase) => {
  let [whole, begun] = [0, 0];
  for (let at = text.indexOf(` ${phrase}`); at >= 0; at = text.indexOf(` ${phrase}`, at + 1)) {
    if (text[at + phrase.length + 1] === " ") whole += 1;
    else begun += 1;
  }
  return whole ? 1 + Math.log(whole) / 4 : begun ? 0.6 : 0;
};

const find = (question) => {
  const words = asked(question);
  const scores = words.map((phrases) => entries.map(({ head, body }) => Math.max(0,
    ...phrases.map((phrase) => 4 * held(head, phrase) + held(body, phrase)))));
  const rare = scores.map((some) => Math.log(1 + entries.length / (1 + some.filter(Boolean).length)));
  const whole = ` ${spelled(question)} `;
  const found = entries.map((entry, at) => {
    const share = scores.filter((some) => some[at]).length / (words.length || 1);
    const sum = scores.reduce((total, some, word) => total + some[at] * rare[word], 0);
    const named = words.filter((phrases) => phrases.some((phrase) => entry.head.includes(` ${phrase}`)));
    const length = entry.head.split(" ").length - 2;
    const exact = entry.head === whole ? 2 : 1 + named.length / Math.max(length, words.length, 1);
    return { entry, score: sum * share ** 2 * exact * entry.worth };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return { words: words.flat(), found: found.map(({ entry }) => entry) };
};


/* Showing it */
const base = document.documentElement.dataset.content_root;
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
const make = (tag, fields, ...children) => {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children);
  return node;
};

/* A text with the words that were asked for marked, from a little before the first of them. */
const marked = (text, words, most = Infinity) => {
  const pieces = text.split(" ");
  const parts = words.flatMap((phrase) => phrase.split(" "));
  const hits = pieces.map((piece) => parts.some((word) => ` ${spelled(piece)}`.includes(` ${word}`)));
  const first = hits.indexOf(true);
  const start = first > most / 2 ? first - 6 : 0;
  const shown = pieces.slice(start, start + most);
  return [
    start ? "… " : "",
    ...shown.flatMap((piece, at) => [hits[start + at] ? make("mark", {}, piece) : piece, " "]),
    start + most < pieces.length ? "…" : "",
  ];
};

const item = (entry, words) => {
  const link = make("a", { href: base + entry.link }, ...marked(entry.title, words));
  if (entry.kind !== PAGE && entry.page !== "Glossary") link.append(make("small", {}, entry.page));
  link.addEventListener("click", () => {
    const there = words.filter((word) => `${entry.head}${entry.body}`.includes(` ${word}`));
    try {
      localStorage.setItem("sphinx_highlight_terms", there.join(" "));
    } catch { /* a full or locked store: nothing is marked */ }
  });
  return make("li", {}, link, make("p", {}, ...marked(entry.text, words, 30)));
};

for (const form of document.querySelectorAll("form.bd-search")) {
  const field = form.elements.q;
  const dialog = form.closest("dialog");
  const status = make("p", { role: "status" });
  const groups = make("div", {});
  form.after(make("div", { className: "search-found" }, status, groups));

  const show = () => {
    const question = field.value.trim();
    const { words, found } = question ? find(question) : { words: [], found: [] };
    const count = found.length === 1 ? "1 result" : `${found.length} results`;
    const most = dialog ? FEW : Infinity;
    groups.replaceChildren(...[...new Set(found.map(({ kind }) => kind))].map((kind) => {
      const some = found.filter((entry) => entry.kind === kind);
      const items = some.slice(0, most).map((entry) => item(entry, words));
      return make("section", {}, make("h2", {}, GROUPS[kind]), make("ul", {}, ...items));
    }));
    if (dialog && found.length) {
      const all = `${form.action}?q=${encodeURIComponent(question)}`;
      groups.append(make("a", { href: all, className: "all-found" }, `Show all ${count}`));
    }
    if (!question) status.textContent = "";
    else if (!found.length) status.textContent = `Nothing found for “${question}”.`;
    else status.textContent = dialog ? `${count}. Enter opens “${found[0].title}”.` : count;
    if (!dialog) history.replaceState(null, "", question ? `?q=${encodeURIComponent(question)}` : "?");
  };
  field.addEventListener("input", show);
  if (field.value) show();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    groups.querySelector("a")?.click();
  });
  /* Arrows go from the field through the results; a letter goes on with the question. */
  form.parentElement.addEventListener("keydown", (event) => {
    const stops = [field, ...groups.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (at < 0) return;
    if (step) {
      event.preventDefault();
      stops[(at + step + stops.length) % stops.length].focus();
    } else if (at && !event.ctrlKey && !event.metaKey && /^(.|Backspace)$/u.test(event.key)) field.focus();
  });
  /* A result on this page: the dialog makes way, and the focus goes where the result is. */
  groups.addEventListener("click", ({ target, ctrlKey, metaKey }) => {
    const link = target.closest("a");
    if (!dialog || !link || link.pathname !== location.pathname || ctrlKey || metaKey) return;
    dialog.addEventListener("close", () => {
      const goal = document.getElementById(link.hash.slice(1)) ?? document.querySelector("h1");
      goal.tabIndex = -1;
      goal.focus();
    }, { once: true });
    dialog.close();
  });
}
}
