"""Make pages anew when the source of an extension has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def digest(*paths: Path) -> str:
    """Return a digest of what files hold, in the order of their names."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def rebuild_when_changed(
    app: Sphinx, rebuild: Literal["env", "html"], source: str | Path, *others: str | Path
) -> None:
    """Make all pages anew, without running anything, when the source of an extension has changed.

    They are read anew, or only written anew. Sphinx remembers the digest of the source and of what
    else it works with under the name of the source.
    """
    paths = [Path(path) for path in (source, *others)]
    name = paths[0].parent.name if paths[0].stem == "__init__" else paths[0].stem
    app.add_config_value(f"{name}_source_digest", digest(*paths), rebuild)
