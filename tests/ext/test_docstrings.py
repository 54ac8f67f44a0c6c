"""Every public name of attnlib has a docstring that the reference can turn into a page."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from docutils.core import publish_doctree

import attnlib
from _ext import attnlib_reference as reference
from tests.book.notebooks import NOTEBOOKS, ROOT, read

DESCRIBED = (
    *("attnbook.exercises", "attnbook.figures", "attnbook.initialization", "attnbook.plots"),
    *("attnbook.training", "attnbook.training.sweep"),
)
"""What else a chapter computes with attnlib is read where it is: each part has one caller."""
MODULES = [found.name for found in pkgutil.iter_modules(attnlib.__path__) if found.name[0] != "_"]
STEMS = sorted(
    [
        *MODULES,
        *(
            whole if "." in name or name in MODULES else name
            for whole in DESCRIBED
            for name in [whole.partition(".")[2]]
        ),
    ]
)
CALLABLES = [
    (stem, name)
    for stem in STEMS
    for name in reference.public_names(reference.module_named(stem))
    if not name.isupper()
]
KNOWN = reference.known_pages(ROOT)
WHOLE_CHAPTERS = [
    stem
    for stem in STEMS
    if stem == "attnbook.initialization" or (ROOT / f"attnlib/{stem}.py").exists()
]
"""Modules that name their chapters once for all that they offer."""
PAGES = [ROOT / "chapters" / "reference.md", *sorted((ROOT / "chapters/reference").glob("*.md"))]


def docstring(stem: str, name: str) -> str:
    return inspect.getdoc(getattr(reference.module_named(stem), name)) or ""


def directives(name: str) -> Iterator[str]:
    """Yield what each use of a directive on the pages names."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        yield from re.findall(rf"^\.\. {name}::(.*(?:\n(?: .*)?)*)", text, re.MULTILINE)


def test_each_module_has_one_part_of_the_reference_and_one_line_of_its_list() -> None:
    parts = [words.split()[0] for words in directives("attnlib-module")]
    lines = [word for words in directives("attnlib-modules") for word in words.split()]
    assert sorted(parts) == STEMS
    assert sorted(lines) == STEMS


def test_each_public_name_is_in_one_module_alone() -> None:
    own = [name for stem in STEMS for name in reference.public_names(reference.module_named(stem))]
    assert len(set(own)) == len(own)
    assert set(attnlib.__all__) <= set(own)


@pytest.mark.parametrize(("stem", "name"), CALLABLES)
def test_a_docstring_leads_to_pages_and_its_example_can_be_copied(stem: str, name: str) -> None:
    said_of_it = docstring(stem, name)
    pages = reference.named_pages(said_of_it, KNOWN)
    assert [words for words, page in pages if page is None] == []
    # the doctests run inside the module, where a missing import does not show
    assert unexplained(said_of_it) == set()
    if stem in WHOLE_CHAPTERS:
        return  # the module says where it comes from
    text = reference.reference_text(said_of_it, KNOWN)
    said = re.search(rf"^\.\. rst-class:: {reference.BOOK_CLASS}\n\n    (.+)$", text, re.MULTILINE)
    assert said is not None, "the notes do not begin with the chapter"
    targets = re.findall(r":doc:`[^`<]+ <(/[^>]+)>`", said[1])
    assert targets
    assert all((ROOT / f"{target[1:]}.ipynb").is_file() for target in targets)


@pytest.mark.parametrize("stem", WHOLE_CHAPTERS)
def test_a_module_leads_to_its_chapters(stem: str) -> None:
    pages = reference.named_pages(inspect.getdoc(reference.module_named(stem)) or "", KNOWN)
    assert pages
    assert all(page is not None for _, page in pages)


def unexplained(text: str) -> set[str]:
    """Return the names that the examples of a docstring use and nothing in them makes."""
    source = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
    used, made = set(), set(dir(builtins))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                made.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                made.update((alias.asname or alias.name).split(".")[0] for alias in names)
    return used - made


def test_a_missing_import_is_found() -> None:
    used = ">>> softmax([np.pi, 1])"
    assert unexplained(used) == {"softmax", "np"}
    imports = ">>> import numpy as np\n>>> from attnlib import softmax"
    assert unexplained(f"{imports}\n{used}") == set()
    assert unexplained(">>> for row in range(3):\n...     print(row)") == set()


def test_no_two_pages_have_the_same_topic() -> None:
    assert sorted(KNOWN.values()) == sorted(f"/{page.removesuffix('.ipynb')}" for page in NOTEBOOKS)


