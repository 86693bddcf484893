"""The summary of an audit: one document; its JSON Schema, ``audit-2.json``, is made from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from testsgd.auditing.explaining import Explanation
from testsgd.auditing.findings import AuditHoldout, InSearch
from testsgd.auditing.guarantee import Method
from testsgd.auditing.parameters import AuditParameters, Estimand, GuaranteeKind, SamplingScheme
from testsgd.auditing.report.error_rates import ErrorRateSummary
from testsgd.auditing.report.further_looks import (
    ConditionalSummary,
    DeeperSummary,
    FinerSummary,
    WithinSummary,
)
from testsgd.auditing.report.own_effects import OwnEffectSummary
from testsgd.auditing.report.runs import RunsSummary
from testsgd.auditing.report.term_summary import TermsSummary
from testsgd.data import Outcome
from testsgd.report.summaries import (
    NO_TRUTH_VALUE,
    Count,
    Created,
    Difference,
    Durations,
    Interval,
    Part,
    Positive,
    RuleSummary,
    Share,
    check_equal_lengths,
)

SCHEMA_NAME = "testsgd.audit/2"

# A rate of fewer rows would say what was decided about single people.
FEWEST_SHOWN = 5


class GuaranteeSummary(Part):
    """What the confidence intervals hold for."""

    kind: GuaranteeKind = Field(
        description="for one group at a time, for all groups at once, or for the discoveries"
    )
    confidence: Share = Field(description="confidence with which it holds")
    method: Method = Field(description="how the intervals were made wide enough")
    groups: Count = Field(description="groups that it holds for together")
    replicates: Count = Field(description="bootstrap samples behind it; 0 if there are none")
    critical_value: float | None = Field(
        None, description="normal quantile of the intervals; null if not one"
    )
    significant: Count = Field(
        description="groups whose difference is statistically significant: whose confidence "
        "interval leaves out zero; for `fdr`, whose q-value is at most 1 - confidence"
    )
    significant_complete: bool = Field(description="false: there may be more, not looked at")
    significant_terms: Count | None = Field(
        None,
        description="for texts: groups whose counterfactual effect is statistically significant, "
        "whose paired interval leaves out zero; null if nothing was compared in pairs",
    )
    largest_bound_rank: Count | None = Field(
        None, description="rank of the group with the largest lower bound; null if none"
    )


class EstimandRates(Part):
    """The rates of a group by one estimand."""

    estimand: Estimand = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    rate_in: Share | None = Field(description="selection rate of the group; null if unknown")
    rate_out: Share | None = Field(description="selection rate of its complement; null if unknown")
    difference: Difference | None = Field(description="`rate_in - rate_out`")
    confidence_interval: Interval | None = Field(
        description="confidence interval of the difference; null if unknown"
    )
    margin: float | None = Field(
        None,
        ge=0,
        description="sampling margin of both sides added; 0 if exact; null if it is not known",
    )
    decided: bool = Field(description="false: not enough samples to judge it by this estimand")
    lower_confidence_bound: Share | None = Field(
        description="smallest size of the difference within `confidence_interval`"
    )


class MovedFeature(Part):
    """What the difference of the first group is if one feature is moved by one step."""

    feature: str = Field(description="a feature that is not sensitive")
    difference: Difference = Field(description="difference over the rows with it moved by one step")


class EstimandSummary(Part):
    """One of the two estimands: its overall rate, and the largest difference by it."""

    estimand: Estimand = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    groups: Count = Field(description="groups that could be judged by it")
    largest: Share | None = Field(description="their largest size of a difference; null if none")
    largest_bound: Share | None = Field(
        description="largest lower confidence bound among them, which the gate goes by; null where "
        "it goes by the differences themselves"
    )
    largest_allowed: float | None = Field(
        None,
        description="largest difference that a simultaneous interval still allows; null if it is "
        "not known",
    )
    smallest_ratio: Share | None = Field(
        None,
        description="the smallest ratio of the smaller of two rates to the larger; null if none, "
        "or for texts",
    )
    smallest_ratio_bound: Share | None = Field(
        None,
        description="the smallest upper confidence bound of a ratio, which the gate goes by; null "
        "without a gate by ratios, and where it goes by the ratios themselves",
    )
    smallest_ratio_allowed: Share | None = Field(
        None,
        description="the smallest ratio that a simultaneous interval still allows; null without a "
        "gate by ratios, or if it is not known",
    )
    guarantee: GuaranteeKind | None = Field(description="what its confidence intervals hold for")
    first: str = Field(
        "", description="the group with the largest lower confidence bound by it, if one is known"
    )
    first_difference: Difference | None = Field(
        None, description="the difference of that group by it"
    )


class ExplainingRuleSummary(Part):
    """A rule that forward selection chose: what it adds, and what it stands for."""

    rank: Positive = Field(description="rank of the group that the rule describes")
    text: str = Field(description="the rule as people write it")
    share: Share | None = Field(
        description="share of the variation of rates between cells that it adds to the rules "
        "before it; null if it was found on other rows"
    )
    near_duplicates: Count = Field(description="groups of nearly the same rows, or of all others")
    examples: list[str] = Field(description="the first of these, by rank")


class CoarseBin(Part):
    """A bin of a number that more than half of the rows are in."""

    text: str = Field(description="the bin as people write it")
    share: Share = Field(description="share of the rows in it")
    feature: str = Field("", description="the number")
    one_value: bool = Field(
        False,
        description="true: nearly all of these rows have the same value, so that other bins tell "
        "no more; false if it is not known",
    )


class UnjudgedSummary(Part):
    """Who is in combinations of sensitive values, or of categories, that could not be judged."""

    fewest: Positive = Field(description="rows on each side of a judged group, at least")
    combinations: Count = Field(
        description="combinations of values of all sensitive features that occur; of texts, of "
        "categories of terms"
    )
    unjudged: Count = Field(
        description="those whose values, of at most three features, too few rows have or do not "
        "have, or that are only in judged groups of more than `max_dilution` times their size; of "
        "texts, those that too few have or do not have"
    )
    rows: Count = Field(description="rows that have such a combination; of texts, no other one")
    share: Share = Field(description="the same as a share of all rows")
    max_dilution: float | None = Field(
        None,
        description="how many times as many rows as a combination has a group may have that "
        "judges it; null for texts",
    )
    features: list[str] = Field(
        default_factory=list,
        description="sensitive features that no group could be described by: none of their values "
        "or ranges has enough rows inside and outside",
    )
    coarse_bins: list[CoarseBin] = Field(
        default_factory=list,
        description="bins of numbers with more than half of the rows, within which only finer "
        "cuts looked, where there are any",
    )


class CellRate(Part):
    """Rate in one cell of one sensitive feature."""

    label: str = Field(description="the value or bin")
    n: Count = Field(description="rows; for texts, those the term is put into")
    rate: Share | None = Field(
        description="null if the cell has no rows, fewer than five, or none was sampled"
    )
    confidence_interval: Interval | None = Field(
        None, description="confidence interval of the rate, for this cell by itself"
    )
    base_rate: Share | None = Field(
        None,
        description="share of its rows with the favourable label in the file; null without labels",
    )


class FeatureRates(Part):
    """Rates over the cells of one sensitive feature."""

    feature: str = Field(description="the sensitive feature")
    cells: list[CellRate] = Field(description="its values, its bins or its terms")


class HeatMap(Part):
    """Rates over the cells of two sensitive features; rates[i][j] is row i, column j."""

    row_feature: str = Field(description="the feature of the rows")
    column_feature: str = Field(description="the feature of the columns")
    row_labels: list[str] = Field(description="the rows' cells")
    column_labels: list[str] = Field(description="the columns' cells")
    rates: list[list[Share | None]] = Field(description="rates, row by row; null where nobody is")
    counts: list[list[Count]] = Field(description="numbers of rows of the file, row by row")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        check_equal_lengths(
            {"row_labels": self.row_labels, "rates": self.rates, "counts": self.counts}
        )
        columns = self.column_labels
        for row, (rates, counts) in enumerate(zip(self.rates, self.counts, strict=True)):
            check_equal_lengths(
                {"column_labels": columns, f"rates.{row}": rates, f"counts.{row}": counts}
            )
        return self


class ScatterCell(Part):
    """Groups that fall in one small cell of the support-against-score plane."""

    support: Share = Field(description="share of the rows")
    score: Share = Field(description="score")
    n: Count = Field(description="groups at this place")


class Charts(Part):
    """Numbers behind the charts, so that a report can be drawn again without the data."""

    scatter: list[ScatterCell] = Field(description="all frequent groups, support against score")
    scatter_binned: bool = Field(description="true: points stand for cells of several groups")
    features: list[FeatureRates] = Field(description="rates over the cells of each feature")
    heat_maps: list[HeatMap] = Field(description="rates over the cells of each pair")


class RuleAlone(Part):
    """What one rule of a group gives on its own."""

    text: str = Field(description="the rule as people write it")
    n_in: Count = Field(description="rows that satisfy it; for texts, those it is put into")
    rate_in: Share = Field(description="rate of the favourable label among them")
    rate_out: Share | None = Field(description="null if the rule selects every row")
    difference: Difference | None = Field(
        description="`rate_in - rate_out`; null if nobody is outside"
    )


class CounterfactualSummary(Part):
    """The counterfactual effect of a group's terms: the same texts, with other terms instead."""

    seeds: Positive = Field(description="texts that were compared in both forms")
    rate_with: Share = Field(description="rate with the terms of the group")
    rate_other: Share = Field(description="mean rate with other terms of the same categories")
    difference: Difference = Field(description="rate_with - rate_other")
    confidence_interval: Interval = Field(
        description="paired confidence interval of that difference"
    )
    effective_sample_size: float | None = Field(
        None,
        ge=0,
        description="effective sample size of the group's texts, where some are copies of others; "
        "null: as many as there are",
    )


