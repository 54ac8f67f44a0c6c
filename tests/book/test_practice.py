"""The practice notebooks come from the chapters, run as they are, and keep the solutions."""

from __future__ import annotations

import ast
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from attnbook.exercises._exercise import Check, exercises
from attnbook.exercises._judges import Function, Pick
from attnbook.exercises._verdict import Verdict
from book.model import Book, BookError, Page
from book.plain import PlainError
from tests.book import building
from tests.book.notebooks import BOOK, WITHOUT_PLAIN_FORM, code, notebook, read, write_book
from tools import practice
from tools.practice import BEGIN, END, FOLDED, ForPractice, main, stub, wanted

STEMS = [page.stem for page in BOOK.chapters if page.exercises]
MYST = re.compile(r"\{[\w:-]+\}`|:::|`{3}\{")


@cache
def made() -> dict[str, str]:
    """Return the texts of all practice notebooks."""
    return practice.notebooks(BOOK)


def small_practice(root: Path) -> nbformat.NotebookNode:
    """Return the practice notebook of a small book's chapter."""
    small = Book(root)
    return ForPractice(small, "../notebooks/").notebook(small.page("02_made"))


def stored(stem: str) -> nbformat.NotebookNode:
    return nbformat.reads(made()[f"{stem}.ipynb"], as_version=4)


def run(sources: list[str]) -> list[Verdict]:
    """Run cells one after the other as a kernel would, and return the verdicts they show."""
    namespace: dict[str, Any] = {}
    shown = []
    for source in sources:
        statements = ast.parse(source).body
        last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
        exec(compile(ast.Module(statements, []), "<cell>", "exec"), namespace)  # noqa: S102
        if last is not None:
            shown.append(eval(ast.unparse(last), namespace))  # noqa: S307 - the book's own code
    return [value for value in shown if isinstance(value, Verdict)]


def region(source: str) -> list[str]:
    """Return the lines of the solution in a cell tagged answer."""
    lines = source.splitlines()
    return lines[lines.index(BEGIN) + 1 : lines.index(END)]


def told(source: str) -> set[str]:
    """Return the lines of signatures and docstrings, which the reader is given."""
    lines = source.splitlines()
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            end = first.end_lineno if ast.get_docstring(node) is not None else first.lineno - 1
            found |= set(lines[node.lineno - 1 : end])
    return found


def leaks(chapter: nbformat.NotebookNode, given: nbformat.NotebookNode) -> set[str]:
    """Return the lines of a chapter's solutions that its practice notebook holds."""
    hidden: set[str] = set()
    open_lines: set[str] = set()
    in_solution = False
    for cell in chapter.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                in_solution |= line.startswith(":::{solution-start}")
                (hidden if in_solution else open_lines).add(line)
                in_solution &= not line.startswith(":::{solution-end}")
        elif "answer" in cell.metadata.get("tags", []):
            solution = region(cell.source)
            hidden |= set(solution)
            open_lines |= told("\n".join(solution))
            outside = cell.source.replace("\n".join(solution), "")
            open_lines |= set(outside.splitlines())
        else:
            (hidden if in_solution else open_lines).update(cell.source.splitlines())
    shown = {line for cell in given.cells for line in cell.source.splitlines()}
    return {line for line in (hidden & shown) - open_lines if re.search(r"\w", line)}


def test_every_chapter_but_one_has_a_practice_notebook() -> None:
    assert {f"{stem}.ipynb" for stem in STEMS} == set(made())
    without = [page.topic for page in BOOK.chapters if page.stem not in STEMS]
    assert without == ["misconceptions"]


