"""The committed measurement of trained models: whole, consistent, and as the page draws it."""

from __future__ import annotations

import json
import math
import re
from itertools import product

import numpy as np
import pytest

from attnbook.figures import HeadsField
from attnbook.trained_models import heads_field
from attnbook.trained_models.computed import BY_WIDTH, NAMES, NOT_DIVIDED, Model, law_ratios, models
from attnbook.trained_models.measuring.scales import multiples
from attnbook.trained_models.measuring.wheels import WHEELS
from tests.book.notebooks import ROOT

pytestmark = pytest.mark.not_for_mutants

FILE = ROOT / "data" / "trained_models.json"
TABLE = json.loads(FILE.read_text(encoding="utf-8"))
SHAPES = {
    "smollm2": (30, 9, 64),
    "rxnmapper": (12, 8, 32),
    "antiberty": (8, 8, 64),
    "ocr": (2, 8, 15),
}


def test_there_are_enough_heads_of_enough_models() -> None:
    assert list(TABLE) == list(NAMES) == list(SHAPES)
    assert sum(len(model) for model in models().values()) >= 400
    assert TABLE["smollm2"]["inputs"]["tokens"] >= 20_000
    assert FILE.stat().st_size < 100_000


@pytest.mark.parametrize("name", SHAPES)
class TestEachModel:
    def test_its_own_attention_was_reproduced(self, name: str) -> None:
        assert 0 < TABLE[name]["own attention"] <= 1e-5

    def test_every_head_was_measured(self, name: str) -> None:
        layers, heads, d_k = SHAPES[name]
        assert TABLE[name]["d_k"] == d_k
        columns = TABLE[name]["heads"]
        places = list(zip(columns["layer"], columns["head"], strict=True))
        assert places == list(product(range(layers), range(heads)))
        assert {len(values) for values in columns.values()} == {layers * heads}
        assert sum(TABLE[name]["verdicts"].values()) == layers * heads

    def test_its_columns_agree_with_each_other(self, name: str) -> None:
        """Inequalities that hold for every row, and by Jensen's for their means."""
        heads = {key: np.array(values) for key, values in TABLE[name]["heads"].items()}
        for words in ("", " of the rest"):
            top, positions = heads["top" + words], heads["positions" + words]
            assert (positions * top >= 1 - 1e-3).all()
            assert (positions <= heads["keys"] * 1.001).all()
            assert (heads["sharp" + words] * 0.9 <= top).all()
            # uncorrelated lengths would give the product, and no correlation doubles it
            law = heads["law" + words]
            assert (law < 2 * heads["query"] * heads["key"] / TABLE[name]["d_k"]).all()
        assert (heads["first"] <= heads["top"] * 1.001).all()

    def test_its_scales_are_those_of_the_rule_and_differences_add_up(self, name: str) -> None:
        tried, d_k = TABLE[name]["multiples"], SHAPES[name][2]
        assert tried[:9] == pytest.approx(multiples(d_k), abs=1e-4)
        at = tried.index(1)
        for measured in TABLE[name]["quality"].values():
            means = np.array(measured["mean"])
            assert {len(values) for values in measured.values()} == {len(tried)}
            largest = 1e-3 * np.abs(means).max()
            assert measured["difference"] == pytest.approx(means - means[at], abs=largest)
            assert measured["paired error"][at] == measured["difference"][at] == 0
            others = np.delete(np.array(measured["difference"]), at)
            errors = np.delete(np.array(measured["paired error"]), at)
            assert ((errors > 0) | (others == 0)).all()

    def test_its_wheels_are_those_that_are_fetched(self, name: str) -> None:
        assert TABLE[name]["wheels"]
        for wheel, kept in TABLE[name]["wheels"].items():
            assert kept == WHEELS[wheel]._asdict()
            assert re.fullmatch("[0-9a-f]{64}", kept["sha256"])
            assert re.fullmatch(r"[\w-]+==[\d.]+", kept["requirement"])


def test_the_factor_is_the_root_and_the_package_agrees_with_its_own_tests() -> None:
    assert TABLE["ocr"]["constants"] == pytest.approx([15**-0.5] * 2, rel=1e-3)
    assert TABLE["rxnmapper"]["off published confidence"] < 1e-5
    assert TABLE["rxnmapper"]["quality"]["reactions of the tests mapped"]["mean"][4] == 1


