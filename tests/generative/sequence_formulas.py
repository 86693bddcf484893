"""The paper's definitions written out with quantifiers over positions, and a finite-trace logic.

Positions are from 1 to the length. A trace is a list of labels. Nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

Trace = Sequence[int]
# Whether a formula holds of a trace at a position from 0, as in the paper's appendix.
Formula = Callable[[Trace, int], bool]


def removed(trace: Trace, labels: Trace, drop: set[int]) -> list[int]:
    """Definition 3: the elements of a trace whose label is not dropped."""
    return [trace[index] for index in range(len(trace)) if labels[index] not in drop]


def eventually_fair(trace: Trace, values: int) -> bool:
    """Equation 2."""
    positions = range(1, len(trace) + 1)
    return all(any(trace[m - 1] == k for m in positions) for k in range(1, values + 1))


def value_bounded(trace: Trace, value: int, beta: int) -> bool:
    """Equation 9 for one value."""
    length = len(trace)
    positions = range(1, length + 1)
    first = any(m <= beta and trace[m - 1] == value for m in positions)
    repeated = all(
        any(m1 < m2 <= m1 + beta and trace[m2 - 1] == value for m2 in positions)
        or m1 + beta > length
        for m1 in positions
        if trace[m1 - 1] == value
    )
    return first and repeated


def bounded_fair(trace: Trace, betas: Sequence[int]) -> bool:
    """Definition 10."""
    long_enough = all(len(trace) > beta for beta in betas)
    return long_enough and all(
        value_bounded(trace, value, beta) for value, beta in enumerate(betas, start=1)
    )


def first_missed_deadline(trace: Trace, value: int, beta: int) -> int:
    """The first position by which the value should have appeared and had not; 0 if none."""
    for since in range(len(trace) + 1):
        if since > 0 and trace[since - 1] != value:
            continue
        due = since + beta
        met = any(trace[m - 1] == value for m in range(since + 1, min(due, len(trace)) + 1))
        if not met and (due <= len(trace) or value not in trace):
            return due
    return 0


def atom(value: int) -> Formula:
    return lambda trace, m: trace[m] == value


def negation(inner: Formula) -> Formula:
    return lambda trace, m: not inner(trace, m)


def conjunction(left: Formula, right: Formula) -> Formula:
    return lambda trace, m: left(trace, m) and right(trace, m)


def disjunction(left: Formula, right: Formula) -> Formula:
    return negation(conjunction(negation(left), negation(right)))


def implication(left: Formula, right: Formula) -> Formula:
    return disjunction(negation(left), right)


def following(inner: Formula) -> Formula:
    """Next: there is a next position, and it holds there."""
    return lambda trace, m: m < len(trace) - 1 and inner(trace, m + 1)


def weak_next(inner: Formula) -> Formula:
    """Weak next: it holds at the next position, or there is none."""
    return lambda trace, m: m == len(trace) - 1 or inner(trace, m + 1)


def eventually(inner: Formula) -> Formula:
    return lambda trace, m: any(inner(trace, later) for later in range(m, len(trace)))


def globally(inner: Formula) -> Formula:
    return negation(eventually(negation(inner)))


def repeated_weak_next(inner: Formula, times: int) -> Formula:
    for _ in range(times):
        inner = weak_next(inner)
    return inner


def within(inner: Formula, steps: int, *, start: int = 0) -> Formula:
    """Bounded eventually by weak next: after `start`, ..., `steps` steps."""
    return reduce(
        disjunction, (repeated_weak_next(inner, times) for times in range(start, steps + 1))
    )
