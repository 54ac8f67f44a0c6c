"""Links to the book can be shared, found, cited and answered: with an address, and without one."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree as ET

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from PIL import Image

from _ext import metadata, theme
from _ext.downloads import PDF, link
from tests.book.building import run
from tests.book.notebooks import CHAPTERS, PAGES, ROOT, notebook
from tests.ext import pages

if TYPE_CHECKING:
    from tests.conftest import Once

REPOSITORY = "https://github.com/Somebody/some-book"
ADDRESS = "https://somebody.github.io/some-book/"
ABOUT = "What this page of a small book is about."
CONTENT = [f"{page}.html" for page in PAGES]
ALL = [*CONTENT, *(f"{name}.html" for name in metadata.GENERATED)]
CONFIGURATION = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]
# The small book is made by all extensions of the book, so that nothing that one of them does to a
# finished page is left out.
EXTENSIONS = ["myst_nb", *CONFIGURATION["extra_extensions"], *CONFIGURATION["local_extensions"]]
SMALL = {
    "conf.py": f"""
project = html_title = "A small book"
author = "Nobody"
extensions = {EXTENSIONS}
html_theme = "book_theme"
html_theme_options = {{"repository_url": ""}}
html_math_renderer = {CONFIGURATION["config"].get("html_math_renderer", "mathjax")!r}
html_logo = {str(theme.STATIC / "logo.svg")!r}
html_baseurl = ""
nb_execution_mode = "off"
nb_execution_cache_path = ""
suppress_warnings = ["config.cache"]
""",
    "_toc.yml": "format: jb-book\nroot: index\nparts:\n- numbered: true\n  chapters:\n"
    "  - file: chapters/01_a\n- chapters:\n  - file: chapters/about\n"
    "  - file: chapters/changelog\n",
    "index.md": "# A small book\n\n```{toctree}\nchapters/01_a\nchapters/about\n"
    "chapters/changelog\n```\n",
    "chapters/about.md": "# About\n\n(how-to-cite)=\n## How to cite\n\n```{how-to-cite}\n```\n\n"
    "(licenses)=\n## Licenses\n\nText.\n",
    "chapters/changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
}
SMALL_PAGES = ["index.html", "chapters/01_a.html", "chapters/about.html"]
CONTRACT = ":::{admonition} Contract\n:class: contract\n- **Difficulty** ★☆☆ gentle\n:::"
CHAPTER = notebook(f"# What «a» & b mean\n\nText.\n\n{CONTRACT}", description=ABOUT)


def build(folder: Path, repository: str) -> Path:
    """Build a small book by the book's own extensions."""
    (folder / "source" / "chapters").mkdir(parents=True)
    nbformat.write(CHAPTER, folder / "source" / "chapters" / "01_a.ipynb")
    for name, text in SMALL.items():
        path = folder / "source" / name
        meta = f'---\nmyst:\n  html_meta:\n    description: "{ABOUT}"\n---\n'
        path.write_text(meta + text if name.endswith(".md") else text, encoding="utf-8")
    run(
        *(sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q"),
        *(folder / "source", folder / "html"),
        env=os.environ | {"PYTHONPATH": str(ROOT), "REPOSITORY_URL": repository},
    )
    return folder / "html"


@pytest.fixture(scope="module")
def published(once: Once) -> Path:
    """Return a small site with an address."""
    return Path(once("published", lambda folder: build(folder, REPOSITORY)))


def meta(page: BeautifulSoup) -> dict[str, str]:
    """Return what the head of a page says, by name."""
    tags = page.find_all("meta", content=True)
    return {str(tag.get("property") or tag.get("name")): str(tag["content"]) for tag in tags}


def canonical(page: BeautifulSoup) -> list[str]:
    return [str(tag["href"]) for tag in page.find_all("link", rel="canonical")]


def cited(page: BeautifulSoup) -> dict[str, list[str]]:
    """Return what a page says for programs that collect citations, as they read it."""
    found: dict[str, list[str]] = {}
    for tag in page.find_all("meta", attrs={"name": re.compile("^citation_")}):
        found.setdefault(str(tag["name"]), []).append(str(tag["content"]))
    return found


def foot(page: BeautifulSoup) -> dict[str, str]:
    """Return the links at the foot of a page by their words."""
    return {link.get_text(): str(link["href"]) for link in page.select(".extra_footer a")}


@pytest.mark.parametrize("name", SMALL_PAGES)
def test_every_link_inside_the_small_site_resolves(published: Path, name: str) -> None:
    assert pages.broken_links(published / name, published) == []


@pytest.mark.parametrize("name", SMALL_PAGES)
def test_a_page_with_an_address_can_be_shared(published: Path, name: str) -> None:
    page = pages.parse(published / name)
    said = meta(page)
    own = ADDRESS if name == "index.html" else ADDRESS + name
    assert canonical(page) == [own] == [said["og:url"]]
    title = page.h1.get_text().removesuffix("#")
    assert said["og:title"] == title
    assert said["og:description"] == said["description"] == ABOUT


def test_the_site_map_lists_each_page_once_and_nothing_else(published: Path) -> None:
    tree = ET.parse(published / "sitemap.xml")  # noqa: S314 - written by this test's own build
    found = [tag.text for tag in tree.iter() if tag.tag.endswith("}loc")]
    names = ["chapters/01_a.html", "chapters/about.html", "chapters/changelog.html"]
    assert found == [ADDRESS, *(ADDRESS + name for name in names)]
    robots = (published / "robots.txt").read_text(encoding="utf-8").splitlines()
    assert f"Sitemap: {ADDRESS}sitemap.xml" in robots
    assert not any(line.startswith("Disallow") for line in robots)


def test_the_page_for_lost_readers_works_from_any_depth(published: Path) -> None:
    """All that it loads or leads to inside the site starts at the root of the host."""
    page = pages.parse(published / "404.html")
    found = [str(tag["href"]) for tag in page.find_all(["a", "link"], href=True)]
    found += pages.loads(page) + [str(form["action"]) for form in page.select("form[action]")]
    inside = {url for url in found if not pages.is_foreign(url) and url[0] != "#"}
    root = urlsplit(ADDRESS).path
    assert inside
    assert [url for url in inside if not url.startswith((root, "data:"))] == []
    served = {url.removeprefix(root).partition("?")[0].partition("#")[0] for url in inside}
    assert [path for path in served if path and not (published / unquote(path)).is_file()] == []
    assert str(page.html["data-content_root"]) == root
    assert canonical(page) == []
    assert meta(page)["robots"] == "noindex"


def test_readers_of_a_published_page_can_answer(published: Path) -> None:
    offered = foot(pages.parse(published / "chapters/about.html"))
    assert offered["Suggest a change to this page"] == f"{REPOSITORY}/edit/main/chapters/about.md"
    offered = foot(pages.parse(published / "chapters/01_a.html"))
    report = urlsplit(offered["Report an error"])
    assert f"{REPOSITORY}/issues/new" == f"https://{report.netloc}{report.path}"
    filled = {name: texts[0] for name, texts in parse_qs(report.query).items()}
    assert filled["title"] == "Error in “What «a» & b mean”"
    assert filled["body"].startswith(
        f"Page: chapters/01_a.ipynb\n{ADDRESS}chapters/01_a.html\n\nWhat is wrong:"
    )


def test_a_change_of_a_notebook_is_described_and_not_typed_as_json() -> None:
    offered = theme.correction_links(REPOSITORY, "main", "a.ipynb", "A", "")
    assert "/edit/" not in offered["Suggest a change to this page"]
    assert "Page%3A+a.ipynb" in offered["Suggest a change to this page"]


def test_a_published_book_is_cited_with_its_address(published: Path) -> None:
    said = pages.parse(published / "chapters/about.html").article.get_text()
    assert f"[Computer software]. {ADDRESS}" in said
    assert f"url    = {{{ADDRESS}}}" in said


@pytest.mark.parametrize("name", SMALL_PAGES)
def test_a_published_page_can_be_collected_with_its_address(published: Path, name: str) -> None:
    said = cited(pages.parse(published / name))
    own = ADDRESS if name == "index.html" else ADDRESS + name
    assert said["citation_public_url"] == said["citation_fulltext_html_url"] == [own]
    assert "citation_pdf_url" not in said


def test_the_pdf_is_named_where_the_site_has_it(published: Path, tmp_path: Path) -> None:
    site = shutil.copytree(published, tmp_path / "html")
    for there in (True, True, False):
        (site / PDF).write_bytes(b"pdf") if there else (site / PDF).unlink()
        link(site)
        for name in SMALL_PAGES:
            page = pages.parse.__wrapped__(site / name)
            named = [f"{ADDRESS}{PDF}"] if there and name == "index.html" else []
            assert cited(page).get("citation_pdf_url", []) == named


@pytest.mark.parametrize("name", CONTENT)
def test_each_page_can_be_collected(site: Path, name: str) -> None:
    page = pages.parse(site / name)
    said = cited(page)
    record = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    book = record["title"]
    number = page.h1.select_one(".section-number")
    own = page.h1.get_text().removesuffix("#").removeprefix(number.get_text() if number else "")
    title = book if name == "index.html" else own
    assert said == {
        "citation_title": [title],
        "citation_author": [each["name"] for each in record["authors"]],
        "citation_publication_date": [record["date-released"].strftime("%Y/%m/%d")],
        "citation_language": ["en"],
        "citation_keywords": record["keywords"],
        **({} if name == "index.html" else {"citation_inbook_title": [book]}),
    }


def test_a_published_list_and_its_pages_name_their_addresses(published: Path) -> None:
    """So that they can be taken elsewhere, also in a chat."""
    listed = (published / "llms.txt").read_text(encoding="utf-8")
    for name in SMALL_PAGES:
        assert f"]({ADDRESS}{name}.md): {ABOUT}" in listed
        own = ADDRESS if name == "index.html" else ADDRESS + name
        assert f"]({own}), version" in (published / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["404.html", *CONTENT])
def test_without_an_address_no_page_names_one(site: Path, name: str) -> None:
    page = pages.parse(site / name)
    assert canonical(page) == []
    assert [said for said in meta(page) if said.startswith(("og:", "twitter:"))] == []
    said = {"How to cite", "Changes", "CC BY 4.0", "BSD 3-Clause"}
    markdown = set() if name == "404.html" else {"This page as Markdown"}
    assert set(foot(page)) == said | markdown


def test_every_page_says_what_it_is_about_and_no_two_the_same(site: Path) -> None:
    said = [meta(pages.parse(site / name)).get("description") for name in ALL]
    assert all(said)
    assert len(set(said)) == len(ALL)


def test_without_an_address_there_is_no_map(site: Path) -> None:
    assert not (site / "sitemap.xml").exists()
    assert not (site / "robots.txt").exists()


def test_the_page_for_lost_readers_leads_to_every_chapter_and_to_a_search(site: Path) -> None:
    page = pages.parse(site / "404.html")
    linked = {str(link["href"]) for link in page.article.find_all("a", href=True)}
    assert {name.replace(".ipynb", ".html") for name in CHAPTERS} | {"index.html"} <= linked
    (form,) = page.article.find_all("form")
    assert form["action"] == "search.html"
    assert form.find("input", attrs={"name": "q"})["id"] == form.label["for"]


def test_the_book_shows_how_to_cite_it_and_its_licenses(site: Path) -> None:
    said = pages.parse(site / "chapters" / "about.html").article.get_text()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert f"{cited['title']} (Version {cited['version']}) [Computer software]." in said
    assert "@misc{attnlibmaintainers2026," in said
    for name in ("NOTICE", "LICENSE", "LICENSE-TEXT"):
        assert (ROOT / name).read_text(encoding="utf-8").strip() in said


def test_the_guide_to_grading_is_a_page_whose_links_hold(site: Path) -> None:
    """Nothing of it is left out; test_every_link_inside_the_site_resolves looks at the links."""
    page = pages.parse(site / "chapters" / "grading.html")
    source = (ROOT / "grading" / "README.md").read_text(encoding="utf-8")
    headings = [line[3:] for line in source.splitlines() if line.startswith("## ")]
    assert [title.get_text().removesuffix("#") for title in page.article.find_all("h2")] == headings
    assert page.article.select('a[href="#the-sandbox"]')
    assert "grading.html" in str(pages.parse(site / "chapters" / "instructors.html").article)


@pytest.mark.parametrize("name", SMALL_PAGES)
def test_a_shared_link_shows_a_card(published: Path, name: str) -> None:
    said = meta(pages.parse(published / name))
    assert said["twitter:card"] == "summary_large_image"
    address = said["og:image"]
    assert address.startswith(ADDRESS), "a picture has to be named by its full address"
    file = published / address.removeprefix(ADDRESS)
    assert file.stat().st_size < 40_000
    with Image.open(file) as picture:
        assert (picture.format, picture.size) == ("PNG", (1146, 600))
    assert (said["og:image:width"], said["og:image:height"]) == ("1146", "600")
    assert said["og:image:alt"] == said["og:title"]


def test_cards_differ_by_page(published: Path) -> None:
    made = list((published / "_images" / "social_previews").iterdir())
    assert len({path.read_bytes() for path in made}) == len(made) == len(SMALL_PAGES) + 1
