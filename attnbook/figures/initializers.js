// The figure in which the variance of the logits depends on who drew the weights; see
// initializers.py. The build puts initializers.json in front of it as `table`.

const [WIDE, ROW, HIGH, LEAST, MOST, KEYS] = [600, 20, 100, 2e-4, 2e2, 16];
// what is left of the variance of a normal number that is cut off at two standard deviations
const KEPT = 0.7737413035499232;
// the variances of a component of q and of k, times the square of what multiplies q·k, times d_k
const PREDICTED = {
  multihead_attention: () => 1 / 4,
  xavier_square: () => 1,
  xavier_head: (d_model, d_k) => ((2 * d_model) / (d_model + d_k)) ** 2,
  linear: () => 1 / 9,
  gpt2: (d_model) => (d_model * 0.02 ** 2) ** 2,
  bert: (d_model) => (d_model * KEPT * 0.02 ** 2) ** 2,
  t5: () => 1,
  mup: (d_model, d_k) => 1 / d_k,
  mup_8: (d_model, d_k) => 64 / d_k,
};

const across = (variance) => (WIDE * Math.log10(variance / LEAST)) / Math.log10(MOST / LEAST);

/** Predicted variance, sampled variance and its standard error of each scheme. */
function variances({ d_model, d_k, cosine }) {
  const { schemes, cosines, model_widths, head_widths, excess, errors } = table;
  return schemes.map((scheme, place) => {
    let cell = place * cosines.length + cosines.indexOf(cosine);
    cell = cell * model_widths.length + model_widths.indexOf(d_model);
    cell = cell * head_widths.length + head_widths.indexOf(d_k);
    const variance = PREDICTED[scheme](d_model, d_k) * (1 - cosine);
    return [variance, (variance * (1000 + excess[cell])) / 1000, (variance * errors[cell]) / 1000];
  });
}

function row(variance) {
  const drawn = normals(1, 0, KEYS);
  const mean = sum(drawn) / KEYS;
  const own = sum(drawn.map((g) => (g - mean) ** 2)) / (KEYS - 1);
  return softmax(drawn.map((g) => Math.sqrt(variance / own) * (g - mean)));
}

export default moving(["scheme", "d_model", "d_k", "cosine"], (state, el) => {
  const all = variances(state);
  const chosen = table.schemes.indexOf(state.scheme);
  const names = [...el.querySelectorAll(".figure-rules span")];
  names.forEach((name, place) => name.classList.toggle("chosen", place === chosen));
  const part = (name, d) => outline(el, `svg .${name}`, d);
  const each = (draw) => all.map((values, place) => draw(values, ROW * place)).join("");
  const middle = ROW / 2;
  part("band", `M0 ${ROW * chosen}h${WIDE}v${ROW}h${-WIDE}z`);
  part("predicted", each(([variance], top) =>
    `M${number(across(variance))} ${top + 2}v${ROW - 4}`));
  part("errors", each(([, mean, error], top) =>
    `M${number(across(mean - 2 * error))} ${top + middle}H${number(across(mean + 2 * error))}`));
  part("dots", dotsAt(all.map(([, mean], place) => [across(mean), ROW * place + middle])));
  part("bars", weightBars(row(all[chosen][0]), WIDE, HIGH));
  const more = all[chosen].map((value) => value * (1 + 1e-9));
  const places = 3 - Math.floor(Math.log10(more[0]));
  const [expected, mean, error] = more.map((value) => value.toFixed(places));
  return `${names[chosen].textContent}: variance ${expected} predicted, ` +
    `${mean} ± ${error} sampled.`;
});
