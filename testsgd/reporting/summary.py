"""The summary of an audit: one JSON-able document from which every view is rendered.

The document is versioned (``testsgd.audit/1``) and described by the JSON Schema that ships
beside this module (``schemas/audit-1.json``), which is generated from the classes below.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_NAME = "testsgd.audit/1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RuleSummary(_Part):
    """One rule: a set of values of a categorical feature, or an interval of a continuous one."""

    feature: str
    values: list[str] | None = Field(None, description="values allowed, for a categorical feature")
    low: float | None = Field(
        None, description="inclusive lower end, null where the rule is open below"
    )
    high: float | None = Field(
        None, description="exclusive upper end, null where the rule is open above"
    )
    text: str = Field(description="the rule as people write it")


class RuleAlone(_Part):
    """What one rule of a group gives on its own."""

    text: str
    n_in: int
    rate_in: float
    rate_out: float | None = Field(description="null if the rule selects every row")
    difference: float | None


class GroupSummary(_Part):
    """One group: who is in it and how the model treats it, compared with everybody else."""

    rank: int = Field(ge=1, description="place in the ranking by score")
    rules: list[RuleSummary]
    text: str
    support: float = Field(ge=0, le=1, description="share of the rows that are in the group")
    n_in: int = Field(description="rows in the group")
    n_out: int = Field(description="rows outside the group")
    rate_in: float = Field(ge=0, le=1, description="rate of the favourable label in the group")
    rate_out: float = Field(ge=0, le=1, description="rate of the favourable label outside")
    difference: float = Field(ge=-1, le=1, description="rate_in - rate_out")
    score: float = Field(ge=0, le=1, description="absolute difference, the group fairness score")
    margin: float = Field(
        ge=0, description="sampling margin of the score, both sides added; 0 in exact mode"
    )
    margin_method: Literal["none", "wald", "wilson"]
    interval: tuple[float, float] = Field(
        description="interval for the difference in the population the rows are a sample of"
    )
    exact: bool = Field(description="true if the rates carry no sampling error")
    samples_in: int
    samples_out: int
    decided: bool = Field(description="false: the sampling margin is above the error margin")
    distinct: bool = Field(description="true: not a near copy of a group ranked above it")
    rules_alone: list[RuleAlone] = Field(default_factory=list)


class UndecidedGroup(_Part):
    """A group too small to be judged; it is neither fair nor unfair, only unknown."""

    text: str
    rules: list[RuleSummary]
    n_in: int
    support: float
    reason: str


class FeatureSummary(_Part):
    """One feature, as declared and as found."""

    name: str
    type: Literal["integer", "decimal", "categorical"]
    sensitive: bool
    domain: str = Field(description="declared range or values, in words")
    missing: int = Field(ge=0, description="rows in which it is missing")


class CellRate(_Part):
    """Rate in one cell of one sensitive feature."""

    label: str
    n: int
    rate: float | None = Field(description="null if the cell has no rows")


class FeatureRates(_Part):
    """Rates over the cells of one sensitive feature."""

    feature: str
    cells: list[CellRate]


class HeatMap(_Part):
    """Rates over the cells of two sensitive features; rates[i][j] is row i, column j."""

    row_feature: str
    column_feature: str
    row_labels: list[str]
    column_labels: list[str]
    rates: list[list[float | None]]
    counts: list[list[int]]


class ScatterCell(_Part):
    """Groups that fall in one small cell of the support-against-score plane."""

    support: float
    score: float
    n: int


class Charts(_Part):
    """Numbers behind the charts, so that a report can be drawn again without the data."""

    scatter: list[ScatterCell]
    scatter_binned: bool = Field(description="true: points stand for cells of several groups")
    features: list[FeatureRates]
    heat_maps: list[HeatMap]


class LabelSummary(_Part):
    """The label whose rate is compared."""

    column: str
    favourable: str
    meaning: str = Field(description="what the favourable label says, in words; may be empty")


class DataSummary(_Part):
    """The table that was audited."""

    name: str
    title: str
    description: str
    licence: str
    citation: str
    source: str = Field(description="the file or object the rows came from")
    fingerprint: str = Field(description="sha256 of the features' values")
    rows: int
    label: LabelSummary
    features: list[FeatureSummary]
    notes: list[str] = Field(default_factory=list)


class ModelSummary(_Part):
    """The model that was audited, a black box to the audit."""

    name: str
    kind: str
    output: Literal["labels", "scores"]
    threshold: float | None = Field(description="scores above it count as favourable")
    fingerprint: str = Field(description="sha256 of its decisions on the first 1,000 rows")
    file_sha256: str | None = None
    accuracy: float | None = Field(None, description="share of rows it labels as the file does")
    card: dict[str, str] = Field(default_factory=dict)


class Parameters(_Part):
    """What the user asked for."""

    theta: float
    error_margin: float
    min_samples: int
    confidence: float
    mode: Literal["auto", "exact", "sampled"]
    sampling: Literal["pooled", "independent"]
    max_queries: int
    max_features: int
    bins: int | None = Field(description="overrides the data set's number of bins")
    top: int
    seed: int
    overlap: float = Field(description="Jaccard overlap from which two groups are one finding")
    fail_above: float | None = None


class Counts(_Part):
    """How many rule sets there were at each step."""

    candidates: int = Field(description="rule sets the sensitive features allow")
    frequent: int = Field(description="with support at least theta and somebody outside")
    groups: int = Field(description="after folding rule sets that select the same rows")
    decided: int
    undecided_frequent: int
    undecided_small: int


class Verdict(_Part):
    """The outcome, the same in every view."""

    status: Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"]
    exit_code: Literal[0, 1, 3]
    headline: str
    sentences: list[str]


class AuditSummary(_Part):
    """Everything an audit found, as one document."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )

    schema_: Literal["testsgd.audit/1"] = Field("testsgd.audit/1", alias="schema")
    created: str = Field(description="UTC time, ISO 8601; the only value that changes on a rerun")
    mode: Literal["exact", "sampled"]
    sampling: Literal["pooled", "independent"] | None = Field(description="null in exact mode")
    parameters: Parameters
    versions: dict[str, str]
    data: DataSummary
    model: ModelSummary
    overall_rate: float = Field(description="rate of the favourable label over all samples")
    counts: Counts
    neighbourhood: int = Field(description="perturbed rows the data set allows")
    model_queries: int = Field(description="rows the model was asked to predict")
    seconds: dict[str, float] = Field(description="wall-clock seconds per phase")
    verdict: Verdict
    groups: list[GroupSummary] = Field(description="the top groups and the distinct ones, by rank")
    undecided: list[UndecidedGroup]
    charts: Charts
