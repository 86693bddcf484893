"""The registry of results: which class reads a document of which schema."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from testsgd.errors import ResultError
from testsgd.report.documents import parse_document, schema_in
from testsgd.report.results import DocumentResult, read_source

# A capability is loaded when one of its documents is read. A new one is one more line here.
RESULTS = {
    "testsgd.audit/2": "testsgd.auditing:AuditResult",
    "testsgd.mitigation/2": "testsgd.mitigation:MitigationResult",
    "testsgd.frontier/1": "testsgd.mitigation:FrontierResult",
    "testsgd.comparison/2": "testsgd.comparison:ComparisonResult",
    "testsgd.certify/2": "testsgd.certification:CertificationResult",
    "testsgd.shield/2": "testsgd.shielding:ShieldResult",
    "testsgd.shield-simulation/2": "testsgd.shielding:SimulationResult",
    "testsgd.monitoring/2": "testsgd.monitoring:MonitorResult",
    "testsgd.monitor-simulation/1": "testsgd.monitoring:MonitorSimulationResult",
    "testsgd.generative/1": "testsgd.generative:GenerativeResult",
    "testsgd.metrics/1": "testsgd.metrics:MetricsResult",
}
"""The class of the results of each schema, as its module and name."""


def result_class(schema: str) -> type[DocumentResult[Any]]:
    """Return the class of the results whose documents have a schema.

    Examples
    --------
    >>> result_class("testsgd.audit/2").__name__
    'AuditResult'
    """
    module, _, name = RESULTS[schema].partition(":")
    found: type[DocumentResult[Any]] = getattr(import_module(module), name)
    return found


def result_classes() -> Iterator[type[DocumentResult[Any]]]:
    """Return the classes of all kinds of results, that of an audit first."""
    return map(result_class, RESULTS)


def read_result(source: str | Path) -> DocumentResult[Any]:
    """Return a saved result of any kind, which its ``schema`` names.

    Parameters
    ----------
    source : str or path-like
        JSON text, or the path of a file that holds it.

    Returns
    -------
    DocumentResult
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
    document = parse_document(text, where=where, what="testsgd")
    schema = schema_in(document)
    if not isinstance(schema, str) or schema not in RESULTS:
        raise ResultError(
            f"the schema is {schema!r}, neither {' nor '.join(map(repr, RESULTS))}",
            where=where,
            remedy="give a result.json that this version of testsgd can read",
            schema=schema,
        )
    return result_class(schema).read(text, where=where, parsed=document)
