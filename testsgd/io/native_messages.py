"""What libraries in machine code print of themselves, past Python's own streams."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator

_STANDARD_ERROR = 2


@contextlib.contextmanager
def without_native_messages() -> Iterator[None]:
    """Let go nowhere what is written to the standard error within the block, but for Python's own.

    For libraries that print when they are loaded, before they can be told not to. What Python
    prints meanwhile, as a line of progress from another thread, still gets there.

    Examples
    --------
    >>> import os
    >>> from testsgd.io import without_native_messages
    >>> with without_native_messages():
    ...     written = os.write(2, b"Could not find drivers")
    """
    try:
        kept = os.dup(_STANDARD_ERROR)
    except OSError:  # It is closed.
        yield
        return
    usual = sys.stderr
    with os.fdopen(kept, "w", encoding="utf-8", errors="replace", buffering=1) as beside:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            if _is_standard_error(usual):
                usual.flush()
                sys.stderr = beside
            os.dup2(nowhere, _STANDARD_ERROR)
            yield
        finally:
            beside.flush()
            os.dup2(kept, _STANDARD_ERROR)
            os.close(nowhere)
            if sys.stderr is beside:
                sys.stderr = usual


def _is_standard_error(stream: object) -> bool:
    """Return whether a stream writes to the process's standard error, not to a test's or a page."""
    try:
        return isinstance(stream, io.TextIOWrapper) and stream.fileno() == _STANDARD_ERROR
    except (OSError, ValueError):
        return False
