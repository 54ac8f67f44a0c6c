"""What only the page on trained models has."""
