"""What only the chapter on the puzzle has."""
