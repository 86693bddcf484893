"""An alert: groups are treated differently, or no longer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

Given = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Alert:
    """What a monitor says when the bias passes the threshold.

    Attributes
    ----------
    kind : {"raised", "cleared"}
        What evidence has raised is never cleared: it is evidence about the whole stream.
    property : str
        Which of the specification's properties.
    rule : {"estimate", "evidence"}
    given : tuple of (str, str)
        Fields and values within which the groups are compared.
    window : int or None
        Number of the tumbling window, from 0.
    trials : int
        How many trials this comparison has counted so far; in the tumbling window, if there is
        one.
    time : float or None
        When it happened, in seconds.
    bias : fractions.Fraction
        By the estimates of the rates.
    interval : tuple of float, or None
        By evidence, of the two groups.
    threshold : fractions.Fraction
    highest, lowest : str
        The groups with the highest and the lowest rate, or that evidence tells apart.
    """

    kind: Literal["raised", "cleared"]
    property: str
    rule: Literal["estimate", "evidence"]
    given: Given
    window: int | None
    trials: int
    time: float | None
    bias: Fraction
    interval: tuple[float, float] | None
    threshold: Fraction
    highest: str
    lowest: str

    def to_dict(self) -> dict[str, Any]:
        """Give the parts as JSON has them; a bias also as text, because it is exact.

        Examples
        --------
        >>> alert = Alert("raised", "demographic_parity", "estimate", (), None, 20, None,
        ...               Fraction(1, 5), None, Fraction(1, 10), "a", "b")
        >>> alert.to_dict()["alert"], alert.to_dict()["bias"], alert.to_dict()["bias_exact"]
        ('raised', 0.2, '1/5')
        """
        return {
            "alert": self.kind,
            "property": self.property,
            "rule": self.rule,
            "given": dict(self.given),
            "window": self.window,
            "trials": self.trials,
            "time": self.time,
            "bias": float(self.bias),
            "bias_exact": str(self.bias),
            "interval": None if self.interval is None else list(self.interval),
            "threshold": float(self.threshold),
            "threshold_exact": str(self.threshold),
            "highest": self.highest,
            "lowest": self.lowest,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Alert:
        """Make an alert of what :meth:`to_dict` gave."""
        interval = values["interval"]
        return cls(
            values["alert"],
            values["property"],
            values["rule"],
            tuple(values["given"].items()),
            values["window"],
            values["trials"],
            values["time"],
            Fraction(values["bias_exact"]),
            None if interval is None else (interval[0], interval[1]),
            Fraction(values["threshold_exact"]),
            values["highest"],
            values["lowest"],
        )
