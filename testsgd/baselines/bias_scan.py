"""AIF360's bias scan (MDSS): the set of values whose decisions differ most from the expected rate.

The scan takes any set of cells of each sensitive feature, bins as well, whether they are neighbours
or not. It climbs from one feature to the next to the set with the largest likelihood ratio, from
several starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from testsgd.baselines.baseline import (
    BaselineFinding,
    BaselineResult,
    Deadline,
    Figure,
    ShippedBaseline,
    Subject,
)
from testsgd.baselines.combinations import rows_of
from testsgd.rules import Axis, IntervalRule, ValueRule

# How the scan's two directions are called there, and here.
_DIRECTIONS = {"negative": "less often", "positive": "more often"}


class BiasScan(ShippedBaseline):
    """Bias scan of AIF360, with that package's own settings.

    It scans for a group that gets the favourable label less often, and for one more often. There is
    no support threshold: the note says so where a group is smaller. Once its time is up, the second
    direction is not begun.

    Parameters
    ----------
    starts : int
        Starts of the search.
    penalty : float
        What a value in the group's description costs. The default, AIF360's, is next to nothing.

    References
    ----------
    Zhang and Neill, Identifying significant predictive bias in classifiers, FAT/ML 2017.
    """

    method = "bias-scan"
    title = "AIF360's bias scan (MDSS)"
    package = "aif360"
    measure = (
        "score of the scan: logarithm of the likelihood ratio of the group's decisions, odds of "
        "its own against those of all rows"
    )
    finding = "a subset of positive score, that is, any"

    def __init__(self, *, starts: int = 10, penalty: float = 1e-17) -> None:
        self._starts = starts
        self._penalty = penalty

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        with self._calls():
            from aif360.detectors.mdss.MDSS import MDSS
            from aif360.detectors.mdss.ScoringFunctions import Bernoulli
        findings: list[BaselineFinding] = []
        figures: list[Figure] = []
        notes: list[str] = []
        for direction, words in _DIRECTIONS.items():
            if subject.decisions.all() or not subject.decisions.any():
                notes.append("everybody is decided alike")
                break
            if deadline.passed:
                notes.append(f"time was up: not scanned for those who get it {words}")
                break
            with self._calls():
                scanner = MDSS(Bernoulli(direction=direction))
            cells, score = self._scan(scanner, subject)
            rows = rows_of(subject.contingency, cells)
            if score <= 0 or rows.all():
                continue
            if rows.sum() < subject.min_count:
                notes.append(f"the group that gets it {words} is below the support threshold")
            findings.append(
                BaselineFinding(text=text_of(subject.axes, cells), value=score, rows=rows)
            )
            figures.append(
                Figure(
                    f"rate of the group that gets it {words}",
                    float(subject.decisions[rows].mean()),
                    f"Its rate of favourable decisions; that of all rows is "
                    f"{subject.decisions.mean():.1%}.",
                )
            )
        return self._result(
            findings=tuple(sorted(findings, key=lambda finding: -finding.value)),
            figures=tuple(figures),
            seconds=deadline.seconds,
            note="; ".join(notes),
        )

    def _scan(self, scanner: Any, subject: Subject) -> tuple[dict[int, list[int]], float]:
        """Scan in one direction; return the cells of each restricted axis, and the score."""
        coordinates = subject.contingency.coordinates[subject.contingency.cell_of_row]
        frame = pd.DataFrame(
            {str(index): coordinates[:, index] for index in range(len(subject.axes))}
        )
        # The scan seeds the generator that all of numpy shares.
        state = np.random.get_state()  # noqa: NPY002 - AIF360 draws from it
        try:
            with self._calls():
                subset, score = scanner.scan(
                    frame,
                    pd.Series(np.full(len(frame), subject.decisions.mean())),
                    pd.Series(subject.decisions.astype(np.int64)),
                    self._penalty,
                    self._starts,
                    seed=subject.seed,
                )
        finally:
            np.random.set_state(state)  # noqa: NPY002 - as it was
        cells = {int(name): sorted(int(cell) for cell in values) for name, values in subset.items()}
        return {
            index: cells[index]
            for index in sorted(cells)
            if len(cells[index]) < len(np.unique(coordinates[:, index]))
        }, float(score)


def text_of(axes: Sequence[Axis], cells: dict[int, list[int]]) -> str:
    """Write sets of cells as people write them.

    Examples
    --------
    >>> from testsgd.rules import CategoryAxis, IntervalAxis
    >>> axes = (
    ...     CategoryAxis("race", ("Black", "White", "other"), (0, 1, 2)),
    ...     IntervalAxis("age", (0.0, 20.0, 40.0, 60.0, 80.0)),
    ... )
    >>> text_of(axes, {0: [0, 2], 1: [0, 2, 3]})
    'race in {Black, other} and (age < 20 or age >= 40)'
    """
    return " and ".join(_axis_text(axes[index], chosen) for index, chosen in cells.items())


def _axis_text(axis: Axis, cells: Sequence[int]) -> str:
    """Write which values or intervals of an axis some of its cells are."""
    rules = [axis.cell_rule(cell) for cell in cells]
    values = [value for rule in rules if isinstance(rule, ValueRule) for value in rule.values]
    intervals = [rule for rule in rules if isinstance(rule, IntervalRule)]
    if values and not intervals:
        return ValueRule(axis.feature, tuple(values)).text
    parts: list[IntervalRule] = []
    for rule in intervals:
        if parts and parts[-1].high == rule.low:
            parts[-1] = IntervalRule(axis.feature, parts[-1].low, rule.high)
        else:
            parts.append(rule)
    # Of a number only that it is missing is a value.
    texts = [part.text for part in parts] + [f"{axis.feature} = {value}" for value in values]
    return texts[0] if len(texts) == 1 else f"({' or '.join(texts)})"
