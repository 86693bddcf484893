"""How long a method has been running, and whether its time is up."""

from __future__ import annotations

import time


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
