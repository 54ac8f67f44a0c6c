"""The glossary's words are the chapters' words, each linked where a reader first needs it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import nbformat
import pytest

from book.markdown import walk
from book.numerals import numerals
from tests.book.notebooks import CHAPTERS, ROOT, code, notebook, read, visible_words

TITLES = {
    name.removeprefix("chapters/").removesuffix(".ipynb"): re.search(
        r"^# (.*)$", read(name).cells[0].source, re.MULTILINE
    )[1]
    for name in CHAPTERS
}
GLOSSARY = ROOT / "chapters/glossary.md"
LINKING = ["index.ipynb", *CHAPTERS]
MOST_LINKS = 25
# A word that links to the glossary: {term}`word` or {term}`its form <word>`.
TERM = re.compile(r"\{term\}`(?P<title>[^`<>]+?)\s*(?:<(?P<target>[^`<>]+)>)?`")

# What is no sentence of the running text: headings, rows of tables, heads of boxes, contracts, and
# the words of other links.
NO_SENTENCE = [
    re.compile(r"^:{3,}\{admonition\} Contract\n.*?^:{3,}[ \t]*$", re.DOTALL | re.MULTILINE),
    re.compile(r"^[ \t]*#{1,6} .*$", re.MULTILINE),
    re.compile(r"^[ \t]*\|.*$", re.MULTILINE),
    re.compile(r"^[ \t]*[:`]{3,}\{.*$", re.MULTILINE),
    re.compile(r"\[[^\[\]]*\]\([^()\s]*\)"),
    re.compile(r"\{(?!term\})[\w:.-]+\}`[^`]*`"),
]


@dataclass(frozen=True)
class Entry:
    """What the glossary says about a word, and its other names."""

    names: tuple[str, ...]
    text: str

    @property
    def chapters(self) -> dict[str, str]:
        """The pages that the entry points to, and how it calls them."""
        found = re.findall(r"\{doc\}`(?:([^`<>]+?)\s*<)?([^`<>]+)>?`", self.text)
        return {page: title for title, page in found}


@dataclass(frozen=True)
class Link:
    """A word of a notebook that leads to the glossary."""

    title: str
    name: str
    place: tuple[int, int]


def fold(words: str) -> str:
    """Return words as they are compared: small letters, single spaces."""
    return " ".join(words.split()).casefold()


def entries(page: str) -> list[Entry]:
    """Read the entries of a page's glossary directive."""
    body = re.search(r"^(:{3,})\{glossary\}\n(.*?)^\1[ \t]*$", page, re.DOTALL | re.MULTILINE)
    if body is None:
        return []
    found = []
    for block in re.split(r"\n\s*\n", body[2].strip("\n")):
        lines = block.split("\n")
        names = [line.strip() for line in lines if not line.startswith(" ")]
        text = " ".join(line.strip() for line in lines if line.startswith(" "))
        found.append(Entry(tuple(names), text))
    return found


def texts(content: nbformat.NotebookNode) -> list[tuple[int, str]]:
    """Return the numbers and the sources of the Markdown cells."""
    return [
        (number, cell.source)
        for number, cell in enumerate(content.cells, start=1)
        if cell.cell_type == "markdown"
    ]


def links(content: nbformat.NotebookNode) -> list[Link]:
    """Return the links to the glossary, in the order of reading."""
    return [
        Link(
            match["title"], fold(match["target"] or match["title"]), (number, match.start("title"))
        )
        for number, source in texts(content)
        for match in TERM.finditer(source)
    ]


def sentences(source: str) -> str:
    """Blank all that is no sentence of the running text, links to the glossary among it."""
    for pattern in [TERM, *NO_SENTENCE]:
        source = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)
    return visible_words(source)


def form_pattern(forms: set[str]) -> re.Pattern[str]:
    """Match any of some words in the singular or the plural, the longest that fits."""
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    options = [r"\s+".join(map(re.escape, form.split())) for form in longest_first]
    return re.compile(rf"(?<![\w-])({'|'.join(options)})s?(?![\w-])", re.IGNORECASE)


def unknown(content: nbformat.NotebookNode, glossary: list[Entry]) -> list[str]:
    """Find links to words that the glossary does not have."""
    known = {fold(name) for entry in glossary for name in entry.names}
    return [link.name for link in links(content) if link.name not in known]


