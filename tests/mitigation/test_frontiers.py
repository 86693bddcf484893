"""The frontier of a model: points that were chosen without the held-out rows and judged on them.

Figures are counted again by hand, from the model that is written and the rows themselves.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import testsgd
from testsgd.errors import ConfigurationError, ModelError, ParameterError
from testsgd.mitigation import FrontierResult
from testsgd.mitigation.frontiers.report.layout import paying_table
from testsgd.mitigation.frontiers.report.verdict import frontier_verdict

skops_io = pytest.importorskip("skops.io")

ROWS = 4_000


def world(seed: int = 0) -> tuple[pd.DataFrame, pd.Series[str]]:
    """People whose labels are harder on women of one town, and say so."""
    source = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "town": source.choice(["a", "b", "c"], ROWS),
            "points": source.normal(0, 1, ROWS).round(3),
        }
    )
    harder = (people["sex"] == "f") & (people["town"] == "a")
    noise = source.logistic(0, 0.5, ROWS)
    granted = people["points"] - 0.6 * harder + noise > 0
    return people, pd.Series(np.where(granted, "yes", "no"), name="granted")


def pipeline() -> Any:
    encode = make_column_transformer(
        (OneHotEncoder(drop="if_binary", sparse_output=False), ["sex", "town"]),
        (StandardScaler(), ["points"]),
    )
    return make_pipeline(encode, LogisticRegression())


PEOPLE, GRANTED = world()
# Groups of two features, so that the woman of one town is a group.
# Processes of their own take longer to start than the fits here: one test has two.
SETTINGS: dict[str, Any] = {
    "sensitive_features": ["sex", "town"],
    "max_accuracy_drop": 3.0,
    "jobs": 1,
}


class Counting(LogisticRegression):  # type: ignore[misc]
    """Counts its fits, and is interrupted in one of them where a limit is set."""

    fits = 0
    limit = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Counting.fits += 1
        if Counting.fits == Counting.limit:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def counting() -> Any:
    return make_pipeline(pipeline()[0], Counting()).fit(PEOPLE, GRANTED)


@pytest.fixture(scope="module")
def whole() -> tuple[FrontierResult, int]:
    """Return a frontier and how many fits it took."""
    fitted = counting()
    Counting.fits = 0
    found = testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS)
    return found, Counting.fits


@pytest.fixture(scope="module")
def result(whole: tuple[FrontierResult, int]) -> FrontierResult:
    return whole[0]


def worst_by_hand(rows: pd.DataFrame, selected: Any, *, least: float) -> float:
    """Return the worst difference of all sets of values of sex, town, or both."""
    towns = [{"a"}, {"b"}, {"c"}, {"a", "b"}, {"a", "c"}, {"b", "c"}, {"a", "b", "c"}]
    worst = 0.0
    for sexes in ({"f"}, {"m"}, {"f", "m"}):
        for names in towns:
            inside = (rows["sex"].isin(sexes) & rows["town"].isin(names)).to_numpy()
            if min(inside.mean(), (~inside).mean()) >= least:
                difference = selected[inside].mean() - selected[~inside].mean()
                worst = max(worst, abs(difference))
    return worst


def test_the_written_model_has_the_figures_that_are_printed(
    result: FrontierResult, tmp_path: Path
) -> None:
    summary = result.summary
    assert summary.point is not None
    files = result.write_model(tmp_path)
    model_file = next(file for file in files if file.suffix == ".skops")
    trusted = skops_io.get_untrusted_types(file=model_file)
    model = skops_io.load(model_file, trusted=trusted)
    assert result.outcome is not None
    held_out = result.outcome.problem.held_out
    rows, labels = PEOPLE.iloc[held_out], GRANTED.iloc[held_out].to_numpy()
    said = model.predict(rows)

    assert (said == labels).mean() == pytest.approx(summary.point.accuracy.accuracy)
    worst = worst_by_hand(rows, said == "yes", least=summary.settings.min_share)
    assert worst == pytest.approx(abs(summary.point.worst.difference))
    seen = np.setdiff1d(np.arange(ROWS), held_out)
    plain = pipeline().fit(PEOPLE.iloc[seen], GRANTED.iloc[seen]).predict(rows)
    before = worst_by_hand(rows, plain == "yes", least=summary.settings.min_share)
    assert before == pytest.approx(abs(summary.worst_before.difference))


def test_a_planted_difference_is_lowered_within_the_budget(result: FrontierResult) -> None:
    summary = result.summary
    assert summary.verdict.status == "fairer"
    assert result.exit_code == 0
    assert summary.point is not None
    assert abs(summary.point.worst.difference) < 0.8 * abs(summary.worst_before.difference)
    assert summary.point.accuracy.drop < summary.settings.budget


def test_the_chosen_point_is_the_best_of_those_expected_to_keep_the_budget(
    result: FrontierResult,
) -> None:
    summary = result.summary
    # Of a play, nine tenths of it.
    spent = 0.9 * summary.settings.budget
    kept = [point for point in summary.points if point.expected.accuracy_drop <= spent]
    assert summary.point == min(kept, key=lambda point: abs(point.expected.worst_after))


def test_every_view_says_the_same(result: FrontierResult) -> None:
    again = FrontierResult.from_json(result.to_json())
    assert again.summary == result.summary
    assert result.verdict.headline in result.to_markdown()
    assert again.exit_code == result.exit_code
    with pytest.raises(ParameterError):
        again.write_model("nowhere")


@pytest.mark.parametrize("jobs", [1, 2])
def test_equal_seeds_give_equal_frontiers(result: FrontierResult, jobs: int) -> None:
    fitted = pipeline().fit(PEOPLE, GRANTED)
    again = testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS | {"jobs": jobs})
    assert again.summary.points == result.summary.points
    assert again.summary.verdict == result.summary.verdict


def test_thresholds_are_those_of_the_file(tmp_path: Path) -> None:
    fitted = pipeline().fit(PEOPLE, GRANTED)
    result = testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS, method="thresholds")
    summary = result.summary
    assert summary.point is not None
    assert abs(summary.point.worst.difference) < abs(summary.worst_before.difference)
    files = result.write_model(tmp_path)
    thresholds = pd.read_json(
        next(file for file in files if file.suffix == ".json" and file.stem == "thresholds"),
        typ="series",
    )
    limits = {
        (item["values"]["sex"], item["values"]["town"]): item["threshold"]
        for item in thresholds["thresholds"]
    }
    assert result.outcome is not None
    held_out = result.outcome.problem.held_out
    rows = PEOPLE.iloc[held_out]
    seen = np.setdiff1d(np.arange(ROWS), held_out)
    plain = pipeline().fit(PEOPLE.iloc[seen], GRANTED.iloc[seen])
    scores = plain.predict_proba(rows)[:, list(plain.classes_).index("yes")]
    needed = [limits[pair] for pair in zip(rows["sex"], rows["town"], strict=True)]
    said = scores >= np.array(needed, dtype=float)
    right = said == (GRANTED.iloc[held_out] == "yes").to_numpy()
    assert right.mean() == pytest.approx(summary.point.accuracy.accuracy)


def scores_harder_on_some(people: pd.DataFrame) -> NDArray[np.float64]:
    """Return fixed scores, which are lower for women of one town."""
    harder = (people["sex"] == "f") & (people["town"] == "a")
    return np.asarray(1 / (1 + np.exp(-2 * (people["points"] - harder))))


def rates_of_combinations(places: NDArray[np.intp], selected: Any) -> pd.Series[float]:
    rows = PEOPLE.iloc[places]
    return pd.Series(selected, rows.index).groupby([rows["sex"], rows["town"]]).mean()


@pytest.mark.parametrize("kept", [False, True])
def test_no_combination_is_lowered_if_asked_for(kept: bool) -> None:
    options = {**SETTINGS, "max_accuracy_drop": 10.0, "method": "thresholds"}
    result = testsgd.fair_frontier(
        scores_harder_on_some, PEOPLE, GRANTED, **options, no_rate_lowered=kept
    )
    assert result.outcome is not None
    assert result.outcome.point is not None
    seen = result.outcome.problem.seen
    before = rates_of_combinations(seen, scores_harder_on_some(PEOPLE.iloc[seen]) > 0.5)
    after = rates_of_combinations(seen, result.outcome.point.model.decisions(seen))
    assert (after >= before).all() == kept
    assert worst_by_hand(
        PEOPLE.iloc[seen], result.outcome.point.model.decisions(seen), least=0.05
    ) < worst_by_hand(PEOPLE.iloc[seen], scores_harder_on_some(PEOPLE.iloc[seen]) > 0.5, least=0.05)


@pytest.mark.parametrize("method", ["play", "ensemble"])
def test_another_method_cannot_keep_all_rates(method: Any) -> None:
    fitted = pipeline().fit(PEOPLE, GRANTED)
    with pytest.raises(ParameterError) as refused:
        testsgd.fair_frontier(
            fitted, PEOPLE, GRANTED, **SETTINGS, method=method, no_rate_lowered=True
        )
    assert refused.value.where == "no_rate_lowered"


@pytest.mark.parametrize("named", [False, True])
def test_a_blind_model_does_not_use_the_sensitive_features(named: bool) -> None:
    people = PEOPLE
    estimator = pipeline()  # Its column transformer names the sensitive columns.
    if not named:
        towns = PEOPLE["town"].map({"a": 0, "b": 1, "c": 2})
        people = PEOPLE.assign(sex=(PEOPLE["sex"] == "f").astype(int), town=towns)
        estimator = make_pipeline(StandardScaler(), LogisticRegression())
    fitted = estimator.fit(people, GRANTED)
    result = testsgd.fair_frontier(fitted, people, GRANTED, **SETTINGS, blind=True)
    assert result.outcome is not None
    assert result.outcome.points
    model = result.outcome.points[-1].model
    turned = result.outcome.problem
    places = turned.held_out
    before = model.decisions(places)
    frame = turned.material.table.frame
    one, other = people["sex"].unique()
    frame.loc[:, "sex"] = frame["sex"].map({one: other, other: one}).astype(frame["sex"].dtype)
    assert (model.decisions(places) == before).all()


class Weightless(LogisticRegression):  # type: ignore[misc]  # scikit-learn has no types
    """Takes weights, and refuses them all."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if sample_weight is not None:
            raise ValueError("no weights today")
        return super().fit(X, y)


