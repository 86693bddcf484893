"""A table means the same whatever library and types its columns have; it is never changed."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import testsgd
from testsgd.data import (
    DatasetSpecification,
    Table,
    check_table,
    specification_from_mapping,
    table_fingerprint,
)
from testsgd.data.cells import as_pandas

pa = pytest.importorskip("pyarrow")

# Texts, whole numbers and booleans as categories; whole numbers and decimals; labels.
CELLS: dict[str, list[Any]] = {
    "letter": ["b", "a", None, "a", "b"],
    "code": [1, 0, 1, None, 0],
    "flag": [True, None, False, True, False],
    "whole": [3, None, 7, 0, 100],
    "part": [0.25, 0.5, None, 1.0, 0.0],
    "label": [1, 0, 0, 1, 1],
}


def specification() -> DatasetSpecification:
    return specification_from_mapping(
        {
            "dataset": {"name": "types"},
            "label": {"column": "label", "favourable": 1, "values": [0, 1]},
            "features": {
                "letter": {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True},
                "code": {"type": "categorical", "values": [0, 1], "sensitive": True},
                "flag": {"type": "categorical", "values": [False, True]},
                "whole": {"type": "integer", "range": [0, 100]},
                "part": {"type": "decimal", "range": [0, 1], "sensitive": True},
            },
        }
    )


def frame(**dtypes: str) -> pd.DataFrame:
    """Give the cells in columns of certain types, of float64 and object where none is named."""
    plain = {"whole": "float64", "part": "float64", "label": "int64"}
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=dtypes.get(name, plain.get(name, "object")))
            for name, values in CELLS.items()
        }
    )


NAMES = list(CELLS)


def everywhere(*dtypes: str) -> Callable[[], pd.DataFrame]:
    return lambda: frame(**dict(zip(NAMES, dtypes, strict=True)))


def polars(**dtypes: Any) -> Callable[[], pl.DataFrame]:
    return lambda: pl.DataFrame(CELLS, schema_overrides=dtypes)


def arrow_types() -> pd.DataFrame:
    return frame().convert_dtypes(dtype_backend="pyarrow")


def categories_of_everything() -> pd.DataFrame:
    backwards = pd.CategoricalDtype(["z", "c", "b", "a"], ordered=True)
    return frame(code="category", flag="category", label="category").astype({"letter": backwards})


FRAMES: dict[str, Callable[[], Any]] = {
    "objects": frame,
    "floats": everywhere("str", "float64", "object", "float64", "float64", "float64"),
    "small floats": everywhere("str", "float32", "object", "float32", "float32", "float16"),
    "nullable": everywhere("string", "Int64", "boolean", "Int64", "Float64", "Int64"),
    "small nullable": everywhere("string", "Int8", "boolean", "UInt8", "Float32", "Int8"),
    "arrow": arrow_types,
    "arrow strings": everywhere(
        "string[pyarrow]",
        "int8[pyarrow]",
        "bool[pyarrow]",
        "uint16[pyarrow]",
        "float[pyarrow]",
        "int64[pyarrow]",
    ),
    "categories": categories_of_everything,
    "polars": polars(),
    "polars small": polars(code=pl.Int8, whole=pl.UInt8, part=pl.Float32, label=pl.Int16),
    "polars categories": polars(letter=pl.Categorical),
    "polars enum": polars(letter=pl.Enum(["c", "b", "a"])),
    "polars floats": polars(code=pl.Float64, whole=pl.Float64, label=pl.Float32),
    "pyarrow": lambda: pa.table(CELLS),
    "batch": lambda: pa.table(CELLS).to_batches()[0],
    "other order, more columns": lambda: frame()[NAMES[::-1]].assign(more="x"),
    "odd index": lambda: frame().set_axis([4, 4, -1, 0, 2]),
}


@pytest.fixture(params=FRAMES)
def data(request: pytest.FixtureRequest) -> Any:
    """Give the same five rows in one of many guises."""
    return FRAMES[request.param]()


@pytest.fixture
def table(data: Any) -> Table:
    return check_table(data, specification(), source="five rows")


def test_the_cells_mean_the_same(table: Table) -> None:
    assert len(table) == 5
    assert list(table.frame.columns) == ["letter", "code", "flag", "whole", "part"]
    assert table.codes("letter").tolist() == [1, 0, -1, 0, 1]
    assert table.codes("code").tolist() == [1, 0, 1, -1, 0]
    assert table.codes("flag").tolist() == [1, -1, 0, 1, 0]
    nan = np.nan
    np.testing.assert_array_equal(table.numbers("whole"), [3, nan, 7, 0, 100])
    np.testing.assert_array_equal(table.numbers("part"), [0.25, 0.5, nan, 1, 0])
    assert table.numbers("whole").dtype == np.float64
    assert table.labels is not None
    assert table.labels.tolist() == ["1", "0", "0", "1", "1"]
    assert table.missing == {"letter": 1, "code": 1, "flag": 1, "whole": 1, "part": 1}
    assert table.source == "five rows"


def test_slices_of_a_column_are_slices_of_its_meaning(table: Table) -> None:
    rows = slice(1, 4)
    assert table.codes("letter", rows).tolist() == [0, -1, 0]
    np.testing.assert_array_equal(table.numbers("whole", rows), [np.nan, 7, 0])


def test_the_fingerprint_is_the_same(table: Table) -> None:
    assert table_fingerprint(table) == table_fingerprint(check_table(frame(), specification()))


def test_the_data_given_are_never_changed(data: Any) -> None:
    before = copy.deepcopy(data)
    table = check_table(data, specification())
    table_fingerprint(table)
    for cells in (table.codes("letter"), table.numbers("whole")):
        # What is given out is either a copy or cannot be written to.
        with contextlib.suppress(ValueError):
            cells[:] = 0
    if isinstance(data, pd.DataFrame):
        pd.testing.assert_frame_equal(data, before)
    else:
        assert data.equals(before)


def test_a_table_does_not_follow_later_changes_of_the_data() -> None:
    data = frame()
    table = check_table(data, specification())
    before = table_fingerprint(table)
    data.loc[0, "whole"] = 99
    data.loc[0, "label"] = 0
    assert table_fingerprint(table) == before
    assert table.labels is not None
    assert table.labels.tolist() == ["1", "0", "0", "1", "1"]


def test_cells_and_types_stay_as_they_were_given() -> None:
    data = everywhere("string", "Int8", "boolean", "UInt8", "Float32", "int64")()
    table = check_table(data, specification())
    pd.testing.assert_frame_equal(table.frame, data[list(table.frame.columns)])


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [
        ("letter", 0, "c"),
        ("letter", 0, None),
        ("code", 3, 0),
        ("flag", 0, False),
        ("whole", 0, 4),
        ("whole", 0, None),
        ("part", 0, 0.2500001),
    ],
)
def test_another_value_gives_another_fingerprint(name: str, row: int, value: Any) -> None:
    data = frame()
    first = table_fingerprint(check_table(data, specification()))
    data.loc[row, name] = value
    assert table_fingerprint(check_table(data, specification())) != first


def test_the_order_of_rows_is_part_of_the_fingerprint() -> None:
    first, second = frame(), frame().iloc[::-1]
    tables = [check_table(data, specification()) for data in (first, second)]
    assert table_fingerprint(tables[0]) != table_fingerprint(tables[1])


def test_equal_numbers_have_equal_fingerprints_whatever_their_bits() -> None:
    """There are two zeros, and NaN has a sign that arithmetic may set."""
    prints = set()
    for zero, missing in [(0.0, np.nan), (-0.0, np.copysign(np.nan, -1))]:
        data = frame().assign(whole=[3, missing, 7, zero, 100])
        assert np.signbit(data["whole"][1]) == np.signbit(missing)
        prints.add(table_fingerprint(check_table(data, specification())))
    assert len(prints) == 1


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_without_any_value_is_missing_throughout(make: Any) -> None:
    table = check_table(make({**CELLS, "whole": [None] * 5, "flag": [None] * 5}), specification())
    assert table.missing["whole"] == table.missing["flag"] == 5
    assert np.isnan(table.numbers("whole")).all()
    assert (table.codes("flag") == -1).all()


def test_a_model_gets_the_types_that_it_gets_of_pandas() -> None:
    rows = pd.DataFrame(
        {
            "sex": ["f", "m"] * 200,
            "income": np.arange(400),
            "share": np.linspace(0, 1, 400),
            "owner": [True, False, True, True] * 100,
        }
    )
    seen: list[dict[str, Any]] = []

    def doubled(frame: pd.DataFrame) -> Any:
        seen.append({name: dtype.kind for name, dtype in frame.dtypes.items()})
        return 2 * (frame["income"] > 150) > (frame["sex"] == "f")

    for frame in (rows, pl.from_pandas(rows), pl.from_pandas(rows).to_arrow()):
        testsgd.audit(doubled, frame, sensitive_features=["sex"])
    assert all(kinds == seen[0] for kinds in seen)


def test_whole_numbers_beside_missing_ones_stay_exact() -> None:
    long = 2**60 + 1
    frame = as_pandas(pl.DataFrame({"id": [long, None], "flag": [True, None], "few": [1, None]}))
    assert frame is not None
    assert int(frame["id"][0]) == long
    assert frame["flag"].dtype == "boolean"
    assert frame["few"].dtype == float
    assert as_pandas(pl.DataFrame({"flag": pl.Series([], dtype=pl.Boolean)})) is not None