def linked_late(content: nbformat.NotebookNode, glossary: list[Entry]) -> list[str]:
    """Find words that a sentence uses before the place where they are linked."""
    entry_of = {fold(name): entry for entry in glossary for name in entry.names}
    first: dict[Entry, Link] = {}
    forms = dict(entry_of)
    for link in links(content):
        if link.name in entry_of:
            first.setdefault(entry_of[link.name], link)
            forms.setdefault(fold(link.title), entry_of[link.name])
    pattern = form_pattern(set(forms))
    problems = []
    for number, source in texts(content):
        for match in pattern.finditer(sentences(source)):
            entry = forms[fold(match[1])]
            if entry in first and (number, match.start()) < first[entry].place:
                around = source[max(0, match.start() - 30) : match.end() + 30]
                problems.append(f"cell {number}: {entry.names[0]!r} in «{fold(around)}»")
    return problems


def linked_twice(content: nbformat.NotebookNode, glossary: list[Entry]) -> list[str]:
    """Find words that a page links more than once."""
    entry_of = {fold(name): entry for entry in glossary for name in entry.names}
    counts = Counter(entry_of[link.name] for link in links(content) if link.name in entry_of)
    return [entry.names[0] for entry, count in counts.items() if count > 1]


def never_linked(pages: dict[str, nbformat.NotebookNode], glossary: list[Entry]) -> list[str]:
    """Find words that no page links, or that the chapter explaining them does not."""
    linked = {name: {link.name for link in links(page)} for name, page in pages.items()}
    problems = []
    for entry in glossary:
        names = {fold(name) for name in entry.names}
        places = [f"chapters/{chapter}.ipynb" for chapter in entry.chapters]
        if not any(names & found for found in linked.values()):
            problems.append(f"{entry.names[0]}: no page links it")
        problems += [
            f"{entry.names[0]}: {place} does not link it"
            for place in places
            if place in pages and not names & linked[place]
        ]
    return problems


def entry_problems(glossary: list[Entry]) -> list[str]:
    """Hold the entries against their form: in order, explained, with a chapter, no numerals."""
    heads = [fold(entry.names[0]) for entry in glossary]
    names = [fold(name) for entry in glossary for name in entry.names]
    problems = (
        [] if heads == sorted(heads) else ["the entries are not in the order of the alphabet"]
    )
    problems += [f"{name}: explained twice" for name, count in Counter(names).items() if count > 1]
    for entry in glossary:
        head = entry.names[0]
        if not entry.text:
            problems.append(f"{head}: not explained")
        if len(entry.chapters) != 1:
            problems.append(f"{head}: points to {len(entry.chapters)} chapters")
        problems += [
            f"{head}: there is no chapter {chapter} called {title!r}"
            for chapter, title in entry.chapters.items()
            if not re.match(rf"{re.escape(title)}\b", TITLES.get(chapter, ""))
        ]
        problems += [
            f"{head}: the numeral {numeral.text} comes from no cell"
            for piece in walk(entry.text)
            for numeral in numerals(piece)
            if not numeral.structure
        ]
    return problems


ENTRIES = entries(GLOSSARY.read_text(encoding="utf-8"))


def test_the_glossary_is_in_order() -> None:
    assert len(ENTRIES) > 40
    assert entry_problems(ENTRIES) == []


def test_every_word_of_the_glossary_is_linked_and_by_the_chapter_that_explains_it() -> None:
    assert never_linked({name: read(name) for name in LINKING}, ENTRIES) == []


@pytest.mark.parametrize("check", [unknown, linked_late, linked_twice])
@pytest.mark.parametrize("name", LINKING)
def test_the_links_of_a_page(name: str, check) -> None:
    problems = check(read(name), ENTRIES)
    assert not problems, "\n".join([check.__doc__, *problems])


@pytest.mark.parametrize("name", LINKING)
def test_a_page_stays_a_page_of_text(name: str) -> None:
    assert len(links(read(name))) <= MOST_LINKS


PAGE = """# Glossary

:::{glossary}
key
  What is looked up. ({doc}`The puzzle <01_puzzle>`)

online softmax
  In one pass. ({doc}`Implementation <07_implementation>`)

softmax
normalized exponential
  Exponentials over their
  sum. ({doc}`The puzzle
  <01_puzzle>`)
:::
"""
MADE = entries(PAGE)