@pytest.mark.parametrize(
    ("name", "which", "components", "deviation"),
    [
        ("smollm2", "0.0417", 576, 576**-0.5),
        ("smollm2", "0.02", 576, 0.02),
        ("rxnmapper", "", 256, 0.02),
        ("antiberty", "", 512, 0.02),
    ],
)
def test_an_untrained_head_starts_where_its_weights_say(
    name: str, which: str, components: int, deviation: float
) -> None:
    """Tokens of unit variance give the product; tokens that are alike give somewhat less."""
    untrained = TABLE[name]["untrained"]
    starts = untrained[which] if which else untrained
    assert len(starts) == len(Model(name))
    assert 0.5 < np.median(starts) / (components * deviation**2) < 1.05


def test_a_quality_is_found_by_the_name_of_a_rule() -> None:
    model = Model("ocr")
    quality, *_ = model.table["quality"]
    kept = model.table["quality"][quality]
    for rule, place in ((NOT_DIVIDED, 8), (BY_WIDTH, 1), (1, 4), (0, 0)):
        measured = model.at(quality, rule)
        assert measured.mean == kept["mean"][place]
        assert measured.paired == kept["paired error"][place]
    with pytest.raises(ValueError, match="not enough values"):
        model.at(quality, 3)


def test_the_law_is_compared_over_all_heads() -> None:
    ratios, correlation = law_ratios(list(models().values()))
    columns = [TABLE[name]["heads"] for name in NAMES]
    spread, law = (
        [value for column in columns for value in column[key + " of the rest"]]
        for key in ("spread", "law")
    )
    assert list(ratios) == [one / other for one, other in zip(spread, law, strict=True)]
    logs = np.log([spread, law])
    logs -= logs.mean(axis=1, keepdims=True)
    assert correlation == pytest.approx(
        logs[0] @ logs[1] / math.sqrt(logs[0] @ logs[0] * (logs[1] @ logs[1]))
    )


class TestHeadsField:
    @pytest.mark.parametrize("rest", [False, True])
    @pytest.mark.parametrize("name", NAMES)
    def test_each_head_is_a_dot_at_its_place(self, name: str, rest: bool) -> None:
        figure = HeadsField(model=NAMES[name], rest=rest)
        outlines = dict(re.findall(r'<path class="(\w+)" d="([^"]*)"', figure.picture()))
        dots = np.array(re.findall(r"M([\d.-]+) ([\d.-]+)h0", outlines["heads"]), float)
        left, top = dots.T / [[heads_field.WIDE], [heads_field.HIGH]]
        words = " of the rest" * rest
        columns = TABLE[name]["heads"]
        assert 0.05 * 400**left == pytest.approx(np.array(columns["spread" + words]), rel=1e-3)
        assert 400 ** (1 - top) == pytest.approx(np.array(columns["positions" + words]), rel=1e-3)
        others = outlines["others"].count("h0")
        assert others + len(dots) == sum(len(model) for model in models().values())
        assert outlines["layer"].count("h0") == SHAPES[name][1]

    def test_all_dots_lie_within_the_picture(self) -> None:
        for name, rest in product(NAMES, (False, True)):
            x, y = np.transpose(heads_field.points(name, rest))
            assert ((x > 0) & (x < heads_field.WIDE)).all()
            assert ((y >= 0) & (y <= heads_field.HIGH)).all()

    def test_the_chosen_head_is_named_and_a_missing_layer_is_the_last(self) -> None:
        columns = TABLE["rxnmapper"]["heads"]
        figure = HeadsField(model="RXNMapper", layer=30, head=9)
        said = re.fullmatch(
            r"RXNMapper, layer 12, head 8: spread ([\d.]+), ([\d.]+) effective positions\.",
            figure.words(),
        )
        assert float(said[1]) == pytest.approx(columns["spread"][-1], abs=0.051)
        assert float(said[2]) == pytest.approx(columns["positions"][-1], abs=0.51)

    def test_data_come_late_and_hold_every_head(self) -> None:
        late = json.loads(heads_field.data())
        assert list(late) == list(NAMES.values())
        for name, words in NAMES.items():
            assert late[words]["values"][1][0] == TABLE[name]["heads"]["spread of the rest"]
