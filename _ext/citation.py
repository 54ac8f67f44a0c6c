"""How to cite the book, in the two forms that people paste, made from ``CITATION.cff``.

The directive ``how-to-cite`` leaves a mark in the page, and the words are put there when the page
is written: they hold the book's address, which one build has and another of the same sources has
not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from docutils import nodes
from pybtex.plugin import find_plugin, register_plugin
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = Path(__file__).resolve().parent.parent / "CITATION.cff"
# Small letters below the line and the root sign, which BibTeX's styles cannot sort or set.
IN_TEX = {"√dₖ": r"$\sqrt{d_k}$"}


class how_to_cite(nodes.General, nodes.Element):  # noqa: N801 - docutils names nodes like this
    """Where the citations of the book go."""


@cache
def record(path: Path = SOURCE) -> dict[str, Any]:
    """Return what ``CITATION.cff`` says."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def year(cited: dict[str, Any]) -> str:
    """Return the year of the release."""
    return str(cited["date-released"])[:4]


def author(cited: dict[str, Any]) -> str:
    """Return the author of the book: one name, that of a group."""
    (one,) = cited["authors"]
    return one["name"]


def apa(cited: dict[str, Any], address: str) -> list[nodes.Node]:
    """Return a reference in the style of the APA, as nodes.

    Examples
    --------
    >>> from docutils.nodes import paragraph
    >>> cited = {"authors": [{"name": "Some people"}], "title": "A book", "version": "2.0.0",
    ...          "date-released": "2031-01-02"}
    >>> paragraph("", "", *apa(cited, "")).astext()
    'Some people. (2031). A book (Version 2.0.0) [Computer software].'
    >>> paragraph("", "", *apa(cited, "https://example.org/")).astext()
    'Some people. (2031). A book (Version 2.0.0) [Computer software]. https://example.org/'
    """
    parts: list[nodes.Node] = [
        nodes.Text(f"{author(cited)}. ({year(cited)}). "),
        nodes.emphasis("", cited["title"]),
        nodes.Text(f" (Version {cited['version']}) [Computer software]."),
    ]
    if address:
        parts += [nodes.Text(" "), nodes.reference("", address, refuri=address)]
    return parts


def bibtex(cited: dict[str, Any], address: str) -> str:
    r"""Return an entry for BibTeX.

    Examples
    --------
    >>> cited = {"authors": [{"name": "Some people"}], "title": "Why √dₖ", "version": "2.0.0",
    ...          "date-released": "2031-01-02"}
    >>> print(bibtex(cited, "https://example.org/"))
    @misc{somepeople2031,
      author = {{Some people}},
      title  = {Why $\sqrt{d_k}$},
      year   = {2031},
      note   = {Version 2.0.0},
      url    = {https://example.org/}
    }
    """
    title = cited["title"]
    for shown, in_tex in IN_TEX.items():
        title = title.replace(shown, in_tex)
    # the second pair of braces keeps the name of a group in one piece
    fields = {
        "author": f"{{{author(cited)}}}",
        "title": title,
        "year": year(cited),
        "note": f"Version {cited['version']}",
    }
    if address:
        fields["url"] = address
    name = "".join(filter(str.isalnum, author(cited).removeprefix("The ").lower()))
    lines = ",\n".join(f"  {field:<6} = {{{value}}}" for field, value in fields.items())
    return f"@misc{{{name}{year(cited)},\n{lines}\n}}"


class HowToCite(SphinxDirective):
    """``{how-to-cite}``: the book as an entry of a list of references, and for BibTeX."""

    def run(self) -> list[nodes.Node]:
        """Leave the mark, and read the page anew whenever ``CITATION.cff`` changes."""
        self.env.note_dependency(str(SOURCE))
        return [how_to_cite()]


def fill_in(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Put the citations in the place of the mark."""
    for mark in list(doctree.findall(how_to_cite)):
        record.cache_clear()
        cited, address = record(), app.config["html_baseurl"]
        entry = bibtex(cited, address)
        mark.replace_self(
            [
                nodes.paragraph("", "", *apa(cited, address), classes=["reference-apa"]),
                nodes.literal_block(entry, entry, language="bibtex"),
            ]
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    # pybtex goes through all that is installed whenever it looks for its own plain text
    plain = ("pybtex.backends", "plaintext")
    register_plugin(*plain, find_plugin(*plain), force=True)
    app.add_node(how_to_cite)
    app.add_directive("how-to-cite", HowToCite)
    app.connect("doctree-resolved", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
