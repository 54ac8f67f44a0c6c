/* The search: what can be found on the site, how it is found, and how it is shown. The build puts
   the index here, and site.js brings this file when somebody goes to a search field. */
{
const [PAGES, STYLE] = ["the index"];
const GROUPS = ["Chapters and pages", "Sections", "Glossary", "Exercises", "Functions and classes"];
const [PAGE, TERM, NAME] = [0, 2, 4];
/* How many are the best, and how many of each group a dialog shows. */
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
  ["sqrt", "square root"], ["variance", "var"], ["standard deviation", "std"],
  ["bfloat16", "bf16"], ["float16", "fp16", "half precision"], ["float32", "fp32"],
  ["layernorm", "layer normalization", "layer norm"], ["q k norm", "qk norm", "qknorm"],
  ["entropy", "kl divergence", "kullback leibler"], ["xavier", "glorot"], ["mup", "mu p"],
  ["gradient", "backprop", "backpropagation"], ["derivative", "differentiate", "jacobian"], ["initial", "init"],
  ["blockwise attention", "flash attention", "flashattention"], ["expectation", "expected value"],
  ["problem set", "homework", "assignment"], ["error", "nan"], ["learning rate", "lr"],
];
const STOP = new Set("a an and are by do does for how in is it of on or the to what why with".split(" "));

/* What a result belongs to, in a word or two. */
const REFERENCE = "Reference";
const belongs = ([address, number, [[, , title]]]) =>
  (address.includes("reference/") ? REFERENCE : (number ? `${number}. ` : "") + title.split(/[:,]/)[0]);
/* What explains comes before what lists. */
const worth = ([address, number], kind) => {
  if (kind === NAME || /reference\//.test(address)) return 0.6;
  if (number || /glossary|notation|index|summary/.test(address)) return 1;
  return /changelog|grading|benchmarks/.test(address) ? 0.5 : 0.8;
};
const entries = PAGES.flatMap((page) => page[2].map(([kind, place, title, text]) => {
  // a page by the name of its file as well, all but a page by what it belongs to
  const more = kind === PAGE ? page[0].replace(/.*\/|\.html/g, "") : `${page[2][0][2]} ${GROUPS[kind]}`;
  return {
    kind, title, text,
    page: belongs(page),
    link: page[0] + (place && `#${place}`),
    head: ` ${spelled(kind === PAGE ? `${title} ${more}` : title)} `,
    body: ` ${spelled(`${text} ${more}`)} `,
    worth: worth(page, kind),
  };
}));
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

const stem = (word) => word.replace(/(?<=....)(ing|ed|ions?|e?s|ly)$/, "");

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
    const likely = known(stem(word)) ? [word] : meant(word);
    return likely.flatMap((one) => [one, stem(one)]);
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
  const found = entries.map((entry, at) => {
    const share = scores.filter((some) => some[at]).length / (words.length || 1);
    const sum = scores.reduce((total, some, word) => total + some[at] * rare[word], 0);
    const named = words.filter((phrases) => phrases.some((phrase) => entry.head.includes(` ${phrase}`)));
    const length = spelled(entry.title).split(" ").length;
    const exact = 1 + named.length / Math.max(length, words.length);
    return { entry, score: sum * share * exact * entry.worth };
  }).sort((a, b) => b.score - a.score);
  const enough = found.filter(({ score }) => score > found[0].score / 10);
  return { words: words.flat(), found: enough.map(({ entry }) => entry) };
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

const label = ({ kind, page }, isBest) => {
  if (kind === PAGE) return page === REFERENCE ? page : "";
  return isBest || ![TERM, NAME].includes(kind) ? page : "";
};

const item = (entry, words, isBest) => {
  const title = marked(entry.title, words);
  const link = make("a", { href: base + entry.link });
  link.append(...(entry.kind === NAME ? [make("code", {}, ...title)] : title));
  link.append(make("small", {}, label(entry, isBest)));
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
    const [best, rest] = [found.slice(0, FEW), found.slice(FEW)];
    const kinds = [...new Set(rest.map(({ kind }) => kind))];
    const lists = kinds.map((kind) => [GROUPS[kind], rest.filter((entry) => entry.kind === kind)]);
    groups.replaceChildren(...[["Best matches", best], ...lists].map(([name, some]) => {
      const shown = dialog ? some.slice(0, FEW) : some;
      const items = shown.map((entry) => item(entry, words, some === best));
      return make("section", { hidden: !some.length }, make("h2", {}, name), make("ul", {}, ...items));
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
