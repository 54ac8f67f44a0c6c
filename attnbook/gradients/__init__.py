"""What only the chapter on gradients has."""
