"""Predictions or true labels that are all alike, where categories list the other classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.data import check_table, infer_specification
from testsgd.data.classes import classes_of, classes_together
from testsgd.errors import DataError, ParameterError

ROWS = 200
SEX = {"sex": ["f", "m"] * (ROWS // 2)}
DECIDED = [0, 1, 1] * (ROWS // 3) + [0, 0]


def listed(value: Any, classes: Any = (0, 1)) -> pd.Categorical:
    return pd.Categorical([value] * ROWS, categories=list(classes))


def rates(result: testsgd.MetricsResult, metric: str) -> dict[str, float]:
    groups = result.groups[result.groups["metric"] == metric]
    return dict(zip(groups["text"], groups["value"], strict=True))


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("kind", [list, pd.Series, pd.CategoricalIndex])
def test_decisions_that_are_all_alike_have_no_differences(
    value: int, kind: Any, tmp_path: Path
) -> None:
    alike = listed(value) if kind is list else kind(listed(value))
    result = testsgd.audit_predictions(alike, sensitive_features=SEX, fail_above=0.05)
    assert result.summary.overall_rate == value
    assert (result.groups["difference"] == 0).all()
    assert result.verdict.exit_code == 0
    result.write(tmp_path / "rate")
    for options in ({"metrics": "selection_rate"}, {"rule": "four-fifths"}):
        compared = testsgd.audit_predictions(alike, sensitive_features=SEX, **options)
        assert compared.summary.metrics[0].overall == value
        assert not compared.groups["significant"].any()
        compared.write(tmp_path / "metrics")


def test_decisions_that_are_all_alike_beside_true_labels() -> None:
    for alike in ([0] * ROWS, listed(0)):
        result = testsgd.audit_predictions(
            alike, DECIDED, sensitive_features=SEX, metrics=["selection_rate", "equalized_odds"]
        )
        assert [metric.overall for metric in result.summary.metrics] == [0, 0, 0]


@pytest.mark.parametrize(
    "true",
    [[0] * ROWS, listed(0), pd.Series(listed(0)), [False] * ROWS, listed(False, (False, True))],
)
def test_true_labels_may_all_be_the_unfavourable_class(true: Any) -> None:
    decided = pd.Series(DECIDED)
    expected = decided.groupby(pd.Series(SEX["sex"])).mean()
    result = testsgd.audit_predictions(
        decided, true, sensitive_features=SEX, metrics=["false_positive_rate"]
    )
    assert rates(result, "false_positive_rate") == pytest.approx(
        {f"sex = {sex}": rate for sex, rate in expected.items()}
    )
    of_one = testsgd.audit_predictions(
        decided, true, sensitive_features=SEX, metric="false_positive_rate"
    )
    assert of_one.summary.overall_rate == pytest.approx(decided.mean())


def test_scores_beside_true_labels_that_are_all_alike() -> None:
    scores = np.linspace(0, 0.9, ROWS)
    result = testsgd.audit_metrics(
        scores,
        listed(0),
        sensitive_features=SEX,
        metrics=["calibration_error", "false_positive_rate"],
    )
    overall = [metric.overall for metric in result.summary.metrics]
    assert overall == pytest.approx([scores.mean(), (scores > 0.5).mean()])


def test_a_model_beside_true_labels_that_are_all_alike() -> None:
    people = pd.DataFrame({"years": np.arange(ROWS) % 17, **SEX})
    inputs = people[["years"]]
    two = LogisticRegression().fit(inputs, (people["years"] > 8).astype(int))
    predicted = two.predict(inputs)
    result = testsgd.audit_model_by_metrics(
        two,
        people,
        listed(0),
        sensitive_features=["sex"],
        metrics=["false_positive_rate", "mean_score"],
    )
    assert result.summary.metrics[0].overall == pytest.approx(predicted.mean())
    of_one = testsgd.audit(
        two, people, listed(0), sensitive_features=["sex"], metric="false_positive_rate"
    )
    assert of_one.summary.overall_rate == pytest.approx(predicted.mean())
    answers = np.select([people["years"] > 11, people["years"] > 5], ["yes", "later"], "no")
    three = LogisticRegression().fit(inputs, answers)
    true = pd.Series(answers).where(answers != "yes", "later")
    result = testsgd.audit_model_by_metrics(
        three,
        people,
        true.astype(pd.CategoricalDtype(["no", "later", "yes"])),
        sensitive_features=["sex"],
        favourable="yes",
        metrics=["accuracy", "selection_rate"],
    )
    said = three.predict(inputs)
    overall = [metric.overall for metric in result.summary.metrics]
    assert overall == pytest.approx([(said == true).mean(), (said == "yes").mean()])


def test_the_favourable_class_may_be_one_that_only_categories_list() -> None:
    answers = pd.Categorical(["no", "later"] * (ROWS // 2), categories=["no", "later", "yes"])
    result = testsgd.audit_predictions(answers, sensitive_features=SEX, favourable="yes")
    assert result.summary.overall_rate == 0
    # Nor is it looked for in vain if the true labels have it.
    true = ["no", "later", "yes", "no"] * (ROWS // 4)
    result = testsgd.audit_predictions(
        list(answers), true, sensitive_features=SEX, favourable="yes"
    )
    assert result.summary.overall_rate == 0


def test_categories_that_no_row_has_change_nothing_else() -> None:
    answers = pd.Series(["no", "yes"] * (ROWS // 2))
    filtered = answers.astype(pd.CategoricalDtype(["later", "no", "yes"]))
    results = [
        testsgd.audit_predictions(given, sensitive_features=SEX) for given in (answers, filtered)
    ]
    assert results[0].summary.data.label == results[1].summary.data.label
    pd.testing.assert_frame_equal(results[0].groups, results[1].groups)


@pytest.mark.parametrize("options", [{}, {"metrics": "selection_rate"}])
def test_one_class_alone_is_refused_with_a_way_out(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions([0] * ROWS, sensitive_features=SEX, **options)
    assert "Categorical" in caught.value.remedy
    with pytest.raises(DataError):
        testsgd.audit_predictions(
            ["no", "yes"] * (ROWS // 2), ["denied"] * ROWS, sensitive_features=SEX, **options
        )


def test_classes_of_both_together() -> None:
    all_denied = pd.Series(listed("no", ("yes", "no")))
    assert classes_of(all_denied) == ["yes", "no"]
    together = classes_together(all_denied, pd.Series(["no", None]))
    assert classes_of(together) == ["no", "yes"]
    assert classes_of(classes_together(pd.Series([0, 1]), pd.Series(listed(0)))) == ["0", "1"]


def test_a_described_label_may_be_one_that_only_categories_list() -> None:
    people = pd.DataFrame({**SEX, "granted": listed("no", ("no", "yes"))})
    guessed = infer_specification(
        people, sensitive=["sex"], label="granted", labels=people["granted"]
    )
    table = check_table(people, guessed.specification)
    assert table.labels is not None
    assert set(table.labels) == {"no"}
    with pytest.raises(DataError):
        check_table(people.astype({"granted": object}), guessed.specification)