@pytest.mark.parametrize("method", ["thresholds", "ensemble"])
def test_what_needs_the_sensitive_features_is_not_blind(method: Any) -> None:
    fitted = pipeline().fit(PEOPLE, GRANTED)
    with pytest.raises(ParameterError) as refused:
        testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS, method=method, blind=True)
    assert refused.value.where == "blind"


def test_an_estimator_that_raises_when_it_is_fitted_again_is_named() -> None:
    estimator = pipeline()
    estimator.steps[-1] = ("weightless", Weightless())
    fitted = estimator.fit(PEOPLE, GRANTED)
    with pytest.raises(ModelError, match="no weights today") as raised:
        testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **SETTINGS)
    assert raised.value.remedy


def test_labels_only_and_no_fit_is_refused() -> None:
    def says(rows: pd.DataFrame) -> Any:
        return np.where(rows["points"] > 0, "yes", "no")

    with pytest.raises(ModelError, match="scores"):
        testsgd.fair_frontier(says, PEOPLE, GRANTED, **SETTINGS)


def test_a_penalty_on_an_estimator_is_refused_in_good_grammar() -> None:
    with pytest.raises(ModelError) as caught:
        testsgd.fair_frontier(
            pipeline().fit(PEOPLE, GRANTED), PEOPLE, GRANTED, method="penalty", **SETTINGS
        )
    assert not re.search(r"\ba [aeiou]", str(caught.value))


