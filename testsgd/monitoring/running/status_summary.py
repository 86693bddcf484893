"""How a stream stands: the parts of its status, and how they are summed up."""

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
# What of a comparison is said as it is.
_KEPT = ("conditions", "alerts", "in_alert", "first_alert", "windows_judged", "windows_above")


@dataclass(frozen=True)
class GroupStatus(judging.AlertedGroup):
    """A group in a comparison; its counts are of the sliding window, if there is one."""

    # Of its rate, by evidence; holds at all times with the confidence, for this group alone. None
    # where estimates decide.
    interval: Interval | None


@dataclass(frozen=True)
class ComparisonStatus:
    """A property within one combination of given values."""

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
    """How the whole stream stands.

    `repeated` events say what was known, `ignored` ones play no part, and `waiting` ones are not
    among the `events` yet. `dropped` trials were ended by a deadline, `open` ones are not complete,
    `uncompared` ones are beyond the thousandth combination of given values. Dead letters were not
    counted because of their time; `unit` is how that is written, None if no time is needed.
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
        """Of everything: "beyond" if an alert was ever raised, "within" if nothing is open."""
        if self.alerts:
            return "beyond"
        within = [comparison.standing == "within" for comparison in self.comparisons]
        return "within" if within and all(within) else "undecided"


def sum_up(
    comparisons: Sequence[judging.Comparison], settings: EvidencePart
) -> tuple[ComparisonStatus, ...]:
    """Describe how each comparison stands, by evidence as sure as the settings say."""
    proving = [comparison for comparison in comparisons if comparison.evidence is not None]
    tops = [top for comparison in proving for top in comparison.counts.numerators]
    bottoms = [bottom for comparison in proving for bottom in comparison.counts.denominators]
    tuned_for = settings.tuned_for
    low, high = confidence_sequence(tops, bottoms, settings.confidence, tuned_for=tuned_for)
    # Of the rates of all groups, where evidence decides.
    ends = iter(zip(low.tolist(), high.tolist(), strict=True))
    stood = []
    for comparison, bias in zip(comparisons, _bias_intervals(comparisons, settings), strict=True):
        names, estimates = comparison.counts.names, comparison.evidence is None
        rates = [None if estimates else next(ends) for _ in names]
        stood.append(_status(comparison, rates, bias))
    return tuple(stood)


def _bias_intervals(
    comparisons: Sequence[judging.Comparison], settings: EvidencePart
) -> list[Interval | None]:
    """Return the interval of the largest bias of two groups of each comparison.

    It lies above the lower ends of all pairs, and below their largest upper end.
    """
    biases: list[Interval | None] = [None] * len(comparisons)
    for measure in ("difference", "ratio"):
        owners, tops, bottoms, errors = [], [], [], []
        for index, comparison in enumerate(comparisons):
            evidence, counts = comparison.evidence, comparison.counts
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
        confidences, tuned_for = 1 - np.array(errors), settings.tuned_for
        low, high = pair_interval(tops, bottoms, confidences, measure=measure, tuned_for=tuned_for)
        for index, least, most in zip(owners, low.tolist(), high.tolist(), strict=True):
            before = biases[index] or _NOTHING_KNOWN
            biases[index] = max(before[0], least), max(before[1], most)
    return biases


def _status(
    comparison: judging.Comparison, intervals: Sequence[Interval | None], interval: Interval | None
) -> ComparisonStatus:
    counts, kept = comparison.counts, {name: getattr(comparison, name) for name in _KEPT}
    groups = zip(comparison.groups(counts), intervals, strict=True)
    return ComparisonStatus(
        **kept,
        property=comparison.monitored,
        groups=tuple(GroupStatus(**vars(group), interval=ends) for group, ends in groups),
        trials=comparison.counted,
        bias=comparison.bias(counts),
        estimate=comparison.estimate(counts),
        interval=interval,
        standing=_standing(comparison, interval),
        trajectory=tuple(comparison.trajectory),
        windows=tuple(comparison.windows),
    )


def _standing(comparison: judging.Comparison, interval: Interval | None) -> Standing:
    monitored = comparison.monitored
    if comparison.in_alert:
        return "beyond"
    if interval is not None:
        return "within" if Fraction(interval[1]) <= monitored.bound else "undecided"
    if monitored.check == "end":
        return "within" if comparison.windows_judged else "undecided"
    return "undecided" if comparison.extremes(comparison.counts) is None else "within"
