// Python in a worker of its own: tools/live.py puts Pyodide's scripts, `total` and `lock` before this.
//
// It is told `{start: {base, files}}` first, where `files` are the bytes of each file on pages that
// may not fetch; then `{id, run: code}`, and answers `{id, output, error, pictures}`, or
// `{id, failed}` if there is no Python. While it loads it says how far it is: `{loaded, total}`.

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

const begin = async ({ base, files }) => {
  // Pyodide fetches its own files, with the same function.
  self.fetch = async (address) => {
    if (files) return new Response(files[String(address).split("/").at(-1)]);
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
addEventListener("message", async ({ data: { start, id, run: code } }) => {
  ready ??= begin(start);
  try {
    const run = await ready;
    postMessage({ id, ...(code === undefined ? {} : JSON.parse(run(code))) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
});
