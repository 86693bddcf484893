"""The result of a mitigation: the report of before and after, the samples, the retrained model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.errors import ParameterError
from testsgd.reporting import (
    MitigationSummary,
    MitigationVerdict,
    read_mitigation_summary,
    render_mitigation_html,
    render_mitigation_json,
    render_mitigation_markdown,
)
from testsgd.results.files import check_known, read_source, write_views

if TYPE_CHECKING:
    import pandas as pd

    from testsgd.mitigation import MitigationOutcome

MITIGATION_FORMATS = ("html", "md", "json")


class MitigationResult:
    """The result of a mitigation; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : MitigationSummary
        The document.
    outcome : MitigationOutcome, optional
        What it was made from, with the retrained model and the samples; a result that was read back
        from JSON has none.

    Attributes
    ----------
    summary : MitigationSummary
        As given.
    outcome : MitigationOutcome or None
        As given.
    """

    def __init__(
        self, summary: MitigationSummary, outcome: MitigationOutcome | None = None
    ) -> None:
        self.summary = summary
        self.outcome = outcome

    @property
    def verdict(self) -> MitigationVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    @property
    def samples(self) -> pd.DataFrame:
        """The samples that were generated, with their labels and where each came from.

        Raises
        ------
        ParameterError
            If the result was read back from JSON, which holds none.
        """
        return self._outcome("samples").samples

    def write_model(self, folder: str | Path) -> list[Path]:
        """Write the retrained model and its card, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If the result was read back from JSON, which holds no model.
        """
        return self._outcome("model").write_model(Path(folder))

    def to_json(self) -> str:
        """Give the summary as JSON text, after the schema ``testsgd.mitigation/1``."""
        return render_mitigation_json(self.summary)

    def to_html(self) -> str:
        """Give the report as one self-contained HTML page."""
        return render_mitigation_html(self.summary)

    def to_markdown(self) -> str:
        """Give the report as Markdown."""
        return render_mitigation_markdown(self.summary)

    @classmethod
    def from_json(cls, source: str | Path) -> MitigationResult:
        """Read a result back.

        Parameters
        ----------
        source : str or path-like
            JSON text, or the path of a file that holds it.

        Returns
        -------
        MitigationResult

        Raises
        ------
        ResultError
            If it is no result of a mitigation.
        """
        text, where = read_source(source)
        return cls(read_mitigation_summary(text, where=where))

    def write(self, folder: str | Path, formats: Sequence[str] = MITIGATION_FORMATS) -> list[Path]:
        """Write views of the result into a folder, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.
        formats : sequence of {"html", "md", "json"}
            Which views.

        Returns
        -------
        list of pathlib.Path
            The files written.

        Raises
        ------
        ParameterError
            If a format is unknown.
        """
        check_mitigation_formats(formats)
        texts = {"html": self.to_html, "md": self.to_markdown, "json": self.to_json}
        return write_views(folder, formats, texts, {})

    def __repr__(self) -> str:
        return f"<MitigationResult of {self.summary.data.name!r}: {self.verdict.headline}>"

    def _outcome(self, wanted: str) -> MitigationOutcome:
        if self.outcome is None:
            raise ParameterError(
                f"a saved result holds no {wanted}",
                where="result",
                remedy="run the mitigation again",
            )
        return self.outcome


def check_mitigation_formats(formats: Sequence[str]) -> None:
    """Raise an error if a format of a mitigation's reports is unknown."""
    check_known(formats, MITIGATION_FORMATS)
