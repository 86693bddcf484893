"""One property within one combination of given values: its counters and its alerts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from testsgd.monitoring.judging.alert import Alert, AlertedGroup, Given
from testsgd.monitoring.judging.beliefs import Beliefs
from testsgd.monitoring.judging.evidence import Pair, PairEvidence
from testsgd.monitoring.judging.rates import Extremes, GroupCounts, extremes
from testsgd.monitoring.judging.windows import TumblingWindow, Values
from testsgd.monitoring.specification import MonitoredProperty

# When the trajectory has this many points, every other one is left out.
_MOST_POINTS = 512
_WINDOWS_KEPT = 1000
# Fields of a comparison that its state has under the same name and as the same value.
_COUNTED = ("counted", "in_alert", "alerts", "windows_judged", "windows_above")


@dataclass(frozen=True)
class TrajectoryPoint:
    """The estimated rates and their bias after one trial of a comparison.

    A comparison keeps a few hundred points: when there are too many, every other one is left out.
    """

    trials: int  # How many trials the comparison had counted.
    time: float | None  # In seconds.
    # The rate of each group that had come by then; None where it has none.
    estimates: tuple[float | None, ...]
    bias: float


@dataclass(frozen=True)
class WindowStatus:
    """The trials and the bias of a tumbling window that is over, within one comparison."""

    window: int  # Its number, from 0.
    trials: int  # That were counted in it.
    # Without and with the prior belief.
    bias: Fraction
    estimate: Fraction
    above: bool  # Whether the estimate is above the bound.


class Comparison:
    """A comparison of groups: counts its trials, judges its bias, and keeps its alerts and windows.

    Parameters
    ----------
    monitored : MonitoredProperty
        The property that is watched.
    conditions : tuple of (str, str)
        Fields and the values within which the groups are compared; empty for all trials.
    names : tuple of str
        The groups that are known from the beginning. Others are added when they come.
    beliefs : Beliefs
        The prior belief about the rate of each group.
    evidence : PairEvidence or None
        What proves that a bias is above the bound; None: the estimates decide.
    monitor, fingerprint : str
        The monitor's name and the digest of its specification, which every alert has.

    Attributes
    ----------
    counts : GroupCounts
        The counters of each group, of the stream so far or of the sliding window.
    counted : int
        How many trials were counted, also those that left the window since.
    alerts : int
        How many alerts were raised.
    in_alert : bool
        Whether the last alert was raised and not cleared; with tumbling windows, whether the latest
        one was above the bound when it was judged last.
    first_alert : Alert or None
        The first that was raised.
    windows_judged, windows_above : int
        How many tumbling windows are over, and how many of them were above the bound.
    windows : deque of WindowStatus
        The last 1,000 tumbling windows that are over.
    looked : bool
        Whether a period has ended since the first trial.
    trajectory : list of TrajectoryPoint
        Estimates so far, at fewer than 512 moments.

    Examples
    --------
    >>> from testsgd.monitoring.judging.rates import Prior
    >>> from testsgd.monitoring.specification import MonitorSpecification
    >>> parity = {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}
    >>> (watched,) = MonitorSpecification.from_dict({"properties": [parity]}).monitored
    >>> comparison = Comparison(watched, (), ("a", "b"), Beliefs(Prior(), {}), None, "loans", "")
    >>> comparison.add("a", (1, 1)), comparison.add("b", (0, 1))
    (0, 1)
    >>> comparison.estimate(comparison.counts)
    Fraction(1, 1)
    >>> [alert.kind for alert in comparison.judge_estimate(None)], comparison.in_alert
    (['raised'], True)
    """

    def __init__(
        self,
        monitored: MonitoredProperty,
        conditions: Given,
        names: tuple[str, ...],
        beliefs: Beliefs,
        evidence: PairEvidence | None,
        monitor: str,
        fingerprint: str,
    ) -> None:
        self.monitored = monitored
        self.conditions = conditions
        self._monitor = monitor
        self._fingerprint = fingerprint
        self.beliefs = beliefs
        self.evidence = evidence
        self.counts = GroupCounts(names)
        self.counted = 0
        self.alerts = 0
        self.windows_judged = 0
        self.windows_above = 0
        self.in_alert = False
        self.looked = False  # whether a period has ended since the first trial
        self._newest = 0  # the latest window that was judged
        self.first_alert: Alert | None = None
        self.trajectory: list[TrajectoryPoint] = []
        self._stride = 1  # between points; it grows with the stream
        self.windows: deque[WindowStatus] = deque(maxlen=_WINDOWS_KEPT)

    def add(self, group: str, added: tuple[int, int]) -> int:
        """Count a trial; return the index of its group."""
        self.counted += 1
        return self.counts.add(group, added)

    @property
    def judged(self) -> bool:
        """Whether a window or period was ever over; else whether two groups could be compared."""
        if self.monitored.check == "end":
            return self.windows_judged > 0
        if self.monitored.check == "period":
            return self.looked
        return self.alerts > 0 or self.extremes(self.counts) is not None

    def extremes(self, counts: GroupCounts) -> Extremes | None:
        """Return the groups whose estimates are farthest apart; None if there are not two."""
        return extremes(*self.smoothed(counts), self.monitored.empty_group)

    def smoothed(self, counts: GroupCounts) -> tuple[Sequence[int], Sequence[int]]:
        """Return numerators and denominators, one a group, whose quotients are the estimates."""
        return self.beliefs.smoothed(counts, self.monitored.empty_group)

    def bias(self, counts: GroupCounts) -> Fraction:
        """Compute the bias without the prior belief; 0 if there is nothing to compare."""
        empty_group = self.monitored.empty_group
        return self._bias(extremes(counts.numerators, counts.denominators, empty_group))

    def estimate(self, counts: GroupCounts) -> Fraction:
        """Compute the bias by the estimates; 0 if there is nothing to compare."""
        return self._bias(self.extremes(counts))

    def _bias(self, pair: Extremes | None) -> Fraction:
        """Return the bias of the two groups that are farthest apart; 0 if there are none."""
        return Fraction(0) if pair is None else pair.bias(self.monitored.fairness.measure)

    def _judge(self, counts: GroupCounts) -> tuple[Extremes | None, bool]:
        """Return the groups that are farthest apart, and whether their bias is above the bound."""
        pair = self.extremes(counts)
        if pair is None:
            return None, False
        return pair, pair.above(self.monitored.bound, self.monitored.fairness.measure)

    def judge_estimate(self, time: float | None) -> list[Alert]:
        """Raise or clear an alert by the estimates so far."""
        pair, above = self._judge(self.counts)
        if above == self.in_alert:
            return []
        self.in_alert = above
        return [self._alert("raised" if above else "cleared", self.counts, pair, time)]

    def judge_evidence(self, index: int, time: float | None) -> list[Alert]:
        """Raise an alert if there is evidence, after a trial of the group `index` was counted."""
        assert self.evidence is not None
        pair = self.evidence.look(self.counts, index)
        if pair is None:
            return []
        self.in_alert = True
        interval = self.evidence.interval(self.counts, pair)
        ordered = self._ordered(pair)
        return [self._alert("raised", self.counts, ordered, time, interval=interval)]

    def judge_period(self, time: float) -> list[Alert]:
        """Raise or clear an alert at the end of a period, by evidence or by the estimates."""
        self.looked = True
        if self.evidence is None:
            return self.judge_estimate(time)
        alerts: list[Alert] = []
        for index, bottom in enumerate(self.counts.denominators):
            if bottom:
                alerts += self.judge_evidence(index, time)
        return alerts

    def judge_window(
        self, window: TumblingWindow, given: Values, time: float | None
    ) -> list[Alert]:
        """Raise an alert if a tumbling window is above the bound, at most one a window."""
        counts = window.counts[given]
        pair, above = self._judge(counts)
        # Labels may end an older window after a newer one.
        if window.number >= self._newest:
            self._newest = window.number
            self.in_alert = above
        if given in window.raised or not above:
            return []
        window.raised.add(given)
        return [self._alert("raised", counts, pair, time, window=window.number)]

    def close_window(self, window: int, counts: GroupCounts) -> None:
        """Keep the bias of a tumbling window that is over."""
        pair, above = self._judge(counts)
        self.windows_judged += 1
        self.windows_above += above
        self.windows.append(
            WindowStatus(window, counts.trials, self.bias(counts), self._bias(pair), above)
        )

    def record(self, time: float | None) -> None:
        """Keep a point of the trajectory, if one is due."""
        if self.counted % self._stride:
            return
        tops, bottoms = self.smoothed(self.counts)
        rates = tuple(
            top / bottom if bottom else None for top, bottom in zip(tops, bottoms, strict=True)
        )
        bias = float(self._bias(extremes(tops, bottoms, self.monitored.empty_group)))
        self.trajectory.append(TrajectoryPoint(self.counted, time, rates, bias))
        if len(self.trajectory) >= _MOST_POINTS:
            self._stride *= 2
            self.trajectory = [
                point for point in self.trajectory if point.trials % self._stride == 0
            ]

    def _ordered(self, pair: Pair) -> Extremes:
        """Return the two groups of a pair, the one with the higher rate first."""
        numerators, denominators = self.counts.numerators, self.counts.denominators
        first, second = pair
        if numerators[first] * denominators[second] < numerators[second] * denominators[first]:
            first, second = second, first
        rates = ((numerators[index], denominators[index]) for index in (first, second))
        return Extremes(first, second, *rates)

    def _alert(
        self,
        kind: Literal["raised", "cleared"],
        counts: GroupCounts,
        pair: Extremes | None,
        time: float | None,
        *,
        window: int | None = None,
        interval: tuple[float, float] | None = None,
    ) -> Alert:
        alert = Alert(
            kind=kind,
            property=self.monitored.name,
            rule=self.monitored.rule,
            conditions=self.conditions,
            window=window,
            trials=self.counted if window is None else counts.trials,
            time=time,
            bias=self._bias(pair),
            interval=interval,
            bound=self.monitored.bound,
            highest="" if pair is None else counts.names[pair.highest],
            lowest="" if pair is None else counts.names[pair.lowest],
            groups=self.groups(counts),
            monitor=self._monitor,
            fingerprint=self._fingerprint,
        ).with_id(self.alerts)
        if kind == "raised":
            self.alerts += 1
            self.first_alert = self.first_alert or alert
        return alert

    def groups(self, counts: GroupCounts) -> tuple[AlertedGroup, ...]:
        """Return the counters and the estimate of each group."""
        tops, bottoms = self.smoothed(counts)
        return tuple(
            AlertedGroup(
                name=name,
                numerator=counts.numerators[index],
                denominator=counts.denominators[index],
                estimate=Fraction(tops[index], bottoms[index]) if bottoms[index] else None,
            )
            for index, name in enumerate(counts.names)
        )

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        windows = [
            vars(window) | {"bias": str(window.bias), "estimate": str(window.estimate)}
            for window in self.windows
        ]
        return {
            "conditions": [list(pair) for pair in self.conditions],
            "counts": self.counts.to_state(),
            "newest": self._newest,
            **{name: getattr(self, name) for name in _COUNTED},
            "first_alert": None if self.first_alert is None else self.first_alert.to_dict(),
            "trajectory": [self._stride, [list(vars(point).values()) for point in self.trajectory]],
            "windows": windows,
            "looked": self.looked,
            "evidence": None if self.evidence is None else self.evidence.to_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        self.counts = GroupCounts.from_state(state["counts"])
        self._newest = state["newest"]
        first = state["first_alert"]
        self.looked = state.get("looked", False)  # former versions had no periods
        for name in _COUNTED:
            setattr(self, name, state[name])
        self.first_alert = None if first is None else Alert.from_dict(first)
        self._stride, points = state["trajectory"]
        for trials, time, estimates, bias in points:
            self.trajectory.append(TrajectoryPoint(trials, time, tuple(estimates), bias))
        for window in state["windows"]:
            self.windows.append(
                WindowStatus(
                    window=window["window"],
                    trials=window["trials"],
                    bias=Fraction(window["bias"]),
                    estimate=Fraction(window["estimate"]),
                    above=window["above"],
                )
            )
        if self.evidence is not None and state["evidence"] is not None:
            self.evidence.restore(state["evidence"])
