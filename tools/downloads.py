"""Put the whole book into one file, and links to the files of the whole book on the site.

``python tools/downloads.py`` packs ``_build/html`` into ``_build/why-attention-divides.zip``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from _ext.downloads import SITE, make, size_in_words  # noqa: E402


def main(arguments: list[str] | None = None, site: Path = SITE) -> int:
    """Make the archive, and return the process's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    if not (site / "index.html").is_file():
        sys.stderr.write("there is no site to pack; run: make book\n")
        return 1
    archive = make(site)
    sys.stdout.write(f"wrote {archive}, {size_in_words(archive.stat().st_size)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
