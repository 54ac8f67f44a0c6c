// What formulas gain from scripts; they are complete without.

// A formula that is too wide can be scrolled with the keyboard, in every browser, and only then
// does the keyboard stop at it. Where style sheets cannot follow scrolling, its edges fade here.
const LABEL = "Formula, wider than the page: scroll sideways";
const fades = !CSS.supports("animation-timeline", "scroll(self inline)");
const refresh = (box) => {
  const rest = box.scrollWidth - box.clientWidth;
  const wide = rest > 1;
  if (wide !== box.hasAttribute("tabindex")) {
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", LABEL]]) {
      if (wide) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
  if (!fades) return;
  const fade = (length) => `${Math.max(0, Math.min(40, length))}px`;
  box.style.setProperty("--math-fade-left", fade(box.scrollLeft));
  box.style.setProperty("--math-fade-right", fade(rest - box.scrollLeft));
};
const observer = new ResizeObserver((entries) => {
  new Set(entries.map(({ target }) => target.closest(".math-scroll"))).forEach(refresh);
});
for (const box of document.querySelectorAll(".math-scroll")) {
  observer.observe(box);
  observer.observe(box.firstElementChild); // it changes its width when its font comes
  if (fades) box.addEventListener("scroll", () => refresh(box), { passive: true });
}

// Text that is copied has formulas in TeX: letters in a row would say nothing.
const inTex = (formula) => {
  const around = formula.localName === "div" ? "$$" : "$";
  const number = formula.querySelector(".eqno")?.firstChild.data.match(/[\d.]+/);
  const tag = number ? ` \\tag{${number}}` : "";
  const after = formula.querySelector(".after")?.textContent ?? "";
  const tex = formula.querySelector("math").getAttribute("alttext");
  return `${around}${tex}${tag}${around}${after}`;
};
const FORMULA = ":is(span, div).math";
const formulaAt = (node) => (node.closest ? node : node.parentElement).closest(FORMULA);

/** Return a range that holds whole formulas: one at its end that is selected in part, or none. */
const withWholeFormulas = (selected) => {
  const range = selected.cloneRange();
  const [first, last] = [range.startContainer, range.endContainer].map(formulaAt);
  if (first && first === last) {
    range.selectNode(first);
    return range;
  }
  const isSelected = (formula) => {
    const part = selected.cloneRange();
    if (formula === first) part.setEndAfter(formula);
    else part.setStartBefore(formula);
    return part.toString().trim() !== "";
  };
  if (first) range[isSelected(first) ? "setStartBefore" : "setStartAfter"](first);
  if (last) range[isSelected(last) ? "setEndAfter" : "setEndBefore"](last);
  return range;
};
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (!event.clipboardData || selection.rangeCount !== 1 || selection.isCollapsed) return;
  const copy = document.createElement("div");
  copy.append(withWholeFormulas(selection.getRangeAt(0)).cloneContents());
  const formulas = copy.querySelectorAll(FORMULA);
  if (formulas.length === 0) return;
  const html = copy.innerHTML;
  // the names in words that columns have beside a formula
  copy.querySelectorAll(".visually-hidden").forEach((words) => words.remove());
  formulas.forEach((formula) => {
    const text = document.createElement(formula.localName);
    text.textContent = inTex(formula);
    formula.replaceWith(text);
  });
  copy.style.cssText = "position: fixed; inset-inline-start: -9999px; white-space: normal";
  document.body.append(copy); // only what is laid out has its lines apart
  event.clipboardData.setData("text/plain", copy.innerText.trim());
  event.clipboardData.setData("text/html", html);
  copy.remove();
  event.preventDefault();
});
