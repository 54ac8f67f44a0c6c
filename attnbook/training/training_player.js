// The figure in which a reader steps through training; see training_player.py.

const STEPS = [0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200];
for (let step = 300; step <= 1000; step += 100) STEPS.push(step);
const [WIDE, HIGH, EDGE, TOP] = [320, 180, 6, 1.25];
const [CELL, ROOM, ROWS, GROUP, LEVELS] = [10, 14, 8, 4, 6];
const NAMES = { undivided: "not divided", divided: "divided" };
const PAUSE = 400;

const across = (step) =>
  EDGE + ((WIDE - 2 * EDGE) * Math.log(1 + step)) / Math.log(1 + STEPS.at(-1));

/** The losses of an arm from the top of the plot on, and a mark at the present one. */
function curve(losses, place, arm) {
  const [x, y] = [STEPS.map(across), losses.map((loss) => HIGH * (1 - loss / TOP))];
  const first = y.findIndex((low) => low >= 0);
  if (place < first) {
    const foot = 8 * arm + 7;
    return [`M${number(x[place] - 4)} ${foot}l4 -6M${number(x[place] + 4)} ${foot}l-4 -6`, ""];
  }
  const entry = x[first] - (y[first] * (x[first] - x[first - 1])) / (y[first] - y[first - 1]);
  const points = x.map((left, i) => [left, y[i]]).slice(first, place + 1);
  return [lineThrough([[entry, 0], ...points]), dotsAt(points.slice(-1))];
}

/** The weights of each row's own keys, and of the rest. */
const cells = (map) => Array.from({ length: ROWS }, (_, row) => {
  const own = [...map.slice(GROUP * row, GROUP * (row + 1))].map((level) => level / LEVELS);
  const rest = Math.sqrt(Math.max(1 - sum(own.map((side) => side ** 2)), 0));
  return [...own, rest].map((side, column) => {
    const middle = ROOM * (column + 0.5 + (column === GROUP) / 2);
    return side > 0.01 ? square(middle, CELL * (row + 0.5), 0.9 * CELL * side) : "";
  }).join("");
}).join("");

/** Let the button move the steps, at first from the beginning and until the last; at a reader's
    wish for calm, by one a press. */
function player(model, el) {
  const [form, words] = [el.querySelector("form"), el.querySelector(".figure-words")];
  const button = form.querySelector("[name=play]");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let [timer, fresh] = [undefined, !calm];
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    button.textContent = calm ? "One step on" : "Play";
    words.setAttribute("aria-live", "polite");
  };
  const onward = () => {
    const place = fresh ? 0 : (STEPS.indexOf(model.get("step")) + 1) % STEPS.length;
    fresh = false;
    save(model, { step: STEPS[place] });
    if (place === STEPS.length - 1) stop();
  };
  const pressed = () => {
    if (timer) return stop();
    if (!calm) {
      timer = setInterval(onward, PAUSE);
      button.textContent = "Stop";
      words.setAttribute("aria-live", "off");
    }
    onward();
  };
  button.addEventListener("click", pressed);
  form.addEventListener("input", () => {
    fresh = false;
    stop();
  });
  form.addEventListener("reset", () => {
    fresh = !calm;
    stop();
  });
  stop();
  return stop;
}

function render({ model, el }) {
  formOf({ model, el });
  const all = JSON.parse(el.querySelector(".training-room").dataset.late);
  const disconnect = connect({ model, el }, ["step", "d_k", "adam"], ({ step, d_k, adam }) => {
    const optimizer = adam ? "Adam" : "SGD";
    const runs = all.filter((run) => run.optimizer === optimizer && run.d_k === d_k);
    const place = STEPS.indexOf(step);
    outline(el, ".now", `M${number(across(step))} 0V${HIGH}`);
    const arms = runs.map((run, arm) => {
      const [kind, name] = Object.entries(NAMES)[arm];
      const part = (part, d) => outline(el, `svg .${kind}.${part}`, d);
      const [line, mark] = curve(run.loss, place, arm);
      part("curve", line);
      part("marker", mark);
      part("cells", cells(run.maps[place]));
      el.querySelector(`.training-map.${kind} .value`).textContent =
        `right keys ${(100 * run.right[place]).toFixed(0)}%`;
      return `${run.loss[place].toFixed(4)} ${name}`;
    });
    return `Step ${step}: loss ${arms.join(", ")}.`;
  });
  const stop = player(model, el);
  return () => {
    stop();
    disconnect();
  };
}

export default { render };
