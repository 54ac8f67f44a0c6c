"""The book's Markdown in plain Markdown, which JupyterLab, Colab and others show as it is meant.

A box becomes a quotation with its title, a term its words, a reference the number that the site
shows, another page a link. What has no such form is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat

from book.markdown import COMMENT, Block, blocks, directive, roles, titled, tokens
from book.model import Book, BookError, Page, Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

MATH = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
AT_START = re.compile(r"(?:^|[.?!]|\n\s*(?:[-*]|\d+\.)|\n\s*\n)\s*$")
REFERENCES = {"eq", "ref", "numref", "prf:ref"}
ONLY_MYST = {"myst_role", "myst_target", "myst_line_comment", "myst_block_break"}


class PlainError(Exception):
    """A text that has no plain form."""


def capital(words: str) -> str:
    """Return words with a capital at their head, that of a link too.

    Examples
    --------
    >>> capital("figure 2.1"), capital("[chapter 2](02.ipynb)")
    ('Figure 2.1', '[Chapter 2](02.ipynb)')
    """
    return re.sub(r"^(\[?)([a-z])", lambda match: match[1] + match[2].upper(), words)


def quoted(text: str) -> str:
    r"""Return a text as a quotation.

    A formula is put on one line: notebooks take formulas out of the text before they look for
    quotations, and would set the marks of the lines as part of it.

    Examples
    --------
    >>> print(quoted("So $a +\nb$ holds.\n\nSee."))
    > So $a + b$ holds.
    >
    > See.
    """
    text = MATH.sub(lambda formula: formula[0].replace("\n", " "), text.strip())
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


class Plain:
    """Writes the pages of a book in plain Markdown, seen from which chapters are in `folder`."""

    def __init__(self, book: Book, folder: str = "") -> None:
        self.book = book
        self.folder = folder
        self.own: Page | None = None
        """The page that is written; what is on it is referred to without a link."""

    def notebook(self, page: Page) -> nbformat.NotebookNode:
        """Return the notebook of a page, of which there are several kinds."""
        raise NotImplementedError

    def notebooks(self, pages: Iterable[Page]) -> dict[str, str]:
        """Return the texts of some pages' notebooks by the names of their files."""
        texts = {}
        for page in pages:
            try:
                texts[page.path.name] = nbformat.writes(self.notebook(page)) + "\n"
            except (PlainError, BookError) as error:
                raise PlainError(f"{page.name}.ipynb: {error}") from error
        return texts

    def page(self, name: str, words: str = "") -> str:
        """Return a link to a page of the book: to a chapter by its number, or by its title."""
        page = self.book.page(name)
        words = words or (f"chapter {page.number}" if page.number else page.title)
        return f"[{words}]({self.folder}{page.path.name})"

    def reference(self, target: Target) -> str:
        """Return words for a label: the number that the site shows, and the chapter."""
        words = f"“{target.title}”" if not target.number else f"{target.kind} {target.number}"
        if target.kind == "equation":
            words = f"({target.number})"
        return words if target.page is self.own else f"{words} of {self.page(target.page.name)}"

    def cited(self, keys: str, form: str) -> str:
        """Return a citation in words, in the text ("t") or in brackets."""
        works = []
        for key in map(str.strip, keys.split(",")):
            if key not in self.book.works:
                raise PlainError(f"references.bib has no {key}")
            names, year = self.book.works[key]
            works.append(f"{names} ({year})" if form == "t" else f"{names}, {year}")
        return ", ".join(works) if form == "t" else f"({'; '.join(works)})"

    def role(self, name: str, content: str) -> str:
        """Return what a role shows."""
        title, target = titled(content)
        kind, _, form = name.partition(":")
        if name in REFERENCES:
            if target not in self.book.targets:
                raise PlainError(f"no page has the label {target}")
            return title or self.reference(self.book.targets[target])
        if kind == "term":
            return title or " ".join(target.split())
        if kind == "cite":
            return self.cited(content, form)
        if name == "math":
            return f"${content}$"
        if name == "doc":
            return self.page(target, title)
        if name == "download":
            return f"[{title or target.rsplit('/', 1)[-1]}]({target})"
        raise PlainError(f"the role {{{name}}} has no form in plain Markdown")

    def pointing(self, words: str, content: str) -> str:
        """Return what a reference in brackets says, such as "(proof)", with where it leads."""
        target = self.book.targets.get(titled(content)[1])
        place = self.reference(target) if target else words
        return place if place.startswith(words) else f"{words}: {place}"

    def box(self, box: Block) -> str:
        """Return a directive as a quotation that begins with its title."""
        if box.kind == "solution-end":
            return ""
        if box.kind == "solution-start":
            return f"**Solution to {self.numbered(self.book.targets[box.title])}**"
        if box.kind == "equation":
            return self.equation(box)
        number = self.numbered(self.book.targets[box.label]) if box.label else ""
        if box.kind == "exercise" and number:
            heading = f"**{capital(number)}**"
        elif box.kind == "admonition":
            heading = f"**{self.text(box.title)}**"
        elif box.kind == "prf:proof":
            heading = "*Proof.*"
        elif box.kind.startswith("prf:") and number:
            heading = f"**{capital(number)}: {self.text(box.title)}**"
        else:
            raise PlainError(f"the box {{{box.kind}}} has no form in plain Markdown")
        return quoted(f"{heading}\n\n{self.text(box.body)}")

    def equation(self, box: Block) -> str:
        """Return a formula that has a label, with its number."""
        return f"$$\n{box.body.strip()} \\tag{{{self.book.targets[box.label].number}}}\n$$"

    @staticmethod
    def numbered(target: Target) -> str:
        """Return what a target is, with its number."""
        return f"{target.kind} {target.number}"

    def inline(self, text: str) -> str:
        """Return lines of text with their roles in words."""
        made, end = "", 0
        for role in roles(text):
            made += text[end : role.start]
            words = self.role(role.name, role.content)
            if role.name == "ref" and made.endswith("(") and text[role.end :].startswith(")"):
                words = self.pointing(words, role.content)
            made += capital(words) if AT_START.search(made) else words
            end = role.end
        return made + text[end:]

    def text(self, text: str) -> str:
        """Return a text of the book without what only Jupyter Book understands.

        Examples
        --------
        >>> Plain(Book()).text("Take the {term}`keys<key>` of {doc}`03_saturation`, 4<!-- {n} -->.")
        'Take the keys of [chapter 3](03_saturation.ipynb), 4.'
        """
        text = COMMENT.sub("", text).strip()
        lines = text.splitlines(keepends=True)
        made, done = [], 0
        for block in blocks(text):
            start, end = block.lines
            made.append(self.inline("".join(lines[done:start])))
            if block.kind == "heading":
                own = lines[start:end]
                made.append(self.inline("".join(own[-1:] if block.label else own)))
            else:
                made.append(f"{self.box(block)}\n")
            done = end
        made.append(self.inline("".join(lines[done:])))
        plain = re.sub(r"\n{3,}", "\n\n", "".join(made)).strip()
        self.refuse(plain)
        return plain

    def refuse(self, plain: str) -> None:
        """Raise an error if something is left that only Jupyter Book understands."""
        for token in tokens(plain):
            for part in (token, *(token.children or ())):
                if self.is_raw(part):
                    shown = part.content or part.info or part.attrs
                    raise PlainError(f"«{shown}» has no plain form")

    def is_raw(self, token: Token) -> bool:
        """Say whether others than Jupyter Book would show a piece of text as it is typed."""
        return token.type in ONLY_MYST or directive(token) is not None
