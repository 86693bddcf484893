"""The paper's Algorithm 2 for one group: draw on both sides until the margin is small enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from testsgd.auditing.estimates import Counts, margins_of
from testsgd.auditing.parameters import AuditParameters
from testsgd.errors import ParameterError
from testsgd.scoring import enough

# Draws are predicted in batches; the stopping rule is looked at draw by draw all the same.
_BATCH = 256


def check_share(budget: int, groups: int, parameters: AuditParameters) -> int:
    """Give each group its share of the query budget, or refuse if that is too little for any.

    Raises
    ------
    ParameterError
        If a share does not allow the fewest samples.
    """
    least = 2 * (parameters.min_samples + 1)
    share = budget // max(1, groups)
    if groups and share < least:
        raise ParameterError(
            f"independent sampling of {groups:,} groups takes at least "
            f"{groups * least:,} queries beside those about the rows as they are, "
            f"{budget:,} are left",
            where="max_queries",
            remedy="raise --max-queries, or use --sampling pooled",
        )
    return share


def sample_until_certain(
    ask: Callable[[int], Counts], parameters: AuditParameters, share: int
) -> Counts:
    """Draw equally many samples on both sides until the stopping rule holds.

    From the step after `min_samples` on, the margin is looked at after every step. Predictions come
    in batches, the stopping rule does not: draws of a batch behind the stop are thrown away.

    So many looks are why the paper's margin, which is made for one, covers the truth less often
    than it says; that of a confidence sequence (``interval="anytime"``) keeps its promise.

    Parameters
    ----------
    ask : callable
        Draws so many samples on each side and gives the answers as 0 or 1, shape (2, count).
    parameters : AuditParameters
        The stopping rule.
    share : int
        Most queries.

    Returns
    -------
    numpy.ndarray of int64, shape (5,)
        Samples on both sides, favourable ones on both sides, and the queries it took.

    References
    ----------
    Zhang et al., TestSGD, Algorithm 2.
    """
    answers = np.zeros((2, 0), dtype=np.int64)
    batch = parameters.min_samples + 1
    while 2 * (answers.shape[1] + batch) <= share:
        before = answers.shape[1]
        answers = np.hstack([answers, ask(batch)])
        favourable = np.cumsum(answers, axis=1)
        # Up to the fewest samples sampling never stops.
        first = max(before, parameters.min_samples)
        steps = np.arange(first + 1, answers.shape[1] + 1)
        stop = _first_stop(steps, favourable[:, first:], parameters)
        if stop is not None:
            return np.array([stop, stop, *favourable[:, stop - 1], answers.size])
        batch = _BATCH
    count = answers.shape[1]
    return np.array([count, count, *answers.sum(axis=1), answers.size])


def _first_stop(steps: Counts, favourable: Counts, parameters: AuditParameters) -> int | None:
    """Look at the margin after each of some steps; give the first at which sampling stops."""
    margins = margins_of(np.vstack([steps, steps, favourable]), parameters)
    stops = enough(
        steps,
        steps,
        margins.margin,
        min_samples=parameters.min_samples,
        error_margin=parameters.error_margin,
    )
    return int(steps[np.argmax(stops)]) if stops.any() else None
