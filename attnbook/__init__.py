"""What a page shows and asks: figures, plots, exercises, and what chapters compute with attnlib."""

from attnbook.estimates import mean_and_error, plus_minus, row

__all__ = ["mean_and_error", "plus_minus", "row"]
