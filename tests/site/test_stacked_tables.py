"""Tables of sentences stack on a phone and stay tables for those who hear them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from _ext.stacked_tables import SENTENCE, stacked
from _ext.theme import STATIC
from tests.book.notebooks import PAGES
from tests.site import pages
from tests.site.test_browser import DESK, SMALL_PHONE, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = "word " * (SENTENCE // 4)
NAMES = ["concept", "what it is & was", "chapter"]
PAGE = """<!DOCTYPE html><html lang="en"><head><title>T</title><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><style>{styles}</style></head>
<body><main class="bd-article">{body}</main></body></html>"""
STACKING = ["chapters/summary.html", "chapters/instructors.html"]


def table(names: list[str], *rows: list[str]) -> str:
    head = "".join(f'<th class="head"><p>{name.replace("&", "&amp;")}</p></th>\n' for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td><p>{cell}</p></td>\n" for cell in row) + "</tr>\n" for row in rows
    )
    return (
        f'<table class="table">\n<thead>\n<tr>{head}</tr>\n</thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>"
    )


SENTENCES = table(NAMES, ["score", LONG, "one"], ["row", LONG, "two"])


@pytest.mark.parametrize(
    "plain",
    [
        table(NAMES[:2], ["score", LONG]),
        table([*NAMES, "a", "b", "c"], ["score", LONG, *"1234"]),
        table(NAMES, ["score", "short", "one"]),
        table(["<math>x</math>", *NAMES[1:]], ["score", LONG, "one"]),
        table(["", *NAMES[1:]], ["score", LONG, "one"]),
        table(NAMES, ["score", LONG, "one"], ["score"]),
        SENTENCES.replace("<td>", '<td colspan="1">', 1),
    ],
)
def test_another_table_stays_as_it_is(plain: str) -> None:
    assert stacked(plain) == plain


@pytest.mark.proof("pages")
def test_each_value_knows_its_column(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(styles="", body=stacked(SENTENCES)), "utf-8")
    with visit(browser, path) as seen:
        labels = seen.page.eval_on_selector_all("td", "(all) => all.map((td) => td.dataset.label)")
        words = seen.page.eval_on_selector_all("td", "(all) => all.map((td) => td.innerText)")
    assert labels == NAMES * 2
    assert [word.strip() for word in words] == [
        "score",
        LONG.strip(),
        "one",
        "row",
        LONG.strip(),
        "two",
    ]


@pytest.mark.proof("pages")
@pytest.mark.parametrize("width", [SMALL_PHONE, DESK])
def test_it_is_heard_as_a_table_at_every_width(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    sheet = (STATIC / "narrow.css").read_text("utf-8")
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(styles=sheet, body=stacked(SENTENCES)), "utf-8")
    with visit(browser, path, width=width) as seen:
        heard = seen.page.locator("main").aria_snapshot()
        blocks = seen.page.locator("td").first.evaluate("(td) => getComputedStyle(td).display")
    assert blocks == ("block" if width == SMALL_PHONE else "table-cell")
    assert heard.count("columnheader") == 3
    # a name that is before a value for the eye is not heard a second time
    assert [line.strip().rstrip(":") for line in heard.splitlines() if "cell" in line] == [
        f'- cell "{cell}"' for cell in ("score", LONG.strip(), "one", "row", LONG.strip(), "two")
    ]


@pytest.mark.proof("pages")
@pytest.mark.parametrize("name", STACKING)
def test_no_table_of_the_page_is_wider_than_a_phone(
    site: Path, browser: Browser, name: str
) -> None:
    assert pages.parse(site / name).select("table.stacked")
    with visit(browser, site / name, width=SMALL_PHONE) as seen:
        wide = seen.page.eval_on_selector_all(
            ".pst-scrollable-table-container",
            "(all) => all.filter((box) => box.scrollWidth > box.clientWidth).length",
        )
        shown = seen.page.locator("table.stacked td + td").first.evaluate(
            "(td) => getComputedStyle(td, '::before').content"
        )
    assert wide == 0
    first = pages.parse(site / name).select("table.stacked td[data-label]")[1]["data-label"]
    assert f'"{first}"' in shown


def test_tables_of_numbers_are_left_to_scroll(site: Path) -> None:
    for name in PAGES:
        for found in pages.parse(site / f"{name}.html").select("table.stacked"):
            heads = [" ".join(head.get_text().split()) for head in found.select("th")]
            cells = found.select("td")
            assert [cell["data-label"] for cell in cells] == heads * (len(cells) // len(heads))
            assert max(len(cell.get_text()) for cell in cells) >= SENTENCE
