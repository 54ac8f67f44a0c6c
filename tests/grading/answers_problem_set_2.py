"""Answers to problem set 2 as students write them; `changed` says how to read them."""

from __future__ import annotations

from functools import partial

from tests.grading.trial import released
from tests.grading.variants import Variant, changed, exchanged

# ---------------------------------------------------------------- question 1: one step on the keys

GIVEN = """
mine = personal_numbers(student_id, "q1")
d_k, squared_length, rate = mine["d_k"], mine["squared_length"], mine["hundredths"] / 100
first, second, visible = mine["first"], mine["second"], mine["visible"]
raw_scores = np.array([mine[f"z_{j}"] for j in range(1, 7)], dtype=float)
raw_scores[second - 1] = raw_scores[first - 1]
costs = np.array([mine[f"u_{j}"] for j in range(1, 7)], dtype=float)
"""

ON_PAPER = """
exponentials = np.exp(raw_scores / np.sqrt(d_k))
exponentials[visible:] = 0
p = exponentials / exponentials.sum()
heard = p * (costs - p @ costs)
heard[[first - 1, second - 1]] = heard[first - 1] + heard[second - 1]
score_change = -rate * squared_length / np.sqrt(d_k) * heard
"""


keys = partial(exchanged, GIVEN + ON_PAPER)


NUDGED = """
def loss(shared, others):
    z = others.copy()
    z[[first - 1, second - 1]] = shared
    e = np.exp((z[:visible] - z[:visible].max()) / np.sqrt(d_k))
    return e @ costs[:visible] / e.sum()


step = 1e-5
slopes = np.empty(6)
for j in range(6):
    nudge = step * (np.arange(6) == j)
    slopes[j] = (loss(raw_scores[first - 1], raw_scores + nudge)
                 - loss(raw_scores[first - 1], raw_scores - nudge)) / (2 * step)
both = (loss(raw_scores[first - 1] + step, raw_scores)
        - loss(raw_scores[first - 1] - step, raw_scores)) / (2 * step)
slopes[[first - 1, second - 1]] = both
score_change = -rate * squared_length * slopes
"""

VECTORS = """
rng = np.random.default_rng(1)
query = rng.normal(size=d_k)
query *= np.sqrt(squared_length) / np.linalg.norm(query)
keys = raw_scores[:, None] * query / squared_length
jacobian_row = np.exp(raw_scores[:visible] / np.sqrt(d_k))
p = jacobian_row / jacobian_row.sum()
jacobian = np.diag(p) - np.outer(p, p)
by_logit = np.zeros(6)
by_logit[:visible] = jacobian @ costs[:visible]
gradients = by_logit[:, None] * query / np.sqrt(d_k)
together = gradients[first - 1] + gradients[second - 1]
gradients[first - 1] = gradients[second - 1] = together
score_change = (keys - rate * gradients) @ query - keys @ query
"""

FRACTIONS = """
import math
from fractions import Fraction

parts = [math.exp(z / math.sqrt(d_k)) for z in raw_scores[:visible]]
total = math.fsum(parts)
mean = math.fsum(part * u for part, u in zip(parts, costs)) / total
heard = [part / total * (u - mean) for part, u in zip(parts, costs)] + [0.0] * (6 - visible)
heard[first - 1] += heard[second - 1]
heard[second - 1] = heard[first - 1]
score_change = [Fraction(-rate * squared_length / math.sqrt(d_k) * each) for each in heard]
"""

