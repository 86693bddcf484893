"""The hook that MkDocs calls: fills in what is generated from the code, and draws pictures in.

A page asks for a generated part with a comment, ``<!-- generated: NAME -->``, on a line of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import command_line
import data_tables
import dead_links
import figures
import schema_tables
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from testsgd.auditing import AuditSummary
from testsgd.certification import CertificationSummary
from testsgd.data import specification_schema
from testsgd.data.text.terms import TermsDocument
from testsgd.generative import GenerativeSummary
from testsgd.mitigation import FrontierSummary, MitigationSummary
from testsgd.monitoring import MonitoringSummary
from testsgd.report.kinds import read_result, result_classes
from testsgd.shielding import ShieldSummary, SimulationSummary

_MARKER = re.compile(r"^<!-- generated: (?P<name>[a-z-]+) -->$", re.MULTILINE)

# In a doctest a blank line must stand between the last output and the end of its block.
_BLANK_BEFORE_FENCE = re.compile(r"\n\n```$", re.MULTILINE)

# A committed report; on the site it is one page of the gallery.
_REPORT = re.compile(r"\(\.\./reports/(?P<name>[\w-]+)/report\.(?:md|html)\)")
_REPORTS = Path(__file__).resolve().parents[2] / "reports"

_PARTS = {
    "command-line": command_line.reference,
    "catalogue": data_tables.catalogue_table,
    "comparison": data_tables.comparison_table,
    "gallery": data_tables.gallery,
    "specification-keys": lambda: schema_tables.reference(
        specification_schema(), schema_tables.SPECIFICATION
    ),
    "terms-keys": lambda: schema_tables.reference(
        TermsDocument.model_json_schema(), schema_tables.TERMS, level=4
    ),
    "text-sets": data_tables.text_sets_table,
    # The published schema sorts its keys by the alphabet; a reader wants them as they belong.
    "result-keys": lambda: schema_tables.reference(
        AuditSummary.model_json_schema(by_alias=True), schema_tables.RESULT
    ),
    "certification-keys": lambda: schema_tables.reference(
        CertificationSummary.model_json_schema(by_alias=True), schema_tables.CERTIFICATION
    ),
    "shield-keys": lambda: schema_tables.reference(
        ShieldSummary.model_json_schema(by_alias=True), schema_tables.SHIELD
    ),
    "shield-simulation-keys": lambda: schema_tables.reference(
        SimulationSummary.model_json_schema(by_alias=True), schema_tables.SIMULATION
    ),
    "monitoring-keys": lambda: schema_tables.reference(
        MonitoringSummary.model_json_schema(by_alias=True), schema_tables.MONITORING
    ),
    "generative-keys": lambda: schema_tables.reference(
        GenerativeSummary.model_json_schema(by_alias=True), schema_tables.GENERATIVE
    ),
    "mitigation-keys": lambda: schema_tables.reference(
        MitigationSummary.model_json_schema(by_alias=True), schema_tables.MITIGATION
    ),
    "frontier-keys": lambda: schema_tables.reference(
        FrontierSummary.model_json_schema(by_alias=True), schema_tables.FRONTIER
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the schemas, and the reports of the real data sets rendered from their results."""
    generated = {
        f"schema/{kind.document.file.name}": kind.document.generate_schema()
        for kind in result_classes()
    }
    generated["changelog.md"] = (_REPORTS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    generated["schema/dataset.schema.json"] = json.dumps(specification_schema(), indent=1) + "\n"
    for path in sorted(_REPORTS.glob("*/result.json")):
        generated[f"gallery/{path.parent.name}.html"] = read_result(path).to_html()
    for path, content in generated.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the generated parts of a page."""
    markdown = _BLANK_BEFORE_FENCE.sub("\n```", markdown)
    markdown = _REPORT.sub(r"(gallery/\g<name>.html)", markdown)
    return _MARKER.sub(lambda match: _part(match["name"]), markdown)


def on_page_content(html: str, config: MkDocsConfig, **_: Any) -> str:
    """Draw pictures into the page, so that they follow its colours."""
    return figures.drawn_in(html, config.docs_dir)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Check every link of the built site, and that pages of the interface are not empty."""
    dead = dead_links.dead_links(Path(config.site_dir))
    if dead:
        raise PluginError("links that lead nowhere:\n" + "\n".join(dead))
    for page in sorted(Path(config.site_dir).glob("api/*/index.html")):
        if "doc-heading" not in page.read_text(encoding="utf-8"):
            raise PluginError(f"{page} shows no name of its package")


def _part(name: str) -> str:
    if name not in _PARTS:
        raise PluginError(f"a page asks for the unknown part {name!r}; known: {', '.join(_PARTS)}")
    return _PARTS[name]()
