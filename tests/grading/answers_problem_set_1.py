"""Answers to problem set 1 as students write them; `changed` says how to read them."""

from __future__ import annotations

import textwrap
from functools import partial

from tests.grading.variants import Variant, changed, exchanged

# ------------------------------------------------------------------ question 1

SPLIT = """
mine = personal_numbers(student_id, "q1")
d_k, m_q, m_k = mine["d_k"], mine["q_mean"] / 10, mine["k_mean"] / 10
shared = set(range(mine["q_start"], mine["q_start"] + mine["q_count"])) & set(
    range(mine["k_start"], mine["k_start"] + mine["k_count"])
)
o, q, k = len(shared), mine["q_count"], mine["k_count"]
trace = d_k + o * (o - 1)
of_query = m_q**2 * (d_k + k * (k - 1))
within = trace + of_query
between = m_k**2 * (d_k + q * (q - 1))
"""
SPLITS = changed(
    r"""
brute force over matrices
    cov_q, cov_k = np.eye(d_k), np.eye(d_k)
    cov_q[mine["q_start"] - 1 :, mine["q_start"] - 1 :][:q, :q] = 1
    cov_k[mine["k_start"] - 1 :, mine["k_start"] - 1 :][:k, :k] = 1
    m_q, m_k = np.full(d_k, m_q), np.full(d_k, m_k)
    within = np.trace(cov_q @ cov_k) + m_q @ cov_k @ m_q
    between = m_k @ cov_q @ m_k
single precision
    within, between = np.float32(within), np.float32(between)
fractions
    \nmine = => from fractions import Fraction
    + mine =
    mine["q_mean"] / 10, mine["k_mean"] / 10 => Fraction(mine["q_mean"], 10), mine["k_mean"]
    m_k**2 => Fraction(m_k, 10) ** 2
arrays without axes, and of one entry
    within, between = np.array(within), [float(between)]
six digits
    within, between = float(f"{within:.6g}"), round(between, 5)
everything as in the theorem | 0 | `within` leaves out
    within, between = d_k, 0
zeros | 0 | `within` is not
    within = between = 0
one of divided scores | 0 | `within` is not
    within, between = 1, 0
no ties at all | 0 | a mean meets the ties
    within, between = d_k + m_q**2 * d_k, m_k**2 * d_k
no mean | 0 | the mean of one side
    within, between = trace, 0
no mean in the query | 0.5 | the mean of one side
    within = trace
no mean in the keys | 0.5 | the mean of one side
    between = 0
no ties in both | 0.5 | tied in both
    within = d_k + of_query
ties of the query | 0.5 | only one of the two vectors has
    within = d_k + q * (q - 1) + of_query
ties of the keys | 0.5 | only one of the two vectors has
    within = d_k + k * (k - 1) + of_query
ties of the other vector | 0 | `between` takes the mean with the wrong ties
    within = trace + m_q**2 * (d_k + q * (q - 1))
    between = m_k**2 * (d_k + k * (k - 1))
means of the other vector | 0 | `within` takes the mean of the wrong vector
    within = trace + m_k**2 * (d_k + k * (k - 1))
    between = m_q**2 * (d_k + q * (q - 1))
a mean that meets no tie | 0.5 | a mean meets the ties
    within = trace + m_q**2 * d_k
two mistakes in one | 0.5 | tied in both vectors, and it leaves out that a mean meets the ties
    within = d_k + m_q**2 * d_k
the mean and not its square | 0 | where its square belongs
    within = trace + m_q * (d_k + k * (k - 1))
    between = m_k * (d_k + q * (q - 1))
the mean in tenths | 0 | a tenth of it is meant
    within, between = trace + 100 * of_query, 100 * between
squares counted twice | 0.5 | squares of tied components twice
    within += o
off by one | 0.5 | counts the components that are tied in both
    within += 2 * o
standard deviations | 0 | `between` is a standard deviation
    within, between = np.sqrt(within), np.sqrt(between)
divided | 0 | scores that were divided
    within, between = within / d_k, between / d_k
changed over | 0.25 | changed them over
    within, between = between, within
means changed over | 0.25 | counts a mean that is no difference between the rows; their sum is right
    within, between = trace + between, of_query
everything within the rows | 0.25 | both parts together
    within, between = within + between, 0
a sum that is right with a negative part | 0 | no variance is
    within, between = within + between + 1, -1
the mean on both sides | 0.5 | no difference between the rows
    between += of_query
the square of the mean score | 0.5 | which does not vary
    between += (d_k * m_q * m_k) ** 2
one number only | 0.5 | `between` has no value yet
    between = None
a variance that is negative | 0.5 | no variance is
    within = -within
rounded | 0 | is not what follows
    within, between = round(within), round(between)
a text | 0.5 | it is a text
    within = str(within)
one number twice | 0.5 | must be one number
    within = [within] * 2
measured | 0 | is not what follows
    rng = np.random.default_rng(1)
    queries, keys = rng.standard_normal((2, 4000, d_k))
    queries[:, mine["q_start"] - 1 :][:, :q] = queries[:, :1]
    keys[:, mine["k_start"] - 1 :][:, :k] = keys[:, :1]
    scores = (queries + m_q) @ (keys + m_k).T
    within = scores.var(axis=1).mean()
    between = scores.mean(axis=1).var()
""",
    partial(exchanged, SPLIT),
)

