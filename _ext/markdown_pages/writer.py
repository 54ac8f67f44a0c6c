"""Write what Sphinx knows of a page as Markdown.

The tree of a page has its numbers, references and outputs resolved already, so Markdown says what
the page says. Formulas are TeX between dollars. A box is a quotation that begins with its title;
what the page shows only when it is opened says so. A figure is its caption and its alternative
text. A link leads to the page of the site, where the place exists that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.autosummary import autosummary_table
from sphinx.util.math import get_node_equation_number
from sphinx_exercise.nodes import solution_node

from _ext import maths
from _ext.launch_buttons import LaunchButtons
from _ext.live_cells import EditButton
from _ext.markdown_pages import outputs
from _ext.markdown_pages.marks import box, code_span, escaped, fence, item, table
from _ext.predictions import CLOSED as RESULT
from _ext.translator import is_dropdown

if TYPE_CHECKING:
    from myst_nb.sphinx_ import HideCodeCellNode
    from sphinx.builders.html import StandaloneHTMLBuilder
    from sphinx_proof.nodes import proof_node

FURNITURE = {"chapter-facts", "chapter-head", "places", "toctree-wrapper", "visually-hidden"}
"""Classes of what only helps on the page itself."""
LEFT_OUT = (nodes.Invisible, nodes.meta, addnodes.index, LaunchButtons, EditButton)
LANGUAGES = {"ipython3": "python", "ipython": "python"}
OUTPUTS = {"default", "myst-ansi", "none"}
"""What Sphinx calls the language of what is in none."""
APART = (nodes.image, addnodes.desc_signature)
"""What is a block of its own although docutils has it in lines."""


def is_left_out(node: nodes.Node) -> bool:
    """Say whether a node has nothing to read."""
    if isinstance(node, autosummary_table):  # which is a comment to docutils
        return False
    return isinstance(node, LEFT_OUT) or (
        isinstance(node, nodes.Element) and not FURNITURE.isdisjoint(node["classes"])
    )


def is_in_line(node: nodes.Node) -> bool:
    """Say whether a node is a part of a line."""
    is_output = isinstance(node, nodes.raw) and isinstance(node.parent, nodes.container)
    return isinstance(node, nodes.Text | nodes.Inline) and not (
        is_output or isinstance(node, APART)
    )


class Writer:
    """Writes one page; `page` is its name as in ``_toc.yml``."""

    def __init__(self, builder: StandaloneHTMLBuilder, page: str) -> None:
        self.builder = builder
        self.own = f"{page.rpartition('/')[2]}.html"
        self.level = 0

    def blocks(self, parts: Iterable[nodes.Node]) -> list[str]:
        """Return some nodes, block by block."""
        made: list[str] = []
        for in_line, run in groupby(parts, is_in_line):
            if in_line:
                made.append(self.line(run))
            else:
                made += chain.from_iterable(map(self.block, run))
        return [block for block in made if block.strip()]

    def block(self, node: nodes.Node) -> list[str]:
        """Return a node as blocks: in its own way, or what is in it."""
        if is_left_out(node):
            return []
        for kind in type(node).__mro__:
            if write := getattr(self, f"block_{kind.__name__}", None):
                return write(node)
        return self.blocks(node.children)

    def line(self, parts: Iterable[nodes.Node]) -> str:
        """Return parts of a line."""
        return "".join(map(self.inline, parts)).strip()

    def inline(self, node: nodes.Node) -> str:
        """Return a part of a line: in its own way, or what is in it."""
        if is_left_out(node):
            return ""
        for kind in type(node).__mro__:
            if write := getattr(self, f"inline_{kind.__name__}", None):
                return write(node)
        return "".join(map(self.inline, node.children))

    # parts of a line

    def inline_Text(self, node: nodes.Text) -> str:  # noqa: N802 - named like the nodes
        return escaped(re.sub(r"\s*\n\s*", " ", node.astext()))

    def inline_emphasis(self, node: nodes.emphasis) -> str:
        return f"*{self.line(node.children)}*"

    def inline_strong(self, node: nodes.strong) -> str:
        return f"**{self.line(node.children)}**"

    def inline_literal(self, node: nodes.literal) -> str:
        return code_span(" ".join(node.astext().split()))

    def inline_math(self, node: nodes.math) -> str:
        return f"${' '.join(maths.source(node).split())}${node.get('after', '')}"

    def inline_reference(self, node: nodes.reference) -> str:
        words, address = self.line(node.children), self.address(node)
        return f"[{words}]({address})" if address and words else words

    def inline_raw(self, _node: nodes.raw) -> str:
        return ""

    def inline_download_reference(self, node: addnodes.download_reference) -> str:
        return f"[{escaped(node.astext())}]({self.builder.dlpath}/{node['filename']})"

    def address(self, node: nodes.reference) -> str:
        """Return where a link leads, seen from the folder of the page."""
        address = f"#{node['refid']}" if "refid" in node else node.get("refuri", "")
        return f"{self.own}{address}" if address.startswith("#") else address

    # blocks

    def block_paragraph(self, node: nodes.Element) -> list[str]:
        line = "\n\n".join(self.blocks(node.children))
        # what would begin a list, a heading or a quotation
        return [re.sub(r"^(?:([-+#>])|(\d+)([.)]))(?=\s)", r"\2\\\1\3", line)]

    def block_section(self, node: nodes.section) -> list[str]:
        self.level += 1
        made = self.blocks(node.children)
        self.level -= 1
        return made

    def block_title(self, node: nodes.title) -> list[str]:
        return [f"{'#' * max(self.level, 1)} {self.numbered(node)}"]

    def numbered(self, title: nodes.title) -> str:
        """Return a title with its number."""
        numbers = self.builder.secnumbers
        names = [f"#{name}" for name in title.parent["ids"][:1]]
        number = numbers.get(next((name for name in names if name in numbers), ""), ())
        words = self.line(title.children)
        return f"{'.'.join(map(str, number))}. {words}" if number else words

    def counted(self, node: nodes.Element, title: nodes.title) -> str:
        """Return the title of a box with the number that it may have."""
        return f"{self.number(node)} {self.line(title.children)}".strip()

    def block_rubric(self, node: nodes.rubric) -> list[str]:
        return [f"**{self.line(node.children)}**"]

    def block_bullet_list(self, node: nodes.bullet_list) -> list[str]:
        return self.items(node, ["- "] * len(node))

    def block_enumerated_list(self, node: nodes.enumerated_list) -> list[str]:
        start = node.get("start", 1)
        return self.items(node, [f"{number}. " for number in range(start, start + len(node))])

    def items(self, node: nodes.Element, marks: Iterable[str]) -> list[str]:
        """Return a list."""
        parts = [self.blocks(child.children) for child in node.children]
        lines = [item(mark, "\n\n".join(blocks)) for mark, blocks in zip(marks, parts, strict=True)]
        return [("\n" if all(len(blocks) < 2 for blocks in parts) else "\n\n").join(lines)]

    def block_definition_list(self, node: nodes.definition_list) -> list[str]:
        lines = []
        for entry in node.children:
            *head, definition = entry.children
            blocks = [self.terms(head), *self.blocks(definition.children)]
            lines.append(item("- ", "\n\n".join(blocks)))
        return ["\n\n".join(lines)]

    def terms(self, head: list[nodes.Element]) -> str:
        """Return what a definition is of, and what kind of thing that is."""
        lines = {kind: [] for kind in (nodes.term, nodes.classifier)}
        for part in head:
            lines[type(part)].append(self.line(part.children))
        names = ", ".join(lines[nodes.term])
        bold = names if "*" in names else f"**{names}**"
        return " : ".join([bold, *lines[nodes.classifier]])

    def block_field(self, node: nodes.field) -> list[str]:
        name, body = node.children
        return [f"**{self.line(name.children)}**", *self.blocks(body.children)]

    def block_literal_block(self, node: nodes.literal_block) -> list[str]:
        language = node.get("language", "")
        return [
            fence(node.astext(), LANGUAGES.get(language, "" if language in OUTPUTS else language))
        ]

    def block_doctest_block(self, node: nodes.doctest_block) -> list[str]:
        return [fence(node.astext(), "pycon")]

    def block_math_block(self, node: nodes.math_block) -> list[str]:
        formula = maths.laid_out(node)
        if node["number"]:
            number = get_node_equation_number(SimpleNamespace(builder=self.builder), node)
            formula += rf" \tag{{{number}}}"
        return [f"$${' '.join(formula.split())}$$"]

    def block_Admonition(self, node: nodes.Element) -> list[str]:  # noqa: N802
        title, *rest = node.children
        if not isinstance(title, nodes.title):  # a note says what it is by its kind
            return [box(type(node).__name__.capitalize(), self.blocks(node.children))]
        shut = is_dropdown(node) or isinstance(node, solution_node)
        return [box(self.counted(node, title), self.blocks(rest), closed=shut)]

    def block_proof_node(self, node: proof_node) -> list[str]:
        return [box("", self.blocks(node[0].children))]

    def block_figure(self, node: nodes.figure) -> list[str]:
        captions = [part for part in node if isinstance(part, nodes.caption)]
        rest = [part for part in node if part not in captions]
        return [box("", [*(self.caption(node, one) for one in captions), *self.blocks(rest)])]

    def caption(self, figure: nodes.figure, caption: nodes.caption) -> str:
        """Return a caption with its number, which leads to the figure."""
        number = self.number(figure)
        words = self.line(caption.children)
        return f"[**{number}**]({self.own}#{figure['ids'][0]}) {words}" if number else words

    def number(self, node: nodes.Element) -> str:
        """Return what a figure or a box is and its number, if it has one."""
        kind = self.builder.env.domains["std"].get_enumerable_node_type(node)
        numbers = self.builder.fignumbers.get(kind, {}).get(next(iter(node["ids"]), ""), ())
        format_ = self.builder.config.numfig_format.get(kind, "%s")
        words = format_ % ".".join(map(str, numbers)) if numbers else ""
        return words[:1].upper() + words[1:]

    def block_image(self, node: nodes.image) -> list[str]:
        return [f"*Picture:* {escaped(node['alt'])}"] if node.get("alt") else []

    def block_raw(self, node: nodes.raw) -> list[str]:
        shown = node.get("format") == "html" and "cell_output" in node.parent["classes"]
        return outputs.blocks(node.astext()) if shown else []

    def block_HideCodeCellNode(self, node: HideCodeCellNode) -> list[str]:  # noqa: N802
        return [box(node["prompt_show"], self.blocks(node.children), closed=True)]

    def block_Answering(self, node: nodes.Element) -> list[str]:  # noqa: N802
        return [box(RESULT, self.blocks(node.children), closed=True)]

    def block_transition(self, _node: nodes.transition) -> list[str]:
        return ["---"]

    def block_block_quote(self, node: nodes.block_quote) -> list[str]:
        return [box("", self.blocks(node.children))]

    def block_citation(self, node: nodes.citation) -> list[str]:
        _label, *said = self.blocks(node.children)
        return [item("- ", "\n\n".join(said))]

    def block_desc(self, node: addnodes.desc) -> list[str]:
        return self.blocks(node.children)

    def block_desc_signature(self, node: addnodes.desc_signature) -> list[str]:
        return [fence(node.astext(), "python")]

    def block_table(self, node: nodes.table) -> list[str]:
        rows = [self.row(row) for row in node.findall(nodes.row)]
        head = next(node.findall(nodes.thead), None)
        return [table(rows, has_head=head is not None)]

    def row(self, row: nodes.row) -> list[str]:
        """Return the cells of a row; one that spans columns is followed by empty ones."""
        return [
            text
            for cell in row.children
            for text in ("<br>".join(self.blocks(cell.children)), *[""] * cell.get("morecols", 0))
        ]
