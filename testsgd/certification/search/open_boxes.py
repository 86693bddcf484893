"""The boxes that are not decided yet, as arrays that grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic]

# Name, type, and whether there is a number an axis.
_COLUMNS: tuple[tuple[str, type[np.generic], bool], ...] = (
    ("lo", np.float64, True),
    ("hi", np.float64, True),
    ("share", np.float64, False),
    ("fair", np.float64, False),
    ("unfair", np.float64, False),
    ("undecided", np.float64, False),
    ("expected", np.float64, False),
    ("axis", np.int16, False),
    ("level", np.int8, False),
    ("node", np.int32, False),
)
_FIRST = 1024


class OpenBoxes:
    """Boxes with what is proved of them; a row a box, in no order.

    Parameters
    ----------
    axes : int
        Axes of a box.

    Notes
    -----
    The columns: `lo` and `hi` the box; `share` of the domain; of that `fair`, `unfair` and
    `undecided`; `expected`, roughly what finer counting would leave undecided; the `axis` to split,
    -1 if there is none; the `level` of counting; the `node` of the tree it belongs to.
    """

    def __init__(self, axes: int) -> None:
        self._count = 0
        self._columns: dict[str, Column] = {
            name: np.zeros((_FIRST, axes) if wide else _FIRST, dtype=kind)
            for name, kind, wide in _COLUMNS
        }

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Give a column; a view."""
        column: NDArray[np.float64] = self._columns[name][: self._count]  # type: ignore[assignment]  # a few are ints
        return column

    def append(self, rows: Mapping[str, Column]) -> None:
        """Add boxes."""
        added = len(rows["share"])
        needed = self._count + added
        if needed > len(self._columns["share"]):
            size = max(needed, 2 * len(self._columns["share"]))
            for name, column in self._columns.items():
                grown = np.zeros((size, *column.shape[1:]), dtype=column.dtype)
                grown[: self._count] = column[: self._count]
                self._columns[name] = grown
        for name, column in self._columns.items():
            column[self._count : needed] = rows[name]
        self._count = needed

    def remove(self, places: NDArray[np.intp]) -> None:
        """Take boxes out; the last ones move into their places."""
        left = self._count - len(places)
        gone = np.zeros(self._count, dtype=bool)
        gone[places] = True
        holes = np.flatnonzero(gone[:left])
        movers = left + np.flatnonzero(~gone[left:])
        for column in self._columns.values():
            column[holes] = column[movers]
        self._count = left

    def to_arrays(self) -> dict[str, Column]:
        """Give all columns."""
        return {name: self[name].copy() for name in self._columns}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Column]) -> OpenBoxes:
        """Read what :meth:`to_arrays` gave."""
        boxes = cls(arrays["lo"].shape[1])
        boxes.append({name: arrays[name] for name, _, _ in _COLUMNS})
        return boxes
