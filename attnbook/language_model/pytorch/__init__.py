"""What trains the models of the page on the language model, with PyTorch; no page imports it."""
