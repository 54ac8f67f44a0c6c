// Python for a page's cells, in a worker that is loaded when it is first wanted. Ending the worker is
// how a cell is stopped, and all names are gone then.

const FILES = {
  "worker.js": "text/javascript",
  "pyodide.asm.wasm": "application/wasm",
  "python_stdlib.zip": "application/zip",
  "numpy.zip": "application/zip",
  "book.zip": "application/zip",
};

/** Return a file of the folder `base` as a page from a disk gets it, which may only run scripts. */
const fromDisk = (base, name) =>
  new Promise((fulfill, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`${name}.js`, base);
    script.onload = () => {
      const bytes = Uint8Array.from(atob(script.content), (letter) => letter.charCodeAt(0));
      fulfill(new Blob([bytes], { type: FILES[name] }));
      script.remove();
    };
    script.onerror = () => reject(new Error(`${name} is not beside the page`));
    document.head.append(script);
  });

/** Return the address of the worker, and all files at once on a page that may not fetch. */
const sources = async (base) => {
  if (location.protocol !== "file:") return [new URL("worker.js", base)];
  const entries = Object.keys(FILES).map(async (name) => [name, await fromDisk(base, name)]);
  const files = Object.fromEntries(await Promise.all(entries));
  return [URL.createObjectURL(files["worker.js"]), files];
};

/** Start a worker; `fail` is called with the reason if it breaks. */
const open = (base, onProgress, fail) => {
  const waiting = new Map();
  let worker = null;
  let ended = null;

  const ask = (message) =>
    new Promise((fulfill, reject) => {
      const id = waiting.size;
      waiting.set(id, { fulfill, reject });
      worker.postMessage({ id, ...message });
    });

  const hear = ({ data: { id, loaded, total, failed, ...answer } }) => {
    if (loaded) onProgress(loaded, total);
    else if (failed) fail(failed);
    else waiting.get(id).fulfill(answer);
  };

  const end = (error) => {
    ended = error;
    worker?.terminate();
    waiting.forEach(({ reject }) => reject(error)); // no matter to those that have their answer
  };

  const begin = async () => {
    const [address, files] = await sources(base);
    if (ended) throw ended;
    worker = new Worker(address);
    worker.onmessage = hear;
    worker.onerror = ({ message }) => fail(message || "Python could not be loaded");
    await ask({ start: { base: String(base), files } });
  };

  const ready = begin();
  ready.catch(({ message }) => ended || fail(message));
  return { ready, ask, end };
};

/**
 * Return what runs Python from the folder `base`. `onProgress(loaded, total)` hears the bytes.
 *
 * `start()` is fulfilled once Python can run; `run(code)` starts it if need be and gives
 * `{ output, error: { line, text } | null, pictures }`; `stop()` ends it and what waits for it.
 */
export function createRuntime({ base, onProgress = () => {} }) {
  let session = null;

  const stop = (reason = "stopped") => {
    session?.end(new Error(reason));
    session = null;
  };

  const start = () => (session ??= open(base, onProgress, stop)).ready;

  const run = async (code) => {
    const started = start();
    const { ask } = session;
    await started;
    return ask({ run: code });
  };

  return { start, run, stop };
}
