"""What the intervals of a search hold for: one group, all groups at once, or those found.

Of thousands of groups some look bad by luck. An interval that covers one group's difference in 95%
of all samples leaves out the truth of one in twenty, and the most extreme groups are the ones it
fails on. So each group's interval here has an error rate of its own, chosen so that the whole
search keeps the promised confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates
from testsgd.auditing.parameters import GuaranteeKind

Floats = NDArray[np.float64]
Method = Literal["each", "max-statistic", "bonferroni", "mixed", "false-coverage"]

# Of how many groups, those with the largest standardised differences, intervals are computed to
# tell which differ by more than chance explains: ten seconds' worth.
_MOST_LOOKED_AT = 100_000


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The error rates of all groups' intervals, and what they hold for together.

    Attributes
    ----------
    kind : {"per-group", "simultaneous", "fdr"}
        What was asked for.
    confidence : float
        The confidence promised: for each group alone, for all at once, or as 1 less the share of
        false ones among the found.
    method : {"each", "max-statistic", "bonferroni", "mixed", "false-coverage"}
        How the error rates were found. ``mixed``: by the max statistic for groups estimated from
        shared samples, by Bonferroni for those that got samples of their own.
    groups : int
        How many groups it holds for together.
    replicates : int
        Bootstrap samples behind it; 0 if there is no bootstrap.
    errors : numpy.ndarray of float64, shape (groups,)
        Two-sided error rate of each group's interval.
    critical : float or None
        The quantile of the normal distribution that the smallest error rate stands for, as 1.96
        does for 5%; None if nothing was adjusted.
    q_values : numpy.ndarray of float64 or None
        For ``fdr``: the smallest false discovery rate at which each group counts as found.
    sure : int
        Groups whose interval leaves out "no difference".
    sure_complete : bool
        False: there may be more, because there are too many groups to look at all.
    surest : int or None
        The group whose interval lies farthest from "no difference"; None if none does.
    assured : float
        The smallest size of that group's difference within its interval; 0 if there is none.
    assured_sizes : numpy.ndarray of float64, shape (groups,)
        The same of each group; 0 where it was not looked at, and for groups that are not decided.
    """

    kind: GuaranteeKind
    confidence: float
    method: Method
    groups: int
    replicates: int
    errors: Floats
    critical: float | None
    q_values: Floats | None
    sure: int
    sure_complete: bool
    surest: int | None
    assured: float
    assured_sizes: Floats

    @property
    def critical_value(self) -> float:
        """How many standard errors the largest deviation of any group stays within.

        By Bonferroni's inequality where the intervals are meant for one group at a time.
        """
        from scipy.special import ndtri

        if self.critical is not None:
            return self.critical
        return float(-ndtri((1 - self.confidence) / (2 * max(1, len(self.errors)))))

    @property
    def discoveries(self) -> NDArray[np.intp]:
        """The groups that count as found by their q-values; none for other kinds than ``fdr``."""
        if self.q_values is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.q_values <= 1 - self.confidence)

    def interval(self, estimates: Estimates, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Give the intervals of some groups' differences.

        Parameters
        ----------
        estimates : Estimates
            Those of all groups.
        groups : numpy.ndarray of int
            Which groups.

        Returns
        -------
        low, high : numpy.ndarray of float64
            NaN where nothing was sampled on one side.
        """
        return estimates.take(groups).population_interval_at(self.errors[groups])


def assured_size(low: Floats, high: Floats) -> Floats:
    """Give the smallest size of a difference within its interval.

    Examples
    --------
    >>> assured_size(np.array([-0.3, -0.1, 0.2]), np.array([-0.1, 0.1, 0.4])).tolist()
    [0.1, 0.0, 0.2]
    """
    return np.nan_to_num(np.maximum(np.maximum(low, -high), 0.0))


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
    """Find which groups differ by more than chance explains, given their intervals' error rates.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    errors : numpy.ndarray of float64, shape (groups,)
        Two-sided error rate of each group's interval.
    kind, confidence, method, replicates, q_values
        As for :class:`Guarantee`.
    groups : int, optional
        How many groups it holds for; all of them, if not given.

    Returns
    -------
    Guarantee
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtri

    looked_at = _most_deviant(estimates)
    low, high = estimates.take(looked_at).population_interval_at(errors[looked_at])
    # Undecided groups are neither fair nor unfair.
    assured = np.where(estimates.decided[looked_at], assured_size(low, high), 0.0)
    farthest = int(np.argmax(assured)) if len(assured) else 0
    any_sure = bool(len(assured)) and assured[farthest] > 0
    sure = int((assured > 0).sum())
    sizes = np.zeros(len(errors))
    sizes[looked_at] = assured
    return Guarantee(
        kind=kind,
        confidence=confidence,
        method=method,
        groups=len(errors) if groups is None else groups,
        replicates=replicates,
        errors=errors,
        critical=None if method == "each" or not len(errors) else float(-ndtri(errors.min() / 2)),
        q_values=q_values,
        sure=sure,
        sure_complete=len(looked_at) == len(errors) or sure < len(looked_at),
        surest=int(looked_at[farthest]) if any_sure else None,
        assured=float(assured[farthest]) if any_sure else 0.0,
        assured_sizes=sizes,
    )


def _most_deviant(estimates: Estimates) -> NDArray[np.intp]:
    """Choose the groups whose differences are largest for their standard errors."""
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
    """Promise the confidence for one group at a time, as the paper does.

    References
    ----------
    Zhang et al., TestSGD, section 4.2.
    """
    return guarantee_of(
        estimates,
        np.full(len(estimates.rows_in), 1 - confidence),
        kind="per-group",
        confidence=confidence,
        method="each",
        groups=1,
    )


def bonferroni(estimates: Estimates, confidence: float, *, groups: int | None = None) -> Guarantee:
    """Promise the confidence for all groups at once, whatever their answers have in common.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    confidence : float
        For all groups at once.
    groups : int, optional
        How many groups to share the error rate; all of them, if not given.
    """
    count = len(estimates.rows_in) if groups is None else groups
    return guarantee_of(
        estimates,
        np.full(len(estimates.rows_in), (1 - confidence) / max(1, count)),
        kind="simultaneous",
        confidence=confidence,
        method="bonferroni",
        groups=count,
    )
