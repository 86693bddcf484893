"""What a network is trained on: labels as numbers, and which rows or texts are for what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Label, Table, Texts
from testsgd.errors import DataError
from testsgd.models.files import Labels

TEST_SHARE = 0.2
VALIDATION_SHARE = 0.1

Rows = NDArray[np.intp]


def binary_labels(
    labels: NDArray[np.object_] | None, label: Label, *, one: str, source: str
) -> NDArray[np.float32]:
    """Return 1 for the favourable label and 0 for any other, shape (n,).

    `one` is what has a label, ``"row"`` or ``"text"``. A :class:`DataError` is raised if the labels
    are missing, or one of them is.
    """
    if labels is None:
        raise DataError(
            f"the label column {label.column!r} is missing",
            where=source,
            remedy="training needs the labels; add the column",
        )
    if pd.isna(labels).any():
        raise DataError(
            f"{int(pd.isna(labels).sum())} {one}(s) have no label",
            where=f"{source}, column {label.column!r}",
            remedy=f"remove those {one}s or fill in their labels",
        )
    return np.asarray(labels == label.favourable, dtype=np.float32)


def data_labels(data: Table | Texts) -> NDArray[np.float32]:
    """Return 1 for the rows or texts with the favourable label and 0 for any other."""
    labels = None if data.labels is None else np.asarray(data.labels, dtype=object)
    source = data.source or "the data"
    return binary_labels(labels, data.specification.label, one=data.unit, source=source)


def split_data(data: Table | Texts, labels: NDArray[np.float32], seed: int) -> Split:
    """Split rows or texts by :func:`split_examples`, with the clusters and parts of the data."""
    return split_examples(
        labels,
        seed,
        unit=data.unit,
        source=data.source or "the data",
        parts=data.parts if isinstance(data, Texts) else None,
        clusters=data.clusters,
        training_only=data.training_only if isinstance(data, Texts) else None,
    )


def output_labels(data: Table | Texts) -> Labels:
    """Return the labels of a network whose output is the probability of the favourable one."""
    label = data.specification.label
    values: list[Any] = label.values or sorted(set([] if data.labels is None else data.labels))
    others = [value for value in values if value != label.favourable]
    other = others[0] if len(others) == 1 else f"not {label.favourable}"
    return Labels(label.favourable, other)


@dataclass(frozen=True)
class Split:
    """Positions of the rows or texts for training, for choosing when to stop, and for the test.

    Examples
    --------
    >>> split = Split(train=np.array([0, 3]), validation=np.array([1]), test=np.array([2]))
    >>> split.seen.tolist()
    [0, 3, 1]
    """

    # Positions, ascending; no two have one in common.
    train: Rows
    validation: Rows
    test: Rows

    @property
    def seen(self) -> Rows:
        """Positions of all that are not for the test: those for training, then the others."""
        return np.concatenate([self.train, self.validation])


def split_examples(
    labels: NDArray[np.float32],
    seed: int,
    *,
    unit: str,
    source: str,
    parts: NDArray[np.object_] | None = None,
    clusters: NDArray[np.integer] | None = None,
    training_only: NDArray[np.bool_] | None = None,
) -> Split:
    """Split rows or texts at random, with the labels' shares kept.

    `parts`: ``"train"`` or ``"test"``, or None for those that the split decides on. If any is
    ``"test"``, the test is of just those; else 20% are for the test. Of the rest 10% choose when to
    stop. `clusters`: those of one number stay together; they are split by the label of the first of
    them. `training_only`: these are never tested, and are no reason to test a cluster or to stop.
    """
    rows = np.arange(len(labels))
    groups = rows if clusters is None else np.unique(clusters, return_inverse=True)[1]
    free = np.ones(len(rows), dtype=bool) if training_only is None else ~training_only
    part_of = np.full(len(rows), None, dtype=object) if parts is None else parts
    given_test = part_of == "test"
    testable = free & (given_test if given_test.any() else part_of != "train")
    try:
        if not 0 < labels.sum() < len(labels):
            raise ValueError("one label only")
        if given_test.any():
            tested = _in_groups_of(groups, rows[given_test])
            rest = _first_of_groups(groups, rows[free & ~tested])
        else:
            rest, drawn = _draw(_first_of_groups(groups, rows[testable]), labels, TEST_SHARE, seed)
            tested = _in_groups_of(groups, drawn)
            fixed = rows[free & (part_of == "train") & ~tested]
            rest = np.concatenate([rest, _first_of_groups(groups, fixed)])
        _, drawn = _draw(rest, labels, VALIDATION_SHARE, seed)
        checked = _in_groups_of(groups, drawn)
        if not (tested & testable).any():
            raise ValueError("no test")
    except ValueError as error:
        raise DataError(
            f"{len(labels)} {unit}(s), {int(labels.sum())} of them with the favourable label, are "
            "too few to be split for training and testing",
            where=source,
            remedy=f"give more {unit}s of each label",
        ) from error
    return Split(rows[~tested & ~checked], rows[checked], rows[tested & testable])


def _first_of_groups(groups: Rows, rows: Rows) -> Rows:
    """Return the first row of each group that the rows are of, ascending."""
    return np.sort(rows[np.unique(groups[rows], return_index=True)[1]])


def _draw(rows: Rows, labels: NDArray[np.float32], share: float, seed: int) -> list[Rows]:
    """Return the rows that are left and a random `share` of them, with the labels' shares kept."""
    from sklearn.model_selection import train_test_split

    parts: list[Rows] = train_test_split(
        rows, test_size=share, stratify=labels[rows], random_state=seed
    )
    return parts


def _in_groups_of(groups: Rows, rows: Rows) -> NDArray[np.bool_]:
    """Return a mask of all that are of one group with any of `rows`; shape (n,)."""
    return np.isin(groups, groups[rows])
