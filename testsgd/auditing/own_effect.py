"""The sensitive features' own effect: the same rows, with the sensitive values of other people.

A group may be treated differently because the model goes by its sensitive features, or because the
group differs in other features that the model goes by. To tell these apart every row is given the
sensitive values of every cell of the contingency table in turn, and the model is asked again. Let
m(c) be the rate of the favourable label if all rows have the sensitive values of cell c. A group's
own effect is the mean of m over the cells of the group, less its mean over those of its complement,
each cell weighed by its rows: all people with the group's mixture of sensitive values, less all
people with the rest's. A model that is not given the sensitive features has no own effect.

A cell may hold many values, as the bin of an age does. Each row is given those of one real row of
the cell, its donor, which is drawn: so no combination is made up, m(c) is the mean over the values
within the cell as well as over the rows, and how much they differ is in the interval.

If there are too many cells to ask about all of them, the own effects of a few groups are estimated
from cells that are drawn; see :mod:`testsgd.auditing.drawn_own_effect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.auditing.outcome import RowAudit
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import Model, NetworkModel
from testsgd.progress import Counter, PhaseProgress
from testsgd.rules import Contingency, FrequentRuleSets
from testsgd.scoring import Clusters, block_of, lower_confidence_bound
from testsgd.single_thread import on_one_thread

Places = NDArray[np.intp]

# More questions than these are not asked without need: a minute's worth for a fast model.
MOST_QUESTIONS = 5_000_000

# Questions put to the model at once. Fixed, so that no result depends on the number of threads.
_BATCH = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Responses:
    """How a model decides on all rows, given each of some tuples of sensitive values."""

    rows: int  # How many rows there are.
    # Rows with the favourable label if all have the values of a tuple; shape (tuples,).
    favourable: Counts
    # Sums over independent units of the products of their deviations; shape (tuples, tuples).
    scatter: Floats
    units: int  # How many units: rows, or clusters of them.

    @classmethod
    def of(cls, decisions: NDArray[np.uint8], clusters: Clusters | None = None) -> Responses:
        """Sum up decisions (rows, tuples), 1 where the label is favourable.

        Examples
        --------
        >>> responses = Responses.of(np.array([[1, 0], [1, 1]], dtype=np.uint8))
        >>> responses.favourable.tolist(), responses.scatter.tolist()
        ([2, 1], [[0.0, 0.0], [0.0, 0.5]])
        """
        favourable = decisions.sum(axis=0, dtype=np.int64)
        sums, sizes = sums_by_unit(decisions.astype(np.float64), clusters)
        # Sums of whole numbers, which no order of the rows changes, and only then the deviations.
        with on_one_thread():
            products = sums.T @ sums
            by_size = sums.T @ sizes
        rates = favourable / len(decisions)
        mixed = np.outer(by_size, rates)
        scatter = products - mixed - mixed.T + (sizes @ sizes) * np.outer(rates, rates)
        return cls(rows=len(decisions), favourable=favourable, scatter=scatter, units=len(sums))

    def standard_errors(self, weights: Floats) -> Floats:
        """Compute the standard errors of weighted sums of the rates, shape (groups,).

        For a row w of `weights` (groups, tuples) it is sqrt((w S w + 2 (n / u)^2) u / (u - 1)) / n,
        with S the scatter, n the number of rows and u that of units.

        Rows that all answer alike may be a sample without the few that do not. So the variance is
        taken with two units more, that answer with all that the weights allow: 1 and -1.
        """
        size = self.rows / self.units
        squares = ((weights @ self.scatter) * weights).sum(axis=1) + 2 * size**2
        correction = self.units / max(1, self.units - 1)
        errors: Floats = np.sqrt(squares * correction) / self.rows
        return errors


def sums_by_unit(values: Floats, clusters: Clusters | None) -> tuple[Floats, Floats]:
    """Sum values (rows, ...) over independent units, and count the rows of each unit.

    Examples
    --------
    >>> sums, sizes = sums_by_unit(np.array([1.0, 0.0, 1.0]), Clusters.of(np.array([5, 7, 5])))
    >>> sums.tolist(), sizes.tolist()
    ([2.0, 0.0], [2.0, 1.0])
    """
    if clusters is None:
        return values, np.ones(len(values))
    order = np.argsort(clusters.of_row, kind="stable")
    starts = np.r_[0, np.cumsum(clusters.sizes)[:-1]]
    sums: Floats = np.add.reduceat(values[order], starts, axis=0)
    return sums, clusters.sizes.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class OwnEffects:
    """The own effect of the sensitive features, for every group of an audit of rows."""

    rule_sets: FrequentRuleSets  # The groups.
    contingency: Contingency  # The cells that they are made of.
    # The own effect of each group, NaN if all rows are in it; shape (groups,).
    effects: Floats
    # How the model answered; None if it is not given any sensitive feature.
    responses: Responses | None
    # Which tuple of sensitive values, of those that the model was asked with, is that of each
    # cell; shape (cells,).
    tuple_of_cell: Places
    queries: int  # Rows the model was asked about.

    @property
    def not_given(self) -> bool:
        """Whether the model is given no sensitive feature, so that all effects are exactly 0."""
        return self.responses is None

    def weights(self, groups: Places) -> Floats:
        """Return the shares of the tuples in groups less their shares outside.

        The shape is (groups, tuples). Each row's numbers add up to 0, their sizes to 2 at most.
        """
        rows = self.contingency.tally()
        members = self.rule_sets.members(groups, self.contingency)
        inside = members * rows
        outside = self.rule_sets.complement_members(groups, self.contingency) * rows
        with np.errstate(invalid="ignore"):
            of_cells = inside / inside.sum(axis=1, keepdims=True)
            of_cells -= outside / outside.sum(axis=1, keepdims=True)
        order = np.argsort(self.tuple_of_cell, kind="stable")
        ordered = self.tuple_of_cell[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        sums: Floats = np.add.reduceat(of_cells[:, order], starts, axis=1)
        return sums

    def intervals(self, groups: Places, errors: Floats) -> tuple[Floats, Floats]:
        """Compute normal confidence intervals of the effects of some groups.

        The rows are taken for a sample, the mixtures of sensitive values in a group and outside of
        it for given. `errors` are the two-sided error rates, one a group.
        """
        from scipy.special import ndtri

        if self.responses is None:
            return np.zeros(len(groups)), np.zeros(len(groups))
        margins = np.zeros(len(groups))
        block = block_of(self.contingency.cells)
        for start in range(0, len(groups), block):
            part = slice(start, start + block)
            quantiles = -ndtri(errors[part] / 2)
            margins[part] = quantiles * self.responses.standard_errors(self.weights(groups[part]))
        effects = self.effects[groups]
        return np.maximum(effects - margins, -1.0), np.minimum(effects + margins, 1.0)

    def lower_bounds(self, errors: Floats) -> Floats:
        """Compute the lower confidence bounds of the sizes of all effects, shape (groups,)."""
        low, high = self.intervals(np.arange(len(self.effects)), errors)
        return lower_confidence_bound(low, high)


@dataclass(frozen=True, kw_only=True)
class Donors:
    """The rows that have each tuple of sensitive values, whose values other rows are given.

    The cells of the features that the model is given make a tuple. Its rows differ within the bins
    of numbers only.
    """

    # Rows by their tuples, and those of a tuple by their sensitive numbers; shape (rows,).
    ordered: Places
    starts: Places  # Where the rows of each tuple begin; shape (tuples,).
    counts: Counts  # How many rows each tuple has; shape (tuples,).

    @classmethod
    def of(cls, table: Table, tuple_of_row: Places, features: list[str]) -> Donors:
        """Return the rows of each tuple; `features` are those that the model is given."""
        # The last key is the first to sort by: tuples, then the features in their order.
        keys: list[NDArray[np.number]] = [
            table.numbers(name)
            for name in reversed(features)
            if table.specification.features[name].continuous
        ]
        counts = np.bincount(tuple_of_row)
        return cls(
            ordered=np.lexsort([*keys, tuple_of_row]),
            starts=np.cumsum(counts) - counts,
            counts=counts,
        )

    def at(self, tuples: Places, quantiles: Floats) -> Places:
        """Return the row of each tuple at a quantile, from 0 to 1, of its rows in their order."""
        within = (quantiles * self.counts[tuples]).astype(np.intp)
        donors: Places = self.ordered[self.starts[tuples] + within]
        return donors


def given_tuples(contingency: Contingency, features: list[str]) -> Places:
    """Return the number of each cell's tuple in some features, from 0 on; shape (cells,)."""
    codes = np.zeros(contingency.cells, dtype=np.int64)
    for index, axis in enumerate(contingency.axes):
        if axis.feature not in features:
            continue
        numbers, _ = pd.factorize(contingency.coordinates[:, index])
        # Numbered anew each time, so that many features cannot run out of numbers.
        codes = pd.factorize(codes * len(axis.labels) + numbers)[0].astype(np.int64)
    return codes.astype(np.intp)


