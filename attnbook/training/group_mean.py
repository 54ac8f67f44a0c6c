"""The group-mean task: find tokens by their tag, and average what they carry.

A sequence holds n = G·m tokens, each a tag and a payload: G different tags, every one of them on m
tokens. The query carries one of the tags, and the target is the mean payload of the m tokens with
that tag. So attention has to find the group by content and then to spread over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from attnlib._checks import generator, whole_number

__all__ = [
    "Batch",
    "GroupMeanTask",
    "ReferenceLosses",
    "draw_batch",
    "draw_tags",
    "matching_tokens",
    "reference_losses",
]


@dataclass(frozen=True)
class GroupMeanTask:
    """Sizes of the group-mean task.

    Parameters
    ----------
    n_groups, group_size : int
        Number G of different tags in a sequence, and number m of tokens that share one.
    n_tags : int
        Number of tags there are, at least `n_groups`.
    tag_width, payload_width : int
        Widths of the two parts of a token.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask
    >>> task = GroupMeanTask()
    >>> task.n_tokens, task.token_width
    (32, 32)
    """

    n_groups: int = 8
    group_size: int = 4
    n_tags: int = 32
    tag_width: int = 16
    payload_width: int = 16

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in ("n_groups", "group_size", "n_tags", "tag_width", "payload_width"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name)))
        if self.n_groups > self.n_tags:
            raise ValueError(
                f"n_groups must be at most n_tags, {self.n_tags}, since the tags of a sequence "
                f"differ; got {self.n_groups}"
            )

    @property
    def n_tokens(self) -> int:
        """Number of tokens of a sequence."""
        return self.n_groups * self.group_size

    @property
    def token_width(self) -> int:
        """Width of a token: tag and payload side by side."""
        return self.tag_width + self.payload_width


class Batch(NamedTuple):
    """Sequences to train or test on.

    Notes
    -----
    Serves the chapter on training.
    """

    query_tokens: np.ndarray
    """Shape (size, token_width): the tag looked for, and a payload without meaning."""
    tokens: np.ndarray
    """Shape (size, n_tokens, token_width), group after group."""
    targets: np.ndarray
    """Shape (size, payload_width): mean payload of the group looked for."""
    groups: np.ndarray
    """Shape (size,): which group that is."""


class ReferenceLosses(NamedTuple):
    """Losses, relative to the mean square of the targets, that bound what a model can do.

    Notes
    -----
    Serves the chapter on training.
    """

    zero: float
    """Of always predicting zero."""
    uniform: float
    """Of the best multiple of the mean over all tokens."""
    one_hot: float
    """Of the best multiple of one token's payload, if it is a token of the right group."""
    ideal: float
    """Of equal weights on the right group and none elsewhere."""


def checked_task(task: Any) -> GroupMeanTask:
    """Return the task, or say that it is none."""
    if not isinstance(task, GroupMeanTask):
        raise TypeError(f"task must be a GroupMeanTask; got {task!r:.60}")
    return task


def floating_type(dtype: DTypeLike) -> np.dtype:
    """Return float32 or float64, or say that training needs one of them."""
    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        if dtype in (kind, kind.type, kind.name):
            return kind
    raise ValueError(f"dtype must be float32 or float64; got {dtype!r}")


def reference_losses(task: GroupMeanTask) -> ReferenceLosses:
    r"""Return the losses of four simple strategies in closed form.

    With G groups of m tokens and payloads of variance 1, a target has variance 1/m. The mean over
    all G·m tokens has variance and covariance with the target 1/(G·m), a single right token 1 and
    1/m, so the best multiple of either leaves

    .. math:: 1 - \frac1G \quad\text{and}\quad 1 - \frac1m.

    Notes
    -----
    Serves the chapter on training: saturated attention cannot get below the third.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask, reference_losses
    >>> reference_losses(GroupMeanTask())
    ReferenceLosses(zero=1.0, uniform=0.875, one_hot=0.75, ideal=0.0)
    """
    sizes = checked_task(task)
    return ReferenceLosses(1.0, 1 - 1 / sizes.n_groups, 1 - 1 / sizes.group_size, 0.0)


def draw_tags(task: GroupMeanTask, rng: np.random.Generator) -> np.ndarray:
    """Draw what the tags look like, the same in a whole run: normal vectors, (n_tags, tag_width).

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask, draw_tags
    >>> import numpy as np
    >>> draw_tags(GroupMeanTask(), np.random.default_rng(0)).shape
    (32, 16)
    """
    sizes = checked_task(task)
    return generator(rng).standard_normal((sizes.n_tags, sizes.tag_width))


@np.errstate(under="ignore")
def draw_batch(
    task: GroupMeanTask,
    tags: np.ndarray,
    size: int,
    rng: np.random.Generator,
    *,
    dtype: DTypeLike = np.float64,
) -> Batch:
    """Draw `size` sequences of the task with their targets.

    Parameters
    ----------
    tags : numpy.ndarray, shape (n_tags, tag_width)
        What :func:`draw_tags` returned; a ``ValueError`` says if the shape is another.
    dtype : data type
        float64 or float32. The numbers are drawn in float64 and rounded, so that both see the
        same sequences.

    Notes
    -----
    Serves the chapter on training. Tags and payloads have unit variance, and so do the entries
    of a token.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask, draw_batch, draw_tags
    >>> import numpy as np
    >>> task, rng = GroupMeanTask(), np.random.default_rng(0)
    >>> batch = draw_batch(task, draw_tags(task, rng), 5, rng)
    >>> batch.tokens.shape, batch.targets.shape
    ((5, 32, 32), (5, 16))
    """
    sizes, kind = checked_task(task), floating_type(dtype)
    count, source = whole_number("size", size), generator(rng)
    if np.shape(tags) != (sizes.n_tags, sizes.tag_width):
        raise ValueError(
            f"tags must have shape {(sizes.n_tags, sizes.tag_width)}; got {np.shape(tags)}"
        )
    # the places of the smallest of n_tags random numbers: different tags in random order
    order = source.random((count, sizes.n_tags)).argsort(axis=1)
    drawn = tags[order[:, : sizes.n_groups]]
    payloads = source.standard_normal((count, sizes.n_tokens, sizes.payload_width))
    groups = source.integers(0, sizes.n_groups, count)
    idle = source.standard_normal((count, sizes.payload_width))

    rows = np.arange(count)
    by_group = payloads.reshape(count, sizes.n_groups, sizes.group_size, sizes.payload_width)
    tokens = np.concatenate([drawn.repeat(sizes.group_size, axis=1), payloads], axis=2, dtype=kind)
    return Batch(
        query_tokens=np.concatenate([drawn[rows, groups], idle], axis=1, dtype=kind),
        tokens=tokens,
        targets=by_group[rows, groups].mean(axis=1).astype(kind),
        groups=groups,
    )


def matching_tokens(task: GroupMeanTask, batch: Batch) -> np.ndarray:
    """Return which tokens carry the tag that the query looks for, shape (size, n_tokens).

    Ideal attention gives each of them 1/m.

    Notes
    -----
    Serves the chapter on training.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask, draw_batch, draw_tags, matching_tokens
    >>> import numpy as np
    >>> task, rng = GroupMeanTask(n_groups=2, group_size=3), np.random.default_rng(0)
    >>> batch = draw_batch(task, draw_tags(task, rng), 2, rng)
    >>> matching_tokens(task, batch).astype(int)
    array([[0, 0, 0, 1, 1, 1],
           [1, 1, 1, 0, 0, 0]])
    """
    sizes = checked_task(task)
    return batch.groups[:, None] == np.arange(sizes.n_tokens) // sizes.group_size
