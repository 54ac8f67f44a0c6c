"""The model knows the book: its pages, numbers, labels and exercises, as the site has them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest

from book.markdown import blocks, roles
from book.model import Book, BookError, Page, facts
from tests.book.notebooks import (
    BOOK,
    NOTEBOOKS,
    PAGES,
    ROOT,
    code,
    notebook,
    write_book,
    write_contents,
)

BACK_MATTER = {
    "summary",
    "notation",
    "glossary",
    "models",
    "benchmarks",
    "reference",
    "instructors",
    "grading",
    "references",
    "about",
    "changelog",
}


def twice(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once."""
    return [name for name, times in Counter(names).items() if times > 1]


def test_every_notebook_is_a_page_of_the_book() -> None:
    written = [*ROOT.glob("*.ipynb"), *ROOT.glob("chapters/*.ipynb")]
    names = {path.relative_to(ROOT).as_posix() for path in written}
    left_out = names - set(NOTEBOOKS)
    assert not left_out, f"_toc.yml has no line for {', '.join(sorted(left_out))}"
    assert names == set(NOTEBOOKS)
    assert twice(PAGES) == [], "_toc.yml lists a page twice"


def test_the_chapters_have_numbers_in_order_and_topics() -> None:
    assert [page.number for page in BOOK.chapters] == list(range(1, len(BOOK.chapters) + 1))
    topics = [page.topic for page in BOOK.chapters]
    assert topics[:3] == ["puzzle", "variance", "saturation"]
    assert twice(topics) == [], "two chapters have one topic, which is what follows their number"
    silent = [page.name for page in BOOK.chapters if not page.question.endswith("?")]
    assert silent == [], "the metadata have no question under book, or it ends without a mark"


def test_facts_of_an_earlier_build_are_taken_only_where_nothing_changed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    write_contents(tmp_path, *(page.stem for page in BOOK.chapters))
    before = facts(Book(tmp_path).pages, {})
    assert len(before) == 1 + len(BOOK.chapters)
    marked = {digest: known | {"title": "Known"} for digest, known in before.items()}
    chapter = tmp_path / "chapters" / "02_variance.ipynb"
    chapter.write_text(chapter.read_text(encoding="utf-8").replace("(ch-", "(chapter-", 1))
    book = Book(tmp_path)
    after = facts(book.pages, marked)
    assert [page.name for page in book.pages if page.title != "Known"] == ["chapters/02_variance"]
    assert "chapter-variance" in [label for label, *_ in book.page("02_variance").labels]
    assert len(after.keys() - before.keys()) == 1


def test_the_back_matter_is_there() -> None:
    assert {page.stem for page in BOOK.pages} >= BACK_MATTER


def test_no_label_is_given_twice() -> None:
    assert twice([label for page in BOOK.notebooks for label, *_ in page.labels]) == []
    names = [one.name for page in BOOK.chapters for one in page.exercises]
    assert twice(names) == []
    assert len(names) > 30


def test_every_exercise_has_its_parts() -> None:
    for page in BOOK.chapters:
        for one in page.exercises:
            parts = (one.title, one.statement, one.hint, one.solution, one.answer)
            assert all(parts), one.name
            assert re.search(rf'check\(\s*"{one.name}"', one.answer)


MADE = """(ch-made)=
# Made, of 3<!-- {n} --> parts

:::{admonition} Contract
:class: contract
- **You need** sums
  and products
- **Difficulty** ★☆☆ gentle
:::

(sec-in)=
## In between

$$
x = 1
$$ (eq-one)

::::{prf:theorem} All there is
:label: thm-all
As in

$$
y = 2
$$ (eq-two)
::::

:::{admonition} Predict first
:class: predict
How many?
:::"""


@pytest.fixture
def small(tmp_path: Path) -> Book:
    """Return a book of three chapters, of which the second has something of everything."""
    figure = {"figure": {"name": "fig-a", "caption": "A line."}, "image": {"alt": "It rises."}}
    pages = {
        "first": notebook("# First"),
        "04_made": notebook(
            MADE,
            code("Choice()", tags=["predict"]),
            code("draw()", **figure),
            "## Exercises\n\n### Do it\n\n:::{exercise}\n:label: ex-do\n\nDo.\n:::",
            ":::{admonition} Hint\n:class: dropdown hint\nTry.\n:::",
            code("given = 1"),
            code('Ask("do")', tags=["ask"]),
            ":::{solution-start} ex-do\n:label: solution-do\n:::\n\nDone.",
            code("x = 1", tags=["answer"]),
            code("assert x"),
            ":::{solution-end}\n:::",
            "## Takeaways\n\nSee.",
        ),
        "last": notebook("# Last"),
    }
    write_book(tmp_path, pages, pages=["words"])
    (tmp_path / "chapters" / "words.md").write_text("# Words\n\nText.\n", encoding="utf-8")
    return Book(tmp_path)


