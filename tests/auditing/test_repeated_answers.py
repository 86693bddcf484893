"""Models that answer differently when asked twice: refused, or audited by their means."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_up_texts import SPECIFICATION as TEXT_SPECIFICATION
from made_up_texts import by_words, made_up_terms, made_up_texts
from scipy.stats import binom
from sklearn.dummy import DummyClassifier

import testsgd
from testsgd.auditing import AuditResult
from testsgd.errors import ModelError, ParameterError

ROWS = 1200
SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "coins"},
    "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "g": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "wage": {"type": "integer", "range": [0, 1_000_000]},
        "debt": {"type": "integer", "range": [0, 1_000_000]},
    },
}
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people(rows: int = ROWS) -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "g": np.where(random.random(rows) < 0.4, "f", "m"),
            "wage": random.integers(10, 900_000, rows),
            "debt": random.integers(10, 900_000, rows),
        }
    )


def audit(model: Any, **options: Any) -> testsgd.AuditResult:
    rows = options.pop("rows", None)
    return testsgd.audit(
        model, people() if rows is None else rows, SPECIFICATION, **QUICK, **options
    )


def coin(rate: float = 0.5, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return lambda frame: np.where(random.random(len(frame)) < rate, "yes", "no")


def dropout(frame: pd.DataFrame, random: Any = np.random.default_rng(5)) -> Any:  # noqa: B008
    return np.clip(frame["wage"] / 1e6 + random.normal(0, 0.05, len(frame)), 0, 1).to_numpy()


def by_median(frame: pd.DataFrame) -> Any:
    return np.where(frame["wage"] > frame["wage"].median(), "yes", "no")


def by_place(frame: pd.DataFrame) -> Any:
    return np.where(np.arange(len(frame)) % 3 == 0, "yes", "no")


def labels_as_floats(frame: pd.DataFrame, random: Any = np.random.default_rng(6)) -> Any:  # noqa: B008
    return (random.random(len(frame)) < 0.5).astype(float)


@pytest.mark.parametrize(
    "model", [coin(), coin(0.03), dropout, by_median, by_place, labels_as_floats]
)
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_a_model_that_answers_differently_is_refused_in_one_line(model: Any, mode: str) -> None:
    with pytest.raises(ModelError, match="--nondeterministic") as raised:
        audit(model, mode=mode)
    assert "\n" not in str(raised.value)


def rounding(noise: float, near: int, labels: bool) -> Any:
    """A network whose sums depend a little on the size of the batch; some rows lie on the edge."""

    def model(frame: pd.DataFrame) -> Any:
        edge = frame["wage"].to_numpy() < np.sort(people()["wage"].to_numpy())[near]
        sign = 1 if len(frame) > 500 else -1
        scores = np.where(edge, 0.5 + sign * noise, 0.9).astype(np.float32)
        return np.where(scores > 0.5, "yes", "no") if labels else scores

    return model


@pytest.mark.parametrize("near", [1, 200, ROWS - 1])
def test_scores_within_rounding_of_the_threshold_are_no_reason_to_refuse(near: int) -> None:
    assert audit(rounding(1e-6, near, labels=False)).verdict.exit_code == 0


def test_scores_beyond_rounding_are() -> None:
    with pytest.raises(ModelError, match="differently"):
        audit(rounding(0.01, 5, labels=False))


def test_one_label_may_be_rounding_if_the_same_question_is_answered_alike() -> None:
    rows = people(1000)
    lowest = int(rows["wage"].min())

    def model(frame: pd.DataFrame) -> Any:
        return np.where((frame["wage"] == lowest) & (len(frame) < 500), "no", "yes")

    assert audit(model, rows=rows).summary.model.changing == 0

    def two(frame: pd.DataFrame) -> Any:
        few = frame["wage"] <= np.sort(rows["wage"])[1]
        return np.where(few & (len(frame) < 500), "no", "yes")

    with pytest.raises(ModelError, match="2 of the first 1,000"):
        audit(two, rows=rows)


def test_one_random_label_is_refused() -> None:
    calls = iter(range(10_000))

    def model(frame: pd.DataFrame) -> Any:
        labels = np.full(len(frame), "yes")
        if next(calls) % 2:
            labels[0] = "no"
        return labels

    with pytest.raises(ModelError, match="differently"):
        audit(model)


class Recorder:
    """Answers by chance, and counts the favourable answers to every question."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.calls: list[pd.DataFrame] = []

    def __call__(self, frame: pd.DataFrame) -> Any:
        rate = np.where(frame["g"] == "f", 0.3, 0.7)
        answers = self.random.random(len(frame)) < rate
        self.calls.append(frame.assign(yes=answers))
        return np.where(answers, "yes", "no")


