"""What the intervals hold for: one group, all groups at once, or the discoveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates, Floats
from testsgd.auditing.parameters import GuaranteeKind
from testsgd.scoring import equality_p_values, lower_confidence_bound

Method = Literal["each", "max-statistic", "bonferroni", "mixed", "false-coverage"]

# Of how many groups, those with the largest standardised differences, intervals are computed to
# tell which differ significantly: ten seconds' worth.
_MOST_LOOKED_AT = 100_000


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The error rates of all groups' intervals, and what they hold for together."""

    kind: GuaranteeKind  # What was asked for
    # The confidence promised: of each interval, of all at once (1 - the family-wise error rate), or
    # 1 - the false discovery rate
    confidence: float
    # How the error rates were found. ``mixed``: by the max statistic for groups estimated from
    # shared samples, by Bonferroni for those with samples of their own or few rows outside.
    method: Method
    groups: int  # How many groups it holds for together
    replicates: int  # Bootstrap samples behind it; 0 if there is no bootstrap
    errors: Floats  # Two-sided error rate of each group's interval, shape (groups,)
    # The quantile of the normal distribution that the smallest error rate stands for, as 1.96 does
    # for 5%; None if nothing was adjusted
    critical_value: float | None
    # For ``fdr``: the smallest false discovery rate at which each group is a discovery
    q_values: Floats | None
    significant: int  # Groups whose confidence interval leaves out zero
    # False: there may be more, because there are too many groups to look at all
    significant_complete: bool
    # The group with the largest lower confidence bound; None if no interval leaves out zero
    largest_bound_group: int | None
    largest_bound: float  # That group's lower confidence bound; 0 if there is none
    # The lower confidence bounds of the sizes of all differences; 0 where it was not looked at, and
    # for groups that are not decided, shape (groups,)
    lower_bounds: Floats
    # The largest difference that an interval of a decided group still allows; None if there are too
    # many groups to look at all, or none is decided
    largest_allowed: float | None

    @property
    def simultaneous_critical_value(self) -> float:
        """The number of standard errors that the largest deviation of all groups stays within.

        By Bonferroni's inequality where the intervals are meant for one group at a time.
        """
        from scipy.special import ndtri

        if self.critical_value is not None:
            return self.critical_value
        return float(-ndtri((1 - self.confidence) / (2 * max(1, len(self.errors)))))

    @property
    def discoveries(self) -> NDArray[np.intp]:
        """The groups with a q-value of at most 1 - confidence; none if the kind is not ``fdr``."""
        if self.q_values is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.q_values <= 1 - self.confidence)

    def confidence_intervals(
        self, estimates: Estimates, groups: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Return the confidence intervals of groups' differences, at their error rates.

        Parameters
        ----------
        estimates : Estimates
            The rates of all groups that this guarantee is about.
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups wanted.

        Returns
        -------
        low, high : numpy.ndarray, shape (k,)
            The ends; NaN where a side has no samples.
        """
        return estimates.take(groups).population_interval_at(self.errors[groups])


def guarantee_of(
    estimates: Estimates,
    errors: Floats,
    *,
    kind: GuaranteeKind,
    confidence: float,
    method: Method,
    groups: int | None = None,
    replicates: int = 0,
    q_values: Floats | None = None,
) -> Guarantee:
    """Return the guarantee of intervals with the two-sided error rates `errors`, shape (groups,).

    It computes the intervals and their lower confidence bounds, of at most 100,000 groups, those
    with the largest standardised differences. `groups` is how many groups the guarantee holds for
    together, all of them if it is not given.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtri

    adjusted = method != "each" and len(errors) > 0
    looked_at = _most_deviant(estimates)
    bounds, allowed = _bounds_of_sizes(estimates.take(looked_at), errors[looked_at])
    # Undecided groups are neither fair nor unfair.
    bounds = np.where(estimates.decided[looked_at], bounds, 0.0)
    largest = int(np.argmax(bounds)) if len(bounds) else 0
    significant = int((bounds > 0).sum())
    lower_bounds = np.zeros(len(errors))
    lower_bounds[looked_at] = bounds
    return Guarantee(
        kind=kind,
        confidence=confidence,
        method=method,
        groups=len(errors) if groups is None else groups,
        replicates=replicates,
        errors=errors,
        critical_value=float(-ndtri(errors.min() / 2)) if adjusted else None,
        q_values=q_values,
        significant=significant,
        significant_complete=len(looked_at) == len(errors) or significant < len(looked_at),
        largest_bound_group=int(looked_at[largest]) if significant else None,
        largest_bound=float(bounds[largest]) if significant else 0.0,
        lower_bounds=lower_bounds,
        largest_allowed=allowed if len(looked_at) == len(errors) else None,
    )


def _bounds_of_sizes(estimates: Estimates, errors: Floats) -> tuple[Floats, float | None]:
    """Return lower confidence bounds of the sizes of differences, and the largest size allowed.

    The latter is the largest that any interval of a decided group holds; None if none is decided.
    Shapes (groups,).
    """
    decided = np.flatnonzero(estimates.decided)
    if estimates.margin_kind == "anytime":
        # One search finds both ends of a confidence sequence.
        low, high = estimates.population_interval_at(errors)
        bounds = lower_confidence_bound(low, high)
        sizes = np.maximum(np.abs(low), np.abs(high))[decided]
        return bounds, float(sizes.max()) if len(decided) else None
    bounds = estimates.lower_confidence_bounds(errors)
    if len(decided) == 0:
        return bounds, None
    return bounds, estimates.take(decided).largest_difference(errors[decided])


def _most_deviant(estimates: Estimates) -> NDArray[np.intp]:
    """Return the places of at most 100,000 groups, those with the largest standardised differences.

    The size of the difference is divided by sqrt((p (1 - p) + 1 / n) (1 / n_in + 1 / n_out)), where
    n = n_in + n_out are the effective numbers of rows and p is the rate of both sides together.
    """
    groups = len(estimates.rows_in)
    if groups <= _MOST_LOOKED_AT:
        return np.arange(groups)
    rows_in = np.maximum(estimates.independent_in, 1)
    rows_out = np.maximum(estimates.independent_out, 1)
    pooled = (estimates.rate_in * rows_in + estimates.rate_out * rows_out) / (rows_in + rows_out)
    variance = (pooled * (1 - pooled) + 1 / (rows_in + rows_out)) * (1 / rows_in + 1 / rows_out)
    # Undecided groups come last: they are not counted.
    deviance = np.nan_to_num(estimates.score / np.sqrt(variance)) * estimates.decided
    return np.sort(np.argpartition(-deviance, _MOST_LOOKED_AT)[:_MOST_LOOKED_AT])


def per_group(estimates: Estimates, confidence: float) -> Guarantee:
    """Return the guarantee of intervals that each hold for one group (TestSGD, section 4.2)."""
    return guarantee_of(
        estimates,
        np.full(len(estimates.rows_in), 1 - confidence),
        kind="per-group",
        confidence=confidence,
        method="each",
        groups=1,
    )


def bonferroni(estimates: Estimates, confidence: float) -> Guarantee:
    """Return a guarantee for all groups at once by Bonferroni's inequality.

    It controls the family-wise error rate under any dependence: each interval has the error rate
    (1 - confidence) / groups.
    """
    return guarantee_of(
        estimates,
        np.full(len(estimates.rows_in), (1 - confidence) / max(1, len(estimates.rows_in))),
        kind="simultaneous",
        confidence=confidence,
        method="bonferroni",
    )


def is_significant(
    estimates: Estimates, guarantee: Guarantee, bounds: Floats | None = None
) -> NDArray[np.bool_]:
    """Return whether each group's difference is significant, with all groups in mind.

    Discoveries are, and else groups with a lower confidence bound above zero, by Bonferroni's
    inequality if the guarantee is for one group at a time. `bounds` are lower confidence bounds of
    another figure that counts instead; all have the shape (groups,).
    """
    if bounds is None and guarantee.q_values is not None:
        return guarantee.q_values <= 1 - guarantee.confidence
    if bounds is None and guarantee.kind == "per-group":
        bounds = bonferroni(estimates, guarantee.confidence).lower_bounds
    return np.asarray((guarantee.lower_bounds if bounds is None else bounds) > 0)


# Error rates at which the intervals of groups with a confidence sequence are looked at.
_LEVELS = 10.0 ** -(np.arange(0, 31) / 3)


def false_discovery(estimates: Estimates, confidence: float) -> Guarantee:
    """Return a guarantee that controls the false discovery rate, with a q-value for each group.

    The intervals are adjusted for the selection too: of those of the discoveries no more than the
    error rate is expected to miss the true difference. Overlapping groups depend on each other in
    every way, so the error rate of each interval is error * discoveries / (groups * (1 + 1/2 + ...
    + 1/groups)).

    See Benjamini and Yekutieli (2001), The control of the false discovery rate in multiple testing
    under dependency, Annals of Statistics 29; (2005), False discovery rate-adjusted multiple
    confidence intervals for selected parameters, Journal of the American Statistical Association
    100.
    """
    # Imported here: it takes a second.
    from statsmodels.stats.multitest import multipletests

    error = 1 - confidence
    groups = len(estimates.rows_in)
    q_values = np.ones(groups)
    # Groups that are not decided are not judged, but they were looked for.
    if groups:
        p_values = np.where(estimates.decided, group_p_values(estimates), 1.0)
        q_values = np.asarray(multipletests(p_values, alpha=error, method="fdr_by")[1])
    discoveries = int((q_values <= error).sum())
    harmonic = float((1 / np.arange(1, groups + 1)).sum())
    each = error * max(1, discoveries) / max(1.0, groups * harmonic)
    return guarantee_of(
        estimates,
        np.full(groups, each),
        kind="fdr",
        confidence=confidence,
        method="false-coverage",
        groups=groups,
        q_values=q_values,
    )


def group_p_values(estimates: Estimates) -> Floats:
    """Compute the p-value of "no difference in the population" of each group, shape (groups,)."""
    if estimates.margin_kind == "anytime":
        return _p_values_of_intervals(estimates)
    size_in, size_out = (np.asarray(side.rows, dtype=np.float64) for side in estimates.sides)
    if estimates.margin_kind == "wald":
        # Both the rows and the draws vary; see population_interval.
        size_in, size_out = (
            1
            / (1 / np.where(rows > 0, rows, 1) + 1 / np.maximum(side.samples, 1))
            * (side.samples > 0)
            for rows, side in zip((size_in, size_out), estimates.sides, strict=True)
        )
    return equality_p_values(
        np.nan_to_num(estimates.rate_in) * size_in,
        size_in,
        np.nan_to_num(estimates.rate_out) * size_out,
        size_out,
    )


def _p_values_of_intervals(estimates: Estimates) -> Floats:
    """Return the smallest error rate tried at which each group's interval leaves out 0; else 1."""
    p_values = np.ones(len(estimates.rows_in))
    # Intervals grow as their error rate shrinks: only those that still leave out 0 are looked at.
    candidates = np.flatnonzero(estimates.sampled)
    for level in _LEVELS:
        bounds = estimates.take(candidates).lower_confidence_bounds(level)
        candidates = candidates[bounds > 0]
        if not len(candidates):
            break
        p_values[candidates] = level
    return p_values


def guarantee_of_kind(kind: GuaranteeKind, estimates: Estimates, confidence: float) -> Guarantee:
    """Return a guarantee that takes no bootstrap; a simultaneous one is Bonferroni's."""
    if kind == "per-group":
        return per_group(estimates, confidence)
    if kind == "fdr":
        return false_discovery(estimates, confidence)
    return bonferroni(estimates, confidence)