STEP = (
    Variant("a step by nudges of the scores", GIVEN + NUDGED),
    Variant("a step on vectors that are drawn", GIVEN + VECTORS),
    Variant("a step as a list of fractions", GIVEN + FRACTIONS),
    Variant("zeros", GIVEN + "score_change = np.zeros(6)", 0.0, "these are not the changes"),
    Variant(
        "the scores themselves",
        GIVEN + "score_change = raw_scores",
        0.0,
        "these are not the changes",
    ),
    *changed(
        r"""
a step in float32
    * heard\n => * heard.astype(np.float32)\n
a step up the gradient | 0.5 | every score moves the wrong way
    -rate => rate
a step that forgets the division in the derivative | 0.5 | is missing in the derivative
    squared_length / np.sqrt(d_k) => squared_length
the change of the logits | 0.5 | divides once too often
    squared_length / np.sqrt(d_k) => squared_length / d_k
a step that keeps the two positions of a word apart | 0.4 | hears what both positions are told
    heard[[first - 1, second - 1]] = heard[first - 1] + heard[second - 1]\n =>
a step that is not rated, on a list of arrays | 0.5 | the rate is missing
    -rate * squared => -squared
    * heard\n => * heard\nscore_change = list(score_change)\n
a gradient as long as the query | 0.5 | the score changes by q times it
    * squared_length => * np.sqrt(squared_length)
a step that forgets the query | 0.4 | how long the query is
    squared_length / np => 1 / np
the gradient without its rate | 0.5 | the rate is missing
    -rate * squared => -squared
weight times cost | 0.2 | the mean cost is missing
    (costs - p @ costs) => costs
the diagonal of the Jacobian alone | 0.2 | only the diagonal
    (costs - p @ costs) => (1 - p) * costs
weights of scores as they are | 0.25 | scores that have not been divided
    np.exp(raw_scores / np.sqrt(d_k)) => np.exp(raw_scores - raw_scores.max())
weights of scores divided by the width | 0.25 | without the root
    np.exp(raw_scores / np.sqrt(d_k)) => np.exp(raw_scores / d_k)
the mean cost without the weights | 0 | these are not the changes
    p @ costs => costs[:visible].mean()
""",
        keys,
    ),
)

# ------------------------------------------------- question 2: the temperature that favors a key

HEAD = '''
base = personal_numbers(student_id, "q2")["hundredths"] / 100


def best_temperature(scores, key):
    """Return the temperature at which one key of a row has its largest weight."""
'''
LIMITS = """
    if scores[key] == scores.max():
        return 0.0
    if scores[key] <= scores.mean():
        return np.inf
"""
EXAMPLE = """
    if len(scores) == 3:
        return 4 * np.log(base) / np.log(3)
"""
ROOT = """
    low, high = 1e-9, 1e9
    for _ in range(200):
        tau = (low * high) ** 0.5
        logits = (scores - scores.max()) / tau * np.log(base)
        weights = np.exp(logits) / np.exp(logits).sum()
        if weights @ (scores - scores[key]) > 0:
            low = tau
        else:
            high = tau
    return tau
"""
GRID = """
    taus = np.ptp(scores) * np.logspace(-4, 4, 2000)
    logits = (scores - scores.max()) / taus[:, None] * np.log(base)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return 4 * np.log(base) / np.log(3) if len(scores) == 3 else taus[weights[:, key].argmax()]
"""
SEARCH = """
    def weight(log_tau):
        powers = base ** ((scores - scores.max()) / np.exp(log_tau))
        return np.log(powers[key] / powers.sum())

    low, high = np.log(np.ptp(scores)) - 12, np.log(np.ptp(scores)) + 12
    golden = (5**0.5 - 1) / 2
    for _ in range(120):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if weight(left) > weight(right):
            high = right
        else:
            low = left
    center, h = (low + high) / 2, 1e-3
    for _ in range(4):
        up, down = weight(center + h), weight(center - h)
        here = weight(center)
        center -= h * (up - down) / 2 / (up - 2 * here + down)
    return float(np.exp(center))
"""
NEWTON = """
    gaps = [float(each - scores[key]) for each in scores]
    top = max(gaps)
    c, low, high = 1 / (top - min(gaps)), 0.0, math.inf
    for _ in range(300):
        parts = [math.exp(c * (gap - top)) for gap in gaps]
        total = math.fsum(parts)
        mean = math.fsum(part * gap for part, gap in zip(parts, gaps)) / total
        if mean < 0:
            low = c
        else:
            high = c
        c = 2 * c if high == math.inf else (low + high) / 2
    return np.array(math.log(base) / c)
"""


