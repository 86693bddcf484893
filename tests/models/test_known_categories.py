"""Which categories the encoders of a model know, and which cells are none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

from testsgd.models.known_categories import known_categories, most_alike, unknown_cells

COLUMNS = ["job", "grade", "age"]


def people() -> pd.DataFrame:
    source = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "job": source.choice(["clerk", "nurse "], 60),
            "grade": source.choice([1, 2], 60),
            "age": source.normal(size=60),
        }
    )


def one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore")


def ordinal() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def classifier(encoder: Any) -> Any:
    return make_pipeline(encoder, LogisticRegression())


def by_columns(columns: Any) -> Any:
    return make_column_transformer((one_hot(), columns), ("passthrough", ["age"]))


@pytest.mark.parametrize(
    "model",
    [
        classifier(by_columns(["job", "grade"])),
        classifier(by_columns([0, 1])),
        classifier(by_columns([True, True, False])),
        classifier(by_columns(slice(0, 2))),
        classifier(by_columns(slice("job", "grade"))),
        classifier(by_columns(lambda frame: ["job", "grade"])),
        classifier(
            ColumnTransformer(
                [
                    (
                        "words",
                        make_pipeline(SimpleImputer(strategy="most_frequent"), ordinal()),
                        ["job", "grade"],
                    )
                ]
            )
        ),
        classifier(
            make_column_transformer(
                (FeatureUnion([("a", one_hot()), ("b", ordinal())]), ["job", "grade"])
            )
        ),
        classifier(
            make_column_transformer(
                (one_hot(), make_column_selector(dtype_include=[object, "string"])),
                (ordinal(), ["grade"]),
            )
        ),
        GridSearchCV(classifier(by_columns(["job", "grade"])), {}, cv=2),
        CalibratedClassifierCV(classifier(by_columns(["job", "grade"])), cv=2),
    ],
)
def test_encoders_are_found_in_what_they_are_part_of(model: Any) -> None:
    frame = people()
    fitted = model.fit(frame, frame["grade"])
    known = known_categories(fitted, COLUMNS)
    assert {name: set(values) for name, values in known.items()} == {
        "job": {"clerk", "nurse "},
        "grade": {1, 2},
    }
    assert known_categories(fitted.predict, COLUMNS) == known


def test_an_encoder_behind_a_step_that_changes_cells_is_left_out() -> None:
    frame = people()[["job"]]
    stripped = FunctionTransformer(lambda cells: cells.apply(lambda column: column.str.strip()))
    model = make_pipeline(stripped, one_hot(), LogisticRegression()).fit(frame, frame["job"])
    assert known_categories(model, ["job"]) == {}


def test_what_an_imputer_replaces_is_known() -> None:
    frame = pd.DataFrame({"job": ["clerk", "nurse", "?"] * 5})
    imputer = SimpleImputer(missing_values="?", strategy="most_frequent")
    model = make_pipeline(imputer, one_hot()).fit(frame)
    assert unknown_cells(frame, known_categories(model, ["job"])) == []


def test_other_models_know_no_categories() -> None:
    frame = people()
    assert known_categories(LogisticRegression().fit(frame[["age"]], frame["job"]), ["age"]) == {}
    assert known_categories(None, ["age"]) == {}


def test_unknown_cells_are_counted_without_missing_ones() -> None:
    jobs = pd.Series(["nurse", "nurse", "clerk", None, "cook"], dtype="category")
    frame = pd.DataFrame({"job": jobs, "grade": [1.0, 2.0, np.nan, 3.0, True]})
    [job, grade] = unknown_cells(frame, {"job": ["clerk", "nurse "], "grade": [1, 2], "x": [0]})
    assert (job.column, job.values, job.rows) == ("job", ("nurse", "cook"), 3)
    assert (grade.values, grade.rows) == ((3.0,), 1)
    assert unknown_cells(frame[["job"]], {"job": ["clerk", "nurse", "cook", "maid"]}) == []


def test_categories_that_are_written_otherwise_come_first() -> None:
    assert most_alike(["Nurse"], ["clerk", np.nan, "nurse "])[0] == "nurse "
    assert most_alike(["01"], [2, 1])[0] == 1
