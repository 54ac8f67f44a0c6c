"""The census reads factors as a reader would, flags what it cannot read, and fits its release."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from attnbook.models.census.factors import ROOT, Monomial
from attnbook.models.census.field import (
    BY_EYE,
    NOT_COUNTED,
    OutdatedError,
    classes,
    difference,
    refuse_outdated,
)
from attnbook.models.census.reading import FLAGGED, read_class
from attnbook.models.census.wheels import Release, Source, fields
from tools import census

DATA = json.loads((Path(__file__).parents[3] / "data" / "census.json").read_text("utf-8"))
EYE = json.loads(BY_EYE.read_text("utf-8"))
START = """
class Attention(nn.Module):
    def __init__(self, config: SomeConfig):
        super().__init__()
        self.config = config
        self.head_dim = config.hidden_size // config.num_attention_heads
        self.q_proj = nn.Linear(1, 1)
        self.k_proj = nn.Linear(1, 1)
        {init}

    def forward(self, hidden_states, position_ids=None, attention_scaling=None, mask=None):
        q = self.q_proj(hidden_states).view(1, 2).transpose(1, 2)
        k = self.k_proj(hidden_states).view(1, 2).transpose(1, 2)
        {forward}
"""
SDPA = "out = F.scaled_dot_product_attention(q, k, k)"
SOFT = "weights = F.softmax(scores + mask, dim=-1)"
INTERFACE = "out, _ = attention_interface(self, q, k, k, mask, scaling=self.scaling)"
DEFAULTS = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "multiplier": 1.0,
    "use_scale": True,
    "field": 4,
}
CASES = {
    "the default of a library": ("", SDPA, "root", 1),
    "divided, and once more by the library": (
        "",
        f"q = q / math.sqrt(self.head_dim); {SDPA}",
        "1/d",
        0.25,
    ),
    "a power": ("self.scaling = self.head_dim ** -0.5", INTERFACE, "root", 1),
    "by hand, after the product": (
        "",
        f"scores = torch.matmul(q, k.transpose(1, 2)) / math.sqrt(q.size(-1)); {SOFT}",
        "root",
        1,
    ),
    "half on each": (
        "s = self.head_dim ** -0.25; self.s = s",
        f"q = q * self.s; k = k * self.s; scores = q @ k.mT; {SOFT}",
        "root",
        1,
    ),
    "none": ("self.scaling = 1.0", INTERFACE, "none", 4),
    "nothing by hand": ("", f"scores = torch.einsum('a,b->ab', q, k); {SOFT}", "none", 4),
    "a field of the configuration": (
        "self.scaling = config.multiplier",
        INTERFACE,
        "configured",
        4,
    ),
    "the root of the number of heads": (
        "self.scaling = config.num_attention_heads ** -0.5",
        INTERFACE,
        "another root",
        2,
    ),
    "a switch that is on": (
        "self.scaling = self.head_dim ** -0.5 if config.scale_attn else 1.0",
        INTERFACE,
        "root, switches",
        1,
    ),
    "a factor that may be given": (
        "self.scaling = self.head_dim ** -0.5",
        f"q = q if attention_scaling is None else q * attention_scaling; {INTERFACE}",
        FLAGGED,
        None,
    ),
    "a learned factor in the key's linear map": (
        "self.scaling = self.head_dim ** -0.5; self.s = nn.Parameter(torch.ones(1))",
        f"k = self.k_proj(k * self.s); {INTERFACE}",
        FLAGGED,
        None,
    ),
    "the root of something that is no width": (
        "self.scaling = config.hidden_size ** -0.5",
        INTERFACE,
        FLAGGED,
        None,
    ),
    "a factor in arguments that are not seen": (
        "",
        INTERFACE.replace("scaling=self.scaling", "**given"),
        FLAGGED,
        None,
    ),
}


def read(init: str, forward: str) -> dict[str, Any]:
    text = START.format(init=init or "pass", forward=forward)
    defaults = DEFAULTS | {"scale_attn": True, "is_normed": False}
    row = read_class(Source("some.py", text), "Attention", "some", defaults)
    assert row is not None
    return row.as_json()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_class_is_read_as_a_reader_would(case: tuple[str, str, str, float | None]) -> None:
    init, forward, kind, times = case
    row = read(init, forward)
    assert row["kind"] == kind, row["expression"]
    assert row.get("times") == times


def test_a_class_without_a_softmax_of_a_product_is_left_out() -> None:
    text = START.format(init="pass", forward="weights = F.softmax(self.q_proj(mask), dim=-1)")
    assert read_class(Source("some.py", text), "Attention", "some", DEFAULTS) is None


def test_norms_and_caps_are_seen() -> None:
    row = read(
        "self.q_norm = LlamaRMSNorm(1); self.k_norm = LlamaRMSNorm(1)",
        "q = self.q_norm(q); k = self.k_norm(k); scores = q @ k.mT / math.sqrt(self.head_dim); "
        f"scores = torch.tanh(scores / 50) * 50; {SOFT}",
    )
    assert row["kind"] == "root"
    assert row["extras"] == ["q/k norm", "soft cap"]


NORMS = "self.q_norm = LlamaRMSNorm(1).to(dtype=x); self.k_norm = LlamaRMSNorm(1)"
NORMED_LAYERS = {
    "keys of another layer": (
        "q = self.q_norm(q)",
        "if self.is_shared: k = given[0]",
        "else: k = self.k_norm(k)",
    ),
    "some layers": (
        "if hasattr(self, 'q_norm'):",
        "    q = self.q_norm(q)",
        "    k = self.k_norm(k)",
    ),
    "each turned by itself": (
        "q = apply_rotary_pos_emb(self.q_norm(q), cos, sin)",
        "k = apply_rotary_pos_emb(self.k_norm(k), cos, sin)",
    ),
    "an option that is off": (
        "if self.config.is_normed:",
        "    q, k = self.q_norm(q), self.k_norm(k)",
    ),
    "the query alone": ("q = self.q_norm(q)",),
}


@pytest.mark.parametrize("case", NORMED_LAYERS)
def test_norms_are_seen_in_some_layers(case: str) -> None:
    """Layers that take their keys from elsewhere, or go another way, leave the norm to others."""
    init = f"{NORMS}; self.scaling = self.head_dim ** -0.5"
    forward = "\n        ".join((*NORMED_LAYERS[case], INTERFACE))
    row = read(init, forward)
    assert row["kind"] == "root"
    is_normed = case not in ("an option that is off", "the query alone")
    assert row.get("extras", []) == ["q/k norm"] * is_normed


def test_defaults_are_those_of_the_class_that_is_named() -> None:
    text = "class A:\n    x: int = 1\nclass B(A):\n    def __init__(self, x=2, y=None): pass\n"
    source = Source("configuration.py", text)
    assert fields([source], "A") == {"x": 1}
    assert fields([source], "B") == {"x": 2, "y": None}
    assert fields([source]) == {"y": None}


def test_powers_cancel() -> None:
    d = Monomial.of("config.hidden_size") * Monomial.of("config.num_attention_heads").power(-1)
    assert d.power(-1).power(ROOT.powers[0][1] * -1).canonical() == ROOT
    assert str(d * d.power(-1)) == "1"


def small_release(tmp_path: Path, text: str) -> Release:
    import zipfile

    path = tmp_path / "transformers-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("transformers/models/some/modeling_some.py", text)
    return Release(path)


def test_what_was_decided_by_eye_is_refused_when_the_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = START.format(init="self.scaling = config.hidden_size ** -0.5", forward=INTERFACE)
    digest = Source("", text).digest("Attention")
    entry = {"file": "some/modeling_some.py", "name": "Attention", "digest": digest}
    entry |= {"kind": "another root", "words": "the model's width", "expression": "hidden_size"}
    table = tmp_path / "by_eye.json"
    table.write_text(json.dumps({"classes": [entry]}), encoding="utf-8")
    monkeypatch.setattr("attnbook.models.census.field.BY_EYE", table)

    (row,) = classes(small_release(tmp_path, text))
    assert row["kind"] == "another root"
    refuse_outdated([row])
    (row,) = classes(small_release(tmp_path, text.replace("-0.5", "-0.25")))
    assert row["kind"] == FLAGGED
    with pytest.raises(OutdatedError, match="some Attention"):
        refuse_outdated([row])


def test_the_digest_follows_what_a_class_uses() -> None:
    text = (
        "class A(nn.Module):\n    def f(self): return g()\ndef g(): return {}\ndef h(): return {}\n"
    )
    one, other, unused = (
        Source("", text.format(*numbers)).digest("A") for numbers in ((1, 1), (2, 1), (1, 2))
    )
    assert one != other
    assert one == unused


def test_the_counts_are_those_of_the_families() -> None:
    assert Counter(entry["kind"] for entry in DATA["families"]) == DATA["counts"]
    named = {row["family"] for row in DATA["classes"] if row["kind"] != NOT_COUNTED}
    assert {entry["family"] for entry in DATA["families"]} == named
    assert FLAGGED not in DATA["counts"]


def test_the_targets_of_the_reading_hold() -> None:
    read_by_eye = [row for row in DATA["classes"] if "words" in row]
    assert len(DATA["families"]) >= 430
    assert len(read_by_eye) / len(DATA["classes"]) <= 0.08
    assert len(EYE["sample"]["wrong"]) / len(EYE["sample"]["names"]) <= 0.01


def test_the_sample_is_of_classes_that_the_program_reads() -> None:
    addresses = sorted(
        f"{row['file']}:{row['name']}" for row in DATA["classes"] if "words" not in row
    )
    names = EYE["sample"]["names"]
    drawn = random.Random(EYE["sample"]["seed"])  # noqa: S311
    assert names == drawn.sample(addresses, len(names))


def test_differences_are_told_in_words() -> None:
    newer = json.loads(json.dumps(DATA))
    newer["families"][0]["kind"] = "none"
    gone = newer["families"].pop()["family"]
    newer["families"].append({"family": "some", "kind": "learned", "words": "a number"})
    first = DATA["families"][0]
    assert difference(DATA, newer) == [
        f"{first['family']}: {first['kind']} is now none",
        "some is new: learned (a number)",
        f"{gone} is gone",
    ]


@pytest.mark.proof("census")
def test_ten_families_are_what_the_file_says() -> None:
    every = sorted({row["family"] for row in DATA["classes"]})
    families = random.Random().sample(every, 10)  # noqa: S311
    release = Release(census.wheel(f"transformers=={census.RELEASE}"))
    expected = [row for row in DATA["classes"] if row["family"] in families]
    assert classes(release, families) == expected, families


@pytest.mark.proof("census")
def test_the_file_equals_a_fresh_run() -> None:
    assert census.main(["--check"]) == 0
