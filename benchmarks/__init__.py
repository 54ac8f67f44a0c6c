"""How fast attnlib's attention is, beside PyTorch, JAX, SciPy and the textbook line."""
