"""Every chapter has the same frame, its figures can be read aloud, and its draws are seeded."""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from book.model import DEEPER, Figure, Page, figure_of, review_questions, shown_code, tags
from book.normal_form import fold
from tests.book.notebooks import (
    CHAPTERS,
    NOTEBOOKS,
    code,
    notebook,
    printed,
    read,
    text_of,
    visible_words,
)

CONTRACT = re.compile(
    r":{3,}\{admonition\} Contract\n:class: contract\n+(?P<body>.*?)\n:{3,}", re.DOTALL
)
PROMISES = [
    r"\*\*You will be able to\*\* \S.*",
    r"\*\*You need\*\* \S.*",
    r"\*\*Difficulty\*\* (?:★☆☆ gentle|★★☆ moderate|★★★ demanding)",
]
PREDICT = re.compile(
    r":{3,}\{admonition\} Predict first\n:class: predict\n+(?P<body>.*?)\n:{3,}", re.DOTALL
)
PREDICTIONS = 1
TAKEAWAYS = RECALLED = 3
READINGS = range(2, 5)
CORE_WORDS = {
    "ch-puzzle": 850,
    "ch-saturation": 900,
    "ch-gradients": 1100,
    "ch-initialization": 800,
    "ch-training": 950,
    "ch-misconceptions": 850,
}
USUAL_CORE, MARGIN = 780, 0.15
MOST_WORDS = 3200
MOST_FIGURES = 6
WIDEST, LONGEST = 72, 15
DESCRIPTION = range(40, 200)
# The chapter that asks in exercises instead of predictions.
EXERCISES = "chapters/11_exercises.ipynb"
SEEDED = {"default_rng", "Generator", "SeedSequence", "PCG64"}


def section(content: nbformat.NotebookNode, title: str) -> str:
    """Return the text under a second-level heading."""
    pattern = rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, text_of(content), re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def items(text: str) -> list[str]:
    """Return the top-level items of the lists in a text."""
    return re.findall(
        r"^(?:[-*]|\d+\.) +(.*(?:\n(?:[ \t]+\S.*|\S(?<![-*]).*))*)", text, re.MULTILINE
    )


def title_problems(content: nbformat.NotebookNode) -> list[str]:
    """Hold the first cell and the page's description against the frame."""
    problems = []
    first = content.cells[0]
    opening = re.match(r"\([\w-]+\)=\n+# (?P<title>[^\n]+)\n+\S", first.source)
    if first.cell_type != "markdown" or opening is None:
        problems.append("no label, title and opening paragraph in the first cell")
    elif "$" in opening["title"] or "`" in opening["title"]:
        problems.append("the title holds markup")
    if len(re.findall(r"^# ", text_of(content), re.MULTILINE)) != 1:
        problems.append("more or less than one title")
    description = content.metadata.get("myst", {}).get("html_meta", {}).get("description", "")
    if len(description) not in DESCRIPTION or not description.endswith("."):
        problems.append("no description that is a sentence of a fitting length")
    return problems


def blank_problems(content: nbformat.NotebookNode) -> list[str]:
    """Name what `make chapter` has left to the author."""
    places = {f"cell {number}": cell.source for number, cell in enumerate(content.cells, start=1)}
    places["metadata"] = json.dumps(content.metadata, ensure_ascii=False)
    return [
        f"{place}: fill in {blank}"
        for place, text in places.items()
        for blank in re.findall("«[^»]*»", text)
    ]


def contract_problems(content: nbformat.NotebookNode) -> list[str]:
    """Look for the contract above the first code cell."""
    kinds = [cell.cell_type for cell in content.cells]
    above = content.cells[: kinds.index("code")] if "code" in kinds else content.cells
    found = CONTRACT.search("\n\n".join(cell.source for cell in above))
    if found is None:
        return ["no contract above the first code cell"]
    promises = items(found["body"])
    if len(promises) != len(PROMISES):
        return [f"the contract has {len(promises)} lines"]
    return [
        f"the contract's line «{promise}» has another form"
        for promise, form in zip(promises, PROMISES, strict=True)
        if not re.fullmatch(form, " ".join(promise.split()))
    ]


def is_answered(cell: nbformat.NotebookNode) -> bool:
    """Say whether in this cell the reader answers and commits."""
    return "predict" in cell.metadata.get("tags", [])


