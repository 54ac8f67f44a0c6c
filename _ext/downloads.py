"""Put the whole book into one file, and links to the files of the whole book on the site.

    python tools/downloads.py        packs _build/html into _build/why-attention-divides.zip

The pages in the archive open from a disk. It is put on the site as well, and so are the PDFs that
``tools/pdf.py`` makes; only then is any of them linked, in the line below the titles that
``_ext/launch_buttons.py`` writes. The archive holds the PDFs if there are any, but not itself, and
its pages do not link it. A page on a disk would show the text of a notebook that it links, not save
it, so the pages in the archive hold their notebooks.
"""

from __future__ import annotations

import html
import re
import shutil
import zipfile
from base64 import b64encode
from pathlib import Path
from urllib.parse import urlsplit

from _ext import offline

ROOT = Path(__file__).resolve().parent.parent

SITE = ROOT / "_build" / "html"
NAME = "why-attention-divides"
ARCHIVE, PDF, REFERENCE = f"{NAME}.zip", f"{NAME}.pdf", f"{NAME}-reference.pdf"
KINDS = {
    PDF: "The book as a PDF",
    REFERENCE: "Its reference as a PDF",
    ARCHIVE: "The site as a zip",
}
"""The files of the whole book, and the words of their links."""
# Of the builder alone: what it compares the next build with.
NOT_PACKED = {".buildinfo", ARCHIVE}
LINE = re.compile(r'(<nav class="launch-buttons"[^>]*?)( hidden)?(>\s*<ul>)(.*?)(</ul>)', re.DOTALL)
WHOLE = re.compile(r'<li class="whole">.*?</li>', re.DOTALL)
OWN_ADDRESS = re.compile(
    r'(?P<tag><meta name="citation_public_url" content="(?P<address>[^"]*)" />)'
    r'(?:\s*<meta name="citation_pdf_url"[^>]*>)?'
)
NOTEBOOK = re.compile(r'(<a href=")(?P<address>[^"]+\.ipynb)(" download="[^"]+">)')
# The first moment that a zip file can name: the same site gives the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)


def size_in_words(count: int) -> str:
    """Return a number of bytes in words.

    Examples
    --------
    >>> size_in_words(4_812_345), size_in_words(30_000)
    ('4.8 MB', '0.1 MB')
    """
    return f"{max(count / 1e6, 0.1):.1f} MB"


def with_links(page: str, root: str, files: dict[str, int]) -> str:
    """Return a page that links those files of the whole book that exist, given by their sizes.

    Examples
    --------
    >>> line = '<nav class="launch-buttons" hidden><ul></ul></nav>'
    >>> with_links(line, "../", {PDF: 2_000_000})[:56]
    '<nav class="launch-buttons"><ul><li class="whole"><a hre'
    """

    def fill_line(line: re.Match[str]) -> str:
        opening, _hidden, between, items, end = line.groups()
        items = WHOLE.sub("", items)
        for name, words in KINDS.items():
            if name in files:
                saved = " download" if name == ARCHIVE else ""  # a PDF opens in the browser
                link = f'<a href="{root}{html.escape(name)}"{saved}>{words}</a>'
                items += f'<li class="whole">{link} ({size_in_words(files[name])})</li>'
        return f"{opening}{'' if items else ' hidden'}{between}{items}{end}"

    return LINE.sub(fill_line, page, count=1)


def with_citation(page: str, files: dict[str, int]) -> str:
    """Return the first page with the address of the PDF, for what collects citations.

    Examples
    --------
    >>> page = '<meta name="citation_public_url" content="https://example.org/" />'
    >>> with_citation(page, {PDF: 2_000_000}).removeprefix(page).strip()
    '<meta name="citation_pdf_url" content="https://example.org/why-attention-divides.pdf" />'
    """

    def add_address(own: re.Match[str]) -> str:
        address = f'\n  <meta name="citation_pdf_url" content="{own["address"]}{PDF}" />'
        return own["tag"] + (address if PDF in files else "")

    return OWN_ADDRESS.sub(add_address, page, count=1)


def link(site: Path, names: set[str] | frozenset[str] = frozenset(KINDS)) -> None:
    """Make every page of a site link those of the named files that lie in the site."""
    files = {name: (site / name).stat().st_size for name in names if (site / name).is_file()}
    for path in sorted(site.rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        root = "../" * (len(path.relative_to(site).parts) - 1)
        written = with_links(page, root, files)
        if path == site / "index.html":
            written = with_citation(written, files)
        if written != page:
            path.write_text(written, encoding="utf-8")
    offline.update(site)


def with_notebook(page: str, folder: Path) -> str:
    """Return a page of a folder that holds the notebook which it offers, in the link."""

    def embed(link: re.Match[str]) -> str:
        path = folder / link["address"]
        if urlsplit(link["address"]).scheme or not path.is_file():
            return link[0]
        data = b64encode(path.read_bytes()).decode("ascii")
        return f"{link[1]}data:application/x-ipynb+json;base64,{data}{link[3]}"

    return NOTEBOOK.sub(embed, page)


def pack(site: Path, archive: Path) -> int:
    """Pack a site into an archive with one folder in it; return how many files it holds."""
    contents = {}
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        place, content = path.relative_to(site), path.read_bytes()
        # browsers run no Python on pages from a disk
        if path.name in NOT_PACKED or place.parts[0] == offline.PYTHON:
            continue
        if path.suffix == ".html":
            content = with_notebook(content.decode("utf-8"), path.parent).encode("utf-8")
        contents[place.as_posix()] = content
    if offline.WORKER in contents:  # which looks after the archive if a server sends it
        contents[offline.WORKER] = offline.worker(contents).encode("utf-8")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(f"{NAME}/{name}", EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            target.writestr(entry, content)
    return len(contents)


def make(site: Path) -> Path:
    """Pack a site beside its folder, and put the archive on the site."""
    archive = site.parent / ARCHIVE
    link(site, {PDF, REFERENCE})
    pack(site, archive)
    shutil.copyfile(archive, site / ARCHIVE)
    link(site)
    return archive
