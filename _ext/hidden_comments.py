"""Leave out of every page the comments that bind the numbers of the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx

COMMENT = re.compile(r"(?:<!--(?:(?!-->).)*-->\s*)+", re.DOTALL)


class LeaveOutComments(SphinxTransform):
    """Remove comments before anything looks at titles, and join the text around them."""

    default_priority = 1

    def apply(self, **_options: Any) -> None:
        """Go through a document."""
        for node in list(self.document.findall(nodes.raw)):
            if node.get("format") != "html" or not COMMENT.fullmatch(node.astext()):
                continue
            parent, place = node.parent, node.parent.index(node)
            around = parent.children[max(0, place - 1) : place + 2]
            parent.remove(node)
            if [isinstance(node, nodes.Text) for node in around] == [True, False, True]:
                parent[place - 1 : place + 1] = [nodes.Text(around[0] + around[2])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.add_transform(LeaveOutComments)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
