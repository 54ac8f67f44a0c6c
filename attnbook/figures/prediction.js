// Questions that a reader answers before the page does; see prediction.py.

const SIGNS = { right: "✓", other: "≠", alike: "≈", low: "<", high: ">", ask: "?" };
const [WIDE, HIGH, NOTCHES] = [640, 200, 20];
const CLOSED = "What came out — commit first, or open it anyway";

// How each kind reads the answer from the controls, shows it there, and judges it.
const choice = {
  read: (controls) => controls.find((button) => button.checked)?.value ?? "",
  show: (controls, answer) => controls.forEach((button) => {
    button.checked = button.value === answer;
  }),
  judge: ({ verdicts, wanted }, answer) => verdicts[answer] ?? ["ask", wanted],
};

const estimate = {
  read: ([field]) => field.value,
  show([field], answer) {
    if (field.value !== answer) field.value = answer;
  },
  judge({ low, high, unit, tails, wanted }, answer) {
    const plain = unit === "%" ? answer.trim().replace(/\s*%$/, "") : answer.trim();
    const value = readNumber(plain);
    const share = unit === "%" && !answer.includes("%")
      && (plain.includes("/") || (Math.abs(value) > 0 && Math.abs(value) < 1));
    if (value === null || share) return ["ask", wanted]; // 0.5 may be a half of all
    const outcome = value < low ? "low" : value > high ? "high" : "right";
    return [outcome, `You said ${plain}${unit}${tails[outcome]}`];
  },
};

const sketch = {
  read: (controls) => controls.map((slider) => Number(slider.value)),
  show(controls, answer, { stops, path }, committed) {
    controls.forEach((slider, place) => {
      slider.value = answer[place];
      slider.setAttribute("aria-valuetext", stops[answer[place]]);
    });
    const room = WIDE / answer.length;
    const points = answer.map((level, place) =>
      [room * (place + 0.5), HIGH * (1 - level / NOTCHES)]);
    const svg = controls[0].closest(".sketch-plot").querySelector("svg");
    outline(svg, ".own", lineThrough(points));
    outline(svg, ".computed", committed ? path : "");
  },
  judge({ right, peak, places, wanted }, answer) {
    if (answer.every((level) => level === NOTCHES / 2)) return ["ask", wanted];
    const steps = (levels) => levels.slice(1).map((level, place) => level - levels[place]);
    const wantedSteps = steps(right);
    const same = steps(answer).filter((step, place) =>
      Math.sign(step) === Math.sign(wantedSteps[place])
      || Math.max(Math.abs(step), Math.abs(wantedSteps[place])) <= 1).length;
    const top = Math.max(...answer);
    const tops = places.filter((_, place) => answer[place] === top);
    const all = same === wantedSteps.length && tops.length === 1 && answer[peak] === top;
    return [all ? "right" : 2 * same >= wantedSteps.length ? "alike" : "other",
      `You go the same way in ${same} of ${wantedSteps.length} steps; your highest point is at ` +
      `${tops.join(", ")}, the right one at ${places[peak]}.`];
  },
};

/** What the page keeps closed until the question is answered. */
function answering(el) {
  const boxes = [];
  let next = el.closest("div.cell")?.nextElementSibling;
  for (; next?.matches("div.cell, details.answering"); next = next.nextElementSibling) {
    if (next.matches("details")) boxes.push(next);
  }
  return boxes;
}

function render({ model, el }) {
  const form = formOf({ model, el });
  const content = model.get("content");
  const { read, show, judge } = { choice, estimate, sketch }[content.kind];
  const controls = [...form.querySelectorAll("input")];
  const boxes = answering(el);
  const say = (outcome, words, because) => {
    form.querySelector(".sign").textContent = SIGNS[outcome] ?? "";
    form.querySelector(".said").textContent = words;
    form.querySelector(".because").textContent = because;
  };
  const update = () => {
    const [answer, committed] = [model.get("answer"), model.get("committed")];
    show(controls, answer, content, committed);
    form.querySelector("fieldset").disabled = committed;
    form.querySelector("button").textContent = committed ? "Try again" : "Commit";
    if (committed) say(...judge(content, answer), content.because);
    else say("", "", "");
    for (const box of boxes) {
      box.open = committed;
      box.querySelector("summary").textContent = committed ? "What came out" : CLOSED;
    }
  };
  const submitted = (event) => {
    event.preventDefault();
    if (model.get("committed")) {
      save(model, { committed: false });
      return;
    }
    const [outcome, words] = judge(content, model.get("answer"));
    if (outcome === "ask") say(outcome, words, "");
    else {
      save(model, { committed: true });
      form.dispatchEvent(new CustomEvent("predicted", { bubbles: true, detail: outcome }));
    }
  };
  form.addEventListener("input", () => save(model, { answer: read(controls) }));
  form.addEventListener("submit", submitted);
  // the second tap of a double one would take back what the first did
  form.addEventListener("click", (event) => event.detail > 1 && event.target.closest("button") &&
    event.preventDefault());
  return follow(model, ["answer", "committed"], update);
}

export default { render };
