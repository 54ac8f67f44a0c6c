"""The initializers in use, as data, and samples of what each of them leads to.

Used in the chapter on initialization.
"""

from attnbook.initialization.initializers import INITIALIZERS
from attnbook.initialization.sampling import (
    MeasuredVariances,
    Projections,
    sample_logit_variances,
    sample_projections,
    sample_tokens,
)

__all__ = [
    "INITIALIZERS",
    "MeasuredVariances",
    "Projections",
    "sample_logit_variances",
    "sample_projections",
    "sample_tokens",
]