def ask_tuples(
    model: Model,
    table: Table,
    donors: Donors,
    features: list[str],
    *,
    quantiles: Floats,
    jobs: int = 1,
    progress: PhaseProgress | None = None,
) -> NDArray[np.uint8]:
    """Ask a model about every row with the values of a donor of each tuple.

    `quantiles` (rows,): at which quantile of each tuple's rows the donors of a row are. `progress`
    is called with the questions answered and their number. Returned is 1 where the answer is
    favourable, shape (rows, tuples).
    """

    def all_pairs(part: slice) -> tuple[Places, Places]:
        """Return the rows of a part of the questions, and the rows whose values they are given."""
        tuples, row = np.divmod(np.arange(part.start, part.stop), len(table))
        return row, donors.at(tuples, quantiles[row])

    number = len(donors.counts) * len(table)
    counter = Counter(progress, number)
    decisions = ask_pairs(model, table, features, all_pairs, number, jobs=jobs, counter=counter)
    return decisions.reshape(len(donors.counts), len(table)).T


def spread_quantiles(rows: int) -> Floats:
    """Return a quantile for each row: the middles of equal parts of 0 to 1, in a mixed order.

    It is the same order whatever the seed: an exact audit of given rows does not depend on one.
    """
    generator = np.random.default_rng(9)
    quantiles: Floats = (generator.permutation(rows) + 0.5) / rows
    return quantiles