PLACES = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|next|last|previous|\d+(?:st|nd|rd|th)"
)
PLACED = re.compile(rf"\b(?:{PLACES})\s+chapter|\bchapters?\s+\d", re.IGNORECASE)
"""How a text would name a chapter by its place, which another chapter before it would change."""


def placed(source: str) -> list[str]:
    """Return what the docstrings of a module, and its other texts, call chapters by their place."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [found[0] for text in texts for found in PLACED.finditer(text)]


@pytest.mark.parametrize("package", ["attnlib", "attnbook"])
def test_no_docstring_names_a_chapter_by_its_place(package: str) -> None:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    named = {path.name: placed(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: said for name, said in named.items() if said} == {}


@pytest.mark.parametrize(
    "words",
    [
        "Derived in the fourth chapter, *Gradients*.",
        "Used in the third and the ninth\n    chapter.",
        "The exercises of chapter 4.",
        "See chapters 2 and 3.",
        "As the next chapter says.",
    ],
)
def test_a_place_in_a_docstring_is_noticed(words: str) -> None:
    assert len(placed(f'def f():\n    """Say it.\n\n    {words}\n    """\n')) == 1
    assert len(placed(f'class A:\n    b = 1\n    """{words}"""\n')) == 1
    assert placed('"""The first key of the chapter on gradients, in two chapters."""') == []


@cache
def nodes(page: str) -> list[ast.AST]:
    """Return the syntax of a notebook's code, node by node."""
    trees = [ast.parse(cell.source) for cell in read(page).cells if cell.cell_type == "code"]
    return [node for tree in trees for node in ast.walk(tree)]


def drawn_figures(page: str) -> set[str]:
    """Return the functions of attnbook.plots that a notebook calls."""
    return {
        node.attr
        for node in nodes(page)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "plots"
    }


def shown_figures(page: str) -> set[str]:
    """Return the names that a notebook calls, by themselves or as `figures.Name`."""
    called = {ast.unparse(node.func) for node in nodes(page) if isinstance(node, ast.Call)}
    return {name.removeprefix("figures.") for name in called}


FIGURES = {"plots": drawn_figures, "figures": shown_figures}


@pytest.mark.parametrize(("stem", "name"), [each for each in CALLABLES if each[0] in FIGURES])
def test_a_figure_is_on_the_pages_that_its_docstring_names(stem: str, name: str) -> None:
    using = {f"/{page[: -len('.ipynb')]}" for page in NOTEBOOKS if name in FIGURES[stem](page)}
    named = {page for _, page in reference.named_pages(docstring(stem, name), KNOWN)}
    assert named
    assert named <= using


class TestNames:
    @pytest.mark.parametrize(
        ("text", "pages"),
        [
            ("Derived in the chapter on gradients, at length.", ["/chapters/04_gradients"]),
            ("Serves the\nchapter on training.", ["/chapters/08_training"]),
            ("Derived in the chapter on the divisor.", ["/chapters/05_divisor"]),
            ("Shown in the chapter of exercises.", ["/chapters/11_exercises"]),
            (
                "Introduced in the chapter on the puzzle, studied in the chapter on saturation.",
                ["/chapters/01_puzzle", "/chapters/03_saturation"],
            ),
            (
                "Used in the chapters on saturation\nand on gradients. On its own.",
                ["/chapters/03_saturation", "/chapters/04_gradients"],
            ),
            (
                "Shown in the chapters on variance, on the puzzle, and on temperature.",
                ["/chapters/02_variance", "/chapters/01_puzzle", "/chapters/09_temperature"],
            ),
            (
                "Used in the chapters on saturation and on cooking.",
                ["/chapters/03_saturation", None],
            ),
            ("Used in the chapter on saturation and on screens.", ["/chapters/03_saturation"]),
            ("Used in the chapters on saturation and gradients.", []),
            ("Drawn on the page on benchmarks.", ["/chapters/benchmarks"]),
            ("Drawn on the page on the language\nmodel, too.", ["/chapters/language_model"]),
            ("Drawn on the page on trained models, too.", ["/chapters/trained_models"]),
            ("Drawn on the landing\npage.", ["/index"]),
            ("The first key on the third row, a chapter of the book.", []),
            ("Serves the chapter on cooking.", [None]),
        ],
    )
    def test_pages_are_found_in_a_sentence(self, text: str, pages: list[str | None]) -> None:
        assert [page for _, page in reference.named_pages(text, KNOWN)] == pages

    def test_a_page_that_is_not_there_is_no_link(self) -> None:
        assert reference.link_pages("The chapter on cooking.", KNOWN) == "The chapter on cooking."

    def test_each_of_several_pages_is_a_link(self) -> None:
        assert reference.link_pages("In the chapters on the puzzle and on\ngradients.", KNOWN) == (
            "In the :doc:`chapters on the puzzle </chapters/01_puzzle>` and "
            ":doc:`on gradients </chapters/04_gradients>`."
        )


