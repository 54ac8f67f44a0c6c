"""The reference of ``attnlib``: its docstrings as pages that lead back to the chapters.

Nothing of the reference is written twice. A page names its modules by the directive
``attnlib-module``, and what they hold comes out of ``__all__``, the signatures and the docstrings
whenever the book is built:

* numpydoc sections become lists of definitions, which is nearly what they are already;
* the sentence that names a chapter, such as "Derived in the chapter on gradients.", stays plain
  text in a terminal, and on the page becomes a link to that chapter, above the parameters;
* types of NumPy, Matplotlib and the standard library link to their own documentation; any other
  name that is not in the book fails the build.
"""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import MISSING, fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, ForwardRef

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

from book.model import book_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from docutils.nodes import Element, Node
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PACKAGE = "attnlib"
PACKAGES = (PACKAGE, "attnbook")
"""Where modules are looked for that a page names."""
BOOK_CLASS = "in-the-book"
_ON = r"(?:on(?:\s+the)?|of(?=\s+exercises))\s+"
_TOPIC = r"\w+(?:\s+models?\b)?"
PHRASE = re.compile(
    rf"\b(?:chapter|page)(?:\s+{_ON}{_TOPIC}|s(?:,?(?:\s+and)?\s+{_ON}{_TOPIC}){{2,}})"
    r"|\blanding\s+page\b"
)
"""How a docstring names a page, or several."""
NAME = re.compile(rf"(?:(?:chapter|page)s?\s+)?{_ON}(?P<topic>{_TOPIC})|landing\s+page")
"""The words of it that name one page, by the name of its file without digits before it."""
HEADING = re.compile(r"^(?P<title>[A-Z]\w*(?: \w+)*)\n-{3,}\n", re.MULTILINE)
SENTENCE = re.compile(
    r"\A(?P<first>[^.]*\b(?:chapter|page)s?\b[^.]*\.)(?:\s+|\Z)(?P<rest>.*)\Z", re.DOTALL
)
DEFINITIONS = {"Parameters", "Returns", "Raises"}
NUMPY = "https://numpy.org/doc/stable/reference/"
PYTHON = "https://docs.python.org/3/library/"
TYPES = {
    "Any": f"{PYTHON}typing.html#typing.Any",
    "ArrayLike": f"{NUMPY}typing.html#numpy.typing.ArrayLike",
    "Callable": f"{PYTHON}collections.abc.html#collections.abc.Callable",
    "DTypeLike": f"{NUMPY}typing.html#numpy.typing.DTypeLike",
    "Figure": "https://matplotlib.org/stable/api/figure_api.html",
    "Generator": f"{NUMPY}random/generator.html",
    "Iterable": f"{PYTHON}collections.abc.html#collections.abc.Iterable",
    "Mapping": f"{PYTHON}collections.abc.html#collections.abc.Mapping",
    "PathLike": f"{PYTHON}os.html#os.PathLike",
    "Sequence": f"{PYTHON}collections.abc.html#collections.abc.Sequence",
    "float64": f"{NUMPY}arrays.scalars.html#numpy.float64",
    "floating": f"{NUMPY}arrays.scalars.html#numpy.floating",
    "ndarray": f"{NUMPY}generated/numpy.ndarray.html",
    "number": f"{NUMPY}arrays.scalars.html#numpy.number",
}
"""Where the types of signatures that are not the book's own are documented."""
_LOG = logging.getLogger(__name__)


