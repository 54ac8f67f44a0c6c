"""The chapter's model: task, gradients, optimizers, whole runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from attention_calls import RULE_NAMES, rules
from threadpoolctl import threadpool_info, threadpool_limits

from attnbook.training import (
    Adam,
    Batch,
    GroupMeanTask,
    Learner,
    Sgd,
    draw_batch,
    draw_tags,
    initial_parameters,
    initial_state,
    loss_and_gradients,
    matching_tokens,
    optimizer_step,
    reference_losses,
    steps_to_loss,
    train,
    train_together,
    training_step,
)
from attnbook.training import model as training
from attnbook.training._progress import progress_bar
from attnbook.training.model import RECORD_AT
from attnlib import attention, scaling

SMALL = GroupMeanTask(n_groups=3, group_size=2, n_tags=5, tag_width=3, payload_width=2)
TASKS = [GroupMeanTask(), SMALL, GroupMeanTask(4, 1, 4, 2, 3), GroupMeanTask(1, 3, 1, 1, 1)]


def rule_of(name: str, d_k: int) -> scaling.ScalingRule:
    """Return a rule of the common table, or one that a callable stands for."""
    own = scaling.scaling_rule(lambda d_k, n_keys: 0.3 * n_keys / d_k)
    return (rules(d_k) | {"of one's own": own})[name]


EVERY_RULE = [*RULE_NAMES, "of one's own"]


def example(task: GroupMeanTask = SMALL, *, size: int = 4, seed: int = 3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return draw_batch(task, draw_tags(task, rng), size, rng, dtype=dtype)


# the task


@pytest.mark.parametrize("task", TASKS)
def test_a_batch_follows_the_rules_of_the_task(task):
    rng = np.random.default_rng(1)
    tags = draw_tags(task, rng)
    assert tags.shape == (task.n_tags, task.tag_width)
    batch = draw_batch(task, tags, 40, rng)
    assert batch.tokens.shape == (40, task.n_tokens, task.token_width)
    assert batch.query_tokens.shape == (40, task.token_width)
    kinds = [tuple(tag) for tag in tags]
    for query, tokens, target, group in zip(*batch, strict=True):
        sequence = [kinds.index(tuple(token[: task.tag_width])) for token in tokens]
        in_order = sequence[:: task.group_size]
        assert sequence == [kind for kind in in_order for _ in range(task.group_size)]
        assert len(set(in_order)) == task.n_groups
        wanted = kinds.index(tuple(query[: task.tag_width]))
        assert wanted == in_order[group]
        payloads = [
            token[task.tag_width :]
            for token, kind in zip(tokens, sequence, strict=True)
            if kind == wanted
        ]
        assert len(payloads) == task.group_size
        for column in range(task.payload_width):
            mean = math.fsum(payload[column] for payload in payloads) / task.group_size
            assert target[column] == pytest.approx(mean, abs=1e-15)


def test_there_may_be_as_many_groups_as_tags():
    assert GroupMeanTask(4, 1, n_tags=4).n_groups == 4


def test_which_tokens_match():
    batch = example(size=20)
    matches = matching_tokens(SMALL, batch)
    same_tag = (batch.tokens[..., :3] == batch.query_tokens[:, None, :3]).all(axis=-1)
    assert (matches == same_tag).all()


def test_tags_and_groups_are_drawn_evenly():
    # Each of 5 tags is in a sequence with probability 3/5, each of 3 groups is asked for with
    # 1/3; six standard errors, which chance exceeds once in 10⁸ times.
    size, rng = 30_000, np.random.default_rng(2)
    tags = np.arange(15.0).reshape(5, 3)
    batch = draw_batch(SMALL, tags, size, rng)
    used = (batch.tokens[:, :, 0] / 3).astype(int)
    for tag in range(5):
        share = (used == tag).any(axis=1).mean()
        assert abs(share - 3 / 5) < 6 * math.sqrt(0.24 / size)
        first = (used[:, 0] == tag).mean()
        assert abs(first - 1 / 5) < 6 * math.sqrt(0.16 / size)
    for group in range(3):
        assert abs((batch.groups == group).mean() - 1 / 3) < 6 * math.sqrt(2 / 9 / size)
    for payload in (batch.tokens[..., 3:], batch.query_tokens[:, 3:]):
        assert abs(payload.mean()) < 6 / math.sqrt(payload.size)
        assert abs((payload**2).mean() - 1) < 6 * math.sqrt(2 / payload.size)


@pytest.mark.parametrize("task", TASKS)
def test_reference_losses_by_least_squares(task):
    """The best multiple of each strategy's output, found by regression on drawn sequences."""
    size = 4000
    batch = example(task, size=size)
    payloads = batch.tokens[..., task.tag_width :]
    rows = np.arange(size)
    right = batch.groups * task.group_size
    outputs = {
        "zero": np.zeros_like(batch.targets),
        "uniform": payloads.mean(axis=1),
        "one_hot": payloads[rows, right + task.group_size - 1],
        "ideal": (payloads * matching_tokens(task, batch)[..., None]).sum(axis=1) / task.group_size,
    }
    losses = reference_losses(task)
    power = (batch.targets**2).mean()
    for name, output in outputs.items():
        factor = (output * batch.targets).sum() / max((output**2).sum(), 1e-30)
        found = ((factor * output - batch.targets) ** 2).mean() / power
        # the squares of n normal numbers have a mean with relative error √(2/n); six of them
        assert found == pytest.approx(
            getattr(losses, name), abs=6 * math.sqrt(2 / batch.targets.size)
        )


