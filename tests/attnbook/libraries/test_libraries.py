"""The file of verdicts, the table made of it, and the questions, asked of known calls."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

import attnlib
from attnbook.libraries import answers, calls, questions, table
from attnbook.libraries.heads import FAULTS, rates, trained_rates
from tests.book.notebooks import ROOT, read, shown_as, text_of
from tools import libraries

KEPT = json.loads((ROOT / "data" / "libraries.json").read_text(encoding="utf-8"))
CELLS = list(answers.cells(KEPT))
PAGE = "chapters/libraries.ipynb"


def numpy_call(**changes) -> calls.Call:
    """Return attnlib's call, or one that differs from it in one point."""
    options = {
        "package": "attnlib",
        "axes": calls.HEADS_FIRST,
        "names": calls.names("attn_mask", "attn_mask", "is_causal", "scale"),
        "run": attnlib.scaled_dot_product_attention,
    }
    return calls.Call(**{**options, **changes})


def lower_right(query, key, value, *, attn_mask=None, is_causal=False, scale=None):
    """Align the causal mask at the last key, ignore another one beside it, and take 0 for none."""
    if is_causal:
        n_queries, n_keys = query.shape[-2], key.shape[-2]
        attn_mask = np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)
    attn_mask = None if attn_mask is None else np.asarray(attn_mask) != 0
    return attnlib.scaled_dot_product_attention(
        query, key, value, attn_mask=attn_mask, scale=scale or None
    )


def nan_without_keys(query, key, value, *, attn_mask=None):
    """Divide zero by zero, with the scale behind a product in the type of the arrays."""
    with np.errstate(all="ignore"):
        logits = query @ key.swapaxes(-1, -2) / query.dtype.type(query.shape[-1] ** 0.5)
        if attn_mask is not None and attn_mask.dtype == bool:
            logits = np.where(attn_mask, logits, -np.inf).astype(query.dtype)
        elif attn_mask is not None:
            logits = logits + attn_mask
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ value


def rows_of_texts(query, key, value, *, attn_mask):
    """Read a mask of two axes as one of texts and keys, and refuse one of four axes."""
    n_texts, n_keys = attn_mask.shape
    mask = attn_mask.reshape(n_texts, 1, 1, n_keys)
    return attnlib.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def narrow_softmax(x):
    """Divide by a sum in the type of the scores."""
    with np.errstate(all="ignore"):
        terms = np.exp(x)
        return terms / terms.sum(axis=-1, keepdims=True, dtype=x.dtype)


@pytest.mark.parametrize(
    ("run", "question", "verdict"),
    [
        (rows_of_texts, "mask of two axes", "(batch, keys)"),
        (rows_of_texts, "padding mask", "refused"),
        (lower_right, "causal, 2 and 5", "lower right"),
        (lower_right, "causal, 5 and 2", "lower right, zeros where no key is left"),
        (lower_right, "causal and mask", "the mask is ignored"),
        (lower_right, "scale 0", "read as not given"),
        (lower_right, "scale below 0", "refused"),
        (lower_right, "float as mask", "inverted: 0 hides and −∞ shows"),
        (lower_right, "integer as mask", "read as Boolean"),
        (nan_without_keys, "hidden row, Boolean, 3 keys", "NaN"),
        (nan_without_keys, "hidden row, -inf", "NaN"),
        (nan_without_keys, "hidden row, lowest", "mean of all values"),
        (nan_without_keys, "integer as mask", "added to the logits"),
        (nan_without_keys, "float16, scaled 28800", "NaN"),
        (nan_without_keys, "NaN in a hidden value", "spreads"),
        (nan_without_keys, "NaN in a hidden key", "stays hidden"),
    ],
)
def test_a_question_tells_apart_what_differs(run, question, verdict):
    assert questions.answer(numpy_call(run=run), question)[0] == verdict


def test_weights_that_do_not_add_up_to_one_are_noticed():
    narrow = numpy_call(softmax=narrow_softmax)
    for n, total in ((4096, 1), (70000, 0)):
        assert questions.answer(narrow, f"softmax, float16, {n}")[0] == f"add up to {total}"


def test_axes_in_another_order_are_swapped_and_noticed():
    def tokens_first(query, key, value):
        swapped = (x.swapaxes(1, 2) for x in (query, key, value))
        return attnlib.scaled_dot_product_attention(*swapped).swapaxes(1, 2)

    right = numpy_call(run=tokens_first, axes=calls.TOKENS_FIRST, names={})
    assert questions.answer(right, "axes")[0] == calls.TOKENS_FIRST
    wrong = numpy_call(run=tokens_first, names={})
    assert questions.answer(wrong, "axes")[0] != calls.HEADS_FIRST


