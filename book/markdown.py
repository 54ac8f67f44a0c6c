"""The book's Markdown, read by the parser that builds the site.

`walk` yields what a reader sees of a text, words and formulas, and the comments that no reader
sees, each with its place in the source. Directives are opened on the way, at any depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: What Jupyter Book switches on, as far as the syntax goes.
EXTENSIONS = {"colon_fence", "deflist", "dollarmath", "tasklist"}
CODE = {"bibliography", "code", "code-block", "code-cell", "eval-rst", "raw", "toctree"}
"""Directives whose body is not prose."""
TARGETS = {"figure", "grid", "image", "include", "literalinclude", "math", *CODE}
"""Directives whose title is a path or a target, or not shown."""
FORMULAS = {"math_block", "math_block_label", "amsmath"}
"""Tokens of formulas on a line of their own."""
SHOWN_OPTIONS = {"alt", "caption", "header"}
HIDDEN_ROLES = {"sub", "sup", "subscript", "superscript"}
REFERENCES = {"doc", "download", "eq", "numref", "prf:ref", "ref"}
"""Roles that show a title or number of their target, as those do that begin with ``cite``."""

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

_HEAD = re.compile(r"\{(?P<name>[\w:.-]+)\}[ \t]*(?P<title>.*)")
_OPTION = re.compile(r":(?P<key>[\w-]+):[ \t]*(?P<value>.*)")
_TITLED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
_SKIPPED = r"(?:[\s>\\]|&#?\w+;)*"


@dataclass(frozen=True)
class Piece:
    """A run of words, a formula or a comment, and where each of its characters is in the source."""

    kind: str  # "words", "formula" or "comment"
    text: str
    places: range | list[int] = field(repr=False)


@dataclass(frozen=True)
class Directive:
    """The head of a directive: ``:::{name} title`` and its options."""

    name: str
    title: str
    options: dict[str, str]
    body: str


@dataclass(frozen=True)
class Block:
    """A heading, a directive or a labeled formula."""

    kind: str  # "heading", "equation" or the name of a directive
    title: str = ""
    label: str = ""
    body: str = ""  # of a directive, without its options
    level: int = 0  # of a heading
    options: dict[str, str] = field(default_factory=dict)
    lines: tuple[int, int] = (0, 0)  # the first, at a heading's label, and the one behind the last


@cache
def parser() -> MarkdownIt:
    """Return the parser that the site is built with."""
    return create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)


@lru_cache(maxsize=10_000)
def tokens(text: str) -> list[Token]:
    """Return the tokens of a Markdown text, which nobody changes: several walks share them."""
    return parser().parse(text)


def directive(token: Token) -> Directive | None:
    r"""Return what a fence opens if it is a directive, and nothing for a block of code.

    Examples
    --------
    >>> directive(tokens(":::{admonition} Look\n:class: note\nHere.\n:::")[0])
    Directive(name='admonition', title='Look', options={'class': 'note'}, body='Here.\n')
    """
    head = _HEAD.match(token.info.strip())
    if token.type not in {"fence", "colon_fence"} or head is None:
        return None
    lines = token.content.splitlines(keepends=True)
    options: dict[str, str] = {}
    while lines and (option := _OPTION.match(lines[0].strip())):
        options[option["key"]] = option["value"]
        lines.pop(0)
    return Directive(head["name"], head["title"].strip(), options, "".join(lines))


def shown(role: str, content: str) -> str:
    """Return the words that a role is sure to show: its title, if it has one.

    Examples
    --------
    >>> shown("term", "keys <key>"), shown("term", "key"), shown("doc", "02_variance")
    ('keys', 'key', '')
    """
    if role in HIDDEN_ROLES:
        return ""
    if titled := _TITLED.fullmatch(content):
        return titled["title"]
    return "" if role in REFERENCES or role.startswith("cite") else content


def blocks(text: str, *, deep: bool = False) -> Iterator[Block]:
    r"""Yield the headings, directives and labeled formulas of a text.

    If `deep`, those inside of directives too; their lines are then those of the inner text.

    Examples
    --------
    >>> text = "(sec-a)=\n## Look\n\n$$\nx\n$$ (eq-x)\n\n:::{note} At this\nA b.\n:::\n"
    >>> [(block.kind, block.title, block.label) for block in blocks(text)]
    [('heading', 'Look', 'sec-a'), ('equation', '', 'eq-x'), ('note', 'At this', '')]
    """
    parsed = tokens(text)
    label, above = "", 0
    for position, token in enumerate(parsed):
        lines = tuple(token.map or (0, 0))
        if token.type == "myst_target":
            label, above = token.content, lines[0]
            continue
        if token.type == "heading_open":
            title = COMMENT.sub("", parsed[position + 1].content).strip()
            first = above if label else lines[0]
            yield Block("heading", title, label, level=int(token.tag[1]), lines=(first, lines[1]))
        elif token.type == "math_block_label":
            yield Block("equation", label=token.info, body=token.content, lines=lines)
        elif opened := directive(token):
            own = opened.options.get("label", "")
            kind = "equation" if opened.name == "math" and own else opened.name
            title = COMMENT.sub("", opened.title).strip()
            yield Block(kind, title, own, opened.body, 0, opened.options, lines)
            if deep and opened.name not in TARGETS:
                yield from blocks(opened.body, deep=True)
        if token.type != "paragraph_close":
            label = ""


class _Walk:
    """One walk through a text: the source, and how far it has come."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.cursor = 0

    def places(self, content: str) -> range | list[int]:
        """Return where the characters of a content are, from the cursor on, and move behind it."""
        start = self.source.find(content, self.cursor)
        if start >= 0:
            self.cursor = start + len(content)
            return range(start, self.cursor)
        # the parser took out indentation, marks of quotations, backslashes or entities
        letters = [rf"(&#?\w+;|{re.escape(one)})" for one in content if not one.isspace()]
        found = re.compile(_SKIPPED.join(letters)).search(self.source, self.cursor)
        if found is None:
            raise ValueError(f"«{content[:60]}» is not in the text that it was read from")
        places, position, count = [], found.start(), 0
        for letter in content:
            if not letter.isspace():
                count += 1
                position = found.start(count)
            places.append(position)
            position += not letter.isspace()
        self.cursor = found.end()
        return places

    def piece(self, kind: str, content: str) -> Iterator[Piece]:
        """Yield a piece, unless there is nothing in it."""
        if content.strip():
            yield Piece(kind, content, self.places(content))

    def pass_by(self, content: str) -> None:
        """Move behind what no reader sees."""
        position = self.source.find(content, self.cursor)
        if position >= 0:
            self.cursor = position + len(content)

    def pass_target(self, target: str) -> None:
        """Move behind the target of a link if it is where the link is."""
        position = self.source.find("](", self.cursor)
        if position >= 0 and self.source[position + 2 :].lstrip(" <").startswith(target):
            self.cursor = position + 2
            self.pass_by(target)

    def blocks(self, parsed: list[Token]) -> Iterator[Piece]:
        """Yield the pieces of blocks."""
        for token in parsed:
            if token.type == "inline":
                yield from self.inline(token.children or [])
            elif token.type in FORMULAS:
                yield from self.piece("formula", token.content)
            elif token.type in {"fence", "colon_fence"}:
                yield from self.fence(token)
            elif token.type == "html_block":
                yield from self.html(token.content)

    def html(self, content: str) -> Iterator[Piece]:
        """Yield the comments in HTML, and its words."""
        for part in re.split(r"(<!--.*?-->)", content, flags=re.DOTALL):
            if part.startswith("<!--"):
                yield from self.piece("comment", part)
            else:
                for words in re.split(r"</?[A-Za-z][^<>]*>|&#?\w+;", part):
                    yield from self.piece("words", words.strip())

    def fence(self, token: Token) -> Iterator[Piece]:
        """Yield the pieces of a directive."""
        opened = directive(token)
        if opened is None:
            self.pass_by(token.content.strip())
            return
        if opened.name == "math":
            yield from self.piece("formula", opened.title)
        elif opened.name not in TARGETS:
            yield from self.blocks(tokens(opened.title))
        for key, value in opened.options.items():
            if key in SHOWN_OPTIONS:
                yield from self.piece("words", value)
            else:
                self.pass_by(value)
        if opened.name == "math":
            yield from self.piece("formula", opened.body)
        elif opened.name not in CODE:
            yield from self.blocks(tokens(opened.body))
        else:
            self.pass_by(opened.body.strip())

    def inline(self, children: list[Token]) -> Iterator[Piece]:
        """Yield the pieces of a line of text."""
        automatic = False
        targets: list[str] = []
        for child in children:
            if child.type == "link_open":
                automatic = child.markup in {"autolink", "linkify"}
                targets.append(str(child.attrs.get("href", "")))
            elif child.type == "link_close":
                automatic = False
                self.pass_target(targets.pop())
            elif child.type == "image":
                yield from self.inline(child.children or [])
                self.pass_target(str(child.attrs.get("src", "")))
            elif child.type == "html_inline":
                yield from self.html(child.content)
            elif child.type in {"math_inline", "math_inline_double", "math_single"}:
                yield from self.piece("formula", child.content)
            elif child.type == "myst_role":
                yield from self.role(child)
            elif child.type == "text" and not automatic:
                yield from self.piece("words", child.content)
            else:
                self.pass_by(child.content)

    def role(self, token: Token) -> Iterator[Piece]:
        """Yield what a role shows."""
        end = self.source.find(token.content, self.cursor) + len(token.content)
        if token.meta["name"] == "math":
            yield from self.piece("formula", token.content)
        elif words := shown(token.meta["name"], token.content):
            yield from self.piece("words", words)
        self.cursor = max(self.cursor, end)


