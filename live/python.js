// Python for a page's cells, in a worker that is loaded when it is first wanted. Ending the worker is
// how a cell is stopped, and all names are gone then.

/** Start a worker; `fail` is called with the reason if it breaks. */
const open = (base, onProgress, fail) => {
  const waiting = new Map();
  const worker = new Worker(new URL("worker.js", base));

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
    worker.terminate();
    waiting.forEach(({ reject }) => reject(error)); // no matter to those that have their answer
  };

  worker.onmessage = hear;
  worker.onerror = ({ message }) => fail(message || "Python could not be loaded, which takes a connection the first time.");
  const ready = ask({ start: String(base) });
  ready.catch(() => {}); // whoever waits for it is told
  return { ready, ask, end };
};

/**
 * Return what runs Python from the folder `base`. `onProgress(loaded, total)` hears the bytes.
 *
 * `start()` is fulfilled once Python can run; `run(code, above)` starts it if need be, runs what the
 * code needs of the cells above, then the code, and gives `{ output, error }`, where an error is null
 * or `{ line, text, above }`; `stop(reason)` ends it and what waits for it.
 */
function createRuntime({ base, onProgress = () => {} }) {
  let session = null;

  const stop = (reason) => {
    session?.end(new Error(reason));
    session = null;
  };

  const start = () => (session ??= open(base, onProgress, stop)).ready;

  const run = async (code, above) => {
    const started = start();
    const { ask } = session;
    await started;
    return ask({ run: [code, above] });
  };

  return { start, run, stop };
}
