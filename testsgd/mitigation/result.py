"""The result of a mitigation: its report, the samples, the retrained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from testsgd.errors import ParameterError
from testsgd.mitigation.report.layout import mitigation_layout
from testsgd.mitigation.report.summary import SCHEMA_NAME, MitigationSummary, MitigationVerdict
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

# A saved result is shown without the packages that a mitigation computes with.
if TYPE_CHECKING:
    import pandas as pd

    from testsgd.mitigation.outcome import MitigationOutcome


class MitigationResult(DocumentResult[MitigationSummary]):
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

    document: ClassVar = DocumentKind(
        MitigationSummary,
        SCHEMA_NAME,
        what="a mitigation",
        again="run the mitigation again",
        layout=mitigation_layout,
    )

    def __init__(
        self, summary: MitigationSummary, outcome: MitigationOutcome | None = None
    ) -> None:
        super().__init__(summary)
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
        return self._outcome("model").write_model(Path(folder), self._about())

    def _about(self) -> dict[str, object]:
        """Return what the model's card says of it: the verdict, and its held-out figures."""
        written = self.summary.written
        about: dict[str, object] = {
            "verdict": self.verdict.status,
            "headline": self.verdict.headline,
        }
        if written is None:
            return about
        part = written.held_out
        about["held-out accuracy change"] = part.accuracy.change
        about["held-out accuracy change, interval"] = part.accuracy.confidence_interval
        about["held-out balanced accuracy before"] = part.balanced.before
        about["held-out balanced accuracy"] = part.balanced.after
        about["held-out accuracy of the best constant model"] = part.constant
        for target, item in zip(self.summary.targets, written.targets, strict=True):
            change = item.deciding(written.estimand)
            about[f"held-out difference before, {target.text}"] = change.before
            about[f"held-out difference, {target.text}"] = change.after
            about[f"held-out difference, change, interval, {target.text}"] = (
                change.confidence_interval
            )
            if item.effect is not None:
                about[f"held-out effect of the terms before, {target.text}"] = item.effect.before
                about[f"held-out effect of the terms, {target.text}"] = item.effect.after
        return about

    def __repr__(self) -> str:
        name = self.summary.data.name
        return one_line(f"<MitigationResult of {name!r}: {self.verdict.headline}>")

    def _outcome(self, wanted: str) -> MitigationOutcome:
        if self.outcome is None:
            raise ParameterError(
                f"a saved result holds no {wanted}",
                where="result",
                remedy="run the mitigation again",
            )
        return self.outcome
