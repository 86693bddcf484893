"""The result of a frontier: its report, and the model that is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from testsgd.errors import ParameterError
from testsgd.mitigation.frontiers.report.layout import frontier_layout
from testsgd.mitigation.frontiers.report.summary import (
    SCHEMA_NAME,
    FrontierSummary,
    FrontierVerdict,
)
from testsgd.models import model_folder
from testsgd.report.documents import DocumentKind
from testsgd.report.formatting import one_line
from testsgd.report.results import DocumentResult

# A saved result is shown without the packages that a frontier computes with.
if TYPE_CHECKING:
    from testsgd.mitigation.frontiers.outcome import FrontierOutcome


class FrontierResult(DocumentResult[FrontierSummary]):
    """The result of a frontier; every view of it is rendered from one summary.

    Parameters
    ----------
    summary : FrontierSummary
        The document.
    outcome : FrontierOutcome, optional
        What it was made from, with the models; a result that was read back from JSON has none.

    Attributes
    ----------
    summary : FrontierSummary
        As given.
    outcome : FrontierOutcome or None
        As given.
    """

    document: ClassVar = DocumentKind(
        FrontierSummary,
        SCHEMA_NAME,
        what="a frontier",
        again="run the mitigation again",
        layout=frontier_layout,
    )

    def __init__(self, summary: FrontierSummary, outcome: FrontierOutcome | None = None) -> None:
        super().__init__(summary)
        self.outcome = outcome

    @property
    def verdict(self) -> FrontierVerdict:
        """The outcome in words, with the exit code that the CLI gives."""
        return self.summary.verdict

    def write_model(self, folder: str | Path) -> list[Path]:
        """Write the model of the chosen point and its card, each file whole or not at all.

        Parameters
        ----------
        folder : path-like
            Made if it is not there.

        Returns
        -------
        list of pathlib.Path
            The files written; none if no point was chosen.

        Raises
        ------
        ParameterError
            If the result was read back from JSON, which holds no model.
        """
        if self.outcome is None:
            raise ParameterError(
                "the result was read back from JSON, which holds no model",
                where="model",
                remedy="run the mitigation again",
            )
        point = self.outcome.point
        if point is None:
            return []
        original = self.outcome.problem.loaded.file_sha256
        with model_folder(Path(folder), original=original) as staging:
            written = point.model.write(staging, self._about())
        return [Path(folder) / path.name for path in written]

    def _about(self) -> dict[str, object]:
        """Return what the model's card says of it: the verdict, and its held-out figures.

        Differences and accuracies are shares, those before are of the original.
        """
        summary = self.summary
        point = summary.point
        about: dict[str, object] = {
            "verdict": self.verdict.status,
            "headline": self.verdict.headline,
            "method": summary.method,
        }
        if point is None:
            return about
        if summary.groups:
            about["held-out worst difference before"] = summary.worst_before.size
            about["held-out worst difference"] = point.worst.size
            about["held-out worst difference, interval of the change"] = summary.worst_change
            about["held-out worst group before"] = summary.worst_before.group
            about["held-out worst group"] = point.worst.group
        if summary.neighbourhood is not None:
            before, after = summary.neighbourhood
            about["worst difference over neighbours before"] = before
            about["worst difference over neighbours"] = after
        about["held-out accuracy before"] = summary.before.accuracy
        about["held-out accuracy"] = point.accuracy.accuracy
        about["held-out accuracy lost, interval"] = point.accuracy.drop_interval
        about["held-out balanced accuracy before"] = summary.before.balanced
        about["held-out balanced accuracy"] = point.accuracy.balanced
        about["held-out balanced accuracy lost, interval"] = point.accuracy.balanced_drop_interval
        if summary.paying:
            # The first is the group that was the worst one before.
            target = summary.paying[0]
            about[f"{target.rate} of the worst group before, and of all others"] = target.before
            about[f"{target.rate} of the same groups"] = target.after
        if summary.effects is not None:
            about["gaps of groups that grew too much"] = summary.effects.exceeded_count
            about["gaps of groups compared"] = summary.effects.gaps
            about["groups that lost too much accuracy"] = summary.effects.lossy_count
            about["groups compared"] = summary.effects.groups
        about["confidence of intervals"] = summary.settings.confidence
        return about

    def __repr__(self) -> str:
        return one_line(f"<FrontierResult: {self.verdict.headline}>")
