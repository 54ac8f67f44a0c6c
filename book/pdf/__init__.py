"""The site on paper."""
