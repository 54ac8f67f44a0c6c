// Questions that a reader answers before the page does; see prediction.py.

const SIGNS = { right: "✓", other: "≠", alike: "≈", low: "<", high: ">", ask: "?" };
const GRADES = { right: "Right", alike: "Partly right", other: "Not right" };
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
  show(controls, answer, { right, stops, path }, committed) {
    controls.forEach((slider, place) => {
      slider.value = answer[place];
      put(slider, "aria-valuetext", stops[answer[place]]);
    });
    const room = WIDE / answer.length;
    const points = answer.map((level, place) =>
      [room * (place + 0.5), HIGH * (1 - level / NOTCHES)]);
    const plot = controls[0].closest(".sketch-plot");
    outline(plot, ".own", lineThrough(points));
    outline(plot, ".computed", committed ? path : "");
    const ends = [["yours", answer.at(-1)], ["measured", right.at(-1)]];
    const names = committed ? ends.sort(([, a], [, b]) => a - b) : [];
    plot.querySelector(".figure-names").replaceChildren(...names.map(([text, level], place) => {
      const name = document.createElement("span");
      name.className = place || level < 3 ? "tip" : "under";
      name.textContent = text;
      putName(name, 100 - 50 / answer.length, 100 - 100 * level / NOTCHES);
      return name;
    }));
  },
  judge({ ways, peak, places, wanted }, answer) {
    if (answer.every((level) => level === NOTCHES / 2)) return ["ask", wanted];
    const steps = answer.slice(1).map((level, place) => level - answer[place]);
    const same = steps.filter((step, place) =>
      (ways[place] ? Math.sign(step) === ways[place] : Math.abs(step) <= 1)).length;
    const tops = places.filter((_, place) => answer[place] === Math.max(...answer));
    const isTop = tops.length === 1 && tops[0] === places[peak];
    const outcome = same === ways.length && isTop ? "right"
      : 2 * same >= ways.length ? "alike" : "other";
    const all = `${GRADES[outcome]}: ${same} of ${ways.length} steps go the same way.`;
    const courses = same < ways.length
      ? ` Yours ${course(steps)}; the measured curve ${course(ways)}.` : "";
    return [outcome, all + courses + (isTop ? ` Both are highest at ${places[peak]}.`
      : ` Yours is highest at ${tops.join(", ")}; the measured curve at ${places[peak]}.`)];
  },
};

/** In words which way a curve goes. */
function course(steps) {
  const ways = steps.filter(Boolean).map((step) => step > 0);
  const turns = ways.filter((way, place) => way !== ways[place - 1]);
  if (!turns.length || turns.length > 2) return turns.length ? "goes up and down" : "stays level";
  return turns.map((way) => (way ? "rises" : "falls")).join(", then ");
}

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
    else save(model, { committed: true });
  };
  form.addEventListener("input", () => save(model, { answer: read(controls) }));
  form.addEventListener("submit", submitted);
  // the second tap of a double one would take back what the first did
  form.addEventListener("click", (event) => event.detail > 1 && event.target.closest("button") &&
    event.preventDefault());
  return follow(model, ["answer", "committed"], update);
}

export default { render };