def walk(text: str) -> Iterator[Piece]:
    """Yield the pieces of a Markdown text, in order.

    Examples
    --------
    >>> for piece in walk("It is 42%<!-- {x:.0%} --> at $d_k = 4$, as `code` says."):
    ...     print(piece.kind, repr(piece.text))
    words 'It is 42%'
    comment '<!-- {x:.0%} -->'
    words ' at '
    formula 'd_k = 4'
    words ', as '
    words ' says.'
    """
    yield from _Walk(text).blocks(tokens(text))


@dataclass(frozen=True)
class Role:
    """A role in a text, ``{name}`content` ``, and where it is."""

    name: str
    content: str
    start: int
    end: int


def roles(text: str, *, deep: bool = False) -> Iterator[Role]:
    """Yield the roles in a text, and if `deep` those inside of directives too.

    Examples
    --------
    >>> [(role.name, role.content) for role in roles("See {doc}`02_variance`, not `{doc}`.")]
    [('doc', '02_variance')]
    """
    cursor = 0
    for token in tokens(text):
        if token.type == "inline":
            for role in _line_roles(text, token.children or [], cursor):
                cursor = role.end
                yield role
        elif deep and (opened := directive(token)) and opened.name not in CODE:
            for inner in (token.info, token.content):
                start = text.find(inner, cursor)
                for role in roles(inner, deep=True):
                    yield replace(role, start=start + role.start, end=start + role.end)
                cursor = start + len(inner)


