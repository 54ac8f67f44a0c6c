// Python for a page's cells, in a worker that is loaded when it is first wanted. Ending the worker is
// how a cell is stopped, and all names are gone then.

/**
 * Return what runs Python from the folder `base`. `onProgress(loaded, total)` hears the bytes.
 *
 * `start()` is fulfilled once Python can run; `run(code)` starts it if need be and gives
 * `{ output, error: { line, text } | null, pictures }`; `stop()` ends it and what waits for it.
 */
export function createRuntime({ base, onProgress = () => {} }) {
  let worker = null;
  let waiting = new Map();
  let count = 0;

  const ask = (id, message) =>
    new Promise((fulfill, reject) => {
      waiting.set(id, { fulfill, reject });
      if (message) worker.postMessage({ id, ...message });
    });

  const answer = ({ data: { id, loaded, total, failed, ...result } }) => {
    if (loaded) return onProgress(loaded, total);
    const { fulfill, reject } = waiting.get(id);
    waiting.delete(id);
    return failed ? reject(new Error(failed)) : fulfill(result);
  };

  const stop = (reason = "stopped") => {
    worker?.terminate();
    worker = null;
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting = new Map();
  };

  let ready = null;
  const start = () => {
    if (!worker) {
      worker = new Worker(new URL("worker.js", base), { type: "module" });
      worker.onmessage = answer;
      worker.onerror = (event) => stop(event.message || "Python could not be loaded");
      ready = ask("ready");
    }
    return ready;
  };

  const run = async (code) => {
    await start();
    return ask(++count, { run: code });
  };

  return { start, run, stop };
}
