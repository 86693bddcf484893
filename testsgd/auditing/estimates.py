"""Rates of many groups at once: favourable answers and samples, inside and outside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.parameters import AuditParameters
from testsgd.scoring import (
    Margins,
    Side,
    enough,
    largest_difference,
    lower_confidence_bounds,
    population_interval,
    population_ratio,
    rate_margins,
    score_margins,
)

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimates:
    """Samples and favourable answers inside and outside each group, and the rates they give.

    All arrays have the shape (groups,), in the order of the groups. The difference is the rate of
    the favourable label inside minus that outside; it is NaN where a side has no samples.

    Examples
    --------
    >>> from testsgd.auditing.estimates import counted_estimates
    >>> rows_in, rows_out, favourable_in, favourable_out = [40, 60], [60, 40], [10, 30], [30, 10]
    >>> estimates = counted_estimates(
    ...     np.array([rows_in, rows_out, favourable_in, favourable_out])
    ... )
    >>> estimates.difference.tolist()
    [-0.25, 0.25]
    >>> low, high = estimates.population_interval(0.95)
    >>> bool(low[0] < -0.25 < high[0] < 0)
    True
    """

    # Rows inside and outside; shape (groups,).
    rows_in: Counts
    rows_out: Counts
    # Neighbours asked about on each side and how many got the favourable label.
    samples_in: Counts
    samples_out: Counts
    favourable_in: Counts
    favourable_out: Counts
    margin: Floats  # Sampling margin of the score, 0 in exact mode.
    wilson: NDArray[np.bool_]  # Where Wilson's margin was needed.
    decided: NDArray[np.bool_]  # Where the margin is small enough.
    # Whose margin it is: none in exact mode, Wald's (or Wilson's, see `wilson`), or that of a
    # confidence sequence.
    margin_kind: Literal["none", "wald", "anytime"] = "none"
    # How many independent rows those on each side are worth; None if all are independent; shape
    # (groups,).
    effective_sample_size_in: Floats | None = None
    effective_sample_size_out: Floats | None = None

    @property
    def independent_in(self) -> Counts | Floats:
        """Independent rows inside, by which confidence intervals are computed, shape (groups,)."""
        size = self.effective_sample_size_in
        return self.rows_in if size is None else size

    @property
    def independent_out(self) -> Counts | Floats:
        """Independent rows outside, by which confidence intervals are computed, shape (groups,)."""
        size = self.effective_sample_size_out
        return self.rows_out if size is None else size

    @property
    def sides(self) -> tuple[Side, Side]:
        """Independent rows, samples and favourable ones, inside and outside."""
        return (
            Side(self.independent_in, self.samples_in, self.favourable_in),
            Side(self.independent_out, self.samples_out, self.favourable_out),
        )

    @property
    def exact(self) -> bool:
        """True if the rates carry no sampling error."""
        return self.margin_kind == "none"

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
        """Rate inside minus rate outside; NaN where a side has no samples."""
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
        """Return the estimates of some of the groups.

        Parameters
        ----------
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups.

        Returns
        -------
        Estimates
            With arrays of the shape (k,), in the order of `groups`.
        """
        arrays: dict[str, Any] = {
            name: value[groups]
            for name, value in self.__dict__.items()
            if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)

    def population_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Compute a confidence interval of each group's difference in the population.

        The population is the one that the rows are drawn from. Each interval holds for its group
        alone.

        Parameters
        ----------
        confidence : float
            The confidence of each interval, between 0 and 1.

        Returns
        -------
        low, high : numpy.ndarray, shape (groups,)
            The ends; NaN where a side has no samples.
        """
        return self.population_interval_at(1 - confidence)

    def population_interval_at(self, error: Any) -> tuple[Floats, Floats]:
        """Compute a confidence interval of each group's difference, given the error rates.

        Parameters
        ----------
        error : float or array-like, shape (groups,)
            The two-sided error rate of all intervals, or of each: 0.05 for 95% confidence.

        Returns
        -------
        low, high : numpy.ndarray, shape (groups,)
            The ends; NaN where a side has no samples.
        """
        return population_interval(*self.sides, error, margin_kind=self.margin_kind)

    def lower_confidence_bounds(self, error: Any) -> Floats:
        """Compute lower confidence bounds of the sizes of the differences, given the error rates.

        Parameters
        ----------
        error : float or array-like, shape (groups,)
            The two-sided error rate of all intervals, or of each.

        Returns
        -------
        numpy.ndarray, shape (groups,)
            0 where the interval holds 0, and where a side has no samples.
        """
        return lower_confidence_bounds(*self.sides, error, margin_kind=self.margin_kind)

    def largest_difference(self, error: Any) -> float:
        """Compute the largest size of a difference that any of the intervals holds.

        Parameters
        ----------
        error : float or array-like, shape (groups,)
            The two-sided error rate of all intervals, or of each.

        Returns
        -------
        float
            0 if there are no groups, and NaN if a side of a group has no samples.
        """
        return largest_difference(*self.sides, error, margin_kind=self.margin_kind)

    def population_ratio_at(self, error: Any) -> tuple[Floats, Floats, Floats]:
        """Compute the ratio of the smaller rate to the larger of each group, and its interval.

        Parameters
        ----------
        error : float or array-like, shape (groups,)
            The two-sided error rate of all intervals, or of each.

        Returns
        -------
        ratio, low, high : numpy.ndarray, shape (groups,)
            The ratios and the ends of their confidence intervals in the population; NaN where a
            side has no samples.
        """
        return population_ratio(*self.sides, error, margin_kind=self.margin_kind)