@pytest.mark.parametrize("single", [np.float32, "float32", np.dtype(np.float32)])
def test_float32_sees_the_same_sequences(single):
    exact, rounded = example(), example(dtype=single)
    for one, other in zip(exact[:3], rounded[:3], strict=True):
        assert other.dtype == np.float32
        assert (one.astype(np.float32) == other).all()


# the model


@pytest.mark.parametrize("d_k", [1, 16, 200])
def test_initial_queries_and_keys_have_unit_variance(d_k):
    task = GroupMeanTask(tag_width=40, payload_width=60)
    weights = initial_parameters(task, d_k, rng=np.random.default_rng(4))
    for name, columns in (("query", d_k), ("key", d_k), ("value", 60)):
        assert weights[name].shape == (100, columns)
        # variance of an entry of xW if the entries of x have variance 1
        variance = (weights[name] ** 2).sum(axis=0).mean()
        assert abs(variance - 1) < 6 * math.sqrt(2 / weights[name].size)
    assert not (weights["query"] == weights["key"]).any()


def test_initial_gains():
    def start(**options):
        return initial_parameters(SMALL, 3, rng=np.random.default_rng(4), **options)

    plain, both, one = start(), start(gains=0.25), start(gains={"value": 2, "key": 0.5})
    for name, factors in {"query": (0.25, 1), "key": (0.25, 0.5), "value": (1, 2)}.items():
        assert (both[name] == factors[0] * plain[name]).all()
        assert (one[name] == factors[1] * plain[name]).all()
    wide = initial_parameters(SMALL, 8, rng=np.random.default_rng(4))
    assert (wide["value"] == plain["value"]).all()
    learned = start(scale=scaling.query_key_norm(), dtype=np.float32)
    assert {array.dtype for array in learned.values()} == {np.dtype(np.float32)}
    assert learned["log_gain"] == 0


@pytest.mark.parametrize("d_k", [2, 7])
@pytest.mark.parametrize("name", EVERY_RULE)
def test_loss_and_weights_against_attention_with_keys(d_k, name):
    rule = rule_of(name, d_k)
    batch = example()
    parameters = initial_parameters(SMALL, d_k, rule, rng=np.random.default_rng(5))
    result = loss_and_gradients(parameters, batch, rule)
    query = (batch.query_tokens @ parameters["query"])[:, None]
    key, value = batch.tokens @ parameters["key"], batch.tokens @ parameters["value"]
    output, weights = attention.scaled_dot_product_attention(
        query, key, value, scale=rule, return_weights=True
    )
    assert np.allclose(result.weights, weights[:, 0], rtol=1e-12, atol=1e-14)
    losses = [math.fsum(error**2) for error in output[:, 0] - batch.targets]
    assert result.loss == pytest.approx(math.fsum(losses) / 4, rel=1e-13)
    assert isinstance(result.loss, float)
    # one sequence's own error, carried back through attention
    cotangent = 2 * (output - batch.targets[:, None])
    back = attention.attention_vjp(query, key, value, cotangent, scale=rule)
    assert np.allclose(result.queries, back.query[:, 0], rtol=1e-10, atol=1e-12)


STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
"""Central differences of order eight."""


def differences(parameters, name, loss, *, step=4e-3):
    """Return the gradient of the loss by one parameter, entry by entry."""
    gradient = np.zeros_like(parameters[name])
    for place in np.ndindex(gradient.shape):
        for reach, weight in STENCIL.items():
            for sign in (1, -1):
                moved = {key: array.copy() for key, array in parameters.items()}
                moved[name][place] += sign * reach * step
                gradient[place] += sign * weight / step * loss(moved)
    return gradient


@pytest.mark.parametrize("rule_name", EVERY_RULE)
def test_gradients_against_differences(rule_name):
    task = GroupMeanTask(2, 2, 3, 2, 1)
    rule = rule_of(rule_name, 3)
    batch = example(task, size=3)
    parameters = initial_parameters(task, 3, rule, rng=np.random.default_rng(6))
    gradients = loss_and_gradients(parameters, batch, rule).parameters
    assert set(gradients) == set(parameters)
    for name, gradient in gradients.items():
        found = differences(
            parameters, name, lambda moved: loss_and_gradients(moved, batch, rule).loss
        )
        assert gradient.shape == parameters[name].shape
        assert np.allclose(gradient, found, rtol=1e-9, atol=1e-9), name


