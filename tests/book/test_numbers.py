"""A number in the text is bound to an expression, and a wrong one is noticed.

`test_each_number.py` asks it of every notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from _ext.hidden_comments import COMMENT
from book import numbers
from book.markdown import walk
from book.number_words import LISTED
from book.numbers import (
    Binding,
    Notebook,
    Passage,
    Values,
    compare,
    listed_phrases,
    loose_words,
    main,
    problems,
)
from book.numerals import numbers as numerals_of
from tests.book.notebooks import NOTEBOOKS, PAGES, ROOT, code, notebook, read

SENTENCE = (
    "At $d_k = 64$<!-- {width} --> the top weight is 0.43<!-- {top:.2f} -->, "
    "and 96%<!-- {share:.0%} --> of the keys share the rest."
)
SOURCE = "width, top, share = 64, 0.4321, 0.957"


def passages(content: nbformat.NotebookNode) -> list[Passage]:
    return Notebook(content).passages


def altered_digits(text: str, start: int, end: int) -> Iterator[str]:
    """Change the first digit in a place of a text, then the last, to one that is no 0, 1 or 2."""
    digits = [start + found.start() for found in re.finditer(r"\d", text[start:end])]
    if not digits:  # a vulgar fraction
        yield text[:start] + "⅛⅓"[text[start:end] == "⅛"] + text[end:]
    for place in sorted({digits[0], digits[-1]}) if digits else ():
        yield text[:place] + str((int(text[place]) - 2) % 7 + 3) + text[place + 1 :]


def unnoticed_numerals(content: nbformat.NotebookNode, values: Values) -> Iterator[str]:
    """Alter each numeral in turn and yield those whose alteration is not noticed."""
    page = Notebook(content)
    for passage in page.passages:
        for numeral in passage.numerals:
            for text in altered_digits(passage.text, numeral.start, numeral.end):
                if not any(compare(page.with_text(passage, text), values)):
                    yield f"{passage.where}: {numeral.text} altered to «{text[:60]}»"


def unnoticed_values(content: nbformat.NotebookNode, values: Values) -> Iterator[str]:
    """Let each expression give another number and yield those of which nobody takes notice."""
    for passage in passages(content):
        for binding in passage.bindings:
            value = values[binding]
            for found in re.finditer(r"\d+", value):
                start, end = found.span()
                structure = (value[:start] + digit + value[end:] for digit in "012")
                for other in (*altered_digits(value, start, end), *structure):
                    if numerals_of(other) != numerals_of(value) and not any(
                        compare(passage, {**values, binding: other})
                    ):
                        yield f"{passage.where}: {binding.template} giving {other}"


def test_every_altered_expression_is_noticed_by_a_kernel() -> None:
    content = read("index.ipynb")
    for cell in content.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"<!--(.*?)-->", altered_expressions, cell.source)
    made = numbers.run(content, ROOT)
    in_text = [passage for passage in passages(content) if passage.position >= 0]
    assert sum(len(passage.bindings) for passage in in_text) > 5
    for passage in in_text:
        for binding in passage.bindings:
            right = {one: made[binding] if one == binding else "" for one in passage.bindings}
            assert list(compare(passage, right)), binding


def altered_expressions(comment: re.Match[str]) -> str:
    """Return a comment whose fields give three times as much and one more."""
    return re.sub(r"\{([^{}:]+)", r"{(\1) * 3 + 1", comment.group())


PAGES_WITHOUT_CELLS = sorted({f"{page}.md" for page in PAGES if (ROOT / f"{page}.md").is_file()})


@pytest.mark.parametrize("name", PAGES_WITHOUT_CELLS)
def test_a_page_without_cells_states_no_number(name: str) -> None:
    front_matter_and_rest = (ROOT / name).read_text(encoding="utf-8").split("---\n", 2)
    assert problems(Notebook(notebook(front_matter_and_rest[-1])), {}) == []


def bound(text: str = SENTENCE, source: str = SOURCE) -> tuple[Notebook, Values]:
    """Make a small notebook, and evaluate its bindings as its kernel would."""
    made = Notebook(notebook("# Title", code(source), text))
    names: dict[str, object] = {}
    exec(source, names)  # noqa: S102 - the kernel of a notebook of three lines
    return made, {
        binding: str(eval(binding.expression, dict(names)))  # noqa: S307
        for binding in made.bindings
    }


def test_a_bound_sentence_passes() -> None:
    assert problems(*bound()) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": SENTENCE.replace("0.43", "0.44")}, "the text has 0.44, computed is 0.43"),
        ({"text": SENTENCE.replace("64", "65")}, "the text has 65, computed is 64"),
        ({"text": SENTENCE.replace("96%", "96")}, "the text has 96, computed is 96%"),
        ({"text": SENTENCE + " All 5 of them."}, "nothing binds 5"),
        ({"text": SENTENCE + " It is $x = 3$."}, "nothing binds 3"),
        ({"text": "All 5 and 64<!-- {width} -->."}, "nothing binds 5"),
        ({"text": "It is $3 + x_4 = 64$<!-- {width} -->."}, "nothing binds 3"),
        ({"text": "Only 64<!-- {width}, {top} -->."}, "fewer numerals are before it"),
        ({"text": "It is 64<!-- {64} -->."}, "asks for nothing that a cell has made"),
        ({"text": "It is 64<!-- {max(64, 1)} -->."}, "asks for nothing that a cell has made"),
        ({"text": "It is 64<!-- {str} -->."}, "asks for nothing that a cell has made"),
        ({"text": "It is 64<!-- {'width'[:width]} -->."}, "which is no number"),
        ({"text": "It is 64<!-- {[n for n in (64,)][0]} -->."}, "asks for nothing that a cell"),
        ({"text": "It is 96%, 64<!-- 96%, {width} -->."}, "types 96% and does not compute it"),
        ({"text": "$1 + 1 = 2$<!-- {n} -->", "source": "n = 1"}, "the text has 2, computed is 1"),
        ({"text": "It is 64<!-- width -->."}, "nothing binds 64 in «…It is 64.…»; a comment right"),
        ({"source": SOURCE.replace("0.4321", "0.4361")}, "the text has 0.43, computed is 0.44"),
        ({"source": SOURCE.replace("0.957", "0.967")}, "the text has 96%, computed is 97%"),
    ],
)
def test_a_broken_binding_is_reported(changed: dict[str, str], message: str) -> None:
    found = problems(*bound(**changed))
    assert any(message in str(problem) for problem in found), found


def test_an_expression_without_a_value_is_reported_with_its_sentence() -> None:
    notebook, values = bound(text="It is 64<!-- {width} -->.")
    (found,) = problems(notebook, dict.fromkeys(values, "!NameError: no such name"))
    wanted = "64<!-- {width} --> in «…It is 64.…» has no value: NameError: no such name"
    assert wanted in str(found)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Of 4,096<!-- {n} --> and 10,000<!-- {m:,} -->.", "n, m = 4096, 10_000"),
        (r"It is $6\cdot10^{-4}$<!-- {x:.0e} --> or 6e-4<!-- {x:.0e} -->.", "x = 6e-4"),
        ("It is 6·10⁻⁴<!-- {x:.0e} --> or 10⁻⁵<!-- {x / 60:.0e} -->.", "x = 6e-4"),
        (r"Up to $2^{24} + 3$<!-- 2^{bits}, {3 * one} -->.", "bits, one = 24, 1"),
        ("From −2 to $-2$<!-- {x}, {x} -->.", "x = -2"),
        ("It is ½<!-- {x} -->, or $42\\%$<!-- {y:.0%} -->.", "x, y = 0.5, 0.42"),
        ("**4**<!-- {x} --> and _4_<!-- {x} --> and [4](a4.md)<!-- {x} -->", "x = 4"),
        ("Take [1, 0, 1, 5]<!-- {row} -->.", "row = [1, 0, 1, 5]"),
        ("| $x$ | 3 |\n|---|---|\n| 4 | $5$<!-- {n + 1}, {n + 2} --> |", "n = 3"),
        ("$$\nx = 4\n$$ (eq-a)\n<!-- {n} -->\n\nAnd 4<!-- {n} -->.", "n = 4"),
        (":::{note} Of 4<!-- {n} -->\nAnd\n- a 4<!-- {n} -->\n:::", "n = 4"),
        ("Two {term}`4 keys<key>`<!-- {n} -->, at $x_3 = 2$<!-- {n / 2:.0f} -->.", "n = 4"),
    ],
)
def test_numbers_are_compared_however_they_are_written(text: str, source: str) -> None:
    page, values = bound(text, source)
    expected = [] if "| 3 |" not in text else ["nothing binds 3"]
    found = [str(problem) for problem in problems(page, values)]
    assert len(found) == len(expected), found
    assert not list(unnoticed_values(page.notebook, values))


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
        (":::{admonition} Rule 9\n:class: x3\nwith 7\n:::\n\nand 8", ["9", "7", "8"]),
        (
            "````{prf:proof}\nwith 3\n```{math}\n:label: eq-4\nx = 7\n```\nand 6\n````",
            ["3", "7", "6"],
        ),
        ("```python\nx = 5\n```\n`6` and ``a`7`` but 8", ["8"]),
        ("(ch-2)=\n# Title\n[text 6](page5.md), <https://example.org/5>", ["6"]),
        (
            "{numref}`fig-7` {doc}`02_x` {cite}`a2017` {ref}`part 3 <sec-2>` {math}`x = 5`",
            ["3", "5"],
        ),
        ("$$\n\\tfrac12 x_{3}^{12} + e^{10} \\ge \\sqrt{2 \\ln n}\n$$ (eq-3)", ["10"]),
        (r"$6\cdot10^{-4}$", [r"6\cdot10^{-4}"]),
        ("$10^{-5} + 4^2$ and $x = -3$, $[50, 10]$", ["10^{-5}", "4^2", "-3", "50", "10"]),
        (r"$\underbrace{a + b}_{64\text{ terms}}$", ["64"]),
        (r"\$5 and \$6", ["5", "6"]),
        ("It takes about 20 minutes", ["20"]),
        ("<!-- 4 --> &#8211; <div style='width: 50%'>3</div>\n% 7 is a comment", ["3"]),
        ("> quoted 5\n> and $x =\n> 6$", ["5", "6"]),
        ("![A bar at 64](plot9.png) and 5", ["64", "5"]),
        ("[text][ref7] and 5.\n\n[ref7]: https://example.org/8\n\nAnd 6.", ["5", "6"]),
        ("R&amp;D has 5 &lt; 6, a&nbsp;7", ["5", "6", "7"]),
        ("⅜ of them, 3⅙ and ⅑", ["⅜", "3⅙", "⅑"]),
        ("```{math} x = 5\n```", ["5"]),
        (":::{csv-table}\n:header: a 5, b\n6, c\n:::", ["5", "6"]),
        ("{abbr}`5 K (five thousand)` and {kbd}`6`", ["5", "6"]),
        ("- a 3\n  - b 4\n    - c $x = 5$\n\n      more 6", ["3", "4", "5", "6"]),
        ("| a |\n|---|\n| [5](x4.md) `6` [t 7](y) |", ["5", "7"]),
        ("a 5\r\nand 6\r\n\r\n$$\r\nx = 7\r\n$$\r\n", ["5", "6", "7"]),
    ],
)
def test_which_numerals_have_to_be_bound(text: str, expected: list[str]) -> None:
    (passage,) = passages(notebook(text, description=""))
    assert [one.text for one in passage.numerals if not one.structure] == expected


WORDS = {
    "It is **eight<!-- {n} --> times** as long.": "n = 8",
    "Twice<!-- {n} --> the weight, or a\nthird<!-- {1 / m:.2f} --> of it.": "n, m = 2, 3",
    "Two thirds<!-- {x:.2f} --> of ten thousand<!-- {n} --> keys.": "x, n = 2 / 3, 10_000",
    "Half<!-- {x} -->: of sixty-four<!-- {n} -->, 3<!-- {m} --> and one<!-- {k} -->.": (
        "x, n, m, k = 0.5, 64, 3, 1"
    ),
}


@pytest.mark.parametrize(("text", "source"), WORDS.items())
def test_a_bound_number_word_is_compared(text: str, source: str) -> None:
    page, values = bound(text, source)
    assert problems(page, values) == [] == list(loose_words(page, []))
    assert not list(unnoticed_numerals(page.notebook, values))
    assert not list(unnoticed_values(page.notebook, values))
    for binding in values:
        assert problems(page, {**values, binding: "9"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is eight times as long, not\nsixteen-fold or twice.", ["eight", "sixteen", "twice"]),
        (
            "A third of the weight, two thirds, the longest tenth of it.",
            ["A third", "two thirds", "tenth"],
        ),
        (
            "Ten thousand keys, seventy-two rows, one half.",
            ["Ten thousand", "seventy-two", "one half"],
        ),
        ("Two arms, the three takeaways, the third row, hundreds of keys, one by one.", []),
        ("`eight times` $\\text{eight times}$ <!-- {eight} times --> sometimes", []),
        (
            "![twice](a.png) Eight times<!-- {n} -->, nine<!-- n --> times, half<!-- n -->",
            ["twice", "Eight", "nine", "half"],
        ),
    ],
)
def test_which_number_words_have_to_be_bound(text: str, words: list[str]) -> None:
    page = Notebook(notebook(text, description=""))
    assert [problem.numeral.text for problem in loose_words(page, [])] == words


def test_a_word_that_nothing_binds_is_named_with_both_ways_out() -> None:
    page = Notebook(notebook("# T", "It is eight\ntimes as long."))
    (found,) = loose_words(page, [])
    assert str(found) == (
        "cell 2: nothing binds the word eight in «…It is eight times as long.…»; a comment right "
        "behind it does, with an expression: <!-- {expression} -->; or, if no cell computes it, "
        "its phrase is listed with the page in book/number_words.txt"
    )
    assert list(loose_words(page, ["eight times as"])) == []
    assert list(loose_words(page, ["eight times the"])) == [found]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_number_word_is_bound_or_listed(name: str) -> None:
    page, listed = Notebook(read(name)), listed_phrases(Path(name).stem)
    found = list(loose_words(page, listed))
    assert not found, "\n".join(map(str, found))
    for phrase in listed:
        others = [one for one in listed if one != phrase]
        assert list(loose_words(page, others)), f"{name} needs «{phrase}» no more in {LISTED.name}"


def test_the_list_names_pages_of_the_book() -> None:
    pages = {line.split(": ")[0] for line in LISTED.read_text(encoding="utf-8").splitlines()}
    assert pages <= {Path(name).stem for name in NOTEBOOKS}


@pytest.mark.parametrize(
    ("shown", "bound_by"),
    [
        ({"figure": {"caption": "Over 64 keys."}}, {"caption": "{n}"}),
        ({"image": {"alt": "A curve that passes 64."}}, {"alt": "{n}"}),
    ],
)
def test_captions_and_alternative_texts_are_bound_in_the_metadata(
    shown: dict[str, dict[str, str]], bound_by: dict[str, str]
) -> None:
    cell = code("n = 64", **shown)
    assert len(problems(Notebook(notebook("# Title", cell)), {})) == 1
    cell.metadata["numbers"] = bound_by
    page = Notebook(notebook("# Title", cell))
    assert page.schedule == {1: [Binding("{n}", 1)]}
    assert problems(page, {Binding("{n}", 1): "64"}) == []
    assert len(problems(page, {Binding("{n}", 1): "65"})) == 1


def test_the_description_is_bound_at_the_end() -> None:
    content = notebook("# Title", code("n = 64"), code("n = 65"), description="Why 64 is not 65.")
    assert len(problems(Notebook(content), {})) == 2
    content.metadata["numbers"] = {"description": "{n - 1}, {n}"}
    binding = Binding("{n - 1}, {n}", 2)
    assert Notebook(content).schedule == {2: [binding]}
    assert problems(Notebook(content), {binding: "64, 65"}) == []


def test_when_an_expression_is_evaluated() -> None:
    here, below = "4<!-- {n} -->", "4<!-- below: {n} -->"
    page = Notebook(
        notebook(
            f"# T\n\n{here} {below}", code("a"), f"{here} {below}", code("b"), "## U", code("c")
        )
    )
    assert [binding.moment for binding in page.bindings] == [-1, 3, 1, 3]
    (first, *_) = problems(page, dict.fromkeys(page.bindings, "4"))
    assert "no cell runs before it" in str(first)


def test_a_line_of_code_that_looks_like_a_heading_ends_no_section() -> None:
    listing = "```python\n# a comment\nx = 1\n```"
    page = Notebook(notebook("# T\n\n4<!-- below: {n} -->", listing, code("n = 4")))
    assert [binding.moment for binding in page.bindings] == [2]


def test_the_question_of_a_page_is_bound_too() -> None:
    content = notebook("# T", code("n = 64"))
    content.metadata["book"] = {"question": "Why 64?"}
    (found,) = problems(Notebook(content), {})
    assert "question: nothing binds 64" in str(found)
    content.metadata["numbers"] = {"question": "{n}"}
    assert problems(Notebook(content), {Binding("{n}", 1): "64"}) == []


def test_only_comments_are_left_out_of_pages() -> None:
    assert COMMENT.fullmatch("<!-- {a > b} -->\n<!-- {c}\n -->")
    assert not COMMENT.fullmatch("<!-- {a} --> <b>64</b> <!-- {c} -->")


def small_book(folder: Path) -> Path:
    """Write a notebook of which two numbers have moved, in the text and in a caption."""
    figure = {"figure": {"caption": "Over 63 keys."}}
    drawn = code("n_keys = 64\nprint(n_keys)", **figure)
    drawn.metadata["numbers"] = {"caption": "{n_keys}"}
    above = "# Title\n\nOver 60<!-- below: {n_keys} --> keys."
    path = folder / "page.ipynb"
    content = notebook(above, drawn, "And $2 n = 12{,}345$<!-- {200 * n_keys} --> of them.")
    nbformat.write(content, path)
    return path


def test_the_command_rewrites_what_moved_and_says_old_and_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = small_book(tmp_path)
    before = path.read_bytes()
    assert main(["--check", str(path)]) == 1
    assert path.read_bytes() == before
    complaints = capsys.readouterr().err
    assert "page.ipynb, cell 1: the text has 60, computed is 64, in «" in complaints
    assert "page.ipynb, cell 2, caption: the text has 63, computed is 64" in complaints
    assert main([str(path)]) == 0
    assert "cell 3: 12{,}345 → 12{,}800 in «" in capsys.readouterr().out
    made = nbformat.read(path, as_version=4)
    assert made.cells[0].source == "# Title\n\nOver 64<!-- below: {n_keys} --> keys."
    assert made.cells[1].metadata["mystnb"]["figure"]["caption"] == "Over 64 keys."
    assert made.cells[1].outputs[0].text == "64\n"
    assert made.cells[2].source == "And $2 n = 12{,}800$<!-- {200 * n_keys} --> of them."
    assert main(["--check", str(path)]) == 0


@pytest.mark.proof("examples")
def test_the_command_names_what_has_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.ipynb"
    nbformat.write(notebook("# T", code("n = 3"), "Of 3<!-- {m} --> and 4."), path)
    assert main(["--check", str(path)]) == 1
    said = capsys.readouterr().err
    assert "NameError: name 'm' is not defined" in said
    assert "nothing binds 4" in said
    nbformat.write(notebook("# T", code("n = 3"), "Twice as long."), path)
    assert main(["--check", str(path)]) == 1
    assert "page.ipynb, cell 3: nothing binds the word Twice" in capsys.readouterr().err
    nbformat.write(notebook("# T", code("1 / 0"), "Of 3<!-- {m} -->."), path)
    assert main([str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_values_are_kept_until_code_or_a_binding_or_what_code_uses_changes(tmp_path: Path) -> None:
    content = notebook("# T", code("n = 3"), "Of 3<!-- {n} -->.")
    kept = numbers.record(content, "0", tmp_path)
    content.cells[2].source = "All 4<!-- {n} -->."
    assert numbers.record(content, "0", tmp_path) == kept
    content.cells[2].source = "All 4<!-- {n + 1} -->."
    assert numbers.record(content, "0", tmp_path) != kept
    content.cells[2].source = "All 4<!-- {n} -->."
    assert numbers.record(content, "1", tmp_path) != kept
    content.cells[1].source = "n = 4"
    assert numbers.record(content, "0", tmp_path) != kept


def test_the_walk_finds_each_piece_where_it_is() -> None:
    for name in NOTEBOOKS:
        for cell in read(name).cells:
            if cell.cell_type == "markdown":
                for piece in walk(cell.source):
                    found = "".join(cell.source[place] for place in piece.places)
                    assert found.split() == piece.text.split()


def test_an_alteration_that_stays_unnoticed_is_found() -> None:
    content = notebook("# T", code("n = 4"), "Of 4<!-- {n} --> keys.")
    right = {Binding("{n}", 1): "4"}
    assert not list(unnoticed_numerals(content, right))
    (passage,) = (one for one in passages(content) if one.bindings)
    loose = replace(passage, marks=passage.marks[1:])
    assert [str(problem) for problem in compare(loose, right)] == [
        "cell 3: <!-- {n} --> gives 4, and fewer numerals are before it"
    ]
