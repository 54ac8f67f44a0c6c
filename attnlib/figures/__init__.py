"""Figures that move under the reader's hand, on the page and in a live notebook alike.

Each is one Python class, which draws the figure in a given state, and one ES module, which does
the same in a browser. Importing this package needs anywidget; importing attnlib does not.
"""

from attnlib.figures.ask import Ask
from attnlib.figures.collapse import Collapse
from attnlib.figures.drag_scores import DragScores
from attnlib.figures.freezing_map import FreezingMap
from attnlib.figures.gradient_quantiles import GradientQuantiles
from attnlib.figures.initialiser import Initialiser
from attnlib.figures.jacobian import JacobianFigure
from attnlib.figures.models_table import ModelsTable
from attnlib.figures.online_softmax import OnlineSoftmax
from attnlib.figures.prediction import Choice, Estimate, Sketch
from attnlib.figures.spread import Spread
from attnlib.figures.subtract_or_divide import SubtractOrDivide
from attnlib.figures.temperature import Temperature
from attnlib.figures.training_player import TrainingPlayer

__all__ = [
    "Ask",
    "Choice",
    "Collapse",
    "DragScores",
    "Estimate",
    "FreezingMap",
    "GradientQuantiles",
    "Initialiser",
    "JacobianFigure",
    "ModelsTable",
    "OnlineSoftmax",
    "Sketch",
    "Spread",
    "SubtractOrDivide",
    "Temperature",
    "TrainingPlayer",
]
