"""What only the page on models has."""
