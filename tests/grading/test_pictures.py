"""Pictures that a cell holds are taken out of its text, and shown if they are pictures."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zlib

import nbformat
import pytest

from grading.gradebook import autograded
from grading.intake.normalize import normalize
from grading.pictures import LARGEST, MOST, address, lifted, used
from grading.release import worked
from grading.reports.feedback import ShownCell, blocks
from tests.grading.pages import picture
from tests.grading.small_class import PROBLEM_SET
from tests.grading.small_class import TINY as SOURCE


def vast() -> str:
    """Return a small PNG file that says it has ten thousand million pixels."""
    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + head
    whole = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
    return base64.b64encode(whole + struct.pack(">I", zlib.crc32(chunk))).decode()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_picture_has_an_address_that_holds_it(kind: str) -> None:
    data = picture(kind)
    assert address(data) == f"data:image/{kind.lower()};base64,{data}"
    # nbformat may break the lines of it
    assert address("\n".join([data[:40], data[40:]])) == address(data)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "no base64!",
        base64.b64encode(b"<svg onload='alert(1)'/>").decode(),
        base64.b64encode(b"<script>alert(1)</script>").decode(),
        picture("BMP"),
        picture("PNG")[:16],
        vast(),
        picture("PNG") + '"><script>',
        "A" * (LARGEST + 4),
    ],
    ids=["none", "text", "svg", "script", "bmp", "cut", "vast", "quote", "large"],
)
def test_what_is_no_picture_of_bearable_size_has_none(data: str) -> None:
    assert address(data) == ""


def test_a_text_names_its_pictures_by_what_is_in_them() -> None:
    data, other = picture("PNG"), picture("JPEG")
    cell = {
        "cell_type": "markdown",
        "attachments": {
            "image.png": {"image/png": data},
            "my plot.png": {"image/jpeg": [other[:9], other[9:]]},
        },
    }
    source = (
        "![a](attachment:image.png) ![b](attachment:my%20plot.png) ![c](attachment:absent.png) "
        f"![d](data:image/png;base64,{data}) ![e](https://example.org/e.png) `attachment:image.png`"
    )
    pictures: dict[str, str] = {}
    found = lifted(cell, source, pictures)
    first, second = (hashlib.sha256(each.encode()).hexdigest()[:32] for each in (data, other))
    assert found == (
        f"![a](attachment:{first}) ![b](attachment:{second}) ![c](attachment:absent.png) "
        f"![d](attachment:{first}) ![e](https://example.org/e.png) `attachment:image.png`"
    )
    assert pictures == {first: data, second: other}
    assert used("nothing", pictures) == {}
    assert used(f"![x](attachment:{second})", pictures) == {second: other}
    # once more it is the same text
    assert lifted(cell, found, pictures) == found


@pytest.mark.parametrize(
    "attachments",
    [None, [], "x", {"a": None}, {"a": "x"}, {"a": {"image/png": 3}}, {"a": {"text/html": "x"}}],
)
def test_attachments_of_any_form_do_no_harm(attachments: object) -> None:
    cell = {"cell_type": "markdown", "attachments": attachments}
    pictures: dict[str, str] = {}
    assert lifted(cell, "![x](attachment:a)", pictures) == "![x](attachment:a)"
    assert pictures == {}


def test_pictures_have_a_limit_together() -> None:
    pictures = {"0": "x" * (MOST - 10)}
    cell = {"cell_type": "markdown"}
    for i in range(3):
        lifted(cell, f"![x](data:image/png;base64,AAA{i}AAAA)", pictures)
    assert len(pictures) == 2


def test_code_is_left_as_it_is() -> None:
    source = f'x = "](data:image/png;base64,{picture("PNG")})"'
    assert lifted({"cell_type": "code"}, source, {}) == source


def test_a_pasted_picture_reaches_the_pages_and_belongs_to_the_paragraph() -> None:
    def normalized(data: str):
        notebook = nbformat.reads(
            worked(PROBLEM_SET, "s1", {"q4": "![plot](attachment:image.png)"}, SOURCE).decode(), 4
        )
        notebook.cells[-1].attachments = {"image.png": {"image/png": data}}
        return normalize(nbformat.writes(notebook).encode(), PROBLEM_SET)

    first, second = normalized(picture("PNG")), normalized(picture("PNG", 30))
    assert first.cells[-1].source != second.cells[-1].source
    cell = first.cells[-1]
    shown = ShownCell(
        cell.name, cell.role, cell.kind, cell.source, (), cell.question,
        used(cell.source, first.pictures),
    )  # fmt: skip
    written = autograded.notebook(PROBLEM_SET, [shown], [])
    nbformat.validate(json.loads(written))
    (again,), _ = autograded.read(written)
    assert again == shown
    ((block,), _) = blocks([again], {})
    assert f'src="data:image/png;base64,{picture("PNG")}"' in block.body
    assert 'alt="plot"' in block.body