# ------------------------------------------------------------------ question 2

WIDTHS = """
mine = personal_numbers(student_id, "q2")
n, kept = mine["n"], 1 - mine["shared"] / 100
constant, root, whole = mine["constant"], mine["root"], mine["whole"]
line, widest = 2 * np.log(n), 65536
"""
TABLE = """
def table(line, kept, constant, root, whole):
    d = np.arange(1, widest + 1.0)
    rows = []
    for variance in (kept * d, kept * d / constant**2, kept * root**2 + 0 * d, kept * whole**2 / d):
        beyond = np.flatnonzero(variance > line)
        rows.append([beyond[0] + 1, beyond[-1] + 1] if len(beyond) else [0, 0])
    return np.array(rows)


frozen = table(line, kept, constant, root, whole)
"""
FORMULAS = """
import math

frozen = [
    [math.floor(line / kept) + 1, widest],
    [math.floor(line * constant**2 / kept) + 1, widest],
    [1, widest] if root**2 * kept > line else [0, 0],
    [1, math.ceil(whole**2 * kept / line) - 1],
]
if frozen[3][1] == 0:
    frozen[3] = [0, 0]
"""
DEVIATIONS = """
frozen = []
for divide in (
    lambda d: 1,
    lambda d: constant,
    lambda d: d**0.5 / root,
    lambda d: d / whole,
):
    found = [d for d in range(1, widest + 1) if (kept * d) ** 0.5 / divide(d) > line**0.5]
    frozen.append((found[0], found[-1]) if found else (0, 0))
"""

TABLES = (
    Variant("formulas and lists", WIDTHS + FORMULAS),
    Variant("a loop over standard deviations", WIDTHS + DEVIATIONS),
    Variant("all of them frozen", f"{WIDTHS}frozen = [[1, widest]] * 4", 0.0, "wrong for A, B, D"),
    Variant("none of them frozen", "frozen = np.zeros((4, 2))", 0.0, "wrong for A, B, C, D"),
    *changed(
        r"""
floats in single precision
    frozen = np.float32(frozen)
the correlation forgotten | 0.25 | wrong for A, B, D: what all keys of a row share
    = table(line, kept => = table(line, 1
the shared part kept | 0.25 | kept what the keys share
    = table(line, kept => = table(line, 1 - kept
the correlation squared | 0.5 | not squared
    = table(line, kept => = table(line, 1 - (1 - kept) ** 2
half the line | 0.5 | twice the logarithm
    = table(line => = table(np.log(n)
the root of the line | 0.25 | the square of
    = table(line => = table(np.sqrt(line)
the logarithm to base two | 0.5 | the natural one
    = table(line => = table(2 * np.log2(n)
divisors not squared | 0.25 | by its square
    constant, root, whole)\n => constant**0.5, root**0.5, whole**0.5)\n
multiplied where C and D divide | 0.5 | you multiply
    root, whole)\n => 1 / root, 1 / whole)\n
one width too early | 0.5 | above the line
    frozen += [[-1, 0], [-1, 0], [0, 0], [0, 1]]
one width too late | 0.5 | missing at the edge
    frozen += [[1, 0], [1, 0], [0, 0], [0, -1]]
the last width left out | 0.5 | 65536 is to be tried
    frozen[:3, 1] -= 1
C on the other side | 0.75 | wrong for C
    frozen[2] = 0
largest first | 0.5 | the smallest width comes first
    frozen = frozen[:, ::-1]
across | 0 | must have shape (4, 2)
    frozen = frozen.T
a width that is no whole number | 0 | go through
    frozen = frozen - 0.5
texts | 0 | must be made of numbers
    frozen = frozen.astype(str)
""",
        partial(exchanged, WIDTHS + TABLE),
    ),
)

