"""The model of the book that everybody asks, its Markdown in plain form, and its numbers."""
