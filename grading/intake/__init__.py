"""From what students hand in to notebooks in the form of their problem set."""
