"""What baselines are given, how they are named, and rows as arrays and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from loans_by_hand import SPECIFICATION, people, subject
from pandas.testing import assert_frame_equal

from testsgd.baselines import METHODS, baselines, run_baseline, subject_of
from testsgd.baselines.coding import RowCoding
from testsgd.baselines.combinations import cell_values, drawn_values
from testsgd.data import Feature, check_table
from testsgd.errors import ParameterError
from testsgd.models import load_model
from testsgd.rules import IntervalAxis, bin_edges


def test_a_subject_knows_its_decisions_cells_and_support():
    frame = people(90)
    found = subject(lambda rows: rows["income"] >= 2, frame)
    assert np.array_equal(found.decisions, (frame["income"] >= 2).to_numpy())
    assert [axis.feature for axis in found.axes] == ["gender", "age"]
    assert found.contingency.cells == 4
    # 5% of 90 rows are 4.5, so five are needed.
    assert found.min_count == 5


def test_bins_replace_those_of_the_description():
    table = check_table(people(), SPECIFICATION)
    model = load_model(lambda rows: rows["debt"], SPECIFICATION).model
    assert len(subject_of(table, model, theta=0.1, bins=3).axes[1].labels) == 3


def test_every_method_has_its_name():
    assert tuple(baseline.method for baseline in baselines()) == METHODS


def test_an_unknown_method_is_an_error_that_lists_the_known():
    with pytest.raises(ParameterError, match=r"'thermis' is unknown; give one of themis, "):
        run_baseline("thermis", subject(lambda rows: rows["income"] >= 2))


def test_a_method_is_run_by_its_name():
    result = run_baseline("themis", subject(lambda rows: rows["income"] >= 2), time_limit=0.0)
    assert (result.method, result.available) == ("themis", True)


@pytest.mark.parametrize(
    "types",
    [
        {},
        {"gender": "category", "home": "category", "age": "int8", "debt": "float32"},
        {"gender": "string", "age": "Int16", "debt": "Float32", "income": "float64"},
    ],
)
def test_rows_come_back_from_points_as_they_were(types: dict[str, Any]):
    table = check_table(people().astype(types), SPECIFICATION)
    coding = RowCoding(table)
    rows = np.array([5, 3, 3, 170])
    expected = table.frame.iloc[rows].reset_index(drop=True)
    assert_frame_equal(coding.frame(coding.points(rows)), expected)


def test_missing_cells_come_back_missing():
    frame = people().astype({"age": "Int64", "income": float})
    frame.loc[3, ["gender", "age", "income", "home"]] = None
    table = check_table(frame, SPECIFICATION)
    coding = RowCoding(table)
    assert_frame_equal(coding.frame(coding.points()), table.frame)
    generated = coding.frame(coding.uniform(np.random.default_rng(0), 100))
    assert not generated.isna().any(axis=None)


def test_numbers_that_a_column_cannot_hold_widen_it():
    coding = RowCoding(check_table(people().assign(debt=np.int64(1)), SPECIFICATION))
    points = coding.uniform(np.random.default_rng(0), 50)
    column = coding.frame(points)["debt"]
    assert column.dtype == np.float64
    assert column.tolist() == points[:, coding.index("debt")].tolist()


def test_steps_stay_in_the_domain_and_leave_missing_cells():
    frame = pd.DataFrame(
        {
            "gender": ["female", "male", None],
            "income": [0.0, 3.0, np.nan],
            "age": [0, 99, 50],
            "debt": [0.0, 0.995, 0.5],
            "home": ["none", "own", None],
        }
    )
    coding = RowCoding(check_table(frame, SPECIFICATION))
    up = coding.frame(coding.moved(coding.points(), np.ones((3, 5), dtype=np.int64)))
    assert up["income"].tolist()[:2] == [1.0, 3.0]
    assert np.isnan(up["income"][2])
    assert up["debt"].tolist() == pytest.approx([0.01, 1.0, 0.51])
    # Nobody rents, so the step from none leads to own.
    assert up["home"].tolist()[:2] == ["own", "own"]
    assert up["home"].isna()[2]
    down = coding.frame(coding.moved(coding.points(), -np.ones((3, 5), dtype=np.int64)))
    assert down["age"].tolist() == [0, 98, 49]


@pytest.mark.parametrize(
    "feature",
    [
        Feature(type="integer", range=(0, 99), edges=[0, 40, 100]),
        Feature(type="integer", range=(1, 4)),
        Feature(type="integer", range=(0, 25), bins=4),
        Feature(type="decimal", range=(-1, 1), bins=7),
        Feature(type="decimal", range=(0, 1), edges=[-1, 0, 0.5, 1, 2]),
    ],
)
def test_values_of_a_cell_lie_in_it(feature: Feature):
    axis = IntervalAxis("x", bin_edges(feature))
    drawn = drawn_values(axis, feature, 2000, np.random.default_rng(0))
    low, high = feature.range or (0, 0)
    for cell, numbers in enumerate(np.column_stack([cell_values(axis, feature), drawn])):
        if np.isnan(numbers).any():
            # No value of the range is in it.
            assert np.isnan(numbers).all()
            assert axis.edges[cell + 1] <= low
            continue
        assert ((numbers >= low) & (numbers <= high)).all()
        assert (np.searchsorted(axis.edges[1:-1], numbers, side="right") == cell).all()
        if feature.type == "integer":
            wanted = set(range(int(low), int(high) + 1))
            inside = {
                v for v in wanted if np.searchsorted(axis.edges[1:-1], v, side="right") == cell
            }
            assert set(numbers.tolist()) <= inside
            assert set(drawn[cell].tolist()) == inside
