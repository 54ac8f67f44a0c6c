// The heads of four trained models, a dot each; see heads_field.py.

const [WIDE, HIGH, NEAR] = [400, 280, 24];
const [SPREADS, POSITIONS] = [[0.05, 20], [1, 400]];

const share = (value, [low, high]) => Math.log(Math.max(value, low) / low) / Math.log(high / low);
const across = (spread) => WIDE * share(spread, SPREADS);
const down = (positions) => HIGH - HIGH * share(positions, POSITIONS);
const pointsOf = ({ values }, rest) => {
  const [spreads, positions] = values[Number(rest)];
  return spreads.map((spread, at) => [across(spread), down(positions[at])]);
};
const digits = (value) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

function render({ model, el }) {
  const form = formOf({ model, el });
  const field = el.querySelector(".heads-field");
  const plane = field.querySelector("svg");
  const models = JSON.parse(field.dataset.late);
  let own = [];
  let shown; // which dots are on the screen: to draw all of them anew is slow
  const stop = connect({ model, el }, ["model", "layer", "head", "rest"], (state) => {
    const { layers, heads, start, values } = models[state.model];
    const layer = Math.min(state.layer, layers) - 1;
    const head = Math.min(state.head, heads) - 1;
    if (shown !== `${state.model} ${state.rest}`) {
      shown = `${state.model} ${state.rest}`;
      own = pointsOf(models[state.model], state.rest);
      const others = Object.keys(models).filter((name) => name !== state.model);
      outline(plane, ".others", dotsAt(others.flatMap((name) =>
        pointsOf(models[name], state.rest))));
      outline(plane, ".heads", dotsAt(own));
      outline(plane, ".start", start === null ? "M0 0" : `M${number(across(start))} 0V${HIGH}`);
      const name = field.querySelector(".untrained");
      write(name, start === null ? "" : "untrained");
      putName(name, (100 * across(start ?? 1)) / WIDE, 0);
    }
    const at = layer * heads + head;
    outline(plane, ".layer", dotsAt(own.slice(layer * heads, (layer + 1) * heads)));
    outline(plane, ".mark", square(...own[at], 16));
    const [spread, positions] = values[Number(state.rest)].map((numbers) => digits(numbers[at]));
    return `${state.model}, layer ${layer + 1}, head ${head + 1}: spread ${spread}, ` +
      `${positions} effective positions.`;
  });
  const pointed = ({ clientX, clientY }) => {
    const box = plane.getBoundingClientRect();
    const far = own.map(([x, y]) => Math.hypot(
      box.left + (x * box.width) / WIDE - clientX, box.top + (y * box.height) / HIGH - clientY));
    const nearest = far.indexOf(Math.min(...far));
    const { heads } = models[form.elements.model.value];
    if (far[nearest] > NEAR) return;
    save(model, { layer: Math.floor(nearest / heads) + 1, head: (nearest % heads) + 1 });
  };
  plane.addEventListener("pointermove", pointed);
  plane.addEventListener("click", pointed);
  return stop;
}

export default { render };
