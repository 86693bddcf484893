"""Finished periods: noted at once, summed up when somebody asks."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from testsgd.fairness import bias
from testsgd.shielding.requirement import Requirement
from testsgd.shielding.running.assumptions import assumption_held
from testsgd.shielding.running.counters import CounterLayout, Tally, added
from testsgd.shielding.running.period_policy import PeriodPolicy
from testsgd.shielding.running.periods import PeriodReport
from testsgd.shielding.running.state import ShieldState
from testsgd.shielding.specification import ShieldSpecification


class _Closed(NamedTuple):
    """What a period's report is made of."""

    period: int
    events: int
    counts: Tally
    past: Tally
    interventions: int
    cost: float
    threshold: Fraction | None
    assumption: Requirement | None


class PeriodLog:
    """The finished periods of a run, in their order.

    A report takes longer than ten decisions, and the last decision of a period must not wait for
    it. So its end notes the counters only, and the report is made once, when it is read.

    Parameters
    ----------
    specification : ShieldSpecification
    layout : CounterLayout

    Examples
    --------
    >>> from testsgd.shielding import Shield
    >>> shield = Shield.synthesize(ShieldSpecification.from_dict({
    ...     "name": "loans", "fairness": {"property": "demographic_parity", "threshold": "1/10"},
    ...     "groups": {"names": ["a", "b"]}, "horizon": {"length": 2, "after": "next"}}))
    >>> log = PeriodLog(shield.specification, shield._state.layout)
    >>> decisions = [shield.decide(group, 1) for group in "ab"]
    >>> log.close(shield._state, shield._policy)
    >>> [report.events for report in log.reports()]
    [2]
    """

    __slots__ = ("_closed", "_layout", "_reports", "_specification")

    def __init__(self, specification: ShieldSpecification, layout: CounterLayout) -> None:
        self._specification = specification
        self._layout = layout
        self._closed: list[_Closed] = []
        self._reports: list[PeriodReport] = []

    def close(self, state: ShieldState, policy: PeriodPolicy) -> None:
        """Note the period that ends in a state, and that a policy was in force for."""
        self._closed.append(
            _Closed(
                state.period,
                state.step,
                state.counts,
                state.past,
                state.period_interventions,
                state.period_cost,
                policy.threshold,
                policy.assumption,
            )
        )

    def reports(self) -> tuple[PeriodReport, ...]:
        """Give the reports of all finished periods."""
        if self._closed:
            self._reports += map(self._report, self._closed)
            self._closed.clear()
        return tuple(self._reports)

    def _report(self, closed: _Closed) -> PeriodReport:
        specification, layout = self._specification, self._layout
        fairness, empty_group = specification.fairness_property, specification.fairness.empty_group
        run, promised = added(closed.past, closed.counts), closed.threshold
        own, so_far = (
            bias(
                layout.numerators(tally),
                layout.denominators(tally),
                measure=fairness.measure,
                empty_group=empty_group,
            )
            for tally in (closed.counts, run)
        )
        held = assumption_held(
            specification.horizon.shield,
            closed.assumption,
            layout.numerators(closed.counts),
            layout.denominators(closed.counts),
        )
        return PeriodReport(
            period=closed.period,
            events=closed.events,
            counts=layout.by_group(closed.counts),
            bias=own,
            bias_so_far=so_far,
            fair_so_far=so_far <= specification.threshold,
            # Without a shield for the bound, after an unfair history, it was not promised either.
            assumption_held=held if held is None else held and promised == specification.threshold,
            active=promised is not None,
            threshold=promised,
            interventions=closed.interventions,
            cost=closed.cost,
        )
