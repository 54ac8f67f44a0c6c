"""A census of the factor on q·k: a release's attention classes, read by their syntax trees.

`wheels` opens a release, `factors` knows powers of widths, `flow` follows queries and keys through
a class to its softmax, `reading` says what came of a class, and `field` of all families.
Nothing of the release is run.
"""
