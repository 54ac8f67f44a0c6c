"""Write ``conf.py``, from which Sphinx builds the book without Jupyter Book (``make sphinx``).

Jupyter Book says what ``_config.yml`` means for Sphinx, and names itself among the extensions.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ITSELF = "'jupyter_book', "


def without_jupyter_book(configuration: str) -> str:
    """Return what Jupyter Book wrote, without itself.

    Examples
    --------
    >>> without_jupyter_book("extensions = ['myst_nb', 'jupyter_book', 'sphinx_design']")
    "extensions = ['myst_nb', 'sphinx_design']"
    """
    if configuration.count(ITSELF) != 1:
        raise ValueError(f"conf.py must name {ITSELF.strip(', ')} once among its extensions")
    return configuration.replace(ITSELF, "")


def main() -> None:
    """Write the file."""
    command = (sys.executable, "-m", "jupyter_book", "config", "sphinx", str(ROOT))
    subprocess.run(command, check=True, capture_output=True)
    path = ROOT / "conf.py"
    path.write_text(without_jupyter_book(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
