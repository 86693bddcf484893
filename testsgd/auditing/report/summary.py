"""The summary of an audit: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.audit/1``) and described by the JSON Schema that ships
beside this module (``schemas/audit-1.json``), which is generated from the classes below.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from testsgd.auditing.report.summary_parts import (
    CellRate,
    Charts,
    ConditionalSummary,
    ContrastSummary,
    EstimandName,
    EstimandRates,
    EstimandSummary,
    ExplainingRuleSummary,
    ExplanationSummary,
    FeatureRates,
    FoundSummary,
    GuaranteeSummary,
    HeatMap,
    HoldoutSummary,
    MovedFeature,
    RuleShareSummary,
    ScatterCell,
    SimplestSummary,
    Snippet,
    TermCategorySummary,
    TermsSummary,
    TermSummary,
    UnjudgedSummary,
)
from testsgd.report.summaries import Part, RuleSummary

SCHEMA_NAME = "testsgd.audit/1"

__all__ = [
    "SCHEMA_NAME",
    "AuditSummary",
    "CellRate",
    "Charts",
    "ConditionalSummary",
    "ContrastSummary",
    "CounterfactualSummary",
    "Counts",
    "DataSummary",
    "EstimandRates",
    "EstimandSummary",
    "ExplainingRuleSummary",
    "ExplanationSummary",
    "FeatureRates",
    "FeatureSummary",
    "FoundSummary",
    "GroupSummary",
    "GuaranteeSummary",
    "HeatMap",
    "HoldoutSummary",
    "LabelSummary",
    "ModelSummary",
    "MovedFeature",
    "Parameters",
    "Part",
    "RuleAlone",
    "RuleShareSummary",
    "RuleSummary",
    "ScatterCell",
    "SimplestSummary",
    "Snippet",
    "TermCategorySummary",
    "TermSummary",
    "TermsSummary",
    "UndecidedGroup",
    "UnjudgedSummary",
    "Verdict",
]


class RuleAlone(Part):
    """What one rule of a group gives on its own."""

    text: str = Field(description="the rule as people write it")
    n_in: int = Field(description="rows that satisfy it; for texts, those it is put into")
    rate_in: float = Field(description="rate of the favourable label among them")
    rate_out: float | None = Field(description="null if the rule selects every row")
    difference: float | None = Field(
        description="`rate_in - rate_out`; null if there is nobody outside"
    )


class CounterfactualSummary(Part):
    """What the terms of a group change by themselves: the same texts, with other terms instead."""

    seeds: int = Field(ge=1, description="texts that were compared in both forms")
    rate_with: float = Field(ge=0, le=1, description="rate with the terms of the group")
    rate_other: float = Field(
        ge=0, le=1, description="mean rate with other terms of the same categories"
    )
    difference: float = Field(ge=-1, le=1, description="rate_with - rate_other")
    interval: tuple[float, float] = Field(
        description="interval for that difference in the population the texts are a sample of"
    )
    independent: float | None = Field(
        None,
        ge=0,
        description="independent texts that the group's texts are worth, where some are copies of "
        "others; null: as many as there are",
    )


class GroupSummary(Part):
    """One group: who is in it and how the model treats it, compared with everybody else."""

    rank: int = Field(ge=1, description="place in the ranking")
    rules: list[RuleSummary] = Field(description="the rules, at most one a feature; all hold")
    text: str = Field(description="the rules as people write them")
    support: float = Field(ge=0, le=1, description="`n_in` as a share of all rows")
    n_in: int = Field(
        description="rows in the group; for texts, those with a term of each of its categories, "
        "from which the texts of the group are generated"
    )
    n_out: int = Field(
        description="rows outside the group; for texts, those without one of its terms or more"
    )
    effective_in: float | None = Field(
        None,
        ge=0,
        description="independent rows that those in the group are worth for the interval, where "
        "rows repeat one another; null: as many as there are",
    )
    effective_out: float | None = Field(None, ge=0, description="the same outside the group")
    rate_in: float = Field(ge=0, le=1, description="rate of the favourable label in the group")
    rate_out: float = Field(ge=0, le=1, description="rate of the favourable label outside")
    difference: float = Field(ge=-1, le=1, description="rate_in - rate_out")
    score: float = Field(ge=0, le=1, description="absolute difference, the group fairness score")
    margin: float = Field(
        ge=0, description="sampling margin of the score, both sides added; 0 in exact mode"
    )
    margin_method: Literal["none", "wald", "wilson", "anytime"] = Field(
        description="whose interval the margin is from; `none` in exact mode"
    )
    interval: tuple[float, float] = Field(
        description="interval for the difference in the population the rows are a sample of; "
        "what it holds for is in `guarantee`"
    )
    exact: bool = Field(description="true if the rates carry no sampling error")
    samples_in: int = Field(description="generated rows or texts asked about inside")
    samples_out: int = Field(description="generated rows, or texts, asked about outside")
    decided: bool = Field(description="false: the sampling margin is above the error margin")
    distinct: bool = Field(
        description="true: one of the fewest rules that explain how rates differ; see `rules`"
    )
    other: EstimandRates | None = Field(
        None, description="the same by the other estimand; null if it was not estimated"
    )
    rules_alone: list[RuleAlone] = Field(
        default_factory=list, description="what each rule gives by itself, for the first groups"
    )
    counterfactual: CounterfactualSummary | None = Field(
        None,
        description="for texts: what the terms change by themselves; null if it was not compared",
    )
    unknown_to_model: bool = Field(
        False,
        description="true: the model does not know a term of the group, which is one unknown word "
        "to it; such groups come last, and neither the headline nor the gate goes by them",
    )
    assured: float | None = Field(
        None,
        ge=0,
        le=1,
        description="smallest size of the difference within `interval`, 0 if the interval holds "
        "zero; null if the group is not decided, or no guarantee was computed",
    )
    q_value: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of false finds to expect among the groups that differ as clearly as "
        "this one; null unless the guarantee is `fdr`",
    )
    stability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of bootstrap samples in which the rule, or a near-duplicate, explains "
        "how rates differ; null if it was not looked at",
    )
    found: FoundSummary | None = Field(
        None, description="how it looked on the rows that were searched; null without a holdout"
    )
    explanation: ExplanationSummary | None = Field(
        None, description="what is behind its difference, for the first groups"
    )


class UndecidedGroup(Part):
    """A group too small to be judged; it is neither fair nor unfair, only unknown."""

    text: str = Field(description="the rules as people write them")
    rules: list[RuleSummary] = Field(description="the rules")
    n_in: int = Field(description="rows in the group")
    support: float = Field(description="share of the rows")
    reason: str = Field(description="why it is not judged")


class FeatureSummary(Part):
    """One feature, as declared and as found; for texts a category of sensitive terms."""

    name: str = Field(description="the feature")
    type: Literal["integer", "decimal", "categorical", "terms"] = Field(description="as declared")
    sensitive: bool = Field(description="may rules be about it?")
    domain: str = Field(description="declared range, values or terms, in words")
    missing: int = Field(ge=0, description="rows in which it is missing; texts without a term")


class LabelSummary(Part):
    """The label whose rate is compared."""

    column: str = Field(description="the label column; may be empty for texts")
    favourable: str = Field(description="the label whose rate is compared")
    meaning: str = Field(description="what the favourable label says, in words; may be empty")


class DataSummary(Part):
    """The table, or the texts, that were audited."""

    kind: Literal["rows", "texts"] = Field("rows", description="what was audited")
    name: str = Field(description="short name")
    title: str = Field(description="name for people")
    description: str = Field(description="from the description")
    licence: str = Field(description="from the description")
    citation: str = Field(description="from the description")
    source: str = Field(description="the file or object the rows came from")
    fingerprint: str = Field(description="sha256 of the features' values, or of the texts")
    rows: int = Field(description="number of rows, or of texts")
    independent: int | None = Field(
        None,
        ge=1,
        description="how many of them are independent: copies of one text, nearly equal texts, or "
        "rows of one cluster, count once; null if each counts",
    )
    label: LabelSummary = Field(description="the label whose rate is compared")
    features: list[FeatureSummary] = Field(description="every feature, in order")
    notes: list[str] = Field(
        default_factory=list, description="which rows were left out, whether labels are absent"
    )


class ModelSummary(Part):
    """The model that was audited, a black box to the audit."""

    name: str = Field(description="what the model is called")
    kind: str = Field(description="what it is, in words")
    output: Literal["labels", "scores"] = Field(description="what it returns")
    threshold: float | None = Field(description="scores above it count as favourable")
    fingerprint: str = Field(description="sha256 of its decisions on the first 1,000 rows")
    file_sha256: str | None = Field(
        None, description="sha256 of the model's file, if it was read from one"
    )
    accuracy: float | None = Field(None, description="share of rows it labels as the file does")
    card: dict[str, str] = Field(
        default_factory=dict, description="the model card beside the file, as texts"
    )
    not_given: list[str] = Field(
        default_factory=list, description="features of the description that it is not given"
    )
    passed_through: list[str] = Field(
        default_factory=list,
        description="columns that it is given and the description does not have; never perturbed",
    )
    changing: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of the first rows or texts that it answered otherwise when asked again",
    )
    read_as: dict[str, str] = Field(
        default_factory=dict,
        description="the labels that its answers 0 and 1 were read as; empty if it gave labels",
    )
    other_labels: list[str] = Field(
        default_factory=list,
        description="its labels besides the favourable one, if several; compared as one",
    )


class Parameters(Part):
    """What the user asked for."""

    estimand: EstimandName = Field(
        "neighbourhood", description="which rates are ranked, and what the headline is about"
    )
    theta: float | None = Field(
        description="smallest share of the rows on each side of a judged group; null: none asked"
    )
    min_rows: int | None = Field(
        None, description="fewest rows on each side of a judged group, as asked; null: the default"
    )
    error_margin: float = Field(description="largest sampling margin of a decided group")
    min_samples: int = Field(description="more samples than this a side come first")
    confidence: float = Field(description="of each side's margin, and of the population interval")
    mode: Literal["auto", "exact", "sampled"] = Field(description="mode asked for")
    sampling: Literal["pooled", "independent"] = Field(description="sampling asked for")
    max_queries: int = Field(description="most rows to ask the model about")
    max_features: int = Field(description="most rules in a rule set")
    bins: int | None = Field(description="overrides the data set's number of bins")
    rank_by: Literal["lower-bound", "score", "counterfactual"] = Field(
        "score", description="what the groups are ranked by"
    )
    top: int = Field(description="how many ranked groups the document holds")
    seed: int = Field(description="seed of every random choice")
    overlap: float = Field(description="Jaccard overlap from which two groups are one finding")
    fail_above: float | None = Field(None, description="the gate; null if there is none")
    strict: bool = Field(
        False, description="nothing is judged if too many people could not be judged"
    )
    max_unjudged: float = Field(0.01, description="with `strict`: for which share that may be so")
    # The defaults below are what audits did before there was a choice.
    guarantee: Literal["per-group", "simultaneous", "fdr"] = Field(
        "per-group", description="what the population intervals were to hold for"
    )
    interval: Literal["auto", "anytime", "wald"] = Field(
        "wald", description="whose sampling margin was asked for"
    )
    replicates: int = Field(1000, description="bootstrap samples for a simultaneous guarantee")
    holdout: float | None = Field(None, description="share of the rows held out; null: none")
    stability: int | None = Field(
        0, description="bootstrap samples to look for the first groups in; null: what was quick"
    )
    condition_on: tuple[str, ...] = Field(
        (), description="features whose mix a conditional score makes the same"
    )
    nondeterministic: int | None = Field(
        None,
        description="answers to each question over which means are taken, for a model that answers "
        "differently each time; null: it must not",
    )


class Counts(Part):
    """How many rule sets there were at each step."""

    candidates: int = Field(description="rule sets the sensitive features allow")
    frequent: int = Field(description="with enough rows inside and outside to be judged")
    groups: int = Field(description="after folding rule sets that select the same rows")
    decided: int = Field(description="groups whose margin is small enough")
    undecided_frequent: int = Field(description="groups whose margin stayed too large")
    undecided_small: int = Field(
        description="combinations of single values, or of categories, with too few rows"
    )


class Verdict(Part):
    """The outcome, the same in every view."""

    status: Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"] = Field(
        description="the outcome in one word"
    )
    exit_code: Literal[0, 1, 3] = Field(description="what the command line leaves with")
    headline: str = Field(description="the largest difference, as a sentence")
    sentences: list[str] = Field(description="what to know beside it")


class AuditSummary(Part):
    """Everything an audit found, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["testsgd.audit/1"] = Field(
        "testsgd.audit/1", alias="schema", description="name and version of this format"
    )
    created: str = Field(description="UTC time, ISO 8601; a rerun changes it and `seconds`")
    mode: Literal["exact", "sampled"] = Field(description="how the rates were found")
    sampling: Literal["pooled", "independent"] | None = Field(description="null in exact mode")
    parameters: Parameters = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd, Python and the libraries used")
    data: DataSummary = Field(description="the rows")
    model: ModelSummary = Field(description="the model")
    overall_rate: float | None = Field(
        description="rate of the favourable label over all samples, null if there are none"
    )
    counts: Counts = Field(description="how many rule sets there were at each step")
    neighbourhood: int = Field(
        description="perturbed rows the data set allows; for texts, generated ones"
    )
    model_queries: int = Field(description="rows or texts the model was asked to predict")
    seconds: dict[str, float] = Field(description="wall-clock seconds per phase")
    verdict: Verdict = Field(description="the outcome in words, with the exit code")
    groups: list[GroupSummary] = Field(description="the top groups and the distinct ones, by rank")
    undecided: list[UndecidedGroup] = Field(
        description="groups too small to judge, or without samples on one side"
    )
    charts: Charts = Field(description="the numbers behind the report's charts")
    terms: TermsSummary | None = Field(
        None, description="for texts: the sensitive terms; null for rows"
    )
    estimands: list[EstimandSummary] = Field(
        default_factory=list, description="both estimands, the one of the ranking first"
    )
    moved: list[MovedFeature] = Field(
        default_factory=list,
        description="difference of the first group with one feature moved, those that change it "
        "most; empty if the estimands agree, or if it is not known",
    )
    rules: list[ExplainingRuleSummary] = Field(
        default_factory=list,
        description="the fewest rules that explain how rates differ, as they were chosen",
    )
    unjudged: UnjudgedSummary | None = Field(
        None, description="who could not be judged; null: not counted"
    )
    guarantee: GuaranteeSummary | None = Field(
        None, description="what the population intervals hold for; null: for one group at a time"
    )
    holdout: HoldoutSummary | None = Field(
        None, description="how the rows were split; null if they were not"
    )
    stability_samples: int = Field(
        0, ge=0, description="bootstrap samples behind each `stability`; 0 if there are none"
    )
