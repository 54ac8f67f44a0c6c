"""How Sphinx writes nodes as HTML where its own way, or an extension's, would not do.

* A box to open, of the class "dropdown", is a ``details``: it opens without a script, for those who
  search in the page too, and the browser does not lay it out before.
* Each identifier occurs once, and elements have the roles and names that screen readers expect.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx import addnodes
from sphinx.ext.autosummary import autosummary_table
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

from _ext.rebuild import rebuild_when_changed

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def is_dropdown(node: nodes.Node) -> bool:
    """Say whether a node is a box to open."""
    return isinstance(node, nodes.Admonition) and "dropdown" in node["classes"]


def is_column_name(entry: nodes.Node) -> bool:
    """Say whether a node is a cell in the head of a table."""
    return isinstance(entry, nodes.entry) and isinstance(entry.parent.parent, nodes.thead)


def leaves(node: nodes.Element) -> list[nodes.Node]:
    """Return what is inside a node and holds nothing else."""
    return [part for part in node.findall() if not part.children and part is not node]


class BookTranslator(HTML5Translator):
    """Sphinx's writer with elements of the book's own."""

    def starttag(self, node: nodes.Element, tagname: str, *args: Any, **attributes: Any) -> str:
        """Begin an element; some are other ones than Sphinx would choose."""
        if is_dropdown(node) and tagname == "div":
            tagname = "details"
        elif isinstance(node, nodes.title) and is_dropdown(node.parent):
            tagname = "summary"
        # a signature with one parameter a line is no list of definitions
        elif isinstance(node, addnodes.desc_parameterlist) and tagname == "dl":
            tagname, attributes["CLASS"] = "span", "sig-lines"
        elif isinstance(node, addnodes.desc_parameter) and tagname == "dd":
            tagname, attributes["CLASS"] = "span", "sig-line"
        return super().starttag(node, tagname, *args, **attributes)

    def dispatch_departure(self, node: nodes.Node) -> None:
        """End the elements that were begun as other ones."""
        super().dispatch_departure(node)
        if is_dropdown(node):
            if not isinstance(node[0], nodes.title):
                raise ValueError(f"a box to open must begin with a title, not {node[0].astext()!r}")
            self._close("</div>", "</details>")
        elif isinstance(node, addnodes.desc_parameterlist):
            self._close("</dl>", "</span>")
        elif isinstance(node, addnodes.desc_parameter):
            self._close("</dd>", "</span>")

    def _close(self, old: str, new: str) -> None:
        for place in (-1, -2):
            if old in self.body[place]:
                # the last one: a part of the box may end just before
                self.body[place] = new.join(self.body[place].rsplit(old, 1))
                return

    def visit_title(self, node: nodes.title) -> None:
        """Write the title of a box to open as what opens it."""
        super().visit_title(node)
        if is_dropdown(node.parent):
            self.context[-1] = "</summary>\n"

    def visit_entry(self, node: nodes.entry) -> None:
        """Name the empty corner of a table, and mark many words that have little room."""
        if is_column_name(node) and all(isinstance(part, nodes.paragraph) for part in leaves(node)):
            node.clear()
            node += nodes.paragraph("", "what", classes=["visually-hidden"])
        if len(node.parent) > 3 and len(node.astext()) > 65:
            node["classes"].append("long")
        super().visit_entry(node)

    def visit_citation(self, node: nodes.citation) -> None:
        """Write an entry of the references, without the roles of a list that is none."""
        if not isinstance(node.previous_sibling(), nodes.citation):
            self.body.append('<div class="citation-list">\n')
        self.body.append(self.starttag(node, "div", CLASS="citation"))


def visit_hidden_cell(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    """Write the line that opens hidden code, whose name is what it says."""
    classes = " ".join(["admonition", "hide", *node["classes"]])
    shown, hidden = (html.escape(node[prompt]) for prompt in ("prompt_show", "prompt_hide"))
    translator.body.append(
        f'<details class="{classes}">\n<summary>\n'
        f'<span class="collapsed admonition-title">{shown}</span>\n'
        f'<span class="expanded admonition-title">{hidden}</span>\n</summary>\n'
    )


def depart_hidden_cell(translator: HTML5Translator, _node: HideCodeCellNode) -> None:
    """End it."""
    translator.body.append("</details>\n")


def tell_proofs_apart(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Take away the identifier that sphinx-proof gives to all proofs, and to all theorems."""
    for section in document.findall(nodes.section):
        if section["ids"] == ["proof-content"]:
            section["ids"] = []
    for proof in document.findall(proof_node):
        (box,) = proof.children
        box["ids"], box["classes"] = [], ["proof", "demonstration"]
        words = box[0][0]
        box[0][0:1] = [nodes.emphasis("", "Proof."), nodes.Text(words.removeprefix("Proof."))]


def head_rows(_app: Sphinx, document: nodes.document, _page: str) -> None:
    """Make the name of a function the heading of its line in a list of functions."""
    for table in document.findall(autosummary_table):
        for columns in table.findall(nodes.tgroup):
            columns[0]["stub"] = 1


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.set_translator("html", BookTranslator)
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_hidden_cell))
    app.connect("doctree-resolved", tell_proofs_apart)
    app.connect("doctree-resolved", head_rows)
    rebuild_when_changed(app, "html", __file__)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
