"""What the book says about real models is in one file, each line with where it was read."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from attnbook.initialization import INITIALIZERS
from tests.book.notebooks import BOOK, ROOT, read, shown_as, text_of

TABLE = json.loads((ROOT / "data" / "models.json").read_text(encoding="utf-8"))
CENSUS = json.loads((ROOT / "data" / "census.json").read_text(encoding="utf-8"))
KINDS = {
    "1/√dₖ",
    "1/dₖ",
    "another root",
    "constant or learned",
    "from the configuration",
    "no factor",
}
ADDITIONS = {"context factor", "q/k norm", "sink logit", "soft cap"}
NO_NUMBER = {"learned", "option", "position", "stretch", "window", "√dₖ"}
PLAIN = {"`1/sqrt(d)`", "`1/sqrt(d)` †", "`1/sqrt(d)`, on the query", "`d**-0.25` on q and on k"}
EXPLAINED = {"d", "floor", "ln", "original", "pos", "sqrt", "stretch"}  # names in formulas
YEARS = re.compile(r"(?:from )?20\d\d(?:–\d\d)?(?: †)?")


def source_problems(entry: dict[str, Any], known: set[str]) -> list[str]:
    """Ask where a line was read, or for the mark that it was not."""
    if not entry["sources"]:
        return [] if "†" in entry["rule"] else ["nothing says where it was read"]
    problems = [
        f"the state of {source['repository']} is not noted"
        for source in entry["sources"]
        if source["repository"] not in known
    ]
    if not any(source["path"] for source in entry["sources"]):
        problems.append("no file is named")
    for source in entry["sources"]:
        if source["path"].endswith(".py") and not source["symbol"]:
            problems.append(f"{source['path']} without a symbol to look for")
        if source["repository"].endswith("/transformers") and not source["path"].startswith(
            "src/transformers/"
        ):
            problems.append(f"{source['path']} is not in the folder that the page names")
    return problems


def model_problems(entry: dict[str, Any], known: set[str]) -> list[str]:
    """Hold one line of the table against its form."""
    problems = source_problems(entry, known)
    if entry["kind"] not in KINDS:
        problems.append(f"{entry['kind']} is no kind of factor")
    problems += [f"{kind} is no addition" for kind in entry["also"] if kind not in ADDITIONS]
    if not YEARS.fullmatch(entry["year"]):
        problems.append(f"{entry['year']} is no year")
    if ("d_k" in entry) != ("divisor_squared" in entry):
        problems.append("a width without a divisor, or a divisor without a width")
    if "d_k" in entry:
        problems += [] if kind_of(entry) == entry["kind"] else ["the numbers are of another kind"]
    if entry["rule"].count("`") % 2 or entry["note"].count("`") % 2:
        problems.append("an odd number of backticks")
    if "†" in entry["rule"] + entry["year"] and "†" not in entry["note"]:
        problems.append("a mark that the remark does not explain")
    return problems + number_problems(entry) + addition_problems(entry) + name_problems(entry)


def has_number(entry: dict[str, Any]) -> bool:
    """Return whether a rule can be compared with the usual one by a number."""
    return "relative_squared" in entry or "d_k" in entry


def number_problems(entry: dict[str, Any]) -> list[str]:
    """Hold a line against what the page says of its number, or of the word in its place."""
    word = entry.get("instead_of_number")
    if has_number(entry) == (word is not None):
        return ["neither a number nor a word in its place, or both"]
    if word is None:
        plain = entry["kind"] == "1/√dₖ" and (
            entry.get("relative_squared") == [1, 1] or "divisor_squared" in entry
        )
        stretched = {"factor", "yarn", "longrope"} & entry.keys()
        if entry["rule"] in PLAIN and (not plain or stretched):
            return ["the usual rule without its one"]
        if "pos" in words_of(entry) and entry["name"] != "Llama 4":
            return ["a number that hangs on the position"]
        return []
    whole = entry["rule"] + entry["note"]
    reasons = {
        "learned": entry["kind"] == "constant or learned" and "learned" in entry["rule"],
        "option": "default" in whole,
        "position": "pos" in words_of(entry),
        "stretch": "stretch" in words_of(entry),
        "window": "window" in entry["note"],
        "√dₖ": entry["kind"] == "no factor",
    }
    return [] if reasons.get(word) else [f"{word} is no reason for this line"]


def addition_problems(entry: dict[str, Any]) -> list[str]:
    """Ask whether what is added by default, and only that, is among the additions."""
    whole = entry["rule"] + " " + entry["note"]
    optional = re.search(r"\b[Oo]ptions?\b|\boffers\b", whole) is not None
    told = {
        "q/k norm": r"[Nn]orm\b[^.;]*\bq and k|norm over all heads|cosine times|unit vectors",
        "soft cap": r"soft cap of \d+",
        "context factor": r"stretch|pos\b|window",
        "sink logit": r"sink logit",
    }
    problems = []
    for addition, words in told.items():
        found = re.search(words, whole) is not None
        if addition in entry["also"] and not found:
            problems.append(f"{addition}: the line does not say of what kind")
        if found and not optional and addition not in entry["also"]:
            problems.append(f"{addition}: not among the additions")
    return problems


def words_of(entry: dict[str, Any]) -> set[str]:
    """List the names in the formulas of a rule."""
    formulas = " ".join(re.findall(r"`([^`]*)`", entry["rule"]))
    return set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", formulas))


def name_problems(entry: dict[str, Any]) -> list[str]:
    """Ask that a name in a formula is explained on the page or found in the code."""
    symbols = " ".join(source["symbol"] for source in entry["sources"])
    known = EXPLAINED | set(re.findall(r"\w+", symbols))
    return [f"{name} in a formula is not explained" for name in sorted(words_of(entry) - known)]


def order_problems(models: list[dict[str, Any]]) -> list[str]:
    """Hold the order of lines against year and family."""
    families: dict[str, list[int]] = {}
    problems = []
    before = ""
    for entry in models:
        family = entry.get("family", entry["name"])
        if family in families and family != before:
            problems.append(f"{entry['name']}: away from its family")
        families.setdefault(family, []).append(first_year(entry))
        before = family
    problems += [
        f"{family}: not by year" for family, years in families.items() if years != sorted(years)
    ]
    firsts = [years[0] for years in families.values()]
    return problems + ([] if firsts == sorted(firsts) else ["the lines do not go by year"])


def first_year(entry: dict[str, Any]) -> int:
    """Return the first year that a line names, or zero where it names none."""
    found = re.search(r"20\d\d", entry["year"])
    return int(found[0]) if found else 0


def kind_of(entry: dict[str, Any]) -> str:
    """Say what kind of factor the numbers of an entry make."""
    kinds = {entry["d_k"]: "1/√dₖ", entry["d_k"] ** 2: "1/dₖ", 1: "no factor"}
    return kinds.get(entry["divisor_squared"], "another root")


def table_problems(table: dict[str, Any]) -> list[str]:
    """Hold the whole file against its form."""
    known = {entry["repository"] for entry in table["snapshots"]}
    problems = [
        f"{entry['name']}: {problem}"
        for entry in table["models"]
        for problem in model_problems(entry, known)
    ]
    problems += [
        f"{entry['name']}: {problem}"
        for entry in table["libraries"]
        for problem in source_problems(entry, known)
    ]
    problems += order_problems(table["models"])
    additions = {kind for entry in table["models"] for kind in entry["also"]}
    problems += [f"{kind}: nothing has it" for kind in sorted(ADDITIONS - additions)]
    names = [entry["name"] for entry in table["models"]]
    problems += [f"{name}: there twice" for name in set(names) if names.count(name) > 1]
    problems += [
        f"{entry['repository']}: neither a commit nor a release"
        for entry in table["snapshots"]
        if not re.fullmatch(r"[0-9a-f]{7,40}", entry.get("commit", ""))
        and not re.fullmatch(r"\d+(?:\.\d+)+", entry.get("release", ""))
    ]
    used = {
        source["repository"]
        for entry in [*table["models"], *table["libraries"]]
        for source in entry["sources"]
    }
    return problems + [f"{repository}: nothing was read there" for repository in known - used]


def test_every_line_says_where_it_was_read() -> None:
    assert len(TABLE["models"]) > 40
    assert table_problems(TABLE) == []


def drop(table: dict[str, Any], addition: str) -> None:
    """Take an addition from all lines that have it."""
    for line in table["models"]:
        line["also"] = [kind for kind in line["also"] if kind != addition]


def entry(table: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in table["models"] if entry["name"] == name)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: entry(table, "BERT")["sources"].clear(), "where it was read"),
        (lambda table: entry(table, "BERT")["sources"][0].update(path=""), "no file"),
        (lambda table: entry(table, "BERT")["sources"][0].update(repository="a/b"), "not noted"),
        (lambda table: entry(table, "BERT").update(kind="something"), "no kind"),
        (lambda table: entry(table, "BERT").update(also=["magic"]), "no addition"),
        (lambda table: entry(table, "BERT").update(year="soon"), "no year"),
        (lambda table: entry(table, "BERT").pop("d_k"), "without a width"),
        (lambda table: entry(table, "BERT").update(divisor_squared=63), "another kind"),
        (lambda table: entry(table, "BERT").update(rule="`1/sqrt(d)"), "backticks"),
        (lambda table: entry(table, "BERT").update(name="GPT-2"), "twice"),
        (lambda table: entry(table, "BERT")["sources"][0].update(symbol=""), "without a symbol"),
        (
            lambda table: entry(table, "GPT-1")["sources"][0].update(path="a.py"),
            "not in the folder",
        ),
        (lambda table: entry(table, "CLIP").pop("relative_squared"), "neither a number nor a word"),
        (lambda table: entry(table, "YaRN").update(relative_squared=[1, 1]), "or both"),
        (lambda table: entry(table, "CLIP").update(relative_squared=[1, 2]), "without its one"),
        (lambda table: entry(table, "CLIP").update(yarn=40), "without its one"),
        (lambda table: entry(table, "Llama 4").update(name="Llama"), "hangs on the position"),
        (lambda table: entry(table, "Dia").update(instead_of_number="learned"), "no reason"),
        (lambda table: entry(table, "YaRN").update(instead_of_number="position"), "no reason"),
        (lambda table: entry(table, "Swin v2").update(instead_of_number="√dₖ"), "no reason"),
        (lambda table: entry(table, "YaRN").update(instead_of_number="magic"), "no reason"),
        (lambda table: entry(table, "BERT").update(also=["soft cap"]), "does not say of what"),
        (lambda table: entry(table, "OLMoE").update(also=[], note="RMS norm on q and k."), "among"),
        (lambda table: entry(table, "Grok-1").update(also=[]), "not among the additions"),
        (lambda table: drop(table, "sink logit"), "nothing has it"),
        (lambda table: entry(table, "Zamba 1 and 2").update(rule="`1/sqrt(e)`"), "not explained"),
        (lambda table: entry(table, "Granite 8B").update(note=""), "does not explain"),
        (lambda table: entry(table, "T5").update(year="2017"), "do not go by year"),
        (lambda table: entry(table, "GPT-2").update(year="2017"), "GPT: not by year"),
        (lambda table: entry(table, "BERT").update(family="Gemma"), "away from its family"),
        (lambda table: table["snapshots"][0].update(commit="main"), "neither a commit"),
        (lambda table: table["snapshots"].append({"repository": "a/b", "release": "1.0"}), "there"),
        (lambda table: table["libraries"][0]["sources"].clear(), "where it was read"),
    ],
)
def test_a_line_out_of_form_is_reported(
    change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    table = copy.deepcopy(TABLE)
    change(table)
    assert any(problem in found for found in table_problems(table))


def tables_shown() -> list[str]:
    """List the tables that the page of models shows, as HTML."""
    return shown_as(read("chapters/models.ipynb"), "text/html")


def rows_shown() -> list[str]:
    """List the names in the first column of these tables."""
    shown = "\n".join(tables_shown()).replace("<wbr>", "")
    return re.findall(r'<th scope="row"[^>]*>(.*?)</th>', shown)


def test_the_page_shows_every_line() -> None:
    # the families of the census are in code, and their test is elsewhere
    shown = [row for row in rows_shown() if not row.startswith("<code>")]
    wanted = [entry["name"] for entry in [*TABLE["models"], *TABLE["libraries"]]]
    wanted += [pair["family"] for pair in CENSUS["packages"]]
    wanted += [entry["repository"] for entry in TABLE["snapshots"]]
    assert shown == wanted


def test_no_line_leaves_its_comparison_empty() -> None:
    table = tables_shown()[0]
    heads = re.findall(r'<th scope="col"[^>]* data-label="(.*?)"', table)
    column = heads.index("times 1/√dₖ") - 1
    shown = [
        re.findall(r"<td[^>]*>(.*?)</td>", row)[column]
        for row in re.findall(r"<tr[^>]*>.*<td[^>]*>.*</tr>", table)
    ]
    assert len(shown) == len(TABLE["models"])
    for cell, entry in zip(shown, TABLE["models"], strict=True):
        if has_number(entry):
            assert float(cell) > 0
        else:
            assert cell == entry["instead_of_number"]
    usual = [
        cell for cell, entry in zip(shown, TABLE["models"], strict=True) if entry["rule"] in PLAIN
    ]
    assert len(usual) > 15
    assert set(usual) == {"1"}


def test_the_reading_instruction_names_what_the_table_holds() -> None:
    """Every word that the table has in place of a number, and every addition, is explained."""
    page = text_of(read("chapters/models.ipynb"))
    used = {entry["instead_of_number"] for entry in TABLE["models"] if not has_number(entry)}
    assert used == NO_NUMBER
    assert all(f"*{word}*" in page for word in used - {"√dₖ"})
    assert "no factor and we did not note the head width, the table says √dₖ" in page
    assert all(f"`{name}`" in page for name in EXPLAINED - {"floor", "ln", "sqrt"})
    assert "*context factor* there grows with the context set, the window, or the position" in page
    by_position = [
        entry["name"] for entry in TABLE["models"] if has_number(entry) and "pos" in words_of(entry)
    ]
    assert by_position == ["Llama 4"]
    assert "Llama 4's 1 is that of its layers with rotation" in page
    unread = [entry for entry in TABLE["models"] if not entry["sources"]]
    assert all("†" in entry["note"] for entry in unread)
    release = CENSUS["release"]
    assert f"`pip download --no-deps transformers=={release}`" in page
    assert {"repository": "huggingface/transformers", "release": release} in TABLE["snapshots"]


def test_the_numbers_in_remarks_are_computed() -> None:
    remarks = {entry["name"]: entry["note"] for entry in TABLE["models"]}
    at_one = math.log1p(math.e) / math.log(2)  # softplus at one over softplus at zero
    assert f"which makes {at_one:.2f}" in remarks["TimesFM"]
    assert f"times {1 / math.log(2):.4f}" in remarks["TimesFM"]
    stretch = entry(TABLE, "DeepSeek-V3")["yarn"]
    lite = (0.0707 * math.log(stretch) + 1) ** 2
    assert f"0.0707, which makes {lite:.2f} †" in remarks["DeepSeek-V3"]
    assert f"the {stretch} is a constant" in remarks["DeepSeek-V3"]


def test_the_chapter_on_initialization_prints_where_each_rule_was_read() -> None:
    (page,) = (page for page in BOOK.chapters if page.topic == "initialization")
    outputs = [output for cell in page.cells for output in cell.get("outputs", [])]
    (table,) = (out.text for out in outputs if "reset_parameters" in out.get("text", ""))
    where = re.split(r"\n(?=\S)", table)
    for name in ("multihead_attention", "xavier_square", "linear", "gpt2", "bert", "t5", "mup"):
        read_in = INITIALIZERS[name].source.split("; ")[-1 if name == "mup" else 0]
        pieces = re.split(r", | and |/(?=\w+\.py)", read_in.removesuffix(" (scale)"))
        assert any(all(piece in words for piece in pieces) for words in where), name
