"""The result of a simulation of a monitor."""

from __future__ import annotations

from typing import ClassVar

from testsgd.monitoring.simulation.report.layout import simulation_layout
from testsgd.monitoring.simulation.report.summary import (
    SCHEMA_NAME,
    MonitorSimulationSummary,
    MonitorSimulationVerdict,
)
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult


class MonitorSimulationResult(DocumentResult[MonitorSimulationSummary]):
    """The result of a simulation of a monitor; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : MonitorSimulationSummary
        The document.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.simulate_monitor(
    ...     {"properties": [{"property": "demographic_parity", "bound": 0.1}]},
    ...     bias=(0, 0.4), runs=20, days=5)
    >>> [(one.bias, one.alarmed) for one in result.summary.alarms]
    [(0.0, 0), (0.4, 20)]
    """

    document: ClassVar = DocumentKind(
        MonitorSimulationSummary,
        SCHEMA_NAME,
        what="a simulation of a monitor",
        again="run the simulation again",
        layout=simulation_layout,
    )

    @property
    def verdict(self) -> MonitorSimulationVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    def __repr__(self) -> str:
        name = self.summary.name
        return one_line(f"<MonitorSimulationResult {name!r}: {self.verdict.headline}>")