def ask_pairs(
    model: Model,
    table: Table,
    features: list[str],
    pairs: Callable[[slice], tuple[Places, Places]],
    number: int,
    *,
    jobs: int = 1,
    counter: Counter,
) -> NDArray[np.uint8]:
    """Ask a model about rows that have the sensitive values of other rows.

    `pairs` gives for a part of the questions, which are numbered from 0, the rows to ask about, and
    the rows whose values they are given; `counter` counts the answers. Returned is 1 where the
    answer is favourable.
    """
    decisions = np.zeros(number, dtype=np.uint8)

    def ask(part: slice) -> tuple[slice, NDArray[np.bool_]]:
        """Return a part of the questions with the answers."""
        rows, sources = pairs(part)
        if isinstance(model, NetworkModel):
            with counter.asking(len(rows)):
                return part, model.decisions_with_values_of(table.frame, rows, sources, features)
        frame = table.frame.iloc[rows].reset_index(drop=True)
        for name in features:
            frame[name] = table.frame[name].array.take(sources)
        with counter.asking(len(frame)):
            return part, model.decisions(frame)

    # One thread a batch: the libraries' own threads would split sums by the number of processors.
    with on_one_thread():
        answers = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            joblib.delayed(ask)(part) for part in _batches(number)
        )
        for part, favourable in answers:
            decisions[part] = favourable
    return decisions


def _batches(questions: int) -> Iterator[slice]:
    for start in range(0, questions, _BATCH):
        yield slice(start, min(start + _BATCH, questions))


def own_effects(
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    tuple_of_cell: Places,
    responses: Responses | None,
    *,
    queries: int = 0,
) -> OwnEffects:
    """Compute the own effect of every group from the model's responses.

    It is the mean over the rows inside less that over the rows outside of the rate of their tuple,
    which is the share of all rows that get the favourable label with these sensitive values. All
    effects are 0 if the model is given no sensitive feature (no `responses`).
    """
    rows = contingency.tally()
    effects = np.zeros(len(rule_sets))
    if responses is not None:
        # Whole numbers, so that equal rates have a difference of exactly 0.
        favourable = rows * responses.favourable[tuple_of_cell]
        quantities = np.vstack([rows, favourable]).astype(np.float64)
        rows_in, inside = rule_sets.sums_of(contingency, quantities)
        rows_together, together = rule_sets.totals(contingency, quantities)
        with np.errstate(invalid="ignore", divide="ignore"):
            effects = inside / rows_in - (together - inside) / (rows_together - rows_in)
        effects /= responses.rows
    return OwnEffects(
        rule_sets=rule_sets,
        contingency=contingency,
        effects=effects,
        responses=responses,
        tuple_of_cell=tuple_of_cell,
        queries=queries,
    )


