"""In what else a group differs from the rest: leads for who looks for a cause, but no causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.rules import Contingency

# A report shows so many of the features in which a group differs from the rest.
MOST_CONTRASTS = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureContrast:
    """A feature that is not sensitive, inside a group and outside.

    Attributes
    ----------
    feature : str
        Its name.
    value : str or None
        Of a categorical feature the value whose share differs most; None for a continuous one.
    inside, outside : float
        The value's share, or the mean, over the rows in which the feature is known.
    standardised : float
        Their difference, in standard deviations of the feature over the rows of both sides.
    known : int
        In how many rows the feature is known.
    """

    feature: str
    value: str | None
    inside: float
    outside: float
    standardised: float
    known: int


def feature_contrasts(
    table: Table, contingency: Contingency, members: NDArray[np.bool_]
) -> list[tuple[FeatureContrast, ...]]:
    """Find the features in which groups differ most from the rest.

    Differences are taken in standard deviations over the rows of both sides together, not within
    the sides: a feature that tells the group from the rest without a mistake varies on neither
    side. Its difference is then the largest possible, ``1 / sqrt(p (1 - p))`` for a group that is
    a share `p` of the rows.

    Parameters
    ----------
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    members : numpy.ndarray of bool, shape (groups, cells)
        Which cells belong to each group.

    Returns
    -------
    list of tuple of FeatureContrast
        For each group the features that differ, largest standardised difference first, at most
        :data:`MOST_CONTRASTS`.
    """
    found: list[list[FeatureContrast]] = [[] for _ in members]
    for name in table.specification.insensitive:
        sums = _feature_sums(table, contingency, name)
        if sums is None:
            continue
        for contrasts, inside in zip(found, members, strict=True):
            contrast = sums.contrast(inside)
            if contrast is not None:
                contrasts.append(contrast)
    return [
        tuple(sorted(group, key=lambda one: -round(abs(one.standardised), 12))[:MOST_CONTRASTS])
        for group in found
    ]


@dataclass(frozen=True)
class _FeatureSums:
    """A feature summed over each cell: its values' counts, or its numbers.

    `sums` has the shape (cells, values), with one value if the feature is continuous; its numbers
    are taken around `centre`.
    """

    feature: str
    values: tuple[str | None, ...]
    known: NDArray[np.int64]
    sums: Floats
    spread: Floats
    centre: float

    def contrast(self, inside: NDArray[np.bool_]) -> FeatureContrast | None:
        """Compare the sides; None if they do not differ or one of them is unknown."""
        known_in, known_out = int(self.known[inside].sum()), int(self.known[~inside].sum())
        if known_in == 0 or known_out == 0:
            return None
        mean_in = self.sums[inside].sum(axis=0) / known_in
        mean_out = self.sums[~inside].sum(axis=0) / known_out
        gaps = mean_in - mean_out
        # Of a feature with two values both differ alike: name the one more frequent inside.
        most = int(np.lexsort((-np.sign(gaps), -np.round(np.abs(gaps), 12)))[0])
        if abs(gaps[most]) <= 1e-12 * self.spread[most]:
            return None
        return FeatureContrast(
            feature=self.feature,
            value=self.values[most],
            # Sums of floats depend on the order of the rows in their last digits.
            inside=_rounded(mean_in[most] + self.centre),
            outside=_rounded(mean_out[most] + self.centre),
            standardised=_rounded(gaps[most] / self.spread[most]),
            known=known_in + known_out,
        )


def _rounded(number: float) -> float:
    return float(f"{number:.9g}")


def _feature_sums(table: Table, contingency: Contingency, name: str) -> _FeatureSums | None:
    """Sum a feature over each cell; None if it is the same in all rows in which it is known."""
    feature = table.specification.features[name]
    values: tuple[str | None, ...]
    if feature.continuous:
        numbers = table.numbers(name)
        rows = ~np.isnan(numbers)
        numbers = numbers[rows]
        if len(numbers) == 0 or numbers.min() == numbers.max():
            return None
        # Around their mean, or small differences of large numbers are lost to rounding.
        centre = float(numbers.mean())
        values, codes, amounts = (None,), np.zeros(len(numbers), np.int64), numbers - centre
    else:
        codes = table.codes(name).astype(np.int64)
        rows = codes >= 0
        codes = codes[rows]
        if len(codes) == 0 or codes.min() == codes.max():
            return None
        values, centre, amounts = tuple(feature.values or ()), 0.0, np.ones(len(codes))
    cells = contingency.cell_of_row[rows].astype(np.int64)
    size = contingency.cells * len(values)
    flat = np.bincount(cells * len(values) + codes, weights=amounts, minlength=size)
    sums: Floats = flat.astype(np.float64).reshape(contingency.cells, len(values))
    squares = np.bincount(codes, weights=amounts**2, minlength=len(values)) / len(codes)
    return _FeatureSums(
        feature=name,
        values=values,
        known=np.bincount(cells, minlength=contingency.cells),
        sums=sums,
        spread=np.sqrt(np.maximum(squares - (sums.sum(axis=0) / len(codes)) ** 2, 0.0)),
        centre=centre,
    )
