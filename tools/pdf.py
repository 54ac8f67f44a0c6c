"""Print the built site as two PDFs with a title page, contents and bookmarks.

``python tools/pdf.py`` makes them from ``_build/html``, beside it. ``why-attention-divides.pdf`` is
the book. The reference of functions, a third of all pages, is another, so that you need not print
it with the book. Both are put on the site too, whose pages then link them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.downloads import PDF, REFERENCE, SITE, link, size_in_words  # noqa: E402
from book.model import Book  # noqa: E402
from book.pdf.merging import is_reference, pages  # noqa: E402
from book.pdf.printing import make  # noqa: E402
from tools.chromium import find_chromium  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Make the PDF, and return the process's exit status."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    executable = find_chromium()
    if executable is None:
        sys.stderr.write("the PDF needs a Chromium or Chrome, and none was found\n")
        return 1
    is_root = sys.platform != "win32" and os.geteuid() == 0
    chapters = list(pages(Book(ROOT)))
    parts = {
        PDF: ("", [chapter for chapter in chapters if not is_reference(chapter)]),
        REFERENCE: ("reference", [chapter for chapter in chapters if is_reference(chapter)]),
    }
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if is_root else []
        browser = playwright.chromium.launch(executable_path=executable, args=options)
        for name, (part, printed) in parts.items():
            target = SITE.parent / name
            make(browser, SITE, printed, target, part)
            shutil.copyfile(target, SITE / name)
            sys.stdout.write(f"wrote {target}, {size_in_words(target.stat().st_size)}\n")
        browser.close()
    link(SITE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
