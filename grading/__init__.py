"""Problem sets of the book: what hands them out, and what marks the answers that come back.

``python -m grading`` and the targets of the Makefile are the way in; README.md beside this file
tells how. A reader of the book needs none of it.
"""