@pytest.mark.parametrize("stem", STEMS)
class TestPractice:
    def test_it_is_plain_and_fresh(self, stem: str) -> None:
        content = stored(stem)
        nbformat.validate(content)
        kinds = [cell.cell_type for cell in content.cells[:2]]
        assert kinds == ["markdown", "code"]
        assert content.metadata.keys() == {"kernelspec", "language_info", "made"}
        assert len({cell.id for cell in content.cells}) == len(content.cells)
        for cell in content.cells:
            assert cell.metadata == ({} if not cell.id.endswith("-hint") else FOLDED)
            if cell.cell_type == "code":
                assert (cell.outputs, cell.execution_count) == ([], None)
            else:
                assert not MYST.search(cell.source)

    def test_the_top_says_how_to_get_what_is_needed(self, stem: str) -> None:
        opening, imports = stored(stem).cells[:2]
        for way in ("`make lab`", 'pip install ".[all]"', "Binder"):
            assert way in opening.source
        assert imports.source == practice.IMPORTS

    def test_the_top_names_the_address_of_the_repository(self, stem: str) -> None:
        made = practice.notebooks(BOOK, [BOOK.page(stem)], "https://example.org/book")
        opening = nbformat.reads(made[f"{stem}.ipynb"], as_version=4).cells[0].source
        assert '`python -m pip install "attnlib[all] @ git+https://example.org/book"`' in opening

    def test_it_runs_as_it_is_and_says_what_is_wanted(self, stem: str) -> None:
        verdicts = run([cell.source for cell in stored(stem).cells if cell.cell_type == "code"])
        exercises = [one.name for one in BOOK.page(stem).exercises]
        assert [verdict.exercise for verdict in verdicts] == exercises
        for verdict in verdicts:
            for said in verdict.parts.values():
                assert said.message.startswith("Not answered yet"), verdict

    def test_the_solutions_pass(self, stem: str) -> None:
        answers = {
            f"{exercise.name}-answer": exercise.answer for exercise in BOOK.page(stem).exercises
        }
        cells = [cell for cell in stored(stem).cells if cell.cell_type == "code"]
        verdicts = run([answers.get(cell.id, cell.source) for cell in cells])
        assert len(verdicts) == len(answers)
        assert [verdict for verdict in verdicts if not verdict] == []

    def test_its_chapter_offers_it(self, stem: str) -> None:
        text = "\n".join(cell.source for cell in read(f"chapters/{stem}.ipynb").cells)
        assert text.count(f"{{download}}`practice notebook <../practice/{stem}.ipynb>`") == 1

    def test_it_keeps_the_solutions(self, stem: str) -> None:
        assert leaks(read(f"chapters/{stem}.ipynb"), stored(stem)) == set()


TASK = """(sec-work)=
## Exercises

Work.

### Widths of $q\\cdot k$

:::{exercise}
:label: ex-spread

★☆☆ gentle · **Trains** sums

What are the {term}`variances<variance>` of {eq}`eq-short`? See {doc}`03_other`, {cite:t}`two` and
{numref}`fig-line`; {eq}`eq-long`, {ref}`sec-work`, {ref}`above <sec-work>`, {prf:ref}`thm-all`.

$$
x = 1
$$ (eq-own)
:::

:::{admonition} Hint
:class: dropdown hint
{doc}`The other <03_other>` of {cite}`many,two`. {numref}`fig-line` shows {ref}`ex-spread`.
:::"""
BEFORE = """$$
z = q\\cdot k .
$$ (eq-short)

$$
\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}
$$ (eq-long)

:::{prf:theorem} All there is
:label: thm-all

It is.
:::"""
ANSWER = """from math import pi

data = [1, 2]

### BEGIN SOLUTION
# a thought
secret = 512
for number in range(3):
    plain = secret**0.5


@staticmethod
def double(x, *, by: float = 2.0):
    \"\"\"Return twice x.\"\"\"
    # how
    return by * x


unused = plain
root: float = 1.0
### END SOLUTION
check("spread", plain=plain, root=root, full=double(1))"""
STUB = """from math import pi

data = [1, 2]

plain = ...  # your answer


def double(x, *, by: float = 2.0):
    \"\"\"Return twice x.\"\"\"
    return ...  # your answer


root = ...  # your answer

check("spread", plain=plain, root=root, full=double(1))"""
BIBLIOGRAPHY = """@article{two, author = {{\\L}ukasz, Ann and Van Dam, Bo}, year = {2001}}
@article{many, author = {One, A. and Two, B. and Three, C.}, year = {2002}}
"""


