"""What the chapters say about numbers beside the mathematics: estimates with their errors, rows."""

from attnbook.estimates import mean_and_error, row

__all__ = ["mean_and_error", "row"]
