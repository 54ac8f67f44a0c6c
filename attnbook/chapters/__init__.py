"""What a chapter computes beside the mathematics: one module each, named by its topic."""
