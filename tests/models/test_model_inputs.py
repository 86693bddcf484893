"""Which columns a model is given: those that it names, or the features that are its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import testsgd
from testsgd.auditing import AuditResult
from testsgd.data import specification_from_mapping
from testsgd.errors import ModelError, SpecificationError
from testsgd.models import load_model

ROWS = 400


def description(**gender: Any) -> dict[str, Any]:
    return {
        "dataset": {"name": "jobs"},
        "label": {"column": "hired", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True, **gender},
            "age": {"type": "integer", "range": [18, 80], "bins": 2, "sensitive": True},
            "score": {"type": "integer", "range": [0, 99]},
            "years": {"type": "integer", "range": [0, 40]},
        },
    }


def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "applied_on": pd.date_range("2024-01-01", periods=ROWS, freq="h"),
            "years": random.integers(0, 41, ROWS),
            "gender": np.where(random.random(ROWS) < 0.5, "f", "m"),
            "score": random.integers(0, 100, ROWS),
            "age": random.integers(18, 81, ROWS),
            "letter": [f"Dear Sir, I am number {number}." for number in range(ROWS)],
            "id": np.arange(ROWS),
            "number": np.arange(ROWS) * 7 % 11,
        }
    )
    frame["hired"] = np.where(frame["score"] > 50, "yes", "no")
    return frame


class Recorder:
    """A model that keeps what it was given."""

    def __init__(self, columns: list[str] | None = None) -> None:
        self.frames: list[pd.DataFrame] = []
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)

    def predict(self, frame: pd.DataFrame) -> list[str]:
        self.frames.append(frame.copy())
        return ["yes" if score > 50 else "no" for score in frame["score"]]

    @property
    def columns(self) -> set[tuple[str, ...]]:
        return {tuple(frame.columns) for frame in self.frames}


def test_a_feature_that_is_no_input_is_not_handed_over_but_makes_groups() -> None:
    model = Recorder()
    result = testsgd.audit(model.predict, people(), description(input=False))
    assert model.columns == {("age", "score", "years")}
    assert any("gender" in text for text in result.groups["text"])
    assert result.summary.model.not_given == ["gender"]


def test_a_model_that_was_fitted_without_the_sensitive_features_is_audited_as_it_is() -> None:
    rows = people()
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        rows[["years", "score"]], rows["hired"]
    )
    result = testsgd.audit(fitted, rows, description())
    assert result.summary.model.not_given == ["gender", "age"]
    expected = fitted.predict(rows[["years", "score"]]) == rows["hired"]
    assert result.summary.model.accuracy == expected.mean()


def test_the_columns_come_in_the_order_that_the_model_names() -> None:
    model = Recorder(["years", "id", "score", "gender"])
    testsgd.audit(model, people(), description())
    assert model.columns == {("years", "id", "score", "gender")}


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_other_columns_of_a_row_go_with_its_neighbours_untouched(mode: str) -> None:
    columns = ["letter", "score", "years", "applied_on", "id"]
    model, rows = Recorder(columns), people()
    testsgd.audit(model, rows, description(), mode=mode, max_queries=20_000, error_margin=0.2)
    untouched = ["letter", "applied_on", "id"]
    own = rows.set_index("id")
    for frame in model.frames:
        assert frame[untouched].dtypes.equals(rows[untouched].dtypes)
        expected = own.loc[frame["id"]]
        for name in ("letter", "applied_on"):
            assert (expected[name].to_numpy() == frame[name].to_numpy()).all()
        moved = (expected[["score", "years"]].to_numpy() != frame[["score", "years"]]).sum(axis=1)
        assert moved.max() <= 1
    assert any(
        (own.loc[frame["id"], "score"].to_numpy() != frame["score"].to_numpy()).any()
        for frame in model.frames
    )


def test_the_answers_of_a_model_with_other_columns_are_counted_by_brute_force() -> None:
    def hire(score: Any, number: Any) -> Any:
        return np.where((score + number) % 3 == 0, "yes", "no")

    rows = people()
    result = testsgd.audit(hire, rows, description(), estimand="neighbourhood")
    answers = np.zeros(ROWS)
    for name, low, high in (("score", 0, 99), ("years", 0, 40)):
        for step in (-1, 1):
            moved = rows.copy()
            target = rows[name] + step
            moved[name] = target.where(target.between(low, high), rows[name])
            answers += hire(moved["score"], moved["number"]) == "yes"
    women = (rows["gender"] == "f").to_numpy()
    group = next(
        item for item in result.summary.groups if item.text in ("gender = f", "gender = m")
    )
    inside = women if group.text == "gender = f" else ~women
    assert group.rate_in == pytest.approx(answers[inside].sum() / (4 * inside.sum()))


def test_a_function_of_named_columns_gets_each_under_its_name() -> None:
    seen = []

    def hire(years: Any, /, score: Any, *, number: Any, limit: int = 50) -> Any:
        seen.append((years.name, score.name, number.name))
        assert limit == 50
        return np.where(score > limit, "yes", "no")

    result = testsgd.audit(hire, people(), description())
    assert set(seen) == {("years", "score", "number")}
    assert result.summary.model.passed_through == ["number"]


def test_a_default_that_is_named_as_a_feature_is_filled_with_it() -> None:
    def hire(years: Any, score: Any, gender: Any = None) -> Any:
        return np.where(gender == "f", "yes", "no")

    result = testsgd.audit(hire, people(), description())
    assert result.summary.groups[0].score == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda score: np.where(score["score"] > 50, "yes", "no"),
        lambda frame, limit=50: np.where(frame["score"] > limit, "yes", "no"),
        lambda *frames: np.where(frames[0]["score"] > 50, "yes", "no"),
    ],
)
def test_a_function_of_one_thing_gets_a_frame(function: Any) -> None:
    result = testsgd.audit(function, people(), description())
    assert result.summary.model.accuracy == 1
    assert result.summary.model.not_given == result.summary.model.passed_through == []


def test_a_function_may_name_its_columns_in_an_attribute() -> None:
    def hire(frame: pd.DataFrame) -> Any:
        assert list(frame) == ["id", "score"]
        return np.where(frame["score"] > 50, "yes", "no")

    hire.feature_names_in_ = ["id", "score"]  # type: ignore[attr-defined]
    assert testsgd.audit(hire, people(), description()).summary.model.accuracy == 1


def test_the_method_of_a_fitted_estimator_takes_what_the_estimator_takes() -> None:
    model = Recorder(["score"])
    testsgd.audit(model.predict, people(), description())
    assert model.columns == {("score",)}


def test_a_column_that_nobody_has_is_named() -> None:
    rows, model = people(), Recorder(["score", "postcode"])
    with pytest.raises(testsgd.TestSGDError, match="'postcode'") as raised:
        testsgd.audit(model, rows, description())
    assert "\n" not in str(raised.value)
    assert not model.frames


def test_a_column_that_the_table_lacks_is_named_by_the_model() -> None:
    model = load_model(Recorder(["id", "score"]), specification_from_mapping(description())).model
    with pytest.raises(ModelError, match="'id'"):
        model.decisions(people()[["score", "gender"]])


def test_a_model_that_takes_what_is_said_to_be_no_input_is_refused() -> None:
    with pytest.raises(ModelError, match="'gender'") as raised:
        testsgd.audit(Recorder(["score", "gender"]), people(), description(input=False))
    assert "input" in raised.value.remedy


def test_a_model_that_takes_the_label_is_refused() -> None:
    with pytest.raises(ModelError, match="'hired'"):
        testsgd.audit(Recorder(["score", "hired"]), people(), description())


def test_only_a_sensitive_feature_may_be_no_input() -> None:
    spec = description()
    spec["features"]["years"]["input"] = False
    with pytest.raises(SpecificationError, match="years"):
        specification_from_mapping(spec)


def test_something_must_be_an_input() -> None:
    spec = description(input=False)
    spec["features"] = {"gender": spec["features"]["gender"]}
    with pytest.raises(SpecificationError, match="input"):
        specification_from_mapping(spec)


def test_what_the_model_does_not_see_costs_no_query() -> None:
    blind, seeing = Recorder(["score"]), Recorder(["score", "years"])
    queries = [
        testsgd.audit(model, people(), description()).summary.model_queries
        for model in (blind, seeing)
    ]
    assert queries[1] - queries[0] > 1.9 * ROWS


def test_columns_in_which_models_differ_are_part_of_the_fingerprint() -> None:
    rows = people()
    others = rows.assign(id=rows["id"] + 1)

    def fingerprint(frame: pd.DataFrame, *columns: str) -> str:
        model = Recorder(["score", *columns])
        return testsgd.audit(model, frame, description()).summary.data.fingerprint

    assert fingerprint(rows) == fingerprint(others)
    assert fingerprint(rows, "id") != fingerprint(others, "id")


def test_both_layouts_tell_what_the_model_was_given() -> None:
    result = testsgd.audit(Recorder(["score", "applied_on"]), people(), description())
    for text in (
        AuditResult.document.to_markdown(result.summary),
        AuditResult.document.to_html(result.summary),
    ):
        assert "applied_on" in text.replace("\\", "")
        assert "gender, age and years" in text