def commitment_problems(content: nbformat.NotebookNode) -> list[str]:
    """Look for questions whose answer the reader gives on the page, each right below its box."""
    problems = []
    answered = [index for index, cell in enumerate(content.cells) if is_answered(cell)]
    for index in answered:
        cell, above = content.cells[index], content.cells[index - 1]
        box = list(PREDICT.finditer(above.source))
        if not box or above.source[box[-1].end() :].strip():
            problems.append(f"cell {index + 1} is not right below a question")
        if "remove-input" not in cell.metadata.tags:
            problems.append(f"cell {index + 1} shows the answer in its source")
        if not commitments(content, index):
            problems.append(f"cell {index + 1} ends with no question to answer")
    return problems if answered else ["no prediction can be committed to"]


def commitments(content: nbformat.NotebookNode, *indices: int) -> set[str]:
    """Return which kinds of question some cells ask, or all that are tagged."""
    cells = [content.cells[index] for index in indices] or filter(is_answered, content.cells)
    shown = (output.get("data", {}).get("text/html", "") for c in cells for output in c.outputs)
    return {kind for html in shown for kind in re.findall(r'<form class="prediction (\w+)"', html)}


def prediction_problems(content: nbformat.NotebookNode) -> list[str]:
    """Look for a cell that answers after each question, and for words right after the cell."""
    asked = [index for index, cell in enumerate(content.cells) if PREDICT.search(cell.source)]
    page = Page("page", Path("page.ipynb"), notebook=content)
    boxes = [prediction.question for prediction in page.predictions]
    problems = [] if len(boxes) >= PREDICTIONS else [f"only {len(boxes)} predictions"]
    silent = sum(prediction.cell is None for prediction in page.predictions)
    problems += [f"{silent} predictions cannot be answered"] if silent else []
    problems += [f"no question in «{body[:40]}»" for body in boxes if "?" not in body]
    if len(boxes) != len(asked):
        problems.append("two predictions in one cell")
    for index, following in zip(asked, [*asked[1:], len(content.cells)][: len(asked)], strict=True):
        kinds = [
            "reader" if is_answered(cell) else cell.cell_type for cell in content.cells[index + 1 :]
        ]
        if "code" not in kinds[: following - index - 1]:
            problems.append(f"no code cell answers the prediction in cell {index + 1}")
        elif "markdown" not in kinds[kinds.index("code") :]:
            problems.append(f"nothing says what came out after the prediction in cell {index + 1}")
    return problems


def ending_problems(content: nbformat.NotebookNode) -> list[str]:
    """Count the takeaways, and the works to read with their citations."""
    problems = []
    if len(items(section(content, "Takeaways"))) != TAKEAWAYS:
        problems.append("the takeaways are not three")
    readings = items(section(content, "Read more"))
    if len(readings) not in READINGS:
        problems.append(f"{len(readings)} works to read more")
    problems += [f"no citation in «{work[:40]}»" for work in readings if "{cite" not in work]
    return problems


def words_in(cells: Iterable[nbformat.NotebookNode]) -> int:
    """Count the words that a reader sees in texts."""
    texts = (cell.source for cell in cells if cell.cell_type == "markdown")
    return sum(len(visible_words(text).split()) for text in texts)


def size_problems(content: nbformat.NotebookNode) -> list[str]:
    """Hold the chapter to one question: so many words and figures at most, without exercises."""
    cells = Page("page", Path("page.ipynb"), notebook=content).main_path()
    words, figures = words_in(cells), sum(draws(cell) for cell in cells)
    problems = [f"{words} words, at most {MOST_WORDS} are allowed"] if words > MOST_WORDS else []
    return problems + ([f"{figures} figures"] if figures > MOST_FIGURES else [])


def core_problems(content: nbformat.NotebookNode) -> list[str]:
    """Look at what is above "Deeper": short, with a question, a figure, and what to remember."""
    page = Page("page", Path("page.ipynb"), notebook=content)
    core, problems = page.core(), []
    if DEEPER not in [block.title for block in page.sections]:
        problems.append("nothing is deeper")
    label = re.search(r"\(([\w-]+)\)=", content.cells[0].source)
    wanted = CORE_WORDS.get(label[1] if label else "", USUAL_CORE)
    if abs((words := words_in(core)) - wanted) > MARGIN * wanted:
        problems.append(f"{words} words in the core, about {wanted} are wanted")
    if sum("predict" in tags(cell) for cell in core) != 1:
        problems.append("not one prediction in the core")
    if len(list(shown_code(core))) > 1:
        problems.append("more than one visible cell in the core")
    if not any("## Takeaways" in cell.source for cell in core):
        problems.append("the takeaways are not in the core")
    asked = review_questions(core)
    if len(asked) != RECALLED or not all(title.endswith("?") and answer for title, answer in asked):
        problems.append("not three review questions with answers in the core")
    return problems