class GroupSummary(Part):
    """One group: who is in it and how the model treats it, compared with everybody else."""

    rank: Positive = Field(description="place in the ranking")
    rules: list[RuleSummary] = Field(description="the rules, at most one a feature; all hold")
    text: str = Field(description="the rules as people write them")
    support: Share = Field(description="`n_in` as a share of all rows")
    n_in: Count = Field(
        description="rows in the group; for texts, those with a term of each of its categories, "
        "from which the texts of the group are generated"
    )
    n_out: Count = Field(description="rows of its complement; of texts, those without a term of it")
    effective_sample_size_in: float | None = Field(
        None, ge=0, description="effective sample size, if rows repeat one another; null: `n_in`"
    )
    effective_sample_size_out: float | None = Field(
        None, ge=0, description="the same of its complement; null: `n_out`"
    )
    rate_in: Share = Field(description="selection rate of the group")
    rate_out: Share = Field(description="selection rate of its complement")
    base_rate_in: Share | None = Field(
        None,
        description="share of the group's rows with the favourable label in the file; null without "
        "labels, and for metrics other than the selection rate",
    )
    base_rate_out: Share | None = Field(None, description="the same of its complement")
    difference: Difference = Field(description="demographic parity difference `rate_in - rate_out`")
    score: Share = Field(description="its absolute value, the paper's group fairness score")
    margin: float = Field(ge=0, description="sampling margin of both sides added; 0 if exact")
    margin_method: Literal["none", "wald", "wilson", "anytime"] = Field(
        description="whose interval the margin is from; `none` in exact mode"
    )
    confidence_interval: Interval = Field(
        description="confidence interval of the difference in the population the rows are a sample "
        "of; what it holds for is in `guarantee`"
    )
    ratio: Share | None = Field(
        None,
        description="the smaller of both rates as a part of the larger; 1 if both are 0; null for "
        "texts",
    )
    ratio_interval: Interval | None = Field(
        None,
        description="confidence interval of that ratio, at the error rate of "
        "`confidence_interval`; null for texts",
    )
    exact: bool = Field(description="true if the rates carry no sampling error")
    samples_in: Count = Field(description="generated rows or texts asked about inside")
    samples_out: Count = Field(description="generated rows, or texts, asked about outside")
    decided: bool = Field(description="false: the sampling margin is above the error margin")
    distinct: bool = Field(
        description="one of the groups shown first: of rows that of rank 1, and those that differ "
        "significantly and are other people than any group before; of texts one of the fewest "
        "rules that explain how rates differ"
    )
    other: EstimandRates | None = Field(
        None, description="the same by the other estimand; null if it was not estimated"
    )
    rules_alone: list[RuleAlone] = Field(
        default_factory=list, description="what each rule gives by itself, for the first groups"
    )
    counterfactual: CounterfactualSummary | None = Field(
        None, description="counterfactual effect of the terms of texts; null if not compared"
    )
    own_effect: OwnEffectSummary | None = Field(
        None,
        description="own effect of the sensitive features of rows; null if the model was not asked",
    )
    unknown_to_model: bool = Field(
        False,
        description="true: the model does not know a term of the group, which is one unknown word "
        "to it; such groups come last, and neither the headline nor the gate goes by them",
    )
    lower_confidence_bound: Share | None = Field(
        None,
        description="smallest size of the difference within `confidence_interval`, 0 if that holds "
        "zero; null if the group is not decided, or no guarantee was computed",
    )
    q_value: Share | None = Field(
        None, description="smallest false discovery rate at which it is a discovery; `fdr` only"
    )
    stability: Share | None = Field(
        None, description="share of bootstrap samples in which it, or a near-duplicate, is selected"
    )
    in_search: InSearch | None = Field(
        None, description="the group in the rows searched; null without a holdout"
    )
    explanation: Explanation | None = Field(
        None, description="what makes up its difference and goes with it; for the first groups"
    )

    # The terms of an audit of texts, which texts are searched by; its summary sets them.
    _terms: TermsSummary | None = PrivateAttr(None)

    def mask(self, data: Any) -> NDArray[np.bool_]:
        """Return which rows of a table, or which texts, are in the group.

        Parameters
        ----------
        data : data frame, n rows
            A pandas, polars or Arrow table with a column for each feature of the rules, its values
            as the audit calls them. Where rare values were joined, :meth:`AuditResult.mask` knows
            which. Of an audit of texts a list or a series of texts.

        Returns
        -------
        numpy.ndarray of bool, shape (n,)
            True for rows that satisfy every rule. A missing cell satisfies the value "missing" and
            no other one, and lies in no interval; an interval holds its lower end. True for texts
            that mention the term of every rule, in any of its forms.

        Raises
        ------
        DataError
            If a column is missing, or has texts where a rule is about numbers.

        Examples
        --------
        >>> import testsgd
        >>> people = testsgd.generate_demo(seed=0)
        >>> [first, *_] = testsgd.audit(None, people, "demo").summary.groups
        >>> people[first.mask(people)]["race"].unique().tolist()
        ['Black']
        """
        # Loaded by those who ask, not by every command.
        from testsgd.auditing.report.membership import rules_mask, texts_mask

        if self._terms is not None:
            return texts_mask(self.rules, data, self._terms.as_listed())
        return rules_mask(self.rules, data)

    def __repr__(self) -> str:
        """Return who is in it, and the rates; ``model_dump`` gives everything."""
        from testsgd.report.short_form import short_form

        shown = ("rank", "text", "n_in", "rate_in", "rate_out", "difference")
        fields = [(name, getattr(self, name)) for name in (*shown, "confidence_interval")]
        return short_form(type(self).__name__, fields)


