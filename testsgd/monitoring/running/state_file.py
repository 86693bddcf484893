"""A monitor's state as a file: JSON, versioned, written as a whole."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from testsgd._files import write_text
from testsgd.errors import ResultError, TestSGDError
from testsgd.monitoring.specification import MonitorSpecification

FORMAT = "testsgd.monitor-state/1"


def write_state(path: Path, specification: MonitorSpecification, state: dict[str, Any]) -> None:
    """Write a state, with the specification that it is of."""
    document = {
        "format": FORMAT,
        "digest": specification.digest(),
        "specification": specification.to_dict(),
        "checksum": _checksum(state),
        "state": state,
    }
    write_text(path, json.dumps(document, allow_nan=False) + "\n")


def read_state(
    path: Path, expected: MonitorSpecification | None
) -> tuple[MonitorSpecification, dict[str, Any]]:
    """Read a state.

    Parameters
    ----------
    path : pathlib.Path
    expected : MonitorSpecification or None
        What it must be of; None if anything will do.

    Returns
    -------
    specification : MonitorSpecification
    state : dict

    Raises
    ------
    ResultError
        If it is no such file, is damaged, or is of another version or specification.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unusable(path, f"the file is no state of a monitor ({error})") from error
    seen = document.get("format") if isinstance(document, dict) else None
    if seen != FORMAT:
        raise _unusable(path, f"the format is {seen!r}, not {FORMAT!r}", format=seen)
    try:
        specification = MonitorSpecification.from_dict(document["specification"])
        state, digest = document["state"], document["digest"]
    except (KeyError, TypeError, ValueError, TestSGDError) as error:
        raise damaged(path, error) from error
    if document.get("checksum") != _checksum(state):
        raise _unusable(path, "the file was changed after it was written")
    if expected is not None and expected.digest() != digest:
        raise _unusable(path, "the state is of another specification", digest=digest)
    return specification, state


def _checksum(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def damaged(path: Path, error: Exception) -> ResultError:
    """Make the error that says that what a file has cannot be."""
    return _unusable(path, f"the file is damaged ({type(error).__name__}: {error})")


def _unusable(path: Path, what: str, **details: Any) -> ResultError:
    return ResultError(
        what,
        where=str(path),
        remedy="give the file that this monitor wrote, or begin without one",
        **details,
    )
