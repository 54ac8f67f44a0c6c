"""Fields for the answers to an exercise, which say at once what is right and what is not.

The page holds the right numbers and what is said about the wrong ones, so that it can judge
without a kernel; the words are those of ``attnbook.exercises.check``.
"""

from __future__ import annotations

import html
from typing import Any

import traitlets

from attnbook.drawing.base import ONE_NUMBER, LiveFigure, read_number
from attnbook.exercises._exercise import check, exercises
from attnbook.exercises._judges import Judge, Number, Pick
from attnbook.exercises._verdict import Feedback, Verdict

SIGNS = {"right": "✓", "wrong": "✗", "open": "…"}
NAMES = {"right": "right", "wrong": "not right", "open": "not answered"}


class Ask(LiveFigure):
    """The fields of an exercise: one for each number, and a list for each choice.

    Parameters
    ----------
    exercise : str
        Name of the exercise, as `attnbook.exercises.check` knows it.
    **state
        The trait ``answers``, the reader's texts by the names of the parts, and the trait
        ``checked``, what they were when the reader last pressed the button.

    Raises
    ------
    ValueError
        If no exercise has this name, or if nothing in it can be asked on a page.
    TypeError
        If an answer belongs to no field.

    Examples
    --------
    >>> from attnbook.figures import Ask
    >>> Ask("spread", answers={"plain": "22,6", "root": "one"}).verdict
    ✗ spread
      ✓ plain: 22.6 is right. It grows like the root of the width.
      ✗ root: Please write one number, such as 0.5, 1/2, 3e6, 8√2 or sqrt(128)/2, ...
      ✗ full: Not answered yet: the standard deviation of q·k/dₖ.

    Notes
    -----
    Shown in the chapter on the puzzle, and in all that have exercises. A number may be written as
    0.5, 0,5, 1/2, 50%, 5e-1 or 10^6, and with a root as √128, 8√2, sqrt(128)/2, 1/√64 or √(1/2).
    Functions and arrays are not judged on a page; an exercise that asks for one can pass in a
    notebook only.
    """

    state = ("content", "answers", "checked")
    content = traitlets.Dict().tag(sync=True)
    answers = traitlets.Dict(value_trait=traitlets.Unicode()).tag(sync=True)
    checked = traitlets.Dict(value_trait=traitlets.Unicode()).tag(sync=True)

    def __init__(self, exercise: str, **state: Any) -> None:
        check(exercise)  # raises if there is none
        judges = exercises()[exercise].parts
        parts = {name: content(judge) for name, judge in judges.items()}
        fields = [name for name, part in parts.items() if part["kind"] != "elsewhere"]
        if not fields:
            raise ValueError(f"exercise must ask for a number or a choice; got {exercise!r}")
        for given in (state.get("answers", {}), state.get("checked", {})):
            if unknown := sorted(given.keys() - set(fields)):
                raise TypeError(f"{exercise!r} has no field {', '.join(unknown)}")
        state["answers"] = dict.fromkeys(fields, "") | state.get("answers", {})
        asked = {"exercise": exercise, "parts": parts, "unclear": ONE_NUMBER}
        super().__init__(content=asked, **state)

    @property
    def exercise(self) -> str:
        """The name of the exercise."""
        return self.content["exercise"]

    @property
    def verdict(self) -> Verdict:
        """What `attnbook.exercises.check` says of the current answers."""
        given, unclear = {}, {}
        for name, text in self.answers.items():
            if not text.strip():
                continue
            given[name] = text
            if self.content["parts"][name]["kind"] == "number":
                given[name] = read_number(text)
                if given[name] is None:
                    unclear[name] = Feedback(False, ONE_NUMBER)
        return Verdict(self.exercise, check(self.exercise, **given).parts | unclear)

    def feedback(self, name: str) -> tuple[str, str]:
        """Return the outcome and the words of a part, empty if its answer is not checked."""
        if self.checked.get(name) != self.answers[name]:
            return "", ""
        feedback = self.verdict.parts[name]
        outcome = "right" if feedback.passed else "wrong" if self.answers[name].strip() else "open"
        return outcome, feedback.message

    def words(self) -> str:
        """Return what is said to the answers that are checked."""
        return " ".join(filter(None, (self.feedback(name)[1] for name in self.answers)))

    def field(self, name: str) -> str:
        """Return the label and the field or list of a part, and what is said to its answer."""
        part, value = self.content["parts"][name], self.answers[name]
        outcome, words = self.feedback(name)
        reply = html.escape(f"said.{self.exercise}.{name}")
        common = (
            f'name="{html.escape(name)}" aria-describedby="{reply}" '
            f'aria-invalid="{str(outcome == "wrong").lower()}"'
        )
        if part["kind"] == "number":
            control = (
                f'<input type="text" autocapitalize="off" autocomplete="off" spellcheck="false" '
                f'size="12" {common} value="{html.escape(value)}">'
            )
        else:
            listed = "".join(
                f'<option value="{html.escape(option)}"{" selected" if option == value else ""}>'
                f"{html.escape(option) or 'choose'}</option>"
                # sorted, so that the order tells nothing
                for option in ("", *sorted(part["options"], key=str.casefold))
            )
            control = f"<select {common}>{listed}</select>"
        named = f' role="img" aria-label="{NAMES[outcome]}"' if outcome else ""
        return (
            f'<div class="part {outcome}"><label><span class="wanted">'
            f"{html.escape(sentence(part['wanted']))}</span>{control}</label>"
            f'<p class="reply" id="{reply}" aria-live="polite">'
            f'<span class="sign"{named}>{SIGNS.get(outcome, "")}</span> '
            f'<span class="said">{html.escape(words)}</span></p></div>'
        )

    def markup(self) -> str:
        """Return the form; a page without scripts says that it cannot judge."""
        parts = self.content["parts"].items()
        fields = "".join(self.field(name) for name in self.answers)
        others = elsewhere([name for name, part in parts if part["kind"] == "elsewhere"])
        return (
            f'<form class="ask" novalidate><fieldset><legend>Your answer</legend>{fields}'
            f"</fieldset>{others}"
            '<button type="submit">Check</button>'
            '<p class="scriptless">Checking your answer on this page needs scripts.</p></form>'
        )

    def __repr__(self) -> str:
        """Return the exercise and the reader's answers."""
        given = {name: text for name, text in self.answers.items() if text}
        return f"Ask({self.exercise!r}{f', answers={given}' if given else ''})"


