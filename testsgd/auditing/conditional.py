"""Comparing like with like: a group's difference once both sides have the same mix of features.

A group may differ from the rest because its people differ in something that may rightly count, such
as hours worked. The conditional score takes the rows apart by those features into strata, compares
the two sides within each stratum, and weighs the strata as the group has them. It is a direct
standardisation of the rest to the group. What remains is not explained by these features; what went
away may still be unfair, if the features themselves are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification, Table
from testsgd.errors import ParameterError
from testsgd.rules import Contingency
from testsgd.scoring import effective_size, normal_quantile

# A continuous feature is cut at its quintiles.
_QUANTILE_BINS = 5


@dataclass(frozen=True)
class ConditionalScore:
    """A group's difference from those of the rest that are like it.

    Attributes
    ----------
    features : tuple of str
        In what they are alike.
    difference : float
        Rate inside minus rate outside, the rest reweighed to the group's mix of the features.
    interval : tuple of float
        Its lower and upper end for the population the rows are drawn from.
    covered : float
        Share of the group's rows that have somebody outside in their stratum; the others are left
        out.
    strata : int
        In how many strata the two sides were compared.
    """

    features: tuple[str, ...]
    difference: float
    interval: tuple[float, float]
    covered: float
    strata: int


def check_condition(names: Sequence[str], specification: DatasetSpecification) -> None:
    """Check the features that a conditional score is to hold equal.

    Parameters
    ----------
    names : sequence of str
        Their names.
    specification : DatasetSpecification
        The features there are.

    Raises
    ------
    ParameterError
        If a name is no feature, is the label or a sensitive feature, or stands twice.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> check_condition(["gender"], load_specification("demo"))
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: condition_on: 'gender' is sensitive, and groups are made of ...
    """
    known = ", ".join(specification.insensitive)
    choose = f"choose among {known}" if known else "leave it out: all features are sensitive"
    for place, name in enumerate(names):
        if name == specification.label.column:
            what, remedy = f"{name!r} is the label", choose
        elif name not in specification.features:
            what, remedy = f"there is no feature {name!r}", choose
        elif name in specification.sensitive:
            what = f"{name!r} is sensitive, and groups are made of sensitive features"
            remedy = choose
        elif name in names[:place]:
            what, remedy = f"{name!r} is given twice", "give it once"
        else:
            continue
        raise ParameterError(what, where="condition_on", remedy=remedy, name=name)


def strata_of(table: Table, names: Sequence[str]) -> NDArray[np.intp]:
    """Give each row's stratum: its combination of the features' values.

    A continuous feature has five bins that hold about equally many rows; equal numbers are always
    in the same bin. Missing values are a value of their own.

    Parameters
    ----------
    table : Table
        The rows.
    names : sequence of str
        The features.

    Returns
    -------
    numpy.ndarray of int, shape (n,)
        0, 1, ...; every stratum occurs.
    """
    strata = np.zeros(len(table), dtype=np.int64)
    for name in names:
        if table.specification.features[name].continuous:
            cells = _quantile_bins(table.numbers(name))
        else:
            cells = table.codes(name).astype(np.int64) + 1
        # Numbered anew each time, so that many features cannot run out of numbers.
        codes, _ = pd.factorize(strata * (int(cells.max()) + 1) + cells, sort=True)
        strata = codes.astype(np.int64)
    return strata.astype(np.intp)


def conditional_scores(
    strata: NDArray[np.intp],
    contingency: Contingency,
    members: NDArray[np.bool_],
    row_favourable: NDArray[np.integer],
    answers: int,
    *,
    features: tuple[str, ...],
    error: float,
) -> list[ConditionalScore | None]:
    """Compute the conditional scores of groups.

    Parameters
    ----------
    strata : numpy.ndarray of int, shape (n,)
        Each row's stratum, from :func:`strata_of`.
    contingency : Contingency
        The rows' sensitive cells.
    members : numpy.ndarray of bool, shape (groups, cells)
        Which cells belong to each group.
    row_favourable : numpy.ndarray of int, shape (n,)
        How many of each row's answers are favourable.
    answers : int
        Answers a row.
    features : tuple of str
        What the strata are made of.
    error : float
        How often an interval may miss, two-sided.

    Returns
    -------
    list of ConditionalScore or None
        One a group; None where no stratum has rows on both sides.

    References
    ----------
    Direct standardisation: Fleiss, Levin and Paik (2003), Statistical Methods for Rates and
    Proportions, chapter 19; the weights are those of the effect on the treated of Imbens (2004),
    The Review of Economics and Statistics 86.
    """
    # The rows of a cell and a stratum always go together.
    cells = contingency.cell_of_row.astype(np.int64)
    pair_of_row, pairs = pd.factorize(cells * (int(strata.max()) + 1) + strata)
    pair_cell, pair_stratum = np.divmod(np.asarray(pairs), int(strata.max()) + 1)
    favourable = row_favourable.astype(np.float64)
    quantities = np.vstack(
        [
            np.bincount(pair_of_row).astype(np.float64),
            np.bincount(pair_of_row, weights=favourable),
            np.bincount(pair_of_row, weights=favourable**2),
        ]
    )
    return [
        _score(quantities, inside[pair_cell], pair_stratum, answers, features, error)
        for inside in members
    ]


def _score(
    quantities: NDArray[np.float64],
    inside: NDArray[np.bool_],
    stratum: NDArray[np.int64],
    answers: int,
    features: tuple[str, ...],
    error: float,
) -> ConditionalScore | None:
    sums_in = _by_stratum(quantities * inside, stratum)
    sums_out = _by_stratum(quantities * ~inside, stratum)
    both = (sums_in[0] > 0) & (sums_out[0] > 0)
    if not both.any():
        return None
    rows_in = sums_in[0, both]
    rate_in, variance_in = _rates(sums_in[:, both], answers)
    rate_out, variance_out = _rates(sums_out[:, both], answers)
    weights = rows_in / rows_in.sum()
    gaps = rate_in - rate_out
    difference = float(weights @ gaps)
    # The strata's rates vary, and so does the mix in which the group comes.
    variance = weights**2 @ (variance_in + variance_out)
    variance += weights @ (gaps - difference) ** 2 / rows_in.sum()
    margin = normal_quantile(1 - error) * float(np.sqrt(variance))
    return ConditionalScore(
        features=features,
        difference=difference,
        interval=(max(-1.0, difference - margin), min(1.0, difference + margin)),
        covered=float(rows_in.sum() / sums_in[0].sum()),
        strata=int(both.sum()),
    )


def _by_stratum(quantities: NDArray[np.float64], stratum: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.vstack([np.bincount(stratum, weights=row) for row in quantities])


def _rates(
    sums: NDArray[np.float64], answers: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give each stratum's rate and the variance of it."""
    rows, favourable, squares = sums
    rate = favourable / (rows * answers)
    size = effective_size(rate, squares / (rows * answers**2), rows, answers)
    # With a row of nothing but favourable answers and one of none, as in the effective size: a
    # stratum of one row varies not at all by itself.
    guarded = (rows * rate + 1) / (rows + 2)
    return rate, guarded * (1 - guarded) / size


def _quantile_bins(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give each number's bin, the bin 0 where missing.

    A number belongs to the bin that the middle of its ties falls in, so a value that most rows have
    does not draw the others into its bin.
    """
    known = ~np.isnan(numbers)
    bins = np.zeros(len(numbers), dtype=np.int64)
    if known.any():
        _, place, count = np.unique(numbers[known], return_inverse=True, return_counts=True)
        twice_middle = 2 * np.cumsum(count) - count
        bin_of_value = 1 + _QUANTILE_BINS * twice_middle // (2 * count.sum())
        bins[known] = bin_of_value[place]
    return bins
