"""Parts of a description by keyword: the range or the values come from the data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import Feature, infer_specification
from testsgd.errors import TestSGDError

ROWS = 400


def people() -> pd.DataFrame:
    source = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "region": source.integers(1, 7, ROWS),
            "age": source.integers(20, 70, ROWS),
            "ratio": source.normal(size=ROWS),
            "town": source.choice(["north", "south", "west"], ROWS),
        }
    )


def described(
    features: dict[str, dict[str, Any]], sensitive: str = "sex", frame: pd.DataFrame | None = None
) -> dict[str, Feature]:
    guessed = infer_specification(
        people() if frame is None else frame,
        sensitive=[sensitive],
        label="y",
        labels=pd.Series(["no", "yes"]),
        features=features,
    )
    return guessed.specification.features


def test_a_number_has_the_range_of_its_cells() -> None:
    features = described({"region": {"type": "integer"}, "ratio": {"type": "decimal"}})
    assert (features["region"].type, features["region"].range) == ("integer", (1, 6))
    assert features["ratio"].range == (people()["ratio"].min(), people()["ratio"].max())
    assert features["region"].edges is None


def test_a_sensitive_number_has_the_bins_that_are_guessed() -> None:
    assert described({"age": {"type": "integer"}}, "age") == described({}, "age")
    features = described({"age": {"type": "integer", "edges": [0, 40, 100]}}, "age")
    assert features["age"].edges == [0, 40, 100]
    assert features["age"].range == (people()["age"].min(), people()["age"].max())
    assert described({"age": {"type": "integer", "bins": 3}}, "age")["age"].edges is None


def test_a_category_has_the_values_of_its_cells() -> None:
    features = described({"age": {"type": "categorical"}, "region": {"type": "categorical"}})
    assert features["region"].values == ["1", "2", "3", "4", "5", "6"]
    assert len(features["age"].values or ()) == people()["age"].nunique()
    joined = described({"town": {"type": "categorical", "map": {"west": "other"}}})
    assert joined["town"].values == ["north", "other", "south"]


def test_what_is_given_stays() -> None:
    features = described(
        {
            "region": {"type": "categorical", "values": ["6", "5", "4", "3", "2", "1"]},
            "age": {"type": "integer", "range": [0, 120]},
        }
    )
    assert features["region"].values == ["6", "5", "4", "3", "2", "1"]
    assert features["age"].range == (0, 120)


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("region", {"edges": [1, 4, 7]}, "integer"),
        ("region", {"bins": 2}, "integer"),
        ("age", {"bins": 5}, "integer"),
        ("age", {"range": [0, 120]}, "integer"),
        ("ratio", {"step": 0.5}, "decimal"),
        ("region", {"values": ["1", "2", "3", "4", "5", "6"]}, "categorical"),
        ("region", {"map": {"6": "5"}}, "categorical"),
        ("town", {"map": {"west": "other"}}, "categorical"),
    ],
)
def test_a_part_is_completed_to_the_type_that_it_is_of(
    name: str, given: dict[str, Any], kind: str
) -> None:
    feature = described({name: given}, name)[name]
    assert feature.type == kind
    assert (feature.range is None) == (kind == "categorical")
    for key, value in given.items():
        assert getattr(feature, key) == (tuple(value) if key == "range" else value)


def test_decimals_are_completed_as_numbers() -> None:
    rows = people().assign(age=[Decimal(age) for age in people()["age"].tolist()])
    result = testsgd.audit_predictions(
        ["no", "yes"] * (ROWS // 2),
        sensitive_features=rows[["age"]],
        features={"age": {"type": "integer"}},
    )
    assert all("age" in text for text in result.groups["text"])


@pytest.mark.parametrize("kind", ["integer", "decimal"])
def test_texts_are_no_numbers(kind: str) -> None:
    with pytest.raises(TestSGDError, match=r"town.*(north|south|west).*categorical") as caught:
        described({"town": {"type": kind}})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "features",
    [
        {"ratio": {"type": "integer"}},
        {"town": {"type": "integer"}},
        {"town": {"type": "number"}},
        {"age": {"type": "integer", "edges": [30, 40]}},
    ],
)
def test_what_does_not_fit_is_an_error_of_one_line(features: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(TestSGDError) as caught:
        testsgd.audit_predictions(
            ["no", "yes"] * (ROWS // 2),
            sensitive_features=people()[["sex"]],
            other_features=people(),
            features=features,
        )
    assert "\n" not in str(caught.value)
    assert next(iter(features)) in str(caught.value)


@pytest.mark.parametrize("name", ["region", "age", "town"])
@pytest.mark.parametrize("kind", ["integer", "categorical"])
def test_models_and_metrics_take_them(name: str, kind: str) -> None:
    if (name, kind) == ("town", "integer"):
        return
    features = {name: {"type": kind}}
    rows = people()
    result = testsgd.audit(
        lambda frame: frame["age"] > 40, rows, sensitive_features=["sex"], features=features
    )
    assert result.groups["text"].str.startswith("sex").any()
    of_metrics = testsgd.audit_predictions(
        rows["ratio"], sensitive_features=rows[[name]], features=features, metrics="mean"
    )
    assert len(of_metrics.groups)