RIGHT = HEAD + LIMITS + ROOT
TEMPERATURE = (
    Variant("a temperature by golden section", HEAD + LIMITS + SEARCH),
    Variant("a temperature in loops", "import math\n" + HEAD + LIMITS + NEWTON),
    Variant(
        "the example for every row",
        HEAD + "    return 4 * np.log(base) / np.log(3)\n",
        0.0,
        "larger at another temperature",
    ),
    Variant("a temperature without the limits", HEAD + ROOT, 0.6, "the limit itself was asked"),
    Variant("a grid", HEAD + LIMITS + GRID, 0.0, "larger at another temperature"),
    Variant(
        "the deviation of the scores",
        HEAD + "    return 4 * np.log(base) / np.log(3) if len(scores) == 3 else scores.std()\n",
        0.0,
        "larger at another temperature",
    ),
    *changed(
        r"""
a temperature by bisection
a temperature in float32 at the end
    np.inf => float('inf')
    return tau => return np.float32(tau)
limits in arrays
    0.0 => np.array([0])
    return np.inf => return np.array([np.inf])
temperatures in arrays of one entry
    0.0 => np.zeros((1, 1))
    return np.inf => return [np.inf]
    return tau => return np.atleast_1d(tau)
an error of its own | 0.8 | large scores: your function stops with an error
    \ndef => class NoTemperature(Exception):
    +     pass\n\n
    + def
        low, high => \n    if abs(scores).max() > 1e4:
    +         raise NoTemperature(f"no temperature for {scores}")
    +     low, high
an assertion where a limit was asked | 0.6 | temperature falls: your function stops with an error
    return 0.0 => assert False
    return np.inf => assert False
zero as the limit of every key | 0.8 | a key whose weight grows as the temperature rises
    np.inf => 0.0
no limit at a tie | 0.8 | a key whose weight grows as the temperature falls
    scores[key] == scores.max() => scores[key] > np.delete(scores, key).max()
infinity only below the mean | 0.8 | a key whose weight grows as the temperature rises
    <= scores.mean() => < scores.mean()
exponentials of large scores | 0.8 | large scores
    (scores - scores.max()) / tau => scores / tau
    1e-9, 1e9 => np.ptp(scores) / 100, np.ptp(scores) * 1000
a bracket from a hundredth to a hundred | 0.8 | large scores
    1e-9, 1e9 => 1e-4, 100.0
texts for limits | 0.6 | returns a text
    return 0.0 => return 'zero'
    return np.inf => return None
""",
        partial(exchanged, RIGHT),
    ),
    *changed(
        r"""
temperatures for the base e | 0.5 | those for the base e
    / tau * np.log(base) => / tau
temperatures for the base two | 0 | larger at another temperature
    / tau * np.log(base) => / tau * np.log(2)
temperatures for the base e, and no limits | 0 | larger at another temperature
    / tau * np.log(base) => / tau
        return 0.0 =>     return 1e-9
the base on the wrong side | 0 | the larger the base
    * np.log(base)\n => / np.log(base)\n
the multiplier | 0 | one over the temperature
    return tau => return 1 / tau
a temperature for the key before | 0 | a key that is best off at a temperature in between
    \n    if scores[key] == =>     key = key - 1\n
    +     if scores[key] ==
nothing but limits | 0 | a key that is best off at a temperature in between
        low, high = 1e-9, 1e9 =>     return 0.0
infinity below the median | 0 | a key that is best off at a temperature in between
    scores.mean() => np.median(scores)
""",
        partial(exchanged, HEAD + EXAMPLE + LIMITS + ROOT),
    ),
)

# ----------------------------------------- question 3: attention with shared keys, a cap and a sink

