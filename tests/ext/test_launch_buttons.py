"""Launch buttons: links that are right, work without scripts, and are never dead."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import v4

from _ext import downloads, launch_buttons
from _ext.downloads import ARCHIVE, NAME, PDF
from book import reader_notebooks as reader
from book import stills
from book.model import Book
from tests.book import notebooks
from tests.book.building import run
from tests.book.notebooks import ROOT, notebook, write_contents
from tests.ext import pages
from tools.downloads import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ADDRESS = "https://github.com/someone/some-book"
NOTEBOOKS = [name for name in notebooks.NOTEBOOKS if name.startswith("chapters/")]
VARIABLES = ("REPOSITORY_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY")


def links(page: BeautifulSoup) -> dict[str, str]:
    """Return what the line of launch buttons says and where it leads."""
    return {link.get_text(): str(link["href"]) for link in page.select("nav.launch-buttons a")}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_chapter_offers_its_notebook(
    site: Path, readers_notebooks: dict[str, str], name: str
) -> None:
    page = pages.parse(site / name.replace(".ipynb", ".html"))
    (line,) = page.select("nav.launch-buttons")
    assert line.find_previous("h1"), "it is below the title"
    (link,) = line.select("a[download]:not(.whole a)")
    assert link["download"] == Path(name).name
    saved = site / "chapters" / str(link["href"])
    made = nbformat.read(saved, as_version=4)
    wanted = nbformat.reads(readers_notebooks[Path(name).name], as_version=4)
    assert [cell.source for cell in made.cells[2:]] == [cell.source for cell in wanted.cells[2:]]
    shown = [each.data["text/plain"] for cell in made.cells for each in cell.get("outputs", ())]
    assert not [words for words in shown if words.startswith(stills.DRAW)], "the build drew it"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a copy of the book's texts."""
    (tmp_path / "grading").mkdir()
    included = ("CHANGELOG.md", "grading/README.md")
    for name in ("_toc.yml", "references.bib", "index.ipynb", *included):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    return tmp_path


@pytest.mark.proof("pages")
def test_notebooks_of_an_earlier_build_are_taken_only_where_nothing_changed(own: Path) -> None:
    kept = own / "kept.json"

    def follow() -> set[str]:
        """Build after a change, and name the notebooks that it changed."""
        before = json.loads(kept.read_text()) if kept.is_file() else {}
        made = launch_buttons.notebooks(Book(own), ADDRESS, kept)
        assert made == reader.notebooks(Book(own), ADDRESS)
        after = json.loads(kept.read_text())
        return {name for name in after if after[name] != before.get(name)}

    assert follow() == {"index.ipynb", *(Path(name).name for name in NOTEBOOKS)}
    assert follow() == set()
    chapter = own / "chapters" / "05_divisor.ipynb"
    chapter.write_text(chapter.read_text().replace(" the ", "  the ", 1))
    assert follow() == {chapter.name}
    toc = (own / "_toc.yml").read_text()
    lines = [f"      - file: chapters/{name}\n" for name in ("08_training", "09_temperature")]
    assert "".join(lines) in toc
    (own / "_toc.yml").write_text(toc.replace("".join(lines), "".join(lines[::-1])))
    assert len(follow()) > 10, "other chapters name these two by their numbers"
    poisoned = {name: made | {"text": ""} for name, made in json.loads(kept.read_text()).items()}
    kept.write_text(json.dumps(poisoned))
    again = launch_buttons.notebooks(Book(own), ADDRESS, kept)
    assert {*again.values()} == {""}, "nothing is made twice"


