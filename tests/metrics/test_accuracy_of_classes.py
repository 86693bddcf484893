"""Accuracy is the share of predictions that are the true class, of however many classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.errors import ModelError, ParameterError
from testsgd.metrics import audit_counts
from testsgd.metrics.definitions import METRICS
from testsgd.metrics.given_predictions import read_predictions

ROWS = 1200
SOURCE = np.random.default_rng(3)
PEOPLE = pd.DataFrame({"sex": SOURCE.choice(["f", "m"], ROWS), "age": SOURCE.normal(size=ROWS)})
TRUE = pd.Series(np.where(PEOPLE["age"] > 0.7, "A", np.where(PEOPLE["age"] > -0.5, "B", "C")))
SAID = TRUE.where(SOURCE.random(ROWS) < np.where(PEOPLE["sex"] == "f", 0.9, 0.7), "B")


def values(result: testsgd.MetricsResult) -> dict[str, float]:
    groups = result.groups[result.groups["metric"] == "accuracy"]
    return dict(zip(groups["text"], groups["value"], strict=True))


def shares(right: pd.Series[bool], weights: Any = None) -> dict[str, float]:
    weighed = pd.DataFrame({"right": right, "weight": 1.0 if weights is None else weights})
    return {
        f"sex = {sex}": float(np.average(part["right"], weights=part["weight"]))
        for sex, part in weighed.groupby(PEOPLE["sex"])
    }


@pytest.mark.parametrize("favourable", ["A", "B", ["A", "B"]])
@pytest.mark.parametrize("weights", [None, SOURCE.uniform(0.5, 2, ROWS)])
def test_a_class_for_another_is_wrong_whichever_is_favourable(
    favourable: Any, weights: Any
) -> None:
    result = testsgd.audit_metrics(
        SAID,
        TRUE,
        sensitive_features=PEOPLE[["sex"]],
        metrics=["accuracy", "precision"],
        favourable=favourable,
        sample_weight=weights,
    )
    assert values(result) == pytest.approx(shares(SAID == TRUE, weights))


def test_counted_rows_say_the_same() -> None:
    joined = PEOPLE[["sex"]].assign(said=SAID, true=TRUE)
    counts = joined.groupby(["sex", "said", "true"]).size().reset_index(name="rows")
    result = audit_counts(
        counts,
        predictions="said",
        label="true",
        sensitive_features=["sex"],
        metrics="accuracy",
        favourable="A",
    )
    assert values(result) == pytest.approx(shares(SAID == TRUE))


def test_a_model_is_right_about_the_class_itself() -> None:
    tree = DecisionTreeClassifier(max_depth=1).fit(PEOPLE[["age"]], TRUE)
    for model, favourable in ((tree, "A"), (tree.predict, "A"), (tree, ["A", "B"])):
        result = testsgd.audit_model_by_metrics(
            model,
            PEOPLE[["age"]],
            TRUE,
            sensitive_features=PEOPLE[["sex"]],
            metrics="accuracy",
            favourable=favourable,
        )
        assert values(result) == pytest.approx(shares(tree.predict(PEOPLE[["age"]]) == TRUE))


@pytest.mark.parametrize("classes", [{}, {"C": "B"}])
def test_accuracy_alone_needs_no_favourable_class(classes: dict[str, str], tmp_path: Path) -> None:
    said, true = SAID.replace(classes), TRUE.replace(classes)
    options: dict[str, Any] = {"sensitive_features": PEOPLE[["sex"]], "metrics": ["accuracy"]}
    result = testsgd.audit_predictions(said, true, **options)
    assert values(result) == pytest.approx(shares(said == true))
    named = testsgd.audit_predictions(said, true, favourable="A", **options)
    pd.testing.assert_frame_equal(result.groups, named.groups)
    assert result.summary.data.label.favourable == ""
    result.write(tmp_path)
    # What a rate is of must be named.
    for metrics in (["accuracy", "selection_rate"], None):
        with pytest.raises(ParameterError) as caught:
            testsgd.audit_metrics(said, true, sensitive_features=PEOPLE[["sex"]], metrics=metrics)
        assert caught.value.where == "favourable"
    counts = PEOPLE[["sex"]].assign(said=said, true=true)
    counted = audit_counts(
        counts.groupby(["sex", "said", "true"]).size().reset_index(name="rows"),
        predictions="said",
        label="true",
        sensitive_features=["sex"],
        metrics="accuracy",
    )
    assert values(counted) == pytest.approx(shares(said == true))


def test_accuracy_alone_of_a_model_needs_no_favourable_class() -> None:
    tree = DecisionTreeClassifier(max_depth=1).fit(PEOPLE[["age"]], TRUE)
    predicted = tree.predict(PEOPLE[["age"]])
    options: dict[str, Any] = {"sensitive_features": ["sex"], "metrics": "accuracy"}
    for model in (tree, lambda rows: tree.predict(rows[["age"]])):
        result = testsgd.audit_model_by_metrics(model, PEOPLE, TRUE, **options)
        assert values(result) == pytest.approx(shares(predicted == TRUE))
    # A column that holds its predictions describes no group.
    beside = PEOPLE.assign(answer=predicted)
    result = testsgd.audit_model_by_metrics(tree, beside, TRUE, **options)
    assert any("answer" in note for note in result.summary.data.notes)
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_model_by_metrics(
            lambda rows: tree.predict_proba(rows[["age"]])[:, 0] * 0.9, PEOPLE, TRUE, **options
        )
    assert caught.value.where == "favourable"


def test_one_rate_of_several_classes_names_the_function_of_metrics() -> None:
    tree = DecisionTreeClassifier(max_depth=1).fit(PEOPLE[["age"]], TRUE)
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(
            tree, PEOPLE, TRUE, sensitive_features=["sex"], favourable="A", metric="accuracy"
        )
    assert "audit_model_by_metrics" in caught.value.remedy


def test_of_several_classes_one_rate_is_no_accuracy() -> None:
    for favourable in ("A", ["A", "B"]):
        with pytest.raises(ParameterError) as caught:
            testsgd.audit_predictions(
                SAID,
                TRUE,
                sensitive_features=PEOPLE[["sex"]],
                metric="accuracy",
                favourable=favourable,
            )
        assert "metrics" in caught.value.remedy


def test_rows_without_a_true_label_do_not_count_for_a_function_of_labels() -> None:
    true = (TRUE == "A").astype(object).where(SOURCE.random(ROWS) < 0.6)
    said = SAID == "A"

    def missed(given: Any, truth: Any) -> tuple[Any, Any]:
        return (given == 0) & (truth == 1), given == 0

    def granted(given: Any, _: Any) -> tuple[Any, Any]:
        return given == 1, np.ones(len(given))

    result = testsgd.audit_metrics(
        said, true, sensitive_features=PEOPLE[["sex"]], metrics=[missed, granted], favourable=True
    )
    known = true.notna()
    by_name = result.groups.groupby("metric")["counted"].sum()
    # Both sexes together; the second needs no label.
    assert by_name["missed"] == (known & ~said).sum()
    assert by_name["granted"] == ROWS


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from("ABCD"), st.sampled_from(["A", "B", "C", None])),
        min_size=4,
        max_size=40,
    ).map(lambda pairs: [*pairs, ("A", "A"), ("C", "B"), ("B", "C")])
)
def test_what_a_kind_adds_is_what_its_rows_add(pairs: list[tuple[str, str | None]]) -> None:
    said, true = zip(*pairs, strict=True)
    listed = pd.Series(pd.Categorical(true, categories=list("ABCD")))
    read = read_predictions(pd.Series(said), listed, rows=len(pairs), favourable="A")
    prototypes, kinds = read.by_kind()
    for name in ("accuracy", "selection_rate", "true_positive_rate", "precision"):
        for of_rows, of_kinds in zip(
            read.masses(METRICS[name]), prototypes.masses(METRICS[name]), strict=True
        ):
            assert of_rows.tolist() == of_kinds[kinds].tolist()


def test_whole_numbers_are_numbers_where_the_labels_or_the_metric_are() -> None:
    few = pd.Series(SOURCE.integers(10, 20, ROWS))
    people = {"sensitive_features": PEOPLE[["sex"]]}
    for true, metrics in ((None, "mean"), (few + 0.5, "mean_error"), (few + 0.5, None)):
        result = testsgd.audit_predictions(few, true, metrics=metrics, **people)
        assert result.summary.metrics[0].name in {"mean", "mean_error"}
    many = pd.Series(SOURCE.integers(0, 500, ROWS))
    result = testsgd.audit_predictions(many, many + 1, **people)
    assert result.summary.metrics[0].name == "mean"
    # Who names a favourable one has classes.
    classes = testsgd.audit_predictions(many % 40, favourable=3, **people)
    assert isinstance(classes, testsgd.AuditResult)


def test_codes_that_mean_the_opposite_are_refused() -> None:
    paid = pd.Series(np.where(PEOPLE["age"] > 0, "default", "paid"))

    def model(rows: pd.DataFrame) -> Any:
        return (rows["age"] > 0).astype(int)

    options: dict[str, Any] = {"sensitive_features": PEOPLE[["sex"]], "favourable": "paid"}
    for audited in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(ModelError) as caught:
            audited(model, PEOPLE[["age"]], paid, **options)
        assert "map" in caught.value.remedy
    # A model that is as often wrong as right, or strict, is a poor one only.
    coin = pd.Series(np.where(np.arange(ROWS) % 2, "default", "paid"))
    generous = pd.Series(np.where(PEOPLE["age"] > -2, "paid", "default"))
    for labels in (coin, generous):
        assert testsgd.audit(model, PEOPLE[["age"]], labels, **options).summary.model.read_as


def test_scores_of_another_class_are_refused() -> None:
    paid = pd.Series(np.where(PEOPLE["age"] > 0, "paid", "default"))

    def chance(rows: pd.DataFrame) -> Any:
        """Return the probability of being paid back."""
        return 1 / (1 + np.exp(-rows["age"]))

    options: dict[str, Any] = {"sensitive_features": PEOPLE[["sex"]]}
    rows = PEOPLE[["age"]]
    for audited in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(ModelError, match="favo"):
            audited(chance, rows, paid, favourable="default", **options)
        audited(chance, rows, paid, favourable="paid", **options)
        # As the error advises.
        audited(lambda rows: 1 - chance(rows), rows, paid, favourable="default", **options)
    scores = chance(rows)
    codes = (paid == "paid").astype(int)
    for true, other, meant in ((paid, "default", "paid"), (codes, 0, 1)):
        with pytest.raises(ParameterError, match="favo"):
            testsgd.audit_predictions(scores, true, favourable=other, **options)
        for probabilities in (scores, 1 - scores):
            favourable = meant if probabilities is scores else other
            testsgd.audit_predictions(probabilities, true, favourable=favourable, **options)
    # Scores that say nothing of the labels are those of a poor model only.
    coin = pd.Series(np.where(np.arange(ROWS) % 2, "default", "paid"))
    for favourable in ("default", "paid"):
        testsgd.audit_predictions(scores, coin, favourable=favourable, **options)
        testsgd.audit(chance, rows, coin, favourable=favourable, **options)


def test_predictions_may_all_be_one_of_two_classes() -> None:
    true = pd.Series(np.where(PEOPLE["age"] > 0, "good", "bad"))
    result = testsgd.audit_predictions(
        ["good"] * ROWS, true, sensitive_features=PEOPLE[["sex"]], favourable="good"
    )
    assert result.summary.overall_rate == 1.0