def test_the_file_is_complete():
    assert {question for question, _, _ in CELLS} == set(questions.QUESTIONS) == set(table.ASKED)
    listed = [call for _, asked in libraries.ENVIRONMENTS.values() for call in asked]
    assert sorted(listed) == sorted(calls.CALLS) == sorted(KEPT["versions"])
    assert len(CELLS) == len(set(questions.QUESTIONS)) * len(calls.CALLS)
    assert "something else" not in {verdict for _, _, verdict in CELLS}
    pinned = {
        re.sub(r"\[.*?\]", "", pin).replace("==", " ")
        for pins, _ in libraries.ENVIRONMENTS.values()
        for pin in pins
    }
    own = f"attnlib {attnlib.__version__}"
    assert {*KEPT["versions"].values()} <= {*pinned, own}


def test_the_file_says_of_attnlib_what_it_answers_today():
    call = calls.make_call("attnlib")
    kept = {question: verdict for question, name, verdict in CELLS if name == "attnlib"}
    assert {question: questions.answer(call, question)[0] for question in kept} == kept


def test_the_targets_of_the_page_are_met():
    told = [verdict for _, _, verdict in CELLS if verdict not in table.LAST[1:]]
    assert len(told) >= 300
    assert len({release.split()[0] for release in KEPT["versions"].values()}) >= 12


def test_writing_what_was_read_changes_nothing(tmp_path):
    answers.write(tmp_path / "again.json", KEPT, {"versions": {}, "answers": {}})
    again = (tmp_path / "again.json").read_text(encoding="utf-8")
    assert again == (ROOT / "data" / "libraries.json").read_text(encoding="utf-8")
    assert answers.differences(KEPT, json.loads(again)) == []


def test_asking_some_keeps_the_others(tmp_path):
    verdicts = {question: verdict for question, name, verdict in CELLS if name == "MLX"}
    changed = verdicts | {"scale 0": "refused"}
    found = {"MLX": {"package": "mlx", "version": "9.9", "verdicts": changed}}
    answers.write(tmp_path / "some.json", answers.collect(found), KEPT)
    some = json.loads((tmp_path / "some.json").read_text(encoding="utf-8"))
    assert answers.differences(KEPT, some) == [
        f"MLX ({KEPT['versions']['MLX']} → mlx 9.9), scale 0: taken as it is → refused"
    ]


def test_a_library_shows_one_answer_to_each_question():
    for name in calls.CALLS:
        rows = table.LibrariesTable(KEPT, scheme=name).rows
        assert [row.question for row in rows] == list(table.ASKED.values())
    found = table.LibrariesTable(KEPT, text="CAUSAL begins").rows
    assert {row.question[:15] for row in found} == {"The causal mask"}


def test_the_markup_has_all_lines_and_hides_what_is_not_chosen():
    shown = BeautifulSoup(table.LibrariesTable(KEPT, scheme="MLX").markup(), "html.parser")
    rows = shown.tbody.find_all("tr")
    assert len(rows) == len(table.lines(KEPT))
    assert all(("MLX" in row["data-schemes"].split("|")) != row.has_attr("hidden") for row in rows)
    assert shown.find(class_="models")["data-order"] == "The order is that of the questions."
    assert len(shown.select("option")) == len(calls.CALLS) + 1


def test_the_page_shows_the_file():
    page = BeautifulSoup("".join(shown_as(read(PAGE), "text/html")), "html.parser")
    lines = [
        tuple(cell.get_text() for cell in row.find_all(["th", "td"]))
        for row in page.find(class_="answers").tbody.find_all("tr")
    ]
    assert lines == [(q, a, "; ".join(who)) for q, a, who in table.lines(KEPT)]
    assert "libraries" in text_of(read("chapters/07_implementation.ipynb"))


@pytest.mark.proof("peers")
def test_planted_faults_are_found_and_few_others():
    for found in rates(range(1, 4)), trained_rates():
        print(found)
        false_alarms, heads = found.pop("none")
        assert false_alarms <= 0.01 * heads
        assert set(found) == set(FAULTS)
        assert all(number >= 0.95 * asked for number, asked in found.values())


@pytest.mark.proof("peers")
@pytest.mark.parametrize("environment", ["onnx", "mlx", "tinygrad"])
def test_a_fresh_run_gives_the_file(environment, capsys):
    assert libraries.main(["--check", "--only", environment]) == 0
    assert capsys.readouterr().out == ""