def test_of_few_rows_the_card_has_no_difference(tmp_path: Path) -> None:
    """Half are of either sex, but of 20 held-out rows no side can have 30."""
    people, granted = PEOPLE[:100], GRANTED[:100]
    found = testsgd.fair_frontier(
        pipeline().fit(people, granted),
        people,
        granted,
        method="thresholds",
        **SETTINGS | {"max_accuracy_drop": 60.0, "max_balanced_drop": 60.0},
    )
    assert found.exit_code == 3
    assert found.summary.point is not None
    found.write_model(tmp_path)
    card = json.loads((tmp_path / "card.json").read_text("utf-8"))
    assert "held-out accuracy" in card
    assert not [key for key in card if "worst" in key]


def test_without_a_difference_nothing_is_called_fairer() -> None:
    source = np.random.default_rng(4)
    labels = pd.Series(
        np.where(PEOPLE["points"] + source.logistic(0, 0.5, ROWS) > 0, "yes", "no"), name="granted"
    )
    fitted = pipeline().fit(PEOPLE[["sex", "town", "points"]], labels)
    result = testsgd.fair_frontier(fitted, PEOPLE, labels, **SETTINGS)
    assert result.verdict.status != "fairer"
    assert result.exit_code != 0


def test_a_budget_that_may_be_exceeded_is_named_once(result: FrontierResult) -> None:
    summary = result.summary
    assert summary.point is not None
    lost = {"drop": 0.04, "drop_interval": (0.02, 0.06)}
    accuracy = summary.point.accuracy.model_copy(update=lost)
    point = summary.point.model_copy(update={"accuracy": accuracy})
    verdict = frontier_verdict(
        summary.model_copy(update={"points": [point], "chosen": 0, "effects": None})
    )
    assert verdict.exit_code == 3
    assert "more than the 3 points allowed; chance may explain that" in verdict.headline
    assert verdict.headline.count("allowed") == 1


