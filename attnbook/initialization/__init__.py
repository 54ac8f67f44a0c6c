"""The initializers in use, as data: what the chapter on initialization compares."""

from attnbook.initialization.initializers import INITIALIZERS

__all__ = ["INITIALIZERS"]
