"""Columns that hold the true label or the decisions are no features of an audit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.auditing import AuditResult


def people() -> pd.DataFrame:
    generator = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], 400),
            "income": generator.integers(0, 80, 400),
            "approved": generator.integers(0, 2, 400),
        }
    )


def grant(rows: pd.DataFrame) -> Any:
    return (rows["income"] > 40 + 10 * (rows["sex"] == "f")).astype(int)


def features_of(result: Any) -> list[str]:
    return [feature.name for feature in result.summary.data.features]


def note_on(result: Any, column: str) -> list[str]:
    return [note for note in result.summary.data.notes if column in note]


LABELS = ["numbers", "words"]


def as_words(decided: pd.Series[Any]) -> pd.Series[Any]:
    return decided.map({0: "no", 1: "yes"})


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("column", LABELS)
def test_a_column_of_decisions_is_no_feature(labels: str, column: str) -> None:
    rows = people()[["sex", "income"]]
    decided = grant(rows)
    rows["decision"] = decided if column == "numbers" else as_words(decided)
    truth = people()["approved"]
    truth = truth if labels == "numbers" else as_words(truth)
    seen: set[str] = set()

    def model(asked: pd.DataFrame) -> Any:
        seen.update(asked.columns)
        return grant(asked) if labels == "numbers" else as_words(grant(asked))

    found = testsgd.audit(model, rows, truth, sensitive_features=["sex"])
    if (labels, column) == ("numbers", "words"):
        # Words are nothing that a model of 0 and 1 says.
        assert features_of(found) == ["sex", "income", "decision"]
        return
    assert features_of(found) == ["sex", "income"]
    assert "decision" in seen
    assert found.summary.model.passed_through == ["decision"]
    assert note_on(found, "decision")
    assert "decision" in AuditResult.document.to_markdown(found.summary)
    correlated = found.summary.groups[0].explanation.correlated_features
    assert [item.feature for item in correlated] == ["income"] or not correlated

    compared = testsgd.audit_model_by_metrics(
        model, rows, truth, sensitive_features=["sex"], metrics="selection_rate"
    )
    assert "decision" not in features_of(compared)
    assert note_on(compared, "decision")


@pytest.mark.parametrize(
    "truth",
    [
        people()["approved"],
        people()["approved"] == 1,
        people()["approved"].map({0: "no", 1: "yes"}),
        people()["approved"].to_numpy(),
    ],
    ids=["itself", "booleans", "words", "array"],
)
def test_the_column_of_the_true_label_is_no_feature(truth: Any) -> None:
    rows = people()
    found = testsgd.audit(grant, rows, truth, sensitive_features=["sex"])
    assert features_of(found) == ["sex", "income"]
    assert note_on(found, "approved")


def test_a_label_made_of_a_column_leaves_this_a_feature() -> None:
    rows = people()[["sex", "income"]]
    truth = rows["income"] > 40
    assert truth.name == "income"
    found = testsgd.audit(lambda asked: asked["income"] > 50, rows, truth, sensitive_features="sex")
    assert features_of(found) == ["sex", "income"]


def test_an_estimator_still_gets_the_column_that_it_was_trained_with() -> None:
    rows = people()
    columns = rows[["income", "approved"]]
    tree = DecisionTreeClassifier(max_depth=3).fit(columns, rows["approved"])
    found = testsgd.audit(tree, columns, rows["approved"], sensitive_features=rows[["sex"]])
    assert found.summary.model.accuracy == 1
    assert found.summary.model.passed_through == ["approved"]


def test_a_column_that_decides_by_itself_is_a_feature_of_what_was_trained_with_it() -> None:
    rows = people()[["income"]].assign(employed=[0, 1, 1, 0] * (len(people()) // 4))
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, rows["employed"])
    truth = people()["approved"]
    found = testsgd.audit(tree, rows, truth, sensitive_features=people()[["sex"]])
    assert "employed" in features_of(found)


def test_a_pipeline_that_selects_columns_is_asked_as_before() -> None:
    rows = people()[["sex", "income"]]
    truth = people()["approved"]
    chosen = ColumnTransformer(
        [("sex", OneHotEncoder(), ["sex"]), ("income", "passthrough", ["income"])]
    )
    pipeline = make_pipeline(chosen, LogisticRegression(max_iter=2_000)).fit(rows, grant(rows))
    rows["decision"] = pipeline.predict(rows)
    found = testsgd.audit(pipeline, rows, truth, sensitive_features=["sex"])
    assert features_of(found) == ["sex", "income"]


def test_few_rows_may_be_equal_by_chance() -> None:
    rows = people()[["sex", "income"]].iloc[:12].reset_index(drop=True)
    rows["owner"] = grant(rows)
    found = testsgd.audit(grant, rows, [0, 1] * 6, sensitive_features=["sex"], min_rows=2)
    assert "owner" in features_of(found)


CALLS: dict[str, Any] = {
    "audit_predictions": lambda rows, sensitive: testsgd.audit_predictions(
        rows["approved"], sensitive_features=rows[sensitive]
    ),
    "metrics": lambda rows, sensitive: testsgd.audit_predictions(
        rows["approved"], sensitive_features=rows[sensitive], metrics="selection_rate"
    ),
    "true labels": lambda rows, sensitive: testsgd.audit_predictions(
        grant(rows), rows["approved"], sensitive_features=rows[sensitive]
    ),
    "audit": lambda rows, sensitive: testsgd.audit(
        grant, rows, rows["approved"], sensitive_features=sensitive
    ),
    "audit_model_by_metrics": lambda rows, sensitive: testsgd.audit_model_by_metrics(
        grant, rows, rows["approved"], sensitive_features=sensitive
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_predictions_and_labels_are_no_sensitive_features(call: str) -> None:
    with pytest.raises(testsgd.TestSGDError, match="approved") as raised:
        CALLS[call](people(), ["sex", "approved"])
    assert raised.value.where == "sensitive_features"
    CALLS[call](people(), ["sex"])


def test_people_with_one_value_may_all_be_decided_alike() -> None:
    rows = pd.DataFrame({"woman": [0, 1] * 200})
    found = testsgd.audit_predictions(rows["woman"].to_numpy(), sensitive_features=rows)
    assert found.groups["rate_in"].isin([0, 1]).all()


@pytest.mark.parametrize("options", [{}, {"metrics": "selection_rate"}])
def test_other_features_that_are_the_predictions_do_not_describe_groups(
    options: dict[str, Any],
) -> None:
    rows = people()
    found = testsgd.audit_predictions(
        rows["approved"], sensitive_features=rows[["sex"]], other_features=rows, **options
    )
    assert features_of(found) == ["sex", "income"]
    assert note_on(found, "approved")
