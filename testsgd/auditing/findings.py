"""What an audit found, before anything is rendered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing.conditional import ConditionalSearch
from testsgd.auditing.deeper import DeeperSearch
from testsgd.auditing.drawn_own_effect import DrawnEffect
from testsgd.auditing.error_rates import ErrorRate
from testsgd.auditing.estimates import Counts, Estimates, Floats
from testsgd.auditing.explaining import Explanation
from testsgd.auditing.finer import FinerSearch
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.own_effect import OwnEffects
from testsgd.auditing.parameters import AuditParameters, Estimand
from testsgd.auditing.rule_selection import ExplainingRule
from testsgd.auditing.slices import SliceSearch
from testsgd.data import Table
from testsgd.models import LoadedModel, Model
from testsgd.report.summaries import (
    Count,
    Part,
    Positive,
)
from testsgd.rules import Contingency, FrequentRuleSets, RuleSet, SmallGroup, Unjudged
from testsgd.scoring import Overlaps, block_of, distinct_groups, member_overlaps

if TYPE_CHECKING:
    from testsgd.rules import TermRuleSets


@dataclass(frozen=True)
class Estimated:
    """The groups' rates by one estimand, and what their intervals hold for."""

    estimand: Estimand  # Which rates
    estimates: Estimates  # The rates, in the groups' order
    guarantee: Guarantee  # What the intervals hold for


class InSearch(Part):
    """A group in the rows that were searched, before it was estimated on the others."""

    rank: Positive = Field(description="its rank there")
    score: float = Field(ge=0, le=1, description="its score there, biased upwards by the selection")
    n_in: Count = Field(description="rows in the group there")


class UnestimatedGroup(Part):
    """A group of the search that was not estimated on the rows held out."""

    text: str = Field(description="the group")
    size: float = Field(ge=0, description="its difference, effect or ratio of rates")
    measure: str = Field(description="what was compared, and in which rows")


class Holdout(Part):
    """The split of the rows: groups were found on some, and estimated on the others."""

    share: float = Field(gt=0, lt=1, description="share of the rows that was held out")
    searched: Count = Field(description="rows that were searched")
    estimated: Count = Field(description="rows held out, from which all rates are")
    groups: Count = Field(description="groups that were compared in the rows searched")
    missing: Count = Field(
        ge=0, description="groups found that have nobody inside or outside among the rows held out"
    )


class AuditHoldout(Holdout):
    """The split of the rows of an audit, and what a gate goes by besides the estimated groups."""

    largest_unestimated: UnestimatedGroup | None = Field(
        None,
        description="the group with the largest difference of those that were not estimated; null "
        "if there is none, and without a gate",
    )
    smallest_unestimated_ratio: UnestimatedGroup | None = Field(
        None, description="likewise that with the smallest ratio of rates"
    )


