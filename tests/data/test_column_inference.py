"""What columns are taken for that nobody described."""

from __future__ import annotations

import datetime
import shlex
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.data import (
    DatasetSpecification,
    as_pandas,
    check_table,
    infer_column,
    infer_specification,
    read_frame,
    with_numbers,
)
from testsgd.data.classes import classes_of, favourable_class
from testsgd.data.guessed_features import ordered_values, quantile_edges
from testsgd.errors import DataError, ParameterError, TestSGDError

ROWS = 120


def letters(number: int) -> list[str]:
    return [f"L{index % number}" for index in range(ROWS)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (list(range(20, 20 + ROWS)), "identifier"),
        ([40 + index % 50 for index in range(ROWS)], "integer"),
        ([40.0 + index % 50 if index % 7 else None for index in range(ROWS)], "integer"),
        ([index / 7 for index in range(ROWS)], "decimal"),
        ([index % 2 == 0 for index in range(ROWS)], "categorical"),
        ([True, None, False] * 40, "categorical"),
        (letters(3), "categorical"),
        ([f"P{index:05d}" for index in range(ROWS)], "identifier"),
        ([f"It was a fine day number {index}." for index in range(ROWS)], "text"),
        ([f"2024-03-{1 + index % 28:02d}" for index in range(ROWS)], "date"),
        ([f"2024-03-01 10:{index % 60:02d}" for index in range(ROWS)], "date"),
        ([f"{1 + index % 28}.3.2024" for index in range(ROWS)], "date"),
        ([datetime.datetime(2024, 1, 1 + index % 28) for index in range(ROWS)], "date"),
        ([7] * ROWS, "constant"),
        ([None] * ROWS, "empty"),
    ],
)
def test_kinds_of_columns(cells: list[object], kind: str) -> None:
    assert infer_column(pd.Series(cells, name="a column")).kind == kind


MONTHS = [f"2024-{1 + index % 12:02d}-01" for index in range(ROWS)]
SECONDS = [1_704_067_200 + 86_400 * index for index in range(ROWS)]


@pytest.mark.parametrize("name", ["date", "created_at", "modified", "timestamp", "birthday"])
@pytest.mark.parametrize("time", ["", "T10:00:00Z"])
def test_dates_of_json_lines_are_those_of_a_file_of_cells(
    name: str, time: str, tmp_path: Path
) -> None:
    rows = pd.DataFrame({name: [f"{month}{time}" for month in MONTHS], "sex": letters(2)})
    rows.loc[3, name] = None
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    of_cells, of_lines = (
        infer_column(read_frame(tmp_path / file)[name]) for file in ("rows.csv", "rows.jsonl")
    )
    assert of_cells == of_lines
    assert of_lines.kind == "date"


@pytest.mark.parametrize(
    ("name", "cells", "is_date"),
    [
        ("created_at", SECONDS, True),
        ("createdAt", [1000 * second for second in SECONDS], True),
        ("timestamp", [1000 * second for second in SECONDS[:-1]] + [None], True),
        ("hire_date", SECONDS, True),
        # By their names they may be anything.
        ("income", SECONDS, False),
        ("process_time", SECONDS, False),
        ("phone", SECONDS, False),
        ("updates", SECONDS, False),
        # By their sizes, too.
        ("date", [20_240_100 + index for index in range(ROWS)], False),
        ("timestamp", [*SECONDS[:-1], 7], False),
        ("looked_at", list(range(ROWS)), False),
        ("date", [second / 7 for second in SECONDS], False),
    ],
)
def test_numbers_are_times_where_name_and_size_are_those_of_times(
    name: str, cells: list[float | None], is_date: bool
) -> None:
    assert (infer_column(pd.Series(cells, name=name)).kind == "date") == is_date


def test_columns_of_polars_are_taken_for_the_same() -> None:
    frame = pl.DataFrame(
        {
            "member": [True, None, False] * 40,
            "born": [datetime.date(1990, 1, 1 + index % 28) for index in range(ROWS)],
            "height": [1.5 + index / 1000 for index in range(ROWS)],
            "sex": pl.Series(["f", "m", None] * 40, dtype=pl.Categorical),
        }
    )
    converted = as_pandas(frame)
    assert converted is not None
    kinds = {name: infer_column(converted[name]).kind for name in converted}
    assert kinds == {
        "member": "categorical",
        "born": "date",
        "height": "decimal",
        "sex": "categorical",
    }


def test_an_infinite_number_is_refused() -> None:
    with pytest.raises(DataError):
        infer_column(pd.Series([1.0, np.inf, 2.0], name="income"))


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=300).filter(lambda x: len(set(x)) > 1)
)
def test_limits_of_whole_numbers_are_whole_ascending_and_cover_all(numbers: list[int]) -> None:
    edges = quantile_edges(np.array(numbers, dtype=np.float64), whole=True)
    assert edges == sorted(set(edges))
    assert all(edge.is_integer() for edge in edges)
    assert edges[0] == min(numbers)
    assert edges[-1] >= max(numbers)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1e6))