@pytest.mark.parametrize("draws", [2, 7])
def test_counts_are_sums_over_the_draws(draws: int) -> None:
    model, rows = Recorder(3), people(300)
    result = audit(model, rows=rows, nondeterministic=draws, estimand="neighbourhood")
    asked = pd.concat(model.calls)
    assert result.summary.model_queries == len(asked)
    # All answers but the trial's, which are the first two times the rows, are about the data.
    after = asked.iloc[2 * len(rows) :]
    assert len(after) == draws * 5 * len(rows)
    own = set(zip(rows["wage"], rows["debt"], strict=True))
    as_they_are = np.array([pair in own for pair in zip(after["wage"], after["debt"], strict=True)])
    moved, observed = after[~as_they_are], after[as_they_are]
    for group in result.summary.groups:
        inside = moved[moved["g"] == group.text[-1]]
        assert group.other is not None
        seen = observed[observed["g"] == group.text[-1]]
        assert len(seen) == draws * group.n_in
        assert group.other.rate_in == pytest.approx(seen["yes"].mean())
        assert group.samples_in == len(inside) == 4 * draws * group.n_in
        assert group.rate_in == pytest.approx(inside["yes"].mean())
        assert not group.exact
        assert group.margin > 0


def test_a_true_flag_takes_some_draws_and_says_so() -> None:
    summary = audit(coin(), nondeterministic=True).summary
    assert summary.parameters.nondeterministic >= 2
    assert 0.4 < summary.model.changing < 0.6
    for text in (AuditResult.document.to_markdown(summary), AuditResult.document.to_html(summary)):
        assert "mean answer" in text
        assert "no sampling error" not in text
    assert audit(lambda f: ["yes"] * len(f), nondeterministic=False).summary.model.changing == 0


@pytest.mark.parametrize("draws", [1, 0, -1, 2.5])
def test_a_mean_is_of_several(draws: Any) -> None:
    with pytest.raises(ParameterError, match="nondeterministic"):
        audit(coin(), nondeterministic=draws)


def test_means_do_not_change_what_a_sure_model_is_found_to_do() -> None:
    def model(frame: pd.DataFrame) -> Any:
        return np.where(frame["wage"] > np.where(frame["g"] == "f", 6e5, 4e5), "yes", "no")

    once, thrice = audit(model), audit(model, nondeterministic=3)
    for first, second in zip(once.summary.groups, thrice.summary.groups, strict=True):
        assert (first.text, first.difference) == (second.text, second.difference)
    assert once.summary.model.fingerprint == thrice.summary.model.fingerprint


@pytest.mark.parametrize("options", [{"mode": "exact"}, {"mode": "sampled", "error_margin": 0.2}])
def test_intervals_cover_the_difference_of_mean_answers(options: dict[str, Any]) -> None:
    random, times = np.random.default_rng(0), 40
    missed: Counter[bool] = Counter()
    for seed in range(times):
        rows = people(150).sample(150, random_state=seed)
        # Every row has a rate of its own; women and men have the same distribution of them.
        result = testsgd.audit(
            lambda frame: np.where(random.random(len(frame)) < frame["wage"] / 1e6, "yes", "no"),
            rows.assign(wage=random.integers(10, 900_000, 150)),
            SPECIFICATION,
            guarantee="per-group",
            stability=0,
            nondeterministic=2,
            **options,
        )
        low, high = result.summary.groups[0].confidence_interval
        missed[not low <= 0 <= high] += 1
    # 5% of 40 may miss; more than this would happen once in 10,000 times.
    assert missed[True] <= binom.isf(1e-4, times, 0.05)


def test_few_queries_make_an_audit_of_means_a_sampled_one() -> None:
    result = audit(coin(0.3), nondeterministic=5, max_queries=20_000)
    assert result.summary.mode == "sampled"
    assert result.summary.model_queries <= 20_000


