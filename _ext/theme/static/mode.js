// Before anything is drawn: the colors that the reader chose, or those of the system; and for those
// who come back the whole page is laid out, or the place that was left could not be found.
{
const { dataset } = document.documentElement;
let mode;
try {
  mode = localStorage.getItem("mode");
} catch {
  // nothing can be kept, so nothing was chosen
}
dataset.mode = ["light", "dark"].includes(mode) ? mode : "auto";
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
dataset.theme = dataset.mode === "auto" ? (dark ? "dark" : "light") : dataset.mode;
const [coming] = performance.getEntriesByType("navigation");
if (coming && coming.type !== "navigate") dataset.whole = "";
}