@pytest.mark.proof("pages")
def test_what_makes_notebooks_makes_them_anew(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = launch_buttons.surroundings(Book(own), ADDRESS)
    assert launch_buttons.surroundings(Book(own), "") != before
    for name in (
        "book/plain_markdown.py",
        "book/markdown.py",
        "book/stubs.py",
        "book/reader_notebooks.py",
    ):
        maker = own / "code" / name
        maker.parent.mkdir(parents=True, exist_ok=True)
        maker.write_text("0\n")
        monkeypatch.setattr(launch_buttons, "ROOT", own / "code")
        first = launch_buttons.surroundings(Book(own), ADDRESS)
        maker.write_text("1\n")
        assert launch_buttons.surroundings(Book(own), ADDRESS) != first, name


# A book of two pages, built as a fork's CI would build it and as a reader would at home.
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["_ext.book_site", "_ext.launch_buttons"]
project = html_title = "Made up"
html_theme = "sphinx_book_theme"
html_theme_options = {{"repository_url": "", "use_download_button": False}}
html_copy_source = False
"""


def built(folder: Path, environment: dict[str, str]) -> dict[str, BeautifulSoup]:
    """Build the small book and return its pages."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    book, site = folder / "book", folder / "site" / "html"
    command = (sys.executable, "-m", "sphinx", "-q", "-W", book, site)
    run(*command, env=kept | environment | {"PYTHONPATH": str(ROOT)})
    names = ("index", "chapters/01_puzzle", "chapters/summary")
    return {name: pages.parse.__wrapped__(site / f"{name}.html") for name in names}


def offered_cell(folder: Path) -> str:
    """Return the first cell of code of the notebook that the small book offers."""
    path = folder / "site" / "html" / "notebooks" / "01_puzzle.ipynb"
    return nbformat.read(path, as_version=4).cells[1].source


def write_book(book: Path, text: str = "# Title") -> None:
    """Write the sources of the small book, one of its pages with a notebook of some text."""
    (book / "chapters").mkdir(parents=True)
    (book / "conf.py").write_text(CONF, encoding="utf-8")
    toc = "Start\n=====\n\n.. toctree::\n\n   chapters/01_puzzle\n   chapters/summary\n"
    (book / "index.rst").write_text(toc, encoding="utf-8")
    for name in ("01_puzzle", "summary"):
        (book / "chapters" / f"{name}.rst").write_text("Title\n=====\n", encoding="utf-8")
    nbformat.write(notebook(text), book / "chapters" / "01_puzzle.ipynb")
    (book / "chapters" / "summary.md").write_text("# Title\n", encoding="utf-8")
    write_contents(book, "01_puzzle", pages=["summary"])


@pytest.mark.proof("pages")
def test_with_an_address_every_way_leads_there_and_without_none_is_dead(tmp_path: Path) -> None:
    write_book(tmp_path / "book")
    download = {"Download the notebook": "../notebooks/01_puzzle.ipynb"}

    at_home = built(tmp_path, {})
    assert links(at_home["chapters/01_puzzle"]) == download
    assert links(at_home["index"]) == {}
    assert at_home["index"].select_one("nav.launch-buttons[hidden]"), "an empty line is not shown"
    assert 'REPOSITORY = ""' in offered_cell(tmp_path)

    actions = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": ADDRESS.removeprefix("https://github.com/"),
    }
    published = built(tmp_path, actions)
    binder = "https://mybinder.org/v2/gh/someone/some-book/main?urlpath=lab%2Ftree%2Fnotebooks%2F"
    on_colab = "https://colab.research.google.com/github/someone/some-book/blob/colab/notebooks/"
    assert links(published["chapters/01_puzzle"]) == download | {
        "Run on Binder": f"{binder}01_puzzle.ipynb",
        "Run on Colab": f"{on_colab}01_puzzle.ipynb",
    }
    assert links(published["index"]) == {
        "Start on Binder": f"{binder}01_puzzle.ipynb",
        "Start on Colab": f"{on_colab}01_puzzle.ipynb",
    }
    assert f'REPOSITORY = "{ADDRESS}"' in offered_cell(tmp_path)
    assert not published["chapters/summary"].select("nav.launch-buttons")
    assert not any("mybinder" in str(page) or "colab" in str(page) for page in at_home.values())


def test_a_notebook_is_offered_anew_when_it_or_its_page_has_changed(tmp_path: Path) -> None:
    env = SimpleNamespace(all_docs={"chapters/01_puzzle": 1})
    html = SimpleNamespace(format="html")
    app = SimpleNamespace(outdir=tmp_path, doctreedir=tmp_path, srcdir=ROOT, builder=html, env=env)
    path = tmp_path / "notebooks" / "01_puzzle.ipynb"

    def offered(text: str) -> str:
        notebooks = {path.name: nbformat.writes(notebook(text))}
        launch_buttons.offer_notebooks(notebooks, app, None)
        return path.read_text(encoding="utf-8")

    assert "# One" in offered("# One")
    path.write_text("kept", encoding="utf-8")
    assert offered("# One") == "kept"
    assert "# Two" in offered("# Two")
    path.write_text("kept", encoding="utf-8")
    env.all_docs["chapters/01_puzzle"] = 2  # read again, so that its plots may be others
    assert "# Two" in offered("# Two")
    path.unlink()
    assert "# Two" in offered("# Two")