TEXTS = made_up_texts(400, 2)


def audit_texts(model: Any, **options: Any) -> testsgd.AuditResult:
    return testsgd.audit(
        model, list(TEXTS), TEXT_SPECIFICATION, terms=made_up_terms(), **QUICK, **options
    )


def random_words(seed: int = 0) -> Any:
    random = np.random.default_rng(seed)

    def model(batch: list[str]) -> list[str]:
        return [
            "good" if random.random() < (0.8 if by_words(text) else 0.3) else "bad"
            for text in batch
        ]

    return model


def test_a_model_of_texts_that_answers_differently_is_refused() -> None:
    with pytest.raises(ModelError, match="--nondeterministic"):
        audit_texts(random_words())


def test_a_sure_model_of_texts_is_asked_again_and_both_are_counted() -> None:
    asked: list[str] = []

    def model(batch: list[str]) -> list[str]:
        asked.extend(batch)
        return ["good" if by_words(text) else "bad" for text in batch]

    result = audit_texts(model)
    assert result.summary.model_queries == len(asked)
    again = Counter(asked)
    assert all(again[text] >= 2 for text in TEXTS)


@pytest.mark.parametrize("draws", [2, 5])
def test_counts_of_texts_are_sums_over_the_draws(draws: int) -> None:
    yes: Counter[str] = Counter()
    times: Counter[str] = Counter()
    inner = random_words(7)

    def model(batch: list[str]) -> list[str]:
        answers = inner(batch)
        times.update(batch)
        yes.update(text for text, answer in zip(batch, answers, strict=True) if answer == "good")
        return answers

    result = audit_texts(model, nondeterministic=draws)
    assert set(times.values()) == {draws}
    assert result.summary.model_queries == sum(times.values())
    favourable = sum(yes[text] for text in TEXTS)
    assert result.summary.overall_rate == pytest.approx(favourable / (draws * len(TEXTS)))
    for group in result.summary.groups:
        assert group.samples_in == draws * group.n_in
        assert group.samples_out == draws * group.n_out
        assert not group.exact
        low, high = group.confidence_interval
        assert -1 <= low <= group.difference <= high <= 1
        own = group.counterfactual
        if own is not None:
            assert own.rate_with == pytest.approx(group.rate_in)
            assert own.confidence_interval[0] <= own.difference <= own.confidence_interval[1]


def test_means_do_not_change_what_a_sure_model_of_texts_is_found_to_do() -> None:
    def model(batch: list[str]) -> list[str]:
        return ["good" if by_words(text) else "bad" for text in batch]

    once, thrice = audit_texts(model), audit_texts(model, nondeterministic=3)
    for first, second in zip(once.summary.groups, thrice.summary.groups, strict=True):
        assert (first.text, first.difference) == (second.text, second.difference)
        assert first.counterfactual == second.counterfactual


@pytest.mark.parametrize("options", [{"mode": "sampled"}, {"max_queries": 1000}])
def test_means_of_texts_take_an_exact_audit(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="exact"):
        audit_texts(random_words(), nondeterministic=2, **options)


def test_held_out_rows_and_texts_are_means_too() -> None:
    assert audit(coin(), nondeterministic=2, holdout=0.5).summary.holdout is not None
    assert audit_texts(random_words(), nondeterministic=2, holdout=0.5).summary.holdout is not None


@pytest.mark.parametrize("call", [testsgd.compare, testsgd.mitigate])
def test_what_needs_a_sure_model_refuses_means(call: Any) -> None:
    with pytest.raises(ParameterError, match="nondeterministic"):
        call(None, None, "demo", nondeterministic=3)


@pytest.mark.parametrize("call", [testsgd.audit, testsgd.compare, testsgd.mitigate])
def test_an_estimator_that_draws_its_labels_is_refused_everywhere(call: Any) -> None:
    rows = people().assign(y=np.where(people()["wage"] > 400_000, "yes", "no"))
    features = list(SPECIFICATION["features"])
    drawn = DummyClassifier(strategy="uniform").fit(rows[features], rows["y"])
    options: dict[str, Any] = {"methods": "gerryfair"} if call is testsgd.compare else {}
    with pytest.raises(ModelError, match="differently"):
        call(drawn, rows, SPECIFICATION, **options)
