"""Make the ``conf.py`` that Jupyter Book wrote one without Jupyter Book (``make sphinx``)."""

from __future__ import annotations

from pathlib import Path

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
    """Change the file."""
    path = Path(__file__).resolve().parent.parent / "conf.py"
    path.write_text(without_jupyter_book(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
