"""The same call of attention in other libraries: how each is asked, and the table of answers.

``make libraries`` runs ``python -m libraries.ask NAME`` in an environment that has NumPy and the
library and not this book, so the modules `calls`, `questions` and `ask` import nothing of it.
"""