class Pair(NamedTuple):
    """Two numbers."""

    left: np.ndarray
    right: np.ndarray
    """The second."""


@dataclass
class Box:
    """A box."""

    names: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of names."""
        return len(self.names)

    def _hidden(self) -> None:
        """Not public."""


def rendered(text: str) -> Any:
    """Parse reStructuredText, with docutils alone, and fail at its first complaint."""
    # docutils has Sphinx' directive under its own name
    plain = text.replace(".. rst-class::", ".. class::")
    return publish_doctree(plain, settings_overrides={"halt_level": 2, "report_level": 5})


class TestDocstrings:
    DOC = """Say it.

    More of it [1]_.

    Parameters
    ----------
    x : array_like, shape (*size, n)
        Numbers.
    **gains : float
        Gains.

    Returns
    -------
    first : int
    second : float
        Both.

    Notes
    -----
    Derived in the chapter
    on gradients. And a note.

    References
    ----------
    .. [1] A. Author, "A title",
       2020.
    .. [2] B. Author, "Another".

    Examples
    --------
    >>> 1 + 1
    2
    """

    @pytest.fixture
    def text(self) -> str:
        return reference.reference_text(inspect.cleandoc(self.DOC), {})

    def test_sections_become_definitions_and_lists(self, text: str) -> None:
        tree = rendered(text)
        terms = [term.astext() for term in tree.findall(lambda node: node.tagname == "term")]
        assert terms == ["x", "**gains", "first", "second"]
        kinds = [node.astext() for node in tree.findall(lambda node: node.tagname == "classifier")]
        assert kinds == ["array_like, shape (*size, n)", "float", "int", "float"]
        titles = [node.astext() for node in tree.findall(lambda node: node.tagname == "rubric")]
        assert titles == ["Notes", "References", "Examples"]
        works = list(tree.findall(lambda node: node.tagname == "list_item"))
        assert [work.astext().split(",")[0] for work in works] == ["A. Author", "B. Author"]
        assert "More of it [1]." in tree.astext()

    def test_the_sentence_on_the_chapter_moves_above_the_parameters(self) -> None:
        text = reference.reference_text(inspect.cleandoc(self.DOC), KNOWN)
        link = ":doc:`chapter on gradients </chapters/04_gradients>`"
        assert f"    Derived in the {link}.\n\n:Parameters:" in text
        assert ".. rubric:: Notes\n\nAnd a note." in text

    def test_notes_that_say_nothing_else_leave_no_heading(self) -> None:
        for words in ("chapter on the puzzle", "chapters on the puzzle and on training"):
            text = reference.reference_text(f"A.\n\nNotes\n-----\nUsed in the {words}.", KNOWN)
            assert "Notes" not in text
            assert "/chapters/01_puzzle" in text

    def test_names_to_see_also_become_links(self) -> None:
        text = reference.reference_text("A.\n\nSee Also\n--------\na.b : As well.", {})
        assert text.endswith(".. seealso::\n\n    :py:obj:`a.b`: As well.")


class TestSignatures:
    def test_types_are_written_as_in_the_source(self) -> None:
        arguments, returns = reference.signature_text(attnlib.softmax)
        assert (arguments, returns) == ("(x: ArrayLike, axis: int = -1)", "np.ndarray")

    def test_classes_show_fields_and_what_makes_their_defaults(self) -> None:
        assert reference.signature_text(Pair) == ("(left: np.ndarray, right: np.ndarray)", None)
        assert reference.signature_text(Box) == ("(names: dict[str, int] = {})", None)

    def test_members_are_shown_if_something_is_said_of_them(self) -> None:
        from attnbook.training import LossGradients

        assert reference.described_members(Box) == ["size"]
        assert reference.described_members(LossGradients) == [*sorted(LossGradients._fields)]
        assert reference.described_members(attnlib.ScoreMoments) == []


def test_pages_are_written_anew_when_a_name_of_the_reference_moves() -> None:
    objects = {"attnlib.softmax": ("chapters/reference/softmax", "attnlib.softmax")}
    env = SimpleNamespace(
        domains={"py": SimpleNamespace(objects=objects)}, found_docs={"index", "chapters/a"}
    )
    places = reference.Places()
    places.note(None, env, set(), set(), set())
    assert places.follow(None, env) == []
    objects["attnlib.softmax"] = ("chapters/reference/scores", "attnlib.softmax")
    assert places.follow(None, env) == ["chapters/a", "index"]
