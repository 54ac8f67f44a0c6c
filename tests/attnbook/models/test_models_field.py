"""The figure of all families: what it counts, names and leaves out."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import traitlets
from bs4 import BeautifulSoup

from attnbook.figures import ModelsField
from attnbook.models.computed import KIND_NAMES, disagreements, exceptions
from tests.book.notebooks import ROOT

pytestmark = pytest.mark.not_for_mutants

DATA = json.loads((ROOT / "data" / "census.json").read_text(encoding="utf-8"))
FAMILIES = DATA["families"]


def squares(**state):
    page = BeautifulSoup(ModelsField(FAMILIES, **state).markup(), "html.parser")
    return page.select(".field i")


def test_each_family_is_one_square_in_the_group_of_its_kind() -> None:
    page = BeautifulSoup(ModelsField(FAMILIES).markup(), "html.parser")
    assert Counter(square["title"] for square in squares()) == Counter(
        entry["family"] for entry in FAMILIES
    )
    for head in page.select(".field p"):
        name, _, count = head.text.rpartition(": ")
        (kind,) = (kind for kind, called in KIND_NAMES.items() if called == name)
        own = {square["title"] for square in head.find_next_sibling("div").select("i")}
        assert own == {entry["family"] for entry in FAMILIES if entry["kind"] == kind}
        assert int(count) == len(own) == DATA["counts"][kind]


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ({"text": "sink"}, {e["family"] for e in FAMILIES if "sink" in e.get("extras", ())}),
        ({"first": "5.24.0"}, {e["family"] for e in FAMILIES if e["first"] == "5.24.0"}),
        ({"text": "LLAMA 4"}, {"llama4"}),
        ({}, {e["family"] for e in FAMILIES}),
    ],
    ids=["a sink", "the newest", "words", "all"],
)
def test_a_filter_leaves_what_fits(state: dict[str, str], wanted: set[str]) -> None:
    shown = {square["title"] for square in squares(**state) if "off" not in square.get("class", ())}
    assert shown == wanted == set(ModelsField(FAMILIES, **state).shown)


def test_the_family_in_question_is_named() -> None:
    words = ModelsField(FAMILIES, family="florence2").words()
    said = f"{len(FAMILIES)} of {len(FAMILIES)} families. "
    assert words == said + "florence2, first in 4.57.6: the root of another number."
    with pytest.raises(traitlets.TraitError, match="no family 'gpt3'"):
        ModelsField(FAMILIES, family="gpt3")


def test_every_exception_is_in_the_table_once() -> None:
    page = BeautifulSoup(exceptions(FAMILIES), "html.parser")
    named = [code.text for row in page.select("tbody tr") for code in row.th.select("code")]
    assert Counter(named) == Counter(
        entry["family"] for entry in FAMILIES if not entry["kind"].startswith("root")
    )


def test_each_disagreement_names_two_packages() -> None:
    page = BeautifulSoup(disagreements(DATA["packages"]), "html.parser")
    for row in page.select("tbody tr"):
        sides = [small.text.partition(" ")[0] for small in row.select("small")]
        assert len(set(sides)) == 2