class UndecidedGroup(Part):
    """A group too small to be judged; it is neither fair nor unfair, only unknown."""

    text: str = Field(description="the rules as people write them")
    rules: list[RuleSummary] = Field(description="the rules")
    n_in: Count = Field(description="rows in the group")
    support: Share = Field(description="share of the rows")
    reason: str = Field(description="why it is not judged")


class FeatureSummary(Part):
    """One feature, as declared and as found; for texts a category of sensitive terms."""

    name: str = Field(description="the feature")
    type: Literal["integer", "decimal", "categorical", "terms"] = Field(description="as declared")
    sensitive: bool = Field(description="may rules be about it?")
    domain: str = Field(description="declared range, values or terms, in words")
    missing: Count = Field(description="rows in which it is missing; texts without a term")


class InferredColumnSummary(Part):
    """What a column without a description was taken for."""

    name: str = Field(description="the column")
    kind: Literal[
        "integer", "decimal", "categorical", "date", "identifier", "text", "constant", "empty"
    ] = Field(description="what it was taken for; only the first three are features")
    why: str = Field(description="by what it was recognised")
    distinct: Count = Field(description="how many different values it has")
    missing: Count = Field(description="rows in which it is missing")


class LabelSummary(Part):
    """The label whose rate is compared."""

    column: str = Field(description="the label column; may be empty for texts")
    favourable: str = Field(description="the label whose rate is compared")
    together: list[str] = Field(
        default_factory=list,
        description="the labels that are favourable together; empty if it is a single label",
    )
    others: list[str] = Field(
        default_factory=list,
        description="all labels that are not favourable; empty if they are not known",
    )
    meaning: str = Field(description="what the favourable label says, in words; may be empty")
    outcome: Outcome = Field(
        "benefit", description="what it is for a person to be given this label"
    )
    outcome_given: bool = Field(
        False, description="whether `outcome` was given; if not, it is taken for a benefit"
    )


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
    rows: Count = Field(description="number of rows, or of texts")
    sampled_from: Positive | None = Field(
        None, description="how many there were, if they are a sample; null if they are all"
    )
    predictions_given: bool = Field(
        False, description="the predictions were there already, and no model was asked"
    )
    independent: Positive | None = Field(
        None,
        description="how many of them are independent: copies of one text, nearly equal texts, or "
        "rows of one cluster, count once; null if each counts",
    )
    cluster: str | None = Field(
        None,
        description="the column that names the unit of a row, if the description declares it; null "
        "if equal rows are one unit, or each row is",
    )
    label: LabelSummary = Field(description="the label whose rate is compared")
    features: list[FeatureSummary] = Field(description="every feature, in order")
    inferred: list[InferredColumnSummary] = Field(
        default_factory=list,
        description="what the columns were taken for; empty if a description was given",
    )
    notes: list[str] = Field(
        default_factory=list, description="which rows were left out, whether labels are absent"
    )


