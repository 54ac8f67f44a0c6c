"""Figures that move under the reader's hand, on the page and in a live notebook alike.

Each is one Python class, which draws the figure in a given state, and one ES module, which does
the same in a browser. Importing this package needs anywidget; importing attnlib does not.
"""

from attnlib.figures.collapse import Collapse
from attnlib.figures.drag_scores import DragScores
from attnlib.figures.jacobian import JacobianFigure
from attnlib.figures.subtract_or_divide import SubtractOrDivide
from attnlib.figures.temperature import Temperature

__all__ = ["Collapse", "DragScores", "JacobianFigure", "SubtractOrDivide", "Temperature"]
