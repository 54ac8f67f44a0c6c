"""Give each page one style sheet, inside the page, of the rules that can apply to it.

The theme and the extensions bring a dozen sheets of half a megabyte; a page uses a twentieth of
that. A rule goes if its selector names a class, an identifier, an element or an attribute that
neither the page nor any of its scripts knows. Then go custom properties, fonts and animations that
nothing mentions any more.

A sheet is read once and kept as lists, by the digest of its text: what a build does with it is
comparing names.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import tinycss2

from book.files import atomic_write

# Elements that a browser adds, and those that every page has.
ALWAYS = frozenset({"html", "head", "body", "tbody", "*"})
# Where a sheet lies is forgotten here; the page that takes it in puts its way to the root instead.
SITE = "site:/"
_ANY_OF = frozenset({"is", "where", "has", "matches", "-webkit-any", "-moz-any"})
_GROUPS = frozenset({"media", "supports", "layer", "container", "starting-style"})
# What the theme's sheets hold and no browser reads.
_NO_VALUE = re.compile(r'background-color:none|transition:.*".*')
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_PROPERTY = re.compile(r"--[\w-]+")
_TAG = re.compile(
    r"<([A-Za-z][\w-]*)((?:\s+[^\s=<>\"']+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*)"
)
_ATTRIBUTE = re.compile(r"([^\s=<>\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")
_TEXT_OF = re.compile(r"(<(script|style)\b[^>]*>).*?(</\2>)", re.DOTALL | re.IGNORECASE)
_SHEET = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"]+)"[^>]*>[ \t]*\n?')
_STYLES = re.compile(r"(?:style=\"|font-family)[^\">]*", re.IGNORECASE)
_URL = re.compile(rf"url\(\"?{SITE}([^\")]*)\"?\)")

Rule = list[Any]
"""What a sheet holds: ["style", selectors, declarations], ["group", prelude, rules],
["font", declarations], ["frames", name, text] or ["text", text]."""


@dataclass
class Vocabulary:
    """The names that selectors may use on one page."""

    names: dict[str, set[str]]
    """By kind: "tag", "class", "id" and "attribute"."""
    words: set[str]
    """Names in scripts, which may become any of the above."""
    text: str
    """Where custom properties, fonts and animations can be mentioned beside the sheets."""

    def knows(self, kind: str, name: str) -> bool:
        """Say whether a name of some kind can occur."""
        if name in self.words:
            return True
        if kind == "tag":
            name = name.lower()
        return name in self.names[kind] or (kind == "tag" and name in ALWAYS)


def vocabulary(page: str, scripts: str) -> Vocabulary:
    """Return the names that a page uses outside of scripts and sheets, and those of its scripts."""
    names: dict[str, set[str]] = {kind: set() for kind in ("tag", "class", "id", "attribute")}
    for tag, attributes in set(_TAG.findall(_TEXT_OF.sub(r"\1\3", page))):
        names["tag"].add(tag.lower())
        for name, *values in _ATTRIBUTE.findall(attributes):
            names["attribute"].add(name.lower())
            if name == "class":
                names["class"].update("".join(values).split())
            elif name == "id":
                names["id"].add("".join(values))
    words = set(_NAME.findall(scripts))
    # dataset.someName is the attribute data-some-name
    words |= {
        f"data-{re.sub('[A-Z]', lambda capital: f'-{capital[0].lower()}', word)}" for word in words
    }
    return Vocabulary(names, words, f"{page}\n{scripts}")


# Reading


def _split(tokens: Iterable[Any]) -> Iterator[list[Any]]:
    """Return the parts between the commas."""
    part: list[Any] = []
    for token in tokens:
        if token.type == "literal" and token.value == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _needs(tokens: list[Any]) -> list[Any]:
    """Return the names that a selector cannot do without.

    Each is [kind, name]; ["any", alternatives] asks for one of several lists.
    """
    needs: list[Any] = []
    before = ""
    for token in tokens:
        if token.type == "ident" and before == ".":
            needs.append(["class", token.value])
        elif token.type == "ident" and before != ":":
            needs.append(["tag", token.value])
        elif token.type == "hash":
            needs.append(["id", token.value])
        elif token.type == "[] block":
            names = [part.value for part in token.content if part.type == "ident"]
            if names:
                needs.append(["attribute", names[0]])
        elif token.type == "function" and token.lower_name in _ANY_OF:
            needs.append(["any", [_needs(part) for part in _split(token.arguments)]])
        before = token.value if token.type == "literal" else ""
    return needs


def _tight(tokens: Iterable[Any]) -> str:
    """Return tokens without comments, each run of white space as one blank."""
    parts = [
        tinycss2.ast.WhitespaceToken(0, 0, " ") if token.type == "whitespace" else token
        for token in tokens
        if token.type != "comment"
    ]
    return tinycss2.serialize(parts).strip()


def _placed(tokens: list[Any], folder: str) -> list[Any]:
    """Return tokens with the addresses of files as seen from the root of the site."""
    for place, token in enumerate(tokens):
        if token.type == "url":
            tokens[place] = _address(token.value, folder)
        elif token.type == "function" and token.lower_name == "url":
            inside = [part.value for part in token.arguments if part.type == "string"]
            tokens[place] = _address(inside[0], folder) if inside else token
        elif token.type == "function":
            _placed(token.arguments, folder)
    return tokens


def _address(url: str, folder: str) -> Any:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc or not parts.path:
        text = url.replace('"', "%22")
    else:
        text = SITE + posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
        text += f"#{parts.fragment}" if parts.fragment else ""
    return tinycss2.parse_one_component_value(f'url("{text}")')


def _declarations(content: list[Any], folder: str) -> list[list[str]] | str:
    """Return [name, value] for each declaration, or the text where rules are nested in it."""
    found: list[list[str]] = []
    for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if node.type == "declaration":
            value = _tight(_placed(node.value, folder)) + ("!important" if node.important else "")
            if _NO_VALUE.fullmatch(f"{node.lower_name}:{value}"):
                continue
            found.append([node.name if node.name.startswith("--") else node.lower_name, value])
        elif node.type in {"qualified-rule", "at-rule"}:
            return _tight(_placed(content, folder))
    return found


def parse(text: str, folder: str, read: Callable[[str], str] | None = None) -> list[Rule]:
    """Read a sheet that lies in a folder of the site; `read` returns one that it imports."""
    nodes = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    return _rules(nodes, folder, read)


def _rules(nodes: list[Any], folder: str, read: Callable[[str], str] | None) -> list[Rule]:
    rules: list[Rule] = []
    for node in nodes:
        if node.type == "qualified-rule":
            selectors = [[_tight(part), _needs(part)] for part in _split(node.prelude)]
            rules.append(["style", selectors, _declarations(node.content, folder)])
        elif node.type == "at-rule":
            rules.extend(_at_rule(node, folder, read))
    return rules


def _at_rule(node: Any, folder: str, read: Callable[[str], str] | None) -> list[Rule]:
    name, prelude = node.lower_at_keyword, _tight(node.prelude)
    if name == "import" and read is not None:
        source = next(part.value for part in node.prelude if part.type in {"string", "url"})
        path = posixpath.normpath(posixpath.join(folder, urlsplit(source).path))
        return parse(read(path), posixpath.dirname(path), read)
    if name == "charset":
        return []
    if name in _GROUPS and node.content is not None:
        inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
        return [["group", f"@{name} {prelude}".strip(), _rules(inner, folder, read)]]
    if name == "font-face":
        return [["font", _declarations(node.content, folder)]]
    body = "" if node.content is None else f"{{{_tight(_placed(node.content, folder))}}}"
    whole = f"@{name} {prelude}".strip() + (body or ";")
    return [["frames", prelude, whole] if name.endswith("keyframes") else ["text", whole]]


# Purging


def _possible(needs: list[Any], known: Vocabulary) -> bool:
    return all(
        any(_possible(alternative, known) for alternative in what)
        if kind == "any"
        else known.knows(kind, what)
        for kind, what in needs
    )


def _changed(rules: list[Rule], change: Callable[[Rule], Rule | None]) -> list[Rule]:
    """Return rules with each style as it is changed; what is empty then goes."""
    kept: list[Rule] = []
    for rule in rules:
        left: Rule | None = rule
        if rule[0] == "style":
            left = change(rule)
        elif rule[0] == "group":
            inner = _changed(rule[2], change)
            left = ["group", rule[1], inner] if inner else None
        if left:
            kept.append(left)
    return kept


def _matching(rules: list[Rule], known: Vocabulary) -> list[Rule]:
    """Return the rules that can apply to the page."""
    seen: dict[str, bool] = {}

    def matching(rule: Rule) -> Rule | None:
        for text, needs in rule[1]:
            if text not in seen:
                seen[text] = _possible(needs, known)
        selectors = [text for text, _ in rule[1] if seen[text]]
        return ["style", selectors, rule[2]] if selectors and rule[2] else None

    return _changed(rules, matching)


def _flat(rules: list[Rule]) -> Iterator[Rule]:
    for rule in rules:
        if rule[0] == "group":
            yield from _flat(rule[2])
        else:
            yield rule


def _used_properties(rules: list[Rule], text: str) -> set[str]:
    """Return the custom properties that something reads, directly or through others."""
    used = set(_PROPERTY.findall(text))
    through: dict[str, set[str]] = {}
    for rule in _flat(rules):
        if rule[0] in {"frames", "text"} or isinstance(rule[-1], str):
            used.update(_PROPERTY.findall(rule[-1]))
        else:
            for name, value in rule[-1]:
                read = set(_PROPERTY.findall(value)) if "--" in value else set()
                if name.startswith("--"):
                    through.setdefault(name, set()).update(read)
                else:
                    used |= read
    waiting = list(used)
    while waiting:
        for name in through.get(waiting.pop(), set()) - used:
            used.add(name)
            waiting.append(name)
    return used


def _trimmed(rules: list[Rule], used: set[str]) -> list[Rule]:
    """Return the rules without custom properties that nothing reads."""

    def trimmed(rule: Rule) -> Rule | None:
        if isinstance(rule[2], str):
            return rule
        read = [pair for pair in rule[2] if not pair[0].startswith("--") or pair[0] in used]
        return ["style", rule[1], read] if read else None

    return _changed(rules, trimmed)


def _said(rules: list[Rule]) -> str:
    """Return every value of the rules, in which fonts and animations are named."""
    values = []
    for rule in _flat(rules):
        if rule[0] == "style":
            values.extend([rule[2]] if isinstance(rule[2], str) else [pair[1] for pair in rule[2]])
    return "\n".join(values)


def _mentioned(rule: Rule, said: str, words: set[str]) -> bool:
    if rule[0] == "frames":
        return rule[1] in words
    if rule[0] == "font":
        # a name without quotes may have escapes, as in Font Awesome\\ 7 Free
        family = dict(rule[1]).get("font-family", "").strip("\"'").replace("\\", "")
        return family in said.replace("\\", "")
    return True


def purge(rules: list[Rule], known: Vocabulary) -> list[Rule]:
    """Return the rules that can matter on a page."""
    kept = _matching(rules, known)
    kept = _trimmed(kept, _used_properties(kept, known.text))
    said = _said(kept)
    words = known.words | set(_NAME.findall(said))
    said += "\n".join(_STYLES.findall(known.text))
    return [rule for rule in kept if _mentioned(rule, said, words)]


# Writing


def _block(declarations: list[list[str]] | str) -> str:
    if isinstance(declarations, str):
        return declarations
    return ";".join(f"{name}:{value}" for name, value in declarations)


def write(rules: list[Rule], root: str = "") -> str:
    """Return rules as a sheet; `root` is the way from the page to the root of the site."""
    parts = []
    for rule in rules:
        if rule[0] == "style":
            parts.append(f"{','.join(rule[1])}{{{_block(rule[2])}}}")
        elif rule[0] == "group":
            parts.append(f"{rule[1]}{{{write(rule[2], root)}}}")
        elif rule[0] == "font":
            parts.append(f"@font-face{{{_block(rule[1])}}}")
        else:
            parts.append(rule[-1])
    return _URL.sub(lambda found: f'url("{root}{found[1]}")', "".join(parts))


# Pages


class Library:
    """The sheets of a site, each read once and kept for later builds."""

    def __init__(self, site: Path, kept: Path) -> None:
        self.site, self.kept = site, kept
        self._known: dict[str, list[Rule]] = {}
        self._version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()

    def rules(self, path: str) -> list[Rule]:
        """Return the rules of a sheet, given its way from the root of the site."""
        if path not in self._known:
            text = self._text(path)
            digest = hashlib.sha256(f"{self._version}\0{path}\0{text}".encode()).hexdigest()
            stored = self.kept / f"{digest[:24]}.json"
            if stored.exists():
                self._known[path] = json.loads(stored.read_text(encoding="utf-8"))
            else:
                self._known[path] = parse(text, posixpath.dirname(path), self._text)
                atomic_write(stored, json.dumps(self._known[path]).encode())
        return self._known[path]

    def _text(self, path: str) -> str:
        return (self.site / path).read_text(encoding="utf-8")


def place(
    page: str,
    name: str,
    scripts: str,
    library: Library,
    mend: Callable[[list[Rule]], list[Rule]] = list,
) -> str:
    """Return a page with one sheet inside in place of those that it links.

    `name` is the page's file, from the root of the site; `mend` changes the rules that are left,
    say to bring fonts with them.
    """
    folder = posixpath.dirname(name)
    links = [
        posixpath.normpath(posixpath.join(folder, urlsplit(url).path))
        for url in _SHEET.findall(page)
    ]
    if not links:
        return page
    rules = [rule for link in links for rule in library.rules(link)]
    # a sheet cannot be left by what it says
    root = posixpath.relpath(".", folder or ".") + "/" if folder else ""
    sheet = write(mend(purge(rules, vocabulary(page, scripts))), root).replace("</", "<\\/")
    first = True

    def replaced(_found: re.Match[str]) -> str:
        nonlocal first
        instead, first = (f"<style>{sheet}</style>\n" if first else ""), False
        return instead

    return _SHEET.sub(replaced, page)
