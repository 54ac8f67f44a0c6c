"""sweeps.py: tuning, parallel runs, results that are kept, and the committed table."""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import attnlib
from attnbook.training import (
    Adam,
    GroupMeanTask,
    Sgd,
    reference_losses,
    steps_to_loss,
    train,
)
from attnbook.training import compared as command
from attnbook.training import computed as chapter
from attnbook.training import sweep as sweeps
from attnbook.training.sweep import (
    ARMS,
    MORE_SEEDS,
    REPORT_SEEDS,
    TUNING_SEEDS,
    Ablation,
    Record,
    Setting,
    Tuning,
    load_ablation,
    quarter_decades,
    quick_ablation,
    run_ablation,
    run_settings,
    save_ablation,
    tune_rates,
)
from attnlib import scaling

TABLE = Path(attnlib.__file__).parents[1] / "data" / "ablation.json"
UNSCALED, USUAL, BY_WIDTH, NORM, LEARNED = ARMS
SHORT = [
    Setting(USUAL, "SGD", 4, 0.1, steps=3),
    Setting(NORM, "Adam", 5, 0.01, steps=3),
    Setting(USUAL, "SGD", 4, 0.1, steps=2, group_size=1),
    Setting(UNSCALED, "SGD", 4, 0.1, steps=3, initial_gain=0.5, query_key_rate=3.0),
    Setting(USUAL, "Adam", 4, 0.05, steps=3, n_groups=2, clip=0.5, warm_up=2, decay=0.1),
]


def assert_same(records: list[Record], others: list[Record], *, rtol: float = 0.0) -> None:
    for one, other in zip(records, others, strict=True):
        assert (one.setting, one.seeds) == (other.setting, other.seeds)
        assert np.array_equal(one.steps, other.steps)
        for name in ("loss", "max_weight", "median_gradient"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol)


@pytest.fixture
def trained(monkeypatch):
    """Count the runs that are really made: (seed, rule's label, rate) each."""
    made = []
    original = sweeps.train_together

    def counting(seed, learners, **conditions):
        made.extend((seed, learner.rule.label, learner.optimizer.rate) for learner in learners)
        return original(seed, learners, **conditions)

    monkeypatch.setattr(sweeps, "train_together", counting)
    return made


def test_quarter_decades():
    rates = quarter_decades(0.01, 1)
    assert rates == (0.01, 0.018, 0.032, 0.056, 0.1, 0.18, 0.32, 0.56, 1.0)
    assert quarter_decades(0.0011, 0.0009) == (0.001,)
    assert quarter_decades(1, 10)[1:4] == (1.8, 3.2, 5.6)


def test_a_record_holds_what_training_gives():
    optimizers = [
        Sgd(0.1),
        Adam(0.01),
        Sgd(0.1),
        Sgd(0.1, 0, {"query": 3, "key": 3}),
        Adam(0.05, clip=0.5, warm_up=2, decay=0.1),
    ]
    for setting, optimizer, record in zip(
        SHORT, optimizers, run_settings(SHORT, [3, 1]), strict=True
    ):
        assert record.setting == setting
        assert record.seeds == (3, 1)
        for row, seed in enumerate(record.seeds):
            run = train(
                seed,
                setting.d_k,
                ARMS[setting.arm],
                optimizer,
                task=GroupMeanTask(n_groups=setting.n_groups, group_size=setting.group_size),
                steps=setting.steps,
                initial_gain=setting.initial_gain,
            )
            assert (record.steps == run.steps).all()
            assert (record.loss[row] == run.loss).all()
            assert (record.max_weight[row] == run.max_weight).all()
            assert (record.median_gradient[row] == run.gradient_quantiles[:, 2]).all()
        assert record.mean == pytest.approx((record.loss[0] + record.loss[1]) / 2)
        difference = abs(record.loss[0] - record.loss[1])
        assert record.spread == pytest.approx(difference / math.sqrt(2))


