"""Summaries without what differs between equal runs.

What that is, is marked where it is declared: fields of a summary by
:data:`testsgd.report.summaries.OF_ONE_RUN`. Two things are left out by their name besides: the
number of processors, and the version of numba, which only makes some computations faster.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from pydantic import BaseModel

from testsgd.report.summaries import OF_ONE_RUN

Summary = TypeVar("Summary", bound=BaseModel)

_PROCESSORS = "jobs"
_VERSIONS = "versions"
_ONLY_FASTER = "numba"


def without_run(summary: Summary) -> Summary:
    """Return a summary with None, or nothing in a list, in place of what is of one run.

    Parameters
    ----------
    summary : Summary
        A summary of any kind, or a part of one.

    Returns
    -------
    Summary
        Equal for equal runs.
    """
    common: dict[str, Any] = {}
    for name, field in type(summary).model_fields.items():
        value = getattr(summary, name)
        if OF_ONE_RUN in field.metadata:
            common[name] = type(value)() if isinstance(value, dict | list | tuple) else None
        elif name == _VERSIONS:
            common[name] = {key: text for key, text in value.items() if key != _ONLY_FASTER}
        else:
            common[name] = _without_run(value)
    return summary.model_copy(update=common)


def _without_run(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return without_run(value)
    if isinstance(value, list):
        return [_without_run(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_run(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and hasattr(value, _PROCESSORS):
        return dataclasses.replace(value, **{_PROCESSORS: None})  # type: ignore[type-var]
    return value