@dataclass(frozen=True, kw_only=True)
class Questions:
    """The questions to a model for the own effects of its sensitive features."""

    features: list[str]  # The sensitive features that the model is given.
    tuple_of_cell: Places  # The tuple of cells in these features of each cell; shape (cells,).
    donors: Donors  # The rows of each tuple.
    queries: int  # The number of rows that the model is asked about.

    @classmethod
    def of(cls, audit: RowAudit) -> Questions:
        """Return the questions of an audit; none if the model is given no sensitive feature."""
        sensitive = audit.table.specification.sensitive
        features = [name for name in sensitive if name not in audit.model.not_given]
        tuple_of_cell = given_tuples(audit.contingency, features)
        donors = Donors.of(audit.table, tuple_of_cell[audit.contingency.cell_of_row], features)
        return cls(
            features=features,
            tuple_of_cell=tuple_of_cell,
            donors=donors,
            queries=len(donors.counts) * audit.size if features else 0,
        )


def ask_own_effects(
    audit: RowAudit, rule_sets: FrequentRuleSets, *, left: int
) -> tuple[OwnEffects | None, str]:
    """Compute the own effects of all groups, if the queries that are left suffice.

    Returned are the effects, or None and why they are not known.
    """
    why = why_not_asked(audit, left=left)
    if why:
        if audit.parameters.rank_by == "counterfactual":
            # One part of split rows has only its part of the queries.
            raise _refusal(why)
        return None, why
    questions = Questions.of(audit)
    responses = None
    if questions.features:
        decisions = ask_tuples(
            audit.model.model,
            audit.table,
            questions.donors,
            questions.features,
            quantiles=spread_quantiles(audit.size),
            jobs=audit.jobs,
            progress=audit.phase("asking about own effects"),
        )
        clusters = audit.table.clusters
        responses = Responses.of(decisions, None if clusters is None else Clusters.of(clusters))
    effects = own_effects(
        audit.contingency,
        rule_sets,
        questions.tuple_of_cell,
        responses,
        queries=questions.queries,
    )
    return effects, ""


def why_never_asked(audit: RowAudit) -> str:
    """Return why a model is never asked for own effects; empty if the queries left decide."""
    parameters = audit.parameters
    if parameters.rank_by != "counterfactual":
        if not audit.own_effects:
            return "they were not asked for"
        if parameters.holdout is not None and audit.given is None:
            return "groups are only searched here, and estimated on other rows"
    # Of another metric the answers are stored like predictions, though there is a model.
    if parameters.metric != "selection_rate":
        return f"the metric is {parameters.metric}, and own effects are of selection rates"
    if not audit.has_neighbours:
        return "these are predictions, and there is no model to ask"
    if not audit.exact:
        return "this audit draws samples"
    if parameters.nondeterministic is not None:
        return "the model answers differently when asked twice"
    return ""


def why_not_asked(audit: RowAudit, *, left: int) -> str:
    """Return why a model is not asked for all own effects; empty if it is asked."""
    why = why_never_asked(audit)
    if why:
        return why
    queries = Questions.of(audit).queries
    allowed = min(left, MOST_QUESTIONS)
    if queries > allowed:
        return f"that takes {queries:,} queries, and {max(0, allowed):,} are left for it"
    return ""


def has_own_effects(audit: RowAudit) -> bool:
    """Return whether the model is given a sensitive feature, so that it can have an own effect."""
    return any(name not in audit.model.not_given for name in audit.table.specification.sensitive)


def check_ranking(audit: RowAudit, *, left: int) -> None:
    """Raise a ParameterError if groups are to be ranked by own effects that are not known."""
    why = why_not_asked(audit, left=left)
    if why:
        raise _refusal(why)


def _refusal(why: str) -> ParameterError:
    return ParameterError(
        f"groups cannot be ranked by the own effects of the sensitive features: {why}",
        where="rank_by",
        remedy="rank them by lower-bound",
    )
