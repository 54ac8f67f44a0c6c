// Python in a worker of its own. It is told `{id, run: code}` and answers
// `{id, output, error, pictures}`, or `{id, failed}` if there is no Python. While it loads it says
// how far it is, `{loaded, total}` in bytes, and at the end `{id: "ready"}`.

import { loadPyodide } from "./pyodide.mjs";

const PACKAGES = "/lib/python3.13/site-packages";
const fetchPlain = self.fetch;
const file = (name) => fetchPlain(new URL(name, import.meta.url));

const sizes = await (await file("sizes.json")).json();
const total = Object.values(sizes).reduce((sum, { size }) => sum + size, 0);
let loaded = 0;

/** Count what is read, in a copy: the browser keeps compiled code for an answer that is its own. */
const count = async (copy) => {
  for (const reader = copy.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    loaded += value.length;
    postMessage({ loaded, total });
  }
};

// Pyodide fetches its files itself, so they are counted here.
self.fetch = async (...request) => {
  const response = await fetchPlain(...request);
  count(response.clone());
  return response;
};

const begin = async () => {
  const archives = ["numpy.zip", "book.zip"].map(async (name) =>
    (await fetch(new URL(name, import.meta.url))).arrayBuffer(),
  ); // these come while Python starts
  const python = await loadPyodide();
  for (const archive of archives) {
    python.unpackArchive(await archive, "zip", { extractDir: PACKAGES });
  }
  return python.pyimport("cells").run;
};

const answer = async (id, message) => {
  try {
    const run = await ready;
    postMessage({ id, ...message(run) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
};

const ready = begin();
addEventListener("message", ({ data: { id, run: code } }) =>
  answer(id, (run) => JSON.parse(run(code))),
);
answer("ready", () => ({}));
