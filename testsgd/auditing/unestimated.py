"""Groups of an audit with a holdout that were searched, and not estimated on the rows held out.

Only the first groups have intervals there. A gate speaks of the others, too: by their differences
in the rows held out, where the answers about each cell are known, else in those searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.auditing.findings import Findings, TableFindings, UnestimatedGroup
from testsgd.scoring import first_without_copy, member_overlaps

# From this overlap on two groups are the same people, or one the complement of the other.
_THE_SAME = 1 - 1e-9


@dataclass(frozen=True)
class _Compared:
    """What groups differ by, arrays of shape (groups,), with NaN where it is not known."""

    measure: str  # What the sizes are, and in which rows.
    ratio: str  # What the ratios of the rates are.
    # Whether it is in the rows held out; in those searched a near copy is as large by selection.
    held_out: bool
    judged: NDArray[np.bool_]  # Those that are known well enough.
    sizes: Floats
    rate_in: Floats
    rate_out: Floats


def largest_unestimated(searched: Findings, estimated: Findings) -> UnestimatedGroup | None:
    """Return the group with the largest difference that was not estimated, None if there is none.

    Parameters
    ----------
    searched, estimated : Findings
        The findings of the rows that were searched, and of those held out.

    Returns
    -------
    UnestimatedGroup or None
        In the rows searched near copies of groups that were estimated are left out: these stand for
        them, without the bias of the search.
    """
    found = None
    for compared in _comparisons(searched, estimated):
        group = _first_left(searched, compared, compared.sizes)
        if group is None or (found is not None and found.size >= compared.sizes[group]):
            continue
        found = UnestimatedGroup(
            text=searched.rule_set(group).text,
            size=float(compared.sizes[group]),
            measure=compared.measure,
        )
    return found


def smallest_unestimated_ratio(searched: Findings, estimated: Findings) -> UnestimatedGroup | None:
    """Return the group with the smallest ratio of rates that was not estimated; None if none is.

    Parameters and near copies as for :func:`largest_unestimated`.
    """
    found = None
    for compared in _comparisons(searched, estimated):
        smaller, larger = np.sort([compared.rate_in, compared.rate_out], axis=0)
        ratios = np.divide(smaller, larger, out=np.ones(len(smaller)), where=larger > 0)
        group = _first_left(searched, compared, -ratios)
        if group is None or (found is not None and found.size <= ratios[group]):
            continue
        found = UnestimatedGroup(
            text=searched.rule_set(group).text, size=float(ratios[group]), measure=compared.ratio
        )
    return found


def _comparisons(searched: Findings, estimated: Findings) -> Iterator[_Compared]:
    """Yield what groups were compared by: by the estimand asked for, then by the other one."""
    many = "rows" if searched.kind == "rows" else "texts"
    estimates = searched.estimates
    estimand = searched.parameters.estimand
    of_effect = searched.kind == "texts" and searched.parameters.ranked_by == "counterfactual"
    held_out = None if of_effect else _held_out_rates(searched, estimated)
    rates = (estimates.rate_in, estimates.rate_out) if held_out is None else held_out
    where = f"in the {many} searched" if held_out is None else "in the rows held out"
    yield _Compared(
        f"counterfactual effect {where}" if of_effect else f"{estimand} difference {where}",
        f"{estimand} ratio {where}",
        held_out is not None,
        searched.judged,
        searched.sizes if held_out is None else np.abs(rates[0] - rates[1]),
        *rates,
    )
    if of_effect:
        # The gate goes by effects only.
        return
    for other in searched.others:
        yield _Compared(
            f"{other.estimand} difference in the {many} searched",
            f"{other.estimand} ratio in the {many} searched",
            False,
            searched.judged & other.estimates.decided,
            other.estimates.score,
            other.estimates.rate_in,
            other.estimates.rate_out,
        )


def _held_out_rates(searched: Findings, estimated: Findings) -> tuple[Floats, Floats] | None:
    """Return the rates inside and outside groups in the rows held out, shape (groups,).

    NaN where a side has too few rows to be judged; None if cells have no answers.
    """
    if not isinstance(searched, TableFindings) or not isinstance(estimated, TableFindings):
        return None
    if not estimated.cell_samples.any():
        return None
    contingency = estimated.contingency
    of_cells = np.vstack([contingency.tally(), estimated.cell_samples, estimated.cell_favourable])
    inside = searched.rule_sets.sums_of(contingency, of_cells)
    outside = searched.rule_sets.totals(contingency, of_cells) - inside
    fewest = searched.parameters.fewest_rows(estimated.rows)
    is_judged = (inside[0] >= fewest) & (outside[0] >= fewest) & (inside[1] > 0) & (outside[1] > 0)
    rates = [
        np.divide(favourable, samples, out=np.full(len(samples), np.nan), where=is_judged)
        for _, samples, favourable in (inside, outside)
    ]
    return rates[0], rates[1]


def _first_left(searched: Findings, compared: _Compared, sizes: Floats) -> int | None:
    """Return the judged group of the largest size that was not estimated; None if there is none.

    In the rows held out only the same people, or their complement, are taken for estimated.
    """
    judged = np.flatnonzero(compared.judged & ~np.isnan(sizes))
    overlaps = searched.overlaps()
    if isinstance(searched, TableFindings):
        contingency = searched.contingency
        overlaps = member_overlaps(
            searched.rule_sets.member_lookup(contingency),
            contingency.tally(),
            with_complements=True,
            complements=partial(searched.rule_sets.complement_members, contingency=contingency),
        )
    return first_without_copy(
        judged[np.argsort(-sizes[judged], kind="stable")],
        np.array(searched.highlights, dtype=np.intp),
        overlaps,
        overlap=_THE_SAME if compared.held_out else searched.parameters.overlap,
        block=searched.block,
    )
