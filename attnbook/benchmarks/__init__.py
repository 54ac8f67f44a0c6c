"""What only the page of benchmarks has."""
