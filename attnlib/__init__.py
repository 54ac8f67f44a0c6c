"""Why attention divides by √dₖ: the arithmetic behind the book.

Importing the package imports NumPy and nothing else. Functions that need SciPy import it when
they are called; :mod:`attnbook.plots` needs Matplotlib and is imported on demand.
"""

from attnlib.attention import (
    AttentionGradients,
    attention_vjp,
    causal_mask,
    scaled_dot_product_attention,
)
from attnlib.blockwise import blockwise_attention, blockwise_attention_vjp
from attnlib.diagnose import Diagnosis, diagnose
from attnlib.gradients import (
    GradientStatistics,
    gradient_statistics,
    meaningful_keys,
    sample_key_gradients,
    sample_layer_key_gradients,
    sample_query_gradients,
    sorted_shares,
)
from attnlib.initialization import (
    AttentionVariances,
    EntryLaw,
    Initializer,
    layer_norm,
    predict_variances,
)
from attnlib.online import OnlineAttention, online_attention
from attnlib.saturation import (
    RowStatistics,
    concentration_bound,
    expected_maximum,
    freezing_std,
    freezing_width,
    sample_row_statistics,
)
from attnlib.scaling import ScalingRule
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

__version__ = "2.0.0"

__all__ = [
    "AttentionGradients",
    "AttentionVariances",
    "Diagnosis",
    "EntryLaw",
    "GradientStatistics",
    "Initializer",
    "OnlineAttention",
    "RowStatistics",
    "ScalingRule",
    "ScoreMoments",
    "attention_vjp",
    "blockwise_attention",
    "blockwise_attention_vjp",
    "causal_mask",
    "concentration_bound",
    "diagnose",
    "effective_positions",
    "entropy",
    "expected_maximum",
    "freezing_std",
    "freezing_width",
    "general_score_moments",
    "gradient_statistics",
    "jacobian_norm_squared",
    "layer_norm",
    "log_softmax",
    "meaningful_keys",
    "online_attention",
    "predict_variances",
    "sample_key_gradients",
    "sample_layer_key_gradients",
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
    "sorted_shares",
]
