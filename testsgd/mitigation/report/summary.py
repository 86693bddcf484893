"""The summary of a mitigation: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.mitigation/2``) and described by the JSON Schema that ships
with this module (``mitigation-2.json``), which is generated from the classes below.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from testsgd.auditing.report.summary import CounterfactualSummary, DataSummary, ModelSummary
from testsgd.mitigation.outcome import CurvePoint, GapRate
from testsgd.mitigation.parameters import Kind, MitigationParameters
from testsgd.mitigation.report.control_summary import ControlChangesSummary
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Difference,
    Duration,
    Durations,
    Interval,
    NonNegative,
    Part,
    Positive,
    RuleSummary,
    Share,
    check_equal_lengths,
)

SCHEMA_NAME = "testsgd.mitigation/2"

# What became of a model that was written.
Status = Literal[
    "mitigated",
    "above_threshold",
    "accuracy_lost",
    "one_sided",
    "no_better_than_constant",
    "side_effect",
    "worst_rose",
    "reversed",
    "not_better",
    "not_certain",
    "too_few",
]


PartName = Literal["held-out", "validation", "training"]


class SplitSummary(Part):
    """Which rows are for what."""

    training: Count = Field(description="rows that are trained on, and are the samples' seeds")
    validation: Count = Field(description="rows that candidates' accuracy is judged on")
    held_out: Count = Field(description="rows that are touched once, at the end")
    repeats: Count = Field(
        0, description="rows left out of the held-out ones, as others of their unit are in a part"
    )
    evaluated_by: Literal["labels", "probabilities", "cross-validation"] = Field(
        description="how the accuracy that a candidate loses was found: by labels of the "
        "validation rows; as the larger of that and of what cross-fitted "
        "probabilities of all rows but the held-out expect; or by repeated cross-"
        "validation on these; what is lost on training rows counts besides"
    )
    unseen: bool = Field(False, description="true: held-out rows had no part in naming the groups")
    source: str = Field(description="how the split was found, in words")
    warning: str = Field("", description="what is doubtful about it; empty if nothing is")


class RatesSummary(Part):
    """The selection rates of a group and of its complement, on one set of rows."""

    n_in: Count = Field(description="rows in the group; for texts, those its terms are put into")
    n_out: Count = Field(description="rows of its complement")
    rate_in: Share | None = Field(description="selection rate of the group")
    rate_out: Share | None = Field(description="selection rate of its complement")
    difference: Difference | None = Field(
        description="`rate_in - rate_out`; null if one side is empty"
    )
    score: Share | None = Field(description="its absolute value")
    confidence_interval: Interval | None = Field(description="of the difference")


class ChangeSummary(Part):
    """A figure of both models, on the same rows."""

    before: float | None = Field(description="of the original model")
    after: float | None = Field(description="of the model that was written")
    change: float | None = Field(description="the second less the first")
    confidence_interval: Interval | None = Field(description="of the change, of pairs of decisions")


class PartSummary(Part):
    """The original model and the one that was written, on one part of the rows, by their labels.

    With `fitted_anew` figures before are of the original fitted anew.
    """

    rows: Count = Field(description="rows or texts of that part")
    positives: Count = Field(description="those with the favourable label")
    accuracy: ChangeSummary = Field(description="share labelled as the data do")
    p_value: Share = Field(description="exact and two-sided, of McNemar's test")
    balanced: ChangeSummary = Field(description="mean of the accuracies by label")
    constant: float | None = Field(description="accuracy of the best constant model")
    above_constant: ChangeSummary = Field(description="of that accuracy and the new model's")
    true_positives: tuple[Count, Count] = Field(
        description="with the favourable label and given it, before and after"
    )
    true_negatives: tuple[Count, Count] = Field(
        description="without it and not given it, before and after"
    )
    one_sided: bool = Field(
        description="true: it decides, or is right, one way less than half as often"
    )
    accuracy_drop: float = Field(
        description="points lost as the guard counts: by cross-fitted probabilities where labels "
        "were memorised"
    )
    balanced_drop: float = Field(description="the same of balanced accuracy")


class SideSummary(Part):
    """Who pays: what became of one side of a target among the held-out rows as they are."""

    rows: Count = Field(description="rows of that side")
    positives: Count = Field(description="those with the favourable label")
    selected: ChangeSummary = Field(description="observed selection rate")
    selected_before: tuple[float, float] | None = Field(description="of the rate before")
    selected_after: tuple[float, float] | None = Field(description="of the rate after")
    true_positive_rate: ChangeSummary = Field(description="of those with the favourable label")
    false_positive_rate: ChangeSummary = Field(description="share of the others who get it")
    gained: Count = Field(description="who gets the favourable label now and did not")
    lost: Count = Field(description="who got it and does not now")


class WrittenTarget(Part):
    """What became of a target on the held-out rows, by the model that was written."""

    group: SideSummary = Field(description="the group, as it is")
    complement: SideSummary = Field(description="its complement")
    observed_before: RatesSummary = Field(description="selection rates of rows as they are, before")
    observed_after: RatesSummary = Field(description="the same, the model that was written")
    observed: ChangeSummary = Field(description="the difference of the observed selection rates")
    neighbourhood_before: RatesSummary = Field(
        description="over each row's neighbours (texts: with terms put in), before"
    )
    neighbourhood_after: RatesSummary = Field(description="the same, the model that was written")
    neighbourhood: ChangeSummary = Field(description="the difference of these rates")
    levelled_down: float | None = Field(
        description="share of the closed gap that is due to the favoured side getting the label "
        "less often, by the verdict's estimand; null if the gap did not close"
    )
    effect_before: CounterfactualSummary | None = Field(
        None, description="for texts: the counterfactual effect on held-out texts, before"
    )
    effect_after: CounterfactualSummary | None = Field(None, description="the same, after")
    effect: ChangeSummary | None = Field(
        None, description="for texts: its change, with an interval as if of different texts"
    )

    def deciding(self, estimand: Literal["observed", "neighbourhood"]) -> ChangeSummary:
        """Return the change of the difference that a verdict by this estimand speaks of."""
        return self.observed if estimand == "observed" else self.neighbourhood


class GapSummary(Part):
    """A gap in a rate between a group and its complement, on the held-out rows."""

    rules: list[RuleSummary] = Field(description="the group's rules")
    text: str = Field(description="the rules as people write them")
    target: bool = Field(description="true: it is one of the targets")
    rate: GapRate = Field(description="which rate")
    cases: tuple[Count, Count] = Field(
        description="rows it is of, in the group and in its complement"
    )
    inside: tuple[Share, Share] = Field(description="the group's rate, before and after")
    outside: tuple[Share, Share] = Field(description="its complement's rate, before and after")
    before: Share = Field(description="size of the difference of these rates, before")
    after: Share = Field(description="the same, the model that was written")
    low: float = Field(
        description="lower confidence bound of the growth; the bounds of all gaps hold at once"
    )


class LossSummary(Part):
    """The accuracy of a group, on the held-out rows."""

    rules: list[RuleSummary] = Field(default_factory=list, description="the group's rules")
    text: str = Field(description="the group's rules as people write them")
    rows: Count = Field(description="its held-out rows")
    before: Share = Field(
        description="its accuracy by the original model, or by the same fitted anew"
    )
    after: Share = Field(description="the same, the model that was written")
    low: float = Field(
        description="lower confidence bound of the loss; the bounds of all groups hold at once"
    )


class WorstSummary(Part):
    """The largest difference of any group in observed selection rates, on the held-out rows."""

    before: Share = Field(description="its size by the original model")
    after: Share = Field(description="its size by the model that was written")
    confidence_interval: Interval = Field(
        description="of the change, from bootstrap samples that each find their largest ones"
    )
    group_before: str = Field(description="the group that it is of, before")
    group_after: str = Field(description="the group that it is of, after")
    rules_before: list[RuleSummary] = Field(
        default_factory=list, description="the rules of the group that it is of, before"
    )
    rules_after: list[RuleSummary] = Field(default_factory=list, description="the same, after")


class SideEffectsSummary(Part):
    """What became of all groups on the held-out rows, by the model that was written."""

    groups: Count = Field(description="groups with enough rows on both sides")
    gaps: Count = Field(
        description="gaps in selection rate, true-positive rate, false-positive rate and accuracy, "
        "with enough rows counted on both sides"
    )
    exceeded: list[GapSummary] = Field(
        description="gaps that grew by more than `max_side_effect` and more than chance explains, "
        "those with the largest lower bound first, at most ten"
    )
    exceeded_count: Count = Field(description="how many did")
    unclear_count: Count = Field(
        description="how many grew by more than `max_side_effect`, which chance may explain"
    )
    largest: GapSummary | None = Field(
        description="the gap that grew most; null if no gap can be judged"
    )
    worst: WorstSummary | None = Field(description="null if no group can be judged")
    lossy: list[LossSummary] = Field(
        default_factory=list,
        description="groups that lost more accuracy than `max_group_accuracy_drop` and than chance "
        "explains, those with the largest lower bound first, at most ten",
    )
    lossy_count: Count = Field(0, description="how many did")
    unclear_losses: Count = Field(
        0, description="how many lost more than that, which chance may explain"
    )
    largest_loss: LossSummary | None = Field(None, description="the group that lost most")

    @property
    def failed(self) -> bool:
        """Whether more was exceeded than chance explains."""
        return bool(self.exceeded_count or self.lossy_count)


class WrittenSummary(Part):
    """The model that was written: what the verdict is about."""

    run: Positive = Field(description="the run that it is from")
    looked_at: Count = Field(
        1,
        ge=1,
        description="runs whose models were looked at on the held-out rows until one kept the "
        "guard; if several, intervals of changes of differences are widened by Bonferroni",
    )
    estimand: Literal["observed", "neighbourhood"] = Field(
        description="which rates the verdict speaks of: of rows as they are, or of their "
        "neighbours (texts: with the terms put in)"
    )
    constant_label: str = Field(
        description="most frequent training label: what the best constant model gives all"
    )
    training: PartSummary = Field(description="the training rows")
    validation: PartSummary = Field(description="the validation rows")
    held_out: PartSummary = Field(description="the held-out rows")
    targets: list[WrittenTarget] = Field(description="one for each of the targets")
    side_effects: SideEffectsSummary | None = Field(
        None, description="what became of all groups; null in older results"
    )

    @property
    def parts(self) -> dict[PartName, PartSummary]:
        """The parts of the data by their names, the held-out one first."""
        return {"held-out": self.held_out, "validation": self.validation, "training": self.training}


class EqualAccuracy(Part):
    """What a method reaches where it loses as much accuracy as the model that was written."""

    score: Share = Field(description="size of the difference on the held-out rows")
    confidence_interval: Interval = Field(description="of the difference")
    mixed: bool = Field(
        description="true: between two points of the curve, as deciding by chance between them "
        "reaches"
    )


class TargetSummary(Part):
    """A group whose discrimination is to be countered."""

    rank: Positive = Field(description="its rank in the audit")
    rules: list[RuleSummary] = Field(description="its rules")
    text: str = Field(description="the rules as people write them")
    direction: Literal["less", "more"] = Field(
        description="of the favourable label, than its complement"
    )
    before: RatesSummary = Field(description="the original model, on all rows of the audit")
    after: RatesSummary = Field(description="the model that was kept, on the same rows")
    held_out_before: RatesSummary = Field(description="the original model, on the held-out rows")
    held_out_after: RatesSummary = Field(description="the model that was kept, on held-out rows")
    effect_before: CounterfactualSummary | None = Field(
        None, description="for texts: the counterfactual effect, before"
    )
    effect_after: CounterfactualSummary | None = Field(
        None, description="for texts: the counterfactual effect, after"
    )
    samples: list[SamplesSummary] = Field(description="what was generated, side by side and run")
    choice_before: float | None = Field(
        None, description="the original's score on the rows by which candidates are compared"
    )


class CandidateSummary(Part):
    """A retrained model, as it was evaluated for the choice: never on the held-out rows."""

    run: Positive = Field(description="which run")
    step: Count = Field(description="which number of samples; 0: retrained without any")
    stage: str = Field(description="when in the retraining, in words")
    kind: Literal["none", Kind] = Field(description="how its samples were chosen")
    weight: NonNegative = Field(description="how much each sample counted beside a training row")
    samples: Count = Field(description="samples added; of anchored ones those relabelled")
    accuracy_drop: float = Field(description="points of accuracy lost, as `evaluated_by` says")
    scores: list[Share | None] = Field(
        description="each target's, on rows that are not held out; for texts the sizes of the "
        "control effects in `controls.targets` follow"
    )
    allowed: bool = Field(description="true: within the budgets of accuracy, and not one-sided")
    chosen: bool = Field(description="true: the best of its run")


class RunSummary(Part):
    """One run, from sampling to the audit of the model it chose."""

    run: Positive = Field(description="which run")
    seed: Count = Field(description="its seed")
    kind: Kind | None = Field(description="how they were chosen; null if no candidate was")
    weight: NonNegative | None = Field(
        description="how much each counted; null if no candidate was"
    )
    samples: Count | None = Field(
        description="samples added for the chosen candidate, of anchored ones those relabelled; "
        "null if there is none, and the original stands in"
    )
    validation_drop: float = Field(description="points lost on rows that are not held out")
    accuracy: Share = Field(description="accuracy on the held-out rows")
    accuracy_drop: float = Field(description="points of accuracy lost on the held-out rows")
    scores: list[Share | None] = Field(description="each target's score on all rows")
    held_out_scores: list[Share | None] = Field(description="each target's score on held-out rows")
    worst: Share | None = Field(description="largest score of any group, on all rows")
    increased: Count = Field(description="groups whose score rose by more than `least_increase`")
    seconds: Duration = Field(description="wall-clock time")


class RunRange(Part):
    """A figure over the runs."""

    mean: float = Field(description="mean")
    lowest: float = Field(description="smallest")
    highest: float = Field(description="largest")


class TargetRange(Part):
    """A target's scores over the runs."""

    score: RunRange | None = Field(description="on all rows; null if one side has no rows")
    held_out_score: RunRange | None = Field(description="on the held-out rows")
    factor: float | None = Field(description="score before, divided by the mean score after")


