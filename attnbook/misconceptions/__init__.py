"""What only the chapter on misconceptions has."""
