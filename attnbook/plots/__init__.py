"""The book's static figures: one function each, given computed arrays, returning the Figure.

Every series is told apart by more than its color: a line style, a marker or a label as well.
"""

from attnlib._extras import extra

with extra():
    from attnbook.benchmarks.plots import time_ratios
    from attnbook.divisor.plots import aligned_keys, positions_by_divisor
    from attnbook.gradients.plots import (
        gradient_quantiles,
        jacobian_norms,
        jacobians,
        key_gradients,
        key_shares,
        median_ratios,
    )
    from attnbook.implementation.plots import causal_tiles, memory_by_length, score_bounds
    from attnbook.initialization.plots import (
        spread_by_model_width,
        starting_variances,
        within_row_variances,
    )
    from attnbook.language_model.plots import language_curves, loss_by_spread
    from attnbook.puzzle.plots import attention_maps, slide_or_squeeze
    from attnbook.saturation.plots import concentration, freezing_map, one_lead, weights_by_width
    from attnbook.temperature.plots import (
        growing_lengths,
        lost_positions,
        matching_key,
        temperatures,
    )
    from attnbook.trained_models.plots import quality_by_scale, spread_by_norms
    from attnbook.training.plots import (
        gradients_over_training,
        learning_curves,
        losses_by_width,
        rate_curves,
        trained_maps,
    )
    from attnbook.variance.plots import (
        product_grid,
        score_densities,
        variance_against_width,
        variance_estimates,
    )

__all__ = [
    "aligned_keys",
    "attention_maps",
    "causal_tiles",
    "concentration",
    "freezing_map",
    "gradient_quantiles",
    "gradients_over_training",
    "growing_lengths",
    "jacobian_norms",
    "jacobians",
    "key_gradients",
    "key_shares",
    "language_curves",
    "learning_curves",
    "loss_by_spread",
    "losses_by_width",
    "lost_positions",
    "matching_key",
    "median_ratios",
    "memory_by_length",
    "one_lead",
    "positions_by_divisor",
    "product_grid",
    "quality_by_scale",
    "rate_curves",
    "score_bounds",
    "score_densities",
    "slide_or_squeeze",
    "spread_by_model_width",
    "spread_by_norms",
    "starting_variances",
    "temperatures",
    "time_ratios",
    "trained_maps",
    "variance_against_width",
    "variance_estimates",
    "weights_by_width",
    "within_row_variances",
]
