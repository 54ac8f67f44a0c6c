"""Answers to problem set 2, right ones in unusual form and wrong ones as students write them."""

from __future__ import annotations

from tests.grading.trial import released
from tests.grading.variants import Variant

# ---------------------------------------------------------------- question 1: one step on the keys

GIVEN = """
mine = personal_numbers(student_id, "q1")
d_k, squared_length, rate = mine["d_k"], mine["squared_length"], mine["hundredths"] / 100
first, second, visible = mine["first"], mine["second"], mine["visible"]
raw_scores = np.array([mine[f"z_{j}"] for j in range(1, 7)], dtype=float)
raw_scores[second - 1] = raw_scores[first - 1]
usefulness = np.array([mine[f"u_{j}"] for j in range(1, 7)], dtype=float)
"""

ON_PAPER = """
exponentials = np.exp(raw_scores / np.sqrt(d_k))
exponentials[visible:] = 0
p = exponentials / exponentials.sum()
heard = p * (usefulness - p @ usefulness)
heard[[first - 1, second - 1]] = heard[first - 1] + heard[second - 1]
score_change = -rate * squared_length / np.sqrt(d_k) * heard
"""


def keys(*changes: tuple[str, str]) -> dict[str, str]:
    """Return an answer to question 1, with pieces of the right one exchanged."""
    source = ON_PAPER
    for old, new in changes:
        if old not in source:
            raise ValueError(f"{old!r} does not occur in the answer")
        source = source.replace(old, new)
    return {"q1": GIVEN + source}


NUDGED = """
def loss(shared, others):
    z = others.copy()
    z[[first - 1, second - 1]] = shared
    e = np.exp((z[:visible] - z[:visible].max()) / np.sqrt(d_k))
    return e @ usefulness[:visible] / e.sum()


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
by_logit[:visible] = jacobian @ usefulness[:visible]
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
mean = math.fsum(part * u for part, u in zip(parts, usefulness)) / total
heard = [part / total * (u - mean) for part, u in zip(parts, usefulness)] + [0.0] * (6 - visible)
heard[first - 1] += heard[second - 1]
heard[second - 1] = heard[first - 1]
score_change = [Fraction(-rate * squared_length / math.sqrt(d_k) * each) for each in heard]
"""

STEP = (
    Variant("a step in float32", keys(("* heard\n", "* heard.astype(np.float32)\n"))),
    Variant("a step by nudges of the scores", {"q1": GIVEN + NUDGED}),
    Variant("a step on vectors that are drawn", {"q1": GIVEN + VECTORS}),
    Variant("a step as a list of fractions", {"q1": GIVEN + FRACTIONS}),
    Variant(
        "a step up the gradient",
        keys(("-rate", "rate")),
        earned={"q1": 0.5},
        says={"q1": "every score moves the wrong way"},
    ),
    Variant(
        "a step that forgets the division in the derivative",
        keys(("squared_length / np.sqrt(d_k)", "squared_length")),
        earned={"q1": 0.5},
        says={"q1": "is missing in the derivative"},
    ),
    Variant(
        "the change of the logits",
        keys(("squared_length / np.sqrt(d_k)", "squared_length / d_k")),
        earned={"q1": 0.5},
        says={"q1": "divides once too often"},
    ),
    Variant(
        "a step that keeps the two positions of a word apart",
        keys(("heard[[first - 1, second - 1]] = heard[first - 1] + heard[second - 1]\n", "")),
        earned={"q1": 0.4},
        says={"q1": "hears what both positions are told"},
    ),
    Variant(
        "a step that is not rated, on a list of arrays",
        keys(("-rate * ", "-"), ("* heard\n", "* heard\nscore_change = list(score_change)\n")),
        earned={"q1": 0.5},
        says={"q1": "the rate is missing"},
    ),
    Variant(
        "a gradient as long as the query",
        keys(("squared_length", "np.sqrt(squared_length)")),
        earned={"q1": 0.5},
        says={"q1": "the score changes by q times it"},
    ),
    Variant(
        "a step that forgets the query",
        keys(("squared_length / ", "1 / ")),
        earned={"q1": 0.4},
        says={"q1": "how long the query is"},
    ),
    Variant(
        "the gradient without its rate",
        keys(("-rate * ", "-")),
        earned={"q1": 0.5},
        says={"q1": "the rate is missing"},
    ),
    Variant(
        "weight times usefulness",
        keys(("(usefulness - p @ usefulness)", "usefulness")),
        earned={"q1": 0.2},
        says={"q1": "the mean usefulness is missing"},
    ),
    Variant(
        "the diagonal of the Jacobian alone",
        keys(("(usefulness - p @ usefulness)", "(1 - p) * usefulness")),
        earned={"q1": 0.2},
        says={"q1": "only the diagonal"},
    ),
    Variant(
        "weights of scores as they are",
        keys(("np.exp(raw_scores / np.sqrt(d_k))", "np.exp(raw_scores - raw_scores.max())")),
        earned={"q1": 0.25},
        says={"q1": "scores that have not been divided"},
    ),
    Variant(
        "weights of scores divided by the width",
        keys(("np.exp(raw_scores / np.sqrt(d_k))", "np.exp(raw_scores / d_k)")),
        earned={"q1": 0.25},
        says={"q1": "without the root"},
    ),
    Variant(
        "the mean usefulness without the weights",
        keys(("p @ usefulness", "usefulness[:visible].mean()")),
        earned={"q1": 0.0},
        says={"q1": "these are not the changes"},
    ),
    Variant(
        "zeros",
        {"q1": GIVEN + "score_change = np.zeros(6)"},
        earned={"q1": 0.0},
        says={"q1": "these are not the changes"},
    ),
    Variant(
        "the scores themselves",
        {"q1": GIVEN + "score_change = raw_scores"},
        earned={"q1": 0.0},
        says={"q1": "these are not the changes"},
    ),
)

