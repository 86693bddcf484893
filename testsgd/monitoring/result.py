"""The result of a monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testsgd.monitoring.report.layout import monitoring_layout
from testsgd.monitoring.report.summary import SCHEMA_NAME, MonitoringSummary, MonitorVerdict
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

if TYPE_CHECKING:
    from testsgd.monitoring.running import Monitor


class MonitorResult(DocumentResult[MonitoringSummary]):
    """The result of a monitor over a stream; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : MonitoringSummary
        The document.
    monitor : Monitor, optional
        The monitor itself, which can go on; a result that was read back from JSON has none.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.monitor(
    ...     {"properties": [{"property": "demographic_parity", "bound": 0.1}]},
    ...     [{"group": "a", "decision": 1}, {"group": "b", "decision": 1}])
    >>> result.alerts, result.exit_code, result.verdict.status
    (0, 3, 'not_enough_evidence')
    """

    document: ClassVar = DocumentKind(
        MonitoringSummary,
        SCHEMA_NAME,
        what="a monitor",
        again="run the monitor again",
        layout=monitoring_layout,
    )

    def __init__(self, summary: MonitoringSummary, monitor: Monitor | None = None) -> None:
        super().__init__(summary)
        self.monitor = monitor

    @property
    def verdict(self) -> MonitorVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def alerts(self) -> int:
        """Alerts that were raised since the monitor began."""
        return self.summary.alerts_raised

    def __repr__(self) -> str:
        return one_line(f"<MonitorResult {self.summary.name!r}: {self.verdict.headline}>")
