"""The figure of trained heads: its weights are the file's, and NumPy finds PyTorch's losses."""

from __future__ import annotations

import gzip
import html
import itertools
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from attnbook import figures
from attnbook.drawing.base import own_source, style_source
from attnbook.language_model import trained_head as figure
from attnbook.language_model.model import FILE, LINES, MODELS, TrainedModel, digest, trained_model

pytestmark = pytest.mark.not_for_mutants

HEADS = list(itertools.product(range(2), range(2)))


def pieces(model: TrainedModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the text that is kept beside the weights, and the same one character on."""
    [numbers] = model.pieces([model.about["own text"]])
    length = model.about["context"]
    return numbers[:-1].reshape(-1, length), numbers[1:].reshape(-1, length)


class TestTheFile:
    def test_it_is_small_and_has_its_digest(self) -> None:
        assert FILE.stat().st_size <= 250_000
        with np.load(FILE) as stored:
            arrays = {name: stored[name] for name in stored.files if name != "about"}
        about = trained_model("divided").about
        assert digest(arrays) == about["sha256"]
        changed = {name: values.copy() for name, values in arrays.items()}
        changed["divided weights"][0] ^= 1
        assert digest(changed) != about["sha256"]
        assert {about[name] for name in ("seed", "torch", "command")}
        assert len(about["text"]["sha256"]) == 64

    def test_each_model_has_its_best_rate_and_a_seed_that_chose_none(self) -> None:
        about = trained_model("divided").about
        assert about["seed"] not in about["tuning seeds"]
        for found in about["models"].values():
            rates = {float(rate): loss for rate, loss in found["tuning"].items()}
            assert found["rate"] == min(rates, key=rates.__getitem__)
            assert min(rates) < found["rate"] < max(rates), "a neighbor on both sides"


@pytest.mark.parametrize("name", MODELS)
class TestNumPyFindsWhatPyTorchFound:
    def test_as_trained(self, name: str) -> None:
        model = trained_model(name)
        given, following = pieces(model)
        wanted = model.found["own text"]["as trained"]
        assert_allclose(model.read(given).loss(following), wanted, atol=2e-5)

    def test_with_heads_switched(self, name: str) -> None:
        model = trained_model(name)
        given, following = pieces(model)
        wanted = model.found["own text"]
        every = model.read(given, HEADS).loss(following)
        assert_allclose(every, wanted["all switched"], atol=2e-5)
        for place, loss in zip(HEADS, wanted["one head switched"], strict=True):
            assert_allclose(model.read(given, [place]).loss(following), loss, atol=2e-5)


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="name is 'both'"):
        TrainedModel("both")


def test_the_largest_weights_are_those_of_the_figure() -> None:
    found = trained_model("undivided").largest_weights(LINES[:2])
    given = figures.TrainedHead(line=LINES[1], head="layer 2, head 1", model="undivided")
    assert found.shape == (2, 2, 2, 20)
    assert_allclose(found[1, 1, 0], given.weights[4:].max(axis=1), atol=0.012)


class TestTheFigure:
    @pytest.mark.parametrize("name", MODELS)
    @pytest.mark.parametrize("switched", [False, True])
    def test_its_weights_are_those_of_queries_and_keys(self, name: str, switched: bool) -> None:
        """By a plain loop; scores are kept in parts of 200, of which the root of d_k makes 0.04."""
        divided = (name == "divided") is not switched
        reading = trained_model(name).read(trained_model(name).pieces(LINES))
        for (line, text), (layer, head) in itertools.product(list(enumerate(LINES))[::4], HEADS):
            shown = figures.TrainedHead(
                line=text, head=figure.HEADS[2 * layer + head], model=name, switched=switched
            ).weights
            queries, keys = reading.queries[layer, line, head], reading.keys[layer, line, head]
            for place in (0, 7, 23):
                logits = [float(queries[place] @ keys[seen]) for seen in range(place + 1)]
                if divided:
                    logits = [logit / 8 for logit in logits]
                powers = [np.exp(logit - max(logits)) for logit in logits]
                wanted = [power / sum(powers) for power in powers] + [0.0] * (23 - place)
                assert_allclose(shown[place], wanted, atol=0.002 if divided else 0.012)

    def test_the_module_reads_the_same_scores(self) -> None:
        digits = [figure.DIGITS.index(digit) for digit in json.loads(figure.data())["scores"]]
        numbers = [64 * a + b for a, b in zip(digits[::2], digits[1::2], strict=True)]
        rows = iter(numbers)
        for model in MODELS:
            below = figure.kept(model).below
            for head, line in itertools.product(range(4), range(12)):
                for place in range(24):
                    seen = [next(rows) for _ in range(place + 1)]
                    assert seen == below[head, line, place, : place + 1].tolist()
        assert next(rows, None) is None

    def test_what_is_expected_next_is_what_the_model_says(self) -> None:
        model = trained_model("divided")
        [line] = model.read(model.pieces(LINES[2:3]), [(1, 0)]).logits
        shares = np.exp(line[11] - line[11].max())
        symbol = model.about["symbols"][shares.argmax()]
        said = figures.TrainedHead(
            line=LINES[2], head="layer 2, head 1", position=12, switched=True
        ).words()
        percent = f"{100 * shares.max() / shares.sum():.0f}%"
        assert f"expects {figure.named(symbol)} ({percent})" in said

    def test_the_words_say_how_the_loss_changes(self) -> None:
        found = trained_model("undivided").found["validation"]
        given = figures.TrainedHead(model="undivided", head="layer 1, head 2", switched=True)
        before, now = found["as trained"], found["one head switched"][1]
        assert f"Loss: {before:.2f} to {now:.2f}." in given.words()
        assert not given.divides or given.model == "undivided"

    def test_it_and_its_data_are_light(self) -> None:
        def sent(*parts: str) -> int:
            return len(gzip.compress("".join(parts).encode()))

        data = f' data-late="{html.escape(figure.data())}"'
        before, after = figures.TrainedHead().markup().split(data)
        own = own_source("trained_head"), style_source("trained_head")
        assert sent(*own, before, after) <= 12_000
        assert sent(figure.data()) <= 50_000
        assert np.shape(json.loads(figure.data())["losses"]) == (2, 5)
