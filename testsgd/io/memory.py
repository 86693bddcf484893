"""How much memory this process takes, from which its peak is predicted."""

from __future__ import annotations

import os
import sys

from testsgd.io.reading import read_bytes

# Of an interpreter with numpy and pandas, where the system does not say it.
_USUAL = 140 * 10**6
_PAGES = "/proc/self/statm"


def process_memory() -> int:
    """Return how many bytes of the machine's memory this process takes now.

    Returns
    -------
    int
        Where the system does not say it, the most that it has taken, or a usual amount.

    Examples
    --------
    >>> from testsgd.io import process_memory
    >>> process_memory() > 10**6
    True
    """
    try:
        resident_pages = int(read_bytes(_PAGES).split()[1])
    except (OSError, ValueError, IndexError):
        return _most_so_far()
    return resident_pages * os.sysconf("SC_PAGE_SIZE")


def _most_so_far() -> int:
    try:
        import resource
    except ImportError:  # pragma: no cover  (Windows)
        return _USUAL
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # In bytes on macOS, in kibibytes elsewhere.
    return most if sys.platform == "darwin" else most * 1024
