"""Tell browsers what a finished page may do, and that it is nothing else.

The policy is in the page itself, so that it also holds on a disk and wherever the site is
published. A script inside the page runs if its digest is in the policy. Scripts of the site run as
well, since the search and data of figures come late; a Python needs WebAssembly and a worker. What
keeps the book for readers without a connection is a worker with a manifest. Nothing is loaded from
anywhere else.
"""

from __future__ import annotations

import base64
import hashlib
import re

from _ext.postprocess.scripts import programs

_CHARSET = re.compile(r"<meta charset[^>]*>", re.IGNORECASE)
MARK = '<meta http-equiv="Content-Security-Policy"'


def digest(script: str) -> str:
    """Return a script's digest as policies write it.

    Examples
    --------
    >>> digest("alert('Hello, world.');")
    "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    """
    value = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(value).decode()}'"


def policy(page: str) -> str:
    """Return the policy of a page that is finished but for it."""
    scripts = list(dict.fromkeys(map(digest, programs(page))))
    runs_python = " data-edit=" in page  # see live_cells.py
    # see search and live_figures.py; on a disk no digest of a file is checked
    scripts.append("'self'")
    if runs_python:
        scripts.append("'wasm-unsafe-eval'")
    is_kept = "serviceWorker" in page  # see prefetch.js
    rules = {
        "default-src": ["'none'"],
        "script-src": scripts,
        "style-src": ["'unsafe-inline'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'", "data:"],
        # prefetch.js reads pages of the site, and who looks after a site its robots.txt
        "connect-src": ["'self'"],
        **({"worker-src": ["'self'"]} if runs_python or is_kept else {}),
        **({"manifest-src": ["'self'"]} if is_kept else {}),
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())


def add_policy(page: str) -> str:
    """Return a finished page with its policy, right behind the line that tells its characters.

    That line has to come within the first kilobyte, and loads nothing.
    """
    meta = f'{MARK} content="{policy(page)}" />'
    return _CHARSET.sub(lambda found: f"{found[0]}\n    {meta}", page, count=1)
