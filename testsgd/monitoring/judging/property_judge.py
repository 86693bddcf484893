"""Judges one property: counts trials where they belong, and says when the bias is too large."""

from __future__ import annotations

from typing import Any

from testsgd.monitoring.judging import windows
from testsgd.monitoring.judging.alert import Alert
from testsgd.monitoring.judging.comparison import Comparison
from testsgd.monitoring.judging.evidence import PairEvidence, part_of
from testsgd.monitoring.judging.rates import Prior
from testsgd.monitoring.judging.windows import Counted, TumblingWindow, Values
from testsgd.monitoring.specification import MonitoredProperty, MonitorSpecification
from testsgd.monitoring.trials import Step

# A field with endlessly many values would fill the memory.
MOST_COMPARISONS = 1000


class PropertyJudge:
    """Counts and judges the trials of one property.

    `error`: probability that any of its evidence is wrong, ever. `comparisons`: by the values of
    its fields, as they came; `uncompared`: trials with further values, when there are too many.
    """

    def __init__(
        self, specification: MonitorSpecification, monitored: MonitoredProperty, error: float
    ) -> None:
        self.monitored, self._error = monitored, error
        self._tuned_for = specification.evidence.tuned_for
        self._names = specification.groups.names or ()
        self._source = {"monitor": specification.name, "fingerprint": specification.digest()}
        self._prior = Prior(specification.estimate.prior, specification.estimate.strength)
        self._given = tuple(map(specification.given_fields.index, monitored.condition_on))
        fairness, window = monitored.fairness, specification.window
        self._labelled = fairness.labelled
        # [decision][label]
        increments = zip(fairness.numerator, fairness.denominator, strict=True)
        self._added = [list(zip(tops, bottoms, strict=True)) for tops, bottoms in increments]
        length = window.trials, window.seconds
        self._sliding = windows.SlidingWindow(*length) if window.kind == "sliding" else None
        self._tumbling = windows.TumblingWindows(*length) if window.kind == "tumbling" else None
        self.comparisons: dict[Values, Comparison] = {}
        self.uncompared = 0

    def take(self, step: Step, origin: float | None, now: float | None = None) -> list[Alert]:
        """Take what became of a trial; no event will come from before the watermark `now`."""
        trial, time, window = step.trial, step.time, None
        if not self._labelled and step.kind != "decided":
            return []
        if self._tumbling is not None:
            window = self._tumbling.of(trial.number, trial.time, origin)
            window.decided += step.kind == "decided"
        if self._labelled and step.kind == "decided":
            return []
        alerts: list[Alert] = []
        if step.kind != "dropped":
            alerts = self._count(step, window, now)
        if window is not None and self._tumbling is not None:
            window.complete += 1
            window.known = time
            if self._tumbling.take_if_over(window):
                alerts += self._close(window, time)
        return alerts

    def pass_time(self, time: float | None, origin: float | None) -> list[Alert]:
        """Take note that time has passed; `origin` is when the stream began."""
        alerts: list[Alert] = []
        if self._sliding is not None:
            for comparison in self._forget(time):
                alerts += comparison.judge_estimate(time)
        elif self._tumbling is not None:
            for window, end in self._tumbling.passed(time, origin):
                alerts += self._close(window, end)
        return alerts

    def go_back(self, time: float | None, origin: float | None, earlier: int) -> None:
        """Take note that time goes on at another moment; see :class:`TumblingWindows`."""
        if self._tumbling is not None and time is not None and origin is not None:
            self._tumbling.go_back(time - origin, earlier)

    def _count(self, step: Step, window: TumblingWindow | None, now: float | None) -> list[Alert]:
        trial, time = step.trial, step.time
        added = self._added[trial.decision][trial.label or 0]
        given = tuple(trial.conditions[index] for index in self._given)
        comparison = self._comparison(given)
        if comparison is None:
            self.uncompared += 1
            return []
        index = comparison.add(trial.group, added)
        if self._sliding is not None:
            self._sliding.push(Counted(given, trial.group, added, time))
            reached = time if time is None or now is None else min(time, now)
            touched = dict.fromkeys((comparison, *self._forget(reached)))
            comparison.record(time)
            return [alert for item in touched for alert in item.judge_estimate(time)]
        comparison.record(time)
        if window is not None:
            window.add(given, self._names, trial.group, added)
            every = self.monitored.check == "every"
            return comparison.judge_window(window, given, time) if every else []
        if comparison.evidence is not None:
            return comparison.judge_evidence(index, time)
        return comparison.judge_estimate(time)

    def _comparison(self, given: Values) -> Comparison | None:
        """Return the comparison within some values, None if there are too many already."""
        comparison = self.comparisons.get(given)
        if comparison is not None or len(self.comparisons) >= MOST_COMPARISONS:
            return comparison
        monitored, evidence = self.monitored, None
        if monitored.rule == "evidence":
            error = part_of(self._error, len(self.comparisons)) if given else self._error
            groups, measure = len(self._names) or None, monitored.fairness.measure
            evidence = PairEvidence(error, groups, monitored.bound, measure, self._tuned_for)
        pairs = tuple(zip(monitored.condition_on, given, strict=True))
        comparison = Comparison(monitored, pairs, self._names, self._prior, evidence, self._source)
        self.comparisons[given] = comparison
        return comparison

    def _forget(self, time: float | None) -> list[Comparison]:
        """Take back what has left the sliding window; return the comparisons that changed."""
        assert self._sliding is not None
        touched: dict[Comparison, None] = {}
        for counted in self._sliding.expired(time):
            comparison = self.comparisons[counted.conditions]
            comparison.counts.remove(counted.group, counted.added)
            touched[comparison] = None
        return list(touched)

    def _close(self, window: TumblingWindow, time: float | None) -> list[Alert]:
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
        return state | {"window": None if window is None else window.to_state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        for given, kept in state["comparisons"]:
            comparison = self._comparison(tuple(given))
            assert comparison is not None
            comparison.restore(kept)
        self.uncompared = state["uncompared"]
        window = self._sliding or self._tumbling
        if window is not None:
            window.restore(state["window"])