def test_limits_of_decimals_leave_about_as_many_on_each_side(seed: int, scale: float) -> None:
    numbers = np.random.default_rng(seed).normal(scale=scale, size=1000)
    edges = quantile_edges(numbers, whole=False)
    assert len(edges) == 11
    counts, _ = np.histogram(numbers, edges)
    assert counts.min() > 60
    assert counts.max() < 140


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("end", ["low", "high", "both"])
def test_a_value_that_most_rows_share_is_a_bin_of_its_own(whole: bool, end: str) -> None:
    others = np.arange(100.0) if whole else np.arange(100.0) / 7
    common = {"low": [others[0]], "high": [others[-1]], "both": [others[0], others[-1]]}[end]
    numbers = np.concatenate([others, *(np.full(2000, value) for value in common)])
    edges = quantile_edges(numbers, whole=whole)
    assert edges == sorted(set(edges))
    counts, _ = np.histogram(numbers, edges)
    # The common value is there 2,001 times.
    assert sorted(counts)[-len(common) :] == [2001] * len(common)


def people() -> pd.DataFrame:
    source = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "id": [f"P{index:05d}" for index in range(ROWS)],
            "sex": source.choice(["f", "m"], ROWS),
            "level": source.integers(1, 5, ROWS),
            "age": source.integers(18, 90, ROWS),
            "income": source.normal(50, 10, ROWS),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(ROWS), unit="h"),
        }
    )


