"""What only the landing page has."""
