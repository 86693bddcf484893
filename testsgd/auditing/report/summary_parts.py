"""The parts of an audit's summary: guarantee, explanations, estimands, terms and charts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testsgd.report.summaries import Part, RuleSummary


class GuaranteeSummary(Part):
    """What the population intervals hold for."""

    kind: Literal["per-group", "simultaneous", "fdr"] = Field(
        description="for one group at a time, for all groups at once, or for those that are found"
    )
    confidence: float = Field(description="confidence with which it holds")
    method: Literal["each", "max-statistic", "bonferroni", "mixed", "false-coverage"] = Field(
        description="how the intervals were made wide enough"
    )
    groups: int = Field(ge=0, description="groups that it holds for together")
    replicates: int = Field(ge=0, description="bootstrap samples behind it; 0 if there are none")
    critical: float | None = Field(
        None, description="normal quantile that the intervals are made with; null if not one"
    )
    sure: int = Field(
        ge=0,
        description="groups that differ by more than chance explains, with that confidence: whose "
        "interval does not reach zero; for `fdr`, whose q-value is at most 1 - confidence",
    )
    sure_complete: bool = Field(description="false: there may be more, not all were looked at")
    sure_terms: int | None = Field(
        None,
        ge=0,
        description="for texts: groups whose terms make a difference by themselves, whose paired "
        "interval does not reach zero; null if nothing was compared in pairs",
    )
    surest_rank: int | None = Field(
        None, description="rank of the group whose interval lies farthest from zero; null if none"
    )


class HoldoutSummary(Part):
    """The split of the rows: groups were found on some, and estimated on the others."""

    share: float = Field(gt=0, lt=1, description="share of the rows that was held out")
    searched: int = Field(ge=0, description="rows that were searched")
    estimated: int = Field(ge=0, description="rows held out, from which all rates are")
    groups: int = Field(ge=0, description="groups that were compared in the rows searched")
    missing: int = Field(
        ge=0, description="groups found that have nobody inside or outside among the rows held out"
    )


class FoundSummary(Part):
    """How a group looked on the rows that were searched."""

    rank: int = Field(ge=1, description="its rank there")
    score: float = Field(ge=0, le=1, description="its score there, likely to be too large")
    n_in: int = Field(ge=0, description="rows in the group there")


class RuleShareSummary(Part):
    """What one rule adds to a group's difference."""

    text: str = Field(description="the rule as people write it")
    share: float = Field(description="its Shapley value; the shares add up to the difference")


class SimplestSummary(Part):
    """The fewest of a group's rules that keep at least 90% of its difference."""

    rules: list[RuleSummary] = Field(description="the rules that stay")
    text: str = Field(description="the rules as people write them")
    difference: float = Field(ge=-1, le=1, description="their difference")


class ContrastSummary(Part):
    """A feature that is not sensitive, in which a group differs from the rest."""

    feature: str = Field(description="the feature")
    value: str | None = Field(
        None, description="the value whose share differs most; null for a number"
    )
    inside: float = Field(description="mean in the group, or the value's share")
    outside: float = Field(description="the same outside")
    standardised: float = Field(description="difference in pooled standard deviations")
    known: int = Field(ge=0, description="rows in which the feature is not missing")


class ConditionalSummary(Part):
    """A group compared with others of the same mix of chosen features."""

    features: list[str] = Field(description="the features whose mix is made the same")
    difference: float = Field(ge=-1, le=1, description="rate in the group minus that of the others")
    interval: tuple[float, float] = Field(
        description="population interval for that difference, with the audit's guarantee"
    )
    covered: float = Field(
        ge=0, le=1, description="share of the group's rows that somebody outside is like"
    )
    strata: int = Field(ge=0, description="combinations of the features' values compared")


class ExplanationSummary(Part):
    """What is behind a group's difference."""

    shares: list[RuleShareSummary] = Field(
        description="what each rule adds; empty if it is not known"
    )
    simplest: SimplestSummary | None = Field(
        None, description="the fewest rules that keep 90% of it; null if it is not known"
    )
    contrasts: list[ContrastSummary] = Field(
        description="features that differ most, the largest first: leads, not causes"
    )
    conditional: ConditionalSummary | None = Field(
        None, description="compared like with like; null if not asked for, or not known"
    )


EstimandName = Literal["observed", "neighbourhood"]


class EstimandRates(Part):
    """The rates of a group by one estimand."""

    estimand: EstimandName = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    rate_in: float | None = Field(ge=0, le=1, description="rate in the group; null if unknown")
    rate_out: float | None = Field(ge=0, le=1, description="rate outside; null if unknown")
    difference: float | None = Field(ge=-1, le=1, description="`rate_in - rate_out`")
    interval: tuple[float, float] | None = Field(
        description="interval for the difference in the population; as for the groups' own"
    )
    decided: bool = Field(description="false: not enough samples to judge it by this estimand")
    assured: float | None = Field(
        ge=0, le=1, description="smallest size of the difference within `interval`"
    )


class MovedFeature(Part):
    """What the difference of the first group is if one feature is moved by one step."""

    feature: str = Field(description="a feature that is not sensitive")
    difference: float = Field(
        description="difference over the rows with the feature moved by one step"
    )