def _line_roles(text: str, children: list[Token], cursor: int) -> Iterator[Role]:
    for child in children:
        if child.type == "code_inline":
            cursor = text.find(child.content, cursor) + len(child.content)
        elif child.type == "myst_role":
            name = re.escape(f"{{{child.meta['name']}}}")
            content = r"\s+".join(map(re.escape, child.content.split()))
            found = re.compile(rf"{name}(`+)\s*{content}\s*\1").search(text, cursor)
            if found is None:
                message = f"the role {child.meta['name']} «{child.content}» is not in its text"
                raise ValueError(message)
            cursor = found.end()
            yield Role(child.meta["name"], child.content, *found.span())


def titled(content: str) -> tuple[str, str]:
    """Return the title and the target of a role's content; the title may be empty.

    Examples
    --------
    >>> titled("the text <02_variance>"), titled("02_variance")
    (('the text', '02_variance'), ('', '02_variance'))
    """
    found = _TITLED.fullmatch(content)
    return (" ".join(found["title"].split()), found["target"]) if found else ("", content)


def plain_words(text: str) -> list[str]:
    """Return the words of a text as they are written, formulas and markup included, no comments.

    Examples
    --------
    >>> plain_words("It is 4<!-- {d_k} --> at $x = 3$.")
    ['It', 'is', '4', 'at', '$x', '=', '3$.']
    """
    return COMMENT.sub("", text).split()
