"""What is asked of an audit of metrics: references, gates, wrong requests, views of the result."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing.parameters import AuditParameters
from testsgd.cli.main import load_command
from testsgd.errors import ParameterError, TestSGDError
from testsgd.metrics import audit_model_by_metrics
from testsgd.metrics.parameters import MetricParameters
from testsgd.parameters import declared_parameters
from testsgd.report.kinds import read_result

ROWS = 2000
SOURCE = np.random.default_rng(12)
PEOPLE = pd.DataFrame(
    {
        "sex": SOURCE.choice(["f", "m"], ROWS),
        "race": SOURCE.choice(["A", "B", "C"], ROWS),
        "age": SOURCE.integers(18, 80, ROWS),
    }
)
TRUTH = (SOURCE.random(ROWS) < 0.5).astype(int)
SAID = np.where(SOURCE.random(ROWS) < 0.1 + 0.5 * (PEOPLE["sex"] == "f"), 0, 1)
QUICK: dict[str, Any] = {"replicates": 99}


def audit(**options: Any) -> testsgd.MetricsResult:
    chosen = {"sensitive_features": PEOPLE[["sex", "race"]], **QUICK, **options}
    return testsgd.audit_metrics(chosen.pop("y_pred", SAID), chosen.pop("y_true", TRUTH), **chosen)


def rate(rows: Any) -> float:
    return float(SAID[np.asarray(rows)].mean())


def test_references() -> None:
    women, men = PEOPLE["sex"] == "f", PEOPLE["sex"] == "m"
    race = PEOPLE["race"] == "A"
    text = "sex = f and race = A"
    expected = {
        "rest": rate(~(women & race)),
        "overall": rate(women | men),
        "sex = m": rate(men),
        "race = A and sex = m": rate(men & race),
    }
    for reference, value in expected.items():
        groups = audit(metrics="selection_rate", reference=reference).groups.set_index("text")
        assert groups.loc[text, "reference_value"] == pytest.approx(value)
        assert groups.loc[text, "effect"] == pytest.approx(rate(women & race) - value)


@pytest.mark.parametrize(
    ("reference", "called"),
    [
        ("sex=m", "sex = m"),
        ("sex == 'm'", "sex = m"),
        ("race in {B, A}", "race in {A, B}"),
        ("race in [A] and sex in {m}", "sex = m and race = A"),
        ("race in {B,A} and (sex=m)", "sex = m and race in {A, B}"),
        ("age>=30 and age<50", "30 <= age < 50"),
        ("age in {30, 31, 32, 33, 34, 35, 36, 37, 38, 39}", "30 <= age < 40"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"holdout": 0.5, "seed": 1}], ids=["all", "holdout"])
def test_a_reference_is_read_as_groups_are(
    reference: str, called: str, options: dict[str, Any]
) -> None:
    edges = {"age": {"edges": [18, 30, 40, 50, 80]}}
    chosen = {"sensitive_features": PEOPLE, "features": edges, "stability": 0, **options}
    read, same = (
        audit(metrics="selection_rate", reference=text, **chosen) for text in (reference, called)
    )
    assert {group.reference for group in read.summary.metrics[0].groups} == {called}
    pd.testing.assert_frame_equal(read.groups, same.groups)


@pytest.mark.parametrize(
    ("value", "in_text"),
    [
        ("A, B", '"A, B"'),
        ("<30 and more", '"<30 and more"'),
        ("x = y", '"x = y"'),
        ("Never married", "Never married"),
    ],
)
def test_a_reference_as_reports_write_it_is_found_whatever_is_in_it(
    value: str, in_text: str
) -> None:
    named = PEOPLE[["race"]].replace({"A": value})
    written = set(audit(sensitive_features=named).groups["text"])
    assert f"race = {in_text}" in written
    for text in written:
        result = audit(sensitive_features=named, reference=text, metrics="selection_rate")
        assert {group.reference for group in result.summary.metrics[0].groups} == {text}


@pytest.mark.parametrize(
    ("reference", "near"),
    [
        ("sex = FEMALE", "female"),
        ("sexe = male", "'sex'"),
        ("age < 71", "age < 70"),
    ],
)
def test_a_reference_that_is_no_group_is_refused_with_what_is_near(
    reference: str, near: str
) -> None:
    named = PEOPLE.replace({"sex": {"f": "female", "m": "Male"}})
    edges = {"age": {"edges": [18, 30, 40, 50, 60, 70, 80]}}
    with pytest.raises(ParameterError) as caught:
        audit(reference=reference, sensitive_features=named, features=edges)
    assert caught.value.where.startswith("reference")
    # It is what is named first.
    assert near in caught.value.remedy[:60]


@pytest.mark.parametrize(
    ("outcome", "harmed"), [(None, "women"), ("benefit", "women"), ("harm", "men")]
)
@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_the_outcome_says_which_side_is_worse_off(
    outcome: str | None, harmed: str, measure: Any
) -> None:
    # Women have 1 less often.
    result = audit(
        metrics="selection_rate",
        favourable=1,
        sensitive_features=PEOPLE[["sex"]],
        outcome=outcome,
        measure=measure,
    )
    first = re.search(r"\b(women|men)\b", result.verdict.headline.casefold())
    assert first is not None
    assert first[0] == harmed
    label = result.summary.data.label
    assert (label.outcome, label.outcome_given) == (outcome or "benefit", outcome is not None)


def test_the_best_of_a_harm_is_who_has_it_least() -> None:
    result = audit(metrics="selection_rate", favourable=1, reference="best", outcome="harm")
    for group in result.summary.metrics[0].groups:
        assert group.reference_value <= group.value


def test_the_four_fifths_rule_is_about_benefits() -> None:
    for outcome in ("harm", "neither"):
        with pytest.raises(ParameterError):
            audit(rule="four-fifths", favourable=1, outcome=outcome)
    with pytest.raises(ParameterError):
        audit(metrics="selection_rate", favourable=1, outcome="bad")
    assert audit(rule="four-fifths", favourable=1, outcome="benefit").exit_code in (0, 1)


def test_the_best_is_the_best_over_the_same_features() -> None:
    result = audit(metrics="selection_rate", reference="best")
    for group in result.summary.metrics[0].groups:
        features = {rule.feature for rule in group.rules}
        best = [part.split(" ")[0] for part in group.reference.split(" and ")]
        assert set(best) == features
        assert group.reference_value >= group.value


def test_the_best_false_positive_rate_is_the_lowest() -> None:
    result = audit(metrics="false_positive_rate", reference="best")
    assert all(group.effect >= 0 for group in result.summary.metrics[0].groups)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"fail_above": 0.1}, 1),
        ({"fail_above": 0.9}, 0),
        ({"rule": "four-fifths"}, 1),
        ({"measure": "ratio", "fail_below": 0.05}, 0),
        ({}, 0),
        ({"min_rows": 1500}, 3),
    ],
)
def test_gates(options: dict[str, Any], code: int) -> None:
    result = audit(metrics="selection_rate", **options)
    assert result.verdict.exit_code == result.exit_code == code


def test_a_gate_that_chance_may_explain_concludes_nothing() -> None:
    few = slice(0, 240)
    result = audit(
        y_pred=SAID[few],
        y_true=None,
        sensitive_features=PEOPLE[["race"]].iloc[few],
        metrics="selection_rate",
        fail_above=0.005,
    )
    assert result.verdict.status == "not_enough_evidence"


def test_a_gate_looks_at_every_metric() -> None:
    wrong = np.where(PEOPLE["sex"] == "f", 1 - TRUTH, TRUTH)
    result = audit(y_pred=wrong, metrics=["selection_rate", "accuracy"], fail_above=0.3)
    assert result.summary.metric("selection_rate").largest_bound < 0.3
    assert result.verdict.exit_code == 1


def test_a_gate_without_a_joint_guarantee_goes_by_the_largest_difference() -> None:
    result = audit(metrics="selection_rate", guarantee="per-group", fail_above=0.3)
    largest = result.summary.metric("selection_rate").largest
    assert (largest > 0.3) == (result.verdict.exit_code == 1)


def test_several_classes_together_are_favourable() -> None:
    marks = np.array(["A", "B", "C", "D"])[SOURCE.integers(0, 4, ROWS)]
    several = audit(y_pred=marks, y_true=None, favourable=["A", "B"], metrics="selection_rate")
    joined = np.isin(marks, ["A", "B"]).astype(int)
    one = audit(y_pred=joined, y_true=None, metrics="selection_rate")
    pd.testing.assert_frame_equal(several.groups, one.groups)
    assert several.summary.data.label.favourable == "A or B"


@pytest.mark.parametrize("metric", [{"metric": "accuracy"}, {"metrics": "accuracy"}])
def test_booleans_may_stand_beside_zeros_and_ones(metric: dict[str, str]) -> None:
    options: dict[str, Any] = {"sensitive_features": PEOPLE[["sex"]], **metric}
    expected = testsgd.audit_predictions(SAID, TRUTH, **options).groups
    for said, true in ((SAID == 1, TRUTH), (SAID, TRUTH == 1)):
        found = testsgd.audit_predictions(said, true, **options).groups
        pd.testing.assert_frame_equal(found, expected)


def test_a_share_of_the_users_is_written_as_one() -> None:
    def share(said: Any, true: Any) -> tuple[Any, Any]:
        return said == 1, np.ones(len(said))

    def size(said: Any, true: Any) -> tuple[Any, Any]:
        return 100.0 * said, np.ones(len(said))

    first, second = audit(metrics=[share, size]).summary.metrics
    assert (first.scale, second.scale) == ("share", "number")


def test_views_say_the_same(tmp_path: Path) -> None:
    result = audit(metrics=["selection_rate", "equalized_odds"], fail_above=0.1)
    result.write(tmp_path)
    back = read_result(tmp_path / "result.json")
    assert isinstance(back, testsgd.MetricsResult)
    assert back.summary == result.summary
    assert back.to_html() == (tmp_path / "report.html").read_text()
    assert result.verdict.headline in result.to_markdown()
    saved = back.groups.set_index(["metric", "rank"])
    whole = result.groups.set_index(["metric", "rank"]).loc[saved.index]
    pd.testing.assert_frame_equal(saved, whole, check_dtype=False)


def test_a_report_says_of_how_many_rows_a_rate_is() -> None:
    result = audit(metrics="true_positive_rate")
    [metric] = result.summary.metrics
    assert metric.counted == TRUTH.sum()
    assert f"of the {metric.counted:,} rows" in result.to_html()


def test_names_are_escaped() -> None:
    people = PEOPLE[["sex"]].rename(columns={"sex": "<script>sex"})
    page = audit(sensitive_features=people, metrics="selection_rate").to_html()
    assert "<script>sex" not in page


def test_the_same_seed_gives_the_same_result() -> None:
    first, second = (audit(metrics="equalized_odds", seed=3).summary.metrics for _ in range(2))
    assert first == second


def test_a_sample_of_the_rows() -> None:
    result = audit(metrics="selection_rate", limit=1000)
    assert result.summary.data.rows == 1000
    assert result.summary.metrics[0].counted == 1000


def test_predictions_are_not_changed() -> None:
    before = SAID.copy(), TRUTH.copy(), PEOPLE.copy()
    audit()
    assert (before[0] == SAID).all()
    assert (before[1] == TRUTH).all()
    pd.testing.assert_frame_equal(PEOPLE, before[2])


def test_without_metrics_what_is_usual_for_such_predictions() -> None:
    scores = np.linspace(0.01, 0.99, ROWS)
    numbers = np.linspace(1000.0, 2000.5, ROWS)
    names = {
        kind: [metric.name for metric in audit(y_pred=said, y_true=None).summary.metrics]
        for kind, said in {"classes": SAID, "scores": scores, "numbers": numbers}.items()
    }
    assert names["classes"] == ["selection_rate"]
    assert "mean_score" in names["scores"]
    assert names["numbers"] == ["mean"]


def test_one_call_audits_rates_and_metrics() -> None:
    people = PEOPLE[["sex"]]
    assert isinstance(
        testsgd.audit_predictions(SAID, sensitive_features=people, stability=0),
        testsgd.AuditResult,
    )
    for options in (
        {"metrics": "accuracy", "y_true": TRUTH},
        {"sample_weight": np.ones(ROWS)},
        {"rule": "four-fifths"},
        {"reference": "overall"},
        {"measure": "ratio"},
    ):
        assert isinstance(
            testsgd.audit_predictions(SAID, sensitive_features=people, **options),
            testsgd.MetricsResult,
        )


def raises(*_: Any) -> Any:
    raise RuntimeError("of its own")


WRONG: dict[str, dict[str, Any]] = {
    "unknown metric": {"metrics": "recall"},
    "no metric": {"metrics": []},
    "no labels": {"metrics": "accuracy", "y_true": None},
    "scores of classes": {"metrics": "mean_score"},
    "another length": {"y_pred": SAID[:-1]},
    "labels of another length": {"y_true": TRUTH[:-1]},
    "negative weights": {"sample_weight": np.where(np.arange(ROWS) == 7, -1.0, 1.0)},
    "zero weights": {"sample_weight": np.zeros(ROWS)},
    "missing weight": {"sample_weight": np.where(np.arange(ROWS) == 7, np.nan, 1.0)},
    "texts as weights": {"sample_weight": ["much"] * ROWS},
    "weights of another length": {"sample_weight": [1.0]},
    "missing predictions": {"y_pred": np.where(np.arange(ROWS) == 7, np.nan, 1.0)},
    "labels of other classes": {"y_true": np.where(TRUTH == 1, "yes", "no")},
    "unknown reference": {"reference": "sex = x"},
    "limits of no group": {"reference": "sex = f and age >= 41"},
    "unknown label": {"y_pred": np.where(np.arange(ROWS) < 9, 2, SAID), "favourable": "1"},
    "rows that are alike in a feature": {"rows": "sex = f"},
    "unknown rule": {"rule": "nine-tenths"},
    "gate of the other measure": {"fail_below": 0.8},
    "all classes favourable": {"favourable": [0, 1]},
    "no class favourable": {"favourable": []},
    "no best": {
        "y_pred": np.linspace(0.1, 9.5, ROWS),
        "y_true": None,
        "metrics": "mean",
        "reference": "best",
    },
    "ratio of negatives": {
        "y_pred": np.linspace(-9.5, 9.5, ROWS),
        "y_true": None,
        "metrics": "mean",
        "measure": "ratio",
    },
    "a function that raises": {"metrics": raises},
    "a function of another shape": {"metrics": lambda said, true: (1.0, 1.0)},
    "negative denominators": {"metrics": lambda said, true: (said, said - 2.0)},
    "no row that counts": {"metrics": "precision", "y_pred": SAID * 0, "favourable": "1"},
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_one_line(case: str) -> None:
    with pytest.raises(TestSGDError) as caught:
        audit(**WRONG[case])
    assert "\n" not in str(caught.value)


def test_a_metric_and_metrics_at_once_are_refused() -> None:
    with pytest.raises(TestSGDError):
        testsgd.audit_predictions(
            SAID, TRUTH, sensitive_features=PEOPLE, metric="accuracy", metrics="accuracy"
        )


@pytest.mark.parametrize("favourable", [None, "yes", 1])
def test_labels_written_unlike_the_predictions_are_no_rates_of_zero(favourable: Any) -> None:
    words = np.where(TRUTH == 1, "yes", "no")
    with pytest.raises(TestSGDError) as caught:
        audit(y_true=words, metrics="equalized_odds", favourable=favourable)
    assert "as the predictions are written" in str(caught.value)


def test_predictions_of_one_class_are_audited() -> None:
    result = audit(y_pred=np.zeros(ROWS, dtype=int), metrics="true_positive_rate")
    assert (result.groups["value"] == 0).all()


OF_ONE_RATE = sorted(
    declared_parameters(AuditParameters).keys()
    - declared_parameters(MetricParameters)
    # It has an error of its own, as there are several.
    - {"metric"}
)


@pytest.mark.parametrize("name", OF_ONE_RATE)
def test_what_only_an_audit_of_one_rate_takes_is_named(name: str) -> None:
    people = {"sex": ["f", "m"] * 200}
    chosen: dict[str, Any] = {name: declared_parameters(AuditParameters)[name].default}
    for audit in (testsgd.audit_predictions, testsgd.audit_metrics):
        with pytest.raises(ParameterError) as caught:
            audit(
                ["yes", "no"] * 200,
                sensitive_features=people,
                metrics=["selection_rate"],
                **chosen,
            )
        assert caught.value.details["name"] == name
        assert name not in caught.value.remedy


@pytest.mark.parametrize("name", OF_ONE_RATE)
def test_help_says_what_is_not_for_metrics(name: str) -> None:
    entry = entry_of(testsgd.audit_predictions, name)
    assert "metrics" in entry.rpartition(". ")[2]
    assert name not in inspect.signature(testsgd.audit_metrics).parameters
    assert name not in inspect.signature(audit_model_by_metrics).parameters
    options = {option.name: option.help for option in load_command("audit").params}
    if name != "nondeterministic":
        assert "--metrics" in options[name]


def entry_of(function: Any, name: str) -> str:
    """Return what a docstring says of a parameter."""
    lines = inspect.getdoc(function).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{name} : "))
    ends = (i for i in range(start + 1, len(lines)) if not lines[i].startswith(" "))
    return " ".join(line.strip() for line in lines[start + 1 : next(ends)])
