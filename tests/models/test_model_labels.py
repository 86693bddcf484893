"""How a model's labels are read: 0 and 1 by the order of the labels, several against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.auditing import AuditResult
from testsgd.data import Label, specification_from_mapping
from testsgd.errors import ModelError
from testsgd.models import CallableModel, CallableTextModel, load_model

FRAME = pd.DataFrame({"age": [20, 40, 60]})
YES_NO = Label(column="granted", favourable="yes", values=["no", "yes"])


def model(answers: Any, label: Label = YES_NO, **options: Any) -> CallableModel:
    return CallableModel(lambda frame: answers, label=label, name="mine", **options)


@pytest.mark.parametrize(
    "answers",
    [
        [1, 0, 1],
        np.array([1, 0, 1], dtype=np.int8),
        ["1", "0", "1"],
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([True, False, True], dtype="boolean"),
    ],
)
def test_one_is_the_favourable_label_where_it_stands_last(answers: Any) -> None:
    mine = model(answers)
    assert mine.decisions(FRAME).tolist() == [True, False, True]
    assert mine.output == "labels"
    assert sorted(mine.read_as.values()) == ["no", "yes"]


@pytest.mark.parametrize("answers", [[0, 0, 0], [1, 1, 1], [0, 1, 0]])
def test_few_rows_may_show_one_of_the_two(answers: list[int]) -> None:
    assert model(answers).decisions(FRAME).tolist() == [answer == 1 for answer in answers]


@pytest.mark.parametrize(
    "label",
    [
        # By its place 1 is "no", by custom it is what is wanted.
        Label(column="granted", favourable="yes", values=["yes", "no"]),
        Label(column="granted", favourable="high", values=["low", "middle", "high"]),
        Label(column="granted", favourable="yes"),
        # Of a number cut in two the first is what lies above.
        Label(column="granted", favourable="few", values=["many", "few"], above=3),
        Label(column="g", favourable="good", values=["bad", "good"], map={"1": "good", "2": "bad"}),
    ],
)
def test_zeros_and_ones_that_may_mean_either_are_refused(label: Label) -> None:
    with pytest.raises(ModelError) as raised:
        model([1, 0, 1], label).decisions(FRAME)
    assert "\n" not in str(raised.value)


def test_the_files_own_labels_say_what_zero_and_one_are() -> None:
    label = Label(
        column="g", favourable="good", values=["good", "bad"], map={"0": "good", "1": "bad"}
    )
    mine = model([1, 0, 1], label)
    assert mine.decisions(FRAME).tolist() == [False, True, False]
    assert mine.read_as == {"0": "good", "1": "bad"}


def test_declared_labels_are_never_renamed() -> None:
    digits = Label(column="granted", favourable="0", values=["1", "0"])
    mine = model([1, 0, 1], digits)
    assert mine.decisions(FRAME).tolist() == [False, True, False]
    assert mine.read_as == {}


@pytest.mark.parametrize("answers", [[1, 0, 2], ["yes", 0, 1], [1, 0, "no"]])
def test_zeros_and_ones_among_other_labels_are_refused(answers: list[Any]) -> None:
    with pytest.raises(ModelError, match="not among the labels"):
        model(np.array(answers, dtype=object)).decisions(FRAME)


def test_labels_after_zeros_and_ones_are_refused() -> None:
    answers = iter([[1, 0, 1], ["yes", "no", "no"]])
    mine = CallableModel(lambda frame: next(answers), label=YES_NO, name="mine")
    mine.decisions(FRAME)
    with pytest.raises(ModelError, match="not among the labels"):
        mine.decisions(FRAME)


@given(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=30))
def test_texts_are_read_in_the_same_way(answers: list[int]) -> None:
    mine = CallableTextModel(lambda texts: answers, label=YES_NO, name="mine")
    assert mine.decisions(["a"] * len(answers)).tolist() == [answer == 1 for answer in answers]


def test_an_estimator_of_zeros_and_ones_is_near_the_label_by_its_probability() -> None:
    frame = pd.DataFrame({"wage": np.arange(40), "age": np.arange(40) % 7})
    fitted = LogisticRegression(max_iter=5_000).fit(frame, (frame["wage"] > 20).astype(int))
    specification = specification_from_mapping(
        {
            "dataset": {"name": "rows"},
            "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "wage": {"type": "integer", "range": [0, 99]},
                "age": {"type": "integer", "range": [0, 99], "sensitive": True},
            },
        }
    )
    mine = load_model(fitted, specification).model
    decisions = mine.decisions(frame)
    assert decisions.tolist() == (fitted.predict(frame) == 1).tolist()
    assert mine.scores(frame).tolist() == fitted.predict_proba(frame)[:, 1].tolist()


MEDALS = Label(column="medal", favourable="gold", values=["none", "bronze", "silver", "gold"])


def test_several_labels_are_read_as_the_favourable_one_and_the_rest() -> None:
    mine = model(["gold", "silver", "none"], MEDALS)
    assert mine.decisions(FRAME).tolist() == [True, False, False]
    assert mine.others == ("none", "silver")


class Classifier:
    """A classifier that lists its classes."""

    classes_ = np.array(["no", "refer", "yes"])

    def predict(self, rows: pd.DataFrame) -> list[str]:
        return ["yes", "refer", "no"]


@pytest.mark.parametrize("options", [{}, {"values": ["no", "yes"], "favourable_given": True}])
def test_a_model_may_know_more_labels_than_the_data(options: dict[str, Any]) -> None:
    label = Label(column="g", favourable="yes", values=options.pop("values", None))
    mine = model(["yes", "refer", "no"], label, **options)
    assert mine.decisions(FRAME).tolist() == [True, False, False]
    assert mine.others == ("no", "refer")


def test_a_model_may_list_more_labels_than_the_data() -> None:
    mine = CallableModel(Classifier().predict, label=YES_NO, name="mine")
    assert mine.decisions(FRAME).tolist() == [True, False, False]
    assert mine.unknown == ("refer",)


def test_a_label_that_neither_data_nor_model_list_is_refused() -> None:
    with pytest.raises(ModelError, match="'refer', which is not among"):
        model(["yes", "refer", "no"]).decisions(FRAME)


def test_the_description_says_what_the_codes_of_several_labels_are() -> None:
    names = {"0": "high", "1": "low", "2": "middle"}
    label = Label(column="g", favourable="high", values=["low", "middle", "high"], map=names)
    mine = model([2, 0, 1], label)
    assert mine.decisions(FRAME).tolist() == [False, True, False]
    assert mine.read_as == names
    unmapped = Label(column="g", favourable="high", values=["low", "middle", "high"])
    with pytest.raises(ModelError, match="map"):
        model([2, 0, 1], unmapped).decisions(FRAME)


def test_several_labels_without_the_favourable_one_are_refused() -> None:
    with pytest.raises(ModelError, match="'yes'"):
        model(["a", "b", "c"], Label(column="g", favourable="yes")).decisions(FRAME)


def test_a_slip_of_the_pen_is_no_further_label() -> None:
    with pytest.raises(ModelError, match="'Yes', which is not among"):
        model(["Yes", "no", "no"]).decisions(FRAME)


class Codes:
    """A classifier of whole numbers that lists them."""

    def __init__(self, *classes: Any) -> None:
        self.classes_ = np.array(classes)

    def predict(self, rows: pd.DataFrame) -> NDArray[Any]:
        return np.resize(self.classes_, len(rows))


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        # A LabelEncoder writes 0 and 1 for 1 and 2, and the model's 1 is the label 2.
        ((0, 1), Label(column="credit", favourable="1", values=["1", "2"])),
        ((0, 1), Label(column="credit", favourable="1", values=["1", "3"])),
        (("0", "1"), Label(column="credit", favourable="1", values=["1", "2"])),
        ((0, 1, 2), Label(column="credit", favourable="2", values=["1", "2", "3"])),
        ((0, 1, 2), Label(column="credit", favourable=["1", "2"], values=["1", "2", "3"])),
        ((0, 1, 2), Label(column="credit", favourable=["2", "3"], values=["1", "2", "3"])),
        # The true labels are encoded, and the model has those of the file.
        ((1, 2), Label(column="credit", favourable="1", values=["0", "1"])),
    ],
)
def test_codes_that_may_stand_for_other_labels_are_refused(
    classes: tuple[Any, ...], label: Label
) -> None:
    estimator = Codes(*classes)

    def function(rows: pd.DataFrame) -> NDArray[Any]:
        return estimator.predict(rows)

    for asked, named in ((estimator.predict, False), (estimator.predict, True), (function, True)):
        mine = CallableModel(asked, label=label, name="mine", favourable_given=named)
        with pytest.raises(ModelError, match="inverse_transform"):
            mine.decisions(FRAME)


def test_codes_are_refused_before_the_model_returns_an_unknown_one() -> None:
    label = Label(column="credit", favourable="1", values=["1", "2"])
    mine = CallableModel(Codes(1, 0).predict, label=label, name="mine")
    with pytest.raises(ModelError, match="inverse_transform"):
        mine.decisions(FRAME.iloc[:1])


@pytest.mark.parametrize(
    ("classes", "label"),
    [
        ((0, 1), Label(column="credit", favourable="1", values=["0", "1"])),
        # The data have not all labels of the model.
        ((0, 1, 2), Label(column="credit", favourable="1", values=["1", "2"])),
        ((1, 2, 3), Label(column="credit", favourable="1", values=["1", "3"])),
        # By its value and by its place it is the same one.
        ((0, 1), Label(column="credit", favourable="1", values=["-1", "1"])),
        # Words that are equal are the same label.
        (("a", "b", "c"), Label(column="credit", favourable="a", values=["a", "b", "d"])),
    ],
)
def test_labels_that_are_surely_those_of_the_data_are_read(
    classes: tuple[Any, ...], label: Label
) -> None:
    mine = CallableModel(Codes(*classes).predict, label=label, name="mine")
    expected = np.resize([str(item) == label.favourable for item in classes], len(FRAME))
    assert mine.decisions(FRAME).tolist() == expected.tolist()


@pytest.mark.parametrize("values", [["1", "2"], None])
@pytest.mark.parametrize("favourable", ["1", None])
def test_a_model_of_encoded_labels_is_refused_by_every_audit(
    values: list[str] | None, favourable: str | None
) -> None:
    rows = pd.DataFrame({"g": ["f", "m"] * 100, "b": np.arange(200) % 7})
    rows["credit"] = 1 + (rows["b"] > 3)
    inputs, encoded = rows[["b"]], rows["credit"] - 1
    fitted = LogisticRegression().fit(inputs, encoded)
    label: dict[str, Any] = {"column": "credit", "favourable": "1"}
    if values is not None:
        label["values"] = values
    features = {**SPECIFICATION["features"], "b": {"type": "integer", "range": [0, 6]}}
    description = {**SPECIFICATION, "label": label, "features": features}
    with pytest.raises(ModelError, match="inverse_transform"):
        testsgd.audit(fitted, rows, description, favourable=favourable)
    with pytest.raises(ModelError, match="inverse_transform"):
        testsgd.mitigate(fitted, rows, description, favourable=favourable)
    given = rows[["g", "b"]]
    with pytest.raises(ModelError, match="inverse_transform"):
        testsgd.audit(
            fitted, given, rows["credit"], sensitive_features=["g"], favourable=favourable
        )
    for metrics, threshold in (("selection_rate", None), ("selection_rate", 0.4)):
        with pytest.raises(ModelError, match="inverse_transform"):
            testsgd.audit_model_by_metrics(
                fitted,
                given,
                rows["credit"],
                sensitive_features=["g"],
                metrics=metrics,
                favourable=favourable,
                threshold=threshold,
            )
    # What the error says to do.
    for model, truth, good in (
        (lambda asked: fitted.predict(asked[["b"]]) + 1, rows["credit"], "1"),
        (fitted, encoded, "0"),
    ):
        found = testsgd.audit(
            model, given, truth, sensitive_features=["g"], favourable=good, stability=0
        )
        assert found.summary.model.accuracy == 1


def people() -> pd.DataFrame:
    return pd.DataFrame({"g": ["f", "m"] * 100, "b": [0, 1] * 100})


SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "t"},
    "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "g": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "b": {"type": "integer", "range": [0, 1]},
    },
}


def test_the_report_says_what_zero_and_one_were_read_as() -> None:
    result = testsgd.audit(lambda f: f["b"].to_numpy(), people(), SPECIFICATION)
    assert result.summary.model.read_as == {"0": "no", "1": "yes"}
    for text in (
        AuditResult.document.to_markdown(result.summary),
        AuditResult.document.to_html(result.summary),
    ):
        assert "0 as “no”" in text
        assert "1 as “yes”" in text


def test_the_report_names_the_labels_of_the_rest() -> None:
    def three(frame: pd.DataFrame) -> Any:
        return np.where(frame["b"] == 1, "yes", np.where(frame["g"] == "f", "no", "refer"))

    result = testsgd.audit(three, people(), SPECIFICATION, favourable="yes")
    assert result.summary.model.other_labels == ["no", "refer"]
    for text in (
        AuditResult.document.to_markdown(result.summary),
        AuditResult.document.to_html(result.summary),
    ):
        assert "refer" in text


@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate", "precision"])
def test_codes_are_checked_whatever_the_metric(metric: Any) -> None:
    generator = np.random.default_rng(3)
    rows = pd.DataFrame({"sex": generator.choice(["f", "m"], 1000), "skill": range(1000)})
    labels = pd.Series(np.where(rows["skill"] > 500, "yes", "no"), name="repaid")
    options: dict[str, Any] = {
        "sensitive_features": ["sex"], "metric": metric, "replicates": 99, "stability": 0,
    }  # fmt: skip
    with pytest.raises(ModelError):
        testsgd.audit(lambda frame: (frame["skill"] <= 500).astype(int), rows, labels, **options)
    result = testsgd.audit(
        lambda frame: (frame["skill"] > 500).astype(int), rows, labels, **options
    )
    assert result.summary.model.read_as == {"0": "no", "1": "yes"}
