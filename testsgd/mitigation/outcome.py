"""What a mitigation computes: its runs, the methods beside it, and the model that is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from testsgd.models import model_folder
from testsgd.report.summaries import (
    Difference,
    Interval,
    NonNegative,
    Part,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from testsgd.auditing import AuditComparison, Estimates, Findings
    from testsgd.mitigation.candidate_evaluation import Written
    from testsgd.mitigation.control_effects import ControlChanges
    from testsgd.mitigation.data_splits import Material
    from testsgd.mitigation.parameters import MitigationParameters
    from testsgd.mitigation.samples import CounterSamples
    from testsgd.mitigation.search import Candidate
    from testsgd.mitigation.side_effects import SideEffects
    from testsgd.mitigation.targets import Target
    from testsgd.models import LoadedModel, Refitter


# Rates whose gaps between groups a mitigation must not make larger.
GapRate = Literal["selection_rate", "true_positive_rate", "false_positive_rate", "accuracy"]


class CurvePoint(Part):
    """What a method reaches with some budget, on the held-out rows; chosen by the others."""

    budget: NonNegative = Field(description="points of accuracy that it was allowed to lose there")
    accuracy_change: float = Field(description="points of accuracy gained on the held-out rows")
    accuracy_confidence_interval: Interval = Field(description="of that, of pairs")
    difference: Difference = Field(
        description="largest difference of a target on the held-out rows"
    )
    confidence_interval: Interval = Field(description="of the difference")


@dataclass(frozen=True)
class Performance:
    """A model's accuracy on the held-out rows or texts, and its rates of the targets."""

    accuracy: float  # On the held-out rows or texts.
    # The mean of the accuracies on those of either label: a model that gives all the same label
    # has one half.
    balanced_accuracy: float
    favourable_share: float  # How many of them get the favourable label.
    # The targets' rates, by the audit's estimand, on all audited rows or texts, and on those
    # held out.
    everywhere: Estimates
    held_out: Estimates


@dataclass(frozen=True)
class RunOutcome:
    """The samples, the candidates and the chosen model of one run."""

    run: int  # From 1.
    seed: int  # Of its retrainings.
    # The samples that it could take from, by their kind.
    pools: dict[str, tuple[CounterSamples, ...]]
    candidates: tuple[Candidate, ...]  # What it tried.
    # The best; None if no candidate was allowed and better than the original, which then
    # stands in for it.
    chosen: Candidate | None
    model: LoadedModel[Any]  # The chosen candidate's model, or the original.
    standing: Performance  # How that model does.
    audit: AuditComparison  # Its audit of all rows or texts beside the original's.
    seconds: float  # Wall-clock time.

    def added_pools(self) -> list[CounterSamples]:
        """Return the samples of the chosen candidate; if there is none, all of the first kind."""
        if self.chosen is None:
            return list(next(iter(self.pools.values())))
        pools = self.pools[self.chosen.kind]
        return [pool.take(count) for pool, count in zip(pools, self.chosen.taken, strict=True)]


@dataclass(frozen=True)
class Alternative:
    """The figures of another method, on the same splits."""

    name: str  # One of :data:`testsgd.mitigation.ALTERNATIVES`.
    # Whether there are figures.
    status: Literal["done", "not_installed", "not_possible", "failed"] = "done"
    reason: str = ""  # Why there are none.
    accuracies: tuple[float, ...] = ()  # On the held-out rows or texts, one a run.
    # The targets' scores on all rows and on those held out, one array a run.
    scores: tuple[np.ndarray[Any, np.dtype[np.float64]], ...] = ()
    held_out_scores: tuple[np.ndarray[Any, np.dtype[np.float64]], ...] = ()
    curve: tuple[CurvePoint, ...] = ()  # What it reaches with several budgets, in its first run.
    seconds: float | None = None  # Wall-clock time of a run, on average.


