"""Every citation has its entry, every entry is complete and cited."""

from __future__ import annotations

import re

import pytest
from pybtex.database import BibliographyData, parse_file, parse_string

from tests.book.notebooks import NOTEBOOKS, PAGES, ROOT, read, text_of

CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
REQUIRED = {
    "article": {"title", "journal", "year"},
    "book": {"title", "publisher", "year"},
    "incollection": {"title", "booktitle", "publisher", "year"},
    "inproceedings": {"title", "booktitle", "year"},
    "misc": {"title", "year", "howpublished"},
    "online": {"title", "year", "url"},
    "phdthesis": {"title", "school", "year"},
    "techreport": {"title", "institution", "year"},
    "unpublished": {"title", "year", "note"},
}
# What stands in for `howpublished` in an entry of type misc.
WHERE = {"howpublished", "url", "eprint", "doi"}
# Names that look like any other word, and would be printed like one.
NAMES = {
    "Adam",
    "Chameleon",
    "Gemma",
    "Kimi",
    "Llama",
    "Poisson",
    "Swin",
    "Transformer",
    "Transformers",
}
# With one of these a reader finds the work.
FOUND_BY = [{"doi"}, {"url"}, {"isbn"}, {"eprint", "archiveprefix"}, {"volume", "pages"}]


def cited_keys(text: str) -> set[str]:
    return {key.strip() for keys in CITE.findall(text) for key in keys.split(",")}


def page_text(page: str) -> str:
    name = page if page.endswith((".ipynb", ".md")) else f"{page}.ipynb"
    if name in NOTEBOOKS:
        return text_of(read(name))
    return (ROOT / f"{page.removesuffix('.md')}.md").read_text(encoding="utf-8")


def entry_problems(entries: BibliographyData) -> list[str]:
    """List what is missing in the entries of a bibliography."""
    problems = []
    for key, entry in entries.entries.items():
        if entry.type not in REQUIRED:
            problems.append(f"{key}: unknown type {entry.type}")
            continue
        fields = {name.lower() for name, value in entry.fields.items() if value.strip()}
        if entry.type == "misc" and fields & WHERE:
            fields.add("howpublished")
        problems += [f"{key}: no {field}" for field in sorted(REQUIRED[entry.type] - fields)]
        if not any(needed <= fields for needed in FOUND_BY):
            problems.append(f"{key}: no DOI, eprint, address or volume and pages to find it by")
        if not (entry.persons.get("author") or entry.persons.get("editor")):
            problems.append(f"{key}: no author")
        if any(str(person) == "others" for person in entry.persons.get("author", [])):
            problems.append(f"{key}: authors are left out")
        if not re.fullmatch(r"(?:1[89]|20)\d\d", entry.fields.get("year", "")):
            problems.append(f"{key}: the year is no year")
        doi = entry.fields.get("doi", "")
        if doi and not re.fullmatch(r"10\.\d{4,9}/\S+", doi):
            problems.append(f"{key}: the DOI is no DOI")
    return problems


def unprotected_names(title: str) -> list[str]:
    """Return the names and acronyms of a title that the style would print in lower case.

    It makes every letter small that is neither the first one nor in braces.
    """
    outside = re.sub(r"(\\\w+|\\\W)?\{[^{}]*\}", " ", title)
    words = re.findall(r"[\w²-]+", outside)
    parts = [part for word in words for part in word.split("-")]
    return [
        part
        for part in parts
        if re.search(r"\w[A-Z]", part) or part in NAMES or re.fullmatch("[IVX]+", part)
    ]


def bibliography() -> BibliographyData:
    return parse_file(str(ROOT / "references.bib"), bib_format="bibtex")


def test_every_entry_is_complete() -> None:
    assert entry_problems(bibliography()) == []


def test_names_in_titles_keep_their_capitals() -> None:
    entries = bibliography().entries
    lost = {key: unprotected_names(entry.fields["title"]) for key, entry in entries.items()}
    assert {key: names for key, names in lost.items() if names} == {}


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("nGPT: Normalized {Transformer} with IO-Awareness", ["nGPT", "IO"]),
        ("{nGPT}: Normalized Transformer with {IO}-Awareness", ["Transformer"]),
        ("Tensor Programs V: Tuning", ["V"]),
        ("Gemma 2 and the Veli{\\v{c}}kovi{\\'c} Law", ["Gemma"]),
        ("Attention Is All You Need", []),
    ],
)
def test_an_unprotected_name_is_found(title: str, names: list[str]) -> None:
    assert unprotected_names(title) == names


def test_every_citation_has_an_entry_and_every_entry_is_cited() -> None:
    cited = set().union(*(cited_keys(page_text(page)) for page in PAGES))
    # The references of docstrings are citations as well.
    for module in ROOT.glob("attnlib/**/*.py"):
        cited |= cited_keys(module.read_text(encoding="utf-8"))
    known = set(bibliography().entries)
    assert cited - known == set(), "cited without an entry"
    assert known - cited == set(), "an entry that nothing cites"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{cite}`a2017` and {cite:t}`b2018,c2019`", {"a2017", "b2018", "c2019"}),
        ("{doc}`a2017`", set()),
    ],
)
def test_cited_keys_are_found(text: str, keys: set[str]) -> None:
    assert cited_keys(text) == keys


@pytest.mark.parametrize(
    "entry",
    [
        "@article{a, author={A, B}, title={T}, year={2017}, doi={10.1000/182}}",
        "@article{a, author={A, B}, title={T}, year={2017}, journal={J}}",
        "@article{a, author={A, B}, title={T}, year={2017}, journal={J}, eprint={1706.03762}}",
        "@inproceedings{a, author={A, B}, title={T}, year={2017}, doi={10.1000/182}}",
        "@book{a, author={A, B}, title={T}, year={2017}, isbn={1}}",
        "@misc{a, author={A, B}, title={T}, year={2017}, isbn={1}}",
        "@misc{a, title={T}, year={2017}, url={https://example.org}}",
        "@misc{a, author={A, B}, title={T}, year={soon}, url={https://example.org}}",
        "@article{a, author={A, B}, title={T}, year={2017}, journal={J}, doi={nothing}}",
        "@misc{a, author={A, B and others}, title={T}, year={2017}, url={https://example.org}}",
        "@thing{a, author={A, B}, title={T}, year={2017}}",
    ],
)
def test_an_incomplete_entry_is_reported(entry: str) -> None:
    assert len(entry_problems(parse_string(entry, "bibtex"))) == 1


def test_a_complete_entry_passes() -> None:
    entry = "@article{a, author={A, B}, title={T}, year={2017}, journal={J}, doi={10.1000/182}}"
    assert entry_problems(parse_string(entry, "bibtex")) == []
