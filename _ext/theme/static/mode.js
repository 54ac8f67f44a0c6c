// Before anything is drawn: the colors that the reader chose, or those of the system; for those who
// come back the whole page is laid out, or the place that was left could not be found; and the font
// of the formulas is asked for, or lines would move when it comes. From a disk that is not allowed.
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
if ("formulas" in dataset && location.protocol !== "file:") {
  document.head.append(Object.assign(document.createElement("link"), {
    rel: "preload", as: "font", type: "font/woff2", crossOrigin: "",
    href: `${dataset.content_root}_static/maths/book-maths.woff2`,
  }));
}
}
