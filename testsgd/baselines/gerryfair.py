"""The auditor of "fairness gerrymandering": the worst linear threshold group, by regression.

Among all groups ``{x : w.x + b > 0}`` over the sensitive features, the worst is the one whose rate
differs most from everybody's, weighted by the group's share of the rows. To find it is as hard as
to classify with costs: who is put into the group costs the rate less his decision. The auditor
gives the costs of "in" and of "out" to a linear regression each and puts into the group who is
cheaper in than out. The costs of "out" are all zero, and those of the second direction (groups that
do better) are the first's with the sign turned. So one regression of the decisions answers for
both.

The regression's threshold is rarely the best one along its own line. Here every threshold is tried,
which costs a sort, so that the baseline is at its strongest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.baseline import (
    BaselineFinding,
    BaselineResult,
    Deadline,
    Figure,
    ShippedBaseline,
    Subject,
)
from testsgd.data import Table
from testsgd.rules import Axis, CategoryAxis

# Sums of the linear function that differ by less are equal: the rest is rounding.
_DIGITS = 10

# Columns of the linear function that are named.
_NAMED = 4


@dataclass(frozen=True)
class _Cut:
    """A threshold on the linear function, and the smaller of its two sides."""

    above: bool  # Whether it is the side above the threshold.
    threshold: float
    rows: NDArray[np.bool_]  # The rows of this side; shape (rows,).
    violation: float  # The size of its rate less that of all rows, times its share of the rows.
    difference: float  # The size of its rate less that of the other side.


class GerryFair(ShippedBaseline):
    """Our own implementation of the auditor of Kearns, Neel, Roth and Wu, for statistical parity.

    It finds linear threshold groups of the sensitive features. The first finding is the group of
    the largest violation, the second the one with the largest difference between the rates inside
    and outside, if that is another group. Both sides of a threshold have the support threshold's
    share of the rows; the smaller one is the group. Once the time is up, no other thresholds than
    the regression's are tried.

    References
    ----------
    Kearns et al., Preventing fairness gerrymandering: auditing and learning for subgroup fairness,
    ICML 2018.
    """

    method = "gerryfair"
    title = "GerryFair's auditor"
    measure = (
        "violation: how far the group's rate of favourable decisions is from that of all rows, "
        "times the group's share of the rows"
    )
    finding = "a weighted violation above gamma = 0.01, the default of its code"

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        columns, names, parts = sensitive_columns(subject.table, subject.axes)
        weights = regression_weights(columns, subject.decisions, parts)
        sums = np.round(columns @ weights, _DIGITS) + 0.0
        late = deadline.passed
        own = _own_cut(sums, subject.decisions)
        tried = 1 if late else max(1, len(np.unique(sums)) - 1)
        cuts = [own] if late else _best_cuts(sums, subject.decisions, least=subject.min_count)
        findings: list[BaselineFinding] = []
        chosen: list[_Cut] = []
        for cut in cuts:
            if cut is None or cut.rows.sum() < subject.min_count:
                continue
            if any(np.array_equal(cut.rows, other.rows) for other in chosen):
                continue
            chosen.append(cut)
            findings.append(
                BaselineFinding(
                    text=_in_words(cut, weights, columns, names), value=cut.violation, rows=cut.rows
                )
            )
        return self._result(
            findings=tuple(findings),
            figures=_figures(own, chosen),
            groups=2 * tried,
            seconds=deadline.seconds,
            note="time was up: only the regression's own threshold was tried" if late else "",
        )

    def is_finding(self, subject: Subject, result: BaselineResult) -> bool:
        """Return whether the largest violation is above 0.01, the default of the authors' code.

        Parameters
        ----------
        subject : Subject
            The rows and the model.
        result : BaselineResult
            What the method found on them.

        Returns
        -------
        bool
        """
        return bool(result.findings) and result.findings[0].value > 0.01


def sensitive_columns(
    table: Table, axes: Sequence[Axis]
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[slice, ...]]:
    """Return the sensitive features as numbers, every column with mean 0: (rows, columns).

    A categorical feature is a 0/1 column a value, less the value's share. A continuous one is in
    standard deviations from its mean, 0 where missing; where cells are missing, a 0/1 column says
    so. Returned are also what each column says, and the columns of each categorical feature.
    """
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    parts: list[slice] = []
    for axis in axes:
        if isinstance(axis, CategoryAxis):
            cells = axis.cells(table)
            parts.append(slice(len(columns), len(columns) + len(axis.labels)))
            columns += [(cells == cell).astype(np.float64) for cell in range(len(axis.labels))]
            names += [f"{axis.feature} = {label}" for label in axis.labels]
            continue
        numbers = table.numbers(axis.feature)
        known = ~np.isnan(numbers)
        spread = float(numbers[known].std()) if known.any() else 0.0
        middle = float(numbers[known].mean()) if known.any() else 0.0
        columns.append(np.where(known, numbers - middle, 0.0) / (spread or 1.0))
        names.append(axis.feature)
        if not known.all():
            columns.append((~known).astype(np.float64))
            names.append(f"{axis.feature} missing")
    matrix = np.column_stack(columns)
    matrix -= matrix.mean(axis=0)
    return matrix, tuple(names), tuple(parts)


def regression_weights(
    columns: NDArray[np.float64], decisions: NDArray[np.bool_], parts: Sequence[slice] = ()
) -> NDArray[np.float64]:
    """Fit decisions (n,) by least squares to columns (n, k) of mean 0; return the weights (k,).

    The columns may depend on one another. `parts` are those of each categorical feature: only
    differences between their weights mean something, so they are given with mean 0 over the rows.

    Examples
    --------
    >>> regression_weights(np.array([[-1.0], [0.0], [1.0]]), np.array([False, False, True]))
    array([0.5])
    """
    costs = decisions - decisions.mean()
    # Weights of columns that depend on one another are the smallest that fit.
    weights = np.linalg.lstsq(columns.T @ columns, columns.T @ costs, rcond=1e-10)[0]
    for part in parts:
        # A column of mean 0 is 0/1 less the share, so its smallest number is the share negative.
        shares = -columns[:, part].min(axis=0)
        weights[part] -= (shares * weights[part]).sum()
    fitted: NDArray[np.float64] = weights
    return fitted


def _own_cut(sums: NDArray[np.float64], decisions: NDArray[np.bool_]) -> _Cut | None:
    """Return the better cut at the regression's threshold; rows on the line are in no group."""
    above = _cut_at(sums, decisions, 0.0)
    below = _cut_at(sums, decisions, -0.5 * 10.0**-_DIGITS)
    cuts = [cut for cut in (above, below) if cut is not None]
    return max(cuts, key=lambda cut: cut.violation, default=None)