def test_a_chapter_is_known_by_its_place_and_not_by_its_file(small: Book) -> None:
    made = small.page("chapters/04_made.ipynb")
    assert (made.number, made.topic, made.title) == (2, "made", "Made, of 3 parts")
    assert small.page("words").title == "Words"
    assert [page.number for page in small.pages] == [None, 1, 2, 3, None]
    assert made.contract == {"You need": "sums and products", "Difficulty": "★☆☆ gentle"}
    found = {label: (target.kind, target.number) for label, target in small.targets.items()}
    assert found == {
        "ch-made": ("chapter", "2"),
        "sec-in": ("section", ""),
        "eq-one": ("equation", "2.1"),
        "thm-all": ("theorem", "2.1"),
        "eq-two": ("equation", "2.2"),
        "fig-a": ("figure", "2.1"),
        "ex-do": ("exercise", "2.1"),
    }


def test_sections_figures_predictions_and_exercises_are_found(small: Book) -> None:
    made = small.page("04_made")
    assert [block.title for block in made.sections][:2] == ["In between", "Exercises"]
    assert [(one.name, one.caption, one.alternative) for one in made.figures] == [
        ("fig-a", "A line.", "It rises.")
    ]
    (prediction,) = made.predictions
    assert prediction.question == "How many?"
    assert prediction.cell is not None
    assert prediction.cell.source == "Choice()"
    (exercise,) = made.exercises
    assert (exercise.title, exercise.statement, exercise.hint) == ("Do it", "Do.", "Try.")
    assert (exercise.given, exercise.answer) == (["given = 1"], "x = 1")
    assert "Done." in exercise.solution
    kept = [cell.source.split("\n")[0] for cell in made.main_path()]
    assert kept == ["(ch-made)=", "(sec-in)=", "Choice()", "draw()", "## Takeaways"]


def test_exercises_are_not_on_the_main_path_wherever_they_begin_in_a_cell() -> None:
    content = notebook("# A\n\nb\n\n## Exercises\n\nc", code("c"), "### D\n\ne\n\n## F\n\ng")
    page = Page("page", Path("page.ipynb"), notebook=content)
    assert [cell.source.strip() for cell in page.main_path()] == ["# A\n\nb", "## F\n\ng"]


@pytest.mark.parametrize(
    ("cells", "minutes"),
    [
        (["word " * 180 * 5], 5),
        (["word " * (180 * 5 + 1)], 6),
        (["word " * 180 + "<!-- {a} and {b} -->"], 1),
        ([code("x = 1\n\n" * 12)], 1),
        ([code("x = 1\n" * 13)], 2),
        ([code("x = 1\n" * 13, tags=["hide-input"])], 0),
        (["$$\nx\n$$\n\n$$\ny\n$$ (eq-y)"], 2),
        ([":::{admonition} Predict first\n:class: predict\nWhich?\n:::"], 3),
    ],
)
def test_the_reading_time_counts_what_readers_stop_at(
    cells: list[nbformat.NotebookNode | str], minutes: int
) -> None:
    page = Page("page", Path("page.ipynb"), notebook=notebook(*cells))
    assert page.minutes == page.core_minutes == minutes


def test_the_core_ends_where_it_goes_deeper() -> None:
    content = notebook("# A\n\nb\n\n## Deeper\n\nc", code("c"), "### D\n\n" + "word " * 340)
    page = Page("page", Path("page.ipynb"), notebook=content)
    assert [cell.source for cell in page.core()] == ["# A\n\nb\n"]
    assert (page.core_minutes, page.minutes) == (1, 3)


def test_a_page_that_is_not_there_is_named(small: Book) -> None:
    with pytest.raises(BookError, match="no page nowhere"):
        small.page("nowhere")
    write_contents(small.root, "nowhere")
    with pytest.raises(BookError, match=r"_toc\.yml names chapters/nowhere"):
        Book(small.root).pages  # noqa: B018
    with pytest.raises(BookError, match="untitled has no title"):
        Page("untitled", Path("u.ipynb"), notebook=notebook("Text.")).title  # noqa: B018


def test_pages_inside_sections_are_found() -> None:
    inside = [page for page in BOOK.pages if page.name.startswith("chapters/reference/")]
    assert len(inside) > 5
    assert all(page.number is None for page in inside)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_roles_and_blocks_are_where_they_are_said_to_be(name: str) -> None:
    for cell in BOOK.page(name).cells:
        if cell.cell_type != "markdown":
            continue
        for role in roles(cell.source):
            written = cell.source[role.start : role.end]
            assert written.startswith(f"{{{role.name}}}`")
            assert written.endswith("`")
        lines = cell.source.splitlines()
        for block in blocks(cell.source):
            written = "\n".join(lines[slice(*block.lines)])
            assert block.label in written
            assert block.body.split("\n")[0].strip() in written
