"""Predictions of rows that repeat one person: the person is one unit, or the audit is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditResult, audit_decisions
from testsgd.auditing.run import part_of_rows
from testsgd.data import DatasetSpecification, check_table
from testsgd.data.column_notes import column_notes_among
from testsgd.errors import ParameterError
from testsgd.metrics import audit_described_by_metrics, audit_described_counts
from testsgd.metrics.files import audit_described_predictions, audit_file_of_predictions

PEOPLE = 200
TIMES = 6
SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "repaid", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "merit": {"type": "integer", "range": [0, 99]},
    },
}
CLUSTERED = {**SPECIFICATION, "data": {"cluster": "person"}}
NUMBERED = {
    **CLUSTERED,
    "features": {**SPECIFICATION["features"], "person": {"type": "integer", "range": [0, PEOPLE]}},
}
QUICK: dict[str, Any] = {"stability": 0, "replicates": 99}


def grant(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["merit"] >= 50, "yes", "no")


def people() -> pd.DataFrame:
    """Draw people, each several times with the same decision and score."""
    generator = np.random.default_rng(5)
    drawn = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], PEOPLE),
            "merit": generator.integers(0, 100, PEOPLE),
            "repaid": generator.choice(["no", "yes"], PEOPLE),
            "person": np.arange(PEOPLE),
        }
    )
    drawn["granted"] = grant(drawn)
    drawn["score"] = drawn["merit"] / 100 + 0.001
    drawn["weight"] = 1.5
    order = generator.permutation(np.repeat(np.arange(PEOPLE), TIMES))
    return drawn.iloc[order].reset_index(drop=True)


ROWS = people()


def audited(description: Any, data: Any = ROWS, **options: Any) -> AuditResult:
    result = audit_described_predictions(
        description, data, predictions="granted", **{**QUICK, **options}
    )
    assert isinstance(result, AuditResult)
    return result


def sizes(result: AuditResult) -> list[float]:
    assert result.findings is not None
    estimates = result.findings.estimates
    assert np.all(estimates.independent_in <= estimates.rows_in / TIMES + 1e-9)
    return [*estimates.independent_in, *estimates.independent_out]


@pytest.mark.parametrize("description", [CLUSTERED, NUMBERED])
@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate"])
def test_predictions_are_judged_as_a_model_that_gives_them(description: Any, metric: str) -> None:
    options: dict[str, Any] = {"metric": metric, "estimand": "observed", **QUICK}
    of_model = testsgd.audit(grant, ROWS, description, **options)
    result = audited(description, metric=metric)
    assert result.summary.data.cluster == "person"
    assert result.summary.data.independent == of_model.summary.data.independent
    assert sizes(result) == pytest.approx(sizes(of_model))
    columns = ["text", "rate_in", "rate_out", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(result.groups[columns], of_model.groups[columns])
    assert "“person”" in result.to_markdown()


def test_rows_of_a_file_and_chosen_ones(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    ROWS.to_csv(path, index=False)
    result = audited(CLUSTERED, path)
    assert result.summary.data.independent == PEOPLE
    chosen = audited(CLUSTERED, path, rows="merit < 70").summary.data
    assert chosen.independent == ROWS.loc[ROWS["merit"] < 70, "person"].nunique()
    limited = audited(CLUSTERED, path, limit=300).summary.data
    assert limited.rows == 300
    assert limited.independent is not None
    assert limited.independent <= PEOPLE


def test_a_split_keeps_people_together() -> None:
    data = audited(CLUSTERED, holdout=0.1).summary.data
    assert data.cluster == "person"
    assert data.independent is not None
    assert data.independent < data.rows


def test_without_the_key_each_row_counts() -> None:
    clustered = audited(CLUSTERED).groups.iloc[0]
    each = audited(SPECIFICATION, equal_rows="each")
    assert each.summary.data.cluster is None
    width = clustered["ci_high"] - clustered["ci_low"]
    assert each.groups.iloc[0]["ci_high"] - each.groups.iloc[0]["ci_low"] < width / 1.5


def test_clusters_of_decisions_without_a_description() -> None:
    result = audit_decisions(
        ROWS["granted"], sensitive_features=ROWS[["gender"]], clusters=ROWS["person"], **QUICK
    )
    assert result.summary.data.cluster == "person"
    assert result.summary.data.independent == PEOPLE
    with pytest.raises(testsgd.TestSGDError, match="clusters"):
        audit_decisions(
            ROWS["granted"], sensitive_features=ROWS[["gender"]], clusters=ROWS["person"][:-1]
        )


def ask_by_name(**options: Any) -> AuditResult:
    features = ROWS[["gender", "merit", "person"]]
    return testsgd.audit(grant, features, ROWS["repaid"], clusters="person", **options)


def ask_by_values(**options: Any) -> AuditResult:
    features = ROWS[["gender", "merit"]]
    return testsgd.audit(grant, features, ROWS["repaid"], clusters=ROWS["person"], **options)


@pytest.mark.parametrize("ask", [ask_by_name, ask_by_values])
def test_a_model_without_a_description(ask: Callable[..., AuditResult]) -> None:
    options: dict[str, Any] = {"estimand": "observed", **QUICK}
    described = testsgd.audit(grant, ROWS, CLUSTERED, **options)
    result = ask(sensitive_features=["gender"], **options)
    assert result.summary.data.cluster == "person"
    assert result.summary.data.independent == PEOPLE
    columns = ["text", "rate_in", "rate_out", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(result.groups[columns], described.groups[columns])
    assert not column_notes_among(result.summary.data.notes)


def test_a_model_is_not_given_the_column_of_people() -> None:
    seen: set[str] = set()

    def watch(frame: pd.DataFrame) -> np.ndarray:
        seen.update(frame.columns)
        return grant(frame)

    rows = ROWS[["gender", "merit", "person"]]
    testsgd.audit(watch, rows, sensitive_features=["gender"], clusters="person", **QUICK)
    assert seen == {"gender", "merit"}


@pytest.mark.parametrize("features", [["site"], ROWS[["gender"]].assign(site=ROWS["person"] % 4)])
def test_one_that_is_sensitive_too_is_refused(features: Any) -> None:
    rows = ROWS[["gender", "merit"]].assign(site=ROWS["person"] % 4)
    given = {"sensitive_features": features, "clusters": "site"}
    with pytest.raises(ParameterError, match="'site'"):
        testsgd.audit(grant, rows, ROWS["repaid"], **given)
    if isinstance(features, pd.DataFrame):
        with pytest.raises(ParameterError, match="'site'"):
            testsgd.audit_predictions(ROWS["granted"], **given)


def test_one_that_names_nobody_is_refused() -> None:
    rows = ROWS.assign(person=None)
    for call in (
        lambda: testsgd.audit_predictions(
            rows["granted"], sensitive_features=rows[["gender"]], clusters=rows["person"]
        ),
        lambda: testsgd.audit(grant, rows, CLUSTERED),
    ):
        with pytest.raises(testsgd.TestSGDError, match="person"):
            call()


def test_rows_without_a_person_are_counted_in_a_note() -> None:
    person = ROWS["person"].where(ROWS.index >= 30)
    results = [
        testsgd.audit_predictions(
            ROWS["granted"], sensitive_features=ROWS[["gender"]], clusters=person, **QUICK
        ),
        testsgd.audit(grant, ROWS.assign(person=person), CLUSTERED, **QUICK),
    ]
    for result in results:
        assert any("30 of 1,200" in note for note in result.summary.data.notes)


def test_one_that_repeats_in_no_row_changes_nothing() -> None:
    rows = ROWS.drop_duplicates("person").reset_index(drop=True)
    options: dict[str, Any] = {"sensitive_features": rows[["gender"]], **QUICK}
    plain = testsgd.audit_predictions(rows["granted"], equal_rows="each", **options)
    result = testsgd.audit_predictions(rows["granted"], clusters=rows["person"], **options)
    pd.testing.assert_frame_equal(result.groups, plain.groups)
    assert result.summary.data.independent is None
    assert result.summary.data.cluster == "person"
    assert "same people" not in result.to_markdown()


def test_people_are_held_out_whatever_their_number_of_rows() -> None:
    generator = np.random.default_rng(8)
    times = np.where(np.arange(4000) % 2, 9, 1)
    person = generator.permutation(np.repeat(np.arange(4000), times))
    frame = pd.DataFrame({"gender": generator.choice(["f", "m"], len(person))})
    table = check_table(
        frame.assign(person=person, merit=1, repaid=np.where(frame.index % 2, "yes", "no")),
        DatasetSpecification.model_validate(CLUSTERED),
    )
    held_out = person[part_of_rows(table, 0.5, 3)]
    shares = [np.isin(np.flatnonzero(times == size), held_out).mean() for size in (1, 9)]
    # Of 2,000 people of either kind a half, within four standard deviations.
    assert np.allclose(shares, 0.5, atol=4 * 0.5 / np.sqrt(2000))


def test_chosen_rows_keep_their_people() -> None:
    chosen = ask_by_name(sensitive_features=["gender"], rows="merit < 70", **QUICK).summary.data
    assert chosen.independent == ROWS.loc[ROWS["merit"] < 70, "person"].nunique()
    limited = ask_by_values(sensitive_features=["gender"], limit=300, **QUICK).summary.data
    assert limited.independent is not None
    assert limited.independent <= PEOPLE


@pytest.mark.parametrize("clusters", ["nobody", [1, 2], ROWS["person"].iloc[::-1]])
def test_keys_that_do_not_fit_are_refused(clusters: Any) -> None:
    given = {"sensitive_features": ROWS[["gender"]], "clusters": clusters}
    for call in (
        lambda: testsgd.audit_predictions(ROWS["granted"], **given),
        lambda: testsgd.audit(grant, ROWS[["gender", "merit"]], ROWS["repaid"], **given),
    ):
        with pytest.raises(testsgd.TestSGDError, match=r"clusters|nobody"):
            call()


@pytest.mark.parametrize("options", [{"metrics": "selection_rate"}, {"sample_weight": 1.5}])
def test_predictions_by_metrics_take_no_keys(options: dict[str, Any]) -> None:
    if "sample_weight" in options:
        options = {"sample_weight": ROWS["weight"]}
    with pytest.raises(ParameterError, match="'person'") as caught:
        testsgd.audit_predictions(
            ROWS["granted"],
            sensitive_features=ROWS[["gender"]],
            clusters=ROWS["person"],
            **options,
        )
    assert "--metrics" in caught.value.remedy


@pytest.mark.parametrize("asked", ["condition_on", "within"])
def test_what_takes_rows_for_independent_is_refused(asked: str) -> None:
    with pytest.raises(ParameterError, match=asked) as caught:
        audited(CLUSTERED, **{asked: "merit"})
    assert "'person'" in caught.value.remedy


def compared(**options: Any) -> Any:
    """Return a call that compares metrics of predictions, with or without clusters."""
    given = {"predictions": "granted", **options}
    return lambda description: audit_described_predictions(description, ROWS, **given)


DOORS: dict[str, Callable[[Any], Any]] = {
    "a model": lambda description: audit_described_by_metrics(
        grant, ROWS, description, metrics="selection_rate"
    ),
    "a model by default": lambda description: audit_described_by_metrics(grant, ROWS, description),
    "metrics": compared(metrics="selection_rate"),
    "a reference": compared(reference="best"),
    "a rule": compared(rule="four-fifths"),
    "weights": compared(weights="weight"),
    "scores": compared(predictions="score"),
    "scores and a threshold": compared(predictions="score", threshold=0.5),
    "metrics of scores": compared(predictions="score", metrics="mean_score"),
    "counts": lambda description: audit_described_counts(
        description,
        ROWS.groupby(["gender", "granted"]).size().reset_index(name="rows"),
        predictions="granted",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_metrics_take_no_clusters(door: str) -> None:
    with pytest.raises(ParameterError) as caught:
        DOORS[door](CLUSTERED)
    assert "'person'" in str(caught.value)
    assert "cluster" in caught.value.where
    assert "\n" not in str(caught.value)
    # The other remedy, to leave the key out.
    DOORS[door](SPECIFICATION)


def test_the_remedy_for_scores_names_decisions() -> None:
    for door, of_scores in {"metrics": False, "scores": True, "metrics of scores": True}.items():
        with pytest.raises(ParameterError) as caught:
            DOORS[door](CLUSTERED)
        assert ("decisions" in caught.value.remedy) is of_scores
        assert ("--metrics" in caught.value.remedy) is (door != "scores")


@pytest.mark.parametrize("times", [1, 5])
def test_copies_of_rows_are_noted_by_metrics(tmp_path: Path, times: int) -> None:
    generator = np.random.default_rng(7)
    different = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], PEOPLE),
            "merit": generator.integers(0, 100, PEOPLE),
            "income": generator.normal(100, 20, PEOPLE).round(2),
            "approved": generator.choice(["no", "yes"], PEOPLE),
        }
    )
    path = tmp_path / "people.csv"
    pd.concat([different] * times).to_csv(path, index=False)
    result = audit_file_of_predictions(
        path,
        predictions="approved",
        sensitive_features=["gender"],
        metrics="selection_rate",
        stability=0,
    )
    notes = column_notes_among(result.summary.data.notes)
    assert len(notes) == (times > 1)
    if notes:
        assert f"{PEOPLE * (times - 1):,} of {PEOPLE * times:,}" in notes[0]


@pytest.mark.parametrize("are_people_named", [True, False])
def test_looks_that_take_rows_for_independent_are_named(are_people_named: bool) -> None:
    features = ROWS[["gender", "merit"]]
    options: dict[str, Any] = (
        {"clusters": ROWS["person"]} if are_people_named else {"equal_rows": "each"}
    )
    result = testsgd.audit_predictions(ROWS["granted"], sensitive_features=features, **options)
    named = [text for text in result.verdict.sentences if "independent" in text]
    assert (len(named) == 1 and "finer cuts" in named[0]) is are_people_named
    assert (result.summary.finer is None) is are_people_named
