"""Waiting for a page that lets no text be run as a script, which Playwright's own way would."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Pictures far below wait until they are near, which a test cannot.
LOAD_PICTURES = """() => Promise.all([...document.images].map((image) => {
  image.loading = "eager";
  return image.decode().catch(() => null);
}))"""


def wait_until(page: Page, condition: str, argument: Any = None, *, seconds: float = 30) -> None:
    """Wait until an expression, or a function of the argument, is true on a page."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition, argument):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {condition}")
        page.wait_for_timeout(20)