def test_the_spread_of_one_seed_and_of_runs_that_diverged():
    (alone,) = run_settings(SHORT[:1], [0])
    assert np.isnan(alone.spread).all()
    (record,) = run_settings([replace(SHORT[0], rate=1e5)], [0, 1])
    assert record.mean[-1] == math.inf
    assert np.isnan(record.spread[-1])
    assert np.isfinite(record.spread[0])


def test_more_settings_than_are_trained_together(trained):
    rates = quarter_decades(0.001, 1)
    assert len(rates) > sweeps.TOGETHER
    many = [replace(SHORT[0], rate=rate) for rate in rates]
    records = run_settings(many, [0])
    assert len(trained) == len(rates)
    assert_same(records[-1:], run_settings(many[-1:], [0]))


@pytest.mark.not_for_mutants
def test_in_parallel_as_one_after_the_other(tmp_path):
    alone = run_settings(SHORT, [0, 1, 2])
    assert_same(run_settings(SHORT, [0, 1, 2], n_jobs=2, cache=tmp_path / "kept"), alone)
    assert len(list((tmp_path / "kept").iterdir())) == 15
    assert_same(run_settings(SHORT, [0, 1, 2], cache=tmp_path / "kept"), alone)


def test_an_interrupted_sweep_continues_where_it_stopped(tmp_path, trained, monkeypatch):
    counting = sweeps.train_together

    def interrupted(seed, learners, **conditions):
        if len(trained) >= 5:
            raise KeyboardInterrupt
        return counting(seed, learners, **conditions)

    monkeypatch.setattr(sweeps, "train_together", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_settings(SHORT, [0, 1, 2], cache=tmp_path)
    kept = len(trained)
    assert 0 < kept < 15
    assert len(list(tmp_path.iterdir())) == kept

    monkeypatch.setattr(sweeps, "train_together", counting)
    records = run_settings(SHORT, [0, 1, 2], cache=tmp_path)
    assert len(trained) == len(set(trained)) + 3 == 15  # one arm at one rate in two tasks
    again = run_settings(SHORT, [0, 1, 2], cache=tmp_path)
    assert len(trained) == 15
    assert_same(records, again)
    assert_same(records, run_settings(SHORT, [0, 1, 2]))


def rewritten(change):
    """Return a damage that changes what a file holds."""

    def damage(text: str) -> str:
        kept = json.loads(text)
        change(kept)
        return json.dumps(kept)

    return damage


FILES = {
    "half written": lambda text: text[: len(text) // 2],
    "of another run": rewritten(lambda kept: kept["identity"].update(seed=1)),
    "a column missing": rewritten(lambda kept: kept["result"].pop("loss")),
    "a short column": rewritten(lambda kept: kept["result"]["loss"].pop()),
    "numbers for columns": rewritten(
        lambda kept: kept.update(result=dict.fromkeys(sweeps._Result._fields, 3))
    ),
    "a list": lambda _text: "[1, 2]",
    "nothing": lambda _text: "",
}


@pytest.mark.parametrize("damage", FILES.values(), ids=FILES)
def test_a_file_that_is_not_this_runs_result_is_not_trusted(tmp_path, trained, damage):
    records = run_settings(SHORT[:1], [0], cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(damage(file.read_text("utf-8")), encoding="utf-8")
    trained.clear()
    assert_same(run_settings(SHORT[:1], [0], cache=tmp_path), records)
    assert len(trained) == 1
    assert_same(run_settings(SHORT[:1], [0], cache=tmp_path), records)
    assert len(trained) == 1


def test_what_a_kept_result_depends_on(tmp_path, trained, monkeypatch):
    def remade(setting: Setting, seed: int = 0, arms=None) -> bool:
        before = len(trained)
        run_settings([setting], [seed], arms=arms, cache=tmp_path)
        return len(trained) > before

    first = SHORT[0]
    assert remade(first)
    assert not remade(first)
    for change in (
        {"d_k": 5},
        {"rate": 0.2},
        {"steps": 2},
        {"record_at": [3]},
        {"group_size": 2},
        {"initial_gain": 2.0},
        {"query_key_rate": 2.0},
        {"n_groups": 2},
        {"clip": 1.0},
        {"warm_up": 2},
        {"decay": 0.1},
        {"optimizer": "Adam"},
    ):
        assert remade(replace(first, **change))
    assert remade(first, seed=1)
    # a rule is what it does, whatever it is called
    usual = scaling.inverse_sqrt()
    assert not remade(first, arms={USUAL: 0.5})
    for rule in (
        0.3,
        scaling.no_scaling(),
        replace(usual, cap=3),
        replace(usual, normalize=True),
        scaling.learned_temperature(),
        scaling.learned_temperature().with_gains(log_gain=1.0),
    ):
        assert remade(first, arms={USUAL: rule})
        assert not remade(first, arms={USUAL: rule})
    monkeypatch.setattr(sweeps, "_code_digest", lambda: "other code")
    assert remade(first)


def test_the_least_allowed_setting_is_allowed():
    least = Setting(USUAL, "SGD", 1, 0.1, steps=0, record_at=(0,), group_size=1, n_groups=1)
    assert (least.d_k, least.steps, least.record_at) == (1, 0, (0,))
    assert least.task == GroupMeanTask(n_groups=1, group_size=1)


def test_how_many_processes():
    for n_jobs in (-1, 1, 2):
        assert sweeps._checked_jobs(n_jobs) == n_jobs


def test_a_sweep_shows_one_bar(tmp_path, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("attnbook.training._progress.PATIENCE", 0)
    run_settings(SHORT[:1], [77], cache=tmp_path / "a" / "b")
    assert "runs" in shown.getvalue()
    assert "seed 77" not in shown.getvalue()


@pytest.mark.not_for_mutants
def test_any_callable_is_an_arm():
    arms = {"cube root": lambda d_k, _n_keys: d_k ** (-1 / 3), "usual": None}
    settings = [Setting(arm, "SGD", 8, 0.1, steps=3) for arm in arms]
    records = run_settings(settings, [0, 1], arms=arms, n_jobs=2)
    assert (records[0].loss[0] == train(0, 8, 0.5, Sgd(0.1), steps=3).loss).all()
    assert (records[1].loss[1] == train(1, 8, None, Sgd(0.1), steps=3).loss).all()


def test_tuning_takes_the_best_rate():
    rates = {"SGD": (1e4, 0.001, 0.1), "Adam": (0.001, 0.1)}
    settings = [Setting(USUAL, name, 4, 1.0, steps=20) for name in ("Adam", "SGD")]
    adam, sgd = tune_rates(settings, rates, [0, 1])
    assert (adam.rates, sgd.rates) == (rates["Adam"], rates["SGD"])
    assert sgd.loss[0] == math.inf  # diverged
    for tuning in (adam, sgd):
        assert tuning.seeds == (0, 1)
        assert tuning.setting.rate == 0.1
        for rate, loss in zip(tuning.rates, tuning.loss, strict=True):
            (record,) = run_settings([replace(tuning.setting, rate=rate)], [0, 1])
            assert loss == record.loss[:, -1].mean()


def test_an_ablation_tunes_on_some_seeds_and_reports_others(trained):
    rates = {"SGD": (0.001, 0.1)}
    tunings, (record,) = run_ablation(
        [replace(SHORT[0], rate=1.0)], rates, tuning_seeds=[0, 1], report_seeds=[7]
    )
    assert tunings[0].setting.rate == 0.1
    assert record.setting == tunings[0].setting
    assert record.seeds == (7,)
    assert record.steps.tolist() == [0, 3]
    assert {(seed, rate) for seed, _, rate in trained} == {
        (0, 0.001), (0, 0.1), (1, 0.001), (1, 0.1), (7, 0.1),
    }  # fmt: skip
    assert not set(TUNING_SEEDS) & set(REPORT_SEEDS)


# files


@pytest.fixture(scope="module")
def small_ablation() -> Ablation:
    settings = [*SHORT, replace(SHORT[0], rate=1e5)]
    records = run_settings(settings, [8, 9])
    assert not np.isfinite(records[-1].loss).all()
    tunings = tune_rates(SHORT[:1], {"SGD": [0.1, 1e5]}, [0])
    return Ablation(tunings, records)


def test_what_is_saved_is_loaded(tmp_path, small_ablation):
    ablation = small_ablation
    file = tmp_path / "table.json"
    save_ablation(file, {"one": ablation, "none": Ablation([], [])}, about={"command": "none"})
    parts = load_ablation(file)
    assert list(parts) == ["one", "none"]
    assert_same(parts["one"].records, ablation.records, rtol=6e-5)
    (tuning,), (loaded,) = ablation.tunings, parts["one"].tunings
    assert vars(loaded) | {"loss": None} == vars(tuning) | {"loss": None}
    assert np.allclose(loaded.loss, tuning.loss, rtol=6e-5)
    text = file.read_text("utf-8")
    assert json.loads(text)["command"] == "none"
    assert max(map(len, text.splitlines())) < 500
    assert USUAL in text


def test_a_loss_of_zero_is_a_loss(tmp_path, small_ablation):
    record = replace(small_ablation.records[0], loss=np.zeros((2, 2)))
    save_ablation(tmp_path / "table.json", {"one": Ablation([], [record])}, about={})
    assert not load_ablation(tmp_path / "table.json")["one"].records[0].loss.any()


def test_what_json_does_not_know_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        save_ablation(tmp_path / "table.json", {}, about={"a number": math.nan})
    assert not list(tmp_path.iterdir())


DAMAGE = {
    "not JSON": lambda table: "{" + json.dumps(table),
    "no parts": lambda table: json.dumps({"command": table}),
    "parts in a list": lambda table: json.dumps({"parts": list(table["parts"].values())}),
}


def damaged(change):
    """Return a damage that changes the first tuning and the first record."""

    def damage(table):
        part = table["parts"]["one"]
        change(part["tunings"][0], part["records"][0])
        return json.dumps(table)

    return damage


DAMAGE |= {
    "no loss": damaged(lambda _tuning, record: record.pop("loss")),
    "one seed less": damaged(lambda _tuning, record: record["seeds"].pop()),
    "one step less": damaged(lambda _tuning, record: record["steps"].pop()),
    "steps before the first": damaged(lambda _tuning, record: record.update(steps=[-1, 3])),
    "a seed twice": damaged(lambda _tuning, record: record.update(seeds=[8, 8])),
    "text for a number": damaged(lambda _tuning, record: record.update(loss=[["a"] * 2] * 2)),
    "a negative loss": damaged(lambda _tuning, record: record.update(loss=[[-1.0, 1.0]] * 2)),
    "rows of different lengths": damaged(lambda _tuning, record: record["loss"][0].pop()),
    "unknown arm": damaged(lambda _tuning, record: record["setting"].update(arm="none")),
    "unknown optimizer": damaged(lambda _tuning, record: record["setting"].update(optimizer="")),
    "unknown entry": damaged(lambda _tuning, record: record["setting"].update(width=3)),
    "a seed that was tuned on": damaged(lambda _tuning, record: record.update(seeds=[8, 0])),
    "not the best rate": damaged(lambda tuning, _record: tuning["setting"].update(rate=1e5)),
    "a rate not tried": damaged(lambda tuning, _record: tuning["setting"].update(rate=0.2)),
    "a loss without a rate": damaged(lambda tuning, _record: tuning["rates"].pop()),
}  # fmt: skip


@pytest.mark.parametrize("label", DAMAGE)
def test_a_damaged_table_is_refused(tmp_path, small_ablation, label):
    file = tmp_path / "table.json"
    save_ablation(file, {"one": small_ablation}, about={})
    load_ablation(file)
    file.write_text(DAMAGE[label](json.loads(file.read_text("utf-8"))), encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be (a table|none)"):
        load_ablation(file)


def tunings_of(*rates: tuple[str, int, float]) -> list[Tuning]:
    return [
        Tuning(Setting(arm, "SGD", d_k, rate), (0,), (rate,), np.zeros(1))
        for arm, d_k, rate in rates
    ]


WRONG = {
    "no optimizer": (lambda: Setting(USUAL, "SDG", 4, 0.1), ValueError, "optimizer", "'SDG'"),
    "no width": (lambda: Setting(USUAL, "SGD", 0, 0.1), ValueError, "d_k", "0"),
    "negative steps": (lambda: replace(SHORT[0], steps=-1), ValueError, "steps", "-1"),
    "measured before": (
        lambda: replace(SHORT[0], record_at=[-1]), ValueError, "record_at", "-1",
    ),
    "no group": (lambda: replace(SHORT[0], group_size=0), ValueError, "group_size", "0"),
    "no groups": (lambda: replace(SHORT[0], n_groups=0), ValueError, "n_groups", "0"),
    "more groups than tags": (
        lambda: replace(SHORT[0], n_groups=33), ValueError, "n_groups", "33",
    ),
    "no length": (lambda: replace(SHORT[0], clip=0), ValueError, "clip", "0"),
    "no rate": (lambda: replace(SHORT[0], rate=0), ValueError, "rate", "0"),
    "no rate of its own": (
        lambda: replace(SHORT[0], query_key_rate=-1), ValueError, "query_key_rate", "-1",
    ),
    "no process": (lambda: run_settings(SHORT, [0], n_jobs=0), ValueError, "n_jobs", "0"),
    "few processes": (lambda: run_settings(SHORT, [0], n_jobs=-2), ValueError, "n_jobs", "-2"),
    "half a process": (lambda: run_settings(SHORT, [0], n_jobs=0.5), TypeError, "n_jobs", "0.5"),
    "no gain": (lambda: replace(SHORT[0], initial_gain="1"), TypeError, "initial_gain", "'1'"),
    "no arm": (lambda: run_settings([Setting("x", "SGD", 4, 1)], [0]), ValueError, "arm", "'x'"),
    "no seed": (lambda: run_settings(SHORT, []), ValueError, "seeds", "()"),
    "a seed twice": (lambda: run_settings(SHORT, [1, 1]), ValueError, "seeds", "(1, 1)"),
    "a negative seed": (lambda: run_settings(SHORT, [-1]), ValueError, "seeds", "-1"),
    "half a seed": (lambda: tune_rates(SHORT, {}, [0.5]), TypeError, "seeds", "0.5"),
    "no rates": (lambda: tune_rates(SHORT, {"SGD": [1]}, [0]), ValueError, "rates", "{'SGD'"),
    "one seed for both": (
        lambda: run_ablation(SHORT, {}, tuning_seeds=[1, 2], report_seeds=[2, 3]),
        ValueError, "report_seeds", "[2]",
    ),
    "a rate of zero": (lambda: quarter_decades(0, 1), ValueError, "lowest", "0"),
    "rates backwards": (lambda: quarter_decades(1, 0.1), ValueError, "lowest", "1"),
    "nothing tuned": (lambda: quick_ablation([]), ValueError, "tunings", "none"),
    "seeds of the tuning": (
        lambda: quick_ablation(tunings_of((UNSCALED, 4, 1), (USUAL, 4, 1)), widths=[4], seeds=[0]),
        ValueError, "seeds", "[0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("label", WRONG)
def test_wrong_arguments(label):
    call, error, argument, received = WRONG[label]
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(f"{argument} must")
    assert f"got {received}" in message


# failure rates


@pytest.mark.parametrize("n", [1, 2, 5, 30, 120])
def test_the_interval_is_that_of_scipy_and_of_the_sums(n):
    for count in range(n + 1):
        low, high = chapter.exact_interval(count, n)
        oracle = stats.binomtest(count, n).proportion_ci(0.95, method="exact")
        assert (low, high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)
        # at its ends so many or more, so many or fewer have a chance of 2.5%
        chances = [
            [math.comb(n, i) * end**i * (1 - end) ** (n - i) for i in range(n + 1)]
            for end in (low, high)
        ]
        assert count == low == 0 or sum(chances[0][count:]) == pytest.approx(0.025)
        assert count == n == n * high or sum(chances[1][: count + 1]) == pytest.approx(0.025)


def test_a_share_counts_runs():
    share = chapter.share_of(np.array([[0.2, 0.9], [0.8, 0.1]]) > 0.5)
    assert share == (2, 4, *chapter.exact_interval(2, 4))
    assert str(chapter.share_of([True] * 30)) == "30 of 30 (88% to 100%)"
    assert str(chapter.share_of(np.zeros(30))) == "0 of 30 (0% to 12%)"


def test_a_run_fails_above_half_of_the_loss_of_one_right_token():
    setting = Setting(USUAL, "SGD", 4, 0.1, group_size=8)  # one right token: 7/8
    loss = np.array([[9.0, 0.4374], [9.0, 0.4376], [0.1, math.inf], [0.1, 0.1]])
    record = Record(setting, (7, 8, 9, 10), np.array([0, 1000]), loss, loss, loss)
    assert chapter.failing(record)[:2] == (2, 4)


@pytest.mark.not_for_mutants
def test_the_last_step_is_known_of_all_seeds(table):
    parts = chapter.Table(table)
    for name in table.keys() - {"more seeds", "shared rate", "steps to a loss"}:
        for record, whole in zip(table[name].records, parts.ended(name), strict=True):
            assert whole.setting == replace(record.setting, record_at=(record.setting.steps,))
            assert whole.seeds == REPORT_SEEDS + MORE_SEEDS
            assert whole.steps.tolist() == [record.setting.steps]
            assert (whole.loss[:5, 0] == record.loss[:, -1]).all()
            assert whole.max_weight.shape == whole.loss.shape == (30, 1)
    (alone,) = parts.ended("steps to a loss", arm=USUAL, optimizer="SGD")
    assert alone.seeds == REPORT_SEEDS


# the committed table


@pytest.fixture(scope="module")
def table() -> dict[str, Ablation]:
    return load_ablation(TABLE)


def found(part: Ablation, arm: str, optimizer: str, d_k: int, **others: float) -> Record:
    """Return the one record of a setting."""
    wanted = {"arm": arm, "optimizer": optimizer, "d_k": d_k} | others
    (record,) = (
        record
        for record in part.records
        if all(getattr(record.setting, name) == value for name, value in wanted.items())
    )
    return record


def after(record: Record, steps: int) -> float:
    """Return the mean loss after so many steps."""
    return dict(zip(record.steps.tolist(), record.mean.tolist(), strict=True))[steps]


@pytest.mark.not_for_mutants
def test_the_table_is_small_and_tells_how_it_was_made(table):
    text = TABLE.read_text("utf-8")
    assert len(text.encode()) < 300_000
    about = json.loads(text)
    assert about["command"] == "make sweep"
    assert set(about["versions"]) == {"python", "numpy"}
    assert tuple(about["tuning seeds"]) == TUNING_SEEDS
    assert tuple(about["reported seeds"]) == REPORT_SEEDS
    assert tuple(about["more seeds"]) == MORE_SEEDS
    assert len({*REPORT_SEEDS, *MORE_SEEDS}) == 30
    assert not {*MORE_SEEDS} & {*TUNING_SEEDS, *REPORT_SEEDS}
    for name, part in table.items():
        seeds = MORE_SEEDS if name == "more seeds" else REPORT_SEEDS
        assert all(record.seeds == seeds for record in part.records)
        assert all(tuning.seeds == TUNING_SEEDS for tuning in part.tunings)
        tuned = [tuning.setting for tuning in part.tunings]
        assert not tuned or tuned == [record.setting for record in part.records]


@pytest.mark.not_for_mutants
def test_the_table_is_what_the_command_makes(table):
    made = {
        "main": command.main_settings(command.WIDTHS),
        "small initial weights": command.small_weight_settings(),
        "one key": command.one_key_settings(),
        "steps to a loss": command.long_settings(),
        "tuned for 300 steps": command.short_settings(command.WIDTHS),
        "own query and key rate": command.own_rate_settings(command.WIDTHS),
        "remedies": command.remedy_settings(),
        "other tasks": command.other_task_settings(),
    }
    assert list(table) == [*made, "shared rate", "more seeds"]
    rates_of = dict.fromkeys(("remedies", "other tasks"), command.COARSE_RATES)
    rates_of["steps to a loss"] = command.LONG_RATES
    for name, settings in made.items():
        rates = rates_of.get(name, command.RATES)
        for setting, tuning in zip(settings, table[name].tunings, strict=True):
            assert replace(tuning.setting, rate=setting.rate) == setting
            assert tuning.rates == rates[setting.optimizer]
    again = command.shared_rate_settings(table["main"].tunings)
    assert [record.setting for record in table["shared rate"].records] == again
    more = command.more_seed_settings(table)
    assert [record.setting for record in table["more seeds"].records] == more


def drawn_row(parts: dict[str, Ablation]) -> tuple[str, Record, int]:
    """Return part, record and place of the seed that this table and version have drawn."""
    digest = hashlib.sha256(TABLE.read_bytes() + attnlib.__version__.encode()).digest()
    rows = [
        (name, record, place)
        for name, part in parts.items()
        for record in part.records
        for place in range(len(record.seeds))
    ]
    return rows[int.from_bytes(digest) % len(rows)]


CALM_STEPS = 30
"""So far unscaled runs at any width agree between processors to nine digits; later few do."""
NUDGE = 1e-10
"""A change of the rate: what grows from it to 1e-5 grows from another processor's last bits too."""


def assert_row(name: str, record: Record, place: int) -> None:
    """Compute a row again, up to 1000 steps, and compare."""
    setting, seed = record.setting, record.seeds[place]
    kept = record.steps <= 1000
    shorter = replace(setting, steps=min(setting.steps, 1000), record_at=record.steps[kept])
    print(f"computed again: {name}, {setting}, seed {seed}")
    nudged = replace(shorter, rate=shorter.rate * (1 + NUDGE))
    again, almost = (run_settings([one], [seed])[0] for one in (shorter, nudged))
    assert (again.steps == record.steps[kept]).all()
    wide = setting.arm == UNSCALED and setting.d_k >= 64
    calm = np.allclose(almost.loss[0], again.loss[0], rtol=1e5 * NUDGE, atol=0)
    exact = again.steps <= (setting.steps if calm or not wide else CALM_STEPS)
    for one in ("loss", "max_weight", "median_gradient"):
        stored, new = getattr(record, one)[:, kept], getattr(again, one)[0]
        assert np.allclose(new[exact], stored[place, exact], rtol=1e-4, atol=1e-12)
        if one != "median_gradient":
            # eight, since five seeds tell little about the spread; 0.01 where all have learned
            allowed = 8 * stored.std(axis=0, ddof=1) + 0.01
            assert (abs(new - stored[place]) <= allowed)[~exact].all()


@pytest.mark.not_for_mutants
def test_a_row_drawn_from_the_table_is_computed_again(table):
    assert_row(*drawn_row(table))


@pytest.mark.not_for_mutants
def test_a_wrong_row_is_noticed(table):
    record = found(table["main"], USUAL, "SGD", 16)
    brief = replace(record.setting, steps=30)
    short = replace(
        record,
        setting=brief,
        steps=record.steps[:3],
        loss=record.loss[:, :3],
        max_weight=record.max_weight[:, :3],
        median_gradient=record.median_gradient[:, :3],
    )
    assert_row("right", short, 0)
    for change in (1e-3, -1e-3):
        wrong = replace(short, loss=short.loss * (1 + change))
        with pytest.raises(AssertionError):
            assert_row("wrong", wrong, 0)


@pytest.mark.not_for_mutants
def test_the_best_rates_lie_inside_the_range(table):
    for part in table.values():
        for tuning in part.tunings:
            assert tuning.rates[0] < tuning.setting.rate < tuning.rates[-1], tuning.setting


@pytest.mark.not_for_mutants
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_the_findings_of_the_table(table, optimizer):
    main = table["main"]
    one_hot = reference_losses(GroupMeanTask()).one_hot
    for d_k in (256, 512):
        # without scaling about as good as a single right key, the usual rule nearly perfect
        unscaled = found(main, UNSCALED, optimizer, d_k)
        assert abs(after(unscaled, 1000) - one_hot) < 0.1
        assert unscaled.max_weight[:, -1].min() > 0.85
        assert after(found(main, USUAL, optimizer, d_k), 1000) < 0.005
    for d_k in (16, 64):
        # narrow heads learn the task without scaling as well, at 64 later
        assert after(found(main, UNSCALED, optimizer, d_k), 1000) < 0.005
    for arm in (USUAL, UNSCALED):
        assert after(found(main, arm, optimizer, 16), 300) < 0.6
    assert after(found(main, UNSCALED, optimizer, 64), 300) > 0.5
    # small initial weights instead of a scale
    for record in table["small initial weights"].records:
        assert after(record, 1000) < 0.005
    # one key is all that is wanted: saturation does less harm
    one_key = found(table["one key"], UNSCALED, optimizer, 256)
    assert after(one_key, 1000) < 0.1


@pytest.mark.not_for_mutants
def test_after_few_steps_at_rates_for_few_steps(table):
    part = table["tuned for 300 steps"]
    for optimizer in ("SGD", "Adam"):
        # a middle width learns later without scaling, a narrow one does not
        assert found(part, UNSCALED, optimizer, 64).loss[:, -1].min() > 0.4
        assert found(part, UNSCALED, optimizer, 16).loss[:, -1].max() < 0.01
        for d_k in (16, 64, 256, 512):
            assert found(part, USUAL, optimizer, d_k).loss[:, -1].max() < 0.02
    for d_k in (256, 512):
        # no other rule is far ahead of the usual one
        usual, by_width, norm = (
            np.median(found(part, arm, "Adam", d_k).loss[:, -1]) for arm in (USUAL, BY_WIDTH, NORM)
        )
        assert usual < min(by_width, norm) < 0.001


@pytest.mark.not_for_mutants
def test_one_over_d_with_rates_of_its_own(table):
    shared = found(table["shared rate"], BY_WIDTH, "SGD", 256)
    own = found(table["own query and key rate"], BY_WIDTH, "SGD", 256)
    assert shared.setting.rate == own.setting.rate
    assert after(shared, 1000) > 10 * after(own, 1000)
    assert after(own, 1000) < 0.005


@pytest.mark.not_for_mutants
def test_how_long_it_takes_without_scaling(table):
    part = table["steps to a loss"]
    for optimizer, fastest in (("SGD", 3000), ("Adam", 2000)):
        unscaled, usual = (
            steps_to_loss(record.steps, record.loss, 0.1)
            for record in (found(part, arm, optimizer, 256) for arm in (UNSCALED, USUAL))
        )
        assert usual.max() <= 150
        assert unscaled.min() > fastest
        assert np.isfinite(unscaled).any()  # slow, not impossible


FRESH_SEEDS = range(500, 503)
"""They appear nowhere else: not in the table, not where the bounds below were chosen."""


@pytest.mark.not_for_mutants
@pytest.mark.parametrize("d_k", [16, 256])
def test_the_findings_on_fresh_seeds(table, d_k):
    # on 30 other seeds: at 256 0.77 and more against 0.062 and less, at 16 0.014 and less
    unscaled, scaled = quick_ablation(table["main"].tunings, widths=[d_k], seeds=FRESH_SEEDS)
    assert unscaled.setting.steps == 300
    assert scaled.loss[:, -1].max() < 0.2
    if d_k == 16:
        assert unscaled.loss[:, -1].max() < 0.1
    else:
        assert unscaled.loss[:, -1].min() > 0.6
