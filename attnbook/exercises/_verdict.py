"""What a check answers: an object that says in the reader's terms what is right and what is not."""

from __future__ import annotations

import html
from dataclasses import dataclass

SIGNS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class Feedback:
    """What a check says about one part of an answer.

    Parameters
    ----------
    passed : bool
        Whether this part is right.
    message : str
        One or two sentences to the reader.
    trace : str
        The traceback of the reader's own exception, if there was one.

    Notes
    -----
    Shown in the chapter on the puzzle, and in all that have exercises.

    Examples
    --------
    >>> from attnbook.exercises import Feedback
    >>> Feedback(True, "22.63 is right.").passed
    True
    """

    passed: bool
    message: str
    trace: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer of a check; true if everything is right.

    Parameters
    ----------
    exercise : str
        Name of the exercise.
    parts : dict of str to Feedback
        What is said about each part of the answer.

    Notes
    -----
    Shown in the chapter on the puzzle, and in all that have exercises.

    Examples
    --------
    >>> from attnbook.exercises import Feedback, Verdict
    >>> Verdict("spread", {"plain": Feedback(False, "This is the variance.")})
    ✗ spread
      ✗ This is the variance.
    """

    exercise: str
    parts: dict[str, Feedback]

    @property
    def passed(self) -> bool:
        """Whether every part is right."""
        return all(one.passed for one in self.parts.values())

    def __bool__(self) -> bool:
        """Tell whether every part is right."""
        return self.passed

    def lines(self) -> list[tuple[str, Feedback]]:
        """Return each part's name with the feedback to it; a single part needs no name."""
        alone = len(self.parts) == 1
        return [("" if alone else f"{name}: ", one) for name, one in self.parts.items()]

    def __repr__(self) -> str:
        """Return the verdict as lines of text."""
        text = [f"{SIGNS[self.passed]} {self.exercise}"]
        for name, one in self.lines():
            text.append(f"  {SIGNS[one.passed]} {name}{one.message}")
            text += [f"    {line}" for line in one.trace.splitlines()]
        return "\n".join(text)

    def _repr_html_(self) -> str:
        """Return the verdict for a notebook; a sign is beside each color."""
        shown = []
        for name, one in self.lines():
            trace = f"<pre>{html.escape(one.trace)}</pre>" if one.trace else ""
            shown.append(f"<li>{SIGNS[one.passed]} {html.escape(name + one.message)}{trace}</li>")
        border = "#1a7f37" if self.passed else "#b35900"
        return (
            f'<div style="border-left:4px solid {border};padding-left:0.8em">'
            f"<strong>{SIGNS[self.passed]} {html.escape(self.exercise)}</strong>"
            f'<ul style="list-style:none;padding-left:0">{"".join(shown)}</ul></div>'
        )