def both_sides(inside: Counts, together: Counts) -> Counts:
    """Return two sums over groups and their complements, (4, groups), for `counted_estimates`.

    `together`: the sums over both, shape (2, groups), or (2, 1) if all groups have the same.
    """
    return np.stack([inside, together - inside], axis=1).reshape(4, -1)


def means_over_draws(estimates: Estimates, confidence: float) -> Estimates:
    """Return the estimates of an exact audit of a model that answers at random, with margins.

    Wald's margin takes all answers for draws from one rate. That is not too small: draws that have
    each a rate of their own vary less together.
    """
    margins = score_margins(
        estimates.favourable_in,
        estimates.samples_in,
        estimates.favourable_out,
        estimates.samples_out,
        confidence,
        kind="wald",
    )
    return replace(estimates, margin=margins.margin, wilson=margins.wilson, margin_kind="wald")


def counted_estimates(tallies: Counts, *, draws: int = 1) -> Estimates:
    """Return the estimates of an audit that asked about all of a side; `tallies` (4, groups)."""
    rows_in, rows_out, favourable_in, favourable_out = tallies
    return Estimates(
        rows_in=rows_in,
        rows_out=rows_out,
        samples_in=rows_in * draws,
        samples_out=rows_out * draws,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        margin=np.zeros(len(rows_in)),
        wilson=np.zeros(len(rows_in), dtype=bool),
        decided=(rows_in > 0) & (rows_out > 0),
    )


def drawn_estimates(
    rows_in: Counts, rows_out: Counts, tallies: Counts, parameters: AuditParameters
) -> Estimates:
    """Return the estimates of an audit that drew samples; `tallies` (4, groups)."""
    samples_in, samples_out, favourable_in, favourable_out = tallies
    margins, decided = stopping_rule(tallies, parameters)
    return Estimates(
        rows_in=rows_in,
        rows_out=rows_out,
        samples_in=samples_in,
        samples_out=samples_out,
        favourable_in=favourable_in,
        favourable_out=favourable_out,
        margin=margins.margin,
        wilson=margins.wilson,
        decided=decided,
        margin_kind=parameters.margin_kind(),
    )


def stopping_rule(
    tallies: Counts, parameters: AuditParameters
) -> tuple[Margins, NDArray[np.bool_]]:
    """Compute the margins of samples (4, groups), and where they are enough (groups,).

    The margin of a confidence sequence holds whenever a group's sampling stops. Given all that was
    drawn before, a draw inside is favourable with the rate inside; so the capital of the bet behind
    the sequence stays a martingale whatever decides on the next draw, and whatever ends the draws.
    """
    samples_in, samples_out, favourable_in, favourable_out = tallies
    margins = score_margins(
        favourable_in,
        samples_in,
        favourable_out,
        samples_out,
        parameters.confidence,
        kind=parameters.margin_kind(),
        tuned_for=_expected_samples(parameters),
    )
    return margins, is_enough(samples_in, samples_out, margins.margin, parameters)


def is_enough(
    samples_in: Any, samples_out: Any, margin: Any, parameters: AuditParameters
) -> NDArray[np.bool_]:
    """Return where samples of these margins are enough."""
    return enough(
        samples_in,
        samples_out,
        margin,
        min_samples=parameters.min_samples,
        error_margin=parameters.error_margin,
    )


def margin_outside(estimates: Estimates, parameters: AuditParameters) -> Floats:
    """Compute the part of each margin that the samples outside account for; 0 without any."""
    margin = side_margin(estimates.favourable_out, estimates.samples_out, parameters)
    return np.where(estimates.samples_out > 0, margin, 0.0)


def side_margin(favourable: Any, samples: Any, parameters: AuditParameters) -> Floats:
    """Compute the part of the stopping rule's margins that one side's samples account for."""
    margin, _ = rate_margins(
        favourable,
        samples,
        parameters.confidence,
        kind=parameters.margin_kind(),
        tuned_for=_expected_samples(parameters),
    )
    return margin


def _expected_samples(parameters: AuditParameters) -> float:
    """Return the samples a side at which the stopping rule is likely to hold, before any is drawn.

    By a confidence sequence of 95%, half the error margin takes 9 / e^2 samples at a rate of one
    half and 3 / e^2 at a rate of one tenth.
    """
    return max(parameters.min_samples, 5 / parameters.error_margin**2)


def _rate(favourable: Counts, samples: Counts) -> Floats:
    """Return rates (groups,); NaN where there are no samples."""
    return np.where(samples > 0, favourable / np.maximum(samples, 1), np.nan)