class GroupChange(Part):
    """A group in the audit before and in the audit after."""

    rank_before: Count | None = Field(description="its rank before; null if it had none")
    rank_after: Positive = Field(description="its rank after")
    rules: list[RuleSummary] = Field(description="its rules")
    text: str = Field(description="the rules as people write them")
    before: RatesSummary = Field(description="the original model")
    after: RatesSummary = Field(description="the model that was kept")
    target: bool = Field(description="true: it is one of the targets")


class AuditChange(Part):
    """Two full audits of the same rows: of the original model, and of the one that was kept."""

    rows: Count = Field(description="rows audited")
    groups: Count = Field(description="groups compared")
    worst_before: Share | None = Field(description="largest score of any group before")
    worst_after: Share | None = Field(description="largest score of any group after")
    worst: list[GroupChange] = Field(description="the five largest after, near copies folded")
    increased: list[GroupChange] = Field(
        description="those whose score rose by more than `least_increase`, near copies folded"
    )
    increased_count: Count = Field(description="how many groups' score rose by so much")


class ComparisonSummary(Part):
    """What else one might do, on the same splits and with the same budget; means over the runs."""

    name: str = Field(description="the method")
    about: str = Field(description="what it does, in a sentence")
    status: Literal["done", "not_installed", "not_possible", "failed"] = Field(
        description="whether there are figures"
    )
    reason: str = Field("", description="why there are none")
    accuracy_drop: RunRange | None = Field(None, description="points lost on the held-out rows")
    scores: list[RunRange | None] = Field(
        default_factory=list, description="each target's score on all rows"
    )
    held_out_scores: list[RunRange | None] = Field(
        default_factory=list, description="each target's score on the held-out rows"
    )
    curve: list[CurvePoint] = Field(
        default_factory=list, description="what it reaches with several budgets"
    )
    equal_accuracy: EqualAccuracy | None = Field(
        None,
        description="what it reaches at the held-out accuracy of the model that was written; null"
        " if it loses more everywhere",
    )
    seconds: Duration = Field(None, description="wall-clock time of a run, on average")


