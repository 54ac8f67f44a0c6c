"""Every number in the prose is printed by a cell, and a wrong one would be noticed."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from dataclasses import replace

import nbformat
import pytest

from tests.book.notebooks import CHAPTERS, NOTEBOOKS, PAGES, ROOT, code, notebook, printed, read
from tools import prose

SENTENCE = "At $d_k = 64$ the top weight is 0.43, and 96% of the keys share the rest."
SOURCE = 'print(f"At $d_k = {width}$ the top weight is {top}, and {share}% of the keys share")'
OUTPUT = "At $d_k = 64$ the top weight is 0.43, and 96% of the keys share"


def bound_notebook(
    text: str = SENTENCE, source: str = SOURCE, output: str = OUTPUT
) -> nbformat.NotebookNode:
    return notebook(f"# Title\n\n{text}", code(source, [printed(output + "\n")], tags=["prose"]))


def alterations(text: str, numeral: prose.Numeral) -> Iterator[str]:
    """Change the first digit of a numeral, then its last one, to another that is no 0, 1 or 2."""
    digits = [match.start() for match in re.finditer(r"\d", numeral.text)]
    if not digits:  # a vulgar fraction
        yield text[: numeral.start] + "⅛⅞"[numeral.text == "⅛"] + text[numeral.end :]
    for offset in sorted({digits[0], digits[-1]}) if digits else ():
        place = numeral.start + offset
        yield text[:place] + str((int(text[place]) - 2) % 7 + 3) + text[place + 1 :]


def unnoticed(texts: list[prose.Passage], printed_lines: list[str]) -> list[str]:
    """Alter each numeral in turn and list the alterations that the check does not notice."""
    missed = []
    for index, passage in enumerate(texts):
        for numeral in prose.numerals(passage.text):
            for altered in alterations(passage.text, numeral):
                changed = replace(passage, text=altered)
                if prose.unbound(changed, printed_lines):
                    continue  # the altered passage alone shows it
                others = [*texts[:index], changed, *texts[index + 1 :]]
                if not prose.check_passages(others, printed_lines):
                    missed.append(f"{passage.where}: {numeral.text} in «{altered[:60]}»")
    return missed


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_numeral_is_printed_by_a_cell(name: str) -> None:
    problems = prose.check(read(name))
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_altered_numeral_is_noticed(name: str) -> None:
    content = read(name)
    texts, lines = prose.passages(content), prose.fragments(content)
    assert not prose.check_passages(texts, lines), "the notebook has to be right to begin with"
    assert not unnoticed(texts, lines)


PAGES_WITHOUT_CELLS = sorted({f"{page}.md" for page in PAGES if (ROOT / f"{page}.md").is_file()})


@pytest.mark.parametrize("name", PAGES_WITHOUT_CELLS)
def test_a_page_without_cells_states_no_number(name: str) -> None:
    front_matter_and_rest = (ROOT / name).read_text(encoding="utf-8").split("---\n", 2)
    assert prose.check(notebook(front_matter_and_rest[-1])) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_reading_time_follows_from_the_length(name: str) -> None:
    content = read(name)
    stated = [
        int(minutes)
        for text in prose.passages(content)
        for minutes in prose.READING_TIME.findall(text.text)
    ]
    assert stated, "the contract states no reading time"
    assert set(stated) == {prose.reading_time(content)}


def test_a_bound_sentence_passes() -> None:
    assert prose.check(bound_notebook()) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": SENTENCE.replace("0.43", "0.44")}, "no cell prints '0.44'"),
        ({"text": SENTENCE.replace("64", "65")}, "no cell prints '65'"),
        ({"text": SENTENCE.replace("96%", "97%")}, "no cell prints '97%'"),
        ({"text": SENTENCE + " All 5 of them."}, "no cell prints '5'"),
        ({"text": SENTENCE + " It is $x = 3$."}, "no cell prints '3'"),
        ({"output": OUTPUT.replace("0.43", "0.4")}, "the prose does not say"),
        ({"output": OUTPUT + "\n0.43"}, "needs words"),
        ({"source": 'print("the top weight is 0.43")'}, "prints the typed numeral '0.43'"),
        ({"source": 'print(f"the top weight is {0.43}")'}, "prints the typed numeral '0.43'"),
        ({"source": 'print("the top weight is %s" % ("0.4" + digit))'}, "prints the typed numeral"),
    ],
)
def test_a_broken_binding_is_reported(changed: dict[str, str], message: str) -> None:
    problems = prose.check(bound_notebook(**changed))
    assert any(message in str(problem) for problem in problems), problems


def test_a_prose_cell_that_never_ran_is_reported() -> None:
    unexecuted = notebook("# Title", code(SOURCE, tags=["prose"]))
    assert any("printed nothing" in str(problem) for problem in prose.check(unexecuted))


def test_the_output_of_other_cells_binds_nothing() -> None:
    untagged = notebook(SENTENCE, code(SOURCE, [printed(OUTPUT)]))
    assert len(prose.check(untagged)) == 3


@pytest.mark.parametrize(
    "shown",
    [
        {"figure": {"caption": "Over 64 keys."}},
        {"image": {"alt": "A curve that passes 0.99."}},
    ],
)
def test_captions_and_alternative_texts_count_as_prose(shown: dict[str, dict[str, str]]) -> None:
    assert len(prose.check(notebook("# Title", code("plt.show()", **shown)))) == 1


def test_the_description_counts_as_prose() -> None:
    assert len(prose.check(notebook("# Title", description="Why 64 is not 65."))) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# The 5 steps", ["5"]),
        (
            "gaps of −2 and 1–5, [0.035, 0.259], 4,096. End of 8.",
            ["−2", "1", "5", "0.035", "0.259", "4,096", "8"],
        ),
        ("10⁻⁵, 1e-3, 2½ and ½", ["10⁻⁵", "1e-3", "2½", "½"]),
        ("σ² and dₖ in float32, as in GPT-2", []),
        ("| width | weight |\n|---|---|\n| 4 | $0.3$ |", ["4", "0.3"]),
        ("1. first\n2. second with 3", ["3"]),
        (":::{admonition} Rule 9\n:class: x3\nwith 7\n:::\nand 8", ["9", "7", "8"]),
        (
            "````{prf:proof}\nwith 3\n```{math}\n:label: eq-4\nx = 7\n```\nand 6\n````",
            ["3", "7", "6"],
        ),
        ("```python\nx = 5\n```\n`6` and ``a`7`` but 8", ["8"]),
        ("(ch-2)=\n# Title\n[text 6](page5.md), [^3], <https://example.org/5>", ["6"]),
        (
            "{numref}`fig-7` {doc}`02_x` {cite}`a2017` {ref}`part 3 <sec-2>` {math}`x = 5`",
            ["3", "5"],
        ),
        ("$$\n\\tfrac12 x_{3}^{12} + e^{10} \\ge \\sqrt{2 \\ln n}\n$$ (eq-3)", []),
        (r"$6\cdot10^{-4}$", ["6", "10^{-4}"]),
        ("$10^{-5} + 4^2$ and $x = -3$, $[50, 10]$", ["10^{-5}", "4^2", "-3", "50", "10"]),
        (r"$\underbrace{a + b}_{64\text{ terms}}$", ["64"]),
        (r"\$5 and \$6", ["5", "6"]),
        ("**Time** about 20 minutes", []),
        ("It takes about 20 minutes", ["20"]),
        ("<!-- 4 --> &#8211; <div style='width: 50%'>3</div>\n% 7 is a comment", ["3"]),
    ],
)
def test_which_numerals_have_to_be_bound(text: str, expected: list[str]) -> None:
    assert [numeral.text for numeral in prose.numerals(text)] == expected


@pytest.mark.parametrize(
    ("fragment", "text", "times"),
    [
        ("the weight is 0.2", "the\n  weight is 0.2.", 1),
        ("the weight is 0.2", "the weight is 0.25", 0),
        ("the share is 2", "the share is 2%", 0),
        ("5 keys", "15 keys", 0),
        ("5 keys", "−5 keys", 0),
        ("of 5 keys, and", "a row of 5 {term}`keys<key>`, and so on", 1),
        ("of 5 keys, and", "a row of 5 {term}`keys <key>`,\nand of 5 {term}`keys`, and", 2),
        ("5 keys", "15 {term}`keys<key>`", 0),
        ("5 key", "5 {term}`keys<key>`", 0),
    ],
)
def test_a_fragment_occurs_only_as_a_whole(fragment: str, text: str, times: int) -> None:
    assert len(prose.occurrences(fragment, text)) == times


def test_an_alteration_that_stays_unnoticed_is_found() -> None:
    texts = [prose.Passage("cell 1", "of 4 keys and of 4 keys and of 5 keys")]
    assert prose.check_passages(texts, ["of 4 keys", "of 5 keys"]) == []
    assert unnoticed(texts, ["of 4 keys", "of 5 keys"])
    assert not unnoticed(texts, ["of 4 keys and of 4 keys and of 5 keys"])


def test_an_occurrence_among_links_has_its_place_in_the_source() -> None:
    text = "The {term}`keys<key>` are 16 {term}`keys<key>`, of weight 0.5 {term}`each`, or 7."
    for fragment, start, end in (
        ("keys are 16 keys", "keys<", "16 {term}`keys"),
        ("keys, of weight 0.5", "keys<key>`, of", "weight 0.5"),
        ("weight 0.5 each", "weight", "`each"),
        ("or 7", "or", "7"),
    ):
        assert prose.occurrences(fragment, text) == (
            (text.index(start), text.index(end) + len(end)),
        )
    assert (
        prose.check_passages(
            [prose.Passage("cell 1", text)], ["are 16 keys, of weight 0.5 each, or 7"]
        )
        == []
    )


def test_the_reading_time_counts_words_and_code_cells() -> None:
    words = notebook(" ".join(["word"] * 900), code("x = 1"), code("y = 1"))
    assert prose.reading_time(words) == 10
    assert prose.reading_time(notebook("word " * 1001)) == 10
    assert prose.reading_time(notebook("word " * 1000)) == 5


def test_the_command_reports_and_sets_the_exit_status(tmp_path) -> None:
    said: list[str] = []
    nbformat.write(bound_notebook(), tmp_path / "good.ipynb")
    nbformat.write(bound_notebook(text="Only 7."), tmp_path / "bad.ipynb")
    assert prose.main([str(tmp_path / "good.ipynb")], said.append) == 0
    assert prose.main([str(tmp_path / "bad.ipynb")], said.append) == 1
    assert any("no cell prints '7'" in line for line in said)
    assert prose.main([], said.append) == 2


def test_the_examples_of_the_checker_run() -> None:
    result = doctest.testmod(prose)
    assert result.attempted > 0
    assert result.failed == 0
