"""How a stream stands: what a monitor has counted, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from testsgd.monitoring.judging import Alert, Given, TrajectoryPoint, WindowStatus
from testsgd.monitoring.specification import MonitoredProperty
from testsgd.monitoring.trials import Unit

Standing = Literal["beyond", "within", "undecided"]


@dataclass(frozen=True)
class GroupStatus:
    """A group in a comparison.

    Attributes
    ----------
    name : str
    numerator, denominator : int
        What was counted; in the sliding window, if there is one.
    estimate : fractions.Fraction or None
        Of its rate, with the prior belief; None if there is none.
    interval : tuple of float, or None
        Of its rate, by evidence; holds at all times with the confidence, for this group alone.
        None where estimates decide.
    """

    name: str
    numerator: int
    denominator: int
    estimate: Fraction | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class ComparisonStatus:
    """A property within one combination of given values.

    Attributes
    ----------
    property : MonitoredProperty
    given : tuple of (str, str)
    groups : tuple of GroupStatus
        In the order in which they came, or of the specification.
    trials : int
        That were counted, ever.
    bias, estimate : fractions.Fraction
        Without and with the prior belief; 0 if there is nothing to compare.
    interval : tuple of float, or None
        Of the bias, by evidence; it holds together with those of all other comparisons.
    standing : {"beyond", "within", "undecided"}
        By evidence: the bias is proved to be above the threshold, or at most it, or neither. By
        estimates: in alert, not in alert, or nothing to compare so far.
    alerts : int
        That were raised, ever.
    in_alert : bool
    first_alert : Alert or None
    trajectory : tuple of TrajectoryPoint
        A few hundred moments.
    windows : tuple of WindowStatus
        The last thousand tumbling windows that were judged.
    windows_judged, windows_above : int
        All of them, and those above the threshold.
    """

    property: MonitoredProperty
    given: Given
    groups: tuple[GroupStatus, ...]
    trials: int
    bias: Fraction
    estimate: Fraction
    interval: tuple[float, float] | None
    standing: Standing
    alerts: int
    in_alert: bool
    first_alert: Alert | None
    trajectory: tuple[TrajectoryPoint, ...]
    windows: tuple[WindowStatus, ...]
    windows_judged: int
    windows_above: int


@dataclass(frozen=True)
class MonitorStatus:
    """How the whole stream stands.

    Attributes
    ----------
    events : int
        That were taken; those refused are not among them.
    ignored, repeated, unknown, late : int
        Events that play no part, that say what was known, decisions on unknown groups, and what
        came after a deadline.
    decided, dropped, open : int
        Trials with a decision, ended by a deadline without a result, and not complete.
    uncompared : int
        Trials with given values beyond the thousandth combination.
    dead_unit, dead_ahead, dead_late, dead_wrong : int
        Events that were not counted because of their time: in another unit, too far ahead, too
        late; and those that did not fit when others had confirmed their time.
    waiting : int
        Events that wait for others to confirm their time; not among the `events`.
    unit : str or None
        Of time: as declared, or as the first events show it. None if no time is needed, or none
        came.
    first_time, time : float or None
        Of the first event, and now.
    comparisons : tuple of ComparisonStatus
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
    first_time: float | None
    time: float | None
    comparisons: tuple[ComparisonStatus, ...]
    dead_unit: int = 0
    dead_ahead: int = 0
    dead_late: int = 0
    dead_wrong: int = 0
    waiting: int = 0
    unit: Unit | None = None

    @property
    def dead_letters(self) -> int:
        """Events that were not counted because of their time."""
        return self.dead_unit + self.dead_ahead + self.dead_late + self.dead_wrong

    @property
    def alerts(self) -> int:
        """Alerts that were raised, ever."""
        return sum(one.alerts for one in self.comparisons)

    @property
    def windows_judged(self) -> int:
        """Tumbling windows that were judged, over all comparisons."""
        return sum(one.windows_judged for one in self.comparisons)

    @property
    def standing(self) -> Standing:
        """Of everything: "beyond" if an alert was ever raised, "within" if nothing is open."""
        if self.alerts:
            return "beyond"
        if self.comparisons and all(one.standing == "within" for one in self.comparisons):
            return "within"
        return "undecided"
