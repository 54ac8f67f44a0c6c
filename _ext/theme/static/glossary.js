/* What the glossary says about a word, beside the word: by pointing, by the keyboard, by a first
   tap. It stays while the pointer is on it, and Escape takes it away. */
const entries = document.querySelector("template.term-notes");
const words = entries ? [...document.querySelectorAll(".bd-article a:has(> .std-term)")] : [];
if (words.length && HTMLElement.prototype.showPopover) {
  const note = Object.assign(document.createElement("div"), { id: "term-note", popover: "manual" });
  note.setAttribute("role", "tooltip");
  document.querySelector(".bd-article").append(note);
  let shown = null;
  let timer;
  const later = (act, wait) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
  const hide = () => {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    note.hidePopover();
  };
  const show = (word, byTouch = false) => {
    const key = decodeURIComponent(word.hash.slice(1));
    const entry = [...entries.content.children].find(({ dataset }) => dataset.term === key);
    if (!entry) return;
    clearTimeout(timer);
    if (shown !== word) {
      shown?.removeAttribute("aria-describedby");
      note.replaceChildren(...entry.cloneNode(true).childNodes);
      if (byTouch) {
        const hint = document.createElement("small");
        hint.textContent = "Tap the word again for the glossary.";
        note.append(hint);
      }
      shown = word;
      word.setAttribute("aria-describedby", note.id);
      note.showPopover();
    }
    const [first, last] = [word.getClientRects()[0], [...word.getClientRects()].at(-1)];
    const { width, height } = note.getBoundingClientRect();
    const room = document.documentElement.clientWidth - width - 8;
    const below = last.bottom + height + 4 <= innerHeight || first.top < height + 4;
    note.style.left = `${scrollX + Math.max(8, Math.min((below ? last : first).left, room))}px`;
    note.style.top = `${scrollY + (below ? last.bottom + 4 : first.top - height - 4)}px`;
  };
  let touched = false;
  addEventListener("pointerdown", ({ pointerType, target }) => {
    touched = pointerType === "touch";
    if (shown && !note.contains(target) && !shown.contains(target)) hide();
  }, true);
  addEventListener("keydown", ({ key }) => {
    touched = false;
    if (key === "Escape" && shown) hide();
  }, true);
  for (const word of words) {
    word.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType !== "touch") later(() => show(word), shown ? 0 : 200);
    });
    word.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") later(hide, 300);
    });
    word.addEventListener("focus", () => word.matches(":focus-visible") && !touched && show(word));
    word.addEventListener("blur", hide);
    word.addEventListener("click", (event) => {
      if (!touched || shown === word) return;
      event.preventDefault();
      show(word, true);
    });
  }
  note.addEventListener("pointerenter", () => clearTimeout(timer));
  note.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch") later(hide, 300);
  });
}