def test_of_two_rates_each_row_says_which_it_is(result: FrontierResult) -> None:
    [sides, *_] = result.summary.paying
    pairs = [sides.model_copy(update={"rate": rate}) for rate in ("accuracy", "true_positive_rate")]
    several = paying_table(result.summary.model_copy(update={"paying": pairs}))
    one = paying_table(result.summary.model_copy(update={"paying": pairs[:1]}))
    assert len(several.columns) == len(one.columns) + 1
    assert {len(row.cells) for row in several.rows} == {len(several.columns)}
    for row, rate in zip(several.rows[::2], ("accuracy", "true positive rate"), strict=True):
        assert rate in row.cells


def test_the_points_are_a_frontier(result: FrontierResult) -> None:
    """The more accuracy is lost, the smaller is the difference that is expected."""
    points = [point.expected for point in result.summary.points]
    drops = [point.accuracy_drop for point in points]
    worst = [abs(point.worst_after) for point in points]
    assert drops == sorted(drops)
    assert worst == sorted(worst, reverse=True)
    assert len(set(worst)) == len(worst)
    assert result.summary.tried >= len(points)


def test_neighbours_are_those_of_each_row(result: FrontierResult) -> None:
    """Points are the only feature that is not sensitive: a step down and a step up each."""
    assert result.summary.neighbourhood is not None
    assert result.outcome is not None
    assert result.outcome.point is not None
    problem = result.outcome.problem
    held_out, table = problem.held_out, problem.material.table
    feature = table.specification.features["points"]
    assert feature.range is not None
    low, high = feature.range
    # A step of a decimal is a hundredth of its range.
    size = (high - low) / 100
    rows = table.frame.iloc[held_out]
    asked = result.outcome.point.model.black_box
    assert asked is not None
    shares = np.zeros(len(rows))
    for step in (-size, size):
        moved = rows["points"] + step
        # A neighbour beyond the domain is the row itself.
        moved = moved.where((moved >= low) & (moved <= high), rows["points"])
        shares += asked.decisions(rows.assign(points=moved)) / 2
    worst = worst_by_hand(PEOPLE.iloc[held_out], shares, least=0.05)
    assert result.summary.neighbourhood[1] == pytest.approx(worst)


