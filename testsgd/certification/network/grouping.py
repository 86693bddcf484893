"""One input of several columns: groups of 0/1 columns that are one category each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network.columns import (
    CategoryColumns,
    InputColumns,
    NumberColumns,
    number_columns,
)
from testsgd.certification.network.parts import Activate, Affine, Part, Scaling
from testsgd.errors import ModelError, ParameterError


def group_inputs(
    inputs: Sequence[InputColumns], categories: Mapping[str, Sequence[int]]
) -> tuple[tuple[InputColumns, ...], NDArray[np.intp]]:
    """Make one input of the columns of each category.

    Parameters
    ----------
    inputs : sequence of InputColumns
        One number each, in the order of the table that the model takes.
    categories : mapping of str to sequence of int
        Name to the positions of its columns, one a value, in the order of the values.

    Returns
    -------
    inputs : tuple of InputColumns
        A category stands where its first column stood.
    order : numpy.ndarray of int
        Which of the network's columns each one is.

    Raises
    ------
    ParameterError
        If a position is no column of numbers, or is given twice.
    """
    owner = _owners(inputs, categories)
    starts = np.cumsum([0, *(given.columns.width for given in inputs)])
    grouped: list[InputColumns] = []
    order: list[int] = []
    for position, given in enumerate(inputs):
        group = owner.get(position)
        members = [position] if group is None else list(categories[group])
        if group is not None and position != min(members):
            continue
        grouped.append(given if group is None else _category(group, [inputs[m] for m in members]))
        order.extend(column for m in members for column in range(starts[m], starts[m + 1]))
    return tuple(grouped), np.array(order, dtype=np.intp)


def reorder_columns(parts: Sequence[Part], order: NDArray[np.intp]) -> list[Part]:
    """Let parts that begin with no scaling take their columns in another order."""
    parts = list(parts)
    if (order == np.arange(len(order))).all():
        return parts
    for position, part in enumerate(parts):
        if isinstance(part, Affine):
            if len(part.weights) != len(order):
                break
            parts[position] = replace(part, weights=part.weights[order])
            return parts
        if isinstance(part, Scaling) and len(part.multiplier) > 1:
            break
        if not isinstance(part, (Activate, Scaling)):
            break
    raise ModelError(
        "the first layer does not take the columns of the inputs",
        where="model",
        remedy="give a network that begins with a fully connected layer",
    )


def _owners(
    inputs: Sequence[InputColumns], categories: Mapping[str, Sequence[int]]
) -> dict[int, str]:
    owner: dict[int, str] = {}
    for name, positions in categories.items():
        where = f"columns of {name!r}"
        if not positions:
            raise ParameterError("there are none", where=where, remedy="give positions of columns")
        for position in positions:
            if not 0 <= position < len(inputs) or position in owner:
                raise ParameterError(
                    f"{position} is no column of the network, or is given twice",
                    where=where,
                    remedy=f"give positions from 0 to {len(inputs) - 1}",
                )
            if not isinstance(inputs[position].columns, NumberColumns):
                raise ParameterError(
                    f"the network takes {inputs[position].name!r} as a category already",
                    where=where,
                    remedy="leave out the columns",
                )
            owner[position] = name
    return owner


def _category(name: str, members: Sequence[InputColumns]) -> InputColumns:
    """Write down what the columns are for each value: 1 in its own, 0 in the others."""
    rows, errors = [], []
    for value in range(len(members)):
        row: list[NDArray[np.float64]] = []
        error: list[NDArray[np.float64]] = []
        for place, member in enumerate(members):
            columns = member.columns
            assert isinstance(columns, NumberColumns)
            given = np.array([[float(place == value)]])
            row.append(number_columns(given, columns)[0].astype(np.float64))
            # Twice: the model's steps, and the same steps here, are each so near to the exact ones.
            spread = columns.relative_error * np.abs(columns.multiplier) * given[0]
            error.append(np.broadcast_to(2 * (spread + columns.absolute_error), row[-1].shape))
        rows.append(np.concatenate(row))
        errors.append(np.concatenate(error))
    table = CategoryColumns(
        np.array(rows), tuple(member.name for member in members), np.array(errors)
    )
    return InputColumns(name, table)