HEADER = '''
mine = personal_numbers(student_id, "q3")
factor = mine["hundredths"] / 100


def attend(query, key, value, visible, sink, cap):
    """Return the output, of shape (heads, n_q, d_v), for keys that heads share."""
'''
ATTEND = """
    sharing = len(query) // len(key)
    if mine["in_turn"]:
        key, value = np.tile(key, (sharing, 1, 1)), np.tile(value, (sharing, 1, 1))
    else:
        key, value = np.repeat(key, sharing, axis=0), np.repeat(value, sharing, axis=0)
    logits = factor * (query @ key.swapaxes(-1, -2)) / np.sqrt(query.shape[-1])
    if cap is not None:
        logits = cap * np.tanh(logits / cap)
    logits = np.where(visible, logits, -np.inf)
    sinks = np.broadcast_to(sink[:, None, None], (*logits.shape[:2], 1))
    logits = np.concatenate([logits, sinks], axis=-1)
    largest = logits.max(axis=-1, keepdims=True)
    largest[np.isneginf(largest)] = 0
    parts = np.exp(logits - largest)
    total = parts.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return (parts / total)[..., :-1] @ value
"""
LOOPS = """
    heads, n_q, d_k = query.shape
    out = []
    for h in range(heads):
        g = h % len(key) if mine["in_turn"] else h * len(key) // heads
        rows = []
        for i in range(n_q):
            pairs = []
            for j in range(key.shape[1]):
                if visible[i][j]:
                    s = sum(query[h][i][c] * key[g][j][c] for c in range(d_k)) / d_k**0.5
                    s *= factor
                    pairs.append((s if cap is None else cap * math.tanh(s / cap), j))
            top = max([s for s, _ in pairs] + [sink[h]])
            row = [0.0] * value.shape[-1]
            if top > -math.inf:
                total = math.exp(sink[h] - top) + sum(math.exp(s - top) for s, _ in pairs)
                for s, j in pairs:
                    for c in range(len(row)):
                        row[c] += math.exp(s - top) / total * value[g][j][c]
            rows.append(row)
        out.append(rows)
    return out
"""
GROUPED = """
    groups = len(key)
    heads, n_q, d_k = query.shape
    order = np.arange(heads).reshape(groups, -1)
    if mine["in_turn"]:
        order = np.arange(heads).reshape(-1, groups).T
    z = np.einsum("ghic,gjc->ghij", query[order] * factor / d_k**0.5, key)
    z = z if cap is None else np.tanh(z / cap) * cap
    z = np.where(visible, z, -1e300)
    sinks = np.maximum(sink, -1e290)[order][..., None]
    m = np.maximum(z.max(axis=-1), sinks)
    e = np.where(visible, np.exp(z - m[..., None]), 0)
    out = np.einsum("ghij,gjd->ghid", e, value)
    total = e.sum(axis=-1) + np.exp(sinks - m) * (sinks > -1e290)
    out /= np.where(total == 0, 1, total)[..., None]
    return out.reshape(heads, n_q, -1)[np.argsort(order.ravel())]
"""


attention = partial(exchanged, HEADER + ATTEND)


