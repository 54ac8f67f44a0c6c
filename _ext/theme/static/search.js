/* What a search finds, in the order that serves a reader: names of pages and words of the glossary,
   then chapters in their order, other pages, and at last the code. Each result leads to the section
   with the words, and shows the text around them. This comes after Sphinx's own scripts,
   whose scores and excerpts it replaces. */
/* The contents beside every page number the chapters. */
const chapterNumber = (page) => {
  const link = document.querySelector(`li.toctree-l1 > a[href$="${page}.html"]`);
  return Number.parseInt(link?.textContent, 10) || 0;
};

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score([page, title, , , found]) {
    const asked = new URLSearchParams(location.search).get("q") ?? "";
    const named = splitQuery(asked.toLowerCase()).filter((word) =>
      RegExp(`(?<!\\p{L})${word}`, "u").test(title.toLowerCase()),
    );
    const chapter = chapterNumber(page);
    const place = chapter ? 5 - chapter / 100 : /glossary|notation/.test(page) ? 4 : 0;
    const code = /\breference\b/.test(page) ? 1e4 : 0;
    return 10 * found + 60 * named.length + place - code;
  },
};

const HEADING = ":scope > :is(h1, h2, h3, h4, h5)";
const TEXTS = '[role="main"] section :is(p, li, dd, td, figcaption, pre)';

/* The words are stems, "entropi" for one; a block of text before a cell of code. */
const places = (text, words) =>
  [...words].map((word) => text.toLowerCase().indexOf(word.replace(/i$/, ""))).filter((at) => at >= 0);

const whereFound = (page, words) => {
  let best = { held: 0 };
  for (const block of page.querySelectorAll(TEXTS)) {
    const held = places(block.textContent, words).length - (block.closest("pre") ? 0.5 : 0);
    if (held > best.held) best = { block, held };
  }
  let section = best.block?.closest("section");
  while (section && !section.querySelector(HEADING)) section = section.parentElement.closest("section");
  return { block: best.block, section };
};

/* What is below a word of the glossary, a name in the code or a heading. */
const whatFollows = (page, anchor) => {
  const target = page.getElementById(anchor.slice(1));
  return { block: (target?.matches("dt") ? target.nextElementSibling : target)?.querySelector("p") };
};

const aroundPage = Search.makeSearchSummary;
Search.makeSearchSummary = (source, words, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  page.querySelectorAll(".headerlink, script, style").forEach((part) => part.remove());
  const { block, section } = anchor ? whatFollows(page, anchor) : whereFound(page, words);
  if (!block) return aroundPage.call(Search, source, words, anchor);
  const text = block.textContent.replace(/\s+/g, " ").trim();
  const first = Math.min(...places(text, words));
  const start = first > 120 && first < Infinity ? text.indexOf(" ", first - 120) + 1 : 0;
  const summary = document.createElement("p");
  summary.className = "context";
  summary.textContent =
    (start ? "…" : "") + text.slice(start, start + 240) + (start + 240 < text.length ? "…" : "");
  const heading = section?.querySelector(HEADING);
  if (heading && !heading.matches("h1"))
    queueMicrotask(() => {
      const link = summary.closest("li")?.querySelector("a");
      link?.setAttribute("href", `${link.getAttribute("href")}#${section.id}`);
      link?.append(` > ${heading.textContent.trim()}`);
    });
  return summary;
};