@dataclass(frozen=True, kw_only=True)
class Findings(ABC):
    """The groups that an audit compared, of rows or of texts, with their rates and ranking.

    Arrays over groups have the shape (groups,); a group is known by its place in them.
    """

    kind: ClassVar[Literal["rows", "texts"]]

    model: LoadedModel[Any]  # The black box.
    parameters: AuditParameters  # What the user asked for.
    mode: Literal["exact", "sampled"]  # How the rates were found.
    rule_sets: FrequentRuleSets | TermRuleSets  # The groups, each given by a rule set.
    estimates: Estimates  # Their rates by the estimand asked for, in the groups' order.
    # The groups by size, those without a sample on one side or without a size left out.
    ranking: NDArray[np.intp]
    # The fewest rules that explain how the rates differ, in the order in which they were chosen.
    rules: tuple[ExplainingRule, ...]
    # The groups that reports show first, by rank: of rows those that are different people, of texts
    # those that explain the differences; empty if groups were named.
    distinct: tuple[int, ...] = ()
    small: tuple[SmallGroup, ...]  # Groups with too few rows.
    unjudged: Unjudged  # Who is in combinations of single values that could not be judged.
    neighbourhood: int  # Generated rows or texts that the data allow.
    queries: int  # Rows or texts the model was asked about.
    model_fingerprint: str  # sha256 of the model's decisions on the first rows or texts.
    # Share of rows labelled as in the file, if every row was predicted and has a label.
    accuracy: float | None
    guarantee: Guarantee  # What the intervals hold for.
    # Their rates by the other estimand, and what the intervals of these hold for.
    others: tuple[Estimated, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)  # Wall-clock time of each phase.
    # Share of the first rows or texts that the model answered otherwise when asked again; None if
    # its answers are kept, so that it was not asked again.
    changing: float | None = 0.0
    # For the explaining rules, in which share of bootstrap samples each, or a near-duplicate, is
    # chosen again; empty if that was not looked at.
    stability: Mapping[int, float] = field(default_factory=dict)
    stability_samples: int = 0  # How many bootstrap samples.
    # For the groups that reports look at first.
    explanations: Mapping[int, Explanation] = field(default_factory=dict)
    # How the rows were split, if the groups were found on other rows than these.
    holdout: AuditHoldout | None = None
    # What each group then looked like in the rows searched.
    in_search: Mapping[int, InSearch] = field(default_factory=dict)

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows or texts were audited."""

    @property
    @abstractmethod
    def overall_rate(self) -> float:
        """Rate of the favourable label over everything that was asked about, NaN if unknown."""

    @property
    def explaining(self) -> tuple[int, ...]:
        """The groups that explain how the rates differ, in the order in which they were chosen."""
        return tuple(rule.group for rule in self.rules)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The groups that the headline and the gate go by, shape (groups,)."""
        return self.estimates.decided

    @property
    def first(self) -> int | None:
        """The first group of the ranking, None if no group is decided."""
        if len(self.ranking) == 0 or not self.estimates.decided[self.ranking[0]]:
            return None
        return int(self.ranking[0])

    @property
    def highlights(self) -> tuple[int, ...]:
        """The groups that reports look at first: the first by rank, distinct and explaining ones.

        Of groups that the user named these are all that are decided.
        """
        if self.first is None:
            return ()
        if self.parameters.groups:
            decided = self.estimates.decided[self.ranking]
            return tuple(self.ranking[decided].tolist())
        return tuple(dict.fromkeys((self.first, *self.distinct, *self.explaining)))

    @property
    def block(self) -> int:
        """How many groups are compared at once when near copies are looked for."""
        return 64

    @abstractmethod
    def overlaps(self) -> Overlaps:
        """Return a function that measures how much groups overlap, by which near copies are found.

        Returns
        -------
        callable
            From the places of k and of m groups to their overlaps between 0 and 1, shape (k, m).
        """

    def first_distinct(self, order: NDArray[np.intp], limit: int) -> list[int]:
        """Return the first groups of an order, near copies of one before left out.

        Two groups are near copies if their overlap is at least ``parameters.overlap``.

        Parameters
        ----------
        order : numpy.ndarray of int
            The places of the groups, in the order in which they are looked at.
        limit : int
            The most groups to return.

        Returns
        -------
        list of int
            The places of the groups, in this order.
        """
        return distinct_groups(
            order, self.overlaps(), overlap=self.parameters.overlap, limit=limit, block=self.block
        )

    def rule_set(self, group: int) -> RuleSet:
        """Return the rules that describe a group.

        Parameters
        ----------
        group : int
            The place of the group.

        Returns
        -------
        RuleSet
        """
        return self.rule_sets.rule_set(group)

    def group_texts(self, groups: NDArray[np.intp]) -> NDArray[np.object_]:
        """Return the descriptions of groups as people write them.

        Parameters
        ----------
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups.

        Returns
        -------
        numpy.ndarray of str, shape (k,)
        """
        texts = np.empty(len(groups), dtype=object)
        texts[:] = [self.rule_set(int(group)).text for group in groups]
        return texts

    @property
    def top_score(self) -> float | None:
        """The largest score, or paired difference, of a decided group; None if none is decided."""
        if self.first is None:
            return None
        return float(np.nanmax(self.sizes[self.estimates.decided]))

    @property
    def sizes(self) -> Floats:
        """The sizes that groups are ranked by, scores or paired differences; NaN if unknown."""
        return self.estimates.score

    @property
    def effects(self) -> Floats:
        """What groups are ranked by, with its sign; NaN if unknown."""
        return self.estimates.difference

    @property
    def significant_terms(self) -> int | None:
        """How many counterfactual effects are significant; None if that is not known."""
        return None

    def confidence_intervals(self, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the confidence intervals of groups' differences in the population.

        They hold for what :attr:`guarantee` says.

        Parameters
        ----------
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups.

        Returns
        -------
        low, high : numpy.ndarray, shape (k,)
            The ends; NaN where a side has no samples.
        """
        return self.guarantee.confidence_intervals(self.estimates, groups)

    @property
    def largest_bound(self) -> float:
        """The largest lower confidence bound of the size of a group's difference; 0 if none is."""
        return self.guarantee.largest_bound


@dataclass(frozen=True, kw_only=True)
class TableFindings(Findings):
    """The groups that an audit of a table compared, with the rows and what else was found."""

    kind = "rows"

    model: LoadedModel[Model]
    rule_sets: FrequentRuleSets
    table: Table  # The rows that were audited.
    contingency: Contingency  # Their sensitive cells.
    # Samples in each cell of the contingency table and how many got the favourable label; shape
    # (cells,).
    cell_samples: Counts
    cell_favourable: Counts
    # Answers about each row, if all rows, or all their neighbours, were asked about.
    row_samples: int = 1
    # How many of these got the favourable label; None if samples were drawn; shape (rows,).
    row_favourable: NDArray[np.integer] | None = None
    # For each feature that is not sensitive, how many of the neighbours that differ in it get the
    # favourable label; None if samples were drawn; shape (features, cells).
    by_feature: Counts | None = None
    # The groups' own effects of the sensitive features; None if they are not known, and why.
    own_effects: OwnEffects | None = None
    own_effects_unknown: str = ""
    # If they are not known: those of groups that reports look at first, estimated from draws.
    drawn_effects: Mapping[int, DrawnEffect] = field(default_factory=dict)
    # What a look at groups of more features than were searched found; None if there was none.
    deeper: DeeperSearch | None = None
    # What a second look at numbers with finer cuts found; None if there was none.
    finer: FinerSearch | None = None
    # What was found within slices of other features; None if nothing was looked for.
    slices: SliceSearch | None = None
    # What was found among rows that are alike in chosen features; None if none were chosen.
    conditional: ConditionalSearch | None = None
    # The error rates of the same groups, if selection rates were compared and labels are known.
    error_rates: tuple[ErrorRate, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows were audited."""
        return len(self.table)

    @property
    def overall_rate(self) -> float:
        """Rate of the favourable label over all samples."""
        samples = int(self.cell_samples.sum())
        if samples:
            return float(self.cell_favourable.sum() / samples)
        # Independent sampling keeps no common samples: weigh a group's two sides by their rows, of
        # the first group that no row is left out of.
        if not len(self.rule_sets):
            return float("nan")
        widest = int(np.argmax(self.estimates.rows_in + self.estimates.rows_out))
        estimates = self.estimates.take(np.array([widest]))
        rows_in, rows_out = estimates.rows_in[0], estimates.rows_out[0]
        weighted = estimates.rate_in[0] * rows_in + estimates.rate_out[0] * rows_out
        return float(weighted / (rows_in + rows_out))

    def moved_differences(self, group: int) -> dict[str, float]:
        """Return a group's difference over the neighbours that differ in one feature, by feature.

        Parameters
        ----------
        group : int
            The place of the group.

        Returns
        -------
        dict of str to float
            For each feature that is not sensitive the rate inside minus the rate outside, over the
            neighbours in which this feature is moved by a step; empty if samples were drawn.
        """
        if self.by_feature is None:
            return {}
        inside = self.rule_sets.members(np.array([group]), self.contingency)[0]
        answers = 2 * self.parameters.draws * self.contingency.tally()
        outside = self.rule_sets.complement_members(np.array([group]), self.contingency)[0]
        differences = self.by_feature[:, inside].sum(axis=1) / answers[inside].sum()
        differences -= self.by_feature[:, outside].sum(axis=1) / answers[outside].sum()
        return dict(zip(self.table.specification.insensitive, differences.tolist(), strict=True))

    @property
    def block(self) -> int:
        """How many groups are compared at once when near copies are looked for."""
        return block_of(self.contingency.cells)

    def overlaps(self) -> Overlaps:
        """Return a function that measures overlaps by Jaccard's index of the groups' rows.

        Returns
        -------
        callable
            From the places of k and of m groups to their overlaps between 0 and 1, shape (k, m).
        """
        return member_overlaps(
            lambda groups: self.rule_sets.members(groups, self.contingency),
            self.contingency.tally(),
        )

    def group_texts(self, groups: NDArray[np.intp]) -> NDArray[np.object_]:
        """Return the descriptions of groups as people write them.

        Parameters
        ----------
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups.

        Returns
        -------
        numpy.ndarray of str, shape (k,)
        """
        return self.rule_sets.texts(groups)
