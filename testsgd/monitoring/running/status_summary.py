"""The status of a monitored stream: its parts, and how they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from testsgd.monitoring import judging
from testsgd.monitoring.specification import EvidencePart, MonitoredProperty
from testsgd.monitoring.trials import Unit
from testsgd.scoring import confidence_sequence, pair_interval

Standing = Literal["beyond", "within", "undecided"]
Interval = tuple[float, float]
_NOTHING_KNOWN = (0.0, 1.0)


@dataclass(frozen=True)
class GroupStatus(judging.AlertedGroup):
    """The counters, the estimated rate and its interval of a group in a comparison.

    The counters are those of the sliding window, if there is one, and of the whole stream
    otherwise.
    """

    # Of its rate, by evidence; holds at all times with the confidence, for this group alone. None
    # where estimates decide.
    interval: Interval | None


@dataclass(frozen=True)
class ComparisonStatus:
    """The counts, the bias and the alerts of a property within one combination of given values.

    Examples
    --------
    >>> import testsgd
    >>> people = [{"group": "ab"[n % 2], "decision": n % 2} for n in range(400)]
    >>> result = testsgd.monitor({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]}, people)
    >>> (comparison,) = result.monitor.status().comparisons
    >>> comparison.trials, comparison.bias, comparison.standing
    (400, Fraction(1, 1), 'beyond')
    """

    property: MonitoredProperty
    conditions: judging.Given
    groups: tuple[GroupStatus, ...]  # In the order in which they came, or of the specification.
    trials: int  # That were counted, ever.
    # Without and with the prior belief; 0 if there is nothing to compare.
    bias: Fraction
    estimate: Fraction
    # Of the bias, by evidence; it holds together with those of all other comparisons.
    interval: tuple[float, float] | None
    # By evidence: the bias is proved to be above the bound, or at most it, or neither. By
    # estimates: in alert, not in alert, or nothing to compare so far.
    standing: Standing
    alerts: int  # That were raised, ever.
    in_alert: bool
    first_alert: judging.Alert | None
    trajectory: tuple[judging.TrajectoryPoint, ...]  # A few hundred moments.
    windows: tuple[
        judging.WindowStatus, ...
    ]  # The last thousand tumbling windows that were judged.
    # All of them, and those above the bound.
    windows_judged: int
    windows_above: int


@dataclass(frozen=True)
class MonitorStatus:
    """The counts of all events and trials of a stream, and the status of every comparison.

    `repeated` events have only known values, `ignored` ones add nothing to any trial, and `waiting`
    ones are not among the `events` yet. `unknown` counts decisions on groups that are not compared,
    `late` counts labels and decisions that came too late. `dropped` trials had no label, or no
    decision, at their deadline, `open` ones are not complete, `uncompared` ones are beyond the
    thousandth combination of given values. `without_decision` trials are among the decided ones: no
    decision came in time, and that is a refusal. `dropped_counted` trials are among the dropped
    ones: a property with ``favourable_within`` had counted them before. `decided_after_later`
    trials were counted as decided, and `complete_after_later` ones as complete, after others that
    were so later by the time of their events.
    Dead letters were not counted because of their time; `unit` is how that is written, None if no
    time is needed.

    Examples
    --------
    >>> import testsgd
    >>> monitor = testsgd.load_monitor({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]})
    >>> alerts = monitor.observe({"group": "a", "decision": 1})
    >>> status = monitor.status()
    >>> status.events, status.decided, status.alerts, status.standing
    (1, 1, 0, 'undecided')
    """

    events: int
    ignored: int
    repeated: int
    unknown: int
    late: int
    decided: int
    dropped: int
    open: int
    uncompared: int
    # Of the first event, and now.
    first_time: float | None
    time: float | None
    comparisons: tuple[ComparisonStatus, ...]
    dead_letters_unit: int = 0
    dead_letters_ahead: int = 0
    dead_letters_late: int = 0
    dead_letters_wrong: int = 0
    waiting: int = 0
    # How often the clock was set again, because most of the recent events were dead letters by it;
    # how far it had come and where it went on, the last time; and how many events were lost so.
    clock_set: int = 0
    clock_before: float | None = None
    clock_to: float | None = None
    clock_dropped: int = 0
    unit: Unit | None = None
    without_decision: int = 0
    # Of the decided trials those with a favourable decision; of the complete ones those with a
    # label, and with a positive one. A state of a former version has none of them.
    favourable: int = 0
    labelled: int = 0
    positive: int = 0
    # Counted from the version on that first had them, also in a state of a former one.
    dropped_counted: int = 0
    decided_after_later: int = 0
    complete_after_later: int = 0

    @property
    def dead_letters(self) -> int:
        """Events that were not counted because of their time."""
        by_time = self.dead_letters_unit + self.dead_letters_ahead + self.dead_letters_late
        return by_time + self.dead_letters_wrong

    @property
    def alerts(self) -> int:
        """Alerts that were raised, ever."""
        return sum(comparison.alerts for comparison in self.comparisons)

    @property
    def windows_judged(self) -> int:
        """Tumbling windows that were judged, over all comparisons."""
        return sum(comparison.windows_judged for comparison in self.comparisons)

    @property
    def standing(self) -> Standing:
        """Of all comparisons: "beyond" if an alert was ever raised, "within" if all are within."""
        if self.alerts:
            return "beyond"
        within = [comparison.standing == "within" for comparison in self.comparisons]
        return "within" if within and all(within) else "undecided"


def sum_up(
    comparisons: Sequence[judging.Comparison], settings: EvidencePart
) -> tuple[ComparisonStatus, ...]:
    """Return the status of each comparison, with intervals of the confidence of the settings."""
    proving = [comparison for comparison in comparisons if comparison.evidence is not None]
    tops = [top for comparison in proving for top in comparison.counts.numerators]
    bottoms = [bottom for comparison in proving for bottom in comparison.counts.denominators]
    low, high = confidence_sequence(
        tops, bottoms, settings.confidence, tuned_for=settings.tuned_for
    )
    # Of the rates of all groups, where evidence decides.
    ends = iter(zip(low.tolist(), high.tolist(), strict=True))
    statuses = []
    for comparison, bias in zip(comparisons, _bias_intervals(comparisons, settings), strict=True):
        by_estimates = comparison.evidence is None
        rates = [None if by_estimates else next(ends) for _ in comparison.counts.names]
        statuses.append(_status(comparison, rates, bias))
    return tuple(statuses)


def _bias_intervals(
    comparisons: Sequence[judging.Comparison], settings: EvidencePart
) -> list[Interval | None]:
    """Return the interval of the largest bias of two groups of each comparison; None by estimates.

    The pairs of groups have intervals that hold together. The lower end is the largest lower end of
    a pair, the upper end the largest upper end.
    """
    biases: list[Interval | None] = [None] * len(comparisons)
    for measure in ("difference", "ratio"):
        # One entry for each pair of groups of each comparison.
        owners: list[int] = []
        tops: list[list[int]] = []
        bottoms: list[list[int]] = []
        errors: list[float] = []
        for index, comparison in enumerate(comparisons):
            evidence = comparison.evidence
            counts = comparison.counts
            if evidence is None or evidence.bet["measure"] != measure:
                continue
            known = sum(bottom > 0 for bottom in counts.denominators)
            # Of a group of which nobody was counted nothing is known.
            biases[index] = (0.0, 0.0 if 1 < known == len(counts.names) else 1.0)
            for pair, error in evidence.claims(counts):
                owners.append(index)
                tops.append([counts.numerators[group] for group in pair])
                bottoms.append([counts.denominators[group] for group in pair])
                errors.append(error)
        if not owners:
            continue
        low, high = pair_interval(
            tops, bottoms, 1 - np.array(errors), measure=measure, tuned_for=settings.tuned_for
        )
        for index, least, most in zip(owners, low.tolist(), high.tolist(), strict=True):
            before = biases[index] or _NOTHING_KNOWN
            biases[index] = max(before[0], least), max(before[1], most)
    return biases


def _status(
    comparison: judging.Comparison, intervals: Sequence[Interval | None], interval: Interval | None
) -> ComparisonStatus:
    """Return the status of a comparison, with the intervals of its rates and its bias."""
    counts = comparison.counts
    groups = [
        GroupStatus(
            name=group.name,
            numerator=group.numerator,
            denominator=group.denominator,
            estimate=group.estimate,
            interval=ends,
        )
        for group, ends in zip(comparison.groups(counts), intervals, strict=True)
    ]
    return ComparisonStatus(
        property=comparison.monitored,
        conditions=comparison.conditions,
        groups=tuple(groups),
        trials=comparison.counted,
        bias=comparison.bias(counts),
        estimate=comparison.estimate(counts),
        interval=interval,
        standing=_standing(comparison, interval),
        trajectory=tuple(comparison.trajectory),
        alerts=comparison.alerts,
        in_alert=comparison.in_alert,
        first_alert=comparison.first_alert,
        windows=tuple(comparison.windows),
        windows_judged=comparison.windows_judged,
        windows_above=comparison.windows_above,
    )


def _standing(comparison: judging.Comparison, interval: Interval | None) -> Standing:
    """Return whether a comparison is beyond its bound, within it, or neither is known."""
    monitored = comparison.monitored
    if comparison.in_alert:
        return "beyond"
    if interval is not None:
        return "within" if Fraction(interval[1]) <= monitored.bound else "undecided"
    if monitored.check == "end":
        return "within" if comparison.windows_judged else "undecided"
    if monitored.check == "period" and not comparison.looked:
        return "undecided"
    return "undecided" if comparison.extremes(comparison.counts) is None else "within"
