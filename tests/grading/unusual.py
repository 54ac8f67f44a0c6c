"""Right answers in forms that few students choose; each of them earns all points.

`changed` of `variants` says how to read them. Those of `answers_<name>` are tried in the process of
the tests, and these in the sandbox, as cells of a notebook: so they may have magics, and show what
they like.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial

from tests.grading import answers_problem_set_1 as one
from tests.grading import answers_problem_set_2 as two
from tests.grading.variants import Variant, changed, exchanged

Sources = dict[str, tuple[Variant, ...]]


def indented(source: str, head: str, tail: str = "") -> str:
    return f"{head}\n{textwrap.indent(source, '    ')}\n{tail}"


def inside_a_function(source: str) -> str:
    """Return a cell that does everything in a function of its own, and hands out all names."""
    return indented(source, "def work():", "    globals().update(locals())\nwork()")


AROUND: dict[str, Callable[[str], str]] = {
    "a time of the whole cell": lambda source: f"%%time\n{source}",
    "a captured cell": lambda source: f"%%capture shown\n{source}",
    "installers and the shell": lambda source: f"!pip list\n%pip install numpy\n{source}!ls",
    "everything of math": lambda source: f"from math import *\nfrom numpy import *\n{source}",
    "imports again": lambda source: f"import numpy, sys\nimport numpy as np\n{source}del numpy",
    "a main block": lambda source: indented(source, 'if __name__ == "__main__":'),
    "one try": lambda source: indented(source, "try:", "finally:\n    print('done')"),
    "a loop that runs once": lambda source: indented(source, "for _ in range(1):"),
    "a wait": lambda source: f"import asyncio\nawait asyncio.sleep(0)\n{source}",
    "thousands of lines": lambda source: f"{source}\nfor i in range(5000): print(i, mine)",
    "warnings": lambda source: f"import warnings\n{source}\nwarnings.warn('x')\n1 / np.zeros(1)",
    "seeds": lambda source: f"import random\nrandom.seed(1)\nnp.random.seed(2)\n{source}",
    "an input that answers itself": lambda source: f"input = lambda: '3'\n{source}\nint(input())",
    "displays": lambda source: f"from IPython.display import Markdown, display\n{source}\n"
    "display(Markdown('**done**'), mine)\nmine",
    "figures that are shown everywhere": lambda source: f"plt.plot([1, 2])\nplt.show()\n{source}\n"
    "plt.show()\nplt.close('all')",
    "line ends of Windows": lambda source: source.replace("\n", "\r\n"),
    "tabs": lambda source: source.replace("    ", "\t"),
    "source that is run from a text": lambda source: f"exec({source!r})",
    "an assertion that is left": lambda source: f"assert 1 + 1 == 2, 'odd'\n{source}\nassert mine",
    "an error at the end": lambda source: f"{source}\nraise RuntimeError('forgotten')",
    "a thread": lambda source: "from threading import Thread\n"
    f"thread = Thread(target=exec, args=({source!r}, globals()))\nthread.start()\nthread.join()",
    "another printing": lambda source: f"np.set_printoptions(precision=2)\n{source}\n"
    "np.seterr(all='ignore')\n%precision 3",
    "comments in other letters": lambda source: f"# Größe σ² и 学生 🎓\nσ, größe = 1, 2\n{source}",
    "a function around everything": inside_a_function,
}  # fmt: skip

# ------------------------------------------------------------------ problem set 1

NUMBERS = changed(
    r"""
long doubles
    within, between = np.longdouble(within), np.longdouble(between)
decimals
    from decimal import Decimal
    within, between = Decimal(repr(float(within))), Decimal(str(between))
arrays of two axes
    within, between = np.array([[within]]), np.matrix([[between]])
masked arrays in which nothing is hidden
    within, between = np.ma.array(within), np.ma.array([between], mask=[False])
tuples of one
    within, between = (within,), (np.float64(between),)
arrays of Python
    from array import array
    within, between = array("d", [within]), array("f", [between])
a queue of one
    from collections import deque
    within = deque([within])
objects in arrays
    within, between = np.array(within, dtype=object), np.array([between], dtype=object)
a walrus and annotations
    within = trace => within: float = (total := trace)
a named tuple
    from collections import namedtuple
    parts = namedtuple("Parts", "within between")(within, between)
    within, between = parts
