"""What only the chapter on implementation has."""