class UnknownCategories(Part):
    """Values of a column that the model's encoder was not fitted to, in the rows as they are."""

    column: str = Field(description="the column")
    values: list[bool | int | float | str] = Field(
        description="up to three of the values, the most frequent first"
    )
    distinct: Count = Field(description="how many different such values there are")
    rows: Count = Field(description="rows with such a value; missing ones do not count")
    share: Share = Field(description="share of the rows")
    known: list[bool | int | float | str] = Field(
        description="up to three values that the encoder knows, first those written alike"
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
    accuracy: Share | None = Field(
        None,
        description="share of rows that it gives the favourable label, or another, as the file "
        "does; of several classes all others count as one",
    )
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
    changing: Share | None = Field(
        0.0,
        description="share of the first rows or texts that it answered otherwise when asked again; "
        "null if its answers are kept, so that it was not asked again",
    )
    read_as: dict[str, str] = Field(
        default_factory=dict,
        description="the labels that its answers 0 and 1 were read as; empty if it gave labels",
    )
    other_labels: list[str] = Field(
        default_factory=list,
        description="its labels besides the favourable one, if several; compared as one",
    )
    unknown_labels: list[str] = Field(
        default_factory=list,
        description="its labels that are not among those of the data; they are not favourable",
    )
    unknown_categories: list[UnknownCategories] = Field(
        default_factory=list,
        description="values that its encoders were not fitted to, by columns; empty if there are "
        "none, or no encoder can be read",
    )


class Counts(Part):
    """How many rule sets there were at each step."""

    candidates: Count = Field(description="rule sets the sensitive features allow")
    frequent: Count = Field(description="with enough rows inside and outside to be judged")
    groups: Count = Field(description="after folding rule sets that select the same rows")
    decided: Count = Field(description="groups whose margin is small enough")
    undecided_frequent: Count = Field(description="groups whose margin stayed too large")
    undecided_small: Count = Field(description="combinations of values or categories with few rows")


class Verdict(Part):
    """The outcome, the same in every view."""

    status: Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"] = Field(
        description="the outcome in one word"
    )
    exit_code: Annotated[Literal[0, 1, 3], NO_TRUTH_VALUE] = Field(
        description="what the command line leaves with"
    )
    headline: str = Field(
        description="the largest difference, or the effect that ranks groups, in a sentence or two"
    )
    sentences: list[str] = Field(description="what qualifies it")


