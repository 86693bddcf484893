"""A model and rows in scikit-learn's order, without a description."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.errors import DataError, ModelError, ParameterError, SpecificationError, TestSGDError

ROWS = 800
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people() -> pd.DataFrame:
    source = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "id": [f"P{index:05d}" for index in range(ROWS)],
            "sex": source.choice(["f", "m"], ROWS),
            "member": source.random(ROWS) < 0.4,
            "age": source.integers(18, 80, ROWS),
            "income": source.normal(50, 10, ROWS).round(1),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(source.integers(0, 900, ROWS), "D"),
        }
    )


def labels(frame: pd.DataFrame) -> pd.Series[Any]:
    return (frame["income"] > 50 - 8 * (frame["sex"] == "m")).astype(int).rename("granted")


def pipeline(frame: pd.DataFrame) -> Any:
    """Return a pipeline that is given all columns, and uses some."""
    encoder = ColumnTransformer(
        [
            ("words", OneHotEncoder(), ["sex"]),
            ("numbers", "passthrough", ["member", "age", "income"]),
        ]
    )
    return make_pipeline(encoder, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(
        frame, labels(frame)
    )


def test_a_pipeline_is_audited_by_three_arguments_and_a_list() -> None:
    frame = people()
    result = testsgd.audit(
        pipeline(frame), frame, labels(frame), sensitive_features=["sex", "age"], **QUICK
    )
    assert result.distinct["text"].iloc[0].startswith("sex = ")
    assert result.summary.rules[0].text in ("sex = f", "sex = m")
    data = result.summary.data
    assert {item.name for item in data.features} == {"sex", "member", "age", "income"}
    # What cannot be varied reaches the model as it is.
    assert result.summary.model.passed_through == ["id", "since"]
    assert result.summary.model.accuracy is not None
    assert data.label.favourable == "1"


def test_labels_are_not_needed_and_change_no_rate() -> None:
    frame = people()
    model = pipeline(frame)
    with_labels = testsgd.audit(model, frame, labels(frame), sensitive_features=["sex"], **QUICK)
    without = testsgd.audit(model, frame, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(with_labels.groups, without.groups)


def test_a_function_gets_the_columns_it_was_given_with_in_their_order() -> None:
    frame = people()
    seen = []

    def decide(rows: pd.DataFrame) -> Any:
        seen.append(list(rows.columns))
        return np.where(rows["income"] > 50, "yes", "no")

    testsgd.audit(decide, frame, sensitive_features=["sex"], **QUICK)
    assert all(columns == list(frame.columns) for columns in seen)


def test_sensitive_features_that_the_model_does_not_take() -> None:
    frame = people()
    taken = frame[["age", "income"]]
    model = HistGradientBoostingClassifier(random_state=0).fit(taken, labels(frame))
    result = testsgd.audit(model, taken, labels(frame), sensitive_features=frame[["sex"]], **QUICK)
    assert result.summary.model.not_given == ["sex"]
    rates = pd.Series(model.predict(taken)).groupby(frame["sex"]).mean()
    group = result.groups.set_index("text").loc["sex = m"]
    assert group["rate_in"] == rates["m"]


def test_scores_are_cut_at_the_threshold() -> None:
    frame = people()

    def score(rows: pd.DataFrame) -> Any:
        return np.clip(rows["income"] / 100, 0, 1).astype(float)

    result = testsgd.audit(score, frame, sensitive_features=["sex"], threshold=0.55, **QUICK)
    assert result.summary.overall_rate == (frame["income"] / 100 > 0.55).mean()


def test_rows_of_polars() -> None:
    frame = people().drop(columns=["since"])
    model = pipeline(frame)
    expected = testsgd.audit(model, frame, sensitive_features=["sex", "age"], **QUICK)
    found = testsgd.audit(model, pl.from_pandas(frame), sensitive_features=["sex", "age"], **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)


def test_nothing_that_is_given_is_changed() -> None:
    frame = people()
    known = labels(frame)
    testsgd.audit(pipeline(frame), frame, known, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(frame, people())
    pd.testing.assert_series_equal(known, labels(people()))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "sensitive_features"),
        ({"sensitive": ["sex"]}, "sensitive_features"),
        ({"sensitive_features": ["sexx"]}, "sexx"),
        ({"sensitive_features": []}, "sensitive"),
        ({"sensitive_features": ["id"]}, "id"),
        ({"sensitive_features": ["sex"], "favourable": "maybe"}, "maybe"),
        ({"sensitive_features": ["sex"], "terms": "terms.toml"}, "terms"),
    ],
)
def test_what_is_missing_is_said_with_what_to_write(arguments: dict[str, Any], named: str) -> None:
    frame = people()
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(pipeline(frame), frame, labels(frame), **arguments)
    assert named in str(caught.value)


def test_guesses_are_refused_where_a_description_is_given() -> None:
    for given in ({"sensitive_features": ["sex"]}, {"features": {}}):
        with pytest.raises(ParameterError):
            testsgd.audit(None, None, "demo", **given)


def test_without_rows_and_description_the_error_says_what_to_write() -> None:
    with pytest.raises(ParameterError):
        testsgd.audit(lambda frame: frame["sex"])


@pytest.mark.parametrize("labelled", [False, True])
def test_rows_without_a_column_of_the_model_are_one_line(labelled: bool) -> None:
    frame = people()
    model = pipeline(frame)
    known = (labels(frame),) if labelled else ()
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(model, frame.drop(columns="income"), *known, sensitive_features=["sex"])
    assert "income" in str(caught.value)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_model_that_raises_is_one_line(labelled: bool) -> None:
    frame = people()

    def broken(rows: pd.DataFrame) -> Any:
        raise ZeroDivisionError("two\nlines")

    known = (labels(frame),) if labelled else ()
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit(broken, frame, *known, sensitive_features=["sex"])
    assert "ZeroDivisionError" in str(caught.value)


def test_several_labels_of_a_model_may_be_favourable_together() -> None:
    frame = people()[["sex", "age", "income"]]
    grades = pd.Series(np.select([frame["income"] > 58, frame["income"] > 50], ["a", "b"], "c"))
    numbers = grades.map({"a": 2, "b": 1, "c": 0})
    inputs = frame[["age", "income"]]
    for labels_given, favourable, name in (
        (grades, ["a", "b"], "a or b"),
        (numbers, "1,2", "1 or 2"),
    ):
        tree = DecisionTreeClassifier(max_depth=3).fit(inputs, labels_given)
        result = testsgd.audit(
            tree,
            inputs,
            labels_given,
            sensitive_features=frame[["sex"]],
            favourable=favourable,
            **QUICK,
        )
        decided = np.isin(tree.predict(inputs).astype(str), name.split(" or "))
        assert result.summary.data.label.favourable == name
        assert result.summary.overall_rate == decided.mean()
        group = result.groups.set_index("text").loc["sex = f"]
        assert group["rate_in"] == decided[frame["sex"] == "f"].mean()


def test_several_labels_of_a_description_may_be_favourable_together() -> None:
    frame = people()[["sex", "income"]]
    description = {
        "dataset": {"name": "grades"},
        "label": {"column": "grade", "favourable": ["a", "b"], "values": ["a", "b", "c"]},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "income": {"type": "decimal", "range": [0, 150]},
        },
    }

    def grade(rows: pd.DataFrame) -> Any:
        return np.select([rows["income"] > 58, rows["income"] > 50], ["a", "b"], "c")

    data = frame.assign(grade=np.where(frame["sex"] == "f", "a", "c"))
    one = {**description, "label": {**description["label"], "favourable": "a"}}
    for spec, favourable in ((description, None), (one, ["b", "a"]), (one, "a,b")):
        result = testsgd.audit(
            grade, data, spec, favourable=favourable, estimand="observed", **QUICK
        )
        assert result.summary.overall_rate == (frame["income"] > 50).mean()
        [group] = [item for item in result.summary.groups if item.text == "sex = f"]
        assert (group.base_rate_in, group.base_rate_out) == (1, 0)
    alone = testsgd.audit(grade, data, description, favourable="c", estimand="observed", **QUICK)
    assert alone.summary.overall_rate == (frame["income"] <= 50).mean()


@pytest.mark.parametrize(
    "label",
    [
        {"favourable": ["a", "b"]},
        {"favourable": ["a", "b"], "values": ["a", "b"]},
        {"favourable": ["a", "x"], "values": ["a", "b", "c"]},
        {"favourable": ["a", "a"], "values": ["a", "b", "c"]},
        {"favourable": [], "values": ["a", "b"]},
    ],
)
def test_a_description_with_a_wrong_list_of_labels_is_refused(label: dict[str, Any]) -> None:
    features = {"sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True}}
    with pytest.raises(SpecificationError) as raised:
        testsgd.audit(
            lambda rows: ["a"] * len(rows),
            people(),
            {
                "dataset": {"name": "grades"},
                "label": {"column": "grade", **label},
                "features": features,
            },
        )
    assert "favourable" in str(raised.value)


@pytest.mark.parametrize(
    ("columns", "example"),
    [
        ({"income": "wage", "sex": "Gender", "age": "age_group"}, ["Gender", "age_group"]),
        ({"income": "wage", "sex": "g", "age": "years"}, ["g", "years", "wage"]),
    ],
)
def test_the_example_of_sensitive_features_is_of_the_users_own_columns(
    columns: dict[str, str], example: list[str]
) -> None:
    frame = people()[["sex", "age", "income"]].rename(columns=columns)
    with pytest.raises(ParameterError) as raised:
        testsgd.audit(lambda rows: rows.iloc[:, 0], frame)
    assert repr(example) in str(raised.value)


def granted(frame: pd.DataFrame) -> Any:
    return np.where(frame["income"] > np.where(frame["sex"] == "m", 42, 50), "yes", "no")


def lazy_polars(frame: pd.DataFrame) -> Any:
    return pl.LazyFrame({name: frame[name].tolist() for name in frame})


def in_duckdb(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb").from_df(frame)


@pytest.mark.parametrize("engine", [lazy_polars, in_duckdb])
def test_rows_of_an_engine_are_fetched_where_nothing_stands_beside_them(engine: Any) -> None:
    frame = people()[["sex", "age", "income"]]
    rows = engine(frame)
    expected = testsgd.audit(granted, frame, sensitive_features=["sex"], **QUICK)
    result = testsgd.audit(granted, rows, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(result.groups, expected.groups)
    known = granted(frame)
    with pytest.raises(DataError):
        testsgd.audit(granted, rows, known, sensitive_features=["sex"], **QUICK)
    with pytest.raises(DataError):
        testsgd.audit(granted, rows, sensitive_features=frame[["sex"]], **QUICK)
    with pytest.raises(DataError):
        testsgd.audit(granted, frame, sensitive_features=rows, **QUICK)


def test_rows_of_another_process_are_not_fetched() -> None:
    rows = pytest.importorskip("dask.dataframe").from_pandas(people()[["sex"]], npartitions=2)
    with pytest.raises(DataError, match="audit_rows_elsewhere"):
        testsgd.audit(granted, rows, sensitive_features=["sex"], **QUICK)


def test_an_engine_that_fails_is_an_error_of_the_family() -> None:
    rows = pl.LazyFrame({"sex": ["f", "m"]}).select("age")
    with pytest.raises(DataError):
        testsgd.audit(granted, rows, sensitive_features=["sex"], **QUICK)


def test_a_sensitive_column_beside_the_rows_is_not_taken_from_them() -> None:
    """Else an audit by one column would be of another one of the same name."""
    frame = people()
    swapped = frame[["sex"]].replace({"m": "f", "f": "m"})
    for audit in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(DataError) as caught:
            audit(granted, frame, sensitive_features=swapped)
        assert caught.value.details["column"] == "sex"
    same = testsgd.audit(granted, frame, sensitive_features=frame[["sex"]], **QUICK)
    named = testsgd.audit(granted, frame, sensitive_features=["sex"], **QUICK)
    pd.testing.assert_frame_equal(same.groups, named.groups)


def test_rows_in_another_order_are_refused() -> None:
    frame = people().drop(columns="sex")
    beside = people()[["sex"]].sample(frac=1, random_state=1)
    labels = pd.Series(granted(people())).sample(frac=1, random_state=1)
    with pytest.raises(DataError):
        testsgd.audit(lambda rows: rows["income"] > 45, frame, sensitive_features=beside, **QUICK)
    with pytest.raises(DataError):
        testsgd.audit(granted, people(), labels, sensitive_features=["sex"], **QUICK)
    with pytest.raises(DataError):
        testsgd.audit_predictions(labels, sensitive_features=people()[["sex"]], **QUICK)
    # A series that counts from 0 may be new or not: only arrays say that the order is one.
    shuffled = people().sample(frac=1, random_state=2)
    decided = pd.Series(granted(shuffled)).reset_index(drop=True)
    for audit in (testsgd.audit_predictions, testsgd.audit_metrics):
        with pytest.raises(DataError):
            audit(decided, sensitive_features=shuffled[["sex"]], **QUICK)
        with pytest.raises(DataError):
            audit(decided.to_numpy(), decided, sensitive_features=shuffled["sex"], **QUICK)
        audit(decided.to_numpy(), sensitive_features=shuffled[["sex"]], **QUICK)
        audit(decided.tolist(), decided.to_numpy(), sensitive_features=shuffled["sex"], **QUICK)
    for audit_model in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(DataError):
            audit_model(granted, shuffled, decided, sensitive_features=["sex"], **QUICK)
        audit_model(granted, shuffled, decided.to_numpy(), sensitive_features=["sex"], **QUICK)
    with pytest.raises(DataError):
        testsgd.audit_metrics(
            decided.tolist(),
            sensitive_features=shuffled["sex"],
            sample_weight=pd.Series(np.ones(ROWS)),
        )


def test_a_new_series_goes_by_position_beside_rows_of_a_split() -> None:
    test = people().sample(frac=0.5, random_state=2)
    decided = pd.Series(np.asarray(granted(test)))
    given = {"sex": test["sex"].tolist()}
    expected = testsgd.audit_predictions(decided, sensitive_features=given, **QUICK)
    found = testsgd.audit_predictions(decided, sensitive_features=test[["sex"]], **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    testsgd.audit(granted, test, decided, sensitive_features=["sex"], **QUICK)


def test_an_index_of_several_levels_goes_by_position_beside_another() -> None:
    sexes = people().sort_values("sex", kind="stable", ignore_index=True)
    decided = pd.Series(granted(sexes))
    groups = decided.groupby(sexes["sex"])
    levels = pd.concat(dict(iter(groups)))
    assert levels.index.nlevels == 2
    of_three = pd.concat({"all": levels})
    expected = testsgd.audit_predictions(decided, sensitive_features=sexes[["sex"]], **QUICK)
    for given in (levels, of_three):
        found = testsgd.audit_predictions(given, sensitive_features=sexes[["sex"]], **QUICK)
        pd.testing.assert_frame_equal(found.groups, expected.groups)
        beside = sexes[["sex"]].set_axis(given.index)
        found = testsgd.audit_predictions(decided, sensitive_features=beside, **QUICK)
        pd.testing.assert_frame_equal(found.groups, expected.groups)
    testsgd.audit_predictions(
        of_three, sensitive_features=sexes[["sex"]].set_axis(levels.index), **QUICK
    )
    shuffled, beside = levels.sample(frac=1, random_state=1), sexes[["sex"]].set_axis(levels.index)
    with pytest.raises(DataError):
        testsgd.audit_predictions(shuffled, sensitive_features=beside, **QUICK)


@pytest.mark.parametrize("kind", ["periods", "intervals"])
def test_texts_as_labels_go_by_position_beside_labels_of_another_type(kind: str) -> None:
    frame = people()[["sex"]]
    index = {
        "periods": pd.period_range("2020-01-01", periods=len(frame)),
        "intervals": pd.interval_range(0, len(frame)),
    }[kind]
    decided = pd.Series(granted(people()), index=[f"p{row}" for row in range(len(frame))])
    expected = testsgd.audit_predictions(decided.to_numpy(), sensitive_features=frame, **QUICK)
    found = testsgd.audit_predictions(
        decided, sensitive_features=frame.set_axis(index, axis="index"), **QUICK
    )
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    shuffled = pd.Series(granted(people()), index=index).sample(frac=1, random_state=1)
    with pytest.raises(DataError):
        testsgd.audit_predictions(
            shuffled, sensitive_features=frame.set_axis(index, axis="index"), **QUICK
        )


def test_series_of_a_mapping_in_another_order_are_refused_by_their_name() -> None:
    frame = people().set_axis([f"p{row}" for row in range(len(people()))])
    sex, age = frame["sex"], frame["age"]
    shuffled = sex.sample(frac=1, random_state=1)
    decided = pd.Series(granted(frame), index=frame.index)
    for given in ({"sex": shuffled}, {"age": age, "sex": shuffled}):
        for audit in (testsgd.audit_predictions, testsgd.audit_metrics):
            for answers in (decided, decided.to_numpy())[: len(given)]:
                with pytest.raises(DataError) as caught:
                    audit(answers, sensitive_features=given)
                assert "order" in str(caught.value)
    with pytest.raises(DataError, match="'sex'"):
        testsgd.audit_predictions(decided, sensitive_features={"age": age, "sex": shuffled})
    for audit_model in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(DataError, match="'sex2'"):
            audit_model(granted, frame, sensitive_features={"sex2": shuffled})
    for order in ({"sex": shuffled, "race": age}, {"sex": sex, "race": age.sample(frac=1)}):
        with pytest.raises(DataError, match="order"):
            testsgd.impact_ratios(decided, **order)


def test_series_of_a_mapping_go_by_position_where_their_labels_differ() -> None:
    """Pandas would join them by their labels."""
    frame = people()
    expected = testsgd.audit_predictions(
        granted(frame), sensitive_features=frame[["sex", "age"]], **QUICK
    )
    other = frame["age"].set_axis(range(7, 7 + len(frame)))
    given = {"sex": frame["sex"], "age": other}
    found = testsgd.audit_predictions(granted(frame), sensitive_features=given, **QUICK)
    pd.testing.assert_frame_equal(found.groups, expected.groups)
    with pytest.raises(DataError):
        testsgd.audit_predictions(
            granted(frame), sensitive_features={"sex": frame["sex"], "age": other[:-1]}, **QUICK
        )


def test_names_of_columns_of_several_levels_are_refused() -> None:
    frame = people()[["sex", "income"]]
    decided = granted(people())
    levels = frame.set_axis(pd.MultiIndex.from_tuples([("a", "sex"), ("b", "income")]), axis=1)
    sex = [("a", "sex")]
    calls: list[Any] = [
        lambda: testsgd.audit_predictions(decided, sensitive_features=levels[sex], **QUICK),
        lambda: testsgd.audit_predictions(
            decided, sensitive_features=frame[["sex"]], other_features=levels, **QUICK
        ),
        lambda: testsgd.audit(granted, levels, sensitive_features=sex, **QUICK),
        lambda: testsgd.audit(granted, people(), sensitive_features=levels[sex], **QUICK),
        lambda: testsgd.audit_model_by_metrics(granted, levels, sensitive_features=sex),
    ]
    for call in calls:
        with pytest.raises(DataError, match="levels") as caught:
            call()
        assert "join" in caught.value.remedy
    levels.columns = ["_".join(map(str, name)) for name in levels.columns]
    testsgd.audit_predictions(decided, sensitive_features=levels[["a_sex"]], **QUICK)


class Classifier:
    """A classifier with a class that no true label is."""

    classes_ = np.array(["garbage", "no", "yes"])

    def predict(self, rows: pd.DataFrame) -> Any:
        return np.where(rows["age"] < 30, "garbage", granted(rows))


def test_classes_that_the_data_do_not_have_are_said() -> None:
    frame = people()
    options: dict[str, Any] = {"sensitive_features": ["sex"], **QUICK}
    summary = testsgd.audit(Classifier(), frame, granted(frame), **options).summary
    assert summary.model.unknown_labels == ["garbage"]
    assert any("garbage" in sentence for sentence in summary.verdict.sentences)
    result = testsgd.audit_model_by_metrics(Classifier(), frame, granted(frame), **options)
    assert sum("garbage" in note for note in result.summary.data.notes) == 1


def test_other_labels_that_the_data_do_not_have_are_refused() -> None:
    frame = people()
    known = granted(frame)
    strange = Classifier().predict(frame)

    def model(rows: pd.DataFrame) -> Any:
        return Classifier().predict(rows)

    options: dict[str, Any] = {"sensitive_features": ["sex"], "favourable": "yes", **QUICK}
    for audited in (testsgd.audit, testsgd.audit_model_by_metrics):
        with pytest.raises(ModelError) as refused:
            audited(model, frame, known, **options)
        assert "\n" not in str(refused.value)
    options["sensitive_features"] = frame[["sex"]]
    for compared in (testsgd.audit_predictions, testsgd.audit_metrics):
        with pytest.raises(DataError) as caught:
            compared(strange, known, **options)
        assert caught.value.details["unknown"] == ["garbage"]
        # A rare class may be listed.
        listed = pd.Series(pd.Categorical(known, categories=["garbage", "no", "yes"]))
        compared(strange, listed, **options)
    # Where all true labels are one class, they are a selection of people.
    testsgd.audit_predictions(strange, ["yes"] * len(frame), **options)


def test_a_column_is_no_description() -> None:
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(granted, people(), "age", sensitive_features=["sex"])
    assert caught.value.details["column"] == "age"


@pytest.mark.parametrize("engine", [lazy_polars, in_duckdb])
def test_of_a_model_and_rows_of_an_engine_it_is_said_how_these_are_fetched(engine: Any) -> None:
    """Predictions named in the engine would be of no use: there are none."""
    frame = people()[["sex", "age", "income"]]
    rows = engine(frame)
    fetch = ".collect()" if engine is lazy_polars else ".df()"
    for audit in (testsgd.audit, testsgd.audit_model_by_metrics):
        for given, beside in (
            ((rows, granted(frame)), ["sex"]),
            ((rows,), frame[["sex"]]),
            ((frame, rows), ["sex"]),
            ((frame,), rows),
        ):
            with pytest.raises(DataError) as caught:
                audit(granted, *given, sensitive_features=beside)
            assert fetch in str(caught.value)
            assert "audit_rows_elsewhere" not in str(caught.value)


@pytest.mark.parametrize("engine", [lazy_polars, in_duckdb, pd.DataFrame])
def test_the_name_of_a_column_is_no_description(engine: Any) -> None:
    rows = engine(people()[["sex", "age", "income"]])
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(granted, rows, "age", sensitive_features=["sex"])
    assert caught.value.details["column"] == "age"
    with pytest.raises(DataError) as refused:
        testsgd.audit_model_by_metrics(granted, rows, "age", sensitive_features=["sex"])
    assert refused.value.where == "y"


@pytest.mark.parametrize("engine", [lazy_polars, in_duckdb, pd.DataFrame, np.array])
def test_rows_before_the_model_are_said_to_be_in_its_place(engine: Any) -> None:
    frame = people()[["sex", "age", "income"]]
    tree = DecisionTreeClassifier(max_depth=2).fit(frame[["income"]], granted(frame))
    rows = engine(frame)
    for model in (granted, tree):
        for given in ((rows, model), (rows, model, granted(frame))):
            for audit in (testsgd.audit, testsgd.audit_model_by_metrics):
                with pytest.raises(ParameterError) as caught:
                    audit(*given, sensitive_features=["sex"])
                assert "comes first" in str(caught.value)
    with pytest.raises(ParameterError):
        testsgd.audit(rows, tree, "demo")


@pytest.mark.parametrize("missing", [float("nan"), None, np.nan, pd.NA])
@pytest.mark.parametrize("others", ["yes", "no"])
@pytest.mark.parametrize("container", [list, tuple, lambda answers: [[item] for item in answers]])
@pytest.mark.parametrize("options", [{}, {"favourable": "yes"}])
def test_a_missing_answer_among_texts_is_no_label(
    missing: Any, others: str, container: Any, options: dict[str, Any]
) -> None:
    frame = people()[["sex", "age"]]
    row = int((frame["age"] < 30).idxmax())
    assert row > 0

    def answers(given: pd.DataFrame) -> Any:
        texts = ["yes" if age < 60 else others for age in given["age"]]
        texts = [
            missing if age < 30 else text for age, text in zip(given["age"], texts, strict=True)
        ]
        return container(texts)

    with pytest.raises(ModelError, match=rf"\b{row}\b"):
        testsgd.audit(answers, frame, sensitive_features=["sex"], **options, **QUICK)


def test_a_missing_answer_among_texts_is_refused_where_there_are_true_labels() -> None:
    frame = people()[["sex", "age"]]
    true = np.where(frame["age"] < 50, "yes", "no")

    def answers(given: pd.DataFrame) -> list[Any]:
        return [float("nan") if age < 30 else "yes" for age in given["age"]]

    with pytest.raises(ModelError):
        testsgd.audit(answers, frame, true, sensitive_features=["sex"], **QUICK)
    with pytest.raises(ModelError):
        testsgd.audit_model_by_metrics(
            answers, frame, true, sensitive_features=["sex"], metrics="selection_rate"
        )
    given = answers(frame)
    for values in (given, tuple(given)):
        with pytest.raises(TestSGDError):
            testsgd.audit_predictions(values, sensitive_features=frame[["sex"]], **QUICK)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        pytest.param([5.0, np.nan], "constant", id="one number and missing cells"),
        pytest.param(["2024-01-31", "2024-02-29"], "date", id="dates"),
    ],
)
def test_an_error_names_the_inputs_that_are_left_out(cells: list[Any], kind: str) -> None:
    class Model:
        classes_ = np.array([0, 1])
        feature_names_in_ = np.array(["given"], dtype=object)

        def predict(self, rows: pd.DataFrame) -> Any:
            return (rows["given"] == cells[0]).to_numpy().astype(int)

    frame = people()[["sex"]].assign(given=cells * (ROWS // 2))
    with pytest.raises(ParameterError) as raised:
        testsgd.audit(Model(), frame, sensitive_features=["sex"], **QUICK)
    assert "given" in str(raised.value)
    assert f"kind {kind}" in str(raised.value)
    assert raised.value.remedy
