"""Judges one property: counts its trials by comparison and window, and raises its alerts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from testsgd.monitoring.judging import windows
from testsgd.monitoring.judging.alert import Alert
from testsgd.monitoring.judging.beliefs import Beliefs
from testsgd.monitoring.judging.comparison import Comparison
from testsgd.monitoring.judging.evidence import PairEvidence, part_of
from testsgd.monitoring.judging.periods import Periods
from testsgd.monitoring.judging.windows import Counted, TumblingWindow, Values
from testsgd.monitoring.specification import (
    MonitoredProperty,
    MonitorSpecification,
    resolved_beliefs,
)
from testsgd.monitoring.trials import Step

# A field with endlessly many values would fill the memory.
MOST_COMPARISONS = 1000


class PropertyJudge:
    """A judge of one property: counts its trials in comparisons, and raises its alerts.

    Parameters
    ----------
    specification : MonitorSpecification
        The specification of the monitor.
    monitored : MonitoredProperty
        Which of its properties is judged.
    error : float
        Probability that any of the property's evidence is wrong, ever. Not used where estimates
        decide.

    Attributes
    ----------
    monitored : MonitoredProperty
        The property.
    comparisons : dict of tuple of str to Comparison
        By the values of the fields of its ``condition_on``, in the order in which these came.
    uncompared : int
        Trials that are in no comparison, because :data:`MOST_COMPARISONS` other combinations of
        values came before theirs.

    Examples
    --------
    >>> from testsgd.monitoring.trials import Trial
    >>> parity = {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}
    >>> specification = MonitorSpecification.from_dict({"properties": [parity]})
    >>> judge = PropertyJudge(specification, specification.monitored[0], error=0.01)
    >>> for number, (group, decision) in enumerate([("a", 1), ("b", 0)]):
    ...     trial = Trial(number, group, (), decision, time=None)
    ...     alerts = judge.take(Step("decided", trial, time=None), origin=None)
    >>> [(alert.kind, alert.highest, alert.lowest) for alert in alerts]
    [('raised', 'a', 'b')]
    >>> judge.comparisons[()].counted
    2
    """

    def __init__(
        self, specification: MonitorSpecification, monitored: MonitoredProperty, error: float
    ) -> None:
        self.monitored = monitored
        self._error = error
        self._tuned_for = specification.evidence.tuned_for
        self._names = specification.groups.names or ()
        self._monitor = specification.name
        self._fingerprint = specification.digest()
        belief, exceptions = resolved_beliefs(specification.estimate, monitored.estimate)
        self._believed = belief, exceptions
        self._prior_fields = specification.prior_fields
        self._prior_values: tuple[str | None, ...] = (None,) * len(self._prior_fields)
        self._unsettled = False  # whether estimates have changed and are not judged
        self._beliefs = Beliefs.of(belief, exceptions, {})
        self._given = tuple(map(specification.given_fields.index, monitored.condition_on))
        fairness = monitored.fairness
        window = specification.window
        self._labelled = fairness.labelled
        # [decision][label]
        increments = zip(fairness.numerator, fairness.denominator, strict=True)
        self._added = [list(zip(tops, bottoms, strict=True)) for tops, bottoms in increments]
        self._sliding: windows.SlidingWindow | None = None
        self._tumbling: windows.TumblingWindows | None = None
        if window.kind == "sliding":
            self._sliding = windows.SlidingWindow(window.trials, window.seconds)
        elif window.kind == "tumbling":
            self._tumbling = windows.TumblingWindows(window.trials, window.seconds)
        period = monitored.period
        self._periods = None if period is None else Periods(period)
        self.comparisons: dict[Values, Comparison] = {}
        self.uncompared = 0

    def take(self, step: Step, origin: float | None, watermark: float | None = None) -> list[Alert]:
        """Count a trial that was decided, completed or dropped; return the alerts.

        `origin`: when the stream began. `watermark`: no event will come from before it. A property
        without labels counts a trial when it is decided, one with labels when it is complete.
        """
        alerts: list[Alert] = []
        if self._periods is not None:
            # What was over before this trial is judged without it.
            known = [moment for moment in (step.time, watermark) if moment is not None]
            alerts = self._judge_periods(min(known, default=None), origin)
        self.believe(step.prior_values)
        return alerts + self._take(step, origin, watermark)

    def believe(self, prior_values: tuple[str | None, ...]) -> None:
        """Take up the last values of the fields that priors are of."""
        if prior_values == self._prior_values:
            return
        self._prior_values = prior_values
        values = {
            field: Fraction(value)
            for field, value in zip(self._prior_fields, prior_values, strict=True)
            if value is not None
        }
        beliefs = Beliefs.of(*self._believed, values)
        if beliefs == self._beliefs:
            return
        self._beliefs = beliefs
        self._unsettled = True
        for comparison in self.comparisons.values():
            comparison.beliefs = beliefs

    def settle(self, time: float | None) -> list[Alert]:
        """Judge all comparisons if priors have changed, where every trial is judged; return alerts.

        Windows and periods are judged when they are over, by what is believed then.
        """
        if not self._unsettled:
            return []
        self._unsettled = False
        alerts: list[Alert] = []
        if self._tumbling is None and self._periods is None:
            for comparison in self.comparisons.values():
                if comparison.evidence is None:
                    alerts += comparison.judge_estimate(time)
        return alerts

    def _take(self, step: Step, origin: float | None, watermark: float | None) -> list[Alert]:
        """Count a trial, once it is as far as the property needs it; return the alerts."""
        trial = step.trial
        time = step.time
        window: TumblingWindow | None = None
        if step.span != self.monitored.favourable_within:
            return []
        if not self._labelled and step.kind != "decided":
            return []
        if self._tumbling is not None:
            window = self._tumbling.of(trial.number, trial.time, origin)
            window.decided += step.kind == "decided"
        if self._labelled and step.kind == "decided":
            return []
        alerts: list[Alert] = []
        if step.kind != "dropped":
            alerts = self._count(step, window, watermark)
        if window is not None and self._tumbling is not None:
            window.complete += 1
            window.known = time
            if self._tumbling.take_if_over(window):
                alerts += self._close(window, time)
        return alerts

    def pass_time(self, time: float | None, origin: float | None) -> list[Alert]:
        """Let time pass; return the alerts of trials and windows that are over by it."""
        alerts: list[Alert] = []
        if self._periods is not None:
            alerts += self._judge_periods(time, origin)
            if self._sliding is not None:
                self._forget(time)
        elif self._sliding is not None:
            for comparison in self._forget(time):
                alerts += comparison.judge_estimate(time)
        elif self._tumbling is not None:
            for window, end in self._tumbling.passed(time, origin):
                alerts += self._close(window, end)
        return alerts

    def go_back(self, time: float | None, origin: float | None, earlier: int) -> None:
        """Go on at another moment; see :meth:`TumblingWindows.go_back`."""
        if time is None or origin is None:
            return
        if self._tumbling is not None:
            self._tumbling.go_back(time - origin, earlier)
        if self._periods is not None:
            self._periods.go_back(time - origin)

    def _judge_periods(self, time: float | None, origin: float | None) -> list[Alert]:
        """Judge all comparisons at the end of each period that is over by a time; return alerts.

        Periods in which nothing could have changed are left out, so a long silence costs nothing.
        """
        alerts: list[Alert] = []
        periods = self._periods
        if periods is None or time is None or origin is None:
            return alerts
        while (end := periods.next_end(time, origin)) is not None:
            if self._sliding is not None:
                self._forget(end)
            for comparison in self.comparisons.values():
                alerts += comparison.judge_period(end)
            change = None if self._sliding is None else self._sliding.next_end
            periods.skip(time, origin, change)
        return alerts

    def _count(
        self, step: Step, window: TumblingWindow | None, watermark: float | None
    ) -> list[Alert]:
        """Count a trial in its comparison and window; return the alerts that follow."""
        trial = step.trial
        time = step.time
        added = self._added[trial.decision][trial.label or 0]
        given = tuple(trial.conditions[index] for index in self._given)
        comparison = self._comparison(given)
        if comparison is None:
            self.uncompared += 1
            return []
        index = comparison.add(trial.group, added)
        if self._sliding is not None:
            self._sliding.push(Counted(given, trial.group, added, time))
            until = time if time is None or watermark is None else min(time, watermark)
            changed = dict.fromkeys((comparison, *self._forget(until)))
            comparison.record(time)
            if self._periods is not None:
                return []
            return [alert for judged in changed for alert in judged.judge_estimate(time)]
        comparison.record(time)
        if self._periods is not None:
            return []
        if window is not None:
            window.add(given, self._names, trial.group, added)
            every = self.monitored.check == "every"
            return comparison.judge_window(window, given, time) if every else []
        if comparison.evidence is not None:
            return comparison.judge_evidence(index, time)
        return comparison.judge_estimate(time)

    def _comparison(self, given: Values) -> Comparison | None:
        """Return the comparison within given values; None if it is new and one too many."""
        comparison = self.comparisons.get(given)
        if comparison is not None or len(self.comparisons) >= MOST_COMPARISONS:
            return comparison
        monitored = self.monitored
        evidence = None
        if monitored.rule == "evidence":
            evidence = PairEvidence(
                error=part_of(self._error, len(self.comparisons)) if given else self._error,
                groups=len(self._names) or None,
                bound=monitored.bound,
                measure=monitored.fairness.measure,
                tuned_for=self._tuned_for,
            )
        pairs = tuple(zip(monitored.condition_on, given, strict=True))
        comparison = Comparison(
            monitored=monitored,
            conditions=pairs,
            names=self._names,
            beliefs=self._beliefs,
            evidence=evidence,
            monitor=self._monitor,
            fingerprint=self._fingerprint,
        )
        self.comparisons[given] = comparison
        return comparison

    def _forget(self, time: float | None) -> list[Comparison]:
        """Take back what has left the sliding window; return the comparisons that changed."""
        assert self._sliding is not None
        changed: dict[Comparison, None] = {}
        for counted in self._sliding.expired(time):
            comparison = self.comparisons[counted.conditions]
            comparison.counts.remove(counted.group, counted.added)
            changed[comparison] = None
        return list(changed)

    def _close(self, window: TumblingWindow, time: float | None) -> list[Alert]:
        """Judge a tumbling window that is over, in every comparison; return the alerts."""
        alerts: list[Alert] = []
        for given, counts in window.counts.items():
            alerts += self.comparisons[given].judge_window(window, given, time)
            self.comparisons[given].close_window(window.number, counts)
        return alerts

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        window = self._sliding or self._tumbling
        kept = [[list(given), judged.to_state()] for given, judged in self.comparisons.items()]
        state = {"comparisons": kept, "uncompared": self.uncompared}
        if self._periods is not None:
            state["periods"] = self._periods.over
        return state | {"window": None if window is None else window.to_state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        for given, kept in state["comparisons"]:
            comparison = self._comparison(tuple(given))
            assert comparison is not None
            comparison.restore(kept)
        self.uncompared = state["uncompared"]
        if self._periods is not None:
            self._periods.over = state["periods"]
        window = self._sliding or self._tumbling
        if window is not None:
            window.restore(state["window"])