a class with properties
    class Split:
    +     within = property(lambda self: trace + of_query)
    +     between = property(lambda self: m_k**2 * (d_k + q * (q - 1)))
    + within, between = Split().within, Split().between
a generator
    def both():
    +     yield trace + of_query
    +     yield m_k**2 * (d_k + q * (q - 1))
    + within, between = both()
a match and a text
    match f"{within!r};{float(between)!r}".split(";"):
    +     case [first, second]:
    +         within, between = float(first), eval(second)
names that another function sets
    def settle():
    +     global within, between
    +     within, between = float(within), float(between)
    + settle()
a subclass of float
    class Variance(float):
    +     def __repr__(self): return "about something"
    + within, between = Variance(within), Variance(between)
a recursion
    trace = d_k => def pairs(n): return 0 if n < 2 else 2 * (n - 1) + pairs(n - 1)
    + trace = d_k
    o * (o - 1) => pairs(o)
""",
    partial(exchanged, one.SPLIT),
)  # fmt: skip

TABLES = changed(
    r"""
unsigned integers
    frozen = np.asarray(frozen, dtype=np.uint32)
fractions in lists that are floats
    from fractions import Fraction
    frozen = [[float(Fraction(int(each))) for each in row] for row in frozen]
a matrix
    frozen = np.matrix(frozen)
a transposed view in Fortran's order
    frozen = np.asfortranarray(frozen.T).T
a list of arrays
    frozen = [np.array(row) for row in frozen]
rows as ranges, queues and arrays of Python
    from array import array
    from collections import deque
    frozen = [deque(frozen[0].tolist()), array("l", frozen[1].tolist()), *frozen[2:].tolist()]
a masked array
    frozen = np.ma.masked_invalid(frozen)
values of a dictionary
    frozen = list({letter: tuple(row) for letter, row in zip("ABCD", frozen)}.values())
a class of its own around an array
    class Table:
    +     def __init__(self, rows): self.rows = rows
    +     def __len__(self): return len(self.rows)
    +     def __getitem__(self, place): return self.rows[place]
    +     def __array__(self, dtype=None, copy=None): return np.array(self.rows, dtype=dtype)
    + frozen = Table(frozen)
complete steps
    frozen = np.rint(frozen + 1e-12)
""",
    partial(exchanged, one.WIDTHS + one.TABLE),
)  # fmt: skip

HEAPS = """
import heapq, math
shape = np.shape(scores)
found = []
for row in np.reshape(scores, (-1, shape[-1])):
    left = heapq.nsmallest(max(0, len(row) - removed), row.tolist())
    if not left:
        found.append(0.0)
        continue
    parts = [math.exp((each - left[-1]) / divisor) for each in left]
    total = math.fsum(parts)
    found.append(math.fsum((each / total) ** order for each in parts) ** (1 / (1 - order)))
return np.reshape(found, shape[:-1])
"""
ROWWISE = """
def one(row, *, scale=divisor):
    left = np.sort(row)[: max(0, len(row) - removed)]
    if not len(left): return 0.0
    e = np.exp((left - left[-1]) / scale)
    return float(((e / e.sum()) ** order).sum() ** (1 / (1 - order)))
return np.apply_along_axis(one, -1, scores)
"""
CALLABLE = one.behind(one.POSITIONS)
POSITIONS = (
    Variant("a heap", one.behind(HEAPS)),
    Variant("a function along an axis", one.behind(ROWWISE)),
    *changed(
        r"""
a partial function
    def positions_behind(scores, divisor) => def effective(removed, scores, divisor)
    from functools import partial
    positions_behind = partial(effective, removed)