def test_entries_are_read_with_their_other_names() -> None:
    assert [entry.names for entry in MADE] == [
        ("key",),
        ("online softmax",),
        ("softmax", "normalized exponential"),
    ]
    assert MADE[2].text == "Exponentials over their sum. ({doc}`The puzzle <01_puzzle>`)"
    assert MADE[2].chapters == {"01_puzzle": "The puzzle"}
    assert Entry(("x",), "See {doc}`02_variance`.").chapters == {"02_variance": ""}
    assert entries("# A page without one") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("key\n", "zebra\n", "order"),
        ("normalized exponential", "Key", "explained twice"),
        ("  What is looked up. ({doc}`The puzzle <01_puzzle>`)\n", "", "not explained"),
        (" ({doc}`Implementation <07_implementation>`)", "", "points to 0 chapters"),
        ("07_implementation", "77_missing", "there is no chapter 77_missing"),
        ("`Implementation <", "`Imp <", "there is no chapter 07_implementation called 'Imp'"),
        ("In one pass", "In 3 passes", "the numeral 3"),
    ],
)
def test_a_glossary_in_disorder_is_reported(old: str, new: str, message: str) -> None:
    assert entry_problems(MADE) == []
    assert PAGE.count(old) == 1
    assert any(message in problem for problem in entry_problems(entries(PAGE.replace(old, new))))


@pytest.mark.parametrize(
    "before",
    [
        "A key is used.",
        "Two Keys are used.",
        "A **key** is used.",
        "A keystone, then a key.",
        ":::{admonition} Predict first\n:class: predict\nWhich key?\n:::",
        "- an item\n- with a key",
        "The [text](a.md) and the key.",
        "The handle.",
    ],
)
def test_a_word_linked_too_late_is_found(before: str) -> None:
    content = notebook("# Title", before, "The {term}`handle <key>` of it.")
    assert len(linked_late(content, MADE)) == 1
    together = notebook(f"# Title\n\n{before}\n\nThe {{term}}`handle <key>` of it.")
    assert len(linked_late(together, MADE)) == 1


@pytest.mark.parametrize(
    "before",
    [
        "## The key",
        "| key | value |\n|---|---|\n| 1 | key |",
        ":::{admonition} A key first\n:class: predict\nWhich?\n:::",
        ":::{admonition} Contract\n:class: contract\n- **You need** a key\n:::",
        "Code: `key`, $key$ and {ref}`the key <x>`.",
        "```python\nkey = 1\n```",
        "$$\nkey\n$$ (eq-key)",
        "The [key](a.md) and the key-value store.",
        "A keyboard.",
        "The softmax.",
    ],
)
def test_what_is_no_use_in_a_sentence_is_passed_over(before: str) -> None:
    assert linked_late(notebook(before, "The {term}`key`, then the key."), MADE) == []


def test_a_longer_word_is_not_taken_for_a_shorter_one() -> None:
    assert linked_late(notebook("Online softmax. {term}`Softmax`, softmax."), MADE) == []
    assert linked_late(notebook("Softmax. {term}`Softmax`."), MADE) != []
    assert linked_late(notebook("{term}`Online softmax`, then {term}`softmax`."), MADE) == []


def test_a_word_that_the_page_does_not_link_may_be_anywhere() -> None:
    assert linked_late(notebook("A key, and {term}`softmax`."), MADE) == []


def test_links_are_found_with_their_targets() -> None:
    content = notebook(
        "The {term}`Softmax` of\nthe {term}`handles<online\nsoftmax>`.", code("x = 1")
    )
    assert [(link.title, link.name) for link in links(content)] == [
        ("Softmax", "softmax"),
        ("handles", "online softmax"),
    ]
    assert unknown(content, MADE) == []
    assert unknown(notebook("{term}`padlock` and {term}`key <lock>`"), MADE) == ["padlock", "lock"]


def test_a_word_linked_twice_is_found() -> None:
    assert linked_twice(notebook("{term}`key`", "{term}`softmax`"), MADE) == []
    twice = notebook("{term}`softmax`", "{term}`it <normalized exponential>`")
    assert linked_twice(twice, MADE) == ["softmax"]


def test_a_word_without_a_link_is_found() -> None:
    pages = {
        "chapters/01_puzzle.ipynb": notebook("{term}`key`, {term}`normalized exponential`"),
        "chapters/07_implementation.ipynb": notebook("{term}`online softmax`"),
    }
    assert never_linked(pages, MADE) == []
    elsewhere = pages | {"chapters/01_puzzle.ipynb": notebook("{term}`softmax`")}
    elsewhere["index.ipynb"] = notebook("{term}`key`")
    assert never_linked(elsewhere, MADE) == ["key: chapters/01_puzzle.ipynb does not link it"]
    del elsewhere["index.ipynb"]
    assert "key: no page links it" in never_linked(elsewhere, MADE)
