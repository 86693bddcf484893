"""DivExplorer on the sensitive features: how far the rate of every frequent itemset diverges.

An item is a cell of a sensitive feature, the same bins as the audit's. DivExplorer looks at every
combination of items, a rule set with one value or one bin a feature; it knows no sets of values and
no intervals of several bins.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.baselines.baseline import (
    MOST_FINDINGS,
    BaselineResult,
    Deadline,
    ShippedBaseline,
    Subject,
)
from testsgd.baselines.combinations import finding_of

_OUTCOME = "favourable"

# An itemset as (axis, cell), ascending.
Items = tuple[tuple[int, int], ...]


class DivExplorer(ShippedBaseline):
    """DivExplorer, as it is installed from PyPI, with its fastest algorithm (FP-growth).

    It lists the frequent itemsets by divergence. Once its time is up it is not begun; DivExplorer
    itself cannot be stopped.

    References
    ----------
    Pastor, de Alfaro and Baralis, Looking for trouble: analyzing classifier behavior via pattern
    divergence, SIGMOD 2021.
    """

    method = "divexplorer"
    title = "DivExplorer"
    package = "divexplorer"
    measure = "divergence: the group's rate of favourable decisions less that of all rows"
    finding = "one of its first 20 groups with a Welch's t above 1.96 in size"

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        with self._calls():
            from divexplorer import DivergenceExplorer
        frame = items_frame(subject)
        note = ""
        itemsets: list[tuple[Items, float]] = []
        if deadline.passed:
            note = "time was up before it began"
        elif _some_item_frequent(frame, subject.min_count):
            with self._calls():
                patterns = _patterns(DivergenceExplorer, frame, subject.min_count)
            itemsets = _read(patterns, subject.max_features)
            longer = len(patterns) - 1 - len(itemsets)
            if longer:
                note = f"{longer:,} itemsets of more than {subject.max_features} items left out"
        best = sorted(itemsets, key=lambda item: (-abs(item[1]), len(item[0]), item[0]))
        return self._result(
            findings=tuple(
                finding_of(subject, dict(items), value) for items, value in best[:MOST_FINDINGS]
            ),
            groups=len(itemsets),
            seconds=deadline.seconds,
            note=note,
        )

    def is_finding(self, subject: Subject, result: BaselineResult) -> bool:
        """Return whether a group's rate differs from that of all rows with a Welch's t above 1.96.

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
        return any(
            divergence_t(subject.decisions, finding.rows) > 1.96
            for finding in result.findings
            if finding.rows is not None
        )


def items_frame(subject: Subject) -> pd.DataFrame:
    """Return the rows as DivExplorer takes them: a column a sensitive feature, and the decisions.

    Columns and values are the indices of the axes and of their cells. A cell over which there is no
    rule, such as the only bin of a number, is no item.
    """
    coordinates = subject.contingency.coordinates[subject.contingency.cell_of_row]
    columns: dict[str, Any] = {}
    for index, axis in enumerate(subject.axes):
        cells = [cell for cell in range(len(axis.labels)) if axis.cell_rule(cell) is not None]
        code = np.full(len(axis.labels), -1, dtype=np.intp)
        code[cells] = np.arange(len(cells))
        columns[str(index)] = pd.Categorical.from_codes(
            code[coordinates[:, index]], categories=pd.Index([str(cell) for cell in cells])
        )
    return pd.DataFrame({**columns, _OUTCOME: subject.decisions.astype(np.int64)})


def _some_item_frequent(frame: pd.DataFrame, min_count: int) -> bool:
    """Return whether any item is frequent; DivExplorer does not expect that none is."""
    items = [name for name in frame.columns if name != _OUTCOME]
    return any(int(frame[name].value_counts().max()) >= min_count for name in items)


def _patterns(
    explorer: Any, frame: pd.DataFrame, min_count: int
) -> list[tuple[frozenset[str], float]]:
    """Call DivExplorer; return the itemsets with their divergences."""
    with warnings.catch_warnings():
        # It calls pandas in ways that pandas will drop one day.
        warnings.filterwarnings("ignore", category=pd.errors.Pandas4Warning, module="divexplorer")
        patterns = explorer(frame).get_pattern_divergence(
            # Half a row less, so that rounding does not lose an itemset of exactly enough rows.
            min_support=(min_count - 0.5) / len(frame),
            boolean_outcomes=[_OUTCOME],
            FPM_algorithm="fpgrowth",
        )
    return list(zip(patterns["itemset"], patterns[f"{_OUTCOME}_div"], strict=True))


def _read(
    patterns: Iterable[tuple[frozenset[str], float]], longest: int
) -> list[tuple[Items, float]]:
    """Return the itemsets, without the empty one and those of too many items."""
    kept = []
    for itemset, divergence in patterns:
        if 1 <= len(itemset) <= longest:
            pairs = (item.split("=") for item in itemset)
            kept.append(
                (tuple(sorted((int(axis), int(cell)) for axis, cell in pairs)), float(divergence))
            )
    return kept


def divergence_t(decisions: NDArray[np.bool_], group: NDArray[np.bool_]) -> float:
    """Compute the size of Welch's t of a group's rate against the rate of all rows.

    It is |p - q| / sqrt(p (1 - p) / m + q (1 - q) / n), where p is the rate of the m rows of the
    group and q that of all n rows. Shapes: `decisions`, `group` (n,). It is infinite where neither
    side varies and they differ.

    Examples
    --------
    >>> decisions = np.arange(100) < 50
    >>> round(divergence_t(decisions, np.arange(100) < 60), 2)
    4.8
    """
    rate = float(decisions[group].mean())
    overall = float(decisions.mean())
    variance = rate * (1 - rate) / int(group.sum()) + overall * (1 - overall) / len(decisions)
    if variance == 0:
        return 0.0 if rate == overall else math.inf
    return abs(rate - overall) / math.sqrt(variance)