def named_pages(text: str, known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return what a text says of pages of the book and the page, None for one that does not exist.

    `known` holds pages by topic, as :func:`known_pages` returns them.

    Examples
    --------
    >>> known = {"saturation": "/03_saturation", "gradients": "/04_gradients"}
    >>> named_pages("Used in the chapters on saturation and on gradients.", known)
    [('chapters on saturation', '/03_saturation'), ('on gradients', '/04_gradients')]
    >>> named_pages("Serves the chapter on cooking.", known)
    [('chapter on cooking', None)]
    """
    return [
        (_flowing(name[0]), _page(name, known))
        for phrase in PHRASE.finditer(text)
        for name in NAME.finditer(phrase[0])
    ]


def _page(name: re.Match[str], known: Mapping[str, str]) -> str | None:
    return known.get("_".join((name["topic"] or "index").split()))


def link_pages(text: str, known: Mapping[str, str]) -> str:
    """Turn the words that name pages of the book into links; others stay as they are.

    Examples
    --------
    >>> known = {"gradients": "/chapters/04_gradients"}
    >>> link_pages("Derived in the chapter on gradients.", known)
    'Derived in the :doc:`chapter on gradients </chapters/04_gradients>`.'
    """

    def link(name: re.Match[str]) -> str:
        target = _page(name, known)
        return name[0] if target is None else f":doc:`{_flowing(name[0])} <{target}>`"

    return PHRASE.sub(lambda phrase: NAME.sub(link, phrase[0]), text)


def reference_text(docstring: str, known: Mapping[str, str]) -> str:
    r"""Turn a numpydoc docstring into reStructuredText, with the names of chapters as links.

    Examples
    --------
    >>> print(reference_text("Say it.\n\nRaises\n------\nOSError\n    If not.\n", {}))
    Say it.
    <BLANKLINE>
    :Raises:
    <BLANKLINE>
        OSError
            If not.
    """
    opening, *rest = HEADING.split(docstring.strip())
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    parts = [opening.strip()]
    notes = sections.get("Notes", "")
    if sentence := SENTENCE.match(notes):
        parts.append(f".. rst-class:: {BOOK_CLASS}\n\n{_indented(_flowing(sentence['first']))}")
        sections["Notes"] = sentence["rest"]
    parts += [_section(title, body.strip()) for title, body in sections.items() if body.strip()]
    text = "\n\n".join(parts)
    return link_pages(re.sub(r"\[(\d+)\]_", r"[\1]", text), known)


def _flowing(text: str) -> str:
    return " ".join(text.split())


def _section(title: str, body: str) -> str:
    if title in DEFINITIONS:
        return f":{title}:\n\n{_indented(_definition_list(body))}"
    if title == "See Also":
        linked = re.sub(r"^(\S+) : ", r":py:obj:`\1`: ", body, flags=re.MULTILINE)
        return f".. seealso::\n\n{_indented(linked)}"
    if title == "References":
        # the initial of "A. Author" is no number of a list
        body = re.sub(r"^\.\. \[(\d+)\] ", r"\1. \\", body, flags=re.MULTILINE)
    return f".. rubric:: {title}\n\n{body}"


def _indented(text: str) -> str:
    return re.sub(r"^(?=.)", "    ", text, flags=re.MULTILINE)


def _definition_list(body: str) -> str:
    """Return terms and what is said of them; a term by itself gets an empty definition."""
    # the stars of `**gains` and `(*size, n)` are no emphasis
    escaped = re.sub(r"^\S.*", lambda term: term[0].replace("*", r"\*"), body, flags=re.MULTILINE)
    return re.sub(r"^(\S.*)(?!\n +\S)$", r"\1\n    ..", escaped, flags=re.MULTILINE)


def module_named(stem: str) -> ModuleType:
    """Import the module of a name, which is a whole one, or that in the first package that has it.

    Examples
    --------
    >>> module_named("scores").__name__, module_named("figures").__name__
    ('attnlib.scores', 'attnbook.figures')
    >>> module_named("attnbook.initialization").__name__
    'attnbook.initialization'
    """
    names = [stem] if is_ours(stem) else [f"{package}.{stem}" for package in PACKAGES]
    found = [name for name in names if find_spec(name)]
    if not found:
        raise ImportError(f"one of {' and '.join(names)} must exist, and none does")
    return importlib.import_module(found[0])


def is_ours(name: str) -> bool:
    """Say whether a dotted name is in one of the packages."""
    return name.partition(".")[0] in PACKAGES


def public_names(module: ModuleType) -> list[str]:
    """Return a module's public names in the order of the source, a package's in its own.

    Examples
    --------
    >>> from attnlib import attention
    >>> public_names(importlib.import_module("attnlib.attention"))[:2]
    ['AttentionGradients', 'causal_mask']
    """
    analyzer = ModuleAnalyzer.for_module(module.__name__)
    analyzer.analyze()
    return sorted(module.__all__, key=lambda name: analyzer.tagorder.get(name, 0))


def described_members(member_of: type) -> list[str]:
    """Return the members of a class that have something said of them.

    Those are public methods and properties with a docstring, and attributes with one below them,
    but not those that a class above has as well.

    Examples
    --------
    >>> from attnbook.training import GroupMeanTask
    >>> described_members(GroupMeanTask)
    ['n_tokens', 'token_width']
    """
    analyzer = ModuleAnalyzer.for_module(member_of.__module__)
    said = {name for scope, name in analyzer.find_attr_docs() if scope == member_of.__name__}
    said |= {
        name
        for name, member in vars(member_of).items()
        if isinstance(member, (property, FunctionType)) and inspect.getdoc(member)
    }
    above = {name for base in member_of.__mro__[1:] for name in vars(base)}
    return sorted(name for name in said - above if not name.startswith("_"))


def public_home(module: ModuleType) -> str:
    """Return the name under which a module's functions are imported: the package's, or its own."""
    package = importlib.import_module(PACKAGE)
    own = public_names(module)
    return PACKAGE if set(own) <= set(package.__all__) else module.__name__


def module_lines(module: ModuleType, known: Mapping[str, str]) -> list[str]:
    """Return the reStructuredText of a module's part of the reference."""
    home = public_home(module)
    own = public_names(module)
    stem = module.__name__.rpartition(".")[2]
    lines: list[str] = []
    if not inspect.isroutine(getattr(importlib.import_module(PACKAGE), stem, None)):
        # attnlib.softmax is a function: the module of that name has no entry of its own
        lines += [f".. py:module:: {module.__name__}", ""]
    lines += [f".. py:currentmodule:: {home}", ""]
    lines += [*reference_text(inspect.getdoc(module) or "", known).splitlines(), ""]
    lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in own), ""]
    for name in own:
        lines += [*_entry(home, name, getattr(module, name)), ""]
    return lines


