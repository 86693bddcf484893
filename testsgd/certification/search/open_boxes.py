"""The boxes that are not decided yet, as arrays that grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic]

# Columns of one number a box.
_COLUMNS: dict[str, type[np.generic]] = {
    "share": np.float64,
    "fair": np.float64,
    "unfair": np.float64,
    "undecided": np.float64,
    "cover": np.float64,
    "expected": np.float64,
    "axis": np.int16,
    "level": np.int8,
    "node": np.int32,
}
_FIRST = 1024


class OpenBoxes:
    """Boxes with what is proved of them; a row a box, in no order.

    Parameters
    ----------
    axes : int
        Axes of a box.
    known_units : int
        Units of the network of which something may be known in a box.
    exact : bool
        Whether float32 holds every end of a box exactly.

    Notes
    -----
    The columns: `lo` and `hi` the box; `share` of the domain; of that `fair`, `unfair` and
    `undecided`; `cover`, what the pieces that cover the undecided part have together; `expected`,
    roughly what finer counting would leave undecided; the `axis` to split, -1 if there is none; the
    `level` of counting; the `node` of the tree it belongs to; what is `known` of units, see
    :func:`testsgd.certification.search.best_first.known_before`.
    """

    def __init__(self, axes: int, known_units: int = 0, *, exact: bool = False) -> None:
        self._count = 0
        ends = np.float32 if exact else np.float64
        self._columns: dict[str, Column] = {
            "lo": np.zeros((_FIRST, axes), dtype=ends),
            "hi": np.zeros((_FIRST, axes), dtype=ends),
            "known": np.zeros((_FIRST, known_units), dtype=np.int8),
        }
        for name, kind in _COLUMNS.items():
            self._columns[name] = np.zeros(_FIRST, dtype=kind)

    def __len__(self) -> int:
        return self._count

    def ends(self, places: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give some boxes, (n, axes) each."""
        lo, hi = self._columns["lo"][places], self._columns["hi"][places]
        return lo.astype(np.float64), hi.astype(np.float64)

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
        lo, known = arrays["lo"], arrays["known"]
        boxes = cls(lo.shape[1], known.shape[1], exact=lo.dtype == np.float32)
        boxes.append({name: arrays[name] for name in boxes._columns})
        return boxes