def test_a_key_without_a_direction_matches_nothing():
    rule = scaling.query_key_norm()
    batch = example(size=1)
    parameters = initial_parameters(SMALL, 4, rule, rng=np.random.default_rng(7))
    parameters["key"] = np.zeros_like(parameters["key"])
    result = loss_and_gradients(parameters, batch, rule)
    assert np.allclose(result.weights, 1 / 6, rtol=1e-14)
    assert not result.parameters["key"].any()
    # keys that do not differ in length from 0 by rounding alone
    parameters["key"][:3] = 1e-9
    result = loss_and_gradients(parameters, batch, rule)
    assert all(np.isfinite(gradient).all() for gradient in result.parameters.values())


def test_float32_stays_float32():
    for rule in rules(3).values():
        batch = example(dtype=np.float32)
        parameters = initial_parameters(
            SMALL, 3, rule, rng=np.random.default_rng(5), dtype=np.float32
        )
        exact = initial_parameters(SMALL, 3, rule, rng=np.random.default_rng(5))
        result = loss_and_gradients(parameters, batch, rule)
        wanted = loss_and_gradients(exact, example(), rule)
        usual = {"clip": 0.01, "warm_up": 2, "decay": 0.1}
        for optimizer in (Sgd(0.1, 0.9), Adam(0.1), Sgd(0.1, **usual), Adam(0.1, **usual)):
            stepped, state = optimizer_step(
                optimizer, parameters, result.parameters, initial_state(parameters)
            )
            for arrays in (result.parameters, stepped, state.first, state.second):
                assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
        assert {result.queries.dtype, result.weights.dtype} == {np.dtype(np.float32)}
        for name, gradient in result.parameters.items():
            assert np.allclose(gradient, wanted.parameters[name], rtol=1e-3, atol=1e-4)


def test_nothing_given_is_changed():
    batch, parameters = example(), initial_parameters(SMALL, 3, rng=np.random.default_rng(5))
    before = [array.copy() for array in (*batch, *parameters.values())]
    state = initial_state(parameters)
    for optimizer in (Sgd(0.1, 0.9), Adam(0.1), Sgd(0.1, clip=0.01, decay=0.1)):
        training_step(parameters, batch, None, optimizer, state)
    assert state.steps == 0
    assert not any(array.any() for array in (*state.first.values(), *state.second.values()))
    for old, new in zip(before, (*batch, *parameters.values()), strict=True):
        assert (old == new).all()


def test_weights_of_large_scores():
    batch, rule = example(), scaling.no_scaling()
    parameters = initial_parameters(SMALL, 3, rng=np.random.default_rng(5), gains=100)
    result = loss_and_gradients(parameters, batch, rule)
    best = (
        ((batch.query_tokens @ parameters["query"])[:, None] * (batch.tokens @ parameters["key"]))
        .sum(-1)
        .argmax(axis=1)
    )
    assert (result.weights.argmax(axis=1) == best).all()
    assert result.weights.max() == 1


def test_what_has_diverged_is_said_to_be():
    batch = example()
    parameters = initial_parameters(SMALL, 3, rng=np.random.default_rng(5))
    with pytest.raises(FloatingPointError, match=r"the loss must stay below 1e\+08; got"):
        loss_and_gradients(parameters | {"value": parameters["value"] * 1e5}, batch)
    with pytest.raises(FloatingPointError, match=r"sum of the queries must .* got -?(inf|nan)"):
        loss_and_gradients(parameters | {"query": parameters["query"] * 1e308}, batch)
    positive = batch._replace(query_tokens=np.ones_like(batch.query_tokens))
    for sign in ("-", ""):
        query = np.full_like(parameters["query"], float(f"{sign}1e308"))
        with pytest.raises(FloatingPointError, match=f"queries .* got {sign}inf"):
            loss_and_gradients(parameters | {"query": query}, positive)
    with pytest.raises(FloatingPointError, match=r"the loss must .* got nan"):
        loss_and_gradients(parameters | {"key": parameters["key"] * 1e308}, batch)
    # the bound itself is too large: the one error of 20,000 gives 20,000²/4 sequences
    huge = {name: np.zeros_like(array) for name, array in parameters.items()}
    targets = np.zeros_like(batch.targets)
    targets[0, 0] = 2e4
    for factor, fits in ((1, False), (1 - 1e-12, True)):
        of_size = Batch(batch.query_tokens, batch.tokens, targets * factor, batch.groups)
        if fits:
            assert loss_and_gradients(huge, of_size).loss == pytest.approx(1e8)
        else:
            with pytest.raises(FloatingPointError, match="loss"):
                loss_and_gradients(huge, of_size)


