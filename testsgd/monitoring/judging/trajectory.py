"""How rates came to be what they are: some hundred moments of a stream, evenly spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Above that, every other point is left out.
_MOST = 512


@dataclass(frozen=True)
class TrajectoryPoint:
    """The estimates at one moment.

    Attributes
    ----------
    trials : int
        How many trials the comparison had counted.
    time : float or None
        In seconds.
    estimates : tuple of (float or None)
        The rate of each group that had come by then; None where it has none.
    bias : float
    """

    trials: int
    time: float | None
    estimates: tuple[float | None, ...]
    bias: float


class Trajectory:
    """Keeps points at equal distances, which grow with the stream.

    Attributes
    ----------
    points : list of TrajectoryPoint

    Examples
    --------
    >>> trajectory = Trajectory()
    >>> for trials in range(1, 3001):
    ...     if trajectory.wants(trials):
    ...         trajectory.add(TrajectoryPoint(trials, None, (0.5,), 0.0))
    >>> len(trajectory.points), [point.trials for point in trajectory.points[:3]]
    (375, [8, 16, 24])
    """

    __slots__ = ("_stride", "points")

    def __init__(self) -> None:
        self._stride = 1
        self.points: list[TrajectoryPoint] = []

    def wants(self, trials: int) -> bool:
        """Say whether a point belongs here."""
        return trials % self._stride == 0

    def add(self, point: TrajectoryPoint) -> None:
        """Keep a point."""
        self.points.append(point)
        if len(self.points) >= _MOST:
            self._stride *= 2
            self.points = [one for one in self.points if one.trials % self._stride == 0]

    def to_state(self) -> list[Any]:
        """Give the points, as JSON has them."""
        points = [[one.trials, one.time, list(one.estimates), one.bias] for one in self.points]
        return [self._stride, points]

    @classmethod
    def from_state(cls, state: list[Any]) -> Trajectory:
        """Make a trajectory of what :meth:`to_state` gave."""
        made = cls()
        made._stride = state[0]
        made.points = [
            TrajectoryPoint(trials, time, tuple(estimates), bias)
            for trials, time, estimates, bias in state[1]
        ]
        return made
