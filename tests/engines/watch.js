// Served to every page before its own scripts: notes what goes wrong, and keeps the page where it is.
window.faults = [];
{
  const note = (what) => window.faults.push(String(what));
  addEventListener("error", ({ message, target }) =>
    note(message ?? `not loaded: ${target.src ?? target.href}`), true);
  addEventListener("unhandledrejection", ({ reason }) => note(`${reason?.message} ${reason?.stack}`));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    note(`${violatedDirective} forbids ${blockedURI}`));
  const { error } = console;
  console.error = (...words) => {
    note(words.join(" "));
    error.apply(console, words);
  };
  delete Navigator.prototype.serviceWorker; // which would answer in place of the server
  window.print = () => {};
  Element.prototype.requestFullscreen = () => Promise.resolve();
  HTMLAnchorElement.prototype.click = function save() {
    if (!this.download) note(`left for ${this.href}`);
  };
}
