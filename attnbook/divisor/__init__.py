"""What only the chapter on the divisor has."""