def test_gradients_that_overflow_have_diverged():
    batch = example()
    parameters = initial_parameters(SMALL, 3, rng=np.random.default_rng(5))
    # queries so short that the scores stay moderate, keys so long that the gradient does not
    extreme = {"query": parameters["query"] * 1e-308, "key": parameters["key"] * 1e307}
    upstream = {"value": parameters["value"] * 1e3}
    with pytest.raises(
        FloatingPointError, match=r"gradients by the queries must .* got -?(inf|nan)"
    ):
        loss_and_gradients(parameters | extreme | upstream, batch)


def test_a_run_that_has_diverged_stays_so():
    good = example()
    bad = good._replace(targets=good.targets + 1e6)
    for spoil in ("measure", "step"):
        run = training._Training(
            Learner(3, None, Sgd(0.1)), SMALL, np.random.SeedSequence(1), float
        )
        getattr(run, spoil)(bad)
        assert run.diverged
        before = run.parameters
        run.step(good)
        assert run.parameters is before
        run.measure(good)
        assert run.records[-1].loss == np.inf


# the optimizers


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_sgd_by_its_weighted_sum(momentum):
    gradients = np.random.default_rng(8).standard_normal((6, 2, 3))
    optimizer = Sgd(0.3, momentum, {"key": 0.5})
    start = {"query": np.ones((2, 3)), "key": np.zeros((2, 3))}
    parameters, state = start, initial_state(start)
    for gradient in gradients:
        both = {"query": gradient, "key": 3 * gradient}
        parameters, state = optimizer_step(optimizer, parameters, both, state)
    # gradient s is applied at steps s, s+1, ..., with weights 1, μ, μ², ...
    weights = [sum(momentum**age for age in range(6 - s)) for s in range(6)]
    moved = sum(weight * gradient for weight, gradient in zip(weights, gradients, strict=True))
    assert np.allclose(parameters["query"], 1 - 0.3 * moved, rtol=1e-13)
    assert np.allclose(parameters["key"], -0.45 * moved, rtol=1e-13)
    assert state.steps == 6


def test_adam_by_its_weighted_means():
    gradients = np.random.default_rng(9).standard_normal((5, 4))
    optimizer = Adam(0.2, beta1=0.7, beta2=0.95, epsilon=0.1, multipliers={"key": 3})
    start = {"query": np.zeros(4), "key": np.zeros(4)}
    parameters, state = start, initial_state(start)
    expected = np.zeros(4)
    for step in range(1, 6):
        both = dict.fromkeys(start, gradients[step - 1])
        parameters, state = optimizer_step(optimizer, parameters, both, state)
        ages = np.arange(step)[::-1]
        first, second = (
            np.average(gradients[:step] ** power, axis=0, weights=beta**ages)
            for power, beta in ((1, 0.7), (2, 0.95))
        )
        expected -= 0.2 * first / (np.sqrt(second) + 0.1)
        assert np.allclose(parameters["query"], expected, rtol=1e-12)
        assert np.allclose(parameters["key"], 3 * expected, rtol=1e-12)
    assert state.steps == 5


@pytest.mark.parametrize("make", [Sgd, Adam])
def test_clipping_shortens_all_gradients_by_one_factor(make):
    rng = np.random.default_rng(10)
    long = {"query": rng.standard_normal((2, 3)), "gain": np.array(1.5)}
    length = np.linalg.norm([*long["query"].flat, long["gain"]])
    weights = {name: np.ones_like(gradient) for name, gradient in long.items()}
    for limit, factor in ((0.3, 0.3 / length), (length * 1.001, 1.0), (length / 1.001, 1 / 1.001)):
        shortened = {name: np.asarray(factor * gradient) for name, gradient in long.items()}
        clipped, plain = make(0.1, clip=limit), make(0.1)
        one = optimizer_step(clipped, weights, long, initial_state(weights))
        other = optimizer_step(plain, weights, shortened, initial_state(weights))
        for name in weights:
            assert one[0][name] == pytest.approx(other[0][name], rel=1e-14)
            assert one[1].first[name] == pytest.approx(other[1].first[name], rel=1e-14)
            assert one[1].second[name] == pytest.approx(other[1].second[name], rel=1e-14)


def test_a_gradient_of_zero_is_not_clipped():
    zero = {"query": np.zeros(2)}
    stepped, _ = optimizer_step(Sgd(1, clip=1), {"query": np.ones(2)}, zero, initial_state(zero))
    assert stepped["query"].tolist() == [1, 1]


@pytest.mark.parametrize("make", [Sgd, Adam])
def test_the_rate_is_warmed_up(make):
    gradients = np.random.default_rng(11).standard_normal((5, 3))
    warm, plain = make(0.3, multipliers={"query": 2.0}, warm_up=3), make(0.3)
    weights = {"query": np.zeros(3)}
    state = other = initial_state(weights)
    for step, gradient in enumerate(gradients, 1):
        moved, state = optimizer_step(warm, weights, {"query": gradient}, state)
        usual, other = optimizer_step(plain, weights, {"query": gradient}, other)
        share = {1: 1 / 3, 2: 2 / 3}.get(step, 1)
        assert moved["query"] == pytest.approx(2 * share * usual["query"], rel=1e-14)


