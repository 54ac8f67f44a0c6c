/* The search: what can be found on the site, how it is found, and how it is shown. The build puts
   the index here, and site.js brings this file when somebody goes to a search field. */
{
const [PAGES, STYLE] = ["the index"];
const GROUPS = ["Chapters and pages", "Sections", "Glossary", "Exercises", "Functions and classes"];
const [PAGE, TERM, EXERCISE, NAME] = [0, 2, 3, 4];
/* How many are the best, and how many of each group a dialog shows. */
const FEW = 3;

/* Words in one spelling: without capitals, accents and signs, with letters for Greek ones, and with
   an index as part of its letter, so that d_k, dₖ and dk are the same. British words are as
   American ones from their first letters on; 2.3 is one word. */
const GREEK = Object.fromEntries(("α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta " +
  "κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma τ tau φ phi χ chi ψ psi ω omega √ sqrt ∂ " +
  "derivative ∞ infinity").split(" ").map((word, at, all) => [word, all[at + 1]]).filter((_, at) => at % 2 === 0));
const spelled = (text) => text.normalize("NFKD").toLowerCase()
  .replace(/[\u0300-\u036f{}'’]/g, "").replace(/[α-ω√∂∞]/g, (sign) =>
    /[√∂]/.test(sign) ? ` ${GREEK[sign]} ` : (GREEK[sign] ?? sign))
  .replace(/_(\w)(?![a-z0-9])/g, "$1").replace(/\^/g, "")
  .replace(/iz/g, "is").replace(/(?<=[a-z]{3}o)u(?=r|\b)/g, "")
  .replace(/[^a-z0-9.]+|(?<!\d)\.|\.(?!\d)/g, " ").trim();

/* What readers call by other words than the book does. */
const SAME = [
  ["sqrt", "square root"], ["variance", "var"], ["standard deviation", "std"],
  ["bfloat16", "bf16"], ["float16", "fp16", "half precision"], ["float32", "fp32"],
  ["layernorm", "layer normalization", "layer norm"], ["q k norm", "qk norm", "qknorm"],
  ["entropy", "kl divergence", "kullback leibler"], ["xavier", "glorot"], ["mup", "mu p"],
  ["gradient", "backprop", "backpropagation"], ["derivative", "differentiate", "jacobian"], ["initial", "init"],
  ["blockwise attention", "flash attention", "flashattention"], ["expectation", "expected value"],
  ["problem set", "homework", "assignment", "quiz"], ["error", "nan"], ["learning rate", "lr"],
  ["standard normal", "normal number", "normal law", "normal distribution", "gaussian"],
  ["central limit", "clt"], ["rotary", "rope"], ["rectif", "relu"],
  ["keys and values", "values and keys", "key value", "kv"],
  ["logarithm of the sum", "log sum exp", "logsumexp"],
].map((phrases) => phrases.map(spelled));
const STOP = new Set("a an and are by do does for how in is it of on or the to what why with".split(" "));

/* What a result belongs to, in a word or two. */
const REFERENCE = "Reference";
const belongs = ([address, number, [[, , title]]]) =>
  (address.includes("reference/") ? REFERENCE : (number ? `${number}. ` : "") + title.split(/[:,]/)[0]);
/* What explains comes before what lists. */
const worth = ([address, number], kind) => {
  if (kind === NAME || /reference\//.test(address)) return 0.6;
  if (number || /glossary|notation|index|summary/.test(address)) return 1;
  return /changelog|references|instructors|grading|benchmarks/.test(address) ? 0.15 : 0.8;
};
const entries = PAGES.flatMap((page) => page[2].map(([kind, place, title, text]) => {
  // a page by the name of its file as well, all but a page by what it belongs to
  const more = kind === PAGE ? page[0].replace(/.*\/|\.html/g, "") : `${page[2][0][2]} ${GROUPS[kind]}`;
  // an exercise by its number as well, which its text begins with
  const number = kind === EXERCISE ? text.split(" ", 2).join(" ") : "";
  return {
    kind, title, text,
    page: belongs(page),
    link: page[0] + (place && `#${place}`),
    head: ` ${spelled(kind === PAGE ? `${title} ${more}` : `${title} ${number}`)} `,
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

/* What a word that the book does not have may mean: a slip of the finger, or two words in one. */
const meant = (word) => {
  const allowed = word.length < 5 ? 0 : word.length < 8 ? 1 : 2;
  const slips = (other) => (Math.abs(other.length - word.length) > allowed ? 9 : distance(word, other));
  const near = vocabulary.map((other) =>
    [other, Math.min(slips(other), slips(other.slice(0, word.length)))]).filter(([, far]) => far <= allowed);
  const least = Math.min(...near.map(([, far]) => far));
  const nearest = near.filter(([, far]) => far === least).map(([other]) => other);
  if (near.length) return nearest.sort((a, b) => a.length - b.length);
  return [...word].map((_, at) => `${word.slice(0, at)} ${word.slice(at)}`)
    .filter((phrase) => phrase.indexOf(" ") > 1 && known(phrase)).slice(0, 1);
};

const stem = (word) => word.replace(/(?<=....)(ations?|ing|ed|ions?|e?s|ly)$/, "");

/* A question as a list of words, each with all that would do in its place; and for which of them
   others had to do. A word that ends with a space is meant as a whole: one of a letter or two. */
const asked = (question) => {
  // "exercise 3" begins "exercise 3.1"
  let text = ` ${spelled(question)} `.replace(/(?<= exercises? \d+) $/, ". ");
  SAME.forEach((phrases, at) => phrases.forEach((phrase) => {
    text = text.replaceAll(` ${phrase} `, ` =${at} `);
  }));
  const all = text.split(" ").filter(Boolean);
  const some = all.filter((word) => !STOP.has(word));
  const instead = [];
  const words = (some.length ? some : all).map((word) => {
    if (word.startsWith("=")) return SAME[word.slice(1)];
    if (word.length < 3 && known(`${word} `)) return [`${word} `];
    if (known(stem(word))) return [word, stem(word)];
    const likely = meant(word);
    instead.push([question.split(/\s+/).find((typed) => spelled(typed) === word) ?? word, likely[0]]);
    return likely.flatMap((one) => [one, stem(one)]);
  });
  return { words, instead };
};

/* How well some text answers to a phrase: as whole words better than as their beginning. */
const held = (text, phrase) => {
  let [whole, begun] = [0, 0];
  for (let at = text.indexOf(` ${phrase}`); at >= 0; at = text.indexOf(` ${phrase}`, at + 1)) {
    if (text[at + phrase.trim().length + 1] === " ") whole += 1;
    else begun += 1;
  }
  return whole ? 1 + Math.log(whole) / 4 : begun ? 0.6 : 0;
};

const find = (question) => {
  const { words, instead } = asked(question);
  const name = /[._]/.test(question) && `.${question.toLowerCase()}`; // of a function, if it is one
  const scores = words.map((phrases) => entries.map(({ head, body }) => Math.max(0,
    ...phrases.map((phrase) => 4 * held(head, phrase) + held(body, phrase)))));
  const rare = scores.map((some) => Math.log(1 + entries.length / (1 + some.filter(Boolean).length)));
  const found = entries.map((entry, at) => {
    const share = scores.filter((some) => some[at]).length / (words.length || 1);
    const sum = scores.reduce((total, some, word) => total + some[at] * rare[word], 0);
    const named = words.filter((phrases) => phrases.some((phrase) => entry.head.includes(` ${phrase}`)));
    const length = spelled(entry.title).split(" ").length;
    const exact = 1 + named.length / Math.max(length, words.length);
    const called = name && entry.kind === NAME && entry.link.replace("#", ".").toLowerCase().endsWith(name);
    return { entry, score: sum * share * exact * entry.worth * (called ? 5 : 1) };
  }).sort((a, b) => b.score - a.score);
  const enough = found.filter(({ score }) => score > found[0].score / 10);
  return { words: words.flat(), instead, found: enough.map(({ entry }) => entry) };
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

/* The words of a text that were asked for: where they are, and as they are written there. */
const WORD = /[√∂]|[\p{L}\p{N}\p{M}]+(?:_\w\b|\.\d+)?/gu;
const hits = (text, words) => {
  const parts = words.flatMap((phrase) => phrase.trim().split(" ")).filter((part) => !STOP.has(part))
    .map((part) => ` ${part}${part.length < 3 ? " " : ""}`);
  return [...text.matchAll(WORD)].filter(([word]) => {
    const one = ` ${spelled(word)} `;
    return parts.some((part) => one.includes(part));
  });
};

/* A text with the words that were asked for marked, from a little before the first of them. */
const marked = (text, words, most = Infinity) => {
  const found = hits(text, words);
  const first = found.length ? text.slice(0, found[0].index).split(" ").length : 0;
  const pieces = text.split(" ");
  const start = first > most / 2 ? Math.max(0, Math.min(first - 6, pieces.length - most)) : 0;
  let at = pieces.slice(0, start).join(" ").length;
  const end = pieces.slice(0, start + most).join(" ").length;
  const shown = [start ? "…" : ""];
  for (const { 0: word, index } of found.filter(({ index }) => at <= index && index < end)) {
    shown.push(text.slice(at, index), make("mark", {}, word));
    at = index + word.length;
  }
  return [...shown, text.slice(at, end), end < text.length ? " …" : ""];
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
    const there = hits(`${entry.title} ${entry.text}`, words).map(([word]) => word.toLowerCase());
    try {
      localStorage.setItem("sphinx_highlight_terms", [...new Set(there)].join(" "));
    } catch { /* a full or locked store: nothing is marked */ }
  });
  return make("li", {}, link, make("p", {}, ...marked(entry.text, words, 30)));
};

/* What the status says of words that are nowhere, with a near word as the book writes it. */
const ALL_TEXT = entries.map(({ title, text }) => `${title} ${text}`).join(" ");
const quoted = (text) => `“${text.replace(/^“|”$/g, "")}”`;
const written = (word) =>
  (ALL_TEXT.match(new RegExp(`(?<!\\p{L})${word.replace(/is/g, "i[sz]")}`, "iu"))?.[0] ?? word).toLowerCase();
const said = (instead) => {
  const [typed, near] = [instead.map(([word]) => word), instead.flatMap(([, word]) => word ?? [])];
  const list = (some) => some.map(quoted).join(", ");
  if (!near.length) return typed.length ? `Nothing for ${list(typed)}. ` : "";
  return `Nothing for ${list(typed)}; this is for ${list(near.map(written))}. `;
};
const ELSEWHERE = [["chapters/glossary", "glossary"], ["genindex", "index"], ["index", "contents"]];

for (const form of document.querySelectorAll("form.bd-search")) {
  const field = form.elements.q;
  const dialog = form.closest("dialog");
  const status = make("p", { role: "status" });
  const groups = make("div", {});
  const results = make("div", { className: "search-found", hidden: Boolean(dialog) }, status, groups);
  form.after(results);
  if (dialog) {
    const close = make("button", { type: "button", className: "close-search" }, "Close");
    close.addEventListener("click", () => dialog.close());
    form.append(close);
  }

  const show = () => {
    const question = field.value.trim();
    const { words, instead, found } = question ? find(question) : { words: [], found: [] };
    const count = found.length === 1 ? "1 result" : `${found.length} results`;
    const [best, rest] = [found.slice(0, FEW), found.slice(FEW)];
    const kinds = [...new Set(rest.map(({ kind }) => kind))];
    const lists = kinds.map((kind) => [GROUPS[kind], rest.filter((entry) => entry.kind === kind)]);
    groups.replaceChildren(...[["Best matches", best], ...lists].map(([name, some]) => {
      const shown = dialog ? some.slice(0, FEW) : some;
      const items = shown.map((entry) => item(entry, words, some === best));
      return make("section", { hidden: !some.length }, make("h2", {}, name), make("ul", {}, ...items));
    }));
    if (dialog && found.length > groups.querySelectorAll("li").length) {
      const all = `${form.action}?q=${encodeURIComponent(question)}`;
      groups.append(make("a", { href: all, className: "all-found" }, `Show all ${count}`));
    }
    let news = "";
    if (found.length) {
      news = `${said(instead)}${count}${dialog ? `. Enter opens ${quoted(found[0].title)}.` : ""}`;
    } else if (question) {
      news = `Nothing found for ${quoted(question)}.`;
      const [glossary, names, contents] = ELSEWHERE.map(([page, name]) =>
        make("a", { href: `${base}${page}.html` }, name));
      groups.replaceChildren(make("p", {}, "Try the ", glossary, ", the ", names, " or the ", contents, "."));
    }
    results.hidden = Boolean(dialog) && !news;
    if (status.textContent !== news) status.textContent = news;
    if (!dialog) history.replaceState(null, "", question ? `?q=${encodeURIComponent(question)}` : "?");
  };
  field.addEventListener("input", show);
  if (field.value) show();

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    groups.querySelector("li a")?.click();
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
