"""From rows to a network's inputs, checked against scikit-learn's encoders."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.errors import DataError, ModelError
from testsgd.models import Encoding
from testsgd.models.encoding import CategoryEncoding, NumberEncoding, fit_encoding

COLOURS = ("red", "green", "blue")
ENCODING = Encoding((NumberEncoding("age", 30.0, 10.0), CategoryEncoding("colour", COLOURS)))


def table(ages: Any, colours: Any) -> Table:
    specification = specification_from_mapping(
        {
            "dataset": {"name": "small"},
            "label": {"column": "granted", "favourable": "yes"},
            "features": {
                "age": {"type": "decimal", "range": [0, 100]},
                "colour": {"type": "categorical", "values": list(COLOURS), "sensitive": True},
            },
        }
    )
    return check_table(pd.DataFrame({"age": ages, "colour": colours}), specification)


def test_numbers_are_standardised_and_categories_are_one_hot() -> None:
    rows = table(
        np.random.default_rng(0).uniform(0, 100, 50),
        np.random.default_rng(1).choice(COLOURS, 50),
    )
    chosen = np.arange(10, 40)
    encoded = fit_encoding(rows, chosen).encode(rows.frame)
    ages = rows.frame[["age"]].to_numpy()
    scaler = StandardScaler().fit(ages[chosen])
    one_hot = OneHotEncoder(categories=[list(COLOURS)], sparse_output=False)
    np.testing.assert_allclose(encoded[:, 0], scaler.transform(ages)[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(encoded[:, 1], 0)
    np.testing.assert_array_equal(
        encoded[:, 2:5], one_hot.fit_transform(rows.frame[["colour"]].to_numpy())
    )
    np.testing.assert_array_equal(encoded[:, 5], 0)
    assert encoded.dtype == np.float32


@pytest.mark.parametrize(
    "ages",
    [
        pd.Series([20.0, np.nan]),
        pd.Series([20, None], dtype="Int64"),
        pd.Series([20, None], dtype="Float64"),
        pd.Series([20, None], dtype="object").astype("Float64"),
    ],
)
@pytest.mark.parametrize(
    "colours",
    [
        pd.Series(["blue", None]),
        pd.Series(["blue", np.nan], dtype="object"),
        pd.Series(["blue", None], dtype="string"),
        pd.Series(["blue", None], dtype="category"),
        pd.Categorical(["blue", None], categories=["blue", "red", "green"]),
    ],
)
def test_a_missing_value_counts_as_the_mean_and_is_said_to_be_missing(
    ages: Any, colours: Any
) -> None:
    encoded = ENCODING.encode(pd.DataFrame({"age": ages, "colour": colours}))
    assert encoded.tolist() == [
        [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    ]


numbers = st.builds(
    NumberEncoding,
    st.text(max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=1e-300, allow_nan=False, allow_infinity=False),
)
categories = st.builds(
    CategoryEncoding,
    st.text(max_size=5),
    st.lists(st.text(max_size=5), min_size=1, unique=True).map(tuple),
)


@given(st.lists(numbers | categories, max_size=6).map(tuple))
def test_an_encoding_survives_a_round_trip_through_json(features: Any) -> None:
    encoding = Encoding(features)
    assert Encoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding


@pytest.mark.parametrize("values", [["red", ["green"]], ["red", 1.5], ["red", "red"], "red", None])
def test_values_that_are_no_texts_or_come_twice_are_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="colour"):
        Encoding.from_json([{"name": "colour", "values": values}])


def test_each_feature_knows_its_inputs() -> None:
    assert ENCODING.width == 6
    assert [ENCODING.offset("age"), ENCODING.offset("colour")] == [0, 2]
    assert ENCODING.of("colour") == CategoryEncoding("colour", COLOURS)
    assert ENCODING.takes("age")
    assert not ENCODING.takes("height")
    with pytest.raises(KeyError):
        ENCODING.offset("height")


@pytest.mark.parametrize(
    ("ages", "mean"), [([5.0, 5.0, 5.0, 90.0], 5.0), ([np.nan, np.nan, np.nan, 90.0], 0.0)]
)
def test_a_feature_without_spread_has_scale_one(ages: list[float], mean: float) -> None:
    rows = table(ages, ["red", "green", "red", "green"])
    assert fit_encoding(rows, np.arange(3)).features[0] == NumberEncoding("age", mean, 1.0)


def test_a_missing_value_takes_no_part_in_mean_and_scale() -> None:
    rows = table([10.0, np.nan, 30.0], ["red", "green", "red"])
    assert fit_encoding(rows, np.arange(3)).features[0] == NumberEncoding("age", 20.0, 10.0)


def test_columns_are_found_by_name_not_by_key() -> None:
    frame = pd.DataFrame({"colour": ["red"], "height": [1], "age": [40]}, index=[99])
    assert ENCODING.encode(frame).tolist() == [[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]


def test_a_column_that_the_network_needs_is_named() -> None:
    with pytest.raises(ModelError, match="'colour'"):
        ENCODING.encode(pd.DataFrame({"age": [1.0]}))


@pytest.mark.parametrize("ages", [["young", "old"], pd.Categorical(["young", "old"])])
def test_text_where_the_network_takes_numbers_is_an_error(ages: Any) -> None:
    with pytest.raises(ModelError, match="'age' as a number"):
        ENCODING.encode(pd.DataFrame({"age": ages, "colour": ["red", "red"]}))


def test_a_category_that_the_network_does_not_know_is_an_error() -> None:
    with pytest.raises(DataError, match="'purple'"):
        ENCODING.encode(pd.DataFrame({"age": [1.0], "colour": ["purple"]}))
