"""The parts of the pages that follow from the code: the command line, keys of files, the catalogue.

In a page such a part stands between two comments, ``<!-- generated: NAME -->`` and
``<!-- generated ends -->``. ``python docs/_hooks/generated_parts.py`` (``make pages``) writes what
belongs between them, so that the pages are whole wherever they are read; ``make docs`` refuses
pages that are out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import command_line
import data_tables
import schema_tables
from pydantic import BaseModel

from testsgd.auditing import AuditSummary
from testsgd.certification import CertificationSummary
from testsgd.comparison import ComparisonSummary
from testsgd.data import specification_schema
from testsgd.data.text.terms import TermsDocument
from testsgd.generative import GenerativeSummary
from testsgd.io import replacing_any_file, write_text
from testsgd.metrics import MetricsSummary
from testsgd.mitigation import FrontierSummary, MitigationSummary
from testsgd.monitoring import MonitoringSummary, MonitorSimulationSummary
from testsgd.shielding import ShieldSummary, SimulationSummary

_PAGES = Path(__file__).resolve().parents[1]

_PART = re.compile(
    r"^<!-- generated: (?P<name>[a-z-]+) -->$.*?^<!-- generated ends -->$", re.MULTILINE | re.DOTALL
)
_OPENING = re.compile(r"^<!-- generated: ", re.MULTILINE)

# The published schemas sort their keys by the alphabet; a reader wants them as they belong, so they
# are taken from the classes.
_RESULTS: dict[str, tuple[type[BaseModel], dict[str, str]]] = {
    "result-keys": (AuditSummary, schema_tables.RESULT),
    "metrics-keys": (MetricsSummary, schema_tables.METRICS),
    "comparison-keys": (ComparisonSummary, schema_tables.COMPARISON),
    "certification-keys": (CertificationSummary, schema_tables.CERTIFICATION),
    "mitigation-keys": (MitigationSummary, schema_tables.MITIGATION),
    "frontier-keys": (FrontierSummary, schema_tables.FRONTIER),
    "shield-keys": (ShieldSummary, schema_tables.SHIELD),
    "shield-simulation-keys": (SimulationSummary, schema_tables.SIMULATION),
    "monitoring-keys": (MonitoringSummary, schema_tables.MONITORING),
    "monitor-simulation-keys": (MonitorSimulationSummary, schema_tables.MONITOR_SIMULATION),
    "generative-keys": (GenerativeSummary, schema_tables.GENERATIVE),
}


def _result_keys(summary: type[BaseModel], headings: dict[str, str]) -> str:
    return schema_tables.reference(summary.model_json_schema(by_alias=True), headings)


def _specification_keys() -> str:
    return schema_tables.reference(specification_schema(), schema_tables.SPECIFICATION)


def _terms_keys() -> str:
    return schema_tables.reference(TermsDocument.model_json_schema(), schema_tables.TERMS, level=4)


_PARTS: dict[str, Callable[[], str]] = {
    "command-line": command_line.reference,
    "catalogue": data_tables.catalogue_table,
    "comparison": data_tables.comparison_table,
    "gallery": data_tables.gallery,
    "example-gallery": data_tables.example_gallery,
    "text-sets": data_tables.text_sets_table,
    "specification-keys": _specification_keys,
    "terms-keys": _terms_keys,
    **{name: partial(_result_keys, *result) for name, result in _RESULTS.items()},
}


def with_parts(markdown: str, *, page: str) -> str:
    """Return a page with its generated parts as the code has them.

    Parameters
    ----------
    markdown : str
        The page as it is.
    page : str
        Its name, for the message.

    Raises
    ------
    ValueError
        If a part is unknown, or its end is missing.
    """
    if len(_OPENING.findall(markdown)) != len(_PART.findall(markdown)):
        raise ValueError(f"{page}: a generated part lacks its end, <!-- generated ends -->")
    return _PART.sub(lambda match: _filled(match["name"], page), markdown)


def _filled(name: str, page: str) -> str:
    if name not in _PARTS:
        raise ValueError(f"{page} asks for the unknown part {name!r}; known: {', '.join(_PARTS)}")
    return f"<!-- generated: {name} -->\n\n{_PARTS[name]()}\n\n<!-- generated ends -->"


def main() -> None:
    """Write the generated parts into all pages."""
    for path in sorted(_PAGES.glob("*.md")):
        markdown = path.read_text(encoding="utf-8")
        filled = with_parts(markdown, page=path.name)
        if filled != markdown:
            with replacing_any_file():
                write_text(path, filled)
            sys.stdout.write(f"{path} is up to date again\n")


if __name__ == "__main__":
    main()
