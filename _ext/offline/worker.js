// The book without a connection. The build puts VERSION and FILES before this: the digests of all
// files that are kept `ahead`, at once, and of those that are kept `later`, once they were asked for.
//
// A build is kept whole or not at all, in a cache of its own. Pages come from the newest build that
// is whole, and what a page loads comes from the build of the page: one that was open when a newer
// build came goes on with the older one, which is deleted when no page needs it any more.

const OWN = `${registration.scope} `; // other books may be on the same host
const CACHE = OWN + VERSION;
const DIGESTS = { ...FILES.ahead, ...FILES.later };
const OPEN = "open"; // in the cache of an older build: the pages that still need it
const key = (path) => `${path}?${DIGESTS[path]}`;
const savesData = () => navigator.connection?.saveData ?? false;

/** The file of the site that an address names. */
const pathOf = (url) =>
  decodeURI(url.replace(/[?#].*/, "").slice(registration.scope.length)).replace(/(^|\/)$/, "$1index.html");

/** Put a file into a cache: from another build that has the same, or from the site. */
const bring = async (cache, path) => {
  const answer = (await caches.match(key(path))) ??
    (await fetch(path, { cache: "no-cache", integrity: `sha256-${DIGESTS[path]}` }));
  await cache.put(key(path), new Response(answer.body, answer));
};

const bringAll = async () => {
  if (savesData()) throw new Error("The reader saves data.");
  const cache = await caches.open(CACHE);
  const known = await Promise.all(Object.keys(FILES.later).map((path) => caches.match(key(path))));
  const asked = Object.keys(FILES.later).filter((_, place) => known[place]);
  await Promise.all([...Object.keys(FILES.ahead), ...asked].map((path) => bring(cache, path)));
  await skipWaiting();
};

addEventListener("install", (event) => event.waitUntil(bringAll().catch(async (error) => {
  await caches.delete(CACHE);
  throw error;
})));

const others = async () =>
  (await caches.keys()).filter((name) => name.startsWith(OWN) && name !== CACHE);
const openNow = async () => (await clients.matchAll({ type: "all" })).map(({ id }) => id);

const takeOver = async () => {
  const open = await openNow();
  for (const name of await others()) {
    const cache = await caches.open(name);
    if (!(await cache.match(OPEN))) await cache.put(OPEN, new Response(JSON.stringify(open)));
  }
  await cacheOf();
  await clients.claim();
};

addEventListener("activate", (event) => event.waitUntil(takeOver()));

/** The cache of the build that a page came from; those that no page needs are deleted. */
const cacheOf = async (page) => {
  let found = CACHE;
  for (const name of await others()) {
    const pages = await (await caches.match(OPEN, { cacheName: name }))?.json();
    if (!pages) continue; // a newer build, which is on its way
    const open = await openNow();
    if (pages.includes(page)) found = name;
    else if (!pages.some((one) => open.includes(one))) await caches.delete(name);
  }
  return found;
};

/** Keep what came later, if it is of this build. */
const keep = async (path, answer) => {
  const content = await answer.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  if (btoa(String.fromCharCode(...digest)) !== DIGESTS[path] || !(await caches.has(CACHE))) return;
  const cache = await caches.open(CACHE);
  await cache.put(key(path), new Response(content, answer));
};

const answered = async (event, path) => {
  const { request, clientId } = event;
  const cacheName = await cacheOf(request.mode === "navigate" ? undefined : clientId);
  const kept = (await caches.match(key(path), { cacheName })) ??
    (await caches.match(path, { cacheName, ignoreSearch: true }));
  if (kept && !savesData()) return kept;
  try {
    const answer = await fetch(request, { cache: "no-cache" });
    if (answer.ok) event.waitUntil(keep(path, answer.clone()));
    return answer;
  } catch (error) {
    if (kept) return kept;
    return notHere(request, error);
  }
};

/** Show a page that says so when a page is not kept. */
const notHere = (request, error) => {
  if (request.mode === "navigate") return Response.redirect("404.html");
  throw error;
};

/** A site that has no such worker any more gets rid of this one. */
const leaveIfGone = async () => {
  const { status } = await fetch(location, { method: "HEAD", cache: "no-store" });
  if (status !== 404) return;
  await registration.unregister();
  for (const name of [CACHE, ...await others()]) await caches.delete(name);
};

addEventListener("fetch", (event) => {
  const { request } = event;
  const path = request.url.startsWith(registration.scope) ? pathOf(request.url) : "";
  if (request.method !== "GET" || request.headers.has("range")) return;
  if (Object.hasOwn(DIGESTS, path)) event.respondWith(answered(event, path));
  else if (request.mode === "navigate") {
    event.respondWith(fetch(request).catch((error) => notHere(request, error)));
  }
  if (request.mode === "navigate") event.waitUntil(leaveIfGone().catch(() => {}));
});
