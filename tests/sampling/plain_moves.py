"""A perturbation of one cell in plain Python: what the vectorised moves are compared with."""

from __future__ import annotations

import pandas as pd

from testsgd.data import Table, specification_from_mapping


def make_table(features, columns):
    """Build a table of features as given, without the checks."""
    specification = specification_from_mapping(
        {
            "dataset": {"name": "small"},
            "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
            "features": features,
        }
    )
    frame = pd.DataFrame(columns)
    return Table(
        specification, frame, None, {name: int(frame[name].isna().sum()) for name in frame}
    )


def plain_move(feature, cell, direction):
    """Move one cell by one step; it stays if it is missing or would leave the domain."""
    if pd.isna(cell):
        return cell
    if feature.type == "categorical":
        place = feature.values.index(cell) + direction
        return feature.values[place] if 0 <= place < len(feature.values) else cell
    low, high = feature.range
    step = 1 if feature.type == "integer" else (high - low) / 100
    target = round(cell + direction * step, 9)
    return target if low <= target <= high else cell


def same_cell(left, right):
    """Compare two cells, of which both may be missing."""
    return bool(pd.isna(left) and pd.isna(right)) or left == right


def plain_neighbours(table):
    """List each row's neighbours as dictionaries, two for each feature that may be moved."""
    for row in table.frame.to_dict("records"):
        yield (
            row,
            [
                {**row, name: plain_move(table.specification.features[name], row[name], direction)}
                for name in table.specification.insensitive
                for direction in (-1, 1)
            ],
        )