@pytest.mark.parametrize("make", [Sgd, Adam])
def test_weights_decay_beside_the_gradient(make):
    weights, gradient = {"query": np.array([2.0, -3.0])}, {"query": np.array([0.5, 0.1])}
    options = {"multipliers": {"query": 3.0}, "warm_up": 2}
    decaying, plain = make(0.1, decay=0.25, **options), make(0.1, **options)
    one, other = (
        optimizer_step(optimizer, weights, gradient, initial_state(weights))
        for optimizer in (decaying, plain)
    )
    lost = 0.1 * 3.0 / 2 * 0.25 * weights["query"]
    assert one[0]["query"] == pytest.approx(other[0]["query"] - lost, rel=1e-14)
    assert (one[1].first["query"] == other[1].first["query"]).all()


def losses(d_k, scale, optimizer, **options):
    conditions = {"steps": 40, "test_size": 16, "batch_size": 8, "record_at": range(0, 41, 4)}
    return train(1, d_k, scale, optimizer, **conditions, **options).loss


@pytest.mark.parametrize("d_k", [16, 256])
@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_the_scale_is_a_parametrization_under_sgd(d_k, momentum):
    """Bit for bit, since every factor is a power of two."""
    usual = losses(d_k, None, Sgd(0.1, momentum))
    both = losses(
        d_k,
        1.0,
        Sgd(0.1, momentum, {"query": d_k**-0.5, "key": d_k**-0.5}),
        initial_gain=d_k**-0.25,
    )
    one = losses(
        d_k, 1.0, Sgd(0.1, momentum, {"query": 1 / d_k}), initial_gain={"query": d_k**-0.5}
    )
    assert usual[-1] < 0.9 * usual[0]
    assert (usual == both).all()
    assert (usual == one).all()


@pytest.mark.parametrize("d_k", [16, 256])
def test_the_scale_is_a_parametrization_under_adam(d_k):
    usual = losses(d_k, None, Adam(0.01, epsilon=0.0))
    one = losses(
        d_k,
        1.0,
        Adam(0.01, epsilon=0.0, multipliers={"query": d_k**-0.5}),
        initial_gain={"query": d_k**-0.5},
    )
    assert (usual == one).all()
    # the rule of SGD is another one
    other = losses(
        d_k,
        1.0,
        Adam(0.01, epsilon=0.0, multipliers={"query": 1 / d_k}),
        initial_gain={"query": d_k**-0.5},
    )
    assert abs(usual - other).max() > 1e-3


# whole runs

SHORT = {"task": SMALL, "steps": 5, "batch_size": 3, "test_size": 7, "progress": False}


def by_hand(seed, d_k, scale, optimizer, steps):
    """One run of the small task, from the pieces."""
    tags, weights, test, batches = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)
    )
    tags = draw_tags(SMALL, tags)
    test = draw_batch(SMALL, tags, 7, test)
    parameters = initial_parameters(SMALL, d_k, scale, rng=weights)
    state = initial_state(parameters)
    for _ in range(steps):
        batch = draw_batch(SMALL, tags, 3, batches)
        _, parameters, state = training_step(parameters, batch, scale, optimizer, state)
    return parameters, loss_and_gradients(parameters, test, scale), test


def test_a_run_by_hand():
    rule = scaling.learned_temperature()
    run = train(7, 4, rule, Adam(0.1), record_at=[2, 5, 2, 0], **SHORT)
    assert run.steps.tolist() == [0, 2, 5]
    assert not run.diverged
    for place, steps in enumerate(run.steps):
        parameters, result, test = by_hand(7, 4, rule, Adam(0.1), steps)
        power = (test.targets**2).sum() / 7
        assert run.loss[place] == pytest.approx(result.loss / power, rel=1e-13)
        top = [max(row) for row in result.weights]
        assert run.max_weight[place] == pytest.approx(sum(top) / 7, rel=1e-13)
        nats = -(result.weights * np.log(result.weights)).sum() / 7
        assert run.entropy[place] == pytest.approx(nats, rel=1e-12)
        lengths = sorted(math.hypot(*row) for row in result.queries)
        # 7 lengths: the median is the fourth, the quartiles lie halfway between two
        quartiles = [(lengths[1] + lengths[2]) / 2, lengths[3], (lengths[4] + lengths[5]) / 2]
        assert np.allclose(run.gradient_quantiles[place, 1:4], quartiles, rtol=1e-12)
        assert (run.attention[place] == result.weights[:4]).all()
    assert (run.matches == matching_tokens(SMALL, test)[:4]).all()
    for name, array in parameters.items():
        assert (run.parameters[name] == array).all()


