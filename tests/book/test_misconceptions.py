"""Each misconception has a test, and the test fails in a world where the sentence is true.

An entry is a third-level heading in quotation marks with the cells up to the next heading. It has
to say what its sentence predicts, and to assert something. Then each entry runs on its own after
the chapter's first cell. With other seeds than on the page it passes, so the verdict is no luck.
Altered so that its sentence comes true, one of its assertions has to fail. An alteration meets the
condition of the sentence (one head, few keys, no correlation), or replaces what the sentence is
about: a softmax that sees ratios, training that leaves no trace, a list in which all models divide
alike.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import nbformat
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from attnbook.initialization import INITIALIZERS
from attnbook.training import train_together
from tests.book.notebooks import ROOT, code, notebook, read

NAME = "chapters/10_misconceptions.ipynb"
HEADING = re.compile(r"^#{2,} (?P<title>.*)$", re.MULTILINE)
QUOTED = re.compile(r"^### “(?P<claim>.+)”$", re.MULTILINE)
PREDICTION = "# If true: "
FEWEST = 20


@dataclass
class Entry:
    """One sentence and the cells that test it."""

    claim: str
    cells: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """All cells as one piece of code."""
        return "\n".join(self.cells)


def entries(content: nbformat.NotebookNode) -> dict[str, Entry]:
    """Return the entries of a notebook by their sentence; the cells that test it alone count."""
    found: dict[str, Entry] = {}
    current: Entry | None = None
    for cell in content.cells:
        if cell.cell_type == "markdown":
            # a cell may hold several headings, and only the last has the code below it
            for heading in HEADING.finditer(cell.source):
                quoted = QUOTED.match(heading[0])
                current = Entry(quoted["claim"]) if quoted else None
                if current is not None:
                    found[current.claim] = current
        elif current is not None and "predict" not in cell.metadata.get("tags", []):
            current.cells.append(cell.source)
    return found


def can_fail(node: ast.AST) -> bool:
    """Say whether a node is an assertion of something that had to be computed."""
    return isinstance(node, ast.Assert) and any(
        isinstance(part, ast.Name) for part in ast.walk(node.test)
    )


def entry_problems(content: nbformat.NotebookNode) -> list[str]:
    """Ask of every entry a cell, a prediction in its first line, and an assertion."""
    found = entries(content)
    problems = [] if len(found) >= FEWEST else [f"only {len(found)} misconceptions"]
    for entry in found.values():
        if not entry.cells:
            problems.append(f"no cell tests «{entry.claim}»")
            continue
        if not entry.cells[0].startswith(PREDICTION):
            problems.append(f"nothing says what «{entry.claim}» predicts")
        if not any(can_fail(node) for node in ast.walk(ast.parse(entry.source))):
            problems.append(f"nothing is asserted about «{entry.claim}»")
    return problems


CHAPTER = read(NAME)
ENTRIES = entries(CHAPTER)
SETUP = next(cell.source for cell in CHAPTER.cells if cell.cell_type == "code")


@dataclass(frozen=True)
class World:
    """What makes a sentence true: other text in its cell, or other things under known names."""

    text: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)


def shares(values: Any) -> np.ndarray:
    """Return a row that depends on ratios of scores, and so gives nothing to a score of zero."""
    values = np.round(np.asarray(values, float), 9)
    total = values.sum(axis=-1, keepdims=True)
    return values / np.where(total == 0, 1, total)


def saturating_above_five(values: Any) -> np.ndarray:
    """Return a row whose largest weight is 0.99 if its top score is above five, and else 0.5."""
    return np.array([0.99 if max(values) > 5 else 0.5])


def hardly_train(seed: int, learners: Any, **settings: Any) -> Any:
    """Train for two steps instead of hundreds: models that learn nothing and keep their spread."""
    steps = min(settings.pop("steps"), 2)
    return train_together(seed, learners, **settings | {"steps": steps, "record_at": (0, steps)})


def normal_sf(score: float, d_k: int) -> float:
    """Return the tail that a normal score of variance d_k would have."""
    return NormalDist().cdf(-score / math.sqrt(d_k))


def all_divide(text: str) -> Any:
    """Read the list of models, and say of each that it divides by the root."""
    data = json.loads(text)
    for model in data["models"]:
        model["kind"] = "1/√dₖ"
    return data


TRUE_IN: dict[str, list[World]] = {
    "The division is there to prevent overflow": [
        # dividing is as good as sliding
        World({"scores / 64": "scores - 64"}),
        # nothing but the division prevents it
        World({"single - single.max(axis=-1, keepdims=True)": "single"}),
    ],
    "Then number formats have nothing to do with it": [
        World({"np.float16": "np.float32"}),
    ],
    "Dividing is right because it preserves the ratios of the scores": [
        World(names={"softmax": shares}),
    ],
    "Softmax saturates once a score is above five": [
        World(names={"softmax": saturating_above_five}),
    ],
    "The variance of a score is always exactly $d_k$": [
        World({"(q + shift, k + shift)": "(q, k)"}),
        World(
            {"n_groups, rho = 64, 40_000, 0.5, 4, 0.5": "n_groups, rho = 64, 40_000, 0.5, 64, 0.5"}
        ),
        World(
            {"n_groups, rho = 64, 40_000, 0.5, 4, 0.5": "n_groups, rho = 64, 40_000, 0.5, 4, 0.0"}
        ),
    ],
    r"Components of variance $\sigma^2$ give scores of variance $d_k\,\sigma^2$": [
        # only one of the two has this variance, the other has one
        World({"q, k = std * rng": "q, k = np.reshape([std, 1], (2, 1, 1)) * rng"}),
    ],
    "The dot product grows in proportion to $d_k$": [
        World(
            names={
                "sample_scores": lambda d_k, size, rng: d_k / 8 * rng.standard_normal(size),
            }
        ),
        # equal keys and queries: a mean of d_k
        World(
            names={
                "sample_scores": lambda d_k, size, rng: rng.chisquare(d_k, size),
            }
        ),
    ],
    "By the central limit theorem a score is a normal number": [
        World(names={"score_sf": normal_sf}),
    ],
    "The $d$ under the root is the width of the model": [
        World({"n_heads = 512, 8": "n_heads = 512, 1"}),
    ],
    "Xavier and LayerNorm give $q$ and $k$ unit variance, so logits start at one": [
        World(names={"INITIALIZERS": dict.fromkeys(INITIALIZERS, INITIALIZERS["xavier_square"])}),
    ],
    "Without the division the gradients vanish": [
        World({"gradients, 1024, rows_of_many": "gradients, 4, rows_of_many"}),
    ],
    "The softer the row, the longer its gradient": [
        # few keys, from the divisor at which their gradient is about longest
        World({"medians(1024, 200": "medians(4, 2000", "(64, 16, 8, 4, 1)": "(4, 2, 1)"}),
    ],
    "Without the division the model learns nothing": [
        World(names={"train_together": hardly_train}),
    ],
    "A sharp row throws information away": [
        # queries hardly resemble their keys, and chance picks the one that is read
        World({"match = 1024, 1000, 0.9": "match = 1024, 1000, 0.1"}),
    ],
    "With the division, logits keep a standard deviation near one": [
        World(names={"train_together": hardly_train}),
    ],
    r"$\sqrt{d_k}$ is the right divisor, whatever a head is for": [
        # whatever the goal is called, 4 keys hold the answer
        World({":matching]": ":4]"}),
    ],
    "Dividing by $d_k$ would be far too much": [
        # a divisor that does leave the rows even
        World({"Learner(256, 1 / 256,": "Learner(256, 1e-9,"}),
    ],
    "A narrow head starts soft without it, however long its row": [
        World({"width, n, 2000": "width, 16, 2000"}),
    ],
    r"Every model divides by $\sqrt{d_k}$": [
        World(names={"json": SimpleNamespace(loads=all_divide)}),
    ],
    "The factor has to appear in the formula": [
        World({"(w_q / 8)": "w_q"}),
    ],
    "It is printed, so it has been computed": [
        World({"(0.09, 0.24, 0.67)": "(0.035, 0.259, 0.705)"}),
        World({"(0.31, 0.07, 0.30, 0.05, 0.12)": "(0.37, 0.08, 0.35, 0.06, 0.14)"}),
        World({"8.5 - 7.9": "8.5 - 3.9"}),
        World({"25 / lengths": "2 / lengths"}),
    ],
    "Dividing takes weight from every key that has more than its even share": [
        World({"[8.0, 7.0, 0.0, 0.0]": "[8.0, 8.0, 0.0, 0.0]"}),
    ],
    "A key at right angles to its query gets no weight": [
        World(names={"softmax": shares}),
    ],
}


@pytest.fixture(autouse=True)
def in_the_folder_of_the_chapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(ROOT / "chapters")
    with threadpool_limits(1, user_api="blas"):
        yield


def execute(source: str, name: str, space: dict[str, Any]) -> None:
    """Execute code of the chapter; a traceback will say `name`."""
    exec(compile(source, name, "exec"), space)  # noqa: S102 - the project's own notebook


def other_rng(seed: Any) -> np.random.Generator:
    """Return a generator for another seed; the sequence of a training run is that run's own."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng([10, *np.atleast_1d(seed)])


