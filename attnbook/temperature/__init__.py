"""What only the chapter on temperature has."""