a class with a call
    def positions_behind( => def effective(
    class Behind:
    +     def __call__(self, scores, divisor):
    +         return effective(scores, divisor)
    + positions_behind = Behind()
a bound method
    def positions_behind( => def effective(
    class Behind:
    +     def behind(self, scores, divisor=1.0, **more):
    +         return effective(scores, divisor)
    + positions_behind = Behind().behind
a static method
    def positions_behind( => def effective(
    class Behind:
    +     behind = staticmethod(effective)
    + positions_behind = Behind.behind
a lambda
    def positions_behind( => def effective(
    positions_behind = lambda *args: effective(*args)
a decorator that copies
    def positions_behind( => from functools import wraps
    + def copying(function):
    +     @wraps(function)
    +     def inner(scores, *more, **named):
    +         return function(np.array(scores), *more, **named)
    +     return inner
    + @copying
    + def positions_behind(
defaults, hints and arguments by name only
    scores, divisor) => scores: np.ndarray, divisor: float = 1.0, *, say: bool = False) -> object
a function that prints and draws
    def positions_behind(scores, divisor):\n => def positions_behind(scores, divisor):
    +     print(scores, divisor)
    +     plt.plot(scores.ravel())
a result of float32
    return (weights => return np.float32(1) * (weights
    (1 / (1 - order)) => np.float64(1 / (1 - order))
a masked result
    def positions_behind( => def plain(
    def positions_behind(scores, divisor):
    +     return np.ma.array(plain(scores, divisor))
objects for results
    def positions_behind( => def plain(
    def positions_behind(scores, divisor):
    +     return np.asarray(plain(scores, divisor)).astype(object)
a queue of results
    def positions_behind( => def plain(
    from collections import deque
    def positions_behind(scores, divisor):
    +     found = plain(scores, divisor)
    +     return deque(found.tolist()) if np.ndim(found) else found
a function that one of its own calls replaced
    def positions_behind( => def later(
    def positions_behind(scores, divisor):
    +     global positions_behind
    +     positions_behind = later
    +     return later(scores, divisor)
warnings as errors, within the function alone
    def positions_behind(scores, divisor):\n => def positions_behind(scores, divisor):
    +     import warnings
    +     warnings.warn("called")
""",
        partial(exchanged, CALLABLE),
    ),
)  # fmt: skip

SPREADS = changed(
    r"""
pyplot alone
    figure, axes = plt.subplots()\n =>
    axes.set(xlabel="$d_k$", ylabel="standard deviation", =>
     xscale="log", yscale="log") => plt.figure()
    + plt.xlabel("$d_k$"); plt.ylabel("standard deviation"); plt.xscale("log"); plt.yscale("log")
    axes.plot(widths, measured => plt.plot(widths, measured
    axes.plot(widths, formula => plt.plot(widths, formula
    axes.legend() => plt.legend(loc="best", title="what", ncols=2)\nfigure = plt.gcf()\nplt.show()
no pyplot at all
    figure, axes = plt.subplots() => from matplotlib.backends.backend_agg import FigureCanvasAgg
    + from matplotlib.figure import Figure
    + figure = Figure(figsize=(4, 3))
    + FigureCanvasAgg(figure)
    + axes = figure.add_subplot(1, 1, 1)
a grid of one panel
    figure, axes = plt.subplots() => figure, grid = plt.subplots(squeeze=False)\naxes = grid[0, 0]
a mosaic
    figure, axes = plt.subplots() => figure, grid = plt.subplot_mosaic("A")\naxes = grid["A"]
axes put by hand
    figure, axes = plt.subplots() => figure = plt.figure()
    + axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
logarithms to base two
    xscale="log", yscale="log") => xlim=(10, 1000))
    + axes.set_xscale("log", base=2)
    + axes.set_yscale("log", base=2)
one call for points and line
    axes.plot(widths, measured, "o", label="measured")\n =>
    plot(widths, formula, label="predicted") => plot(widths, measured, "o", widths, formula, "-")
    axes.legend() => axes.legend(["measured", "predicted"])
columns of one array
    axes.plot(widths, measured, "o", label="measured")\n =>
    axes.plot(widths, formula, label="predicted") => dots, line = axes.plot(
    +     widths, np.column_stack([measured, formula]), label=["measured", "predicted"])
    + dots.set(marker="D", linestyle="none", color="k")
columns by name
    axes.plot(widths, measured, "o", => table = {"w": widths, "m": measured}
    + axes.plot("w", "m", "o", data=table,
a step
    axes.plot(widths, formula, => axes.step(widths, formula, where="mid",
a stem for each point
    axes.plot(widths, measured, "o", => axes.stem(widths, measured, bottom=1,
lines that are added
    axes.plot(widths, formula, label="predicted") => axes.add_line(
    +     plt.Line2D(widths, formula, color="k", label="predicted"))
a collection of lines
    figure, axes = => from matplotlib.collections import LineCollection
    + figure, axes =
    axes.plot(widths, formula, label="predicted") =>
    axes.legend() => lines = [np.column_stack([widths, formula])]
    + axes.add_collection(LineCollection(lines, label="predicted"))
    + axes.legend()
a style, a title, a grid, texts and a shade
    figure, axes = => plt.style.use("ggplot")\nfigure, axes =
    axes.legend() => axes.set_title("spread"); axes.grid(True, which="both"); axes.minorticks_on()
    + axes.annotate("here", (widths[0], measured[0])); axes.text(20, 20, "there")
    + axes.fill_between(widths, 0.9 * formula, 1.1 * formula, alpha=0.2, label="ten percent")
    + axes.axvspan(40, 80, alpha=0.1); axes.arrow(30, 30, 1, 1)
    + axes.legend(bbox_to_anchor=(1, 1), frameon=False)
    + plt.style.use("default")
names in formulas and capitals
    label="measured" => label="MEASURED $\\sigma$ (±)"
    label="predicted" => label="Predicted: $s\\sqrt{g d_k}$"
names that are set later
    axes.plot(widths, measured, "o", label="measured") => (dots,) = axes.plot(widths, measured, "o")
    axes.legend() => dots.set_label("measured"); axes.legend(handles=[dots, axes.lines[1]])
a legend whose texts are set later
    axes.legend() => legend = axes.legend(["a", "b"])
    + for text, word in zip(legend.get_texts(), ["measured", "predicted"]): text.set_text(word)
a marker that is a letter
    "o", label => linestyle="none", marker="$m$", color="#123456", label
a scatter in many sizes and colors
    plot(widths, measured, "o", => scatter(widths, measured, s=widths, c=measured, cmap="gray",
a figure that was closed and saved
    axes.legend() => axes.legend(); figure.tight_layout()
    + figure.savefig("/tmp/x.png"); plt.close(figure)
other figures before and after
    figure, axes = => plt.plot([1, 2]); plt.figure(); figure, axes =
    axes.legend() => axes.legend(); plt.figure(); plt.plot([3, 1])
points in lists of arrays
    widths, measured, "o" => list(widths), [np.array(each) for each in measured], "o"
a line of a thousand points in reverse order
    axes.plot(widths, formula => fine = np.geomspace(widths[-1], widths[0], 1000)
    + axes.plot(fine, spread * np.sqrt(fine * tied)
a twin line under another name
    axes.legend() => axes.plot(widths, formula, "r.", label="check of the line"); axes.legend()
more pairs, one by one
    pairs = 2000 => pairs = 2500
    scores.std() => np.sqrt(np.mean(scores**2))
    rng = np.random.default_rng(17) => np.random.seed(17)\nrng = np.random
    standard_normal((pairs, m)), rng.standard_normal((pairs, d_k)) => randn(pairs, m), own_pairs()
    for d_k in widths: => def own_pairs(): return rng.randn(pairs, d_k)
    + for d_k in widths:
    rng.standard_normal((pairs, m)).repeat => rng.randn(pairs, m).repeat
""",
    partial(exchanged, one.DRAWN),
)  # fmt: skip

# ------------------------------------------------------------------ problem set 2

STEPS = changed(
    r"""
a step in a tuple
    score_change = tuple(score_change)
a step of long doubles
    score_change = score_change.astype(np.longdouble)
a step of single numbers of all kinds
    from decimal import Decimal
    from fractions import Fraction
    a, b, c, d, e, f = score_change.tolist()
    score_change = [Decimal(a), Fraction(b), np.float64(c), np.array(d), [e][0], float(f)]
a step in an array of Python
    from array import array
    score_change = array("d", score_change)
a step in a queue
    from collections import deque
    score_change = deque(score_change)
a step in a list of its own
    from collections import UserList
    score_change = UserList(score_change.tolist())
a step in a masked array
    score_change = np.ma.masked_array(score_change, mask=False)
a step of objects
    score_change = np.array(score_change, dtype=object)
a step that is every other entry of another array
    score_change = np.repeat(score_change, 2)[::2][::-1][::-1]
a step by an array that nobody may change
    score_change.flags.writeable = False
    score_change = np.broadcast_to(score_change, (2, 6))[1]
a step by a class of arrays
    class Change(np.ndarray):
    +     def __repr__(self): return "a change"
    + score_change = score_change.view(Change)
a step by the whole Jacobian
    heard = p * (costs - p @ costs) => jacobian = np.diag(p) - np.outer(p, p)
    + heard = np.einsum("i,ij->j", costs, jacobian)
a step by complex numbers
    heard = p * (costs - p @ costs) => def loss(z):
    +     e = np.where(np.arange(6) < visible, np.exp(z / np.sqrt(d_k)), 0)
    +     return (e * costs).sum() / e.sum()
    + tiny = 1e-30
    + heard = np.array([loss(raw_scores + 1j * tiny * row).imag for row in np.eye(6)]) / tiny
    + heard *= np.sqrt(d_k)
complex numbers without an imaginary part
    score_change = score_change + 0j
""",
    partial(exchanged, two.GIVEN + two.ON_PAPER),
)  # fmt: skip

TEMPERATURES = changed(
    r"""
limits as integers, decimals and logarithms
    return 0.0 => return 0
    return np.inf => from decimal import Decimal; return Decimal("Infinity")
limits with a sign
    return 0.0 => return -0.0
    return np.inf => return -np.log(np.zeros(()))
temperatures as fractions
    return tau => from fractions import Fraction; return Fraction(float(tau))
temperatures as long doubles
    return tau => return np.longdouble(tau)
limits of float32
    return 0.0 => return np.float32(0)
    return np.inf => return np.float32("inf")
a temperature by a partial function
    def best_temperature(scores, key): => def search(steps, scores, key):
    from functools import partial
    best_temperature = partial(search, 200)
a temperature by a class
    def best_temperature( => def search(
    class Best:
    +     def __call__(self, row, which, /): return search(row, which)
    + best_temperature = Best()
a temperature that is remembered
    def best_temperature( => def search(
    from functools import lru_cache
    @lru_cache
    + def remembered(scores, key): return search(np.array(scores), key)
    + def best_temperature(scores, key): return remembered(tuple(scores.tolist()), int(key))
a temperature by lists
    def best_temperature(scores, key): => def best_temperature(scores, key):
    +     scores = np.array(list(map(float, scores)))
a temperature that sorts its row
    def best_temperature(scores, key): => def best_temperature(scores, key):
    +     mine = scores[key]; scores.sort(); key = scores.tolist().index(mine)
""",
    partial(exchanged, two.RIGHT),
)  # fmt: skip

OUTPUTS = changed(
    r"""
attention in nested tuples
    def attend( => def inner(
    def attend(*arguments):
    +     return tuple(tuple(map(tuple, head)) for head in inner(*arguments).tolist())
attention as a list of arrays
    def attend( => def inner(
    def attend(*arguments): return list(inner(*arguments))
attention in long doubles
    visible, sink, cap): => visible, sink, cap):
    +     query = query.astype(np.longdouble)
attention as a masked array
    def attend( => def inner(
    def attend(*arguments): return np.ma.array(inner(*arguments))
attention as objects
    def attend( => def inner(
    def attend(*arguments): return inner(*arguments).astype(object)
attention by a partial function
    def attend(query, => def inner(scale, query,
    np.sqrt(query.shape[-1]) => scale(query.shape[-1])
    from functools import partial
    attend = partial(inner, np.sqrt)
attention by a class
    def attend( => def inner(
    class Attention:
    +     def __call__(self, *arguments): return inner(*arguments)
    + attend = Attention()
attention head by head
    def attend( => def inner(
    def attend(query, key, value, visible, sink, cap):
    +     group = len(query) // len(key)
    +     read = [h % len(key) if mine["in_turn"] else h // group for h in range(len(query))]
    +     heads = (inner(query[h : h + 1], key[g][None], value[g][None], visible,
    +         sink[h : h + 1], cap) for h, g in enumerate(read))
    +     return np.concatenate([*heads])
attention query by query, in Fortran's order
    def attend( => def inner(
    def attend(query, key, value, visible, sink, cap):
    +     rows = [inner(query[:, i : i + 1], key, value, visible[i : i + 1], sink, cap)
    +         for i in range(query.shape[1])]
    +     return np.asfortranarray(np.concatenate(rows, axis=1))
attention by Einstein's sums
    query @ key.swapaxes(-1, -2) => np.einsum("hid,hjd->hij", query, key)
    (parts / total)[..., :-1] @ value => np.einsum("hij,hjv->hiv", (parts / total)[..., :-1], value)
attention with names, hints and defaults of its own
    visible, sink, cap) => visible=None, sink=None, cap: float | None = None, *, eps=0.0) -> list
attention that leaves its arguments alone by copies of all
    visible, sink, cap): => visible, sink, cap):
    +     query, key, value, visible, sink = map(np.copy, (query, key, value, visible, sink))
    +     query *= 1.0
""",
    two.attention,
)  # fmt: skip

ARMS = changed(
    r"""
rates as decimals and fractions
    figure, axes = plt => from decimal import Decimal; from fractions import Fraction
    + rate_q, rate_k = Decimal(float(rate_q)), Fraction(float(rate_k))
    + figure, axes = plt
rates in lists
    figure, axes = plt => rate_q, rate_k = [rate_q], np.array([[rate_k]])\nfigure, axes = plt
pyplot alone, for losses
    figure, axes = plt.subplots() => figure = plt.figure(); axes = plt
    axes.set_xlabel("steps") => plt.xlabel("steps")
    axes.set_ylabel("loss") => plt.ylabel("loss")
    axes.set_ylim(top=1000) => plt.ylim(1e-3, 900)
no pyplot at all, for losses
    figure, axes = plt.subplots() => from matplotlib.figure import Figure
    + figure = Figure(); axes = figure.subplots()
columns of one array, for losses
    axes.semilogy(divided, label="divided")\n =>
    axes.semilogy(undivided, label="not divided")\n =>
    axes.semilogy(folded, "o", label="folded") => axes.semilogy(
    +     np.array([divided, undivided, folded]).T, label=["divided", "not divided", "folded"])
steps that are stairs
    axes.semilogy(divided, label => axes.set_yscale("log", base=2)
    + axes.step(range(31), divided, where="mid", label
steps drawn as a style
    semilogy(divided, label => semilogy(np.arange(31.0), divided, drawstyle="steps-post", label
marks at every fifth step
    semilogy(undivided, label => semilogy(undivided, "s-", markevery=5, label
error bars around losses
    semilogy(divided, label => errorbar(range(31), divided, yerr=0.01, label
losses as lists
    semilogy(divided, => semilogy(list(range(31)), divided.tolist(),
a limit with both ends, and a margin
    axes.set_ylim(top=1000) => axes.margins(0.1); axes.set_ylim(1e-4, 1e3); axes.set_xlim(-1, 31)
a legend outside, in another order
    axes.legend() => handles, names = axes.get_legend_handles_labels()
    + axes.legend(handles[::-1], names[::-1], bbox_to_anchor=(1, 1))
a collection of lines, for losses
    axes.semilogy(divided, label="divided") => from matplotlib.collections import LineCollection
    + lines = [np.column_stack([range(31), divided])]
    + axes.add_collection(LineCollection(lines, label="divided"))
losses of a loop of its own with names of its own
    undivided = train( => training = train
    + undivided = training(
""",
    two.ablation,
)  # fmt: skip

BASES = {
    "problem_set_1": {
        "q1": one.SPLIT,
        "q2": one.WIDTHS + one.TABLE,
        "q3": CALLABLE,
        "q4": one.DRAWN,
    },
    "problem_set_2": {
        "q1": two.GIVEN + two.ON_PAPER,
        "q2": two.RIGHT,
        "q3": two.attention(),
        "q4": two.ablation(),
    },
}
OWN: dict[str, Sources] = {
    "problem_set_1": {"q1": NUMBERS, "q2": TABLES, "q3": POSITIONS, "q4": SPREADS},
    "problem_set_2": {"q1": STEPS, "q2": TEMPERATURES, "q3": OUTPUTS, "q4": ARMS},
}


def around(place: int, source: str) -> tuple[Variant, ...]:
    """Return a right answer in every fourth surrounding; `mine` need not have been made there."""
    chosen = list(AROUND.items())[place % 4 :: 4]
    source = source if "mine" in source else f"mine = 'nothing'\n{source}"
    return tuple(Variant(name, change(source.lstrip("\n"))) for name, change in chosen)


UNUSUAL: dict[str, Sources] = {
    assignment: {
        question: (*OWN[assignment][question], *around(4 * i + j, source))
        for j, (question, source) in enumerate(questions.items(), start=i)
    }
    for i, (assignment, questions) in enumerate(BASES.items())
}
"""The right answers to each question of each problem set."""