def run(entry: Entry, world: World | None = None) -> None:
    """Execute an entry after the first cell of the chapter, and after nothing else."""
    source, names = entry.source, {}
    if world is not None:
        for old, new in world.text.items():
            assert old in source, f"«{entry.claim}» does not hold {old!r}"
            source = source.replace(old, new)
        names = dict(world.names)
    space: dict[str, Any] = {"other_rng": other_rng}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            execute(SETUP, "first cell", space)
            unknown = set(names) - set(space)
            assert not unknown, f"the first cell knows no {unknown}"
            space |= names
            execute(source, entry.claim, space)
    finally:
        space.clear()  # a failure's traceback would hold all samples until somebody collects it


def fails(entry: Entry, world: World) -> bool:
    """Say whether an assertion in the entry's own cells fails in this world."""
    try:
        run(entry, world)
    except AssertionError as failure:
        trace = failure.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == entry.claim:
                return True
            trace = trace.tb_next
        raise
    return False


def test_each_misconception_has_a_test() -> None:
    assert entry_problems(CHAPTER) == []


def test_each_misconception_has_a_world_where_it_is_true() -> None:
    assert set(TRUE_IN) == set(ENTRIES)
    assert all(TRUE_IN.values())


def other_seeds(entry: Entry) -> World:
    """Return a world in which all draws of an entry are others; what is right stays right."""
    text = {}
    if "default_rng(" in entry.source:
        text["np.random.default_rng("] = "other_rng("
    for seeds in re.findall(r"in \((10\d(?:, 10\d)*)\)", entry.source):  # of training
        text[seeds] = seeds.replace("10", "11")
    return World(text)


