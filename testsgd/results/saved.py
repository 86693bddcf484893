"""Reading back a result whose kind is not known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeAlias

from testsgd.errors import ResultError
from testsgd.reporting import (
    CERTIFICATION_SCHEMA_NAME,
    COMPARISON_SCHEMA_NAME,
    MITIGATION_SCHEMA_NAME,
    SCHEMA_NAME,
    SHIELD_SCHEMA_NAME,
    SIMULATION_SCHEMA_NAME,
    read_certification_summary,
    read_comparison_summary,
    read_mitigation_summary,
    read_shield_summary,
    read_simulation_summary,
    read_summary,
)
from testsgd.results.audit_result import AuditResult
from testsgd.results.certification_result import CertificationResult
from testsgd.results.comparison_result import ComparisonResult
from testsgd.results.files import read_source
from testsgd.results.mitigation_result import MitigationResult
from testsgd.results.shield_result import ShieldResult, SimulationResult

AnyResult: TypeAlias = (
    AuditResult
    | CertificationResult
    | ComparisonResult
    | MitigationResult
    | ShieldResult
    | SimulationResult
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
    if seen == SCHEMA_NAME:
        return AuditResult(read_summary(text, where=where))
    if seen == MITIGATION_SCHEMA_NAME:
        return MitigationResult(read_mitigation_summary(text, where=where))
    if seen == COMPARISON_SCHEMA_NAME:
        return ComparisonResult(read_comparison_summary(text, where=where))
    if seen == CERTIFICATION_SCHEMA_NAME:
        return CertificationResult(read_certification_summary(text, where=where))
    if seen == SHIELD_SCHEMA_NAME:
        return ShieldResult(read_shield_summary(text, where=where))
    if seen == SIMULATION_SCHEMA_NAME:
        return SimulationResult(read_simulation_summary(text, where=where))
    known = (
        SCHEMA_NAME,
        MITIGATION_SCHEMA_NAME,
        COMPARISON_SCHEMA_NAME,
        CERTIFICATION_SCHEMA_NAME,
        SHIELD_SCHEMA_NAME,
        SIMULATION_SCHEMA_NAME,
    )
    raise ResultError(
        f"the schema is {seen!r}, neither {' nor '.join(repr(name) for name in known)}",
        where=where,
        remedy="give a result.json that this version of testsgd can read",
        schema=seen,
    )
