"""What is audited, of rows and of texts, and what audits share: clock, answers and ranking."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import estimates as rates
from testsgd.auditing.estimates import Counts, Estimates
from testsgd.auditing.parameters import AuditParameters, Estimand
from testsgd.data import Table
from testsgd.models import CheckedFunction, LoadedModel, Model, PredictionColumn
from testsgd.progress import Counter, PhaseProgress, Progress, named, step
from testsgd.rules import Axis, Contingency, FrequentRuleSets, SmallGroup, lay_out, mine
from testsgd.sampling import Draws, decide_draws, decisions_about, draw
from testsgd.scoring import Clusters, independent_rows, rank_groups

if TYPE_CHECKING:
    from testsgd.models.text import TextModel

# How phases that can be long are shown; those that ask the model count their questions.
_SHOWN = {
    "rule sets": "counting groups",
    "guarantee": "bootstrap of the largest difference",
    "rule selection": "choosing explaining rules",
    "more features": "looking at groups of more features",
    "finer cuts": "looking at finer cuts",
    "slices": "looking within slices",
    "error rates": "comparing error rates",
    "explanations": "explaining groups",
    "stability": "searching bootstrap samples",
}


class Clock:
    """Wall-clock seconds by phase; `progress` is called when a phase that can be long begins."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress

    def reporting_to(self, progress: Progress | None) -> Clock:
        """Return a clock that adds up the same seconds, and calls another progress."""
        clock = Clock(progress)
        clock.seconds = self.seconds
        return clock

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure the seconds that a ``with`` block takes; blocks of the same name are added up."""
        started = time.perf_counter()
        with step(self._progress if name in _SHOWN else None, _SHOWN.get(name, name)):
            yield
        seconds = self.seconds.get(name, 0.0) + time.perf_counter() - started
        self.seconds[name] = round(seconds, 4)


SomeModel = TypeVar("SomeModel", Model, "TextModel")


def limit_batches(model: Model | TextModel, size: int | None) -> None:
    """Set how much a user's model is asked about in one call; None for no limit."""
    if isinstance(model, CheckedFunction):
        model.batch_size = size


def threads(model: Model | TextModel, jobs: int | None) -> int:
    """Return how many threads may ask a model at once."""
    return jobs or (int(joblib.cpu_count()) if model.thread_safe else 1)