# ------------------------------------------------------------------ question 3


def behind(body: str, *changes: tuple[str, str]) -> str:
    """Return an answer to question 3 from the body of the function, with pieces exchanged."""
    return (
        'mine = personal_numbers(student_id, "q3")\n'
        'removed, order = mine["removed"], mine["order"] / 10\n\n\n'
        "def positions_behind(scores, divisor):\n"
        + textwrap.indent(exchanged(body, *changes), "    ")
    )


POSITIONS = """
if scores.shape[-1] <= removed:
    return np.zeros(scores.shape[:-1])
scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]
weights = np.exp((scores - scores.max(axis=-1, keepdims=True)) / divisor)
weights = weights / weights.sum(axis=-1, keepdims=True)
return (weights**order).sum(axis=-1) ** (1 / (1 - order))
"""
BY_ROWS = """
rows = np.reshape(scores, (-1, np.shape(scores)[-1]))
found = []
for row in rows:
    left = sorted(row.tolist())[: max(0, len(row) - removed)]
    exponentials = [np.exp((score - left[-1]) / divisor) for score in left]
    total = sum(exponentials)
    powers = sum((each / total) ** order for each in exponentials)
    found.append(powers ** (-1 / (order - 1)) if left else 0)
return np.reshape(found, np.shape(scores)[:-1])
"""
LOGARITHMS = """
if scores.shape[-1] <= removed:
    return np.zeros(scores.shape[:-1])
import math
left = np.partition(scores, scores.shape[-1] - removed - 1, axis=-1)
left = left[..., : scores.shape[-1] - removed] / divisor
left = left - left.max(axis=-1, keepdims=True)
log_sum = np.log(np.exp(left).sum(axis=-1))
log_powers = np.log(np.exp(order * left).sum(axis=-1)) - order * log_sum
return np.exp(log_powers / (1 - order))
"""
UNGUARDED = """
scores = np.sort(scores, axis=-1)[..., :-removed]
weights = np.exp(scores / divisor)
weights = weights / weights.sum(axis=-1, keepdims=True)
powers = (weights**order).sum(axis=-1)
return powers ** (1 / (1 - order)) if scores.shape[-1] else powers + 1
"""
FUNCTIONS = (
    Variant("a loop over rows", behind(BY_ROWS)),
    Variant("logarithms", behind(LOGARITHMS)),
    Variant(
        "short rows and large scores not thought of",
        behind(UNGUARDED),
        0.25,
        "of which no key is left",
    ),
    Variant(
        "what the example says",
        behind("return np.full(np.shape(scores)[:-1], 8.0 - removed)"),
        0.0,
        "a wrong result",
    ),
    Variant("what came in", behind("return scores"), 0.0, "the result has the shape"),
    Variant("nothing", behind("scores / divisor"), 0.0, "returns nothing, or"),
    *changed(
        r"""
single precision in the end
    return (weights => return np.float32((weights
    (1 - order)) => (1 - order)))
nested lists
    return (weights => result = (weights
    return result.tolist()
leaders masked one by one
    scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed] => scores = scores.copy()
    + for _ in range(removed):
    +     leader = scores.argmax(axis=-1)[..., None]
    +     np.put_along_axis(scores, leader, -np.inf, axis=-1)
leaders taken out after softmax | 0.5 | large, or far apart
    scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]\n =>
    return (weights => weights = np.sort(weights, axis=-1)[..., : scores.shape[-1] - removed]
    + weights = weights / weights.sum(axis=-1, keepdims=True)
    + return (weights
nothing against overflow | 0.5 | large, or far apart
    (scores - scores.max(axis=-1, keepdims=True)) / divisor => scores / divisor
a small number in the denominator | 0 | scores of moderate size
    sum(axis=-1, keepdims=True) => sum(axis=-1, keepdims=True) + 1e-3
all that are as large as a leader taken out | 0.75 | rows with equal scores
    scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]\n =>
    weights = np.exp( => lowest = np.sort(scores, axis=-1)[..., -removed][..., None]
    + scores = np.where(scores >= lowest, -np.inf, scores)
    + leader = scores.max(axis=-1, keepdims=True)
    + weights = np.exp(
    scores - scores.max(axis=-1, keepdims=True) => scores - np.where(leader > -np.inf, leader, 0)
one position where none is left | 0.75 | of which no key is left
    zeros => ones
the scores sorted where they are | 0.75 | changes the scores
    \nif => scores.sort(axis=-1)
    + if
    np.sort(scores, axis=-1) => scores
leaders left in | 0 | the leaders are still in the row
    if scores.shape[-1] <= removed:\n    return np.zeros(scores.shape[:-1])\n =>
    scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]\n =>
weights not shared out anew | 0 | scores of moderate size
    scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]\n =>
    return (weights => weights = np.sort(weights, axis=-1)[..., : scores.shape[-1] - removed]
    + weights = weights * (scores.shape[-1] / (scores.shape[-1] - removed))
    + return (weights
the smallest taken out | 0 | take out the smallest
    : scores.shape[-1] - removed => removed:
the divisor forgotten | 0 | no effect
    scores = => divisor = 1.0
    + scores =
multiplied by the divisor | 0 | you multiply
    scores = => divisor = 1 / divisor
    + scores =
the root of the divisor | 0 | the root of the divisor
    scores = => divisor = divisor**0.5
    + scores =
the entropy | 0 | this is exp H
    return (weights => return np.exp(-(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=-1))
    + return (weights
an order of two | 0 | with another order
    return (weights => return 1 / (weights**2).sum(axis=-1)
    + return (weights
the largest weight | 0 | one over the largest weight
    return (weights => return 1 / weights.max(axis=-1)
    + return (weights
no power in the end | 0 | the power 1/(1 − a) is missing
    return (weights => return 1 / (weights
     ** (1 / (1 - order)) =>
one leader only | 0 | another number of keys
    : scores.shape[-1] - removed => :-1
one number for all rows | 0 | the result has the shape
    if scores.shape[-1] <= removed:\n    return np.zeros(scores.shape[:-1])\n =>
    return (weights**order).sum(axis=-1) ** (1 / (1 - order)) => return 8.0 - removed
""",
        partial(behind, POSITIONS),
    ),
)

