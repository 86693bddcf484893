"""Reading back a result whose kind is not known beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.errors import ResultError
from testsgd.reporting import (
    AUDIT_DOCUMENT,
    CERTIFICATION_DOCUMENT,
    COMPARISON_DOCUMENT,
    MITIGATION_DOCUMENT,
    MONITORING_DOCUMENT,
    SHIELD_DOCUMENT,
    SIMULATION_DOCUMENT,
    DocumentKind,
)
from testsgd.results.audit_result import AuditResult
from testsgd.results.certification_result import CertificationResult
from testsgd.results.comparison_result import ComparisonResult
from testsgd.results.files import read_source
from testsgd.results.mitigation_result import MitigationResult
from testsgd.results.monitor_result import MonitorResult
from testsgd.results.shield_result import ShieldResult, SimulationResult

AnyResult: TypeAlias = (
    AuditResult
    | CertificationResult
    | ComparisonResult
    | MitigationResult
    | MonitorResult
    | ShieldResult
    | SimulationResult
)

_KINDS: tuple[tuple[DocumentKind[Any], Callable[[Any], AnyResult]], ...] = (
    (AUDIT_DOCUMENT, AuditResult),
    (MITIGATION_DOCUMENT, MitigationResult),
    (COMPARISON_DOCUMENT, ComparisonResult),
    (CERTIFICATION_DOCUMENT, CertificationResult),
    (SHIELD_DOCUMENT, ShieldResult),
    (SIMULATION_DOCUMENT, SimulationResult),
    (MONITORING_DOCUMENT, MonitorResult),
)


def read_result(source: str | Path) -> AnyResult:
    """Read a result back, of whatever kind, as its ``schema`` says.

    Parameters
    ----------
    source : str or path-like
        JSON text, or the path of a file that holds it.

    Returns
    -------
    AnyResult
        Of the class for its kind.

    Raises
    ------
    ResultError
        If it is none of these.

    Examples
    --------
    >>> import testsgd
    >>> audit = testsgd.audit(None, None, "demo")
    >>> read_result(audit.to_json()).verdict == audit.verdict
    True
    """
    text, where = read_source(source)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ResultError(
            f"not valid JSON: {error}", where=where, remedy="give a result.json of testsgd"
        ) from error
    seen = document.get("schema") if isinstance(document, dict) else None
    for kind, result in _KINDS:
        if seen == kind.name:
            return result(kind.read(text, where=where))
    raise ResultError(
        f"the schema is {seen!r}, neither {' nor '.join(repr(kind.name) for kind, _ in _KINDS)}",
        where=where,
        remedy="give a result.json that this version of testsgd can read",
        schema=seen,
    )
