"""The built reference holds every public name of attnlib, each with a way back to its chapter."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

import attnlib
from _ext import attnlib_reference as reference
from tests.ext import pages
from tests.ext.test_docstrings import STEMS

SECTIONS = ("Parameters", "Returns", "Raises")
# what reStructuredText and numpydoc leave where they were not understood
TRACES = ("-----", ":func:", ":doc:", ".. [", "]_")


def anchor(stem: str, name: str) -> str:
    """Return where a name is described: as part of the package, or of the module that defines it.

    The modules of what can be imported from a package itself have no name in it.
    """
    module = reference.module_named(stem)
    if hasattr(module, "__path__"):
        return f"{module.__name__}.{name}"
    home = getattr(getattr(module, name), "__module__", module.__name__)
    flat = set(importlib.import_module(home).__all__) <= set(attnlib.__all__)
    return f"attnlib.{name}" if flat else f"{home}.{name}"


NAMES = {
    anchor(stem, name): getattr(reference.module_named(stem), name)
    for stem in STEMS
    for name in reference.module_named(stem).__all__
}


def entries(page: BeautifulSoup) -> dict[str, Tag]:
    """Return the entries of a page of the reference by the names that they describe."""
    titles = page.select("dl.py > dt.sig[id]")
    return {str(title["id"]): title.parent for title in titles if reference.is_ours(title["id"])}


def test_no_page_is_stored_with_more_than_itself(site: Path) -> None:
    stored = sorted((site.parent / ".doctrees").rglob("*.doctree"))
    assert len(stored) > len(STEMS)
    for path in stored:
        document = pickle.loads(path.read_bytes())  # noqa: S301 - our own build wrote it
        assert all(node.document is document for node in document.findall()), path.name


@pytest.fixture(scope="module")
def described(site: Path) -> dict[str, Tag]:
    files = sorted((site / "chapters" / "reference").glob("*.html"))
    return {name: entry for file in files for name, entry in entries(pages.parse(file)).items()}


def entry_problems(entry: Tag, docstring: str) -> list[str]:
    """Hold an entry against the docstring that it is made of."""
    text = entry.get_text(" ")
    headings = {part.get_text().strip(" :") for part in entry.select("dl.field-list > dt")}
    problems = [
        f"no {section}"
        for section in SECTIONS
        if f"{section}\n" in docstring and section not in headings
    ]
    if ">>> " in docstring and not entry.select("div.highlight"):
        problems.append("no example")
    return problems + [f"{trace!r} is left" for trace in TRACES if trace in text]


def test_every_public_name_has_one_entry(described: dict[str, Tag]) -> None:
    assert set(attnlib.__all__) <= {name.rpartition(".")[2] for name in NAMES}
    members = {name for name in described if name.rpartition(".")[0] in described}
    assert set(described) - members == set(NAMES)


@pytest.mark.parametrize("name", sorted(name for name in NAMES if callable(NAMES[name])))
def test_an_entry_says_what_the_docstring_says(described: dict[str, Tag], name: str) -> None:
    assert entry_problems(described[name], NAMES[name].__doc__) == []


def test_every_module_is_on_the_front_page(site: Path) -> None:
    front = pages.parse(site / "chapters" / "reference.html")
    linked = {str(link["href"]) for link in front.select("article dt a.internal")}
    assert {Path(link.partition("#")[0]).stem for link in linked} == {
        file.stem for file in (site / "chapters" / "reference").glob("*.html")
    }
    assert len(linked) == len(STEMS)


GOOD = """<dl class="py function"><dt class="sig" id="attnlib.f">f()</dt><dd><p>Say it.</p>
<dl class="field-list"><dt>Parameters<span class="colon">:</span></dt><dd>x</dd></dl>
<div class="highlight"></div></dd></dl>"""
DOCSTRING = "Say it.\n\nParameters\n----------\nx\n\nExamples\n--------\n>>> f()"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", 0),
        ("Parameters", "Other", 1),
        ("highlight", "", 1),
        ("Say it.", ":func:`g`", 1),
    ],
)
def test_an_entry_that_lacks_something_is_noticed(old: str, new: str, found: int) -> None:
    page = BeautifulSoup(GOOD.replace(old, new, 1), "html.parser")
    assert list(entries(page)) == ["attnlib.f"]
    assert len(entry_problems(entries(page)["attnlib.f"], DOCSTRING)) == found
