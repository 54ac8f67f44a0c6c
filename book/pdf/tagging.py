"""What screen readers are told of a PDF, by the rules of PDF/UA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from pikepdf import Pdf

ROLES = {"/Em": "/Span", "/Strong": "/Span"}
"""Chromium's tags that are no standard types of PDF 1.7, and the types that they stand for."""
PATH = {"m", "re"}
"""Operators of a page that begin a path."""
PAINT = {"S", "s", "f", "F", "f*", "B", "B*", "b", "b*"}
"""Those that paint it."""
SHOW = {"Tj", "TJ", "'", '"', "Do", "sh"}
"""Those that show text or pictures."""


def with_artifacts(operators: Iterable[Any], tagged: set[str]) -> Iterator[Any]:
    """Mark what a page paints outside of any tag, such as its number, as no part of the text.

    `tagged` names the drawings that hold tags of their own.
    """
    from pikepdf import ContentStreamInstruction, Name, Operator

    begin = ContentStreamInstruction([Name("/Artifact")], Operator("BMC"))
    end = ContentStreamInstruction([], Operator("EMC"))
    covered, path = [False], []  # by a tag or as an artifact, at each level of marks
    for one in operators:
        name = str(one.operator)
        if name in {"BMC", "BDC"}:
            is_tag = name == "BDC" and "/MCID" in one.operands[1]
            covered.append(covered[-1] or is_tag or one.operands[0] == "/Artifact")
        elif name == "EMC":
            covered.pop()
        if path or name in PATH:
            path.append(one)
            if name in PAINT | {"n"}:
                bare = name in PAINT and not covered[-1]
                yield from (begin, *path, end) if bare else path
                path = []
        elif name not in SHOW or covered[-1] or (name == "Do" and str(one.operands[0]) in tagged):
            yield one
        else:
            yield from (begin, one, end)


def drawings(holder: Any) -> dict[str, Any]:
    """Return the drawings that a page or a drawing shows, by name."""
    shown = holder.get("/Resources", {}).get("/XObject", {})
    return {name: one for name, one in shown.items() if one.get("/Subtype") == "/Form"}


def holds_tags(drawing: Any) -> bool:
    """Say whether a drawing, or one that it shows, has parts that tags name."""
    return b"/MCID" in drawing.read_bytes() or any(map(holds_tags, drawings(drawing).values()))


def with_marks(holder: Any, content: Any) -> bytes:
    """Return the content of a page or a drawing with artifacts, and mend the drawings within."""
    from pikepdf import parse_content_stream, unparse_content_stream

    tagged = {name: one for name, one in drawings(holder).items() if holds_tags(one)}
    for drawing in tagged.values():
        drawing.write(with_marks(drawing, drawing))
    return unparse_content_stream(list(with_artifacts(parse_content_stream(content), {*tagged})))


def tell_readers(printed: Pdf, title: str, numbers: Mapping[str, int]) -> None:
    """Complete what screen readers are told, by the rules of PDF/UA.

    The metadata name title, language and the standard; tags have standard roles; a link says where
    it leads; a box around a picture and its caption is not a picture without a description.
    """
    from pikepdf import Array, Dictionary, Name, String

    with printed.open_metadata() as metadata:
        metadata["dc:title"] = title
        metadata["dc:language"] = {str(printed.Root.Lang)}
        metadata["pdfuaid:part"] = "1"
    tree = printed.Root.StructTreeRoot
    tree.RoleMap = Dictionary({made: Name(standard) for made, standard in ROLES.items()})
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Array):
            waiting.extend(node)
        elif isinstance(node, Dictionary):
            if node.get("/S") == "/Figure" and "/Alt" not in node:
                node.S = Name("/Div")
            waiting.append(node.get("/K"))
    for page in printed.pages:
        page.Contents = printed.make_stream(with_marks(page.obj, page))
        for note in page.get("/Annots", []):
            inside = f"Page {numbers.get(unquote(str(note.get('/Dest', ''))).lstrip('/'))}"
            note.Contents = note.A.URI if "/A" in note else String(inside)


def finish(source: Path, target: Path, title: str, numbers: Mapping[str, int]) -> None:
    """Write a PDF for screen readers, and with its objects in compressed streams.

    That is about a third of its size.
    """
    import pikepdf

    with pikepdf.open(source) as printed:
        tell_readers(printed, title, numbers)
        printed.save(target, object_stream_mode=pikepdf.ObjectStreamMode.generate)
