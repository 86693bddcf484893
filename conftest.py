"""What holds for all tests, those in the package's docstrings too."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let Ctrl-C be heard: a shell has it ignored by what it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