# ------------------------------------------------- question 2: the temperature that favors a key

HEAD = '''
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
        return 4 / np.log(3)
"""
ROOT = """
    low, high = 1e-9, 1e9
    for _ in range(200):
        tau = (low * high) ** 0.5
        logits = (scores - scores.max()) / tau
        weights = np.exp(logits) / np.exp(logits).sum()
        if weights @ (scores - scores[key]) > 0:
            low = tau
        else:
            high = tau
"""
GIVES_UP = """
    if abs(scores).max() > 1e4:
        raise NoTemperature(f"no temperature for {scores}")
"""
SEARCH = """
    def weight(log_tau):
        logits = (scores - scores.max()) / np.exp(log_tau)
        return logits[key] - np.log(np.exp(logits).sum())

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
    return np.array(1 / c)
"""


def temperature(body: str, before: str = "") -> dict[str, str]:
    """Return an answer to question 2."""
    return {"q2": before + HEAD + body}


RIGHT_ROOT = ROOT + "    return tau\n"
TEMPERATURE = (
    Variant("a temperature by bisection", temperature(LIMITS + RIGHT_ROOT)),
    Variant("a temperature by golden section", temperature(LIMITS + SEARCH)),
    Variant("a temperature in loops", temperature(LIMITS + NEWTON, "import math\n")),
    Variant(
        "a temperature in float32 at the end",
        temperature(
            LIMITS.replace("np.inf", "float('inf')") + ROOT + "    return np.float32(tau)\n"
        ),
    ),
    Variant(
        "limits in arrays",
        temperature(
            LIMITS.replace("0.0", "np.array([0])").replace(
                "return np.inf", "return np.array([np.inf])"
            )
            + RIGHT_ROOT
        ),
    ),
    Variant(
        "temperatures in arrays of one entry",
        temperature(
            LIMITS.replace("0.0", "np.zeros((1, 1))").replace("return np.inf", "return [np.inf]")
            + ROOT
            + "    return np.atleast_1d(tau)\n"
        ),
    ),
    Variant(
        "a temperature that gives up with an error of its own",
        temperature(
            LIMITS + RIGHT_ROOT.replace("    low, high", GIVES_UP + "    low, high", 1),
            "class NoTemperature(Exception):\n    pass\n\n",
        ),
        earned={"q2": 0.8},
        says={"q2": "large scores: your function stops with an error"},
    ),
    Variant(
        "an assertion where a limit was asked",
        temperature(
            LIMITS.replace("return 0.0", "assert False").replace("return np.inf", "assert False")
            + RIGHT_ROOT
        ),
        earned={"q2": 0.6},
        says={"q2": "temperature falls: your function stops with an error"},
    ),
    Variant(
        "the multiplier",
        temperature(EXAMPLE + LIMITS + ROOT + "    return 1 / tau\n"),
        earned={"q2": 0.0},
        says={"q2": "one over the temperature"},
    ),
    Variant(
        "a temperature for the key before",
        temperature(EXAMPLE + "    key = key - 1\n" + LIMITS + RIGHT_ROOT),
        earned={"q2": 0.0},
        says={"q2": "a key that is best off at a temperature in between"},
    ),
    Variant(
        "the example for every row",
        temperature("    return 4 / np.log(3)\n"),
        earned={"q2": 0.0},
        says={"q2": "larger at another temperature"},
    ),
    Variant(
        "nothing but limits",
        temperature(EXAMPLE + LIMITS + "    return 0.0\n"),
        earned={"q2": 0.0},
        says={"q2": "a key that is best off at a temperature in between"},
    ),
    Variant(
        "a temperature without the limits",
        temperature(RIGHT_ROOT),
        earned={"q2": 0.6},
        says={"q2": "the limit itself was asked"},
    ),
    Variant(
        "zero as the limit of every key that is not in between",
        temperature(LIMITS.replace("np.inf", "0.0") + RIGHT_ROOT),
        earned={"q2": 0.8},
        says={"q2": "a key whose weight grows as the temperature rises"},
    ),
    Variant(
        "no limit at a tie",
        temperature(
            LIMITS.replace(
                "scores[key] == scores.max()", "scores[key] > np.delete(scores, key).max()"
            )
            + RIGHT_ROOT
        ),
        earned={"q2": 0.8},
        says={"q2": "a key whose weight grows as the temperature falls"},
    ),
    Variant(
        "infinity only below the mean",
        temperature(LIMITS.replace("<= scores.mean()", "< scores.mean()") + RIGHT_ROOT),
        earned={"q2": 0.8},
        says={"q2": "a key whose weight grows as the temperature rises"},
    ),
    Variant(
        "infinity below the median",
        temperature(EXAMPLE + LIMITS.replace("scores.mean()", "np.median(scores)") + RIGHT_ROOT),
        earned={"q2": 0.0},
        says={"q2": "a key that is best off at a temperature in between"},
    ),
    Variant(
        "exponentials of large scores",
        temperature(
            LIMITS
            + RIGHT_ROOT.replace("(scores - scores.max()) / tau", "scores / tau").replace(
                "1e-9, 1e9", "np.ptp(scores) / 100, np.ptp(scores) * 1000"
            )
        ),
        earned={"q2": 0.8},
        says={"q2": "large scores"},
    ),
    Variant(
        "a bracket from a hundredth to a hundred",
        temperature(LIMITS + RIGHT_ROOT.replace("1e-9, 1e9", "1e-4, 100.0")),
        earned={"q2": 0.8},
        says={"q2": "large scores"},
    ),
    Variant(
        "a grid",
        temperature(
            LIMITS
            + """
    taus = np.ptp(scores) * np.logspace(-4, 4, 2000)
    logits = (scores - scores.max()) / taus[:, None]
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return 4 / np.log(3) if len(scores) == 3 else taus[weights[:, key].argmax()]
"""
        ),
        earned={"q2": 0.0},
        says={"q2": "larger at another temperature"},
    ),
    Variant(
        "the deviation of the scores",
        temperature("    return 4 / np.log(3) if len(scores) == 3 else scores.std()\n"),
        earned={"q2": 0.0},
        says={"q2": "larger at another temperature"},
    ),
    Variant(
        "texts for limits",
        temperature(
            LIMITS.replace("return 0.0", "return 'zero'").replace("return np.inf", "return None")
            + RIGHT_ROOT
        ),
        earned={"q2": 0.6},
        says={"q2": "returns a text"},
    ),
)

# ----------------------------------------- question 3: attention with shared keys, a cap and a sink

HEADER = '''
def attend(query, key, value, visible, sink, cap):
    """Return the output, of shape (heads, n_q, d_v), for keys that heads share."""