def sentence(phrase: str) -> str:
    """Return a phrase with a capital letter if it begins with a word and not with a symbol.

    Examples
    --------
    >>> sentence("the width"), sentence("dₖ of this head")
    ('The width', 'dₖ of this head')
    """
    first = phrase.split(" ", 1)[0].rstrip(",:")
    is_word = first == "a" or (len(first) > 1 and first.isascii() and first.isalpha())
    return phrase[0].upper() + phrase[1:] if is_word else phrase


def elsewhere(names: list[str]) -> str:
    """Return a line that says which parts a page does not judge.

    Examples
    --------
    >>> print(elsewhere(["slope"]))
    <p class="elsewhere">Write <code>slope</code> in Python, which checks it.</p>
    """
    if not names:
        return ""
    listed = " and ".join(f"<code>{html.escape(name)}</code>" for name in names)
    them = "it" if len(names) == 1 else "them"
    return f'<p class="elsewhere">Write {listed} in Python, which checks {them}.</p>'


def content(judge: Judge) -> dict[str, Any]:
    """Return all that a page needs to judge a part of an answer."""
    common = {"wanted": judge.wanted, "open": judge.unanswered.message}
    if isinstance(judge, Pick):
        return common | {"kind": "pick", "right": judge.right, "options": dict(judge.options)}
    if not isinstance(judge, Number):
        return {"kind": "elsewhere"}
    return common | {
        "kind": "number",
        "right": float(judge.right),
        "room": float(judge.room(judge.right)),
        "mistakes": [
            [float(mistake), float(judge.room(mistake)), message]
            for mistake, message in judge.mistakes
        ],
        "digits": max(judge.digits, 4),
        "nearly": judge.digits - 1 if judge.within is None else 0,
        "praise": judge.praise,
    }
