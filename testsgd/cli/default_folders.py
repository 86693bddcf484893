"""Where a command writes to by default: never onto files that a repository tracks."""

from __future__ import annotations

import subprocess
from pathlib import Path

# Takes the place of a folder whose files are tracked; testsgd's own repository ignores it.
_UNTRACKED = "output"
# Seconds that git may take.
_PATIENCE = 10


def default_folder(parent: str, name: str) -> Path:
    """Return the folder that a command writes to by default.

    Parameters
    ----------
    parent : str
        ``"reports"`` or ``"models"``.
    name : str
        What the folder is of.

    Returns
    -------
    pathlib.Path
        ``parent/name``, or ``output/parent/name`` where git tracks a file of the former: a
        published report is replaced only by who names its folder.
    """
    folder = Path(parent) / name
    return Path(_UNTRACKED) / folder if _is_tracked(folder) else folder


def _is_tracked(folder: Path) -> bool:
    """Return whether git tracks a file in a folder; False where there is no git."""
    if not folder.is_dir():
        return False
    command = ["git", "ls-files", "--", str(folder)]
    try:
        listed = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return bool(listed.stdout.strip())