class FittedAnewSummary(Part):
    """The original fitted anew to the training rows alone, beside the original as it was given."""

    accuracy_given: Share = Field(
        description="of the original as given on held-out rows; too good if it learnt from them"
    )
    balanced_given: Share = Field(description="mean of its held-out accuracies by label")
    held_out: list[RatesSummary] = Field(
        description="each target's rates by the original fitted anew, on the held-out rows"
    )
    effects: list[CounterfactualSummary | None] = Field(
        default_factory=list,
        description="for texts: what each target's terms change by themselves there",
    )


class MitigationVerdict(Part):
    """The outcome, the same in every view."""

    status: Status | Literal["no_candidate"] = Field(description="the outcome in one word")
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(description="the outcome, as a sentence")
    sentences: list[str] = Field(description="what qualifies it")


class MitigationSummary(Part):
    """Everything a mitigation did and found, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.mitigation/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.mitigation/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and the seconds; null if left out"
    )
    settings: MitigationParameters = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd and of what it computes with")
    data: DataSummary = Field(description="the rows or texts")
    split: SplitSummary = Field(description="which rows are for what")
    original: ModelSummary = Field(description="the model that was audited")
    retrained: ModelSummary | None = Field(
        description="the model that was kept; null if it is the original"
    )
    refitted_as: str = Field(description="how the model was retrained, in words")
    chosen_run: Count | None = Field(
        description="run of the kept model; null if it is the original"
    )
    accuracy_before: Share = Field(
        description="of the original on held-out rows; where it may have learnt from them and is "
        "fitted anew, of the original fitted to the training rows alone"
    )
    fitted_anew: FittedAnewSummary | None = Field(
        None,
        description="the original fitted anew, which accuracies before are of; null if they are "
        "of the original as given (or in older results)",
    )
    accuracy_after: RunRange = Field(
        description="on held-out rows, over the runs: what to expect of the recipe"
    )
    accuracy_drop: RunRange = Field(description="points lost on the held-out rows, over the runs")
    balanced_before: Share = Field(
        description="mean of held-out accuracies by label, of the model that `accuracy_before` is "
        "of"
    )
    balanced_after: RunRange = Field(description="the same over the runs")
    favourable_before: Share = Field(
        description="share of held-out rows that the model of `accuracy_before` favours"
    )
    favourable_after: RunRange = Field(description="the same over the runs")
    written: WrittenSummary | None = Field(
        None,
        description="the model that the verdict is about; null if the original is kept (or in "
        "older results)",
    )
    curve: list[CurvePoint] = Field(
        default_factory=list,
        description="what the samples reach with several budgets, in the kept run",
    )
    targets: list[TargetSummary] = Field(
        min_length=1, description="the groups that were to be helped"
    )
    ranges: list[TargetRange] = Field(description="each target's scores over the runs")
    runs: list[RunSummary] = Field(description="one after another")
    candidates: list[CandidateSummary] = Field(description="all that was tried, run by run")
    all_rows: AuditChange = Field(description="the audits of all rows, before and after")
    held_out: AuditChange = Field(description="the audits of the held-out rows")
    controls: ControlChangesSummary | None = Field(
        None, description="for texts: what terms change against neutral words; null for rows"
    )
    least_increase: Share = Field(description="from which rise on a group is listed as increased")
    comparisons: list[ComparisonSummary] = Field(description="what else one might do")
    verdict: MitigationVerdict = Field(description="the outcome in words, with the exit code")
    seconds: Durations = Field(description="wall-clock seconds of each phase")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.written is not None:
            check_equal_lengths({"targets": self.targets, "written.targets": self.written.targets})
        anew = self.fitted_anew
        if anew is not None:
            check_equal_lengths({"targets": self.targets, "fitted_anew.held_out": anew.held_out})
        return self
