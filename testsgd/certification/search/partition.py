"""The whole partition of a domain as rows: every box, with what is proved of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput
from testsgd.certification.proving.axes import Floats
from testsgd.certification.search.enumeration import Enumeration

if TYPE_CHECKING:
    import pandas as pd

    from testsgd.certification.search.branch_and_bound import BranchAndBound

_PROOFS = np.array(["undecided", "certified", "falsified"])
# Boxes that are kept before they are written.
_ROWS = 65536


class PartitionRows:
    """Boxes of a partition, handed on as frames piece by piece.

    Parameters
    ----------
    domain : Domain
        Whose people the boxes hold.
    add : callable
        Takes a frame of many boxes: ``proof`` (certified, falsified or undecided), ``share``,
        ``proved_fair``, ``proved_unfair`` and ``undecided`` as shares of the domain, and the values
        of each input: of a number ``NAME from`` and ``NAME to``, of a category ``NAME`` as a JSON
        list.
    """

    def __init__(self, domain: Domain, add: Callable[[pd.DataFrame], None]) -> None:
        self._domain = domain
        self._add = add
        self._waiting: list[tuple[Any, ...]] = []
        self._count = 0

    def add_decided(self, lo: Floats, hi: Floats, status: NDArray[np.int8], share: Floats) -> None:
        """Add boxes that are decided as a whole; a status is 1 for fair and 2 for unfair."""
        if len(lo):
            parts = np.stack([(status == 1) * share, (status == 2) * share, 0 * share], axis=1)
            self._put(lo, hi, status, parts)

    def add_open(self, search: BranchAndBound) -> None:
        """Add the open boxes of a search that has ended, with what is proved of parts of them."""
        boxes = search.boxes
        for start in range(0, len(boxes), _ROWS):
            chosen = np.arange(start, min(start + _ROWS, len(boxes)))
            lo, hi = boxes.ends(chosen)
            names = ("fair", "unfair", "undecided")
            parts = np.stack([boxes[name][chosen] for name in names], axis=1)
            self._put(lo, hi, np.zeros(len(chosen), dtype=np.int8), parts)

    def add_enumeration(self, enumeration: Enumeration) -> None:
        """Add boxes that part the fair people of an enumeration from the unfair ones.

        They are those of :func:`parted`.
        """
        parts = parted(enumeration)
        self.add_decided(parts.lo, parts.hi, parts.status, parts.share)

    def finish(self) -> None:
        """Hand on what is left."""
        if self._waiting:
            columns = [np.concatenate(part) for part in zip(*self._waiting, strict=True)]
            self._add(_frame(self._domain, *columns))
            self._waiting.clear()
            self._count = 0

    def _put(self, lo: Floats, hi: Floats, status: NDArray[np.int8], parts: Floats) -> None:
        self._waiting.append((lo.copy(), hi.copy(), status, parts))
        self._count += len(lo)
        if self._count >= _ROWS:
            self.finish()


@dataclass(frozen=True)
class PartedPeople:
    """Boxes that part the fair people of an enumeration from the unfair ones, a row a box."""

    lo: Floats  # The ends, shape (boxes, axes).
    hi: Floats
    status: NDArray[np.int8]  # 1 for fair, 2 for unfair.
    share: Floats  # Of the domain.
    # The box in which each of some points of the domain lies, of shape (n, axes); shape (n,).
    of: Callable[[Floats], NDArray[np.intp]]


def parted(enumeration: Enumeration) -> PartedPeople:
    """Return boxes that part the fair people of an enumeration from the unfair ones.

    They are the leaves of a decision tree that is grown until each holds people of one kind.

    Parameters
    ----------
    enumeration : Enumeration
        All people of a domain with their answers.

    Returns
    -------
    PartedPeople
        For each leaf the smallest box around its people. The boxes hold everyone, do not overlap,
        and their shares add up to 1.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> from testsgd.certification.proving import build_problem
    >>> from testsgd.certification.search import enumerate_people
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> network = find_network(model)
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> domain = find_domain(ranges, protected="man")
    >>> parts = parted(enumerate_people(network, domain, build_problem(network, domain)))
    >>> sorted(zip(parts.lo[:, 0].tolist(), parts.hi[:, 0].tolist(), parts.status.tolist()))
    [(0.0, 7.0, 1), (8.0, 10.0, 2), (11.0, 19.0, 1)]
    >>> box = int(parts.of(np.array([[9.0]]))[0])
    >>> int(parts.status[box]), round(float(parts.share[box]), 9)
    (2, 0.15)
    """
    # Imported here: more than a second, which only this needs.
    from sklearn.tree import DecisionTreeClassifier

    points = enumeration.answers.points
    unfair = enumeration.answers.unfair
    # Trees round to float32, which holds the steps from the lowest values exactly.
    lowest = points.min(axis=0)
    tree = DecisionTreeClassifier(random_state=0).fit(points - lowest, unfair)
    leaf = tree.apply(points - lowest)
    order = np.argsort(leaf, kind="stable")
    starts = np.flatnonzero(np.diff(leaf[order], prepend=-1))
    leaves = leaf[order][starts]
    return PartedPeople(
        lo=np.minimum.reduceat(points[order], starts, axis=0),
        hi=np.maximum.reduceat(points[order], starts, axis=0),
        status=np.where(unfair[order][starts], 2, 1).astype(np.int8),
        share=np.add.reduceat(enumeration.weights[order], starts),
        of=lambda people: np.searchsorted(leaves, tree.apply(people - lowest)),
    )


def _frame(
    domain: Domain, lo: Floats, hi: Floats, status: NDArray[np.int8], parts: Floats
) -> pd.DataFrame:
    """Return boxes as a frame; `parts` has the certified, falsified and undecided shares."""
    import pandas as pd

    names = ["proof", "share", "proved_fair", "proved_unfair", "undecided"]
    columns: list[Any] = [_PROOFS[status], parts.sum(axis=1), *parts.T]
    for axis, item in enumerate(domain.free):
        first, last = lo[:, axis], hi[:, axis]
        if isinstance(item, CategoryInput):
            names.append(item.name)
            columns.append(_value_lists(item, first, last))
            continue
        kind = np.int64 if isinstance(item, IntegerInput) else np.float64
        names += [f"{item.name} from", f"{item.name} to"]
        columns += [first.astype(kind), last.astype(kind)]
    frame = pd.DataFrame(dict(enumerate(columns)))
    # Set afterwards: an input may be called as one of the other columns.
    frame.columns = pd.Index(names)
    return frame


def _value_lists(item: CategoryInput, first: Floats, last: Floats) -> list[str]:
    """Return the values from one index to another as JSON lists."""
    texts: dict[tuple[int, int], str] = {}
    found = []
    for ends in zip(first.astype(int).tolist(), last.astype(int).tolist(), strict=True):
        if ends not in texts:
            values = list(item.values[ends[0] : ends[1] + 1])
            texts[ends] = json.dumps(values, ensure_ascii=False)
        found.append(texts[ends])
    return found
