"""Rates of many groups at once: favourable answers and samples, inside and outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.parameters import AuditParameters
from testsgd.sampling import Neighbourhood
from testsgd.scoring import difference_interval, effective_size, enough, score_margins

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """What is known of each group, in the order of the groups.

    Attributes
    ----------
    rows_in, rows_out : numpy.ndarray of int64, shape (groups,)
        Rows inside and outside.
    samples_in, samples_out, favourable_in, favourable_out : numpy.ndarray of int64
        Neighbours asked about on each side and how many got the favourable label.
    squares_in, squares_out : numpy.ndarray of int64 or None
        In exact mode the sums over rows of the squared number of favourable neighbours, from which
        the rows' variance follows; None if samples were drawn.
    answers : int
        In exact mode the neighbours of each row; else 1.
    margin : numpy.ndarray of float64
        Sampling margin of the score, 0 in exact mode.
    wilson : numpy.ndarray of bool
        Where Wilson's margin was needed.
    decided : numpy.ndarray of bool
        Where the margin is small enough.
    """

    rows_in: Counts
    rows_out: Counts
    samples_in: Counts
    samples_out: Counts
    favourable_in: Counts
    favourable_out: Counts
    squares_in: Counts | None
    squares_out: Counts | None
    answers: int
    margin: Floats
    wilson: NDArray[np.bool_]
    decided: NDArray[np.bool_]

    @property
    def exact(self) -> bool:
        """True if the rates carry no sampling error."""
        return self.squares_in is not None

    @property
    def rate_in(self) -> Floats:
        """Rate of the favourable label inside; NaN where nothing was sampled."""
        return _rate(self.favourable_in, self.samples_in)

    @property
    def rate_out(self) -> Floats:
        """Rate of the favourable label outside; NaN where nothing was sampled."""
        return _rate(self.favourable_out, self.samples_out)

    @property
    def difference(self) -> Floats:
        """Rate inside minus rate outside."""
        return self.rate_in - self.rate_out

    @property
    def score(self) -> Floats:
        """The group fairness score: the absolute difference (TestSGD, Definition 4.1)."""
        return np.abs(self.difference)

    @property
    def sampled(self) -> NDArray[np.bool_]:
        """Where there is at least one sample on each side."""
        return (self.samples_in > 0) & (self.samples_out > 0)

    def take(self, groups: NDArray[np.intp]) -> Estimates:
        """Give the estimates of some groups."""
        arrays: dict[str, Any] = {
            name: value[groups]
            for name, value in self.__dict__.items()
            if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)

    def population_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Compute the interval for the difference in the population the rows are drawn from.

        NaN where nothing was sampled on one side.
        """
        known = self.sampled
        found = self.take(np.flatnonzero(known))
        if found.squares_in is not None and found.squares_out is not None:
            size_in = _exact_size(
                found.favourable_in, found.squares_in, found.rows_in, self.answers
            )
            size_out = _exact_size(
                found.favourable_out, found.squares_out, found.rows_out, self.answers
            )
        else:
            # Both the rows and the draws vary; variances add, so sizes add like resistances.
            size_in = 1 / (1 / found.rows_in + 1 / found.samples_in)
            size_out = 1 / (1 / found.rows_out + 1 / found.samples_out)
        ends = np.full((2, len(known)), np.nan)
        ends[:, known] = difference_interval(
            found.rate_in, size_in, found.rate_out, size_out, confidence
        )
        return ends[0], ends[1]


def exact_estimates(sums: Counts, neighbourhood: Neighbourhood) -> Estimates:
    """Give the estimates of an audit that asked about every neighbour.

    Parameters
    ----------
    sums : numpy.ndarray of int64, shape (3, groups)
        Over the rows of each group: the rows, their favourable neighbours, and the squares of
        these.
    neighbourhood : Neighbourhood
        All rows' favourable neighbours.

    Returns
    -------
    Estimates
        Decided, unless a group has no rows on one side.
    """
    rows, favourable, squares = sums
    total = len(neighbourhood.favourable)
    counts = neighbourhood.favourable.astype(np.int64)
    groups = len(rows)
    return Estimates(
        rows_in=rows,
        rows_out=total - rows,
        samples_in=rows * neighbourhood.size,
        samples_out=(total - rows) * neighbourhood.size,
        favourable_in=favourable,
        favourable_out=int(counts.sum()) - favourable,
        squares_in=squares,
        squares_out=int((counts**2).sum()) - squares,
        answers=neighbourhood.size,
        margin=np.zeros(groups),
        wilson=np.zeros(groups, dtype=bool),
        decided=(rows > 0) & (rows < total),
    )


def counted_estimates(tallies: Counts) -> Estimates:
    """Give the estimates of an audit that asked about each row, or each text, of a side once.

    Parameters
    ----------
    tallies : numpy.ndarray of int64, shape (4, groups)
        Rows inside, rows outside, favourable ones inside, favourable ones outside.

    Returns
    -------
    Estimates
        Decided, unless a group has no rows on one side.
    """
    rows_in, rows_out, favourable_in, favourable_out = tallies
    return Estimates(
        rows_in=rows_in,
        rows_out=rows_out,
        samples_in=rows_in,
        samples_out=rows_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        # One answer a row, 0 or 1: the squares are the answers.
        squares_in=favourable_in,
        squares_out=favourable_out,
        answers=1,
        margin=np.zeros(len(rows_in)),
        wilson=np.zeros(len(rows_in), dtype=bool),
        decided=(rows_in > 0) & (rows_out > 0),
    )


def drawn_estimates(
    rows_in: Counts, rows_out: Counts, tallies: Counts, parameters: AuditParameters
) -> Estimates:
    """Give the estimates of an audit that drew samples, and apply the stopping rule to them.

    Parameters
    ----------
    rows_in, rows_out : numpy.ndarray of int64, shape (groups,)
        Rows inside and outside each group.
    tallies : numpy.ndarray of int64, shape (4, groups)
        Samples inside, samples outside, favourable ones inside, favourable ones outside.
    parameters : AuditParameters
        The stopping rule.

    Returns
    -------
    Estimates
    """
    samples_in, samples_out, favourable_in, favourable_out = tallies
    margins = score_margins(
        favourable_in, samples_in, favourable_out, samples_out, parameters.confidence
    )
    return Estimates(
        rows_in=rows_in,
        rows_out=rows_out,
        samples_in=samples_in,
        samples_out=samples_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        squares_in=None,
        squares_out=None,
        answers=1,
        margin=margins.margin,
        wilson=margins.wilson,
        decided=enough(
            samples_in,
            samples_out,
            margins.margin,
            min_samples=parameters.min_samples,
            error_margin=parameters.error_margin,
        ),
    )


def _rate(favourable: Counts, samples: Counts) -> Floats:
    return np.where(samples > 0, favourable / np.maximum(samples, 1), np.nan)


def _exact_size(favourable: Counts, squares: Counts, rows: Counts, answers: int) -> Floats:
    rate = favourable / (rows * answers)
    return effective_size(rate, squares / (rows * answers**2), rows, answers)
