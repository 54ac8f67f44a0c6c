"""Read the attention classes of a release, and say what each multiplies q·k by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from attnbook.models.census.factors import HALF, HEADS, ONE, ROOT, Monomial
from attnbook.models.census.flow import Interpreter, Softmax, UnreadableError
from attnbook.models.census.wheels import Release, Source, fields

FLAGGED = "flagged"
OPTION = ROOT * Monomial.of("yarn_mscale").power(2)
WIDTH_OVER = Monomial.of("d").power(-1)
CONFIGURED = re.compile(r"config\.\w*(?:scalar|scale|scaling|multiplier|factor)\w*")
ATTENTION = re.compile("Attention|Attn|MLA$")
CANDIDATE = re.compile("Attention|Attn|MLA$|Pool|Swin|Layer$|Block$|Mixer|Decoder|Mapper")
#: A class with all of these may compute weights in a way that the program cannot follow.
SUSPECT = (
    re.compile("softmax", re.IGNORECASE),
    re.compile("matmul|bmm|einsum| @ |natten"),
    re.compile(r"query|\bq\b"),
)
SINK = re.compile(r"\bsinks?\b|s_aux|attn_sink|sink_proj")


@dataclass(frozen=True)
class Row:
    """What is read of one class."""

    family: str
    name: str
    file: str
    line: int
    kind: str
    expression: str
    times: float | None
    width: float | None
    extras: tuple[str, ...]
    digest: str

    def as_json(self) -> dict[str, Any]:
        """Return it as what is written to the file, without what is empty."""
        found = asdict(self) | {"extras": list(self.extras)}
        return {key: value for key, value in found.items() if value not in (None, [], "")}


def kind_of(factors: frozenset[Monomial], *, has_switches: bool = False) -> str:
    """Return the kind of a factor, or that a reader has to look.

    Examples
    --------
    >>> kind_of(frozenset({ROOT})), kind_of(frozenset({ONE})), kind_of(frozenset({ROOT, ONE}))
    ('root', 'none', 'flagged')
    """
    if factors == {ROOT}:
        return "root, switches" if has_switches else "root"
    if factors == {ONE}:
        return "none"
    if factors == {ROOT, OPTION}:
        return "root, YaRN option"
    if factors == {WIDTH_OVER}:
        return "1/d"
    if len(factors) == 1:
        (factor,) = factors
        others = [name for name, _ in factor.powers if name != "d"]
        width = [power for name, power in factor.powers if name == "d"]
        if (
            others
            and not width
            and HEADS.fullmatch(others[0])
            and factor.power(-2) == Monomial.of(others[0])
        ):
            return "another root"
        if others and all(CONFIGURED.fullmatch(name) for name in others) and factor.constant == 1:
            return "configured" if not width else "constant" if width == [-HALF] else FLAGGED
    return FLAGGED


def read_class(source: Source, name: str, family: str, defaults: Mapping[str, Any]) -> Row | None:
    """Return what one class does, or None if it computes no softmax of a product."""
    node = source.classes[name]
    interpreter = Interpreter(source, name, defaults)
    events: list[Softmax] = []
    try:
        events = interpreter.run()
        trouble = ""
    except UnreadableError as error:
        trouble = str(error)
    if not events:
        text = source.text(name)
        has_forward = any(getattr(item, "name", "") == "forward" for item in node.body)
        is_suspect = has_forward and all(pattern.search(text) for pattern in SUSPECT)
        if not ATTENTION.search(name) or not (trouble or is_suspect):
            return None
    factors = frozenset(factor.canonical() for event in events for factor in event.factors)
    kind = kind_of(factors, has_switches=bool(interpreter.switches)) if not trouble else FLAGGED
    extras = {
        "q/k norm": any(event.is_normed for event in events),
        "soft cap": any(event.is_capped for event in events),
        "sink": bool(SINK.search(source.text(name))),
    }
    return Row(
        family,
        name,
        source.path,
        node.lineno,
        kind,
        trouble or " | ".join(sorted(map(str, factors))) or "not found",
        *_times(factors, defaults, kind),
        tuple(extra for extra, is_there in extras.items() if is_there),
        source.digest(name) if kind == FLAGGED else "",
    )


def _times(
    factors: frozenset[Monomial], defaults: Mapping[str, Any], kind: str
) -> tuple[float | None, float | None]:
    """Return the factor by default as a multiple of 1/√d, and d where the two differ."""
    if kind == FLAGGED:
        return None, None
    if ROOT in factors:
        return 1.0, None
    known = {key: value for key, value in defaults.items() if value is not None}
    width = known.get("head_dim", known.get("d_kv"))
    if width is None and {"hidden_size", "num_attention_heads"} <= known.keys():
        width = known["hidden_size"] / known["num_attention_heads"]
    known["d"] = width
    values = {(factor * ROOT.power(-1)).value(known) for factor in factors}
    if len(values) > 1 or None in values:
        return None, None
    return round(values.pop(), 6), width


def read_release(release: Release, families: list[str] | None = None) -> Iterator[Row]:
    """Yield what is read of each attention class of a release, or of some of its folders."""
    for family, names in release.modeling.items():
        if families is not None and family not in families:
            continue
        configurations = release.sources(release.configuration.get(family, []))
        for source in release.sources(names):
            for name in source.classes:
                if not CANDIDATE.search(name):
                    continue
                wanted = re.search(r"config: (\w+Config)\b", source.text(name))
                defaults = fields(configurations, wanted[1]) if wanted else {}
                row = read_class(source, name, family, defaults or fields(configurations))
                if row is not None:
                    yield row