def code_problems(content: nbformat.NotebookNode) -> list[str]:
    """Hold visible cells to what a phone shows and a reader reads."""
    problems = []
    for cell in shown_code(content.cells):
        lines, number = cell.source.splitlines(), content.cells.index(cell) + 1
        if len(lines) > LONGEST:
            problems.append(f"cell {number} has {len(lines)} lines")
        wide = max(map(len, lines), default=0)
        if wide > WIDEST:
            problems.append(f"cell {number} is {wide} columns wide")
    return problems


def draws(cell: nbformat.NotebookNode) -> bool:
    """Say whether a cell makes a figure."""
    if cell.cell_type != "code":
        return False
    called = [node.func for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    names = {ast.unparse(function) for function in called}
    return any(name.startswith(("plt.", "plots.")) for name in names)


def figure_problems(content: nbformat.NotebookNode) -> list[str]:
    """Ask of every figure a name, a caption and a text that says what it means."""
    problems = []
    for number, cell in enumerate(content.cells, start=1):
        if not draws(cell):
            continue
        figure = figure_of(cell) or Figure("", "", "", cell)
        if not figure.name.startswith("fig-"):
            problems.append(f"the figure of cell {number} has no name")
        if len(figure.caption.split()) < 4:
            problems.append(f"the figure of cell {number} has no caption")
        if len(figure.alternative.split()) < 5:
            problems.append(f"the figure of cell {number} has no alternative text")
        if figure.alternative and figure.alternative == figure.caption:
            problems.append(f"the figure of cell {number} has its caption as alternative text")
        if "plt.show()" not in cell.source:
            problems.append(f"the figure of cell {number} is not shown by plt.show()")
    return problems


def _random_call_problem(node: ast.Call) -> str | None:
    name = ast.unparse(node.func)
    if name.split(".")[-1] == "default_rng":
        unseeded = not (node.args or node.keywords) or ast.unparse(node).endswith("(None)")
        return f"{ast.unparse(node)} is not seeded" if unseeded else None
    if re.fullmatch(r"(?:np|numpy)\.random\.\w+", name) and name.split(".")[-1] not in SEEDED:
        return f"{name} uses the global generator"
    return None


def random_problems(content: nbformat.NotebookNode) -> list[str]:
    """Find draws whose values nobody can repeat."""
    problems = []
    for cell in content.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import) and any(
                name.name in {"random", "secrets"} for name in node.names
            ):
                problems.append("imports a generator without a seed")
            elif isinstance(node, ast.ImportFrom) and (node.module or "") in {
                "random",
                "secrets",
                "numpy.random",
            }:
                problems.append(f"imports from {node.module}")
            elif isinstance(node, ast.Call) and (problem := _random_call_problem(node)):
                problems.append(problem)
    return problems


def setup_problems(content: nbformat.NotebookNode) -> list[str]:
    """Ask of cells that only prepare, with imports and helpers, that a reader can pass them by."""
    problems = []
    for number, cell in enumerate(content.cells, start=1):
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type != "code" or cell.outputs or "answer" in tags:
            continue
        statements = ast.parse(cell.source).body
        if not statements or not isinstance(statements[0], ast.Import | ast.ImportFrom):
            continue
        if any(isinstance(node, ast.For | ast.Assert) for node in statements) or draws(cell):
            continue  # a check, which is silent, or a figure, which is not stored
        if not tags & {"hide-input", "hide-cell", "remove-input"}:
            problems.append(f"cell {number} only prepares and is not folded")
        elif tags == {"hide-input"} and "code_prompt_show" not in cell.metadata.get("mystnb", {}):
            problems.append(f"cell {number} does not say what is folded away")
    return problems


Check = Callable[[nbformat.NotebookNode], list[str]]
CHAPTER_CHECKS: list[Check] = [contract_problems, ending_problems, size_problems]
PREDICTION_CHECKS: list[Check] = [prediction_problems, commitment_problems, core_problems]
PAGE_CHECKS: list[Check] = [
    *(blank_problems, title_problems, figure_problems, random_problems, setup_problems),
    code_problems,
]


@pytest.mark.parametrize(
    ("name", "check"),
    [
        *itertools.product(NOTEBOOKS, PAGE_CHECKS),
        *itertools.product(CHAPTERS, CHAPTER_CHECKS),
        *itertools.product((name for name in CHAPTERS if name != EXERCISES), PREDICTION_CHECKS),
    ],
)
def test_a_page_keeps_the_frame(name: str, check: Check) -> None:
    problems = check(read(name))
    assert not problems, "\n".join(problems)


