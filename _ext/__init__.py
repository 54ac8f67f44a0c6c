"""Sphinx extensions of this book, loaded by _config.yml."""
