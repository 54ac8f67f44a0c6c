"""How fast attnlib is, beside PyTorch, JAX, SciPy and the textbook line.

``make bench`` runs it in an environment of its own. The reader of the book needs none of this:
the page shows ``results.json``, and :mod:`benchmarks.report` turns that into tables.
"""
