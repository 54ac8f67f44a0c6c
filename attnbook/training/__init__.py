"""A small attention model, its task and its optimizers: what the chapter on training trains."""

from attnbook.training.group_mean import (
    Batch,
    GroupMeanTask,
    ReferenceLosses,
    draw_batch,
    draw_tags,
    matching_tokens,
    reference_losses,
)
from attnbook.training.model import BATCH_SIZE as BATCH_SIZE
from attnbook.training.model import QUANTILES as QUANTILES
from attnbook.training.model import TEST_SIZE as TEST_SIZE
from attnbook.training.model import (
    Learner,
    LossGradients,
    TrainingRun,
    initial_parameters,
    loss_and_gradients,
    steps_to_loss,
    train,
    train_together,
    training_step,
)
from attnbook.training.optimizers import (
    Adam,
    OptimizerState,
    Sgd,
    initial_state,
    optimizer_step,
)

__all__ = [
    "Adam",
    "Batch",
    "GroupMeanTask",
    "Learner",
    "LossGradients",
    "OptimizerState",
    "ReferenceLosses",
    "Sgd",
    "TrainingRun",
    "draw_batch",
    "draw_tags",
    "initial_parameters",
    "initial_state",
    "loss_and_gradients",
    "matching_tokens",
    "optimizer_step",
    "reference_losses",
    "steps_to_loss",
    "train",
    "train_together",
    "training_step",
]
