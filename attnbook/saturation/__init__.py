"""What only the chapter on saturation has."""