@pytest.mark.proof("examples")
@pytest.mark.parametrize("claim", ENTRIES)
def test_an_entry_runs_alone_and_with_other_seeds(claim: str) -> None:
    entry = ENTRIES[claim]
    run(entry, other_seeds(entry))


def test_other_seeds_are_others() -> None:
    entry = Entry("one", ["x = np.random.default_rng(3).random()\nfor y in (100, 101):\n    y"])
    world = other_seeds(entry)
    assert world.text == {"np.random.default_rng(": "other_rng(", "100, 101": "110, 111"}
    assert other_rng(3).random() != np.random.default_rng(3).random()
    kept = np.random.SeedSequence(3)
    assert other_rng(kept).random() == np.random.default_rng(3).random()


@pytest.mark.parametrize(
    ("claim", "world"),
    [
        pytest.param(claim, world, id=f"{claim}-{number}")
        for claim, worlds in TRUE_IN.items()
        for number, world in enumerate(worlds, start=1)
    ],
)
def test_an_assertion_fails_where_the_sentence_is_true(claim: str, world: World) -> None:
    assert fails(ENTRIES[claim], world)


TESTED = """### “Two is the root of five”

A sentence."""


def small(*cells: nbformat.NotebookNode | str) -> nbformat.NotebookNode:
    """Make a chapter with enough sound entries, and these cells at the end."""
    sound = [
        part
        for number in range(FEWEST)
        for part in (
            f"### “Sentence {number}”",
            code(f"# If true: it is one.\nx = {number}\nassert x == {number}"),
        )
    ]
    return notebook(*sound, *cells)


def test_sound_entries_pass() -> None:
    assert entry_problems(small()) == []
    cell = code("# If true: 2 * 2 is 5.\ny = 2 * 2\nassert y == 4")
    assert entry_problems(small(TESTED, cell)) == []


@pytest.mark.parametrize(
    "cells",
    [
        [TESTED],
        [TESTED, code("# If true: a\nassert x", tags=["predict"])],
        [TESTED, "## Another section", code("# If true: a\nassert x")],
        [TESTED + "\n\n### Another entry", code("# If true: a\nassert x")],
        [TESTED, code("y = 2 * 2\nassert y == 4")],
        [TESTED, code("# If true: 2 * 2 is 5.\ny = 2 * 2\nprint(y)")],
        [TESTED, code("# If true: 2 * 2 is 5.\ny = 2 * 2\nassert 2 * 2 == 4")],
        [TESTED, code("# If true: 2 * 2 is 5.\ny = 2 * 2\nassert True")],
    ],
)
def test_an_untested_sentence_is_reported(cells: list[nbformat.NotebookNode | str]) -> None:
    (problem,) = entry_problems(small(*cells))
    assert "«Two is the root of five»" in problem


def test_too_few_sentences_are_reported() -> None:
    assert entry_problems(notebook("# Title")) == ["only 0 misconceptions"]


def test_a_world_in_which_nothing_is_altered_fails_no_assertion() -> None:
    entry = Entry("one", ["# If true: two\nvalue = math.sqrt(1)\nassert value == 1"])
    assert not fails(entry, World())
    assert fails(entry, World({"math.sqrt(1)": "math.sqrt(4)"}))
    assert fails(entry, World(names={"math": SimpleNamespace(sqrt=lambda _: 2.0)}))


@pytest.mark.parametrize("world", [World({"no such text": ""}), World(names={"no_such_name": 1})])
def test_a_world_that_alters_nothing_is_no_failure_of_the_entry(world: World) -> None:
    entry = Entry("one", ["# If true: two\nvalue = 1\nassert value == 1"])
    with pytest.raises(AssertionError, match=r"does not hold|knows no"):
        fails(entry, world)
