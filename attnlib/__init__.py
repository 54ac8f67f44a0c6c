"""Why attention divides by √dₖ: the arithmetic behind the book.

Importing the package imports NumPy and nothing else. Functions that need SciPy import it when
they are called; :mod:`attnlib.plotting` needs Matplotlib and is imported on demand.
"""

from attnlib.attention import causal_mask, scaled_dot_product_attention
from attnlib.saturation import (
    RowStatistics,
    concentration_bound,
    expected_maximum,
    freezing_std,
    freezing_width,
    meaningful_keys,
    sample_query_gradients,
    sample_row_statistics,
)
from attnlib.scores import (
    ScoreMoments,
    general_score_moments,
    sample_score_rows,
    sample_scores,
    score_moments,
    score_pdf,
    score_sf,
)
from attnlib.softmax import (
    effective_positions,
    entropy,
    jacobian_norm_squared,
    log_softmax,
    softmax,
    softmax_jacobian,
    softmax_vjp,
)

__version__ = "0.1.0"

__all__ = [
    "RowStatistics",
    "ScoreMoments",
    "causal_mask",
    "concentration_bound",
    "effective_positions",
    "entropy",
    "expected_maximum",
    "freezing_std",
    "freezing_width",
    "general_score_moments",
    "jacobian_norm_squared",
    "log_softmax",
    "meaningful_keys",
    "sample_query_gradients",
    "sample_row_statistics",
    "sample_score_rows",
    "sample_scores",
    "scaled_dot_product_attention",
    "score_moments",
    "score_pdf",
    "score_sf",
    "softmax",
    "softmax_jacobian",
    "softmax_vjp",
]