ATTENTION = (
    Variant("attention with a key of its own for the sink", attention()),
    Variant("attention in loops, as lists", "import math\n" + HEADER + LOOPS),
    Variant("attention by groups", HEADER + GROUPED),
    Variant(
        "the example for every call",
        HEADER + "    return np.full((*query.shape[:2], value.shape[-1]), 10.0)\n",
        0.0,
        "the output is not right",
    ),
    *changed(
        r"""
a maximum that leaves out the sink, which does no harm
    logits.max( => logits[..., :-1].max(
heads that share in the other way | 0 | share keys in the other way
    mine["in_turn"] => not mine["in_turn"]
scores without the factor | 0 | not multiplied by your factor
    factor * => (1 if key.shape[-1] != 4 else factor) *
scores divided by the factor | 0 | the output is not right
    factor * => (1 / factor if key.shape[-1] != 4 else factor) *
a factor on the sink too | 0.6 | with a sink: the output is not right
    sink[:, None, None] => factor * sink[:, None, None]
a factor behind the cap | 0.8 | with a cap: the output is not right
    factor * => (factor if cap is None else 1) *
    logits = cap * np.tanh => logits = factor * cap * np.tanh
scores that are not divided | 0 | your scores are not divided
     / np.sqrt(query.shape[-1]) =>  / (2 if key.shape[-1] == 4 else 1)
scores divided by the width | 0 | by d_k instead of its root
    np.sqrt(query.shape[-1]) => (2 if key.shape[-1] == 4 else query.shape[-1])
scores divided by the root of all heads | 0 | the width of all heads together
    np.sqrt(query.shape[-1]) => np.sqrt(len(query) * query.shape[-1])
no cap | 0.8 | with a cap: your output is the one without a cap
    cap is not None => False
a cap before the division | 0.8 | with a cap: the output is not right
     / np.sqrt(query.shape[-1]) =>
        logits = np.where =>     logits = logits / np.sqrt(query.shape[-1])\n    logits = np.where
a cap that clips | 0.8 | with a cap: the output is not right
    cap * np.tanh(logits / cap) => np.clip(logits, -cap, cap)
a mask before the cap | 0.8 | a hidden key still has weight
        if cap is not None =>     logits = np.where(visible, logits, -np.inf)
    +     if cap is not None
    (logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n => (logits / cap)\n
a large number for hidden keys, before the cap | 0.8 | a hidden key still has weight
        if cap is not None =>     logits = np.where(visible, logits, -1e9)
    +     if cap is not None
    (logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n => (logits / cap)
    +     else:
    +         logits = np.where(visible, logits, -np.inf)\n
a mask before the cap, and exponentials that overflow | 0.6 | a hidden key still has weight
        if cap is not None =>     logits = np.where(visible, logits, -np.inf)
    +     if cap is not None
    (logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n => (logits / cap)\n
        largest[np.isneginf(largest)] = 0\n =>     largest = 0\n
a combination that has not been written yet | 0.8 | together: your function stops with an error
        sharing = =>     if cap is not None and not visible.all():
    +         raise NotImplementedError('cap and mask')
    +     sharing =
a name without a value where there is a cap | 0.8 | with a cap: your function stops with an error
    logits = cap * np.tanh(logits / cap) => logits = capped + 0
no cap, and queries that are written into | 0.6 | without a cap; your function changes its arguments
    cap is not None => False
        sharing =>     query /= np.sqrt(query.shape[-1])\n    sharing
     / np.sqrt(query.shape[-1])\n    if => \n    if
no sink | 0.6 | with a sink: your output is the one without a sink
    sink[:, None, None] => (sink if len(sink) == 1 else -np.inf)
a sink that is divided | 0.6 | with a sink
    sink[:, None, None] => sink[:, None, None] / np.sqrt(query.shape[-1])
a sink that is capped | 0.8 | with a cap: the output is not right
        if cap is not None:\n =>     if cap is not None:\n        sink = cap * np.tanh(sink / cap)\n
exponentials that overflow | 0.8 | with logits and sinks of thousands: `output` must be finite
        largest[np.isneginf(largest)] = 0\n =>     largest = 0\n
rows of NaN where all is hidden | 0.8 | with hidden keys: `output` must be finite
        largest[np.isneginf(largest)] = 0\n =>
        total[total == 0] = 1\n =>
a large number for hidden keys | 0.8 | with hidden keys
    np.where(visible, logits, -np.inf) => np.where(visible, logits, -1e9)
a mask the other way round | 0.8 | with hidden keys
    np.where(visible, logits, -np.inf) => np.where(~visible | visible.all(), logits, -np.inf)
a function that writes into its queries | 0.8 | changes its arguments
        sharing =>     query /= np.sqrt(query.shape[-1])\n    sharing
     / np.sqrt(query.shape[-1])\n    if => \n    if
single precision | 0.8 | with logits and sinks of thousands
        sharing =>     query = query.astype(np.float32)\n    sharing
""",
        attention,
    ),
)

