// The fields of an exercise; what is said is the same as in attnbook.exercises, which a test compares.

const SIGNS = { right: "✓", wrong: "✗", open: "…" };
const NAMES = { right: "right", wrong: "not right", open: "not answered" };

/** A number in some digits, as Python's format "g" writes it. */
function general(value, digits) {
  const [exact, power] = Math.abs(value).toExponential(60).split("e");
  const [kept, rest] = [exact.slice(0, digits + 1), exact.slice(digits + 1)];
  const [mantissa, exponent] = /[02468]$/.test(kept) && /^50*$/.test(rest)
    ? [kept, power] // a half goes to the even digit, here down
    : Math.abs(value).toExponential(digits - 1).split("e");
  const place = Number(exponent);
  const far = place < -4 || place >= digits;
  const text = far ? mantissa : Number(`${mantissa}e${place}`).toFixed(digits - 1 - place);
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const tail = `e${place < 0 ? "-" : "+"}${String(Math.abs(place)).padStart(2, "0")}`;
  return `${value < 0 ? "-" : ""}${short}${far ? tail : ""}`;
}

/** A number in some digits, a whole one in all of them. */
const shown = (value, digits) =>
  (Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : general(value, digits));

/** How a wrong number lies to the right one. */
function between(value, right) {
  if (!right) return "not right";
  if (value * right < 0) return "not right: the sign is wrong";
  const [size, wanted] = [Math.abs(value), Math.abs(right)];
  const way = size > wanted ? "large" : "small";
  if (size && Math.max(size / wanted, wanted / size) > 10)
    return `more than ten times too ${way}`;
  return `too ${way}${right >= 0 ? "" : " in absolute value"}`;
}

function judgeNumber({ right, room, mistakes, digits, nearly, praise }, unclear, text) {
  const value = readNumber(text);
  if (value === null) return ["wrong", unclear];
  const off = Math.abs(value - right);
  if (off <= room) return ["right", `${shown(value, digits)} is right. ${praise}`.trim()];
  const known = mistakes.find(([mistake, within]) => Math.abs(value - mistake) <= within);
  if (known) return ["wrong", known[2]];
  const rounded = nearly && value === Number(value.toPrecision(nearly));
  const more = rounded && off <= 10 * room ? " Nearly: give more digits." : "";
  return ["wrong", `${shown(value, 6)} is ${between(value, right)}.${more}`];
}

function judge(part, unclear, text) {
  if (!text.trim()) return ["open", part.open];
  if (part.kind === "number") return judgeNumber(part, unclear, text);
  return [text === part.right ? "right" : "wrong", part.options[text]];
}

function render({ model, el }) {
  const form = formOf({ model, el });
  const { exercise, parts, unclear } = model.get("content");
  const fields = [...form.querySelectorAll("input, select")];
  const update = () => {
    const [answers, checked] = [model.get("answers"), model.get("checked")];
    for (const field of fields) {
      const answer = answers[field.name];
      if (field.value !== answer) field.value = answer;
      const [outcome, words] =
        checked[field.name] === answer ? judge(parts[field.name], unclear, answer) : ["", ""];
      const part = field.closest(".part");
      part.className = `part ${outcome}`;
      field.setAttribute("aria-invalid", outcome === "wrong");
      const sign = part.querySelector(".sign");
      sign.textContent = SIGNS[outcome] ?? "";
      if (outcome) {
        sign.setAttribute("role", "img");
        sign.setAttribute("aria-label", NAMES[outcome]);
      } else {
        sign.removeAttribute("role");
        sign.removeAttribute("aria-label");
      }
      part.querySelector(".said").textContent = words;
    }
  };
  form.addEventListener("input", ({ target }) => {
    const reply = target.closest(".part").querySelector(".reply");
    if (reply.querySelector(".said").textContent) // nothing moves while the reader writes
      reply.style.minHeight = `${reply.getBoundingClientRect().height}px`;
    save(model, { answers: { ...model.get("answers"), [target.name]: target.value } });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const answers = model.get("answers");
    form.querySelectorAll(".reply").forEach((reply) => { reply.style.minHeight = ""; });
    save(model, { checked: { ...answers } });
    if (Object.values(answers).every((text) => !text.trim())) return;
    const passed = Object.entries(parts).every(([name, part]) =>
      name in answers && judge(part, unclear, answers[name])[0] === "right");
    form.dispatchEvent(
      new CustomEvent("judged", { bubbles: true, detail: { exercise, passed } }));
  });
  return follow(model, ["answers", "checked"], update);
}

export default { render };