@dataclass(frozen=True, kw_only=True)
class MitigationOutcome:
    """Everything a mitigation computed: its runs, the model that is kept, and the comparisons."""

    parameters: MitigationParameters  # What the user asked for.
    material: Material  # The rows or texts, with the targets.
    original: LoadedModel[Any]  # The model that was audited.
    before: Findings  # Its audit of all rows or texts.
    # What figures before are: its rates, with the accuracies of the model that losses are measured
    # against, see :func:`testsgd.mitigation.run.reference_model`.
    standing: Performance
    # Its score for each target on the rows that candidates were chosen by.
    before_choice: tuple[float, ...]
    # How the accuracy that candidates lose was found, see
    # :class:`testsgd.mitigation.candidate_evaluation.Evaluator` and
    # :mod:`testsgd.mitigation.cross_validation`.
    evaluated_by: Literal["labels", "probabilities", "cross-validation"]
    refitter: Refitter[Any]  # How it was retrained.
    runs: tuple[RunOutcome, ...]  # One after another.
    kept: RunOutcome | None  # The run whose model is kept; None if that is the original.
    # The audits of the kept model beside those of the original, on all rows and on the held-out.
    everywhere: AuditComparison
    held_out: AuditComparison
    # The model that is kept beside the original; None if that is the original.
    written: Written | None = None
    # What became of all groups on the held-out rows by that model; None if it is the original.
    side_effects: SideEffects | None = None
    # What became of control effects on the held-out texts; None for rows.
    controls: ControlChanges | None = None
    # How the original does as it was given, and fitted anew to the training rows or texts; None if
    # accuracies before are those of the model as given.
    given: Performance | None = None
    fitted_anew: Performance | None = None
    # The audit of the latter on the held-out texts; None for rows.
    fitted_anew_audit: Findings | None = None
    # What the samples reach with several budgets, in the run that is kept.
    curve: tuple[CurvePoint, ...] = ()
    alternatives: tuple[Alternative, ...] = ()  # What else one might do.
    seconds: dict[str, float] = field(default_factory=dict)  # Wall-clock time of each phase.

    @property
    def targets(self) -> tuple[Target, ...]:
        """The groups whose discrimination was to be countered."""
        return self.material.targets

    @property
    def model(self) -> LoadedModel[Any]:
        """The model that is kept."""
        return self.original if self.kept is None else self.kept.model

    @property
    def samples(self) -> pd.DataFrame:
        """The samples in the kept model's training, each with where it is from and why.

        If the original is kept, those of the first run that it could have taken.
        """
        from testsgd.mitigation.samples import samples_frame

        run = self.runs[0] if self.kept is None else self.kept
        pools = run.added_pools()
        return samples_frame(pools, self.material.specification, self.material.all_targets)

    def write_model(self, folder: Path | str, about: Mapping[str, Any] | None = None) -> list[Path]:
        """Write the kept model with its card, and return the files.

        Parameters
        ----------
        folder : path-like
            The folder that the files are put into.
        about : mapping, optional
            Further entries of the card.

        Returns
        -------
        list of pathlib.Path
            The files written; none if the original is kept.
        """
        if self.kept is None or self.kept.chosen is None:
            return []
        card = {**self._about(self.kept, self.kept.chosen), **(about or {})}
        with model_folder(Path(folder), original=self.original.file_sha256) as staging:
            written = self.refitter.write(self.kept.model.model, staging, card)
        return [Path(folder) / path.name for path in written]

    def _about(self, kept: RunOutcome, chosen: Candidate) -> Mapping[str, Any]:
        """Return for the model card where the model is from."""
        given: dict[str, Any] = {}
        if self.given is not None and self.fitted_anew is not None:
            given["held-out accuracy of the original as given"] = self.given.accuracy
            given["accuracies before are of"] = "the original fitted anew to the training data"
        return {
            "mitigated": ", ".join(
                [
                    *(target.rule_set.text for target in self.targets),
                    *(target.text for target in self.material.controls if target.sampled),
                ]
            ),
            "mitigated by": f"retraining with {chosen.samples} samples ({chosen.kind}, weight "
            f"{chosen.weight:g}), {self.refitter.kind}, {chosen.name}, seed {kept.seed}",
            "original model": self.before.model.model.name,
            "original file sha256": self.original.file_sha256 or "",
            "held-out accuracy before": self.standing.accuracy,
            "held-out accuracy": kept.standing.accuracy,
            **given,
        }
