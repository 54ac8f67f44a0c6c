"""Figures that move under the reader's hand, on the page and in a live notebook alike.

Each is one Python class, which draws the figure in a given state, and one ES module, which does
the same in a browser. Importing this package needs anywidget; importing attnlib does not.
"""

from attnlib._extras import extra

with extra():
    from attnbook.divisor.subtract_or_divide import SubtractOrDivide
    from attnbook.figures.ask import Ask
    from attnbook.figures.head import Head
    from attnbook.figures.prediction import Choice, Estimate, Sketch
    from attnbook.figures.spread import Spread
    from attnbook.gradients.jacobian import JacobianFigure
    from attnbook.implementation.online_softmax import OnlineSoftmax
    from attnbook.language_model.trained_head import TrainedHead
    from attnbook.models.models_field import ModelsField
    from attnbook.models.models_table import ModelsTable
    from attnbook.saturation.drag_scores import DragScores
    from attnbook.saturation.freezing_map import FreezingMap
    from attnbook.trained_models.heads_field import HeadsField
    from attnbook.training.training_player import TrainingPlayer

__all__ = [
    "Ask",
    "Choice",
    "DragScores",
    "Estimate",
    "FreezingMap",
    "Head",
    "HeadsField",
    "JacobianFigure",
    "ModelsField",
    "ModelsTable",
    "OnlineSoftmax",
    "Sketch",
    "Spread",
    "SubtractOrDivide",
    "TrainedHead",
    "TrainingPlayer",
]
