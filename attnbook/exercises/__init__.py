"""Checks of the book's exercises: an answer goes in, a verdict that says what is wrong comes out.

``check`` takes the name of an exercise and the reader's own numbers, arrays or functions.
"""

from attnbook.exercises._exercise import check
from attnbook.exercises._verdict import Feedback, Verdict

__all__ = ["Feedback", "Verdict", "check"]