@dataclass(frozen=True, kw_only=True)
class Audit(ABC, Generic[SomeModel]):
    """What is to be audited, and how; the subclasses hold the rows or the texts."""

    model: LoadedModel[SomeModel]  # The black box
    parameters: AuditParameters  # What to do; ``max_queries`` is given
    exact: bool  # Ask about everything
    clock: Clock = field(default_factory=Clock)
    progress: Progress | None = None  # Called with a phase and how much of it is done

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of rows or texts."""

    @property
    def min_count(self) -> int:
        """Fewest rows on each side of a judged group, or texts that mention its terms."""
        return self.parameters.fewest_rows(self.size)

    @property
    def min_outside(self) -> int:
        """Fewest rows outside of a judged group."""
        return self.parameters.fewest_outside(self.size)

    @property
    def allowed(self) -> int:
        """The most rows or texts that the model is asked about."""
        return self.parameters.budget(0)

    @property
    def jobs(self) -> int:
        """Number of threads that may ask the model at once."""
        return threads(self.model.model, self.parameters.jobs)

    def phase(self, name: str) -> PhaseProgress | None:
        """Return what to call with the questions answered in a phase, if progress is wanted."""
        return named(name, self.progress)

    def counter(self, name: str, total: int) -> Counter:
        """Return a counter of the answers to the `total` questions of a phase."""
        return Counter(self.phase(name), total)


@dataclass(frozen=True, kw_only=True)
class RowAudit(Audit[Model]):
    """What is to be audited of the rows of a table, and how."""

    table: Table  # The rows
    axes: tuple[Axis, ...]  # Their sensitive features
    # Groups to look at instead of searching for frequent ones
    given: FrequentRuleSets | None = None
    # Whether the user has named these groups, so that nothing was searched, and those that the
    # user has named with too few rows on a side
    named: bool = False
    too_small: tuple[SmallGroup, ...] = ()
    own_effects: bool = True  # Ask for the own effects of the sensitive features, if affordable
    # Look beyond the depth of the search: not if the user has named it
    deeper: bool = True

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.table)

    @property
    def has_neighbours(self) -> bool:
        """Whether the model can be asked about the rows' neighbours; stored predictions cannot."""
        return not isinstance(self.model.model, PredictionColumn)

    @cached_property
    def contingency(self) -> Contingency:
        """The contingency table of the rows by their sensitive cells."""
        return lay_out(self.table, self.axes)

    def search(self, quantities: Counts) -> FrequentRuleSets:
        """Sum quantities over the groups that are audited: all frequent groups, or the given ones.

        Parameters
        ----------
        quantities : numpy.ndarray of int, shape (q, cells)
            What to sum, by cell of the contingency table; first the number of rows.

        Returns
        -------
        FrequentRuleSets
            The groups; ``sums`` has the shape (q, groups).
        """
        if self.given is not None:
            return self.given.over(self.contingency, quantities)
        return mine(
            self.contingency,
            quantities,
            min_count=self.min_count,
            min_outside=self.min_outside,
            max_features=self.parameters.depth,
        )

    def sides(
        self, rule_sets: FrequentRuleSets, group: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows on both sides of a group.

        Parameters
        ----------
        rule_sets : FrequentRuleSets
            All groups.
        group : int
            The place of the group among them.

        Returns
        -------
        inside, outside : numpy.ndarray of int
            The places of the rows of the group, and of those of its complement.
        """
        groups = np.array([group])
        cell_of_row = self.contingency.cell_of_row
        inside = rule_sets.members(groups, self.contingency)[0][cell_of_row]
        outside = rule_sets.complement_members(groups, self.contingency)[0][cell_of_row]
        return np.flatnonzero(inside), np.flatnonzero(outside)

    def ask(
        self, rows: NDArray[np.intp] | int, count: int, generator: np.random.Generator
    ) -> tuple[Draws, NDArray[np.bool_]]:
        """Draw neighbours of rows, with repetition, and ask the model about them.

        Parameters
        ----------
        rows : numpy.ndarray of int, or int
            The places of the rows to draw from; a number n stands for the first n.
        count : int
            How many neighbours to draw.
        generator : numpy.random.Generator
            Where the draws come from.

        Returns
        -------
        draws : Draws
            The rows that were drawn, and how each was changed.
        decisions : numpy.ndarray of bool, shape (count,)
            Whether the model gives each neighbour the favourable label.
        """
        features = len(self.table.specification.insensitive)
        draws = draw(generator, rows, features, count)
        return draws, decide_draws(self.model.model, self.table, draws)


@dataclass(frozen=True)
class Answers:
    """A model's answers by one estimand: the groups' rates, and counts by cell and by row."""

    estimates: Estimates  # The groups' rates
    # Samples from each cell of the contingency table that all groups share, and how many of them
    # got the favourable label, shape (cells,)
    cell_samples: Counts
    cell_favourable: Counts
    # Answers about each row, if all rows, or all their neighbours, were asked about
    row_samples: int = 1
    # How many of these got the favourable label; None if samples were drawn, shape (rows,)
    row_favourable: NDArray[np.integer] | None = None
    # How many independent rows those of each cell are worth; None if all are independent, shape
    # (cells,)
    cell_independent: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Outcome:
    """The groups of a table with their rates, from all answers or from samples."""

    rule_sets: FrequentRuleSets  # The groups
    # What the model answered about the rows' neighbours, None if it cannot be asked about them
    neighbourhood: Answers | None
    observed: Answers  # What it answered about the rows as they are
    queries: int  # Rows the model was asked about
    # For each feature that is not sensitive, how many of the neighbours that differ in it get the
    # favourable label; None if samples were drawn, shape (features, cells)
    by_feature: Counts | None = None


def with_independent_rows(
    answers: Answers, rule_sets: FrequentRuleSets, contingency: Contingency, clusters: Clusters
) -> Answers:
    """Return the answers with effective sample sizes, where rows of one cluster are no new rows.

    The sizes of each side of each group come from sums over its rows of 1 and of the size of the
    row's cluster, and, where all answers are known, of the same weighted by the row's rate; see
    :func:`testsgd.scoring.independent_rows`.
    """
    sizes = clusters.size_of_row.astype(np.float64)
    weights_of_rows = [np.ones(len(sizes)), sizes]
    if answers.row_favourable is not None:
        rates_of_rows = answers.row_favourable / answers.row_samples
        weights_of_rows += [rates_of_rows, rates_of_rows * sizes]
    cell = contingency.cell_of_row
    by_cell = np.array(
        [
            np.bincount(cell, weights=weights, minlength=contingency.cells)
            for weights in weights_of_rows
        ]
    )
    inside = rule_sets.sums_of(contingency, by_cell)
    # Sums of shares are rounded, and what is left of nothing is not negative.
    outside = np.maximum(rule_sets.totals(contingency, by_cell) - inside, 0)
    estimates = replace(
        answers.estimates,
        effective_sample_size_in=independent_rows(*inside),
        effective_sample_size_out=independent_rows(*outside),
    )
    cell_independent = independent_rows(by_cell[0], by_cell[1])
    return replace(answers, estimates=estimates, cell_independent=cell_independent)


def order_groups(
    estimates: Estimates,
    size: NDArray[np.float64],
    rule_counts: Counts,
    *,
    first_by: NDArray[np.float64] | None = None,
    harmed: NDArray[np.bool_] | None = None,
    then_by: NDArray[np.float64] | None = None,
) -> NDArray[np.intp]:
    """Return the places of the groups that have samples on both sides and a size, ranked.

    The arrays have the shape (groups,). Of equal groups the `harmed` come first, if they are given.
    """
    ranking = rank_groups(
        np.nan_to_num(size),
        estimates.rows_in,
        rule_counts,
        estimates.decided,
        first_by,
        harmed=harmed,
        then_by=then_by,
    )
    return ranking[(estimates.sampled & ~np.isnan(size))[ranking]]


def accuracy_of(labels: NDArray[np.bool_], favourable: NDArray[np.integer], draws: int) -> float:
    """Return the share of answers that agree with the labels.

    Shapes: `labels`, `favourable` (n,); `favourable` counts the favourable ones of `draws` answers
    about each row.
    """
    correct = np.where(labels, favourable, draws - favourable)
    return float(correct.sum() / (len(labels) * draws))


@dataclass(frozen=True)
class ObservedAnswers:
    """A model's answers about rows as they are."""

    # Rows of each cell that were asked about, and those that got the favourable label, shape
    # (cells,)
    cell_samples: Counts
    cell_favourable: Counts
    # 1 where a row got it; None if not all rows were asked about, shape (rows,)
    decisions: Counts | None
    queries: int  # Rows that the model was asked about for this; answers to others were known.

    @property
    def quantities(self) -> Counts:
        """Samples and favourable answers by cell, to be summed over groups, shape (2, cells)."""
        return np.vstack([self.cell_samples, self.cell_favourable])

    def answers(self, inside: Counts, together: Counts, parameters: AuditParameters) -> Answers:
        """Return the answers by the observed estimand, with the groups' rates.

        Parameters
        ----------
        inside : numpy.ndarray of int, shape (3, groups)
            Sums of the rows and of :attr:`quantities` over each group.
        together : numpy.ndarray of int, shape (3, groups)
            The same over each group and its complement.
        parameters : AuditParameters
            By which margins are computed, if not all rows were asked about.

        Returns
        -------
        Answers
        """
        tallies = rates.both_sides(inside[1:], together[1:])
        if self.decisions is None:
            rows_in, rows_out = inside[0], together[0] - inside[0]
            estimates = rates.drawn_estimates(rows_in, rows_out, tallies, parameters)
        else:
            estimates = rates.counted_estimates(tallies)
        return Answers(
            estimates=estimates,
            cell_samples=self.cell_samples,
            cell_favourable=self.cell_favourable,
            row_samples=1,
            row_favourable=self.decisions,
        )


# Tenths of the budget that are for rows as they are, by the estimand of the ranking.
_TENTHS_FOR_ROWS: dict[Estimand, int] = {"observed": 8, "neighbourhood": 5}


def most_rows_asked(budget: int, estimand: Estimand) -> int:
    """Return about how many rows as they are a sampled audit asks at most, of a budget of queries.

    It is four fifths where groups are ranked by the rates of rows as they are, and else half.

    Examples
    --------
    >>> most_rows_asked(5_000, "observed"), most_rows_asked(5_000, "neighbourhood")
    (4000, 2500)
    """
    return budget * _TENTHS_FOR_ROWS[estimand] // 10


def fits_all_rows(budget: int, missing: int, parameters: AuditParameters) -> bool:
    """Return whether a sampled audit asks about all `missing` rows, those without an answer yet.

    Observed rates of all rows are exact, whatever is left for the neighbours. Independent sampling
    needs a share of the budget for each group, so that it keeps its part.
    """
    if parameters.estimand == "observed" and parameters.sampling == "pooled":
        return missing <= budget
    return missing <= most_rows_asked(budget, parameters.estimand)


def ask_rows(audit: RowAudit, budget: int, answers: NDArray[np.int8]) -> ObservedAnswers:
    """Ask a model about rows as they are, all of them if the budget allows it.

    `answers` are those about each row that are known, as :meth:`Table.answered_by` returns them:
    these rows are not asked about again.
    """
    contingency = audit.contingency
    rows: NDArray[np.intp] = np.arange(audit.size)
    missing = int((answers < 0).sum())
    if not fits_all_rows(budget, missing, audit.parameters):
        most = most_rows_asked(budget, audit.parameters.estimand)
        # A sample of all rows, since those that are known are the first ones, say. Of this size it
        # takes about as many queries, and hardly ever more than there are.
        size = most * audit.size // missing
        generator = np.random.default_rng([audit.parameters.seed, 7])
        order = generator.choice(audit.size, size, replace=False)
        if (answers[order] < 0).sum() > budget:
            order = order[:most]
        rows = np.sort(order)
    queries = int((answers[rows] < 0).sum())
    counter = audit.counter("asking about rows", queries)
    # Whether each of these rows gets the favourable label.
    decisions = decisions_about(audit.model.model, audit.table, rows, answers, counter)
    cells = contingency.cell_of_row[rows]
    return ObservedAnswers(
        cell_samples=np.bincount(cells, minlength=contingency.cells),
        cell_favourable=np.bincount(cells[decisions], minlength=contingency.cells),
        decisions=decisions.astype(np.int64) if len(rows) == audit.size else None,
        queries=queries,
    )
