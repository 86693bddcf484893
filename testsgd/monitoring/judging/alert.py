"""An alert: groups are treated differently, or no longer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from testsgd.monitoring.trials import iso_text

Given = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AlertedGroup:
    """The counters and the estimated rate of a group when an alert was raised or cleared.

    Examples
    --------
    >>> from fractions import Fraction
    >>> group = AlertedGroup("female", numerator=3, denominator=4, estimate=Fraction(3, 4))
    >>> group.rate, group.to_dict()["estimate_exact"]
    (Fraction(3, 4), '3/4')
    """

    name: str
    # What was counted; in the window, if there is one.
    numerator: int
    denominator: int
    estimate: Fraction | None  # Of its rate, with the prior belief; None if there is none.

    @property
    def rate(self) -> Fraction | None:
        """The rate as observed, numerator over denominator; None if the denominator is 0."""
        return Fraction(self.numerator, self.denominator) if self.denominator else None

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as JSON has them."""
        rate = self.rate
        estimate = self.estimate
        return {
            "group": self.name,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "rate": None if rate is None else float(rate),
            "estimate": None if estimate is None else float(estimate),
            "estimate_exact": None if estimate is None else str(estimate),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> AlertedGroup:
        """Return the group that :meth:`to_dict` wrote."""
        exact = values["estimate_exact"]
        estimate = None if exact is None else Fraction(exact)
        return cls(values["group"], values["numerator"], values["denominator"], estimate)


@dataclass(frozen=True)
class Alert:
    """A notice that the bias of a comparison passed its bound, or is at most the bound again.

    :meth:`testsgd.monitoring.Monitor.observe` and its like return alerts. An alert is frozen, and
    goes to JSON and back with :meth:`to_dict` and :meth:`from_dict`.

    Examples
    --------
    >>> import testsgd
    >>> monitor = testsgd.load_monitor({
    ...     "properties": [
    ...         {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}]})
    >>> monitor.observe({"group": "a", "decision": 1})
    ()
    >>> (alert,) = monitor.observe({"group": "b", "decision": 0})
    >>> alert.kind, alert.highest, alert.lowest, alert.bias
    ('raised', 'a', 'b', Fraction(1, 1))
    >>> Alert.from_dict(alert.to_dict()) == alert
    True
    """

    # What evidence has raised is never cleared: it is evidence about the whole stream.
    kind: Literal["raised", "cleared"]
    property: str  # Which of the specification's properties.
    rule: Literal["estimate", "evidence"]
    conditions: Given  # Fields and values within which the groups are compared.
    window: int | None  # Number of the tumbling window, from 0.
    # How many trials this comparison has counted so far; in the tumbling window, if there is one.
    trials: int
    time: float | None  # When it happened, in seconds.
    bias: Fraction  # By the estimates of the rates.
    interval: tuple[float, float] | None  # By evidence, of the two groups.
    bound: Fraction
    # The groups with the highest and the lowest rate, or that evidence tells apart.
    highest: str
    lowest: str
    groups: tuple[AlertedGroup, ...] = ()  # All groups that were compared.
    # The monitor's name, and the sha256 of its specification.
    monitor: str = ""
    fingerprint: str = ""
    # Of this alert. The same monitor gives it the same one when it sees the same events again.
    id: str = ""

    def iso_time(self) -> str | None:
        """Return the time in ISO 8601, UTC; None if it is of the stream's own clock."""
        return iso_text(self.time)

    def with_id(self, number: int) -> Alert:
        """Return the same alert with an id, a hash of its parts and of how many came before it."""
        # The ends of an interval are rounded in another way on another machine.
        parts = self.to_dict() | {"id": "", "interval": None}
        text = json.dumps([parts, number], sort_keys=True)
        return replace(self, id=hashlib.sha256(text.encode()).hexdigest()[:32])

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as JSON has them; a bias also as text, because it is exact."""
        return {
            "alert": self.kind,
            "id": self.id,
            "monitor": self.monitor,
            "fingerprint": self.fingerprint,
            "property": self.property,
            "rule": self.rule,
            "conditions": dict(self.conditions),
            "window": self.window,
            "trials": self.trials,
            "time": self.time,
            "time_iso": self.iso_time(),
            "bias": float(self.bias),
            "bias_exact": str(self.bias),
            "interval": None if self.interval is None else list(self.interval),
            "bound": float(self.bound),
            "bound_exact": str(self.bound),
            "highest": self.highest,
            "lowest": self.lowest,
            "groups": [group.to_dict() for group in self.groups],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Alert:
        """Return the alert that :meth:`to_dict` wrote, in this or in a former version."""
        interval = values["interval"]
        return cls(
            kind=values["alert"],
            property=values["property"],
            rule=values["rule"],
            conditions=tuple(values["conditions"].items()),
            window=values["window"],
            trials=values["trials"],
            time=values["time"],
            bias=Fraction(values["bias_exact"]),
            interval=None if interval is None else (interval[0], interval[1]),
            bound=Fraction(values["bound_exact"]),
            highest=values["highest"],
            lowest=values["lowest"],
            groups=tuple(map(AlertedGroup.from_dict, values.get("groups", ()))),
            monitor=values.get("monitor", ""),
            fingerprint=values.get("fingerprint", ""),
            id=values.get("id", ""),
        )