def _entry(home: str, name: str, member: Any) -> list[str]:
    if inspect.isclass(member):
        lines = [f".. autoclass:: {home}.{name}"]
        if members := described_members(member):
            lines += [f"   :members: {', '.join(members)}", "   :member-order: bysource"]
        return lines
    if inspect.isfunction(member):
        return [f".. autofunction:: {home}.{name}"]
    return [f".. autodata:: {home}.{name}", "   :no-value:"]


class _Generated(SphinxDirective):
    """A directive whose content is worked out."""

    def parsed(self, lines: list[str], source: str) -> list[Node]:
        """Parse reStructuredText in the place of the directive."""
        container = nodes.container()
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, container)
        return container.children

    def module(self, stem: str) -> ModuleType:
        """Import a module, and note that the page depends on it and on what the package offers."""
        module = module_named(stem)
        for file in (module.__file__, importlib.import_module(PACKAGE).__file__):
            self.env.note_dependency(str(file))
        return module


class ModuleReference(_Generated):
    """``.. attnlib-module:: scores``: what a module says of itself, and all that it offers."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """Describe the module and its public names."""
        module = self.module(self.arguments[0])
        for member in (getattr(module, name) for name in public_names(module)):
            if inspect.isfunction(member):  # what decorates a plot adds to its docstring
                self.env.note_dependency(member.__code__.co_filename)
        return self.parsed(
            module_lines(module, known_pages(Path(self.env.srcdir))), str(module.__file__)
        )


class ModuleList(_Generated):
    """``.. attnlib-modules::``: one line for each module of the content, with a link."""

    has_content = True

    def run(self) -> list[Node]:
        """List the modules, each by the title of its section and its summary."""
        lines = []
        for stem in " ".join(self.content).split():
            module = self.module(stem)
            summary = (inspect.getdoc(module) or "").split("\n\n")[0]
            home = public_home(module)
            lines += [f":ref:`reference-{re.sub('[._]', '-', stem)}`, from ``{home}``"]
            lines += [f"   {_flowing(summary)}"]
        return self.parsed(lines, self.get_source_info()[0])


def known_pages(root: Path) -> dict[str, str]:
    """Return the pages with cells of the book in a folder, each by its topic.

    Examples
    --------
    >>> known = known_pages(Path())
    >>> known["index"], known["gradients"]
    ('/index', '/chapters/04_gradients')
    """
    return {page.topic: f"/{page.name}" for page in book_in(root).notebooks}


def render_docstring(
    app: Sphinx, _what: str, name: str, _member: Any, _options: Any, lines: list[str]
) -> None:
    """Replace a docstring that autodoc has found by its reStructuredText."""
    if not is_ours(name):
        return
    known, docstring = known_pages(Path(app.srcdir)), "\n".join(lines)
    for said, target in named_pages(docstring, known):
        if target is None:
            _LOG.warning("the docstring of %s names a page that is not there: %s", name, said)
    lines[:] = [*reference_text(docstring, known).splitlines(), ""]


def signature_text(member: Any) -> tuple[str, str | None]:
    """Return the parameters and the type of the result, with types as the source has them.

    Examples
    --------
    >>> from attnlib.scaling import soft_cap
    >>> signature_text(soft_cap)
    ('(cap: float)', 'ScalingRule')
    """
    signature = inspect.signature(member)
    made = {
        field.name: field.default_factory()
        for field in (fields(member) if is_dataclass(member) else ())
        if field.default_factory is not MISSING
    }
    parameters = [
        parameter.replace(
            annotation=_written(parameter.annotation),
            default=made.get(name, parameter.default),
        )
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    shown = signature.replace(parameters=parameters)
    arguments = stringify_signature(shown, show_return_annotation=False)
    return arguments, None if inspect.isclass(member) else _written(signature.return_annotation)


def _written(annotation: Any) -> Any:
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation


def render_signature(
    _app: Sphinx,
    what: str,
    name: str,
    member: Any,
    _options: Any,
    _arguments: str | None,
    _returns: str | None,
) -> tuple[str, str | None] | None:
    """Show types by the names that the source gives them, not by what these mean.

    Left to itself, autodoc shows ``(*args: Any, **kwargs: Any)`` for a figure, whose class
    traitlets alters, and ``<factory>`` where a dataclass makes its default.
    """
    if what in {"function", "class", "method"} and is_ours(name):
        return signature_text(member)
    return None


def link_type(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> Element | None:
    """Link a type, by the name that a source gives it, to where it is documented."""
    if node.get("refdomain") != "py" or node.get("reftype") != "class":
        return None
    name = node["reftarget"].rpartition(".")[2]
    if name in TYPES:
        return nodes.reference("", "", content, internal=False, refuri=TYPES[name])
    domain = env.get_domain("py")
    homes = {
        full
        for full, entry in domain.objects.items()
        if is_ours(full) and full.endswith(f".{name}") and not entry.aliased
    }
    if len(homes) != 1:
        return None
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, "class", homes.pop(), node, content
    )


def forget_helpers(_app: Sphinx, document: nodes.document) -> None:
    """Let each node know its page alone, and none of the documents that autosummary made for it.

    These hold the environment of the build, and 6 MB of it would be stored with each page, and
    loaded by each later build.
    """
    for node in document.findall():
        node.document = document


class Places:
    """Where the names of the reference are: a page that has not changed may link an old place."""

    def __init__(self) -> None:
        self._before: dict[str, Any] = {}

    def note(self, _app: Sphinx, env: BuildEnvironment, *_pages: set[str]) -> list[str]:
        """Note where the last build had them."""
        self._before = dict(env.domains["py"].objects)
        return []

    def follow(self, _app: Sphinx, env: BuildEnvironment) -> list[str]:
        """Have all pages written anew if one came, went or moved."""
        moved = self._before and self._before != env.domains["py"].objects
        return sorted(env.found_docs) if moved else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.autosummary")
    app.add_directive("attnlib-module", ModuleReference)
    app.add_directive("attnlib-modules", ModuleList)
    app.connect("autodoc-process-docstring", render_docstring)
    app.connect("autodoc-process-signature", render_signature)
    app.connect("missing-reference", link_type)
    app.connect("doctree-read", forget_helpers)
    places = Places()
    app.connect("env-get-outdated", places.note)
    app.connect("env-updated", places.follow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
