"""The table of answers, of which a reader chooses a library, a word and the order."""

from __future__ import annotations

import html
from typing import Any, NamedTuple

import traitlets

from attnbook.libraries.answers import Answers
from attnbook.models.models_table import FilterTable, folded, marked

ASKED = {
    "axes": "In which order are the axes?",
    "name of mask": "The argument for a Boolean mask",
    "name of bias": "The argument for a float mask",
    "name of is_causal": "The argument for the causal mask",
    "name of scale": "The argument for the scale",
    "true": "What does True in a mask say of a key?",
    "hidden row, Boolean, 3 keys": "A Boolean mask hides all 3 keys of a row: its output",
    "hidden row, Boolean, 8 keys": "The same with 8 keys",
    "hidden row, -inf": "A float mask is −∞ in the whole row: its output",
    "hidden row, lowest": "A float mask is the lowest float32 in the whole row: its output",
    "mask of two axes": "A Boolean mask of two axes, for as many texts as queries, is read as",
    "padding mask": "A Boolean mask of shape (batch, 1, 1, keys)",
    "float as mask": "A float mask of 0 and −∞ where a Boolean one is expected",
    "integer as mask": "An integer mask of 0 and 1 where a Boolean one is expected",
    "integer as bias": "An integer mask of 0 and 1 where a float one is expected",
    "float64 bias": "A float64 mask for a float32 query",
    "float16 bias": "A float16 mask for a float32 query",
    "NaN in a hidden key": "NaN in a key that a Boolean mask hides",
    "NaN in a hidden value": "NaN in the value of a key that a Boolean mask hides",
    "causal, 2 and 5": "The causal mask for 2 queries and 5 keys begins at the",
    "causal, 5 and 2": "The causal mask for 5 queries and 2 keys begins at the",
    "causal and mask": "The causal mask beside a Boolean one",
    "causal and bias": "The causal mask beside a float one",
    "scale 0": "A scale of 0",
    "scale below 0": "A scale of −1/2",
    "default width": "If values are wider than keys, the default scale takes the width of",
    "where scaled": "The scale is multiplied in",
    "heads 8 and 2": "8 query heads and 2 key heads share",
    "heads 8 and 1": "8 query heads and 1 key head",
    "float16, scaled 28800": "float16, raw scores near 230,000, logits near 28,800",
    "float16, scaled 80000": "float16, logits near 80,000",
    "float16 error": "float16, largest error beside one rounding of the exact output",
    "bfloat16 error": "bfloat16, largest error beside one rounding of the exact output",
    "no key": "No key at all",
    "no query": "No query at all",
    "softmax axis": "The axis of softmax if none is named",
    "softmax of -inf, 3": "softmax of 3 times −∞",
    "softmax of -inf, 8": "softmax of 8 times −∞",
    "softmax of nothing": "softmax of an empty row",
    "softmax, float16, 4096": "The weights of 4,096 equal scores in float16",
    "softmax, float16, 70000": "The weights of 70,000 equal scores in float16",
    "log_softmax": "log_softmax of 0 and 10,000",
}
"""Each question in the words of the page."""
LAST = ("refused", "no such argument", "not asked")


class Line(NamedTuple):
    """One answer to one question, and who gives it."""

    question: str
    answer: str
    calls: tuple[str, ...]


def lines(answers: Answers) -> list[Line]:
    """Return all answers by question; those of most libraries first, and refusals last.

    Examples
    --------
    >>> from attnbook.libraries.table import lines
    >>> given = {"answers": {"scale 0": {"refused": ["A", "B"], "taken as it is": ["C"]}}}
    >>> [line.answer for line in lines(given)]
    ['taken as it is', 'refused']
    """
    return [
        Line(ASKED[question], verdict, tuple(calls))
        for question in sorted(answers["answers"], key=list(ASKED).index)
        for verdict, calls in sorted(answers["answers"][question].items(), key=_order)
    ]


def _order(item: tuple[str, list[str]]) -> tuple[int, int]:
    verdict, calls = item
    return LAST.index(verdict) + 1 if verdict in LAST else 0, -len(calls)


def callers(answers: Answers, question: str, verdict: str) -> list[str]:
    """Return who gives an answer.

    Examples
    --------
    >>> callers({"answers": {"scale 0": {"refused": ["A", "B"]}}}, "scale 0", "refused")
    ['A', 'B']
    """
    found: dict[str, list[str]] = answers["answers"][question]
    return found.get(verdict, [])


class LibrariesTable(FilterTable):
    """A table of what libraries answer, of which a reader chooses the lines and their order.

    Parameters
    ----------
    answers : Mapping
        The book's ``data/libraries.json``.
    sort : str
        The column that the lines go by: question or answer. If empty, they are in the order of
        the questions.
    descending : bool
        Whether the last comes first.
    text : str
        Words, all of which are in the question, the answer or the names of a line.
    scheme : str
        One of the libraries, whose answers alone are shown.

    Examples
    --------
    >>> from attnbook.libraries.table import LibrariesTable
    >>> given = {"answers": {"scale 0": {"refused": ["A"], "taken as it is": ["B"]}}}
    >>> [line.answer for line in LibrariesTable(given, scheme="A").rows]
    ['refused']

    Notes
    -----
    Shown on the page on libraries. Each answer is the verdict of a run.
    """

    columns = {  # noqa: RUF012 - annotated in the class that this one is of
        "question": ("question", lambda line: line.question.casefold()),
        "answer": ("answer", lambda line: line.answer.casefold()),
        "who": ("who answers so", None),
    }
    kind = "models answers"
    label = "What libraries answer"
    caption = "What libraries answer: the same call of attention, and what comes out"
    find = "Find a word of a question, an answer or a name"
    choose = "Library"
    order = "The order is that of the questions."
    sort = traitlets.Enum(("", "question", "answer"), "").tag(sync=True)

    def __init__(self, answers: Answers, **state: Any) -> None:
        super().__init__(lines(answers), **state)

    def schemes(self, line: Line) -> list[str]:
        """Return who gives the answer."""
        return [*line.calls]

    def searched(self, line: Line) -> str:
        """Return the text in which a word is looked for."""
        return folded(" ".join([line.question, line.answer, *line.calls]))

    def options(self) -> str:
        """Return all libraries."""
        return "".join(
            map(self._option, dict.fromkeys(c for line in self.lines for c in line.calls))
        )

    def cells(self, line: Line) -> list[str]:
        """Return the question, the answer and who gives it."""
        return [marked(line.question), marked(line.answer), html.escape("; ".join(line.calls))]


def listed(answers: Answers, question: str) -> str:
    r"""Return who gives which answer to a question, in Markdown.

    Examples
    --------
    >>> listed({"answers": {"scale 0": {"refused": ["A", "B"], "NaN": ["C"]}}}, "scale 0")
    '- **NaN**: C\n- **refused**: A; B'
    """
    return "\n".join(
        f"- **{line.answer}**: {'; '.join(line.calls)}"
        for line in lines({"answers": {question: answers["answers"][question]}})
        if line.answer not in LAST[1:]
    )
