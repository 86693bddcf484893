"""How long a method has been running, and whether its time is up."""

from __future__ import annotations

import math
import time
from numbers import Real
from typing import Any

from testsgd.errors import ParameterError


class Deadline:
    """A stop watch with a limit.

    Parameters
    ----------
    limit : float or None
        Seconds from now; None: no limit.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(0.0).passed
    (False, True)
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._started

    @property
    def passed(self) -> bool:
        """True once the time is up."""
        return self.limit is not None and self.seconds >= self.limit


def check_time_limit(time_limit: Any) -> float | None:
    """Check the seconds that a method may take; None for as long as it takes.

    Raises
    ------
    ParameterError
        If it is no positive number.

    Examples
    --------
    >>> check_time_limit(600)
    600.0
    """
    if time_limit is None:
        return None
    if (
        isinstance(time_limit, bool)
        or not isinstance(time_limit, Real)
        or not math.isfinite(time_limit)
        or time_limit <= 0
    ):
        raise ParameterError(
            f"{time_limit!r} is not a positive number of seconds",
            where="time_limit",
            remedy="give seconds such as 600",
        )
    return float(time_limit)
