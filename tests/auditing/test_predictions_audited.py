"""Predictions that exist are audited as a model that says the same would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import testsgd
from testsgd.errors import DataError, ParameterError, TestSGDError

ROWS = 3000
SOURCE = np.random.default_rng(8)
PEOPLE = pd.DataFrame(
    {
        "sex": SOURCE.choice(["f", "m"], ROWS),
        "race": SOURCE.choice(["A", "B", "C"], ROWS),
        "age": SOURCE.integers(18, 80, ROWS),
    }
)
RATES = 0.5 + 0.3 * (PEOPLE["sex"] == "m") - 0.2 * (PEOPLE["race"] == "B")
DECIDED = pd.Series(np.where(SOURCE.random(ROWS) < RATES, "yes", "no"))
# Few bootstrap samples, as nothing here depends on them.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def test_rates_are_those_of_the_groups_counted_by_hand() -> None:
    result = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE, **QUICK)
    favourable = DECIDED == "yes"
    conditions = {
        "sex = m": PEOPLE["sex"] == "m",
        "race = B": PEOPLE["race"] == "B",
        "sex = f and race = B": (PEOPLE["sex"] == "f") & (PEOPLE["race"] == "B"),
    }
    groups = result.groups.set_index("text")
    for text, inside in conditions.items():
        assert groups.loc[text, "rate_in"] == favourable[inside].mean()
        assert groups.loc[text, "rate_out"] == favourable[~inside].mean()
        assert groups.loc[text, "n_in"] == inside.sum()


def test_it_finds_what_an_audit_of_a_model_finds_among_the_rows_as_they_are() -> None:
    described = {
        "dataset": {"name": "people"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "race": {"type": "categorical", "values": ["A", "B", "C"], "sensitive": True},
            "number": {"type": "integer", "range": [0, ROWS]},
        },
    }
    rows = PEOPLE[["sex", "race"]].assign(number=np.arange(ROWS))

    def known(frame: pd.DataFrame) -> pd.Series[Any]:
        places = frame["number"].clip(0, ROWS - 1)
        return DECIDED.iloc[places].set_axis(frame.index)

    asked = testsgd.audit(known, rows, described, **QUICK)
    given = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE[["sex", "race"]], **QUICK)
    columns = ["text", "n_in", "rate_in", "rate_out", "difference", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(given.groups[columns], asked.groups[columns])


def test_no_model_is_asked_and_the_result_says_so() -> None:
    result = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE, **QUICK)
    summary = result.summary
    assert summary.model_queries == summary.neighbourhood == 0
    assert summary.data.predictions_given
    assert [item.estimand for item in summary.estimands] == ["observed"]
    assert all(group.other is None for group in summary.groups)
    assert "the model" not in summary.verdict.headline
    assert {column.name for column in summary.data.inferred} == set(PEOPLE)


def test_true_labels_give_the_agreement_and_change_no_rate() -> None:
    truth = pd.Series(np.where(SOURCE.random(ROWS) < 0.5, "yes", "no"), name="repaid")
    with_truth = testsgd.audit_predictions(DECIDED, truth, sensitive_features=PEOPLE, **QUICK)
    without = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE, **QUICK)
    assert with_truth.summary.model.accuracy == (truth == DECIDED).mean()
    assert without.summary.model.accuracy is None
    pd.testing.assert_frame_equal(with_truth.groups, without.groups)


@pytest.mark.parametrize("kind", ["numbers", "booleans", "texts", "categories"])
def test_any_two_classes_are_read(kind: str) -> None:
    favourable = DECIDED == "yes"
    predictions = {
        "numbers": favourable.astype(int),
        "booleans": favourable,
        "texts": DECIDED,
        "categories": DECIDED.astype("category"),
    }[kind]
    result = testsgd.audit_predictions(predictions, sensitive_features=PEOPLE, **QUICK)
    assert result.summary.overall_rate == favourable.mean()


def test_columns_of_polars_and_an_index_of_another_order_change_nothing() -> None:
    expected = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE, **QUICK).groups
    shuffled = np.random.default_rng(1).permutation(ROWS)
    frames = [pl.from_pandas(PEOPLE), PEOPLE.set_index(shuffled), PEOPLE.to_dict("list")]
    for frame in frames:
        found = testsgd.audit_predictions(DECIDED.tolist(), sensitive_features=frame, **QUICK)
        pd.testing.assert_frame_equal(found.groups, expected)


def test_what_is_given_is_not_changed() -> None:
    people, decided = PEOPLE.copy(), DECIDED.copy()
    testsgd.audit_predictions(decided, sensitive_features=people, **QUICK)
    pd.testing.assert_frame_equal(people, PEOPLE)
    pd.testing.assert_series_equal(decided, DECIDED)


def test_other_features_are_shown_and_no_rule_is_about_them() -> None:
    others = pd.DataFrame({"income": 50 + 10 * RATES + SOURCE.normal(size=ROWS)})
    result = testsgd.audit_predictions(
        DECIDED, sensitive_features=PEOPLE[["sex"]], other_features=others, **QUICK
    )
    first = result.summary.groups[0]
    assert first.explanation is not None
    assert [item.feature for item in first.explanation.correlated_features] == ["income"]
    assert not any("income" in group.text for group in result.summary.groups)


@pytest.mark.parametrize(
    "given",
    [
        {"y_pred": DECIDED[:-1]},
        {"y_pred": DECIDED.where(DECIDED.index > 0)},
        {"y_pred": ["yes"] * ROWS},
        {"y_true": DECIDED[:-1]},
        {"sensitive_features": [1, 2, 3]},
        {"sensitive_features": PEOPLE[:0]},
        {"sensitive_features": PEOPLE.assign(number=[f"P{n}" for n in range(ROWS)])},
        {"favourable": "maybe"},
        {"features": {"hight": {}}},
        {"estimand": "neighbourhood"},
        {"mode": "sampled"},
        {"nondeterministic": True},
        {"rank_by": "counterfactual"},
    ],
)
def test_mistakes_are_one_line(given: dict[str, Any]) -> None:
    arguments = {"y_pred": DECIDED, "sensitive_features": PEOPLE} | given
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit_predictions(**arguments)
    assert "\n" not in str(caught.value)


def test_true_labels_may_have_other_classes_than_the_predictions() -> None:
    labels = np.array(["later", "yes", "no"])
    truth = pd.Series(labels[np.arange(ROWS) % 3], name="repaid")
    result = testsgd.audit_predictions(DECIDED, truth, sensitive_features=PEOPLE, **QUICK)
    # As everywhere, the favourable label is compared with all others together.
    agreeing = (truth == "yes") == (DECIDED == "yes")
    assert result.summary.model.accuracy == agreeing.mean()
    # But a prediction that no true label is may be a slip of the pen.
    for strange in ((truth == "yes").astype(int), truth.replace("no", "later")):
        with pytest.raises(TestSGDError):
            testsgd.audit_predictions(DECIDED, strange, sensitive_features=PEOPLE, **QUICK)


def test_a_limit_draws_a_sample_and_says_so() -> None:
    result = testsgd.audit_predictions(DECIDED, sensitive_features=PEOPLE, limit=900, **QUICK)
    assert result.summary.data.rows == 900
    assert any("sample" in note for note in result.summary.data.notes)


def test_several_labels_together_are_as_if_they_had_one_name() -> None:
    grades = pd.Series(SOURCE.choice(["a", "b", "c", "d"], ROWS))
    truth = pd.Series(SOURCE.choice(["a", "b", "c", "d"], ROWS))
    joined = {
        "y_pred": grades.isin(["a", "b"]),
        "y_true": truth.isin(["a", "b"]),
        "favourable": True,
    }
    for metric in ("selection_rate", "true_positive_rate"):
        both = testsgd.audit_predictions(
            **joined, sensitive_features=PEOPLE[["sex"]], metric=metric, **QUICK
        )
        for favourable in (["a", "b"], "b, a"):
            result = testsgd.audit_predictions(
                grades,
                truth,
                sensitive_features=PEOPLE[["sex"]],
                favourable=favourable,
                metric=metric,
                **QUICK,
            )
            columns = ["text", "rate_in", "rate_out", "n_in"]
            pd.testing.assert_frame_equal(result.groups[columns], both.groups[columns])
            assert result.summary.data.label.favourable == "a or b"


def test_a_label_with_a_comma_is_one_label() -> None:
    decided = DECIDED.replace("yes", "yes, now")
    result = testsgd.audit_predictions(
        decided, sensitive_features=PEOPLE[["sex"]], favourable="yes, now", **QUICK
    )
    assert result.summary.overall_rate == (DECIDED == "yes").mean()


def test_one_of_several_labels_may_never_be_predicted() -> None:
    truth = pd.Series(np.where(PEOPLE["age"] > 60, "perhaps", DECIDED))
    result = testsgd.audit_predictions(
        DECIDED, truth, sensitive_features=PEOPLE[["sex"]], favourable=["yes", "perhaps"], **QUICK
    )
    assert result.summary.overall_rate == (DECIDED == "yes").mean()


@pytest.mark.parametrize("favourable", [["yes", "no"], [], ["yes", "never"], "yes,never"])
def test_several_labels_are_some_of_those_that_there_are(favourable: Any) -> None:
    with pytest.raises(ParameterError):
        testsgd.audit_predictions(
            DECIDED, sensitive_features=PEOPLE[["sex"]], favourable=favourable, **QUICK
        )


def column(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"decided": values})


@pytest.mark.parametrize(
    "one_column",
    [
        lambda values: values.to_numpy()[:, None],
        column,
        lambda values: pl.DataFrame({"decided": values.to_list()}),
        lambda values: pl.Series("decided", values.to_list()),
        lambda values: (value for value in values),
    ],
    ids=["array", "pandas", "polars", "series", "generator"],
)
@pytest.mark.parametrize("audit", [testsgd.audit_predictions, testsgd.audit_metrics])
def test_one_column_is_taken_in_any_shape(audit: Any, one_column: Any) -> None:
    expected = audit(DECIDED, sensitive_features=PEOPLE[["sex"]], **QUICK).groups
    result = audit(one_column(DECIDED), sensitive_features=PEOPLE[["sex"]], **QUICK)
    pd.testing.assert_frame_equal(result.groups, expected)


def lazy_polars() -> Any:
    return pl.LazyFrame({"decided": DECIDED.to_list()})


def in_duckdb() -> Any:
    return pytest.importorskip("duckdb").from_df(column(DECIDED))


def in_dask() -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(column(DECIDED), npartitions=2)


@pytest.mark.parametrize(
    "given",
    [
        lambda: np.zeros((ROWS, 2)),
        lambda: PEOPLE,
        lambda: [[0, 1]] * ROWS,
        lambda: "decided",
        lambda: 1,
        lambda: {"decided": DECIDED},
        lazy_polars,
        in_duckdb,
        in_dask,
    ],
)
@pytest.mark.parametrize("parameter", ["y_pred", "y_true", "sample_weight"])
def test_what_is_not_one_value_a_row_is_an_error_of_the_family(parameter: str, given: Any) -> None:
    columns: dict[str, Any] = {"y_pred": DECIDED, "sensitive_features": PEOPLE}
    with pytest.raises(DataError) as caught:
        testsgd.audit_predictions(**{**columns, parameter: given()}, **QUICK)
    assert parameter in str(caught.value)


@pytest.mark.parametrize("rows", [lazy_polars, in_duckdb, in_dask])
@pytest.mark.parametrize("parameter", ["sensitive_features", "other_features"])
@pytest.mark.parametrize("audit", [testsgd.audit_predictions, testsgd.audit_metrics])
def test_rows_without_an_order_are_not_put_beside_predictions(
    audit: Any, parameter: str, rows: Any
) -> None:
    columns = {"sensitive_features": PEOPLE, parameter: rows()}
    with pytest.raises(DataError, match="audit_rows_elsewhere"):
        audit(DECIDED, **columns, **QUICK)