def test_the_book_asks_for_choices_estimates_and_sketches() -> None:
    kinds = set().union(*(commitments(read(name)) for name in CHAPTERS))
    assert kinds == {"choice", "estimate", "sketch"}


def test_jupyterlab_hides_what_the_page_hides_and_what_answers_a_prediction() -> None:
    question = ":::{admonition} Predict first\n:class: predict\nHow many?\n:::"
    page = notebook(
        "# Title",
        code("a"),
        question,
        code("answer", tags=["predict", "remove-input"]),
        "Look.",
        code("b"),
        code("c"),
        code("d", tags=["hide-input"]),
        question,
        code("e", tags=["hide-cell"]),
        code("f", tags=["hide-output"]),
    )
    shown = {
        cell.source: set(cell.metadata.get("jupyter", {}))
        for cell in fold(page).cells
        if cell.cell_type == "code"
    }
    source, outputs = "source_hidden", "outputs_hidden"
    assert shown == {
        "a": set(),
        "answer": {source},
        "b": {outputs},
        "c": set(),
        "d": {source},
        "e": {source, outputs},
        "f": {outputs},
    }


OPENING = "(ch-x)=\n# A title\n\nOne paragraph."
AGREEMENT = """:::{admonition} Contract
:class: contract
- **You will be able to** say why
  it is so
- **You need** algebra
- **Difficulty** ★★☆ moderate
:::"""
QUESTION = ":::{admonition} Predict first\n:class: predict\nWhich one?\n:::"
DRAW = "rng = np.random.default_rng(3)\nfig = plots.lines(rng.normal(size=3))\nplt.show()"
FIGURE = {
    "figure": {"name": "fig-x", "caption": "Three draws as a line."},
    "image": {"alt": "The line first falls and then rises."},
}
LESSONS = """## Takeaways

- a
- b
  and more
- c

## Recall

""" + "\n\n".join([":::{admonition} Why?\n:class: dropdown recall\nBecause.\n:::"] * 3)
ENDING = """## Read more

- {cite}`a` says it.
- {cite:t}`b` too."""


def chapter(
    opening: str = OPENING,
    contract: str = AGREEMENT,
    question: str = QUESTION,
    draw: str = DRAW,
    takeaways: str = LESSONS,
    ending: str = ENDING,
) -> nbformat.NotebookNode:
    """Make a chapter that keeps the frame, some of its parts replaced."""
    asked = [question, committing().cells[1], code("print(1)", [printed("1")]), "It was one."]
    core = [opening, contract, *asked, "word " * 640, takeaways]
    deeper = ["## Deeper\n\nMore.", *asked, code(draw, **FIGURE), ending]
    return notebook(*core, *deeper, description="A sentence that says what the page is about.")


@pytest.mark.parametrize("check", [*CHAPTER_CHECKS, *PREDICTION_CHECKS, *PAGE_CHECKS])
def test_a_chapter_in_the_frame_passes(check: Check) -> None:
    assert check(chapter()) == []


@pytest.mark.parametrize(
    ("check", "changed"),
    [
        (title_problems, {"opening": "# A title\n\nOne paragraph."}),
        (title_problems, {"opening": "(ch-x)=\n# A title\n"}),
        (title_problems, {"opening": "(ch-x)=\n# A $d_k$ title\n\nOne paragraph."}),
        (title_problems, {"ending": "# Another title"}),
        (contract_problems, {"contract": "No contract."}),
        (contract_problems, {"contract": AGREEMENT.replace("★★☆", "★★")}),
        (contract_problems, {"contract": AGREEMENT.replace("- **You need** algebra\n", "")}),
        (prediction_problems, {"question": "Which one?"}),
        (prediction_problems, {"question": QUESTION.replace("?", ".")}),
        (prediction_problems, {"question": QUESTION + "\n\n" + QUESTION}),
        (ending_problems, {"takeaways": LESSONS.replace("\n- c", "")}),
        (core_problems, {"takeaways": LESSONS.replace("Why?", "Why")}),
        (core_problems, {"takeaways": LESSONS.replace("Because.", "")}),
        (core_problems, {"takeaways": LESSONS[: LESSONS.rindex(":::{")]}),
        (ending_problems, {"takeaways": LESSONS.replace("- c", "- c\n- d")}),
        (ending_problems, {"ending": ENDING.replace("{cite:t}`b`", "b")}),
        (ending_problems, {"ending": ENDING.replace("- {cite:t}`b` too.", "")}),
        (size_problems, {"ending": "word " * 4301}),
        (core_problems, {"ending": ENDING, "takeaways": "## Takeaways\n\n" + "word " * 950}),
        (core_problems, {"takeaways": "Words."}),
        (core_problems, {"question": f"## Deeper\n\n{QUESTION}"}),
        (core_problems, {"opening": f"{OPENING}\n\n## Deeper"}),
        (code_problems, {"draw": "x = 1\n" * 16}),
        (code_problems, {"draw": "x" * 73}),
        (figure_problems, {"draw": DRAW.replace("plt.show()", "")}),
        (random_problems, {"draw": DRAW.replace("default_rng(3)", "default_rng()")}),
        (random_problems, {"draw": DRAW.replace("default_rng(3)", "default_rng(None)")}),
        (random_problems, {"draw": "np.random.seed(3)"}),
        (random_problems, {"draw": "np.random.normal(size=3)"}),
        (random_problems, {"draw": "import random"}),
        (random_problems, {"draw": "from numpy.random import normal"}),
    ],
)
def test_a_chapter_outside_the_frame_is_reported(check: Check, changed: dict[str, str]) -> None:
    assert check(chapter(**changed))


