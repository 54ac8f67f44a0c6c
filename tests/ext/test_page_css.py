"""A page's one style sheet holds the rules that can apply to it, and no others."""

from __future__ import annotations

import base64
import io
import logging
import re
from pathlib import Path

import matplotlib as mpl
import pytest
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.errors import ExtensionError

from _ext import postprocess
from _ext.postprocess import icons, images, page_css
from tests.book.notebooks import CHAPTERS
from tests.ext import pages

PAGE = """<html data-theme="auto"><body><main id="main" class="wide page">
<a class="to internal" href="#x">x</a><math><mi>x</mi></math><input type="text"></main>
</body></html>"""
SCRIPTS = 'node.classList.add("shown"); node.dataset.bsState = "open"; node.id = "made";'


def purged(sheet: str, *, folder: str = "", root: str = "") -> str:
    known = page_css.vocabulary(PAGE, SCRIPTS)
    return page_css.write(page_css.purge(page_css.parse(sheet, folder), known), root)


@pytest.mark.parametrize(
    "selector",
    [
        *("a", "A", "*", "html", "tbody", ".wide", "#main", "main.wide > a.to:hover", "math mi"),
        *("[href]", "a[href^='#']", "html[data-theme=dark] a", "a::before", "a:not(.gone)"),
        *(".shown", "#made", "[data-bs-state=open]", ":is(.gone, .to)", "main:has(> .to)"),
        *("::highlight(searched)", "a:nth-child(2 of .gone)", "main a, .gone"),
    ],
)
def test_a_rule_that_can_apply_stays(selector: str) -> None:
    kept = purged(f"{selector} {{ color: red }}")
    assert "color:red}" in kept
    assert ".gone," not in kept or ":is" in selector


@pytest.mark.parametrize(
    "selector",
    [
        *(".gone", "#gone", "video", "[srcset]", "main .gone", "a.to.gone", "a.gone::before"),
        *(":is(.gone, video) a", "main:has(.gone)", ":where(.gone)", ":root .gone, video"),
    ],
)
def test_a_rule_that_cannot_apply_goes(selector: str) -> None:
    assert purged(f"{selector} {{ color: red }}") == ""


def test_of_several_selectors_those_that_can_apply_stay() -> None:
    assert purged(".gone, .to, a .gone { x: y }") == ".to{x:y}"


def test_rules_for_paper_and_for_widths_stay_with_what_is_in_them() -> None:
    sheet = "@media print { a { x: y } .gone { x: y } } @media (width > 9px) { .gone { x: y } }"
    assert purged(sheet) == "@media print{a{x:y}}"
    assert purged("@page { margin: 1cm }") == "@page{margin: 1cm}"
    assert purged("@supports (x: y) { @media print { a { x: y } } }").count("a{x:y}") == 1


def test_custom_properties_stay_as_far_as_they_are_read() -> None:
    sheet = ":root { --a: var(--b); --b: 1px; --c: var(--a); --d: 2px } a { top: var(--a) }"
    assert purged(sheet) == ":root{--a:var(--b);--b:1px}a{top:var(--a)}"


def test_animations_and_fonts_stay_as_far_as_they_are_named() -> None:
    sheet = """@keyframes come { from { opacity: 0 } } @keyframes gone { from { opacity: 0 } }
    @font-face { font-family: "Kept"; src: url(a.woff2) } @font-face { font-family: Lost }
    @font-face { font-family: Held\\ 7 Too } main { font-family: "Held 7 Too" }
    a { animation: come 1s; font-family: "Kept", serif }"""
    kept = purged(sheet)
    assert "come{" in kept
    assert "gone" not in kept
    assert "Kept" in kept
    assert kept.count("Held") == 2
    assert "Lost" not in kept


def test_files_are_found_from_where_the_page_is() -> None:
    sheet = "a { x: url(../f/a.png?v=1); y: url('#b'); z: url(\"data:image/svg+xml,<svg/>\") }"
    kept = purged(sheet, folder="_static/styles", root="../")
    assert 'x:url("../_static/f/a.png")' in kept
    assert 'y:url("#b")' in kept
    assert 'z:url("data:image/svg+xml,<svg/>")' in kept


