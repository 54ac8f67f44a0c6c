"""How figures and plots are drawn: colors, sizes, outlines and controls."""