def test_a_cell_that_only_prepares_is_folded() -> None:
    source = "import numpy as np\n\n\ndef half(x):\n    return x / 2"
    named = {"code_prompt_show": "Imports and small helpers"}
    for cell, problems in (
        (code(source), ["cell 2 only prepares and is not folded"]),
        (code(source, tags=["hide-input"]), ["cell 2 does not say what is folded away"]),
        (code(source, tags=["hide-input"], **named), []),
        (code(f"{source}\nprint(half(3))", [printed("1.5")]), []),
    ):
        assert setup_problems(notebook("# A", cell)) == problems


def committing(
    tags: tuple[str, ...] = ("predict", "remove-input"), above: str = QUESTION, kind: str = "choice"
) -> nbformat.NotebookNode:
    """Make a notebook with one question that can be answered on the page."""
    form = nbformat.v4.new_output(
        "execute_result", {"text/html": f'<form class="prediction {kind}">'}
    )
    return notebook(above, code("Choice()", [form], tags=tags), code("print(1)"), "It was one.")


def test_a_question_that_can_be_answered_passes() -> None:
    assert commitment_problems(committing()) == []
    assert commitments(committing(kind="sketch")) == {"sketch"}


@pytest.mark.parametrize(
    "changed",
    [
        {"tags": ("remove-input",)},
        {"tags": ("predict",)},
        {"above": "Words."},
        {"above": f"{QUESTION}\n\nWords."},
        {"kind": ""},
    ],
)
def test_a_question_out_of_place_is_reported(changed: dict[str, Any]) -> None:
    assert len(commitment_problems(committing(**changed))) == 1


def test_a_question_does_not_count_as_its_answer() -> None:
    content = notebook(*[QUESTION, committing().cells[1], "Words."] * 3)
    assert len(prediction_problems(content)) == 3


def test_a_prediction_that_can_only_be_made_in_the_head_is_reported() -> None:
    content = notebook(QUESTION, code("print(1)"), "It was one.")
    assert prediction_problems(content) == ["1 predictions cannot be answered"]


def test_the_core_shows_one_cell_at_most_and_goes_deeper() -> None:
    content = chapter()
    content.cells.insert(6, code("print(2)"))
    assert core_problems(content) == ["more than one visible cell in the core"]
    content.cells = [cell for cell in chapter().cells if "## Deeper" not in cell.source]
    assert "nothing is deeper" in core_problems(content)


def test_a_prediction_after_its_answer_is_reported() -> None:
    content = chapter()
    content.cells[2], content.cells[4] = content.cells[4], content.cells[2]
    assert prediction_problems(content)


@pytest.mark.parametrize(
    ("group", "key", "instead"),
    [
        ("figure", "name", {}),
        ("figure", "caption", {}),
        ("image", "alt", {}),
        ("image", "alt", {"alt": FIGURE["figure"]["caption"]}),
    ],
)
def test_a_figure_without_words_of_its_own_is_reported(
    group: str, key: str, instead: dict[str, str]
) -> None:
    content = chapter()
    shown = content.cells[-2].metadata["mystnb"][group]
    del shown[key]
    shown.update(instead)
    assert len(figure_problems(content)) == 1


def test_too_many_figures_are_reported() -> None:
    content = chapter()
    content.cells += [content.cells[-2]] * 6
    assert size_problems(content) == ["7 figures"]


def test_a_page_without_description_is_reported() -> None:
    assert title_problems(notebook(OPENING, description="No")) == [
        "no description that is a sentence of a fitting length"
    ]
