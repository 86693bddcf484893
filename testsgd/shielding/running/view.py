"""What can be read off a shield while it runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from testsgd.fairness import bias
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running.counters import Tally
from testsgd.shielding.running.period_log import PeriodLog
from testsgd.shielding.running.period_policy import PeriodPolicy
from testsgd.shielding.running.periods import PeriodReport
from testsgd.shielding.running.state import ShieldState
from testsgd.shielding.specification import ShieldSpecification


class ShieldView:
    """The readable side of a `Shield`, which makes and changes what is read here."""

    __slots__ = ("_horizon", "_log", "_policy", "_state", "inputs", "specification")

    specification: ShieldSpecification
    inputs: InputDistribution
    _horizon: int
    _log: PeriodLog
    _policy: PeriodPolicy
    _state: ShieldState

    @property
    def pending(self) -> bool:
        """Whether the last decision waits for its label."""
        return self._state.waiting is not None

    @property
    def last_event(self) -> str | None:
        """Id of the last decision, None if it had none."""
        return self._state.last_event

    @property
    def step(self) -> int:
        """Decisions of this period."""
        return self._state.step

    @property
    def period(self) -> int:
        """Number of the period, from 0; a new one starts with its first decision."""
        return self._state.period

    @property
    def counts(self) -> tuple[Tally, ...]:
        """How often each kind of event happened in this period, a tuple a group."""
        return self._state.layout.by_group(self._state.counts)

    @property
    def bias(self) -> Fraction:
        """Bias of the whole run; a decision that waits counts as if its label were 0."""
        return self._bias(self._state.whole_run)

    @property
    def period_bias(self) -> Fraction:
        """Bias of this period alone."""
        return self._bias(self._state.counts)

    @property
    def interventions(self) -> int:
        """Recommendations of the whole run that were changed."""
        return self._state.interventions

    @property
    def total_cost(self) -> float:
        """Cost of these changes."""
        return self._state.total_cost

    @property
    def unknown(self) -> int:
        """Events of unknown groups, which were passed through."""
        return self._state.unknown

    @property
    def active(self) -> bool:
        """Whether a shield exists for this period; otherwise recommendations pass."""
        return self._policy.active

    @property
    def promised(self) -> Fraction | None:
        """The bound that is promised for this period; None: no shield exists for it."""
        return self._policy.threshold

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to decide."""
        state, most = self._state, self._policy.most_periods
        return state.step == self._horizon and most is not None and state.period + 1 >= most

    @property
    def expected_cost(self) -> float | None:
        """Expected cost of the changes left in this period; None if it is not at its start."""
        return self._policy.expected_cost if self._state.step == 0 else None

    @property
    def period_reports(self) -> tuple[PeriodReport, ...]:
        """What is to be said of the finished periods."""
        return self._log.reports()

    def to_dict(self) -> dict[str, Any]:
        """Give the state as JSON has it; a bias as text, because it is exact."""
        return self._state.to_dict() | {
            "active": self.active,
            "promised": None if self.promised is None else str(self.promised),
            "ended": self.ended,
            "bias": str(self.bias),
            "period_bias": str(self.period_bias),
            "period_reports": [report.to_dict() for report in self._log.reports()],
        }

    def _bias(self, tally: Tally) -> Fraction:
        layout = self._state.layout
        return bias(
            layout.numerators(tally),
            layout.denominators(tally),
            measure=self.specification.fairness_property.measure,
            empty_group=self.specification.fairness.empty_group,
        )