def test_training_together_changes_nothing():
    learners = [
        Learner(4, None, Sgd(0.1)),
        Learner(4, 1.0, Sgd(1e6)),  # diverges
        Learner(9, scaling.query_key_norm(), Adam(0.1), 0.5),
    ]
    runs = train_together(3, learners, **SHORT)
    assert [run.diverged for run in runs] == [False, True, False]
    for learner, run in zip(learners, runs, strict=True):
        alone = train(3, learner.d_k, learner.scale, learner.optimizer,
                      initial_gain=learner.initial_gain, **SHORT)  # fmt: skip
        assert np.array_equal(run.loss, alone.loss)
        assert np.array_equal(run.attention, alone.attention, equal_nan=True)
        assert run.seed == alone.seed == 3
    assert runs[0].attention.shape == (2, 4, 6)


def test_training_computes_in_one_thread(monkeypatch):
    """The matrices are small: others would only wait for it."""
    seen = set()

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def noted(*arguments):
        seen.update(threads())
        return training_step(*arguments)

    monkeypatch.setattr("attnbook.training.model.training_step", noted)
    with threadpool_limits(2, user_api="blas"):
        train_together(3, [Learner(8, None, Sgd(0.1))], **SHORT)
        assert seen == {1}
        assert threads() == {2}


def test_arms_of_one_seed_start_alike_and_see_the_same_data():
    options = SHORT | {"steps": 0}
    one, other = (train(5, 4, scale, Sgd(0.1), **options) for scale in (None, 0.5))
    assert (one.loss == other.loss).all()  # 1/√4 = 0.5
    assert train(6, 4, None, Sgd(0.1), **options).loss != one.loss


def test_a_run_that_diverges():
    run = train(3, 4, None, Sgd(100.0), record_at=range(6), **SHORT)
    assert run.diverged
    reached = np.isfinite(run.loss)
    assert reached[0]
    assert not reached[-1]
    assert (run.loss[~reached] == np.inf).all()
    for measured in (run.max_weight, run.entropy, run.gradient_quantiles, run.attention):
        flat = measured.reshape(6, -1)
        assert np.isnan(flat[~reached]).all()
        assert np.isfinite(flat[reached]).all()
    # float32 overflows earlier and says the same
    assert train(3, 4, None, Sgd(100.0), dtype=np.float32, **SHORT).diverged
    assert train(3, 4, scaling.query_temperature(4), Adam(500.0), **SHORT).diverged


def test_when_a_run_is_measured():
    def measured(**options):
        return train(0, 1, None, Sgd(0.1), **SHORT | options).steps.tolist()

    assert measured(steps=0) == [0]
    assert measured(steps=31) == [0, 10, 30, 31]
    assert measured(steps=10) == [0, 10]
    assert measured(steps=3, record_at=[3]) == [3]
    assert RECORD_AT[-1] == 1000
    run = train(0, 2, None, Sgd(0.1), task=SMALL, steps=0)
    assert run.attention.shape == (1, 4, 6)


def test_steps_to_a_loss():
    steps = [0, 10, 20, 40]
    curves = [[3, 1, 0.5, 0.2], [3, 0.4, 0.6, 0.4], [3, 2, np.inf, np.inf]]
    assert steps_to_loss(steps, curves, 0.5).tolist() == [20, 10, math.inf]
    assert steps_to_loss(steps, curves[0], 5) == 0


def test_the_bar_waits_and_hides():
    bar = progress_bar([1, 2], "counting")
    assert bar.disable  # no terminal here
    assert list(bar) == [1, 2]
    assert list(progress_bar(iter("ab"), "letters", total=2, shown=False)) == ["a", "b"]


class Terminal:
    """A standard error that says it is a terminal and keeps what it gets."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing is held back."""