def test_a_guessed_description_fits_its_rows() -> None:
    frame = people()
    labels = pd.Series(["yes", "no"] * (ROWS // 2))
    guessed = infer_specification(
        frame, sensitive=["sex", "age", "level"], label="granted", labels=labels
    )
    specification = guessed.specification
    assert specification.sensitive == ("sex", "level", "age")
    assert specification.insensitive == ("income",)
    # Numbers of a few values are codes, where rules are about them.
    assert specification.features["level"].values == ["1", "2", "3", "4"]
    assert specification.label.favourable == "yes"
    assert len(check_table(frame.assign(granted=labels), specification)) == ROWS
    # It is a description like any other.
    again = DatasetSpecification.model_validate(specification.model_dump())
    assert again == specification


def test_parts_of_a_guess_can_be_overridden() -> None:
    labels = pd.Series([0, 1] * (ROWS // 2))
    guessed = infer_specification(
        people(),
        sensitive=["sex", "age", "level"],
        label="granted",
        labels=labels,
        favourable=0,
        features={
            "age": {"edges": [18, 30, 50, 90]},
            "level": {"type": "integer", "range": (1, 4)},
            "id": {"type": "categorical", "values": [f"P{index:05d}" for index in range(ROWS)]},
        },
    )
    assert guessed.specification.features["age"].edges == [18, 30, 50, 90]
    assert guessed.specification.features["level"].continuous
    assert guessed.specification.label.favourable == "0"
    assert "id" in guessed.specification.insensitive


@pytest.mark.parametrize(
    "features",
    [
        {"age": {"edges": [50, 30]}},
        {"age": {"colour": "red"}},
        {"age": {"type": "number"}},
        {"sex": {"range": [0, 1]}},
        {"hight": {}},
    ],
)
def test_wrong_parts_are_one_line(features: dict[str, dict[str, object]]) -> None:
    labels = pd.Series([0, 1] * (ROWS // 2))
    with pytest.raises(TestSGDError) as caught:
        infer_specification(
            people(), sensitive=["sex", "age"], label="y", labels=labels, features=features
        )
    assert "\n" not in str(caught.value)


def test_rows_without_a_feature_that_can_be_varied_are_one_line() -> None:
    frame = people()[["id", "sex"]]
    labels = pd.Series([0, 1] * (ROWS // 2))
    with pytest.raises(TestSGDError):
        infer_specification(frame, sensitive=["sex"], label="y", labels=labels, inputs=["id"])


def test_no_value_is_joined_however_many_there_are() -> None:
    frame = pd.DataFrame({"town": [f"T{min(index % 97, index % 20)}" for index in range(ROWS)]})
    labels = pd.Series([0, 1] * (ROWS // 2))
    whole = infer_specification(frame, sensitive=["town"], label="y", labels=labels)
    town = whole.specification.features["town"]
    assert town.map is None
    assert town.values == sorted(frame["town"].unique())


@pytest.mark.parametrize("column", ["id", "seen", "nothing"])
def test_what_is_no_feature_cannot_be_sensitive(column: str) -> None:
    labels = pd.Series([0, 1] * (ROWS // 2))
    with pytest.raises(ParameterError) as caught:
        infer_specification(people(), sensitive=[column], label="y", labels=labels)
    assert column in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "favourable"),
    [
        ([0.2, 0.7, 0.5], None),
        (["a", "a", "a"], None),
        (["a", "b", "a"], None),
        (["yes", "no", "yes"], "maybe"),
        ([None, None, None], None),
    ],
)
def test_labels_that_are_no_two_classes_or_without_a_favourable_one_are_refused(
    labels: list[object], favourable: str | None
) -> None:
    frame = pd.DataFrame({"sex": ["f", "m", "f"]})
    with pytest.raises(ParameterError):
        infer_specification(
            frame,
            sensitive=["sex"],
            label="y",
            labels=pd.Series(labels),
            favourable=favourable,
        )


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ([Decimal("1.0"), Decimal("1"), Decimal("2")], ["1", "1.0", "2"]),
        ([True, 1, "1", None], ["1", "True"]),
        (["b", "a", None, "b"], ["a", "b"]),
    ],
)
def test_values_are_told_apart_by_their_texts(cells: list[object], texts: list[str]) -> None:
    column = pd.Series(cells, dtype=object, name="cell")
    assert infer_column(column).distinct == len(texts)
    assert ordered_values(column.dropna()) == texts


@pytest.mark.parametrize(
    ("classes", "favourable"),
    [
        (["<=50K", ">50K"], ">50K"),
        ([" <=50K.", " >50K."], " >50K."),
        ([">=5", "<5"], ">=5"),
        (["< 5 years", ">= 5 years"], ">= 5 years"),
        (["<=$1,000", ">$1,000"], ">$1,000"),
        (["<5", ">6"], None),
        (["<5", "<=5"], None),
        (["<5", ">5", ">=5"], None),
        (["<a", ">a"], None),
        (["under 30", "over 30"], None),
    ],
)
def test_of_two_sides_of_a_number_the_larger_one_is_favourable(
    classes: list[str], favourable: str | None
) -> None:
    if favourable is not None:
        assert favourable_class(classes, None) == favourable
        return
    with pytest.raises(ParameterError) as caught:
        favourable_class(classes, None)
    assert caught.value.details["labels"] == tuple(classes)
    assert f"--favorable {shlex.quote(classes[-1])}" in caught.value.remedy


@pytest.mark.parametrize(
    ("classes", "favourable"),
    [
        (["FALSE", "TRUE"], "TRUE"),
        (["NO", "YES"], "YES"),
        (["F", "T"], "T"),
        (["f", "t"], "t"),
        (["0.0", "1.0"], "1.0"),
        (["DENIED", "APPROVED"], "APPROVED"),
        (["N", "Y"], "Y"),
        # Treated people and controls are no true and false.
        (["C", "T"], None),
        (["YES", "yes"], None),
        (["a", "b"], None),
        (["maybe", "no", "yes"], None),
    ],
)
def test_the_favourable_label_is_known_in_small_and_large_letters(
    classes: list[str], favourable: str | None
) -> None:
    if favourable is None:
        with pytest.raises(ParameterError):
            favourable_class(classes, None)
    else:
        assert favourable_class(classes, None) == favourable


def test_labels_without_a_name_are_not_called_none() -> None:
    with pytest.raises(ParameterError) as caught:
        classes_of(pd.Series(["a", "a"]))
    assert "None" not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        ([f"{row},{row:03}" for row in range(1, 80)], 1001),
        ([f"${row},{row:03}.50" for row in range(1, 80)], 1001.5),
        ([f"-€ {row * 1000}" for row in range(1, 80)], -1000),
        (["980", None, *[f"1,{row:03}" for row in range(80)]], 980),
    ],
)
def test_texts_with_separators_of_thousands_are_numbers(cells: list[object], first: float) -> None:
    frame, examples = with_numbers(pd.DataFrame({"pay": cells}))
    assert infer_column(frame["pay"]).is_feature
    assert frame["pay"].iloc[0] == first
    assert frame["pay"].isna().tolist() == [cell is None for cell in cells]
    guessed = infer_specification(
        frame, sensitive=["pay"], label="y", labels=pd.Series(["no", "yes"]), examples=examples
    )
    assert str(cells[0]) in guessed.columns[0].why


@pytest.mark.parametrize(
    "cells",
    [
        [f"{row},{row % 7}" for row in range(80)],  # codes
        [f"0,{row:03}" for row in range(80)],  # a comma for a point
        [f"1,{row:03}" for row in range(79)] + ["unknown"],
        [f"1,{row:03}" for row in range(79)] + ["007"],
        [f"9,{row:03},199,254,740,993" for row in range(100, 180)],  # no float has them all
        ["101,204", "300,415"] * 40,  # categories, of two codes each
        [f"{row}" for row in range(1000, 1080)],
    ],
)
def test_other_texts_stay_as_they_are(cells: list[str]) -> None:
    frame = pd.DataFrame({"codes": cells})
    same, examples = with_numbers(frame)
    assert examples == {}
    pd.testing.assert_frame_equal(same, frame)