class AuditSummary(Part):
    """Everything an audit found, as one document."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Annotated[Literal["testsgd.audit/2"], NO_TRUTH_VALUE] = Field(
        "testsgd.audit/2", alias="schema", description="name and version of this format"
    )
    created: Created = Field(
        description="UTC time, ISO 8601; a rerun changes it and `seconds`; null if left out"
    )
    mode: Literal["exact", "sampled"] = Field(description="how the rates were found")
    sampling: SamplingScheme | None = Field(description="null in exact mode")
    parameters: AuditParameters = Field(description="what was asked for")
    versions: dict[str, str] = Field(description="of testsgd, Python and the libraries used")
    data: DataSummary = Field(description="the rows")
    model: ModelSummary = Field(description="the model")
    overall_rate: Share | None = Field(description="selection rate over all samples; null if none")
    counts: Counts = Field(description="how many rule sets there were at each step")
    neighbourhood: Count = Field(description="perturbed rows, or generated texts, the data allow")
    model_queries: Count = Field(description="rows or texts the model was asked to predict")
    seconds: Durations = Field(description="wall-clock seconds per phase")
    verdict: Verdict = Field(description="the outcome in words, with the exit code")
    groups: list[GroupSummary] = Field(description="the top groups and the distinct ones, by rank")
    undecided: list[UndecidedGroup] = Field(
        description="groups that are too small or got no samples"
    )
    charts: Charts = Field(description="the numbers behind the report's charts")
    terms: TermsSummary | None = Field(None, description="sensitive terms of texts; null for rows")
    estimands: list[EstimandSummary] = Field(
        default_factory=list, description="both estimands, the one of the ranking first"
    )
    moved: list[MovedFeature] = Field(
        default_factory=list,
        description="difference of the first group with one feature moved, those that change it "
        "most; empty if the estimands agree, or if it is not known",
    )
    rules: list[ExplainingRuleSummary] = Field(
        default_factory=list, description="the fewest rules that explain how rates differ"
    )
    unjudged: UnjudgedSummary = Field(description="who could not be judged")
    guarantee: GuaranteeSummary = Field(description="what the confidence intervals hold for")
    error_rates: list[ErrorRateSummary] = Field(
        default_factory=list,
        description="true-positive and false-positive rate of the same groups; empty if there are "
        "no true labels, or if it is not the selection rate of rows as they are that was compared",
    )
    holdout: AuditHoldout | None = Field(None, description="how the rows were split; null if not")
    deeper: DeeperSummary | None = Field(
        None, description="groups of more features than were searched; null if there are none"
    )
    finer: FinerSummary | None = Field(
        None, description="groups by finer cuts of numbers; null if there are none"
    )
    within: WithinSummary | None = Field(
        None, description="groups within slices of other features; null if not asked for"
    )
    runs: RunsSummary | None = Field(
        None, description="the first groups over runs with several seeds; null for one run"
    )
    conditional: ConditionalSummary | None = Field(
        None, description="groups among others that are alike; null if not asked for"
    )
    own_effects_unknown: str = Field(
        "",
        description="why no own effects of the sensitive features are known, or only those of the "
        "first groups, from draws; empty if all are",
    )
    stability_samples: Count = Field(0, description="bootstrap samples behind each `stability`")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.parameters.max_features is None:
            raise ValueError("parameters.max_features: null, and yet groups were searched")
        for group in self.groups:
            group._terms = self.terms
        return self

    def __repr__(self) -> str:
        """Return the verdict and what was counted; ``model_dump`` gives everything."""
        from testsgd.report.short_form import short_form

        shown = {
            "verdict": self.verdict,
            "data": self.data.name,
            "rows": self.data.rows,
            "model": self.model.name,
            "mode": self.mode,
            "overall_rate": self.overall_rate,
            "groups": self.counts.groups,
        }
        return short_form(type(self).__name__, shown.items())