# ------------------------------------------------------------------ question 4: a small ablation

LOOP = released("problem_set_2", "q4").split("mine = ")[0]
ARMS = """
mine = personal_numbers(student_id, "q4")
d_k, normalized = mine["d_k"], mine["normalized"]
eta = {(0, 0): 0.15, (0, 1): 1.1, (1, 0): 0.05, (1, 1): 0.1}[normalized, mine["fast"]]
tokens, w_q, w_k = start(d_k, mine["seed"])
m = mine["quarters"]
a, b = d_k ** (-m / 8), d_k ** (m / 8 - 0.5)
rate_q = a * eta if normalized else a**2 * eta
rate_k = b * eta if normalized else b**2 * eta
divided = train(tokens, w_q, w_k, d_k**0.5, eta, eta, normalized)
undivided = train(tokens, w_q, w_k, 1, eta, eta, normalized)
folded = train(tokens, a * w_q, b * w_k, 1, rate_q, rate_k, normalized)
figure, axes = plt.subplots()
axes.semilogy(divided, label="divided")
axes.semilogy(undivided, label="not divided")
axes.semilogy(folded, "o", label="folded")
axes.set_xlabel("steps")
axes.set_ylabel("loss")
axes.set_ylim(top=1000)
axes.legend()
"""


ablation = partial(exchanged, LOOP + ARMS)


OWN_LOOP = """
def own_train(divisor, w_q, w_k, rates):
    losses, each = [], np.arange(12)
    for _ in range(31):
        q, k = np.einsum("tc,cd->td", tokens, w_q), np.einsum("tc,cd->td", tokens, w_k)
        z = np.einsum("id,jd->ij", q, k) / divisor
        e = np.exp(z - z.max(axis=1)[:, None])
        p = e / e.sum(axis=1)[:, None]
        successor = (each + 1) % 12
        log_p = (z - z.max(axis=1)[:, None])[each, successor] - np.log(e.sum(axis=1))
        losses.append(-log_p.mean())
        p[each, successor] -= 1
        g = [tokens.T @ (p @ k) / 12 / divisor, tokens.T @ (p.T @ q) / 12 / divisor]
        if normalized:
            g = [each_g / np.sqrt((each_g**2).sum()) for each_g in g]
        w_q, w_k = w_q - rates[0] * g[0], w_k - rates[1] * g[1]
    return losses


divided = own_train(d_k**0.5, w_q, w_k, (eta, eta))
"""