def test_values_keep_their_meaning_without_comments() -> None:
    kept = purged('a { content: "a  /* b */" / ""; /* c */ margin: 0  /**/ 1px !important }')
    assert kept == 'a{content:"a  /* b */" / "";margin:0  1px!important}'


def test_nested_rules_stay_as_they_are() -> None:
    assert "&:hover { x: y }" in purged("a { top: 0; &:hover { x: y } }")


def test_a_sheet_takes_in_those_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.css").write_text('@charset "utf-8"; @import "../b.css"; a { x: y }')
    (tmp_path / "b.css").write_text("a { top: 0 }")
    for _ in range(2):  # read, and found again
        library = page_css.Library(tmp_path, tmp_path / "kept")
        page = '<link rel="stylesheet" href="../s/a.css?v=1" />\n<p>'
        said = page_css.place(page + PAGE, "chapters/a.html", "", library)
        assert said.startswith("<style>a{top:0}a{x:y}</style>\n<p>")


def test_cutting_a_font_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    font = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    with caplog.at_level(logging.INFO):
        assert icons.subset(font, "a").startswith(b"wOFF")
    assert [record for record in caplog.records if record.levelno < logging.WARNING] == []


@pytest.mark.parametrize("sources", [("ttf",), ("woff2",), ("woff2", "ttf")])
def test_icons_come_from_either_form_of_a_font(tmp_path: Path, sources: tuple[str, ...]) -> None:
    with TTFont(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf") as font:
        for table in font["cmap"].tables:
            if table.format == 12:
                table.cmap[0xF02D] = "a"
        font.flavor = "woff2" if sources == ("woff2",) else None
        font.save(tmp_path / f"icons.{sources[-1]}")  # of two, the first is not there to be read
    listed = ", ".join(f'url("{page_css.SITE}icons.{form}")' for form in sources)
    face = [["font-family", '"Font Awesome 7 Free"'], ["font-weight", "900"], ["src", listed]]
    shown = ["style", [".a"], [["content", '"\uf02d"']]]
    said: list[str] = []
    cut, _ = icons.Icons(tmp_path, tmp_path, said.append).bring([["font", face], shown])
    assert dict(cut[1])["src"].startswith('url("data:font/woff;base64,')
    assert said == []


def test_an_icon_without_a_font_is_reported(tmp_path: Path) -> None:
    said: list[str] = []
    shown = [["style", [".a"], [["content", '"\uf02d"']]]]
    assert icons.Icons(tmp_path, tmp_path, said.append).bring(shown) == shown
    assert said == ["no font has the icon U+F02D that a style sheet shows"]


def test_a_picture_keeps_its_looks_and_gets_smaller() -> None:
    picture = Image.linear_gradient("L").convert("RGB")
    written = io.BytesIO()
    picture.save(written, "PNG")
    with Image.open(io.BytesIO(images.webp(written.getvalue()))) as smaller:
        assert smaller.size == picture.size
        far = [high for _, high in images.ImageChops.difference(picture, smaller).getextrema()]
    assert max(far) <= images.FARTHEST
    noise = Image.effect_noise((9, 9), 90)
    many = Image.merge(
        "RGB",
        [
            noise.resize((300, 300), Image.Resampling.BICUBIC),
            noise.rotate(90).resize((300, 300), Image.Resampling.BICUBIC),
            noise.rotate(180).resize((300, 300), Image.Resampling.BICUBIC),
        ],
    )
    assert images.few_colors(many) is many, "colors that would be seen to change"


# The site

CONTENT = [name.replace(".ipynb", ".html") for name in CHAPTERS]


def sheet_of(page: str) -> str:
    return max(re.findall(r"<style>(.*?)</style>", page, re.DOTALL), key=len)


@pytest.mark.parametrize("name", ["index.html", "search.html", "genindex.html", *CONTENT])
def test_a_page_brings_its_sheet_and_every_icon_that_it_shows(site: Path, name: str) -> None:
    page = (site / name).read_text(encoding="utf-8")
    assert not pages.parse(site / name).select("link[rel=stylesheet], script[src]")
    sheet = sheet_of(page)
    shown = set(re.findall("[\ue000-\uf8ff]", sheet))
    fonts = re.findall(r"data:font/woff;base64,([\w+/=]+)", sheet)
    known: set[str] = set()
    for font in fonts:
        with TTFont(io.BytesIO(base64.b64decode(font))) as opened:
            known.update(map(chr, opened.getBestCmap()))
    assert len(shown) > 5
    assert shown == known


@pytest.mark.parametrize("name", ["index.html", *CONTENT])
def test_pictures_have_a_size_and_those_far_down_wait(site: Path, name: str) -> None:
    figures = list(pages.parse(site / name).select("article img"))
    assert figures or "10_" in name or name == "index.html"
    for image in figures:
        assert str(image["src"]).endswith(".webp")
        with Image.open((site / name).parent / str(image["src"])) as opened:
            assert opened.size == (int(image["width"]), int(image["height"]))
    assert all(image.get("loading") == "lazy" for image in figures[1:])


def test_nothing_lies_in_the_site_that_no_page_loads(site: Path) -> None:
    asking = [*site.rglob("*.html"), *site.glob("*.webmanifest")]
    loaded = "".join(path.read_text(encoding="utf-8") for path in asking)
    there = [
        path.relative_to(site).as_posix()
        for folder in postprocess.LOADED
        for path in (site / folder).rglob("*.*")
    ]
    assert there
    assert [path for path in there if path not in loaded] == []


RAW = """<html><head><meta charset="utf-8" />
<link rel="stylesheet" href="_static/a.css?v=1" />
</head><body><p>x</p><img src="_static/a.svg" /><script src="_static/a.js"></script></body></html>
"""


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """Return a site as Sphinx writes it."""
    (tmp_path / "html" / "_static").mkdir(parents=True)
    for name, text in {
        "a.html": RAW,
        "_static/a.css": "p { top: 0 }",
        "_static/a.js": "a = 1;",
        "_static/a.svg": '<svg viewBox="0 0 2 3"></svg>',
    }.items():
        (tmp_path / "html" / name).write_text(text)
    return tmp_path / "html"


def test_a_page_is_finished_anew_when_only_what_pages_share_has_changed(unfinished: Path) -> None:
    site = unfinished
    postprocess.Finisher(site).finish()
    first = (site / "a.html").read_text()
    assert "<style>p{top:0}</style>" in first
    assert "<script>\na = 1;\n</script>" in first
    assert [path.name for path in (site / "_static").iterdir()] == ["a.svg"]
    postprocess.Finisher(site).finish()
    assert (site / "a.html").read_text() == first
    (site / "_static" / "a.css").write_text("p { top: 1px }")
    postprocess.Finisher(site).finish()
    assert "<style>p{top:1px}</style>" in (site / "a.html").read_text()


@pytest.mark.parametrize(
    ("rule", "found", "root"),
    [
        ("scripts", '<script src="_static/a.js"></script>', ""),
        ("pictures", '<img src="_static/a.svg" />', ""),
        ("sheets", '<link rel="stylesheet" href="_static/a.css?v=1" />', ""),
        ("policy", '<meta charset="utf-8" />', ""),
        ("addresses", "", "/book/"),
    ],
)
def test_a_rule_that_changes_no_page_fails_the_build(
    unfinished: Path, rule: str, found: str, root: str
) -> None:
    assert rule in postprocess.Finisher(unfinished, root="/").rules
    assert found in RAW
    (unfinished / "a.html").write_text(RAW.replace(found, ""))
    with pytest.raises(ExtensionError, match=rf"change no page: \['{rule}'\]"):
        postprocess.Finisher(unfinished, root=root).finish()


def test_a_rule_is_remembered_for_pages_that_are_not_written_again(unfinished: Path) -> None:
    postprocess.Finisher(unfinished).finish()
    (unfinished / "b.html").write_text("<html></html>")
    postprocess.Finisher(unfinished).finish()
    assert postprocess.DONE in (unfinished / "b.html").read_text()
    (unfinished / "a.html").unlink()
    (unfinished / "b.html").write_text("<html></html>")
    with pytest.raises(ExtensionError, match=r"\['pictures', 'policy', 'scripts', 'sheets'\]"):
        postprocess.Finisher(unfinished).finish()
