"""The Python side of the table of models: its order, its filter, its numbers and its words."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re

import pytest
import traitlets
from bs4 import BeautifulSoup

from attnbook.drawing.base import LiveFigure
from attnbook.figures import ModelsTable
from attnbook.models.models_table import ALONE, COLUMNS, SORTED_BY, USUAL
from tests.book.notebooks import ROOT

pytestmark = pytest.mark.not_for_mutants

DATA = json.loads((ROOT / "data" / "models.json").read_text(encoding="utf-8"))
LINES = DATA["models"]
KINDS = dict.fromkeys(line["kind"] for line in LINES)
ADDITIONS = dict.fromkeys(addition for line in LINES for addition in line["also"])
SCHEMES = ["", *KINDS, ALONE, *ADDITIONS]
TEXTS = ["", "gemma", "  QK  norm", "LLaMA", "µp", "1/dk", "mT5", "‡"]


def table(**state):
    return ModelsTable(LINES, DATA["snapshots"], **state)


def names(rows):
    return [row["name"] for row in rows]


def parsed(shown):
    """Return the cells of each line as a browser would show them, by column, and whether hidden."""
    page = BeautifulSoup(shown.markup(), "html.parser")
    return [
        (row.has_attr("hidden"), dict(zip(COLUMNS, row.find_all(["th", "td"]), strict=True)))
        for row in page.select("tbody tr")
    ]


def meaning(column, cell):
    """Return what a reader sorts a shown cell by, or None for one that says nothing."""
    text = cell.get_text()
    if column == "year":
        spoken = re.findall(r"\d+", text)
        first = int(spoken[0])
        last = first // 100 * 100 + int(spoken[1]) if len(spoken) > 1 else first
        return first, math.inf if "from" in text else last
    if column in {"d_k", "times"}:
        return float(text) if re.fullmatch(r"[\d.]+", text) else None
    return text.lower() or None


class TestOrder:
    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("column", SORTED_BY)
    def test_it_goes_by_what_the_cells_say(self, column, descending):
        """Against an insertion, one by one, behind all lines that do not belong after it."""
        given = [
            (meaning(column, cells[column]), cells["model"].text) for _, cells in parsed(table())
        ]
        wanted = []
        for value, name in given:
            place = len(wanted)
            while place and self.comes_before(value, wanted[place - 1][0], descending=descending):
                place -= 1
            wanted.insert(place, (value, name))
        shown = table(sort=column, descending=descending)
        assert names(shown.rows) == [name for _, name in wanted]
        assert len({value for value, _ in wanted}) > 3
        assert [cells["model"].text for _, cells in parsed(shown)] == names(shown.rows)

    @staticmethod
    def comes_before(one, other, *, descending):
        if one is None or other is None:
            return one is not None
        return one > other if descending else one < other

    def test_without_a_column_lines_stay_as_given(self):
        assert table().rows == LINES
        assert table(descending=True).rows == LINES

    def test_capitals_do_not_count_and_equal_lines_stay_as_given(self):
        lines = [
            {"name": name, "year": "2020", "kind": USUAL, "rule": "", "also": [], "note": "",
             "sources": []}
            for name in ("b", "C", "a", "A", "B")
        ]  # fmt: skip
        for descending, wanted in ((False, "aAbBC"), (True, "CbBaA")):
            shown = ModelsTable(lines, sort="model", descending=descending)
            assert "".join(names(shown.rows)) == wanted

    def test_the_head_says_which_column_it_is(self):
        for column, descending in itertools.product(SORTED_BY, (False, True)):
            page = BeautifulSoup(table(sort=column, descending=descending).markup(), "html.parser")
            said = {th.button["name"]: th["aria-sort"] for th in page.select("th[aria-sort]")}
            assert said.pop(column) == ("descending" if descending else "ascending")
            assert set(said.values()) == {"none"}


class TestFilter:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_a_way_of_scaling_keeps_its_lines(self, scheme):
        wanted = [
            line["name"]
            for line in LINES
            if scheme in {"", line["kind"], *line["also"]}
            or (scheme == ALONE and line["kind"] == USUAL and line["also"] == [])
        ]
        shown = table(scheme=scheme)
        assert names(shown.rows) == wanted != []
        assert f"{len(wanted)} of {len(LINES)} lines" in shown.words()
        assert [cells["model"].text for hidden, cells in parsed(shown) if not hidden] == wanted

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("GEMMA", ["Gemma 2 9B", "Gemma 2 27B", "Gemma 3 27B", "Gemma 3n", "Gemma 4"]),
            ("gemma 27", ["Gemma 2 27B", "Gemma 3 27B"]),
            ("mt5", ["T5"]),  # a name in a remark
            ("neo gpt-j", ["GPT-J"]),  # the family's name and its own
            ("1/dk", ["µP reference code", "Granite 8B", "Inkling"]),
            ("μp", ["µP reference code", "HyperCLOVA X"]),  # the Greek letter for the sign
            ("soft cap of 30", ["Grok-1"]),
            ("sqrt(128)", ["Grok-1"]),
            (
                "sink",
                ["GPT-OSS", "DeepSeek-V4", "MiMo-V2-Flash", "Inkling 2", "OpenAI privacy filter"],
            ),
            ("sinks", []),
            ("<b>", []),
        ],
    )
    def test_words_are_looked_for_in_name_family_rule_and_remark(self, text, wanted):
        assert names(table(text=text).rows) == wanted

    def test_order_and_filters_do_not_disturb_each_other(self):
        ordered = names(table(sort="times", descending=True).rows)
        shown = table(sort="times", descending=True)
        for scheme, text in itertools.product(SCHEMES, TEXTS):
            kept = set(names(table(scheme=scheme).rows)) & set(names(table(text=text).rows))
            shown.scheme, shown.text = scheme, text
            assert names(shown.rows) == [name for name in ordered if name in kept]


class TestWords:
    def test_they_say_how_many_why_and_in_which_order(self):
        assert table().words() == ("66 of 66 lines. The order is by year, with families together.")
        assert table(
            scheme="q/k norm", text=" gemma  3", sort="times", descending=True
        ).words() == (
            "2 of 66 lines: each has “q/k norm” and contains “gemma 3”. "
            "Sorted by “times 1/√dₖ”, descending."
        )

    def test_they_say_that_nothing_fits(self):
        shown = table(text="<b>", scheme="soft cap", sort="year")
        said = "0 of 66 lines: none has “soft cap” and contains “<b>”. "
        assert shown.words() == said + "Change the filter or press Reset."
        assert all(hidden for hidden, _ in parsed(shown))
        page = BeautifulSoup(shown.markup(), "html.parser")
        assert page.select_one(".figure-words").text == shown.words()
        assert page.select_one("input")["value"] == "<b>"
        assert page.b is None


class TestCells:
    @functools.cached_property
    def cells(self):
        return {line["model"].text: line for _, line in parsed(table())}

    @pytest.mark.parametrize(
        ("name", "times"),
        [
            ("T5", math.sqrt(64)),
            ("Inkling", 1 / math.sqrt(128)),
            ("DeBERTa 1 and 2", 1 / math.sqrt(3)),
            ("Zamba 1 and 2", math.sqrt(2)),
            ("Gemma 2 27B", math.sqrt(128 / 144)),
            ("GPT-OSS", (0.1 * math.log(32) + 1) ** 2),
            ("Phi-3, 128k context", 1 + math.log(131072 / 4096, 4096)),
            ("nanochat", 1.2**2),
        ],
    )
    def test_the_comparison_follows_from_the_rule(self, name, times):
        assert self.cells[name]["times"].text == f"{times:.3g}"

    def test_every_line_keeps_its_remark_and_its_sources(self):
        states = {entry["repository"]: entry for entry in DATA["snapshots"]}
        for line in LINES:
            cells = self.cells[line["name"]]
            assert cells["remarks"].text == line["note"].replace("`", "")
            assert [code.text for code in cells["remarks"].find_all("code")] == (
                re.findall("`(.*?)`", line["note"])
            )
            read = cells["read_in"]
            assert read.text == "not read †" or line["sources"]
            assert all(where["symbol"] in read.text for where in line["sources"])
            committed = [w for w in line["sources"] if "commit" in states[w["repository"]]]
            for where, link in zip(committed, read.find_all("a"), strict=True):
                start = f"https://github.com/{where['repository']}/"
                assert link["href"].startswith(start)
                assert f"/{states[where['repository']]['commit']}" in link["href"]
                assert link["href"].endswith(where["path"])

    def test_it_is_a_table_with_caption_and_heads(self):
        page = BeautifulSoup(table().markup(), "html.parser")
        assert page.caption.text
        assert [head["data-label"] for head in page.select("thead th[scope=col]")] == [
            label for label, _ in COLUMNS.values()
        ]
        assert all(head.text == head["data-label"] for head in page.select("thead th"))
        assert len(page.select("tbody th[scope=row]")) == len(LINES)
        for row in page.select("tbody tr"):
            labels = [cell["data-label"] for cell in row.select("td")]
            assert labels == [label for label, _ in COLUMNS.values()][1:]

    def test_without_the_states_sources_have_names_and_no_links(self):
        plain = BeautifulSoup(ModelsTable(LINES).markup(), "html.parser")
        assert plain.find("a") is None
        assert "google-research/bert: modeling.py" in plain.text


class TestState:
    def test_it_is_kept_beside_the_markup(self):
        state = {"sort": "year", "descending": True, "text": "norm", "scheme": "soft cap"}
        shown = table(**state)
        data, _ = shown._repr_mimebundle_()
        page = BeautifulSoup(data["text/html"], "html.parser")
        assert json.loads(page.div["data-state"]) == shown.values() == state
        assert page.div["data-figure"] == "models_table"
        assert page.select_one("option[selected]").text == "soft cap"
        assert data["text/plain"] == repr(shown)

    def test_what_a_browser_reports_is_what_python_has(self):
        shown = table()
        shown.set_state({"sort": "year", "descending": True, "text": "gemma"})
        assert names(shown.rows)[:2] == ["Gemma 4", "Gemma 3 27B"]
        assert shown.get_state(["sort", "text"]) == {"sort": "year", "text": "gemma"}

    @pytest.mark.parametrize(
        "state", [{"sort": "remarks"}, {"descending": "no"}, {"text": 1}, {"scheme": "magic"}]
    )
    def test_what_does_not_exist_is_refused(self, state):
        with pytest.raises(traitlets.TraitError, match=next(iter(state))):
            table(**state)

    def test_no_line_at_all_is_a_table_without_lines(self):
        assert ModelsTable([]).words().startswith("0 of 0 lines.")
        assert ModelsTable([]).rows == []

    def test_it_draws_no_picture(self):
        """Which is how the tests of all drawing figures know that it is not theirs."""
        assert ModelsTable.picture is LiveFigure.picture


def test_what_the_page_asks_has_the_answer_that_it_gives():
    """The latest plain line begins before the latest line, and all after it do otherwise."""
    rows = table(sort="year", descending=True).rows
    begins = [int(re.search(r"20\d\d", row["year"])[0]) for row in rows]
    plain = [row["kind"] == USUAL and not row["also"] for row in rows]
    first = plain.index(True)
    assert begins[first] == 2025
    later = [row for row, year in zip(rows, begins, strict=True) if year > 2025]
    assert len(later) == 7
    assert sum(row["kind"] == USUAL for row in later) == 5
    assert sum(plain) == len(table(scheme=ALONE).rows) == 20