def test_a_terminal_shows_the_bar_only_when_it_takes_long(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    list(progress_bar(range(3), "counting"))
    assert not terminal.text.strip()
    monkeypatch.setattr("attnbook.training._progress.PATIENCE", 0)
    list(progress_bar(range(3), "counting", shown=False))
    assert not terminal.text.strip()
    bar = progress_bar(range(3), "counting")
    assert list(bar) == [0, 1, 2]
    assert not bar.leave
    assert "counting" in terminal.text
    train(77, 4, None, Sgd(0.1), **SHORT)
    assert "77" not in terminal.text
    train(77, 4, None, Sgd(0.1), **SHORT | {"progress": True})
    assert "seed 77" in terminal.text
    train(78, 4, None, Sgd(0.1), task=SMALL, steps=1)
    assert "seed 78" in terminal.text
    list(progress_bar(iter(range(3)), "more", total=30))
    assert "/30" in terminal.text


# wrong arguments

GENERATOR = np.random.default_rng(0)
TAGS = draw_tags(SMALL, GENERATOR)
WEIGHTS = initial_parameters(SMALL, 3, rng=GENERATOR)
WRONG = {
    "a size that is no number": (lambda: GroupMeanTask(n_groups=2.5), TypeError, "n_groups", "2.5"),
    "no token": (lambda: GroupMeanTask(group_size=0), ValueError, "group_size", "0"),
    "no tag": (lambda: GroupMeanTask(n_tags=0), ValueError, "n_tags", "0"),
    "no width": (lambda: GroupMeanTask(tag_width=0), ValueError, "tag_width", "0"),
    "no payload": (lambda: GroupMeanTask(payload_width=-1), ValueError, "payload_width", "-1"),
    "too few tags": (lambda: GroupMeanTask(n_groups=9, n_tags=8), ValueError, "n_groups", "9"),
    "no task": (lambda: reference_losses(8), TypeError, "task", "8"),
    "no task to draw tags for": (lambda: draw_tags(None, GENERATOR), TypeError, "task", "None"),
    "no task to draw from": (lambda: draw_batch(3, TAGS, 1, GENERATOR), TypeError, "task", "3"),
    "no task to match": (lambda: matching_tokens(3, None), TypeError, "task", "3"),
    "no generator": (lambda: draw_tags(SMALL, 0), TypeError, "rng", "0"),
    "seed for a batch": (lambda: draw_batch(SMALL, TAGS, 1, 5), TypeError, "rng", "5"),
    "no sequence": (lambda: draw_batch(SMALL, TAGS, 0, GENERATOR), ValueError, "size", "0"),
    "other tags": (
        lambda: draw_batch(SMALL, TAGS[1:], 1, GENERATOR), ValueError, "tags", "(4, 3)",
    ),
    "half precision": (
        lambda: draw_batch(SMALL, TAGS, 1, GENERATOR, dtype=np.float16),
        ValueError, "dtype", "<class 'numpy.float16'>",
    ),
    "no head": (lambda: initial_parameters(SMALL, 0, rng=GENERATOR), ValueError, "d_k", "0"),
    "integer weights": (
        lambda: initial_parameters(SMALL, 1, rng=GENERATOR, dtype=int),
        ValueError, "dtype", "<class 'int'>",
    ),
    "no dtype": (
        lambda: train(0, 4, None, Sgd(1), dtype="half"), ValueError, "dtype", "'half'",
    ),
    "numbers for weights": (
        lambda: loss_and_gradients({"query": 1.0}, example()),
        TypeError, "parameters", "{'query': 1.0}",
    ),
    "a list of weights": (lambda: initial_state([1.0]), TypeError, "parameters", "[1.0]"),
    "no batch to learn from": (lambda: loss_and_gradients(WEIGHTS, 3), TypeError, "batch", "3"),
    "one gradient missing": (
        lambda: optimizer_step(Sgd(1), WEIGHTS, {"key": TAGS}, initial_state(WEIGHTS)),
        ValueError, "gradients", "['key']",
    ),
    "no gradients": (
        lambda: optimizer_step(Sgd(1), WEIGHTS, None, initial_state(WEIGHTS)),
        TypeError, "gradients", "None",
    ),
    "parameters of another model": (
        lambda: optimizer_step(Sgd(1), {"key": TAGS}, WEIGHTS, initial_state(WEIGHTS)),
        ValueError, "parameters", "['key']",
    ),
    "unknown gain": (
        lambda: initial_parameters(SMALL, 1, rng=GENERATOR, gains={"keys": 1}),
        ValueError, "gains", "['keys']",
    ),
    "infinite gain": (
        lambda: initial_parameters(SMALL, 1, rng=GENERATOR, gains=math.inf),
        ValueError, "gains", "inf",
    ),
    "missing gain": (
        lambda: loss_and_gradients(WEIGHTS, example(), scaling.query_key_norm()),
        ValueError, "parameters", "['key', 'query', 'value']",
    ),
    "weights of another width": (
        lambda: loss_and_gradients(WEIGHTS | {"key": np.zeros((5, 4))}, example()),
        ValueError, "key", "(5, 4)",
    ),
    "values of another width": (
        lambda: loss_and_gradients(WEIGHTS | {"value": np.zeros((5, 3))}, example()),
        ValueError, "value", "(5, 3)",
    ),
    "queries of other tokens": (
        lambda: loss_and_gradients(WEIGHTS | {"query": np.zeros((4, 3))}, example()),
        ValueError, "query", "(4, 3)",
    ),
    "negative scale": (
        lambda: loss_and_gradients(WEIGHTS, example(), -1), ValueError, "scale", "-1",
    ),
    "no rate": (lambda: Sgd(0), ValueError, "rate", "0"),
    "rate as text": (lambda: Adam("1"), TypeError, "rate", "'1'"),
    "too much momentum": (lambda: Sgd(1, 1), ValueError, "momentum", "1"),
    "negative momentum": (lambda: Sgd(1, -0.1), ValueError, "momentum", "-0.1"),
    "beta1": (lambda: Adam(1, beta1=1), ValueError, "beta1", "1"),
    "beta2": (lambda: Adam(1, beta2=-1), ValueError, "beta2", "-1"),
    "epsilon": (lambda: Adam(1, epsilon=-1e-9), ValueError, "epsilon", "-1e-09"),
    "multiplier": (lambda: Sgd(1, 0, {"key": 0}), ValueError, "multipliers", "0"),
    "no length to clip to": (lambda: Sgd(1, clip=0), ValueError, "clip", "0"),
    "a length as text": (lambda: Adam(1, clip="1"), TypeError, "clip", "'1'"),
    "half a step": (lambda: Adam(1, warm_up=0.5), TypeError, "warm_up", "0.5"),
    "negative warm-up": (lambda: Sgd(1, warm_up=-1), ValueError, "warm_up", "-1"),
    "growth": (lambda: Sgd(1, decay=-0.1), ValueError, "decay", "-0.1"),
    "multiplier for nothing": (
        lambda: training_step(
            WEIGHTS, example(), None, Sgd(1, 0, {"gain": 2}), initial_state(WEIGHTS)
        ),
        ValueError, "multipliers", "['gain']",
    ),
    "no optimizer": (
        lambda: optimizer_step(0.1, WEIGHTS, WEIGHTS, initial_state(WEIGHTS)),
        TypeError, "optimizer", "0.1",
    ),
    "no optimizer to train with": (
        lambda: train(0, 4, None, "SGD"), TypeError, "optimizer", "'SGD'",
    ),
    "no width to train": (lambda: Learner(0, None, Sgd(1)), ValueError, "d_k", "0"),
    "no rule": (lambda: Learner(4, "sqrt", Sgd(1)), TypeError, "scale", "'sqrt'"),
    "no learner": (lambda: train_together(0, [4]), TypeError, "learners", "4"),
    "negative seed": (lambda: train(-1, 4, None, Sgd(1)), ValueError, "seed", "-1"),
    "fraction of a seed": (lambda: train(0.5, 4, None, Sgd(1)), TypeError, "seed", "0.5"),
    "negative steps": (lambda: train(0, 4, None, Sgd(1), steps=-1), ValueError, "steps", "-1"),
    "no batch": (lambda: train(0, 4, None, Sgd(1), batch_size=0), ValueError, "batch_size", "0"),
    "no test": (lambda: train(0, 4, None, Sgd(1), test_size=0), ValueError, "test_size", "0"),
    "another task": (lambda: train(0, 4, None, Sgd(1), task="mean"), TypeError, "task", "'mean'"),
    "measured after the end": (
        lambda: train(0, 4, None, Sgd(1), steps=3, record_at=[4]), ValueError, "record_at", "[4]",
    ),
    "measured after the end as well": (
        lambda: train(0, 4, None, Sgd(1), steps=3, record_at=[1, 4]),
        ValueError, "record_at", "[1, 4]",
    ),
    "never measured": (
        lambda: train(0, 4, None, Sgd(1), steps=3, record_at=[]), ValueError, "record_at", "[]",
    ),
    "measured before": (
        lambda: train(0, 4, None, Sgd(1), steps=3, record_at=[-1]), ValueError, "record_at", "-1",
    ),
    "curve of another length": (
        lambda: steps_to_loss([0, 1], [1.0], 0.5), ValueError, "loss", "shape (1,)",
    ),
    "no list of steps": (
        lambda: steps_to_loss(3, [1.0], 0.5), ValueError, "steps", "shape ()",
    ),
    "no level": (lambda: steps_to_loss([0], [1.0], None), TypeError, "level", "None"),
}  # fmt: skip


@pytest.mark.parametrize("label", WRONG)
def test_wrong_arguments(label):
    call, error, argument, came = WRONG[label]
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(f"{argument} must")
    assert f"got {came}" in message


def test_settings_do_not_change():
    with pytest.raises(AttributeError):
        SMALL.n_groups = 4
    with pytest.raises(AttributeError):
        Sgd(1).rate = 2
    assert replace(Sgd(0.5, 0.5), rate=1) == Sgd(1.0, 0.5)


def test_the_largest_exponent_of_learned_gains():
    rule = scaling.ScalingRule(
        "both", lambda _d, _n: 1.0, gains={"log_gain": -3.0, "query_gain": [1.0, -2.0]}
    )
    for query, wanted in (([[1.0, 1.0], [0.5, -0.5]], 3.0), ([[1.0, 4.0], [0.0, 0.0]], 7.0)):
        assert training._largest_gain(rule, np.array(query)) == wanted
    assert training._largest_gain(scaling.learned_temperature(), np.ones((2, 3))) == 0
    only_query = scaling.query_temperature(1).with_gains(query_gain=[0.25])
    assert training._largest_gain(only_query, np.ones((2, 1))) == 0.25
