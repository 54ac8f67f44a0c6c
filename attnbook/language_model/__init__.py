"""What only the page on the language model has."""