class EstimandSummary(Part):
    """One of the two estimands: its overall rate, and the largest difference by it."""

    estimand: EstimandName = Field(
        description="`observed`: of the rows as they are; `neighbourhood`: over perturbed rows"
    )
    groups: int = Field(ge=0, description="groups that could be judged by it")
    largest: float | None = Field(
        description="largest size of a difference among them; null if there are none"
    )
    assured: float | None = Field(
        description="largest size of a difference that its interval assures; null where "
        "differences are taken as they are"
    )
    guarantee: Literal["per-group", "simultaneous", "fdr"] | None = Field(
        description="what its intervals hold for"
    )


class ExplainingRuleSummary(Part):
    """A rule that forward selection chose: what it adds, and what it stands for."""

    rank: int = Field(ge=1, description="rank of the group that the rule describes")
    text: str = Field(description="the rule as people write it")
    share: float | None = Field(
        ge=0,
        le=1,
        description="share of the variation of rates between cells that it adds to the rules "
        "before it; null if it was found on other rows",
    )
    near_duplicates: int = Field(
        ge=0, description="groups of nearly the same rows, or nearly all others"
    )
    examples: list[str] = Field(description="the first of these, by rank")


class UnjudgedSummary(Part):
    """Who is in combinations of single values that could not be judged."""

    fewest: int = Field(ge=1, description="rows on each side of a judged group, at least")
    combinations: int = Field(ge=0, description="combinations of single values that occur")
    unjudged: int = Field(ge=0, description="those with too few rows inside or outside")
    rows: int = Field(ge=0, description="rows that are in no other combination")
    share: float = Field(ge=0, le=1, description="the same as a share of all rows")


class Snippet(Part):
    """A place of a text at which a sensitive term stands."""

    before: str = Field(description="what stands before the term, cut at a blank")
    term: str = Field(description="the term, as the text writes it")
    after: str = Field(description="what stands after it, cut at a blank")


class TermSummary(Part):
    """One sensitive term, and how the texts use it."""

    term: str = Field(description="the term")
    forms: list[str] = Field(description="its plurals and other spellings, which count as it")
    ambiguous: str = Field("", description="what else it often means; empty if nothing is known")
    texts: int = Field(ge=0, description="texts that contain it")
    mentions: int = Field(ge=0, description="how often it stands in them")
    share: float = Field(ge=0, le=1, description="share of the mentions of its category")
    rate: float | None = Field(
        None, description="rate with this term in place; null if its category is not frequent"
    )
    as_nonsense: bool | None = Field(
        None,
        description="is every text answered with this term as with a nonsense word? null if that "
        "was not asked",
    )
    known_to_model: bool | None = Field(
        None, description="does the model know every word of it? null if the model does not say"
    )
    snippets: list[Snippet] = Field(default_factory=list, description="some of its places")


class TermCategorySummary(Part):
    """One category of sensitive terms."""

    name: str = Field(description="the category")
    texts: int = Field(ge=0, description="texts that contain a term of it")
    share: float = Field(ge=0, le=1, description="share of all texts")
    mentions: int = Field(ge=0, description="how often its terms stand in the texts")
    nonsense_rate: float | None = Field(
        None, ge=0, le=1, description="rate with a nonsense word in place; null if it was not asked"
    )
    terms: list[TermSummary] = Field(description="its terms, as listed")


class TermsSummary(Part):
    """The sensitive terms, and where the texts mention them."""

    name: str = Field(description="name of the list")
    source: str = Field(description="where the list is from")
    fingerprint: str = Field(description="sha256 of the list")
    nonsense: str | None = Field(None, description="the nonsense word; null if there was none")
    exceptions: list[str] = Field(
        default_factory=list, description="fixed expressions in which no term was looked for"
    )
    texts: int = Field(ge=0, description="texts that contain any of the terms")
    snippets_shown: bool = Field(description="false: the texts were not to be shown")
    categories: list[TermCategorySummary] = Field(description="in the order of the list")


class CellRate(Part):
    """Rate in one cell of one sensitive feature."""

    label: str = Field(description="the value or bin")
    n: int = Field(description="rows; for texts, those the term is put into")
    rate: float | None = Field(description="null if the cell has no rows, or none was sampled")


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
    rates: list[list[float | None]] = Field(description="rates, row by row; null where nobody is")
    counts: list[list[int]] = Field(description="numbers of rows of the file, row by row")


class ScatterCell(Part):
    """Groups that fall in one small cell of the support-against-score plane."""

    support: float = Field(description="share of the rows")
    score: float = Field(description="score")
    n: int = Field(description="groups at this place")


class Charts(Part):
    """Numbers behind the charts, so that a report can be drawn again without the data."""

    scatter: list[ScatterCell] = Field(description="all frequent groups, support against score")
    scatter_binned: bool = Field(description="true: points stand for cells of several groups")
    features: list[FeatureRates] = Field(
        description="rates over the cells of each sensitive feature"
    )
    heat_maps: list[HeatMap] = Field(
        description="rates over the cells of each pair of sensitive features"
    )