@pytest.mark.proof("pages")
def test_a_chapter_that_has_no_plain_form_fails_the_build(tmp_path: Path) -> None:
    write_book(tmp_path / "book", "# Title\n\n{unknown}`x`")
    with pytest.raises(AssertionError, match=r"chapters/01_puzzle\.ipynb: .*no form"):
        built(tmp_path, {})


def test_another_host_than_github_gets_no_link_to_colab() -> None:
    found = launch_buttons.buttons(
        "chapters/01_puzzle", "../", "https://gitlab.com/some/book", "v1", is_start=False
    )
    assert [button.words for button in found] == ["Run on Binder", "Download the notebook"]
    assert found[0].address.startswith("https://mybinder.org/v2/gl/some%2Fbook/v1?")


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    """Return a site of two pages and a notebook."""
    site = tmp_path / "html"
    (site / "chapters").mkdir(parents=True)
    (site / "notebooks").mkdir()
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("√dₖ", id="one")])
    nbformat.write(notebook, site / "notebooks" / "01_made.ipynb")
    way = launch_buttons.Button(
        "Download the notebook", "../notebooks/01_made.ipynb", "01_made.ipynb"
    )
    for name, found in (("index", []), ("chapters/01_made", [way])):
        page = f"<!DOCTYPE html><h1>Title</h1>{launch_buttons.line(found)}<p>Text</p>"
        (site / f"{name}.html").write_text(page, encoding="utf-8")
    (site / ".buildinfo").touch()
    return site


def offered(site: Path, name: str) -> dict[str, str]:
    return links(BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser"))


def test_files_of_the_whole_book_are_linked_where_they_exist(small_site: Path) -> None:
    before = (small_site / "index.html").read_bytes()
    downloads.link(small_site)
    assert (small_site / "index.html").read_bytes() == before
    (small_site / PDF).write_bytes(b"pdf")
    archive = downloads.make(small_site)
    assert archive == small_site.parent / ARCHIVE
    for page, root in (("index.html", ""), ("chapters/01_made.html", "../")):
        found = offered(small_site, page)
        assert found["The book as a PDF"] == f"{root}{PDF}"
        assert found["The site as a zip"] == f"{root}{ARCHIVE}"
        assert pages.broken_links(small_site / page, small_site) == []
    assert "hidden" not in (small_site / "index.html").read_text(encoding="utf-8")
    for name in (PDF, ARCHIVE):
        (small_site / name).unlink()
    downloads.link(small_site)
    assert (small_site / "index.html").read_bytes() == before


def test_the_archive_does_not_hold_itself_and_is_the_same_each_time(small_site: Path) -> None:
    (small_site / PDF).write_bytes(b"pdf")
    first = downloads.make(small_site).read_bytes()
    assert downloads.make(small_site).read_bytes() == first
    with zipfile.ZipFile(small_site / ARCHIVE) as archive:
        assert archive.testzip() is None
        assert {name.removeprefix(f"{NAME}/") for name in archive.namelist()} == {
            "chapters/01_made.html",
            "index.html",
            "notebooks/01_made.ipynb",
            PDF,
        }
        archive.extractall(small_site.parent)
    unpacked = small_site.parent / NAME
    assert offered(unpacked, "index.html") == {"The book as a PDF": PDF}
    notebook = offered(unpacked, "chapters/01_made.html")["Download the notebook"]
    kind, _, data = notebook.partition(";base64,")
    assert kind == "data:application/x-ipynb+json"
    assert json.loads(base64.b64decode(data))["cells"][0]["source"] == ["√dₖ"]


def test_without_scripts_a_notebook_is_saved_from_the_disk_under_its_name(
    small_site: Path, browser: Browser
) -> None:
    with zipfile.ZipFile(downloads.make(small_site)) as archive:
        archive.extractall(small_site.parent)
    context = browser.new_context(accept_downloads=True, java_script_enabled=False)
    page = context.new_page()
    page.goto((small_site.parent / NAME / "chapters" / "01_made.html").as_uri())
    with page.expect_download() as saved:
        page.get_by_text("Download the notebook").click()
    assert saved.value.suggested_filename == "01_made.ipynb"
    wanted = (small_site / "notebooks" / "01_made.ipynb").read_bytes()
    assert Path(saved.value.path()).read_bytes() == wanted
    context.close()


def test_an_archive_of_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], tmp_path) == 1
    assert "make book" in capsys.readouterr().err
