"""Reporting: one summary of a result, and every view rendered from it."""

from testsgd.reporting.certification import (
    CERTIFICATION_DOCUMENT,
    CertificationSummary,
    CertificationVerdict,
    certification_verdict,
    check_policy,
    counterexamples_frame,
    regions_frame,
    render_certification_csv,
    render_certification_junit,
)
from testsgd.reporting.certification.summarise import summarise_certification
from testsgd.reporting.comparison import (
    COMPARISON_DOCUMENT,
    ComparisonSummary,
    ComparisonVerdict,
    comparison_verdict,
)
from testsgd.reporting.comparison.summarise import summarise_comparison
from testsgd.reporting.document import AUDIT_DOCUMENT, summary_schema
from testsgd.reporting.document_kind import DocumentKind
from testsgd.reporting.kinds import DOCUMENTS
from testsgd.reporting.mitigation import (
    MITIGATION_DOCUMENT,
    MitigationSummary,
    MitigationVerdict,
    mitigation_verdict,
)
from testsgd.reporting.mitigation.summarise import summarise_mitigation
from testsgd.reporting.monitoring import (
    MONITORING_DOCUMENT,
    MonitoringSummary,
    MonitorVerdict,
    monitoring_verdict,
)
from testsgd.reporting.monitoring.summarise import summarise_monitoring
from testsgd.reporting.shielding import (
    SHIELD_DOCUMENT,
    SIMULATION_DOCUMENT,
    ShieldSummary,
    ShieldVerdict,
    SimulationSummary,
)
from testsgd.reporting.shielding.summarise import summarise_simulation, summarise_synthesis
from testsgd.reporting.summarise import summarise
from testsgd.reporting.summary import AuditSummary, GroupSummary, Verdict
from testsgd.reporting.tables import (
    COUNTERFACTUAL_COLUMNS,
    GROUP_COLUMNS,
    groups_frame,
    summary_frame,
    write_csv,
    write_parquet,
)

__all__ = [
    "AUDIT_DOCUMENT",
    "CERTIFICATION_DOCUMENT",
    "COMPARISON_DOCUMENT",
    "COUNTERFACTUAL_COLUMNS",
    "DOCUMENTS",
    "GROUP_COLUMNS",
    "MITIGATION_DOCUMENT",
    "MONITORING_DOCUMENT",
    "SHIELD_DOCUMENT",
    "SIMULATION_DOCUMENT",
    "AuditSummary",
    "CertificationSummary",
    "CertificationVerdict",
    "ComparisonSummary",
    "ComparisonVerdict",
    "DocumentKind",
    "GroupSummary",
    "MitigationSummary",
    "MitigationVerdict",
    "MonitorVerdict",
    "MonitoringSummary",
    "ShieldSummary",
    "ShieldVerdict",
    "SimulationSummary",
    "Verdict",
    "certification_verdict",
    "check_policy",
    "comparison_verdict",
    "counterexamples_frame",
    "groups_frame",
    "mitigation_verdict",
    "monitoring_verdict",
    "regions_frame",
    "render_certification_csv",
    "render_certification_junit",
    "summarise",
    "summarise_certification",
    "summarise_comparison",
    "summarise_mitigation",
    "summarise_monitoring",
    "summarise_simulation",
    "summarise_synthesis",
    "summary_frame",
    "summary_schema",
    "write_csv",
    "write_parquet",
]
