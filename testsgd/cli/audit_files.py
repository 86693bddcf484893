"""The files of an audit, which take the place of another audit's of the same data."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.io import (
    check_replaceable,
    kind_of_file,
    loads_json,
    read_text,
    remove_file,
    replacing_any_file,
)

if TYPE_CHECKING:
    from testsgd.auditing import AuditResult
    from testsgd.metrics import MetricsResult

_RESULT = "result.json"
# What one command writes: an audit of one rate, or one of metrics.
_AUDITS = ("testsgd.audit", "testsgd.metrics")
# Views of an audit, by their names.
_VIEWS = {
    "report.html": "report .html",
    "report.md": "report .md",
    "groups.csv": "table of groups",
    "groups.parquet": "table of groups",
}


def write_audit(
    result: AuditResult | MetricsResult, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Return the files written of an audit; no file of another kind of audit stays beside them.

    An audit of metrics takes the place of an audit of one rate if both are of the same data, and
    the other way round.

    Parameters
    ----------
    result : AuditResult or MetricsResult
        What is written.
    folder : pathlib.Path
        Where to.
    formats : sequence of str
        Which views.

    Returns
    -------
    list of pathlib.Path

    Raises
    ------
    ConfigurationError
        If a file is there that is not to be replaced.
    """
    earlier = folder / _RESULT
    present = kind_of_file(earlier) if earlier.is_file() else None
    own = result.document.name.partition("/")[0]
    if present not in _AUDITS or present == own:
        return result.write(folder, formats)
    is_replaced = _name_of_data(earlier) == result.summary.data.name
    if is_replaced:
        for exporter in result.exporters.values():
            check_replaceable(folder / exporter.file)
    else:
        check_replaceable(earlier, kind=own)
    with replacing_any_file() if is_replaced else nullcontext():
        written = result.write(folder, formats)
    for name, kind in {_RESULT: present, **_VIEWS}.items():
        if folder / name not in written:
            remove_file(folder / name, kind=kind)
    return written


def _name_of_data(path: Path) -> str | None:
    """Return what the data of a saved audit are called; None if it is damaged."""
    try:
        name = loads_json(read_text(path))["data"]["name"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return str(name)
