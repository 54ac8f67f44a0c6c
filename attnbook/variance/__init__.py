"""What only the chapter on variance has."""
