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

/**
 * Return what runs Python from the folder `base`. `onProgress(loaded, total)` hears the bytes.
 *
 * `start()` is fulfilled once Python can run; `run(code)` starts it if need be and gives
 * `{ output, error: { line, text } | null, pictures }`; `stop()` ends it and what waits for it.
 */
export function createRuntime({ base, onProgress = () => {} }) {
  let ready = null; // of the worker that is, or will be
  let waiting = new Map();
  let last = 0;
  let end = () => {};

  const stop = (reason = "stopped") => {
    end();
    for (const { reject } of waiting.values()) reject(new Error(reason));
    [ready, waiting, end] = [null, new Map(), () => {}];
  };

  const answer = ({ data: { id, loaded, total, failed, ...result } }) => {
    if (loaded) return onProgress(loaded, total);
    const { fulfill, reject } = waiting.get(id);
    waiting.delete(id);
    return failed ? reject(new Error(failed)) : fulfill(result);
  };

  const ask = (worker, message) =>
    new Promise((fulfill, reject) => {
      waiting.set(++last, { fulfill, reject });
      worker.postMessage({ id: last, ...message });
    });

  const begin = async () => {
    const [address, files] = await sources(base);
    const worker = new Worker(address);
    end = () => worker.terminate();
    worker.onmessage = answer;
    worker.onerror = ({ message }) => stop(message || "Python could not be loaded");
    await ask(worker, { start: { base: String(base), files } });
    return worker;
  };

  const start = () => (ready ??= begin());
  const run = async (code) => ask(await start(), { run: code });
  return { start, run, stop };
}