def _best_cuts(
    sums: NDArray[np.float64], decisions: NDArray[np.bool_], *, least: int
) -> list[_Cut | None]:
    """Return the cuts of the largest violation and of the largest difference, of all thresholds.

    Both sides have at least `least` rows; if no threshold has them there is no cut. Shapes: `sums`
    and `decisions` (n,). One sort and cumulative sums do for all thresholds.
    """
    order = np.argsort(sums, kind="stable")
    ordered = sums[order]
    # A threshold lies between two different sums; `below` counts the rows before it.
    below = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    below = below[(below >= least) & (below <= len(sums) - least)]
    if len(below) == 0:
        return []
    total = int(decisions.sum())
    rows = len(decisions)
    favourable = np.cumsum(decisions[order])[below - 1]
    differences = np.abs((total - favourable) / (rows - below) - favourable / below)
    # |rate in - rate of all| is the difference times the share of the other side.
    violations = differences * (below / rows) * (1 - below / rows)
    return [
        _cut_at(sums, decisions, float(ordered[below[best] - 1] + ordered[below[best]]) / 2)
        for best in (int(np.argmax(violations)), int(np.argmax(differences)))
    ]


def _cut_at(
    sums: NDArray[np.float64], decisions: NDArray[np.bool_], threshold: float
) -> _Cut | None:
    """Cut at a threshold and take the smaller side; None if one side is empty."""
    inside = sums > threshold
    count = int(inside.sum())
    if count in (0, len(sums)):
        return None
    above = 2 * count <= len(sums)
    if not above:
        inside = ~inside
    rate = decisions[inside].mean()
    rest = decisions[~inside].mean()
    overall = decisions.mean()
    return _Cut(
        above=above,
        threshold=threshold,
        rows=inside,
        violation=float(abs(rate - overall) * inside.mean()),
        difference=float(abs(rate - rest)),
    )


def _in_words(
    cut: _Cut,
    weights: NDArray[np.float64],
    columns: NDArray[np.float64],
    names: Sequence[str],
) -> str:
    """Write what the linear function weighs most, by how much each column moves it."""
    moves = np.abs(weights) * columns.std(axis=0)
    heaviest = [
        int(index) for index in np.argsort(-moves, kind="stable")[:_NAMED] if moves[index] > 1e-9
    ]
    # On the lower side the signs are turned: a positive weight always leads into the group.
    sign = 1 if cut.above else -1
    listed = ", ".join(f"{names[index]} ({sign * weights[index]:+.2g})" for index in heaviest)
    unnamed = int((moves > 1e-9).sum()) - len(heaviest)
    more = f" and {unnamed} more" if unnamed else ""
    bound = f"above {cut.threshold:.3g}" if cut.above else f"of at least {-cut.threshold:.3g}"
    return f"weighted sum {bound}; heaviest weights: {listed}{more}"


def _figures(own: _Cut | None, chosen: Sequence[_Cut]) -> tuple[Figure, ...]:
    """Return the figures of the regression's own threshold and of the best thresholds."""
    figures: list[Figure] = []
    if own is not None:
        figures += [
            Figure(
                "violation of the regression's group",
                own.violation,
                "The violation at the regression's own threshold, as the published auditor has it.",
            ),
            Figure(
                "difference of the regression's group",
                own.difference,
                "Its rate inside less the rate outside, whatever the sign.",
            ),
        ]
    if chosen:
        figures += [
            Figure(
                "largest violation",
                max(cut.violation for cut in chosen),
                "The largest at any threshold: weighted by the group's share of the rows.",
            ),
            Figure(
                "largest difference",
                max(cut.difference for cut in chosen),
                "The largest difference between inside and outside at any threshold, unweighted.",
            ),
        ]
    return tuple(figures)
