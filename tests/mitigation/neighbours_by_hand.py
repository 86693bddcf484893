"""A small table and its neighbours in plain Python: what generated samples are compared with."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import testsgd.mitigation.sample_selection as selection
from testsgd.data import Table, specification_from_mapping
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.table_splits import Neighbours
from testsgd.models import Model, load_model

Row = dict[str, Any]
# What a neighbour is known by: its row, and the feature and the way that it is moved, if it is.
Key = tuple[int, str, int]

WAGES = (0, 4)
TOWNS = ["north", "middle", "south"]
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "hand"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "wage": {"type": "integer", "range": WAGES},
            "age": {"type": "integer", "range": [0, 9], "sensitive": True},
            "share": {"type": "decimal", "range": [0, 2]},
            "town": {"type": "categorical", "values": TOWNS},
        },
    }
)

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "gender": st.sampled_from(["f", "m", None]),
            "wage": st.sampled_from([0, 1, 3, 4, None]),
            "age": st.sampled_from([0, 4, 5, 9, None]),
            "share": st.sampled_from([0.0, 0.01, 0.5, 2.0, None]),
            "town": st.sampled_from([*TOWNS, None]),
        }
    ),
    min_size=1,
    max_size=12,
)


def table_of(rows: list[Row]) -> Table:
    """Give rows as a table."""
    frame = pd.DataFrame(
        {
            "gender": pd.Categorical([row["gender"] for row in rows]),
            "wage": pd.array([row["wage"] for row in rows], dtype="Int64"),
            "age": pd.array([row["age"] for row in rows], dtype="Int64"),
            "share": np.array([row["share"] for row in rows], dtype=np.float64),
            "town": np.array([row["town"] for row in rows], dtype=object),
        },
        index=50 + np.arange(len(rows)),
    )
    return Table(
        SPECIFICATION, frame, None, {name: int(frame[name].isna().sum()) for name in frame}
    )


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """Give a data frame as rows; None is a missing cell."""
    return [
        {name: None if pd.isna(cell) else cell for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]


def score(row: Row) -> float:
    """Give a score that depends on every cell and looks like chance."""
    cells = [
        "-" if cell is None else cell if isinstance(cell, str) else f"{float(cell):.4f}"
        for _, cell in sorted(row.items())
    ]
    return zlib.crc32(" ".join(cells).encode()) % 10_000 / 10_000


def model_of(scores: Callable[[Row], float] = score, *, labels: bool = False) -> Model:
    """Give a model of rows, which tells scores or labels only."""

    def function(frame: pd.DataFrame) -> Any:
        found = np.array([scores(row) for row in rows_of(frame)])
        return np.where(found > 0.5, "yes", "no") if labels else found

    return load_model(function, SPECIFICATION).model


def moved(row: Row, name: str, way: int) -> Row:
    """Move one cell by one step; it stays if it is missing or at the end."""
    cell = row[name]
    if cell is None:
        return row
    if name == "town":
        place = TOWNS.index(cell) + way
        return {**row, name: TOWNS[place]} if 0 <= place < len(TOWNS) else row
    low, high = WAGES if name == "wage" else (0, 2)
    target = cell + way if name == "wage" else round(cell + way * 0.02, 9)
    return {**row, name: target} if low <= target <= high else row


def neighbourhood(rows: list[Row], seeds: list[int]) -> dict[Key, Row]:
    """Give all different neighbours of some rows; a row itself is one if a move leaves it."""
    found: dict[Key, Row] = {}
    for seed in seeds:
        for name in ("wage", "share", "town"):
            for way in (-1, 1):
                neighbour = moved(rows[seed], name, way)
                key = (seed, name, way) if neighbour != rows[seed] else (seed, "", 0)
                found[key] = neighbour
    return found


def keys_of(samples: CounterSamples, rows: list[Row]) -> list[Key]:
    """Find out of which neighbour each sample is, and check that it is one."""
    assert isinstance(samples.inputs, pd.DataFrame)
    keys = []
    for seed, sample in zip(samples.seeds.tolist(), rows_of(samples.inputs), strict=True):
        here = [
            key
            for key, row in neighbourhood(rows, [seed]).items()
            if all(same_cell(row[name], sample[name]) for name in row)
        ]
        assert len(here) == 1
        keys.append(here[0])
    return keys


def same_cell(one: Any, other: Any) -> bool:
    """Compare two cells; decimals may differ by rounding."""
    if one is None or other is None or isinstance(one, str):
        return one is other or one == other
    return abs(float(one) - float(other)) < 1e-9


def draw_samples(rows: list[Row], **options: Any) -> CounterSamples:
    """Generate samples of all rows, or as the options say."""
    given = {
        "model": model_of(),
        "table": table_of(rows),
        "seeds": np.arange(len(rows)),
        "favourable": True,
        "wanted": 10**6,
        "max_draws": 10**6,
        "fallback": "nearest",
        "side": "group",
        "target": 0,
        **options,
    }
    seed = given.pop("seed", 0)
    source = Neighbours(given.pop("table"), given.pop("seeds"))
    generator = np.random.default_rng(seed)
    return selection.draw_samples(source, given.pop("model"), generator=generator, **given)