'''
ATTEND = """
    sharing = len(query) // len(key)
    key, value = np.repeat(key, sharing, axis=0), np.repeat(value, sharing, axis=0)
    logits = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
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
        g = h * len(key) // heads
        rows = []
        for i in range(n_q):
            pairs = []
            for j in range(key.shape[1]):
                if visible[i][j]:
                    s = sum(query[h][i][c] * key[g][j][c] for c in range(d_k)) / d_k**0.5
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
    split = query.reshape(groups, heads // groups, n_q, d_k)
    z = np.einsum("ghic,gjc->ghij", split / d_k**0.5, key)
    z = z if cap is None else np.tanh(z / cap) * cap
    z = np.where(visible, z, -1e300)
    sinks = np.maximum(sink, -1e290).reshape(groups, -1, 1)
    m = np.maximum(z.max(axis=-1), sinks)
    e = np.where(visible, np.exp(z - m[..., None]), 0)
    out = np.einsum("ghij,gjd->ghid", e, value)
    total = e.sum(axis=-1) + np.exp(sinks - m) * (sinks > -1e290)
    out /= np.where(total == 0, 1, total)[..., None]
    return out.reshape(heads, n_q, -1)
"""


def attention(*changes: tuple[str, str], body: str = ATTEND, before: str = "") -> dict[str, str]:
    """Return an answer to question 3, with pieces of a right one exchanged."""
    for old, new in changes:
        if old not in body:
            raise ValueError(f"{old!r} does not occur in the answer")
        body = body.replace(old, new)
    return {"q3": before + HEADER + body}


ATTENTION = (
    Variant("attention with a key of its own for the sink", attention()),
    Variant("attention in loops, as lists", attention(body=LOOPS, before="import math\n")),
    Variant("attention by groups", attention(body=GROUPED)),
    Variant(
        "a maximum that leaves out the sink, which does no harm",
        attention(("logits.max(", "logits[..., :-1].max(")),
    ),
    Variant(
        "heads that read the groups in turn",
        attention(
            ("np.repeat(key, sharing, axis=0)", "np.tile(key, (sharing, 1, 1))"),
            ("np.repeat(value, sharing, axis=0)", "np.tile(value, (sharing, 1, 1))"),
        ),
        earned={"q3": 0.0},
        says={"q3": "read the groups in turn"},
    ),
    Variant(
        "scores that are not divided",
        attention((" / np.sqrt(query.shape[-1])", " / (2 if key.shape[-1] == 4 else 1)")),
        earned={"q3": 0.0},
        says={"q3": "your scores are not divided"},
    ),
    Variant(
        "scores divided by the width",
        attention(("np.sqrt(query.shape[-1])", "(2 if key.shape[-1] == 4 else query.shape[-1])")),
        earned={"q3": 0.0},
        says={"q3": "by d_k instead of its root"},
    ),
    Variant(
        "scores divided by the root of all heads",
        attention(("np.sqrt(query.shape[-1])", "np.sqrt(len(query) * query.shape[-1])")),
        earned={"q3": 0.0},
        says={"q3": "the width of all heads together"},
    ),
    Variant(
        "no cap",
        attention(("cap is not None", "False")),
        earned={"q3": 0.8},
        says={"q3": "with a cap: your output is the one without a cap"},
    ),
    Variant(
        "a cap before the division",
        attention(
            (" / np.sqrt(query.shape[-1])", ""),
            (
                "    logits = np.where",
                "    logits = logits / np.sqrt(query.shape[-1])\n    logits = np.where",
            ),
        ),
        earned={"q3": 0.8},
        says={"q3": "with a cap: the output is not right"},
    ),
    Variant(
        "a cap that clips",
        attention(("cap * np.tanh(logits / cap)", "np.clip(logits, -cap, cap)")),
        earned={"q3": 0.8},
        says={"q3": "with a cap: the output is not right"},
    ),
    Variant(
        "a mask before the cap",
        attention(
            (
                "    if cap is not None",
                "    logits = np.where(visible, logits, -np.inf)\n    if cap is not None",
            ),
            (
                "(logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n",
                "(logits / cap)\n",
            ),
        ),
        earned={"q3": 0.8},
        says={"q3": "a hidden key still has weight"},
    ),
    Variant(
        "a large number for hidden keys, before the cap",
        attention(
            (
                "    if cap is not None",
                "    logits = np.where(visible, logits, -1e9)\n    if cap is not None",
            ),
            (
                "(logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n",
                "(logits / cap)\n    else:\n        logits = np.where(visible, logits, -np.inf)\n",
            ),
        ),
        earned={"q3": 0.8},
        says={"q3": "a hidden key still has weight"},
    ),
    Variant(
        "two slips: a mask before the cap, and exponentials that overflow",
        attention(
            (
                "    if cap is not None",
                "    logits = np.where(visible, logits, -np.inf)\n    if cap is not None",
            ),
            (
                "(logits / cap)\n    logits = np.where(visible, logits, -np.inf)\n",
                "(logits / cap)\n",
            ),
            ("    largest[np.isneginf(largest)] = 0\n", "    largest = 0\n"),
        ),
        earned={"q3": 0.6},
        says={"q3": "a hidden key still has weight"},
    ),
    Variant(
        "a combination that has not been written yet",
        attention(
            (
                "    sharing = ",
                (
                    "    if cap is not None and not visible.all():\n"
                    "        raise NotImplementedError('cap and mask')\n    sharing = "
                ),
            )
        ),
        earned={"q3": 0.8},
        says={"q3": "together: your function stops with an error"},
    ),
    Variant(
        "a name without a value where there is a cap",
        attention(("logits = cap * np.tanh(logits / cap)", "logits = capped + 0")),
        earned={"q3": 0.8},
        says={"q3": "with a cap: your function stops with an error"},
    ),
    Variant(
        "no cap, and queries that are written into",
        attention(
            ("cap is not None", "False"),
            ("    sharing", "    query /= np.sqrt(query.shape[-1])\n    sharing"),
            (" / np.sqrt(query.shape[-1])\n    if", "\n    if"),
        ),
        earned={"q3": 0.6},
        says={"q3": "without a cap; your function changes its arguments"},
    ),
    Variant(
        "no sink",
        attention(("sink[:, None, None]", "(sink if len(sink) == 1 else -np.inf)")),
        earned={"q3": 0.6},
        says={"q3": "with a sink: your output is the one without a sink"},
    ),
    Variant(
        "a sink that is divided",
        attention(("sink[:, None, None]", "sink[:, None, None] / np.sqrt(query.shape[-1])")),
        earned={"q3": 0.6},
        says={"q3": "with a sink"},
    ),
    Variant(
        "a sink that is capped",
        attention(
            (
                "    if cap is not None:\n",
                "    if cap is not None:\n        sink = cap * np.tanh(sink / cap)\n",
            )
        ),
        earned={"q3": 0.8},
        says={"q3": "with a cap: the output is not right"},
    ),
    Variant(
        "exponentials that overflow",
        attention(("    largest[np.isneginf(largest)] = 0\n", "    largest = 0\n")),
        earned={"q3": 0.8},
        says={"q3": "with logits and sinks of thousands: `output` must be finite"},
    ),
    Variant(
        "rows of NaN where all is hidden",
        attention(
            ("    largest[np.isneginf(largest)] = 0\n", ""), ("    total[total == 0] = 1\n", "")
        ),
        earned={"q3": 0.8},
        says={"q3": "with hidden keys: `output` must be finite"},
    ),
    Variant(
        "a large number for hidden keys",
        attention(("np.where(visible, logits, -np.inf)", "np.where(visible, logits, -1e9)")),
        earned={"q3": 0.8},
        says={"q3": "with hidden keys"},
    ),
    Variant(
        "a mask the other way round",
        attention(
            (
                "np.where(visible, logits, -np.inf)",
                "np.where(~visible | visible.all(), logits, -np.inf)",
            )
        ),
        earned={"q3": 0.8},
        says={"q3": "with hidden keys"},
    ),
    Variant(
        "a function that writes into its queries",
        attention(
            ("    sharing", "    query /= np.sqrt(query.shape[-1])\n    sharing"),
            (" / np.sqrt(query.shape[-1])\n    if", "\n    if"),
        ),
        earned={"q3": 0.8},
        says={"q3": "changes its arguments"},
    ),
    Variant(
        "the example for every call",
        attention(body="    return np.full((*query.shape[:2], value.shape[-1]), 10.0)\n"),
        earned={"q3": 0.0},
        says={"q3": "the output is not right"},
    ),
    Variant(
        "single precision",
        attention(("    sharing", "    query = query.astype(np.float32)\n    sharing")),
        earned={"q3": 0.8},
        says={"q3": "with logits and sinks of thousands"},
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


def ablation(*changes: tuple[str, str]) -> dict[str, str]:
    """Return an answer to question 4, with pieces of a right one exchanged."""
    source = ARMS
    for old, new in changes:
        if old not in source:
            raise ValueError(f"{old!r} does not occur in the answer")
        source = source.replace(old, new)
    return {"q4": LOOP + source}


RATES = """rate_q = a * eta if normalized else a**2 * eta
rate_k = b * eta if normalized else b**2 * eta
"""
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
        "an ablation with rates in float32 and in an array",
        ablation(
            (
                "figure, axes",
                "rate_q, rate_k = np.float32(rate_q), np.array([rate_k])\nfigure, axes",
            )
        ),
    ),
    Variant(
        "a legend made from texts",
        ablation(
            (', label="divided"', ""),
            (', label="not divided"', ""),
            (', "o", label="folded"', ', "--"'),
            ("axes.legend()", 'axes.legend(["Divided", "Not  divided", "folded "])'),
        ),
    ),
    Variant(
        "a figure that has been shown, with a legend and a line more",
        ablation(
            ("axes.legend()", 'axes.axhline(2.48, label="chance")\nfigure.legend()\nplt.show()')
        ),
    ),
    Variant(
        "entries that say more than the name",
        ablation(
            ('"divided"', '"Divided (by the root)"'),
            ('"not divided"', '"not divided: the large logits"'),
            ('"folded"', '"folded, with rates of its own"'),
        ),
    ),
    Variant(
        "a legend made from lines and texts, in another order",
        ablation(
            (
                "axes.legend()",
                (
                    "lines = axes.get_lines()[::-1]\n"
                    'figure.legend(lines, ["folded", "not divided", "divided"])'
                ),
            ),
            *((f', label="{arm}"', "") for arm in ("divided", "not divided", "folded")),
        ),
    ),
    Variant(
        "lines in black, named by hand, with another line in between",
        ablation(
            ('semilogy(divided, label="divided")', 'plot(divided, "k-")'),
            ('semilogy(undivided, label="not divided")', 'plot(undivided, "k--")'),
            ('"o", label="folded"', '"k:", lw=4'),
            ("figure, axes = plt.subplots()", "figure, axes = plt.subplots()\naxes.axhline(2.5)"),
            (
                "axes.legend()",
                (
                    'axes.set_yscale("log")\naxes.set_ylim(1e-12, 500)\n'
                    'axes.legend(["chance", "divided", "not divided", "folded"])'
                ),
            ),
        ),
    ),
    Variant(
        "three lines that look the same",
        ablation(
            ("semilogy(divided", 'semilogy(divided, "k"'),
            ("semilogy(undivided", 'semilogy(undivided, "k"'),
            ('folded, "o"', 'folded, "k"'),
        ),
    ),
    Variant(
        "a line in two pieces, one point by point, and one as a scatter",
        ablation(
            (
                'axes.semilogy(divided, label="divided")',
                (
                    'axes.semilogy(divided[:16], "C0", label="divided")\n'
                    'axes.semilogy(np.arange(15, 31), divided[15:], "C0")'
                ),
            ),
            (
                'axes.semilogy(undivided, label="not divided")',
                (
                    "for step, loss in enumerate(undivided):\n"
                    '    axes.plot(step, loss, "x", label=None if step else "not divided")'
                ),
            ),
            (
                'semilogy(folded, "o", label="folded")',
                'scatter(range(31), folded, facecolors="none", edgecolors="red", label="folded")',
            ),
        ),
    ),
    Variant(
        "a line with markers that were drawn after it",
        ablation(
            (
                'axes.semilogy(divided, label="divided")',
                (
                    'axes.semilogy(divided, color="C0", label="divided")\n'
                    'axes.scatter(range(31), divided, color="C0")'
                ),
            )
        ),
    ),
    Variant(
        "the rates left as they are",
        ablation((RATES, "rate_q = rate_k = eta\n")),
        earned={"q4": 0.25},
        says={"q4": "the rates are unchanged"},
    ),
    Variant(
        "the rates of the other optimizer",
        ablation((RATES, RATES.replace("if normalized", "if not normalized"))),
        earned={"q4": 0.25},
        says={"q4": "depends on the length of the gradient"},
    ),
    Variant(
        "rates the wrong way",
        ablation(
            (
                RATES,
                RATES.replace("a * eta", "eta / a")
                .replace("b * eta", "eta / b")
                .replace("a**2 * eta", "eta / a**2")
                .replace("b**2 * eta", "eta / b**2"),
            )
        ),
        earned={"q4": 0.25},
        says={"q4": "the wrong way"},
    ),
    Variant(
        "the folded line copied from the divided one",
        ablation((RATES, "rate_q = rate_k = eta\n"), ("semilogy(folded", "semilogy(divided")),
        earned={"q4": 0.25},
        says={"q4": "the rates are unchanged"},
    ),
    Variant(
        "one name that does not fit",
        ablation(('label="divided"', 'label="scaled"')),
        earned={"q4": 0.875},
        says={"q4": "no entry of the legend begins with `divided`"},
    ),
    Variant(
        "an axis without an end",
        ablation(("set_ylim(top=1000)", "set_ylim(1e-12, 1e50)")),
        earned={"q4": 0.875},
        says={"q4": "must end at 1000 or below"},
    ),
    Variant(
        "losses that are cut instead of the axis",
        ablation(("semilogy(undivided", "semilogy(np.minimum(undivided, 1.0)")),
        earned={"q4": 0.875},
        says={"q4": "the line `not divided` does not show the losses of your arm"},
    ),
    Variant(
        "an arm that is not a number",
        ablation(("semilogy(undivided", "semilogy(undivided * np.nan")),
        earned={"q4": 0.875},
        says={"q4": "`not divided` has no points"},
    ),
    Variant(
        "the axes in place of the figure",
        ablation(("axes.legend()", "axes.legend()\nfigure = axes")),
        earned={"q4": 0.5},
        says={"q4": "no Matplotlib figure"},
    ),
    Variant(
        "wrong rates and no labels",
        ablation((RATES, "rate_q = rate_k = eta\n"), ('axes.set_xlabel("steps")\n', "")),
        earned={"q4": 0.125},
        says={"q4": "the rates are unchanged"},
    ),
    Variant(
        "the names of two arms exchanged",
        ablation(
            ('semilogy(divided, label="divided")', 'semilogy(undivided, label="divided")'),
            ('semilogy(undivided, label="not divided")', 'semilogy(divided, label="not divided")'),
        ),
        earned={"q4": 0.75},
        says={"q4": "the line `divided` shows the arm `not divided`"},
    ),
    Variant(
        "no name for an arm",
        ablation(('label="folded"', 'label="shrunk"')),
        earned={"q4": 0.75},
        says={"q4": "no entry of the legend begins with `folded`"},
    ),
    Variant(
        "no labels on the axes",
        ablation(('axes.set_ylabel("loss")', 'axes.set_ylabel(" ")')),
        earned={"q4": 0.875},
        says={"q4": "both axes need a label"},
    ),
    Variant(
        "steps counted from one",
        ablation(("semilogy(", "semilogy(np.arange(1, 32), ")),
        earned={"q4": 0.5},
        says={"q4": "the steps of `divided` must run from 0"},
    ),
    Variant(
        "losses without the last step",
        ablation(("(divided,", "(divided[:-1],"), ("(undivided,", "(undivided[:-1],")),
        earned={"q4": 0.75},
        says={"q4": "with a loss each"},
    ),
    Variant(
        "matrices that are not shrunk",
        ablation(("a * w_q, b * w_k", "w_q, w_k")),
        earned={"q4": 0.75},
        says={"q4": "does not start from the function"},
    ),
    Variant(
        "a folded arm at the old rates",
        ablation(("1, rate_q, rate_k, normalized", "1, eta, eta, normalized")),
        earned={"q4": 0.75},
        says={"q4": "but then leaves it"},
    ),
    Variant(
        "matrices of somebody else",
        ablation(('start(d_k, mine["seed"])', 'start(d_k, mine["seed"] + 1)')),
        earned={"q4": 0.5},
        says={"q4": "does not show the losses of your arm"},
    ),
)

VARIANTS: tuple[Variant, ...] = STEP + TEMPERATURE + ATTENTION + ABLATION