# ------------------------------------------------------------------ question 4

DRAWN = """
mine = personal_numbers(student_id, "q4")
group, spread = mine["group"], mine["spread"] / 10
tied = group if mine["repeated"] == 2 else 1
rng = np.random.default_rng(17)
pairs = 2000
widths = group * np.array([4, 8, 16, 32, 64])
measured = []
for d_k in widths:
    m = d_k // group
    once, own = rng.standard_normal((pairs, m)), rng.standard_normal((pairs, d_k))
    query = own if mine["repeated"] == 1 else once.repeat(group, axis=1)
    key = rng.standard_normal((pairs, m)).repeat(group, axis=1)
    scores = spread * (query * key).sum(axis=1)
    measured.append(scores.std())
measured = np.array(measured)
formula = spread * np.sqrt(widths * tied)
figure, axes = plt.subplots()
axes.set(xlabel="$d_k$", ylabel="standard deviation", xscale="log", yscale="log")
axes.plot(widths, measured, "o", label="measured")
axes.plot(widths, formula, label="predicted")
axes.legend()
"""
FIGURES = changed(
    r"""
other random numbers
    default_rng(17) => default_rng(None)
a scatter plot and a fine curve
    axes.set(xlabel="$d_k$", ylabel="standard deviation", xscale="log", yscale="log")\n =>
    axes.plot(widths, measured, "o", label="measured") => order = [3, 1, 0, 4, 2]
    + axes.scatter(widths[order], measured[order], label="Measured: 2000 pairs")
    axes.plot(widths, formula, label="predicted") => fine = np.linspace(widths[0], widths[-1], 200)
    + axes.plot(fine, formula[0] * np.sqrt(fine / fine[0]), label="Predicted, √d_k")
    axes.legend() => axes.legend(loc="upper left")
    + axes.set_xlabel("head width")
    + axes.set_ylabel("σ")
    + axes.loglog()
error bars, a legend of the figure and a third line
    pairs = 2000 => pairs = 3000
    , xscale="log", yscale="log" =>
    plot(widths, measured, "o" => errorbar(widths, measured, 0.02 * measured, fmt="s"
    plot(widths, formula => loglog(widths, formula, "--"
    axes.legend() => axes.loglog(widths, widths**0.5, ":", label="usual divisor")
    + figure.legend()
    + plt.show()
lists, and root mean squares
    scores.std() => float(np.mean(scores**2)) ** 0.5
    widths, measured, "o" => widths.tolist(), measured.tolist(), "."
    widths, formula => widths.tolist(), formula.tolist(), "-"
names given to the legend alone
    , label="measured" =>
    , label="predicted" =>
    legend() => legend(["measured", "predicted"])
names given to the legend alone, for dots and a line
    axes.plot(widths, measured, "o", label="measured")\n =>
    axes.plot(widths, formula, label="predicted") => axes.plot(widths, formula)
    + axes.scatter(widths, measured)
    legend() => legend(labels=["predicted (exact)", "measured (2000 pairs)"])
handles and names given to the legend
    axes.plot(widths, measured, "o", => (dots,) = axes.plot(widths, measured, "ko",
    axes.plot(widths, formula => (line,) = axes.plot(widths, formula, "k-"
    label="measured" =>
    label="predicted" => label="theory"
    legend() => legend([line, dots], ["predicted", "measured"])
a legend of the figure with handles and names
    axes.plot(widths, measured, "o", => dots = axes.scatter(widths, measured, marker="x",
    label="measured" =>
    axes.plot(widths, formula, label="predicted") => (line,) = axes.plot(widths, formula, "--")
    axes.legend() => figure.legend(handles=[dots, line], labels=["measured", "predicted"])
stand-ins in the legend
    plot(widths, measured, "o", label="measured") => scatter(widths, measured, color="k")
    label="predicted" => color="k"
    axes.legend() => dot = plt.Line2D([], [], color="k", marker="o", linestyle="")
    + axes.legend([dot, plt.Line2D([], [], color="k")], ["measured", "predicted"])
two legends
    axes.plot(widths, measured, "o", label="measured") => (dots,) = axes.plot(widths, measured, "o")
    , label="predicted" =>
    axes.legend() => axes.add_artist(axes.legend([dots], ["measured"]))
    + axes.legend(axes.lines[1:], ["predicted"], loc="lower right")
dots one by one, the first with a name
    axes.plot(widths, measured, "o", label="measured") => for i in range(5):
    +     axes.scatter(widths[i], measured[i], label="" if i else "measured")
dots one by one in one color, none of the others with a name
    axes.plot(widths, measured, "o", label="measured")\n =>
    axes.plot(widths, formula => axes.plot(widths, formula, "k"
    axes.legend() => for i in range(5):
    +     label = None if i else "measured"
    +     axes.scatter(widths[i], measured[i], color="C0", label=label)
    + axes.legend()
points one by one, each with the name
    axes.plot(widths, measured, "o", => for width, point in zip(widths, measured):
    +     axes.plot(width, point, "s",
error bars one by one
    axes.plot(widths, measured, "o", label="measured") => for i in range(5):
    +     axes.errorbar(widths[i], measured[i], 0.02 * measured[i], fmt="o",
    +         capsize=3, color="r", label=None if i else "measured")
a line in pieces, and lines across the panel
    axes.plot(widths, formula, label="predicted") => for i in range(4):
    +     axes.plot(widths[i : i + 2], formula[i : i + 2], "C0",
    +         label=None if i else "predicted")
    + axes.axhline(formula[0])
    + axes.axvline(widths[0])
a third series that has no number
    axes.legend() => axes.plot(widths, np.full(5, np.nan), label="nothing")
    + axes.legend()
all scores behind the points
    pairs = 2000 => pairs = 30000
    axes.plot(widths, measured => for width in widths:
    +     axes.plot(np.full(pairs, width), np.abs(scores) + 1, "y,")
    + axes.plot(widths, measured
points that a line goes through
    axes.plot(widths, measured, "o", => axes.plot(widths, measured, "o", color="C3",
    axes.plot(widths, formula => axes.plot(widths, measured, "o", color="C3")
    + axes.plot(widths, measured, "-", color="C3", alpha=0.3)
    + axes.plot(widths, formula, "k--"
variances | 0 | this is the variance; its root was asked
    scores.std() => scores.var()
    spread * np.sqrt(widths * tied) => spread**2 * widths * group
the usual formula | 0.75 | the spread of the query is missing, and components of a group
    spread * np.sqrt(widths * tied) => np.sqrt(widths)
ties left out of the prediction | 0.75 | `predicted`: components of a group
    widths * tied => widths
ties left out of the draws | 0.5 | `measured`: components of a group
    query = own if mine["repeated"] == 1 else once.repeat(group, axis=1) => query = own
    (pairs, m)).repeat(group, axis=1) => (pairs, d_k))
queries left untied | 0.5 | `measured`: components of a group
    query = own if mine["repeated"] == 1 else once.repeat(group, axis=1) => query = own
standard normal queries | 0.5 | a standard deviation of their own
    spread * (query => (query
the spread in the keys as well | 0.5 | enters once
    spread * (query => spread**2 * (query
divided scores | 0.5 | spread of divided scores
    .sum(axis=1) => .sum(axis=1) / np.sqrt(d_k)
the spread in tenths | 0.75 | a tenth of it is meant
    formula = spread * np.sqrt(widths * tied) => formula = mine["spread"] * np.sqrt(widths * group)
a sum that grows like the width | 0.75 | does not grow like their number
    np.sqrt(widths * tied) => widths * np.sqrt(group)
groups for widths | 0 | one point at each of your five widths
    widths * tied => widths
    plot(widths => plot(widths // group
ten pairs | 0.5 | further off than chance
    pairs = 2000 => pairs = 10
    default_rng(17) => default_rng(3)
the formula for the measurement | 0.5 | was not measured
    scores.std() => 1.0
    widths, measured => widths, formula
the formula with a constant error for the measurement | 0.5 | was not measured
    scores.std() => 1.0
    widths, measured => widths, 1.01 * formula
the measurement for the formula | 0.75 | `predicted` is not the standard deviation
    widths, formula => widths, measured
a line that stops early | 0.75 | does not reach
    widths, formula => widths[:-1], formula[:-1]
no labels of the axes | 0.75 | an axis has no label
    xlabel="$d_k$", ylabel="standard deviation",  =>
no legend | 0.75 | the legend has no entry
    axes.legend()\n =>
linear axes | 0.75 | should be logarithmic
    , xscale="log", yscale="log" =>
another language | 0.25 | begins with `measured`
    label="measured" => label="gemessen"
a legend with other names | 0.75 | the legend has no entry that begins with `measured`
    axes.legend() => axes.legend(["points", "line"])
names in the legend the wrong way round | 0.75 | the legend calls the points `predicted`
    , label="measured" =>
    , label="predicted" =>
    legend() => legend(["predicted", "measured"])
four dots | 0.5 | one point at each of your five widths
    axes.plot(widths, measured, "o", label="measured") => for i in range(4):
    +     axes.scatter(widths[i], measured[i], label="" if i else "measured")
axes for a figure | 0 | or is no figure
    figure = axes
two pairs of axes | 0.75 | should have one pair of axes
    plt.axes((0, 0, 1, 1))
an empty figure in due form | 0 | has no points
    widths, measured, "o" => [], []
    widths, formula => [], []
""",
    partial(exchanged, DRAWN),
)

VARIANTS = {"q1": SPLITS, "q2": TABLES, "q3": FUNCTIONS, "q4": FIGURES}
