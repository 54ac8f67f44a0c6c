// Python in a worker of its own: book/live_python.py puts `total`, Pyodide's scripts and `lock` before this.
//
// It is told `{id, start: base}` first, then `{id, run: [code, above]}`, and answers `{id, output,
// error}`, or `{id, failed}` if there is no Python. While it loads it says how far it is:
// `{loaded, total}`.

const PACKAGES = `/lib/python${lock.info.python.replace(/\.\d+$/, "")}/site-packages`;
const fetchPlain = self.fetch;
const stdin = () => null; // input() meets the end of a file
let loaded = 0;

/** Count what is read, in a copy: the browser keeps compiled code for an answer that is its own. */
const count = async ({ body }) => {
  for (const reader = body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    loaded += value.length;
    postMessage({ loaded, total });
  }
};

const begin = async (base) => {
  // Pyodide fetches its own files, with the same function.
  self.fetch = async (address) => {
    const response = await fetchPlain(address);
    if (!response.ok) throw new Error(`${address} is not there`);
    count(response.clone());
    return response;
  };
  const archives = ["numpy.zip", "book.zip"].map((name) => fetch(new URL(name, base)));
  const python = await loadPyodide({ indexURL: base, lockFileContents: lock, stdin });
  for (const archive of await Promise.all(archives)) {
    python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: PACKAGES });
  }
  return python.pyimport("cells").run;
};

let ready;
addEventListener("message", async ({ data: { start, id, run: cell } }) => {
  ready ??= begin(start);
  try {
    const run = await ready;
    postMessage({ id, ...(cell && JSON.parse(run(...cell))) });
  } catch (error) {
    postMessage({ id, failed: `Python could not be loaded, which takes a connection the first time (${error.message ?? error}).` });
  }
});
