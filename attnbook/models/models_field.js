// The families of the census, one square each; see models_field.py.

function render({ model, el }) {
  formOf({ model, el });
  const squares = [...el.querySelectorAll(".field i")];
  const kindOf = (square) =>
    square.parentElement.previousElementSibling.textContent.replace(/: \d+$/, "");
  const stop = connect({ model, el }, ["text", "first", "family"], ({ text, first, family }) => {
    const wanted = text.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    let [count, chosen] = [0, null];
    for (const square of squares) {
      const fits = (!first || square.dataset.first === first) &&
        wanted.every((word) => square.dataset.text.includes(word));
      count += fits;
      const names = [...(fits ? [] : ["off"]), ...(square.title === family ? ["chosen"] : [])];
      if (square.title === family) chosen = square;
      if (names.length) square.className = names.join(" ");
      else square.removeAttribute("class");
    }
    const said = `${count} of ${squares.length} families.`;
    if (!chosen) return `${said} Point at a square, or choose a family.`;
    return `${said} ${family}, first in ${chosen.dataset.first}: ${kindOf(chosen)}.`;
  });
  const pointed = ({ target }) => {
    if (target.matches(".field i")) save(model, { family: target.title });
  };
  const field = el.querySelector(".field");
  field.addEventListener("pointerover", pointed);
  field.addEventListener("click", pointed);
  return stop;
}

export default { render };
