"""From a notebook to its marks, one submission or many at a time."""
