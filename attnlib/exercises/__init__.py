"""Checks of the book's exercises: an answer goes in, a verdict that says what is wrong comes out.

``check`` takes the name of an exercise and the reader's own numbers, arrays or functions.
"""

from attnlib.exercises._exercise import check
from attnlib.exercises._verdict import Said, Verdict

__all__ = ["Said", "Verdict", "check"]
