"""Whether something can be written, asked before all the work."""

from __future__ import annotations

import os
from pathlib import Path

from testsgd.errors import ConfigurationError


def check_writable(folder: Path) -> None:
    """Raise a :class:`ConfigurationError` if nothing could be written into a folder."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ConfigurationError(
            "cannot write there",
            where=str(folder),
            remedy="choose a folder that can be written to",
        )
