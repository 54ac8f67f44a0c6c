// The figure in which a reader steps through training; see training_player.py.

const STEPS = [0, 1, 2, 5, 10, 20, 30, 50, 70, 100, 140, 200];
for (let step = 300; step <= 1000; step += 100) STEPS.push(step);
const [WIDE, HIGH, EDGE, TOP, CELL, KEYS, LEVELS] = [320, 180, 6, 1.25, 10, 32, 6];
const NAMES = { undivided: "not divided", divided: "divided" };
const PAUSE = 400;

const across = (step) =>
  EDGE + ((WIDE - 2 * EDGE) * Math.log(1 + step)) / Math.log(1 + STEPS.at(-1));
const point = (loss, place) =>
  [across(STEPS[place]), HIGH * (1 - Math.min(loss[place], TOP) / TOP)];
const middle = (place) => CELL * (place + 0.5);

const cells = (map) => [...map]
  .map((level, i) => level > 0
    ? square(middle(i % KEYS), middle(Math.floor(i / KEYS)), (0.9 * CELL * level) / LEVELS) : "")
  .join("");

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
      part("curve", lineThrough(STEPS.slice(0, place + 1).map((_, i) => point(run.loss, i))));
      part("marker", dotsAt([point(run.loss, place)]));
      part("cells", cells(run.maps[place]));
      el.querySelector(`.training-map.${kind} output`).textContent =
        `${run.right[place].toFixed(2)} on right keys`;
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