@pytest.mark.slow
def test_an_interrupted_play_goes_on_to_the_same_end(
    whole: tuple[FrontierResult, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is interrupted in the middle of its fits, and then makes only those that are missing."""
    result, fits = whole
    fitted = counting()
    monkeypatch.setattr(Counting, "fits", 0)
    monkeypatch.setattr(Counting, "limit", 70)
    journal = tmp_path / "journal.json"
    how = SETTINGS | {"journal": journal}
    with pytest.raises(KeyboardInterrupt):
        testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **how)
    assert journal.is_file()
    Counting.fits, Counting.limit = 0, 0
    again = testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **how, resume=True)
    assert again.summary.points == result.summary.points
    assert Counting.fits < fits
    # Other settings are other work.
    with pytest.raises(ConfigurationError):
        testsgd.fair_frontier(fitted, PEOPLE, GRANTED, **how | {"seed": 5}, resume=True)


@pytest.mark.parametrize("objective", ["true_positive_rate", "equalized_odds"])
def test_thresholds_follow_the_objective(objective: str) -> None:
    """The differences before and after are counted again on the held-out rows."""
    fitted = pipeline().fit(PEOPLE, GRANTED)
    result = testsgd.fair_frontier(
        fitted, PEOPLE, GRANTED, **SETTINGS, method="thresholds", objective=objective
    )
    summary = result.summary
    assert summary.method == "thresholds"
    assert result.outcome is not None
    assert result.outcome.point is not None
    held_out = result.outcome.problem.held_out
    rows, deserving = PEOPLE.iloc[held_out], (GRANTED.iloc[held_out] == "yes").to_numpy()
    seen = np.setdiff1d(np.arange(ROWS), held_out)
    plain = pipeline().fit(PEOPLE.iloc[seen], GRANTED.iloc[seen])
    found = []
    for said in (plain.predict(rows) == "yes", result.outcome.point.model.decisions(held_out)):
        parts = {
            "true_positive_rate": [(deserving, said)],
            "equalized_odds": [(deserving, said), (~deserving, said)],
        }[objective]
        found.append(
            max(
                worst_by_hand(rows[counted], hits[counted], least=summary.settings.min_share)
                for counted, hits in parts
            )
        )
    assert summary.worst_before.size == pytest.approx(found[0])
    assert summary.point is not None
    assert summary.point.worst.size == pytest.approx(found[1])
    assert found[1] < found[0]


def test_true_positive_rates_are_brought_together_by_the_play() -> None:
    fitted = pipeline().fit(PEOPLE, GRANTED)
    result = testsgd.fair_frontier(
        fitted, PEOPLE, GRANTED, **SETTINGS, objective="true_positive_rate"
    )
    summary = result.summary
    assert summary.method == "play"
    assert summary.worst_before.rate == "true_positive_rate"
    assert result.outcome is not None
    problem = result.outcome.problem
    held_out = problem.held_out
    seen = np.setdiff1d(np.arange(ROWS), held_out)
    deserving = GRANTED.iloc[held_out].to_numpy() == "yes"
    rows = PEOPLE.iloc[held_out][deserving]
    plain = pipeline().fit(PEOPLE.iloc[seen], GRANTED.iloc[seen]).predict(rows)
    expected = worst_by_hand(rows, plain == "yes", least=summary.settings.min_share)
    assert summary.worst_before.size == pytest.approx(expected)
