// What a reader will want is fetched ahead: the next page, and the page whose link the pointer, a
// finger or the focus rests on. The site's service worker then keeps the whole book, and answers from
// there on. Nothing of this happens on a disk, or for a reader who saves data.

const root = new URL(document.documentElement.dataset.content_root, location.href);
const ahead = new Set([location.pathname]);
const fetchAhead = (link) => {
  if (!link || link.origin !== location.origin || !link.pathname.startsWith(root.pathname)) return;
  if (!link.pathname.endsWith(".html") || ahead.has(link.pathname)) return;
  if (navigator.serviceWorker?.controller) return; // which has it
  ahead.add(link.pathname);
  // a link with rel="prefetch" is refused by Firefox, which wants more than connect-src for it
  fetch(link.pathname, { priority: "low" }).then((answer) => answer.blob()).catch(() => {});
};

const begin = () => {
  fetchAhead(document.querySelector(".prev-next-footer a.right-next"));
  // refused in a private window of some browsers: the book is then read online, as ever
  navigator.serviceWorker?.register(new URL("service-worker.js", root)).catch(() => {});
};

const savesData =
  navigator.connection?.saveData || matchMedia("(prefers-reduced-data: reduce)").matches;
if (/^https?:$/.test(location.protocol) && !savesData) {
  const manifest = { rel: "manifest", href: new URL("book.webmanifest", root) };
  document.head.append(Object.assign(document.createElement("link"), manifest));
  let rest;
  for (const kind of ["pointerover", "focusin"]) {
    addEventListener(kind, ({ target }) => {
      clearTimeout(rest);
      rest = setTimeout(fetchAhead, 65, target.closest?.("a"));
    });
  }
  // the page itself comes first
  addEventListener("load", () => (globalThis.requestIdleCallback ?? setTimeout)(begin));
}
