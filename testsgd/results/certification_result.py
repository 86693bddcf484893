"""The result of a certification: what is proved, what is estimated, and the policy's verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from testsgd.reporting import (
    CERTIFICATION_DOCUMENT,
    CertificationSummary,
    CertificationVerdict,
    counterexamples_frame,
    regions_frame,
    render_certification_csv,
    render_certification_junit,
)
from testsgd.results.document_result import DOCUMENT_FORMATS, DocumentResult
from testsgd.results.files import FILE_NAMES, check_known, write_views

if TYPE_CHECKING:
    import pandas as pd

    from testsgd.certification.outcome import Certification

CERTIFICATION_FORMATS = (*DOCUMENT_FORMATS, "csv", "junit")

_FILE_NAMES = {**FILE_NAMES, "csv": "regions.csv", "junit": "junit.xml"}


class CertificationResult(DocumentResult[CertificationSummary]):
    """The result of a certification; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : CertificationSummary
        The document.
    certification : Certification, optional
        What it was made from; a result that was read back from JSON has none.

    Attributes
    ----------
    summary : CertificationSummary
        As given.
    certification : Certification or None
        As given.
    """

    _document: ClassVar = CERTIFICATION_DOCUMENT

    def __init__(
        self, summary: CertificationSummary, certification: Certification | None = None
    ) -> None:
        super().__init__(summary)
        self.certification = certification

    @property
    def verdict(self) -> CertificationVerdict:
        """The outcome in words, with the policy and the exit code that the CLI gives."""
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
        found = self.summary.estimated
        return None if found is None else (found.domain_unfair_low, found.domain_unfair_high)

    @property
    def exit_code(self) -> int:
        """What the command line leaves with: 0, 1 policy broken, 3 not enough evidence."""
        return self.verdict.exit_code

    @property
    def regions(self) -> pd.DataFrame:
        """Where unfairness sits, proved or possible, a region a row."""
        return regions_frame(self.summary)

    @property
    def counterexamples(self) -> pd.DataFrame:
        """People who get different decisions; rows of a case differ in what is protected."""
        return counterexamples_frame(self.summary)

    def to_junit(self) -> str:
        """Give the policy's verdict as JUnit XML."""
        return render_certification_junit(self.summary)

    def to_csv(self) -> str:
        """Give the regions as CSV text."""
        return render_certification_csv(self.summary)

    def write(self, folder: str | Path, formats: Sequence[str] = DOCUMENT_FORMATS) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of {"html", "md", "json", "csv", "junit"}
            Which views; ``csv`` holds the regions, ``junit`` the policy for a CI service.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown.
        """
        check_certification_formats(formats)
        texts = {
            "html": self.to_html,
            "md": self.to_markdown,
            "json": self.to_json,
            "csv": self.to_csv,
            "junit": self.to_junit,
        }
        return write_views(folder, formats, texts, {}, names=_FILE_NAMES)

    def __repr__(self) -> str:
        return f"<CertificationResult of {self.summary.network.name!r}: {self.verdict.headline}>"


def check_certification_formats(formats: Sequence[str]) -> None:
    """Raise an error if a format of reports is unknown."""
    check_known(formats, CERTIFICATION_FORMATS)
