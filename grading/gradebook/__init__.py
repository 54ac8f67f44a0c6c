"""Where results are kept, for the grader and for nbgrader's formgrader."""