def chapter(task: str = TASK, answer: str = ANSWER) -> nbformat.NotebookNode:
    picture = code("figure()", figure={"name": "fig-line", "caption": "A line. It rises."})
    return notebook(
        "(ch-made)=\n# Made up\n\nA chapter.",
        code("import math\nfrom attnlib import entropy, softmax"),
        BEFORE,
        picture,
        task,
        code("def start(x):\n    return softmax(x)"),
        code('Ask("spread")', tags=["ask", "remove-input"]),
        ":::{solution-start} ex-spread\n:label: solution-spread\n:::\n\nIt is so.",
        code(answer, tags=["answer"]),
        code("print(plain)"),
        ":::{solution-end}\n:::",
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Write a book with one exercise."""
    first, other = notebook("# First"), notebook("# The other")
    write_book(tmp_path, {"01_first": first, "02_made": chapter(), "03_other": other})
    (tmp_path / "references.bib").write_text(BIBLIOGRAPHY, encoding="utf-8")
    (tmp_path / "_config.yml").write_text("repository:\n  url: ''\n", encoding="utf-8")
    return tmp_path


def test_only_what_the_reader_fills_in_stays_of_a_solution() -> None:
    assert stub(ANSWER) == STUB


def test_a_comment_says_what_is_wanted() -> None:
    source = f"{BEGIN}\nway = 'up'\nn = 1\nm = 1\n{END}\ncheck('x', where=way, n=n, m=m)"
    lines = stub(source, {"where": "a long way up, " * 8, "n": "a number", "x": "no"}).splitlines()
    assert lines[0].startswith("# a long way up, a")
    assert lines[1].endswith(" a long way up,")
    assert lines[2:6] == [
        "way = ...  # your answer",
        "# a number",
        "n = ...  # your answer",
        "m = ...  # your answer",
    ]
    assert max(map(len, lines)) <= 100


def test_what_is_wanted_is_in_the_words_of_the_check() -> None:
    for name, exercise in exercises().items():
        phrases = wanted(name)
        for part, judge in exercise.parts.items():
            assert phrases[part].startswith(judge.wanted)
            for option in judge.options if isinstance(judge, Pick) else ():
                assert f'"{option}"' in phrases[part]
    assert wanted("no such exercise") == {}


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER.replace(BEGIN, ""),
        ANSWER.replace(END, ""),
        f"{ANSWER}\n{BEGIN}\n{END}",
        f"{END}\n{BEGIN}",
        f"{BEGIN}\ndef f(x): return x\n\n\n{END}\ncheck('x', f)",
    ],
)
def test_a_solution_without_its_two_marks_is_refused(answer: str) -> None:
    with pytest.raises(PlainError):
        stub(answer)


def test_the_words_of_an_exercise_become_plain_markdown(small: Path) -> None:
    made = small_practice(small)
    statement = """## Exercise 2.1: Widths of $q\\cdot k$

★☆☆ gentle · **Trains** sums

What are the variances of $z = q\\cdot k$? See [chapter 3](../notebooks/03_other.ipynb), \
Łukasz and Van Dam (2001) and
the figure “A line” in [chapter 2](../notebooks/02_made.ipynb); \
an equation in [chapter 2](../notebooks/02_made.ipynb), \
“Exercises” in [chapter 2](../notebooks/02_made.ipynb), above, \
the theorem “All there is” in [chapter 2](../notebooks/02_made.ipynb).

$$
x = 1
$$"""
    assert made.cells[2].source == statement
    hint = """Hint:

[The other](../notebooks/03_other.ipynb) of (One et al., 2002; Łukasz and Van Dam, 2001). \
The figure “A line” in [chapter 2](../notebooks/02_made.ipynb) shows exercise 2.1."""
    assert made.cells[3].source == hint
    assert made.cells[3].metadata == {"jupyter": {"source_hidden": True}}


def test_the_cells_come_in_order_and_have_ids_of_their_own(small: Path) -> None:
    made = small_practice(small)
    assert [cell.id for cell in made.cells] == [
        "opening",
        "imports",
        "spread-statement",
        "spread-hint",
        "spread-given-1",
        "spread-answer",
    ]
    assert made.cells[0].source.startswith("# Practice: Made up\n")
    assert made.cells[4].source == (
        "from attnlib import softmax\n\n\ndef start(x):\n    return softmax(x)"
    )
    bare = [line for line in made.cells[5].source.splitlines() if not line.startswith("# ")]
    assert "\n".join(bare) == STUB
    assert "# the standard deviation of q·k\nplain = ...  # your answer" in made.cells[5].source


@pytest.mark.parametrize("missing", ["numpy", "attnbook.exercises"])
def test_a_missing_package_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not there
    with pytest.raises(
        ModuleNotFoundError, match=f"no {missing}, .* top of the notebook"
    ) as raised:
        exec(practice.IMPORTS, {})  # noqa: S102
    assert raised.value.__suppress_context__, "the reader sees the message alone"


@pytest.mark.parametrize("words", [*WITHOUT_PLAIN_FORM, "(a-label)="])
def test_words_without_a_plain_form_are_refused(small: Path, words: str) -> None:
    made = chapter(TASK.replace("What are", f"\n{words}\nWhat are"))
    nbformat.write(made, small / "chapters" / "02_made.ipynb")
    with pytest.raises(PlainError, match=r"02_made.*spread"):
        practice.notebooks(Book(small))


@pytest.mark.parametrize(("copies", "message"), [(0, "no cell is"), (2, "2 cells are")])
def test_an_exercise_without_its_one_answer_is_refused(
    small: Path, copies: int, message: str
) -> None:
    made = chapter()
    answers = [{**made.cells[8], "id": f"answer-{copy}"} for copy in range(copies)]
    made.cells[8:9] = nbformat.from_dict(answers)
    nbformat.write(made, small / "chapters" / "02_made.ipynb")
    (exercise,) = Page("02_made", small / "chapters" / "02_made.ipynb").exercises
    with pytest.raises(BookError, match=f"spread: {message} tagged answer"):
        exercise.answer  # noqa: B018
    with pytest.raises(PlainError, match=f"02_made.*{message}"):
        practice.notebooks(Book(small))


def test_writing_brings_all_up_to_date(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = small / "practice" / "02_made.ipynb"
    assert main(small) == 0
    assert capsys.readouterr().out == "wrote practice/02_made.ipynb\n"
    first, written = path.read_bytes(), path.stat().st_mtime_ns
    assert main(small) == 0
    assert capsys.readouterr().out == ""
    assert path.stat().st_mtime_ns == written, "what has not changed is not written"

    nbformat.write(
        chapter(answer=ANSWER.replace("twice x", "2x")), small / "chapters/02_made.ipynb"
    )
    assert main(small) == 0
    assert path.read_bytes() != first
    assert b"2x" in path.read_bytes()


def test_what_a_reader_wrote_is_never_overwritten(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = small / "practice" / "02_made.ipynb"
    main(small)
    mine = nbformat.read(path, as_version=4)
    mine.cells[-1].source = mine.cells[-1].source.replace("plain = ...", "plain = 23")
    nbformat.write(mine, path)
    answered = path.read_bytes()
    nbformat.write(chapter(TASK.replace("Widths", "Depths")), small / "chapters/02_made.ipynb")
    capsys.readouterr()
    assert main(small) == 0
    assert capsys.readouterr().out == "kept practice/02_made.ipynb, which you have worked in\n"
    assert path.read_bytes() == answered
    path.write_text("what is no notebook", encoding="utf-8")
    assert main(small) == 0
    assert path.read_text(encoding="utf-8") == "what is no notebook"
    path.unlink()
    assert main(small) == 0
    assert "Depths" in path.read_text(encoding="utf-8")


def test_a_notebook_that_was_only_run_is_brought_up_to_date(small: Path) -> None:
    path = small / "practice" / "02_made.ipynb"
    main(small)
    first = path.read_bytes()
    seen = nbformat.read(path, as_version=4)
    seen.cells[1].execution_count = 1
    nbformat.write(seen, path)
    assert path.read_bytes() != first
    main(small)
    assert path.read_bytes() == first


def test_jupyterlab_starts_with_the_notebooks_for_readers_and_for_practice() -> None:
    dry = building.run("make", "-n", "lab", "ARGS=--no-browser")
    start = dry.index("jupyter-lab ")
    assert 0 < dry.index("tools/practice.py") < start
    assert 0 < dry.index("tools/reader.py") < start
    assert " --no-browser notebooks/index.ipynb\n" in dry[start:]
    assert ("--allow-root" in dry[start:]) == (os.geteuid() == 0)


def test_a_change_inside_a_solution_changes_no_practice_notebook(small: Path) -> None:
    before = practice.notebooks(Book(small))
    other = ANSWER.replace("secret = 512", "secret = 2**9")
    nbformat.write(chapter(answer=other), small / "chapters" / "02_made.ipynb")
    assert practice.notebooks(Book(small)) == before


def test_a_chapter_that_cannot_be_read_is_named(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nbformat.write(chapter(answer="check('spread')"), small / "chapters" / "02_made.ipynb")
    assert main(small) == 1
    assert "chapters/02_made.ipynb: spread: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("position", "line"),
    [(5, "secret = 512"), (5, "    return by * x"), (3, "It is so."), (4, "print(plain)")],
)
def test_a_line_of_a_solution_in_a_practice_notebook_is_reported(
    small: Path, position: int, line: str
) -> None:
    made = small_practice(small)
    assert leaks(chapter(), made) == set()
    made.cells[position].source += f"\n{line}"
    assert leaks(chapter(), made) == {line}


def test_the_stub_of_a_function_counts_as_not_answered() -> None:
    asked = Function(
        "double(x), which returns twice x",
        lambda x: 2 * x,
        lambda rng: [(rng.standard_normal(3),)],
        lambda right, _arguments, eps: eps * np.abs(right),
    )
    source = stub(
        f'{BEGIN}\ndef double(x):\n    """Double."""\n    return 2 * x\n\n\n{END}\ndouble'
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102
    verdict = Check("double", double=asked).verdict({"double": namespace["double"]})
    assert verdict.parts["double"].message == f"Not answered yet: {asked.wanted}."
