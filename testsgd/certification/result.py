"""The result of a certification: what is proved, what is estimated, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from testsgd.certification.report.exports import (
    counterexamples_frame,
    regions_frame,
    render_certification_junit,
)
from testsgd.certification.report.layout import certification_layout
from testsgd.certification.report.summary import (
    SCHEMA_NAME,
    CertificationSummary,
    CertificationVerdict,
)
from testsgd.certification.report.verdict import without_times
from testsgd.io import without_formulas
from testsgd.report.documents import DocumentKind
from testsgd.report.exporters import EXPORTERS, Exporter
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

if TYPE_CHECKING:
    import pandas as pd

    from testsgd.certification.outcome import Certification


class CertificationResult(DocumentResult[CertificationSummary]):
    """The result of a certification; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : CertificationSummary
        The document.
    certification : Certification, optional
        What it was made from; a result that was read back from JSON has none.

    Examples
    --------
    >>> import testsgd
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0, 1], [9, 0], [1, 0], [8, 1]], [0, 1, 0, 1])
    >>> ranges = {"inputs": {"income": {"integer": [0, 9]}, "woman": {"integer": [0, 1]}}}
    >>> result = testsgd.certify(model, ranges, protected="woman", fail_above=0.1)
    >>> result.verdict.status, result.exit_code
    ('gate_passed', 0)
    >>> result.certified, result.falsified, result.undecided, result.estimated
    (1.0, 0.0, 0.0, None)
    """

    document: ClassVar = DocumentKind(
        CertificationSummary,
        SCHEMA_NAME,
        what="a certification",
        again="run the certification again",
        layout=certification_layout,
        reword=without_times,
    )
    # ``csv`` holds the regions, ``junit`` the gates for a CI service.
    exporters: ClassVar = {
        **EXPORTERS,
        "csv": Exporter("regions.csv", text=lambda result: result.to_csv()),
        "junit": Exporter("junit.xml", text=lambda result: result.to_junit()),
    }

    def __init__(
        self, summary: CertificationSummary, certification: Certification | None = None
    ) -> None:
        super().__init__(summary)
        self.certification = certification

    @property
    def verdict(self) -> CertificationVerdict:
        """The outcome in words, with the gates and the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def certified(self) -> float:
        """Share of the domain that is proved fair: a lower bound."""
        return self.summary.proved.certified

    @property
    def falsified(self) -> float:
        """Share of the domain that is proved unfair: a lower bound."""
        return self.summary.proved.falsified

    @property
    def undecided(self) -> float:
        """Share of the domain of which nothing is proved: an upper bound."""
        return self.summary.proved.undecided

    @property
    def estimated(self) -> tuple[float, float] | None:
        """Interval of the domain's unfair share, estimated by sampling; None without samples."""
        estimate = self.summary.estimated
        return None if estimate is None else estimate.domain_confidence_interval

    @property
    def regions(self) -> pd.DataFrame:
        """Where unfairness sits, proved or possible, a region a row."""
        return regions_frame(self.summary)

    @property
    def counterexamples(self) -> pd.DataFrame:
        """People who get different decisions; rows of a case differ in what is protected."""
        return counterexamples_frame(self.summary)

    def to_junit(self) -> str:
        """Return the gates as JUnit XML."""
        return render_certification_junit(self.document.written(self.summary))

    def to_csv(self) -> str:
        """Return the regions as CSV text."""
        text: str = without_formulas(self.regions).to_csv(index=False, lineterminator="\n")
        return text

    def __repr__(self) -> str:
        name = self.summary.network.name
        return one_line(f"<CertificationResult of {name!r}: {self.verdict.headline}>")
