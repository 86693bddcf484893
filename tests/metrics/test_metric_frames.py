"""Groups and values of an audit of metrics as data frames, as masks, and drawn."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import testsgd
from testsgd import MetricsResult
from testsgd.errors import DataError, ParameterError

ROWS = 1200
METRICS = ("selection_rate", "true_positive_rate")


def made_up() -> tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any]]:
    """Return people, what was said of them, and what is true; few are of one town."""
    random = np.random.default_rng(4)
    people = pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], ROWS),
            "town": random.choice(["A", "B", "C", "D"], ROWS, p=[0.5, 0.3, 0.197, 0.003]),
            "age": random.integers(18, 80, ROWS),
        }
    )
    true = pd.Series(random.integers(0, 2, ROWS))
    harmed = (people["sex"] == "f") & (people["age"] < 40)
    said = pd.Series(np.where(random.random(ROWS) < 0.6 - 0.4 * harmed, true, 0))
    return people, said, true


PEOPLE, SAID, TRUE = made_up()


@pytest.fixture(scope="module")
def result() -> MetricsResult:
    return testsgd.audit_metrics(
        SAID,
        TRUE,
        sensitive_features=PEOPLE,
        metrics=list(METRICS),
        stability=0,
        confidence=0.9,
        min_rows=50,
    )


def chosen_by(row: pd.Series[Any]) -> pd.Series[bool]:
    """Return who is in the group of a line of the frame, by its columns of features alone."""
    mask = pd.Series(np.ones(ROWS, dtype=bool))
    for feature in ("sex", "town"):
        if row[feature] is not None:
            joined = PEOPLE[feature].where(PEOPLE[feature] != "D", other="other")
            mask &= PEOPLE[feature].isin(row[feature]) | joined.isin(row[feature])
    if row["age"] is not None:
        # An interval is written as Python and pandas write it, too.
        text = row["age"]
        if text.count("<") == 2:
            low, high = text.split(" <= age < ")
            mask &= (PEOPLE["age"] >= float(low)) & (PEOPLE["age"] < float(high))
        else:
            mask &= PEOPLE.eval(text)
    return mask


def value_of(metric: str, mask: Any) -> tuple[int, float]:
    """Return how many rows a metric counts, and its value, by pandas."""
    counts = mask & (TRUE == 1) if metric == "true_positive_rate" else mask
    return int(counts.sum()), float(SAID[counts].mean())


def test_numbers_of_the_frame_are_those_of_its_rows(result: MetricsResult) -> None:
    frame = result.to_frame()
    assert set(frame["metric"]) == set(METRICS)
    pd.testing.assert_frame_equal(frame.drop(columns=list(PEOPLE)), result.groups)
    for _, row in frame.iloc[:: max(1, len(frame) // 60)].iterrows():
        mask = chosen_by(row)
        assert row["rows"] == mask.sum()
        inside, value = value_of(row["metric"], mask)
        outside, reference = value_of(row["metric"], ~mask)
        assert (row["counted"], row["reference_counted"]) == (inside, outside)
        assert (row["value"], row["reference_value"]) == pytest.approx((value, reference))
        assert row["effect"] == pytest.approx(value - reference)
        assert row["ci_low"] <= row["effect"] <= row["ci_high"]


def test_masks_are_those_of_pandas(result: MetricsResult) -> None:
    frame = result.to_frame()
    for _, row in frame[frame["rank"] <= 8].iterrows():
        mask = result.mask(row["rank"], PEOPLE, metric=row["metric"])
        assert mask.tolist() == chosen_by(row).tolist()
    for group in result.summary.metrics[1].groups:
        if "other" not in group.text:
            assert group.mask(PEOPLE).sum() == group.rows
    first = result.mask(1, PEOPLE)
    assert first.tolist() == result.mask(1, PEOPLE, metric=METRICS[0]).tolist()


def test_masks_that_cannot_be_made(result: MetricsResult) -> None:
    for rank in (0, 10**6):
        with pytest.raises(ParameterError):
            result.mask(rank, PEOPLE)
    with pytest.raises(ParameterError):
        result.mask(1, PEOPLE, metric="accuracy")
    with pytest.raises(DataError):
        result.mask(1, PEOPLE[[]])


def test_values_by_feature_are_those_of_pandas(result: MetricsResult) -> None:
    values = result.by_feature()
    assert set(values["feature"]) == set(PEOPLE)
    for feature in PEOPLE:
        of_feature = values[values["feature"] == feature]
        for metric in METRICS:
            of_metric = of_feature[of_feature["metric"] == metric]
            assert of_metric["n"].sum() == ROWS
            assert of_metric["counted"].sum() == value_of(metric, TRUE >= 0)[0]
    for sex in ("f", "m"):
        for metric in METRICS:
            same = (values["value"] == sex) & (values["metric"] == metric)
            [row] = values[same].to_dict("records")
            counted, value = value_of(metric, PEOPLE["sex"] == sex)
            assert (row["counted"], row["rate"]) == (counted, pytest.approx(value))
            # The interval of Clopper and Pearson, for the value by itself.
            hits = round(counted * value)
            low = beta.ppf(0.05, hits, counted - hits + 1)
            high = beta.ppf(0.95, hits + 1, counted - hits)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-6)


def test_nothing_is_said_of_few_people() -> None:
    people = pd.DataFrame({"sex": ["f"] * 200 + ["m"] * 200, "town": ["A"] * 397 + ["B"] * 3})
    result = testsgd.audit_metrics(
        [0, 1] * 200,
        sensitive_features=people,
        features={"town": {"values": ["A", "B"]}},
        stability=0,
    )
    values = result.by_feature()
    few = values["counted"] < 5
    assert values.loc[few, ["rate", "ci_low", "ci_high"]].isna().all(axis=None)
    assert values.loc[~few, "rate"].notna().all()


def test_a_saved_result_gives_the_same_tables(result: MetricsResult) -> None:
    back = MetricsResult.from_json(result.to_json())
    pd.testing.assert_frame_equal(back.by_feature(), result.by_feature())
    index = ["metric", "rank"]
    saved = back.to_frame().set_index(index)
    whole = result.to_frame().set_index(index).loc[saved.index]
    pd.testing.assert_frame_equal(saved, whole, check_dtype=False)
    assert back.distinct["text"].tolist() == result.distinct["text"].tolist()


def test_a_result_without_values_by_feature_can_be_read(result: MetricsResult) -> None:
    """Earlier versions did not write them."""
    document = json.loads(result.to_json())
    del document["features"]
    back = MetricsResult.from_json(json.dumps(document))
    assert back.by_feature().empty
    assert back.to_html()


def test_sections_of_the_report(result: MetricsResult) -> None:
    page = result.to_html()
    places = [
        page.index(f'<section id="{key}"') for key in ("rates", "differences", "unknown", "limits")
    ]
    assert places == sorted(places)
    folded = page[page.index('<section id="limits"') :]
    for key in ("each", "ranking", "particulars", "meaning"):
        assert f'<section id="{key}"' in folded
    assert page.index('class="signature"') < places[0]
    # One table of each metric can be searched, by the one script that the policy allows.
    assert page.count("data-search=") == len(METRICS)
    assert page.count("<script") == 1
    ranking = page[page.index('<section id="ranking"') :]
    assert 'class="folded unprinted"' in ranking[: ranking.index(">")]
    for metric in result.summary.metrics:
        for group in metric.groups:
            assert group.rules[0].text.replace("<", "&lt;").replace(">", "&gt;") in ranking


def test_a_notebook_shows_values_and_groups(result: MetricsResult) -> None:
    shown = result._repr_html_()
    assert len(shown) < 200_000
    assert "town" in shown
    assert "<script" not in shown


@pytest.mark.plot
@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_dots_are_at_effects_and_values(measure: str) -> None:
    pytest.importorskip("matplotlib")
    result = testsgd.audit_metrics(
        SAID,
        TRUE,
        sensitive_features=PEOPLE[["sex", "town"]],
        metrics=list(METRICS),
        stability=0,
        measure=measure,
    )
    figure = result.plot()
    target = io.BytesIO()
    figure.savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")
    groups, by_feature = figure.axes[: len(METRICS)], figure.axes[len(METRICS) :]

    def dots(panel: Any) -> list[float]:
        lines = [line for line in panel.lines if line.get_marker() == "o"]
        return [float(line.get_xdata()[0]) for line in lines if len(line.get_xdata())]

    factor = 100 if measure == "difference" else 1
    for panel, metric in zip(groups, METRICS, strict=True):
        distinct = result.distinct[result.distinct["metric"] == metric]
        assert dots(panel) == pytest.approx((factor * distinct["effect"])[: len(dots(panel))])
        assert dots(panel)
    values = result.by_feature().dropna()
    for panel, feature in zip(by_feature, ("sex", "town"), strict=True):
        rates = 100 * values.loc[values["feature"] == feature, "rate"]
        assert sorted(dots(panel)) == pytest.approx(sorted(rates))


@pytest.mark.plot
def test_means_of_numbers_have_panels_of_their_own() -> None:
    pytest.importorskip("matplotlib")
    wages = 40 + 3.0 * PEOPLE["age"]
    result = testsgd.audit_metrics(
        wages, sensitive_features=PEOPLE[["sex"]], metrics="mean", stability=0
    )
    [_, panel] = result.plot().axes
    drawn = [line.get_xdata()[0] for line in panel.lines if len(line.get_xdata()) == 1]
    assert drawn == pytest.approx(wages.groupby(PEOPLE["sex"]).mean().tolist())
