"""Answers to problem set 1 as students write them."""

from __future__ import annotations

from tests.grading.variants import Variant

# ------------------------------------------------------------------ question 1

SPLIT = """
mine = personal_numbers(student_id, "q1")
d_k, m_q, m_k = mine["d_k"], mine["q_mean"] / 10, mine["k_mean"] / 10
shared = set(range(mine["q_start"], mine["q_start"] + mine["q_count"])) & set(
    range(mine["k_start"], mine["k_start"] + mine["k_count"])
)
o, q, k = len(shared), mine["q_count"], mine["k_count"]
"""


def split(within: str, between: str) -> str:
    """Return an answer to question 1, from one expression for each number."""
    return f"{SPLIT}within = {within}\nbetween = {between}\n"


TRACE = "d_k + o * (o - 1)"
OF_QUERY = "m_q**2 * (d_k + k * (k - 1))"
WITHIN = f"{TRACE} + {OF_QUERY}"
BETWEEN = "m_k**2 * (d_k + q * (q - 1))"
SPLITS = (
    Variant(
        "q1: brute force over matrices",
        {
            "q1": SPLIT
            + """
cov_q, cov_k = np.eye(d_k), np.eye(d_k)
cov_q[mine["q_start"] - 1 :, mine["q_start"] - 1 :][:q, :q] = 1
cov_k[mine["k_start"] - 1 :, mine["k_start"] - 1 :][:k, :k] = 1
m_q, m_k = np.full(d_k, m_q), np.full(d_k, m_k)
within = np.trace(cov_q @ cov_k) + m_q @ cov_k @ m_q
between = m_k @ cov_q @ m_k
"""
        },
    ),
    Variant(
        "q1: single precision",
        {"q1": f"{SPLIT}within = np.float32({WITHIN})\nbetween = np.float32({BETWEEN})"},
    ),
    Variant(
        "q1: fractions",
        {
            "q1": "from fractions import Fraction\n"
            + SPLIT
            + "m_q, m_k = Fraction(mine['q_mean'], 10), Fraction(mine['k_mean'], 10)\n"
            + f"within = {WITHIN}\nbetween = {BETWEEN}"
        },
    ),
    Variant(
        "q1: arrays without axes, and of one entry",
        {"q1": f"{SPLIT}within = np.array({WITHIN})\nbetween = [float({BETWEEN})]"},
    ),
    Variant(
        "q1: six digits",
        {"q1": f"{SPLIT}within = float(f'{{{WITHIN}:.6g}}')\nbetween = round({BETWEEN}, 5)"},
    ),
    *(
        Variant(f"q1: {name}", {"q1": split(within, between)}, {"q1": earned}, {"q1": words})
        for name, within, between, earned, words in (
            ("everything as in the theorem", "d_k", "0", 0.0, "`within` leaves out"),
            ("zeros", "0", "0", 0.0, "`within` is not"),
            ("one of divided scores", "1", "0", 0.0, "`within` is not"),
            ("no ties at all", "d_k + m_q**2 * d_k", "m_k**2 * d_k", 0.0, "a mean meets the ties"),
            ("no mean", TRACE, "0", 0.0, "the mean of one side"),
            ("no mean in the query", TRACE, BETWEEN, 0.5, "the mean of one side"),
            ("no mean in the keys", WITHIN, "0", 0.5, "the mean of one side"),
            ("no ties in both", f"d_k + {OF_QUERY}", BETWEEN, 0.5, "tied in both"),
            (
                "ties of the query",
                f"d_k + q * (q - 1) + {OF_QUERY}",
                BETWEEN,
                0.5,
                "only one of the two vectors has",
            ),
            (
                "ties of the keys",
                f"d_k + k * (k - 1) + {OF_QUERY}",
                BETWEEN,
                0.5,
                "only one of the two vectors has",
            ),
            (
                "ties of the other vector",
                f"{TRACE} + m_q**2 * (d_k + q * (q - 1))",
                "m_k**2 * (d_k + k * (k - 1))",
                0.0,
                "`between` takes the mean with the wrong ties",
            ),
            (
                "means of the other vector",
                f"{TRACE} + m_k**2 * (d_k + k * (k - 1))",
                "m_q**2 * (d_k + q * (q - 1))",
                0.0,
                "`within` takes the mean of the wrong vector",
            ),
            (
                "a mean that meets no tie",
                f"{TRACE} + m_q**2 * d_k",
                BETWEEN,
                0.5,
                "a mean meets the ties",
            ),
            (
                "two mistakes in one number",
                "d_k + m_q**2 * d_k",
                BETWEEN,
                0.5,
                "tied in both vectors, and it leaves out that a mean meets the ties",
            ),
            (
                "the mean and not its square",
                f"{TRACE} + m_q * (d_k + k * (k - 1))",
                "m_k * (d_k + q * (q - 1))",
                0.0,
                "where its square belongs",
            ),
            (
                "the mean in tenths",
                f"{TRACE} + 100 * {OF_QUERY}",
                f"100 * {BETWEEN}",
                0.0,
                "a tenth of it is meant",
            ),
            (
                "squares counted twice",
                f"{WITHIN} + o",
                BETWEEN,
                0.5,
                "squares of tied components twice",
            ),
            (
                "off by one",
                f"{WITHIN} + 2 * o",
                BETWEEN,
                0.5,
                "counts the components that are tied in both",
            ),
            (
                "standard deviations",
                f"np.sqrt({WITHIN})",
                f"np.sqrt({BETWEEN})",
                0.0,
                "`between` is a standard deviation",
            ),
            (
                "divided",
                f"({WITHIN}) / d_k",
                f"{BETWEEN} / d_k",
                0.0,
                "scores that were divided",
            ),
            ("changed over", BETWEEN, WITHIN, 0.25, "changed them over"),
            (
                "the parts of the means changed over",
                f"{TRACE} + {BETWEEN}",
                OF_QUERY,
                0.25,
                "counts a mean that is no difference between the rows; their sum is right",
            ),
            (
                "everything within the rows",
                f"{WITHIN} + {BETWEEN}",
                "0",
                0.25,
                "both parts together",
            ),
            (
                "a sum that is right with a negative part",
                f"{WITHIN} + {BETWEEN} + 1",
                "-1",
                0.0,
                "no variance is",
            ),
            (
                "the mean on both sides",
                WITHIN,
                f"{BETWEEN} + {OF_QUERY}",
                0.5,
                "no difference between the rows",
            ),
            (
                "the square of the mean score",
                WITHIN,
                f"{BETWEEN} + (d_k * m_q * m_k) ** 2",
                0.5,
                "which does not vary",
            ),
            ("one number only", WITHIN, "None", 0.5, "`between` has no value yet"),
            ("a variance that is negative", f"-({WITHIN})", BETWEEN, 0.5, "no variance is"),
            ("rounded", f"round({WITHIN})", f"round({BETWEEN})", 0.0, "is not what follows"),
        )
    ),
    Variant(
        "q1: a text",
        {"q1": f"{SPLIT}within = str({WITHIN})\nbetween = {BETWEEN}"},
        {"q1": 0.5},
        {"q1": "it is a text"},
    ),
    Variant(
        "q1: one number twice",
        {"q1": f"{SPLIT}within = [{WITHIN}] * 2\nbetween = {BETWEEN}"},
        {"q1": 0.5},
        {"q1": "must be one number"},
    ),
    Variant(
        "q1: measured",
        {
            "q1": SPLIT
            + """
rng = np.random.default_rng(1)
queries, keys = rng.standard_normal((2, 4000, d_k))
queries[:, mine["q_start"] - 1 :][:, :q] = queries[:, :1]
keys[:, mine["k_start"] - 1 :][:, :k] = keys[:, :1]
scores = (queries + m_q) @ (keys + m_k).T
within = scores.var(axis=1).mean()
between = scores.mean(axis=1).var()
"""
        },
        {"q1": 0.0},
        {"q1": "is not what follows"},
    ),
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


"""


def tabled(*arguments: str, then: str = "") -> str:
    """Return an answer to question 2 from the arguments of the right table."""
    return f"{WIDTHS}{TABLE}frozen = table({', '.join(arguments)})\n{then}"


TABLES = (
    Variant(
        "q2: formulas and lists",
        {
            "q2": WIDTHS
            + """
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
        },
    ),
    Variant(
        "q2: a loop over standard deviations",
        {
            "q2": WIDTHS
            + """
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
        },
    ),
    Variant(
        "q2: floats in single precision",
        {
            "q2": tabled(
                "line", "kept", "constant", "root", "whole", then="frozen = np.float32(frozen)"
            )
        },
    ),
    *(
        Variant(f"q2: {name}", {"q2": source}, {"q2": earned}, {"q2": words})
        for name, source, earned, words in (
            (
                "the correlation forgotten",
                tabled("line", "1", "constant", "root", "whole"),
                0.25,
                "wrong for A, B, D: what all keys of a row share",
            ),
            (
                "the shared part kept",
                tabled("line", "1 - kept", "constant", "root", "whole"),
                0.25,
                "kept what the keys share",
            ),
            (
                "the correlation squared",
                tabled("line", "1 - (1 - kept) ** 2", "constant", "root", "whole"),
                0.5,
                "not squared",
            ),
            (
                "half the line",
                tabled("np.log(n)", "kept", "constant", "root", "whole"),
                0.5,
                "twice the logarithm",
            ),
            (
                "the root of the line",
                tabled("np.sqrt(line)", "kept", "constant", "root", "whole"),
                0.25,
                "the square of",
            ),
            (
                "the logarithm to base two",
                tabled("2 * np.log2(n)", "kept", "constant", "root", "whole"),
                0.5,
                "the natural one",
            ),
            (
                "divisors not squared",
                tabled("line", "kept", "constant**0.5", "root**0.5", "whole**0.5"),
                0.25,
                "by its square",
            ),
            (
                "multiplied where C and D divide",
                tabled("line", "kept", "constant", "1 / root", "1 / whole"),
                0.5,
                "you multiply",
            ),
            (
                "one width too early",
                tabled(
                    "line",
                    "kept",
                    "constant",
                    "root",
                    "whole",
                    then="frozen += [[-1, 0], [-1, 0], [0, 0], [0, 1]]",
                ),
                0.5,
                "above the line",
            ),
            (
                "one width too late",
                tabled(
                    "line",
                    "kept",
                    "constant",
                    "root",
                    "whole",
                    then="frozen += [[1, 0], [1, 0], [0, 0], [0, -1]]",
                ),
                0.5,
                "missing at the edge",
            ),
            (
                "the last width left out",
                tabled("line", "kept", "constant", "root", "whole", then="frozen[:3, 1] -= 1"),
                0.5,
                "65536 is to be tried",
            ),
            (
                "C on the other side",
                tabled("line", "kept", "constant", "root", "whole", then="frozen[2] = 0"),
                0.75,
                "wrong for C",
            ),
            ("all of them frozen", f"{WIDTHS}frozen = [[1, widest]] * 4", 0.0, "wrong for A, B, D"),
            ("none of them frozen", "frozen = np.zeros((4, 2))", 0.0, "wrong for A, B, C, D"),
            (
                "largest first",
                tabled(
                    "line", "kept", "constant", "root", "whole", then="frozen = frozen[:, ::-1]"
                ),
                0.5,
                "the smallest width comes first",
            ),
            (
                "across",
                tabled("line", "kept", "constant", "root", "whole", then="frozen = frozen.T"),
                0.0,
                "must have shape (4, 2)",
            ),
            (
                "a width that is no whole number",
                tabled("line", "kept", "constant", "root", "whole", then="frozen = frozen - 0.5"),
                0.0,
                "go through",
            ),
            (
                "texts",
                tabled(
                    "line", "kept", "constant", "root", "whole", then="frozen = frozen.astype(str)"
                ),
                0.0,
                "must be made of numbers",
            ),
        )
    ),
)

# ------------------------------------------------------------------ question 3


def behind(body: str) -> str:
    """Return an answer to question 3 from the body of the function."""
    lines = "\n".join(f"    {line}" if line else "" for line in body.strip("\n").splitlines())
    return (
        'mine = personal_numbers(student_id, "q3")\n'
        'removed, order = mine["removed"], mine["order"] / 10\n\n\n'
        f"def positions_behind(scores, divisor):\n{lines}\n"
    )


RANKED = """
scores = np.sort(scores, axis=-1)[..., : scores.shape[-1] - removed]
"""
SHARED = """
weights = np.exp((scores - scores.max(axis=-1, keepdims=True)) / divisor)
weights = weights / weights.sum(axis=-1, keepdims=True)
"""
COUNTED = "return (weights**order).sum(axis=-1) ** (1 / (1 - order))"
SHORT = """
if scores.shape[-1] <= removed:
    return np.zeros(scores.shape[:-1])
"""
FUNCTIONS = (
    Variant(
        "q3: a loop over rows",
        {
            "q3": behind("""
rows = np.reshape(scores, (-1, np.shape(scores)[-1]))
found = []
for row in rows:
    left = sorted(row.tolist())[: max(0, len(row) - removed)]
    exponentials = [np.exp((score - left[-1]) / divisor) for score in left]
    total = sum(exponentials)
    powers = sum((each / total) ** order for each in exponentials)
    found.append(powers ** (-1 / (order - 1)) if left else 0)
return np.reshape(found, np.shape(scores)[:-1])
""")
        },
    ),
    Variant(
        "q3: single precision in the end",
        {"q3": behind(f"{SHORT}{RANKED}{SHARED}return np.float32(({COUNTED[7:]}))")},
    ),
    Variant(
        "q3: nested lists",
        {"q3": behind(f"{SHORT}{RANKED}{SHARED}result = {COUNTED[7:]}\nreturn result.tolist()")},
    ),
    Variant(
        "q3: logarithms",
        {
            "q3": behind(f"""
{SHORT.strip()}
import math
left = np.partition(scores, scores.shape[-1] - removed - 1, axis=-1)
left = left[..., : scores.shape[-1] - removed] / divisor
left = left - left.max(axis=-1, keepdims=True)
log_sum = np.log(np.exp(left).sum(axis=-1))
log_powers = np.log(np.exp(order * left).sum(axis=-1)) - order * log_sum
return np.exp(log_powers / (1 - order))
""")
        },
    ),
    Variant(
        "q3: leaders masked one by one",
        {
            "q3": behind(f"""
{SHORT.strip()}
scores = scores.copy()
for _ in range(removed):
    leader = scores.argmax(axis=-1)[..., None]
    np.put_along_axis(scores, leader, -np.inf, axis=-1)
{SHARED.strip()}
{COUNTED}
""")
        },
    ),
    *(
        Variant(f"q3: {name}", {"q3": behind(body)}, {"q3": earned}, {"q3": words})
        for name, body, earned, words in (
            (
                "leaders taken out after softmax",
                SHORT
                + SHARED
                + "weights = np.sort(weights, axis=-1)[..., : scores.shape[-1] - removed]\n"
                + "weights = weights / weights.sum(axis=-1, keepdims=True)\n"
                + COUNTED,
                0.5,
                "large, or far apart",
            ),
            (
                "nothing against overflow",
                SHORT
                + RANKED
                + "weights = np.exp(scores / divisor)\n"
                + "weights = weights / weights.sum(axis=-1, keepdims=True)\n"
                + COUNTED,
                0.5,
                "large, or far apart",
            ),
            (
                "short rows and large scores not thought of",
                """
scores = np.sort(scores, axis=-1)[..., :-removed]
weights = np.exp(scores / divisor)
weights = weights / weights.sum(axis=-1, keepdims=True)
powers = (weights**order).sum(axis=-1)
return powers ** (1 / (1 - order)) if scores.shape[-1] else powers + 1
""",
                0.25,
                "of which no key is left",
            ),
            (
                "a small number in the denominator",
                SHORT
                + RANKED
                + SHARED.replace(
                    "sum(axis=-1, keepdims=True)", "sum(axis=-1, keepdims=True) + 1e-3"
                )
                + COUNTED,
                0.0,
                "scores of moderate size",
            ),
            (
                "all that are as large as a leader taken out",
                SHORT
                + """
lowest = np.sort(scores, axis=-1)[..., -removed][..., None]
scores = np.where(scores >= lowest, -np.inf, scores)
leader = scores.max(axis=-1, keepdims=True)
weights = np.exp((scores - np.where(leader > -np.inf, leader, 0)) / divisor)
weights = weights / weights.sum(axis=-1, keepdims=True)
"""
                + COUNTED,
                0.75,
                "rows with equal scores",
            ),
            (
                "one position where none is left",
                SHORT.replace("zeros", "ones") + RANKED + SHARED + COUNTED,
                0.75,
                "of which no key is left",
            ),
            (
                "the scores sorted where they are",
                "scores.sort(axis=-1)\n"
                + SHORT
                + "scores = scores[..., : scores.shape[-1] - removed]\n"
                + SHARED
                + COUNTED,
                0.75,
                "changes the scores",
            ),
            ("leaders left in", SHARED + COUNTED, 0.0, "the leaders are still in the row"),
            (
                "weights not shared out anew",
                SHORT
                + SHARED
                + "weights = np.sort(weights, axis=-1)[..., : scores.shape[-1] - removed]\n"
                + "weights = weights * (scores.shape[-1] / (scores.shape[-1] - removed))\n"
                + COUNTED,
                0.0,
                "scores of moderate size",
            ),
            (
                "the smallest taken out",
                SHORT + "scores = np.sort(scores, axis=-1)[..., removed:]\n" + SHARED + COUNTED,
                0.0,
                "take out the smallest",
            ),
            (
                "the divisor forgotten",
                SHORT + "divisor = 1.0\n" + RANKED + SHARED + COUNTED,
                0.0,
                "no effect",
            ),
            (
                "multiplied by the divisor",
                SHORT + "divisor = 1 / divisor\n" + RANKED + SHARED + COUNTED,
                0.0,
                "you multiply",
            ),
            (
                "the root of the divisor",
                SHORT + "divisor = divisor**0.5\n" + RANKED + SHARED + COUNTED,
                0.0,
                "the root of the divisor",
            ),
            (
                "the entropy",
                SHORT
                + RANKED
                + SHARED
                + "return np.exp(-(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=-1))",
                0.0,
                "this is exp H",
            ),
            (
                "an order of two",
                SHORT + RANKED + SHARED + "return 1 / (weights**2).sum(axis=-1)",
                0.0,
                "with another order",
            ),
            (
                "the largest weight",
                SHORT + RANKED + SHARED + "return 1 / weights.max(axis=-1)",
                0.0,
                "one over the largest weight",
            ),
            (
                "no power in the end",
                SHORT + RANKED + SHARED + "return 1 / (weights**order).sum(axis=-1)",
                0.0,
                "the power 1/(1 − a) is missing",
            ),
            (
                "one leader only",
                SHORT + "scores = np.sort(scores, axis=-1)[..., :-1]\n" + SHARED + COUNTED,
                0.0,
                "another number of keys",
            ),
            (
                "what the example says",
                "return np.full(np.shape(scores)[:-1], 8.0 - removed)",
                0.0,
                "a wrong result",
            ),
            ("what came in", "return scores", 0.0, "the result has the shape"),
            (
                "one number for all rows",
                RANKED + SHARED + "return 8.0 - removed",
                0.0,
                "the result has the shape",
            ),
            ("nothing", "scores / divisor", 0.0, "returns nothing, or"),
        )
    ),
)

# ------------------------------------------------------------------ question 4


def drawn(
    *,
    pairs: str = "2000",
    query: str = "own if mine['repeated'] == 1 else once.repeat(group, axis=1)",
    key: str = "rng.standard_normal((pairs, m)).repeat(group, axis=1)",
    score: str = "spread * (query * key).sum(axis=1)",
    points: str = "scores.std()",
    formula: str = "spread * np.sqrt(widths * (group if mine['repeated'] == 2 else 1))",
    plot: str = "axes.plot(widths, measured, 'o', label='measured')\n"
    "axes.plot(widths, formula, label='predicted')",
    form: str = "axes.set(xlabel='$d_k$', ylabel='std', xscale='log', yscale='log')\naxes.legend()",
    seed: str = "17",
) -> str:
    """Return an answer to question 4, from its pieces."""
    return f"""
mine = personal_numbers(student_id, "q4")
group, spread = mine["group"], mine["spread"] / 10
rng = np.random.default_rng({seed})
pairs = {pairs}
widths = group * np.array([4, 8, 16, 32, 64])
measured = []
for d_k in widths:
    m = d_k // group
    once, own = rng.standard_normal((pairs, m)), rng.standard_normal((pairs, d_k))
    query, key = {query}, {key}
    scores = {score}
    measured.append({points})
measured = np.array(measured)
formula = {formula}
figure, axes = plt.subplots()
{plot}
{form}
"""


NO_FORM = "axes.set(xlabel='$d_k$', ylabel='standard deviation')"
LOGARITHMIC = "axes.set(xscale='log', yscale='log')"
LINE = "axes.plot(widths, formula)"
FIGURES = (
    Variant("q4: other random numbers", {"q4": drawn(seed="None")}),
    Variant(
        "q4: a scatter plot and a fine curve",
        {
            "q4": drawn(
                plot="fine = np.linspace(widths[0], widths[-1], 200)\n"
                "order = [3, 1, 0, 4, 2]\n"
                "axes.scatter(widths[order], measured[order], label='Measured: 2000 pairs')\n"
                "axes.plot(fine, formula[0] * np.sqrt(fine / fine[0]), label='Predicted, √d_k')",
                form="axes.legend(loc='upper left')\naxes.set_xlabel('head width')\n"
                "axes.set_ylabel('σ')\naxes.loglog()",
            )
        },
    ),
    Variant(
        "q4: error bars, a legend of the figure and a third line",
        {
            "q4": drawn(
                pairs="3000",
                plot="axes.errorbar(widths, measured, 0.02 * measured, fmt='s', label='measured')\n"
                "axes.loglog(widths, formula, '--', label='predicted')\n"
                "axes.loglog(widths, widths**0.5, ':', label='usual divisor')",
                form="axes.set(xlabel='d_k', ylabel='std')\nfigure.legend()\nplt.show()",
            )
        },
    ),
    Variant(
        "q4: lists, and root mean squares",
        {
            "q4": drawn(
                points="float(np.mean(scores**2)) ** 0.5",
                plot="axes.plot(widths.tolist(), measured.tolist(), '.', label='measured')\n"
                "axes.plot(widths.tolist(), formula.tolist(), '-', label='predicted')",
            )
        },
    ),
    *(
        Variant(f"q4: {name}", {"q4": source})
        for name, source in (
            (
                "names given to the legend alone",
                drawn(
                    plot=f"axes.plot(widths, measured, 'o')\n{LINE}",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\naxes.legend(['measured', 'predicted'])",
                ),
            ),
            (
                "names given to the legend alone, for dots and a line",
                drawn(
                    plot=f"{LINE}\naxes.scatter(widths, measured)",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\n"
                    "axes.legend(labels=['predicted (exact)', 'measured (2000 pairs)'])",
                ),
            ),
            (
                "handles and names given to the legend",
                drawn(
                    plot="(dots,) = axes.plot(widths, measured, 'ko')\n"
                    "(line,) = axes.plot(widths, formula, 'k-', label='theory')",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\n"
                    "axes.legend([line, dots], ['predicted', 'measured'])",
                ),
            ),
            (
                "a legend of the figure with handles and names",
                drawn(
                    plot="dots = axes.scatter(widths, measured, marker='x')\n"
                    "(line,) = axes.plot(widths, formula, '--')",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\n"
                    "figure.legend(handles=[dots, line], labels=['measured', 'predicted'])",
                ),
            ),
            (
                "stand-ins in the legend",
                drawn(
                    plot="axes.scatter(widths, measured, color='k')\n"
                    "axes.plot(widths, formula, color='k')",
                    form=f"""{NO_FORM}
{LOGARITHMIC}
dot = plt.Line2D([], [], color='k', marker='o', linestyle='')
axes.legend([dot, plt.Line2D([], [], color='k')], ['measured', 'predicted'])""",
                ),
            ),
            (
                "two legends",
                drawn(
                    plot=f"(dots,) = axes.plot(widths, measured, 'o')\n{LINE}",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\n"
                    "axes.add_artist(axes.legend([dots], ['measured']))\n"
                    "axes.legend(axes.lines[1:], ['predicted'], loc='lower right')",
                ),
            ),
            (
                "dots one by one, the first with a name",
                drawn(
                    plot="for i in range(5):\n"
                    "    axes.scatter(widths[i], measured[i], label='' if i else 'measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
            ),
            (
                "dots one by one in one color, none of the others with a name",
                drawn(
                    plot="axes.plot(widths, formula, 'k', label='predicted')\n"
                    "for i in range(5):\n"
                    "    label = None if i else 'measured'\n"
                    "    axes.scatter(widths[i], measured[i], color='C0', label=label)",
                ),
            ),
            (
                "points one by one, each with the name",
                drawn(
                    plot="for width, point in zip(widths, measured):\n"
                    "    axes.plot(width, point, 's', label='measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
            ),
            (
                "error bars one by one",
                drawn(
                    plot="for i in range(5):\n"
                    "    axes.errorbar(widths[i], measured[i], 0.02 * measured[i], fmt='o',\n"
                    "        capsize=3, color='r', label=None if i else 'measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
            ),
            (
                "a line in pieces, and lines across the panel",
                drawn(
                    plot="axes.plot(widths, measured, 'o', label='measured')\n"
                    "for i in range(4):\n"
                    "    axes.plot(widths[i : i + 2], formula[i : i + 2], 'C0',\n"
                    "        label=None if i else 'predicted')\n"
                    "axes.axhline(formula[0])\n"
                    "axes.axvline(widths[0])",
                ),
            ),
            (
                "a third series that has no number",
                drawn(
                    plot="axes.plot(widths, measured, 'o', label='measured')\n"
                    "axes.plot(widths, formula, label='predicted')\n"
                    "axes.plot(widths, np.full(5, np.nan), label='nothing')",
                ),
            ),
            (
                "all scores behind the points",
                drawn(
                    pairs="30000",
                    plot="for width in widths:\n"
                    "    axes.plot(np.full(pairs, width), np.abs(scores) + 1, 'y,')\n"
                    "axes.plot(widths, measured, 'o', label='measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
            ),
            (
                "points that a line goes through",
                drawn(
                    plot="axes.plot(widths, measured, 'o', color='C3', label='measured')\n"
                    "axes.plot(widths, measured, 'o', color='C3')\n"
                    "axes.plot(widths, measured, '-', color='C3', alpha=0.3)\n"
                    "axes.plot(widths, formula, 'k--', label='predicted')",
                ),
            ),
        )
    ),
    *(
        Variant(f"q4: {name}", {"q4": source}, {"q4": earned}, {"q4": words})
        for name, source, earned, words in (
            (
                "variances",
                drawn(points="scores.var()", formula="spread**2 * widths * group"),
                0.0,
                "this is the variance; its root was asked",
            ),
            (
                "the usual formula",
                drawn(formula="np.sqrt(widths)"),
                0.75,
                "the spread of the query is missing, and components of a group",
            ),
            (
                "ties left out of the prediction",
                drawn(formula="spread * np.sqrt(widths)"),
                0.75,
                "`predicted`: components of a group",
            ),
            (
                "ties left out of the draws",
                drawn(query="own", key="rng.standard_normal((pairs, d_k))"),
                0.5,
                "`measured`: components of a group",
            ),
            (
                "queries left untied",
                drawn(query="own"),
                0.5,
                "`measured`: components of a group",
            ),
            (
                "standard normal queries",
                drawn(score="(query * key).sum(axis=1)"),
                0.5,
                "a standard deviation of their own",
            ),
            (
                "the spread in the keys as well",
                drawn(score="spread**2 * (query * key).sum(axis=1)"),
                0.5,
                "enters once",
            ),
            (
                "divided scores",
                drawn(score="spread * (query * key).sum(axis=1) / np.sqrt(d_k)"),
                0.5,
                "spread of divided scores",
            ),
            (
                "the spread in tenths",
                drawn(formula="mine['spread'] * np.sqrt(widths * group)"),
                0.75,
                "a tenth of it is meant",
            ),
            (
                "a sum that grows like the width",
                drawn(formula="spread * widths * np.sqrt(group)"),
                0.75,
                "does not grow like their number",
            ),
            (
                "groups for widths",
                drawn(
                    formula="spread * np.sqrt(widths)",
                    plot="axes.plot(widths // group, measured, 'o', label='measured')\n"
                    "axes.plot(widths // group, formula, label='predicted')",
                ),
                0.0,
                "one point at each of your five widths",
            ),
            (
                "ten pairs",
                drawn(pairs="10", seed="3"),
                0.5,
                "further off than chance",
            ),
            (
                "the formula for the measurement",
                drawn(
                    points="1.0",
                    plot="axes.plot(widths, formula, 'o', label='measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
                0.5,
                "was not measured",
            ),
            (
                "the formula with a constant error for the measurement",
                drawn(
                    points="1.0",
                    plot="axes.plot(widths, 1.01 * formula, 'o', label='measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
                0.5,
                "was not measured",
            ),
            (
                "the measurement for the formula",
                drawn(
                    plot="axes.plot(widths, measured, 'o', label='measured')\n"
                    "axes.plot(widths, measured, label='predicted')"
                ),
                0.75,
                "`predicted` is not the standard deviation",
            ),
            (
                "a line that stops early",
                drawn(
                    plot="axes.plot(widths, measured, 'o', label='measured')\n"
                    "axes.plot(widths[:-1], formula[:-1], label='predicted')"
                ),
                0.75,
                "does not reach",
            ),
            (
                "no labels of the axes",
                drawn(form=f"{LOGARITHMIC}\naxes.legend()"),
                0.75,
                "an axis has no label",
            ),
            ("no legend", drawn(form=f"{NO_FORM}\n{LOGARITHMIC}"), 0.75, "the legend has no entry"),
            ("linear axes", drawn(form=f"{NO_FORM}\naxes.legend()"), 0.75, "should be logarithmic"),
            (
                "another language",
                drawn(
                    plot="axes.plot(widths, measured, 'o', label='gemessen')\n"
                    "axes.plot(widths, formula, label='predicted')"
                ),
                0.25,
                "begins with `measured`",
            ),
            (
                "a legend with other names",
                drawn(form=f"{NO_FORM}\n{LOGARITHMIC}\naxes.legend(['points', 'line'])"),
                0.75,
                "the legend has no entry that begins with `measured`",
            ),
            (
                "names in the legend the wrong way round",
                drawn(
                    plot=f"axes.plot(widths, measured, 'o')\n{LINE}",
                    form=f"{NO_FORM}\n{LOGARITHMIC}\naxes.legend(['predicted', 'measured'])",
                ),
                0.75,
                "the legend calls the points `predicted`",
            ),
            (
                "four dots",
                drawn(
                    plot="for i in range(4):\n"
                    "    axes.scatter(widths[i], measured[i], label='' if i else 'measured')\n"
                    "axes.plot(widths, formula, label='predicted')",
                ),
                0.5,
                "one point at each of your five widths",
            ),
            (
                "axes for a figure",
                drawn(form=f"{NO_FORM}\n{LOGARITHMIC}\naxes.legend()\nfigure = axes"),
                0.0,
                "or is no figure",
            ),
            (
                "two pairs of axes",
                drawn(form=f"{NO_FORM}\n{LOGARITHMIC}\naxes.legend()\nplt.axes((0, 0, 1, 1))"),
                0.75,
                "should have one pair of axes",
            ),
            (
                "an empty figure in due form",
                drawn(
                    plot="axes.plot([], [], label='measured')\naxes.plot([], [], label='predicted')"
                ),
                0.0,
                "has no points",
            ),
        )
    ),
)

VARIANTS: tuple[Variant, ...] = (*SPLITS, *TABLES, *FUNCTIONS, *FIGURES)