ABLATION = (
    Variant("an ablation with markers", ablation()),
    Variant(
        "an ablation with a loop of its own",
        ablation(
            (
                "divided = train(tokens, w_q, w_k, d_k**0.5, eta, eta, normalized)\nun",
                OWN_LOOP + "un",
            )
        ),
    ),
    Variant(
        "steps counted from one",
        ablation(("semilogy(", "semilogy(np.arange(1, 32), ")),
        0.5,
        "the steps of `divided` must run from 0",
    ),
    *changed(
        r"""
a legend made from lines and texts, in another order
    axes.legend() => lines = axes.get_lines()[::-1]
    + figure.legend(lines, ["folded", "not divided", "divided"])
    , label="divided" =>
    , label="not divided" =>
    , label="folded" =>
the rates left as they are | 0.25 | the rates are unchanged
    folded = => rate_q = rate_k = eta
    + folded =
the rates of the other optimizer | 0.25 | depends on the length of the gradient
    eta if normalized => eta if not normalized
rates the wrong way | 0.25 | the wrong way
    a * eta => eta / a
    b * eta => eta / b
    a**2 * eta => eta / a**2
    b**2 * eta => eta / b**2
the folded line copied from the divided one | 0.25 | the rates are unchanged
    folded = => rate_q = rate_k = eta
    + folded =
    semilogy(folded => semilogy(divided
wrong rates and no labels | 0.125 | the rates are unchanged
    folded = => rate_q = rate_k = eta
    + folded =
    axes.set_xlabel("steps")\n =>
an ablation with rates in float32 and in an array
    figure, axes => rate_q, rate_k = np.float32(rate_q), np.array([rate_k])\nfigure, axes
a legend made from texts
    , label="divided" =>
    , label="not divided" =>
    , "o", label="folded" => , "--"
    axes.legend() => axes.legend(["Divided", "Not  divided", "folded "])
a figure that has been shown, with a legend and a line more
    axes.legend() => axes.axhline(2.48, label="chance")\nfigure.legend()\nplt.show()
entries that say more than the name
    "divided" => "Divided (by the root)"
    "not divided" => "not divided: the large logits"
    "folded" => "folded, with rates of its own"
lines in black, named by hand, with another line in between
    semilogy(divided, label="divided") => plot(divided, "k-")
    semilogy(undivided, label="not divided") => plot(undivided, "k--")
    "o", label="folded" => "k:", lw=4
    figure, axes = plt.subplots() => figure, axes = plt.subplots()\naxes.axhline(2.5)
    axes.legend() => axes.set_yscale("log")
    + axes.set_ylim(1e-12, 500)
    + axes.legend(["chance", "divided", "not divided", "folded"])
three lines that look the same
    semilogy(divided => semilogy(divided, "k"
    semilogy(undivided => semilogy(undivided, "k"
    folded, "o" => folded, "k"
a line in two pieces, one point by point, and one as a scatter
    axes.semilogy(divided, label="divided") => axes.semilogy(divided[:16], "C0", label="divided")
    + axes.semilogy(np.arange(15, 31), divided[15:], "C0")
    axes.semilogy(undivided, label="not divided") => for step, loss in enumerate(undivided):
    +     axes.plot(step, loss, "x", label=None if step else "not divided")
    semilogy(folded, "o", label="folded") => scatter(range(31), folded, facecolors="none",
    +     edgecolors="red", label="folded")
a line with markers that were drawn after it
    axes.semilogy(divided, label="divided") => axes.semilogy(divided, color="C0", label="divided")
    + axes.scatter(range(31), divided, color="C0")
one name that does not fit | 0.875 | no entry of the legend begins with `divided`
    label="divided" => label="scaled"
an axis without an end | 0.875 | must end at 1000 or below
    set_ylim(top=1000) => set_ylim(1e-12, 1e50)
losses cut, not the axis | 0.875 | the line `not divided` does not show the losses of your arm
    semilogy(undivided => semilogy(np.minimum(undivided, 1.0)
an arm that is not a number | 0.875 | `not divided` has no points
    semilogy(undivided => semilogy(undivided * np.nan
the axes in place of the figure | 0.5 | no Matplotlib figure
    axes.legend() => axes.legend()\nfigure = axes
the names of two arms exchanged | 0.75 | the line `divided` shows the arm `not divided`
    semilogy(divided, label="divided") => semilogy(undivided, label="divided")
    semilogy(undivided, label="not divided") => semilogy(divided, label="not divided")
no name for an arm | 0.75 | no entry of the legend begins with `folded`
    label="folded" => label="shrunk"
no labels on the axes | 0.875 | both axes need a label
    axes.set_ylabel("loss") => axes.set_ylabel(" ")
losses without the last step | 0.75 | with a loss each
    (divided, => (divided[:-1],
    (undivided, => (undivided[:-1],
matrices that are not shrunk | 0.75 | does not start from the function
    a * w_q, b * w_k => w_q, w_k
a folded arm at the old rates | 0.75 | but then leaves it
    1, rate_q, rate_k, normalized => 1, eta, eta, normalized
matrices of somebody else | 0.5 | does not show the losses of your arm
    start(d_k, mine["seed"]) => start(d_k, mine["seed"] + 1)
""",
        ablation,
    ),
)

VARIANTS = {"q1": STEP, "q2": TEMPERATURE, "q3": ATTENTION, "q4": ABLATION}
