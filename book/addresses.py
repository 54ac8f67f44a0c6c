"""Where the book is: its repository, its site, and what installs its package from there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import yaml


def site_address(repository: str) -> str:
    """Return where a repository's GitHub Pages are, with a slash at the end, or nothing if unknown.

    Examples
    --------
    >>> site_address("https://github.com/someone/some-book")
    'https://someone.github.io/some-book/'
    >>> site_address("https://example.org/some-book")
    ''
    """
    parts = urlsplit(repository)
    names = parts.path.strip("/").removesuffix(".git").split("/")
    if parts.netloc != "github.com" or len(names) != 2:
        return ""
    owner, name = names
    home = f"{owner.lower()}.github.io"
    return f"https://{home}/" if name.lower() == home else f"https://{home}/{name}/"


def repository_address(environment: Mapping[str, str], configured: str) -> str:
    """Return the address of the repository, or nothing if none is known.

    A site that a fork publishes from GitHub's CI belongs to the fork, whatever `configured` says.

    Examples
    --------
    >>> repository_address({"REPOSITORY_URL": "https://example.org/some/book.git"}, "")
    'https://example.org/some/book'
    >>> actions = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "someone/book"}
    >>> repository_address(actions, "https://github.com/another/book")
    'https://github.com/someone/book'
    """
    server, name = (environment.get(f"GITHUB_{part}") for part in ("SERVER_URL", "REPOSITORY"))
    in_actions = f"{server}/{name}" if server and name else ""
    address = environment.get("REPOSITORY_URL") or in_actions or configured
    return address.rstrip("/").removesuffix(".git")


def installation(repository: str) -> str:
    """Return what installs the book's package with all that notebooks use, from the repository.

    Without an address it is for the folder of a copy.

    Examples
    --------
    >>> installation("https://example.org/book")
    'python -m pip install "attnlib[all] @ git+https://example.org/book"'
    >>> installation("")
    'python -m pip install ".[all]"'
    """
    package = f"attnlib[all] @ git+{repository}" if repository else ".[all]"
    return f'python -m pip install "{package}"'


def configured(root: Path) -> str:
    """Return the address that ``_config.yml`` states, or nothing."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text).get("repository", {}).get("url") or "")
