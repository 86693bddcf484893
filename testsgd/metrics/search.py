"""The search: from sums over cells to groups that differ, with one guarantee for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.different_people import DISTINCT, SumsOfSome, different_people
from testsgd.auditing.findings import Holdout, UnestimatedGroup
from testsgd.auditing.finer import FinerSearch
from testsgd.errors import ParameterError
from testsgd.metrics.bootstrap import References, largest_deviations, shared_error
from testsgd.metrics.cells import DENOMINATOR, MetricCells
from testsgd.metrics.comparison import Compared, compare_sides
from testsgd.metrics.definitions import Floats, Metric
from testsgd.metrics.explaining import GroupExplanation
from testsgd.metrics.in_threads import of_each
from testsgd.metrics.parameters import BEST, OVERALL, REST, MetricParameters
from testsgd.metrics.sides import Sides, sides_of
from testsgd.rules import FrequentRuleSets, Unjudged, mine, unjudged_rows
from testsgd.scoring import Overlaps, block_of, distinct_groups, member_overlaps, rank_groups

# Of groups that other rows were searched for, fewest rows on each side.
_FEWEST_GIVEN = 2
# As many groups are listed in an error.
_MOST_LISTED = 12


@dataclass(frozen=True, kw_only=True)
class MetricFindings:
    """What an audit found of one metric; arrays of shape (groups,)."""

    metric: Metric
    overall: float  # The metric of all rows.
    counted: int  # Rows that it counts.
    compared: Compared
    # The group that each is compared with, where it is one of the groups; else -1.
    reference_group: NDArray[np.intp]
    ranking: NDArray[np.intp]  # The judged groups, those with the largest lower bounds first.
    # The first of them, and the first significant ones that are different people: shown first.
    distinct: tuple[int, ...]
    # The first that are no near copies of one before: estimated on other rows, and those looked
    # for in bootstrap samples.
    no_near_copies: tuple[int, ...]
    # The cells of the one group that all are compared with; None if they are not.
    reference_cells: NDArray[np.bool_] | None
    # Of a strict audit: the rows that it counts and that no judged group isolates.
    unjudged: UnjudgedBy | None = None
    # What finer cuts of numbers show, and the numbers within whose bins nothing was looked for.
    finer: FinerSearch | None = None
    within_bins: tuple[str, ...] = ()
    # Of the first distinct groups: what makes up their differences, in which share of bootstrap
    # samples they come back, and what they were in the rows that were searched.
    explanations: Mapping[int, GroupExplanation] = field(default_factory=dict)
    stability: Mapping[int, float] = field(default_factory=dict)
    in_search: Mapping[int, SearchedGroup] = field(default_factory=dict)
    # Of rows held out: the group that differs most of those that were not estimated.
    unestimated: UnestimatedGroup | None = None


@dataclass(frozen=True, kw_only=True)
class UnjudgedBy:
    """The rows that one metric counts and could not judge."""

    share: float  # Of the rows that it counts.
    features: tuple[str, ...]  # Sensitive features by which no group has enough of these.
    # Groups with enough rows of which it counts too few, and their share of all rows.
    uncounted: tuple[str, ...] = ()
    uncounted_share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SearchedGroup:
    """A group in the rows that were searched, before it was estimated on others."""

    rank: int
    effect: float
    counted: int


@dataclass(frozen=True, kw_only=True)
class GivenGroups:
    """Groups that are only estimated, because other rows were searched for them."""

    rule_sets: FrequentRuleSets
    # Which of them each metric found, shape (groups,).
    found: Sequence[NDArray[np.bool_]]
    # Which of them each is compared with, -1 for none, shape (groups,).
    references: Sequence[NDArray[np.intp]]


@dataclass(frozen=True, kw_only=True)
class MetricsFindings:
    """The groups that an audit of metrics compared, and how they differ from their references.

    It holds arrays over all groups; :class:`testsgd.metrics.MetricsSummary` is what is written of
    it. A group is an index into ``rule_sets``, the same for every metric.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.metrics import audit_metrics
    >>> people = pd.DataFrame({"sex": ["f", "f", "m"] * 100})
    >>> findings = audit_metrics(["yes", "no", "yes"] * 100, sensitive_features=people).findings
    >>> findings.rule_sets.texts(findings.metrics[0].ranking[:1]).tolist()
    ['sex = f']
    >>> findings.metrics[0].compared.effect.tolist()
    [-0.5, 0.5]
    """

    cells: MetricCells
    parameters: MetricParameters
    rule_sets: FrequentRuleSets
    unjudged: Unjudged
    metrics: tuple[MetricFindings, ...]
    replicates: int  # Bootstrap samples behind the intervals; 0 if there are none.
    stability_samples: int = 0  # Bootstrap samples behind the groups' stability.
    holdout: Holdout | None = None  # How the rows were split, if they were.


def audit_cells(
    cells: MetricCells,
    parameters: MetricParameters,
    *,
    given: GivenGroups | None = None,
    read_reference: Callable[[str], str] | None = None,
) -> MetricsFindings:
    """Return how metrics of all frequent groups differ from those of their references.

    A group is frequent if it has ``parameters.min_rows`` rows. With the guarantee "simultaneous" a
    bootstrap of the largest deviation over all groups and metrics gives the error rate of each
    interval with which all of them hold at once; else each interval has the error rate
    ``1 - parameters.confidence`` by itself.

    Parameters
    ----------
    cells : MetricCells
        The metrics' sums over cells.
    parameters : MetricParameters
        The reference, the measure, the confidence, and which groups are frequent; its
        ``max_features`` must be given.
    given : GivenGroups, optional
        Groups that other rows were searched for. Then only these are compared.
    read_reference : callable, optional
        Returns what reports call the group that an expression names. Without it a reference must
        be written as they write it.

    Returns
    -------
    MetricsFindings
        Without explanations, stability and finer cuts, which need the rows.

    Raises
    ------
    ParameterError
        If the reference is no group of enough rows, a metric has no best value, or values that may
        be negative are compared by ratio.

    Notes
    -----
    The bootstrap is that of Chernozhukov, Chetverikov and Kato (2013), Gaussian approximations and
    multiplier bootstrap for maxima of sums of high-dimensional random vectors. Annals of
    Statistics 41(6).

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.metrics import audit_metrics
    >>> people = pd.DataFrame({"sex": ["f", "f", "m"] * 100})
    >>> cells = audit_metrics(["yes", "no", "yes"] * 100, sensitive_features=people).findings.cells
    >>> parameters = MetricParameters(measure="ratio", guarantee="per-group", max_features=1)
    >>> audit_cells(cells, parameters).metrics[0].compared.effect.tolist()
    [0.5, 2.0]
    """
    contingency = cells.contingency
    searched = mine(
        contingency,
        cells.rows[None],
        min_count=parameters.min_rows,
        min_outside=0 if parameters.reference in (OVERALL, BEST) else 1,
        max_features=parameters.depth,
    )
    rule_sets = searched
    if given is not None:
        rule_sets = given.rule_sets.over(contingency, cells.rows[None])
    if read_reference is not None:
        # A value may look like several, or like an expression, so what reports call a group is it.
        name = _name_of_reference(rule_sets, parameters.reference, read_reference)
        parameters = replace(parameters, reference=name)
    unjudged = unjudged_rows(
        contingency,
        _with_reference(searched, cells, parameters),
        min_count=parameters.min_rows,
        max_features=parameters.depth,
        max_dilution=parameters.max_dilution,
        rows=cells.rows,
    )
    metrics = range(len(cells.metrics))
    of_cells = np.array([cells.of_metric(index) for index in metrics])
    # All metrics by one contraction.
    stacked = rule_sets.sums_of(contingency, of_cells.reshape(-1, contingency.cells))
    of_groups = stacked.reshape(*of_cells.shape[:2], len(rule_sets))
    sides = [
        _sides(cells, index, of_cells[index], of_groups[index], rule_sets, parameters, given)
        for index in metrics
    ]
    error = 1 - parameters.confidence
    replicates = 0
    if parameters.guarantee == "simultaneous":
        replicates = parameters.replicates
        largest = largest_deviations(
            cells,
            rule_sets,
            [of_metric.strays for of_metric in sides],
            [of_metric.references for of_metric in sides],
            samples=replicates,
            seed=parameters.seed,
        )
        comparisons = sum(int(of_metric.strays.sum()) for of_metric in sides)
        error = shared_error(largest, error, comparisons)
    overlaps = overlaps_of(cells, rule_sets, parameters.reference)
    sum_groups = rule_sets.sums_of_some(contingency)
    found = of_each(
        lambda index: _found(
            cells, index, rule_sets, sides[index], overlaps, sum_groups, error, parameters
        ),
        metrics,
    )
    if parameters.strict and given is None:
        found = [
            replace(
                of_metric, unjudged=_unjudged_by(cells, index, rule_sets, of_metric, parameters)
            )
            for index, of_metric in enumerate(found)
        ]
    return MetricsFindings(
        cells=cells,
        parameters=parameters,
        rule_sets=rule_sets,
        unjudged=unjudged,
        metrics=tuple(found),
        replicates=replicates,
    )


def _unjudged_by(
    cells: MetricCells,
    index: int,
    rule_sets: FrequentRuleSets,
    found: MetricFindings,
    parameters: MetricParameters,
) -> UnjudgedBy:
    """Return the share of the rows that one metric counts and that no judged group isolates."""
    # A group that is its own reference is known as well as those that are compared with it.
    compared = found.compared
    fewest = parameters.min_rows
    judged = np.flatnonzero((compared.counted >= fewest) & (compared.counted_reference >= fewest))
    counted = np.rint(compared.counted[judged]).astype(np.int64)
    unjudged = unjudged_rows(
        cells.contingency,
        replace(rule_sets.take(judged), sums=counted[None]),
        min_count=parameters.min_rows,
        max_features=parameters.depth,
        max_dilution=parameters.max_dilution,
        rows=cells.counted[index],
    )
    uncounted, uncounted_share = _uncounted_groups(cells, index, rule_sets, compared, fewest)
    return UnjudgedBy(
        share=unjudged.rows / max(1, found.counted),
        features=unjudged.features,
        uncounted=uncounted,
        uncounted_share=uncounted_share,
    )


def _uncounted_groups(
    cells: MetricCells, index: int, rule_sets: FrequentRuleSets, compared: Compared, fewest: int
) -> tuple[tuple[str, ...], float]:
    """Return the groups with enough rows of which a metric counts too few, and their share.

    Of the rows that the metric counts they are a small share, or none; it is of all rows. A
    combination of values has few that count by chance as well, so it is among these only if it
    would have twice as many as are needed, were they counted as often as those of all rows.
    """
    rows = rule_sets.sums[0]
    rules = rule_sets.rule_counts()
    usual = rows * (cells.counted[index].sum() / cells.rows.sum())
    is_uncounted = (rows >= fewest) & (compared.counted < fewest)
    groups = np.flatnonzero(is_uncounted & ((rules == 1) | (usual >= 2 * fewest)))
    # Few rules and few rows first: a group that is made up of some that are named is not named.
    groups = groups[np.lexsort((rows[groups], rules[groups]))]
    named: list[int] = []
    seen = np.zeros(cells.contingency.cells, dtype=bool)
    for group in groups:
        members = rule_sets.members(np.array([group]), cells.contingency)[0]
        if (members & ~seen).any():
            named.append(int(group))
            seen |= members
    texts = rule_sets.texts(np.array(named, dtype=np.intp)) if named else ()
    return tuple(str(text) for text in texts), float(cells.rows[seen].sum() / cells.rows.sum())


def _with_reference(
    rule_sets: FrequentRuleSets, cells: MetricCells, parameters: MetricParameters
) -> FrequentRuleSets:
    """Return the groups whose complement has enough rows, if it is what they are compared with."""
    if parameters.reference != REST:
        return rule_sets
    others = rule_sets.totals(cells.contingency, cells.rows[None])[0] - rule_sets.sums[0]
    return rule_sets.take(np.flatnonzero(others >= parameters.min_rows))


@dataclass(frozen=True, kw_only=True)
class _MetricSides:
    """A metric of all groups and of what they are compared with."""

    everything: Sides  # Of all rows, shape (1,).
    inside: Sides
    outside: Sides
    references: References
    reference_group: NDArray[np.intp]  # Which group that is for each, -1 for none.
    judged: NDArray[np.bool_]  # Whether there are enough rows on both sides.
    strays: NDArray[np.bool_]  # The groups whose deviations count in the bootstrap.


def _sides(
    cells: MetricCells,
    index: int,
    of_cells: Floats,
    inside_sums: Floats,
    rule_sets: FrequentRuleSets,
    parameters: MetricParameters,
    given: GivenGroups | None,
) -> _MetricSides:
    """Return one metric of all groups and of their references, and which of them are judged.

    `of_cells` are the metric's sums over cells, shape (6, cells), and `inside_sums` those over
    groups, shape (6, groups).
    """
    metric = cells.metrics[index]
    inside = sides_of(inside_sums, scale=metric.scale)
    if parameters.measure == "ratio" and _has_negatives(metric, inside):
        raise ParameterError(
            f"{metric.name} may be negative, and ratios of negative numbers say nothing",
            where="measure",
            remedy="compare by difference",
            metric=metric.name,
        )
    references, outside, chosen = _references(
        cells,
        inside,
        inside_sums,
        of_cells,
        rule_sets,
        metric,
        parameters,
        best=None if given is None else given.references[index],
    )
    fewest = parameters.min_rows if given is None else _FEWEST_GIVEN
    enough = inside.counted >= fewest
    judged = enough & (outside.counted >= fewest)
    if given is not None:
        judged &= given.found[index]
        # What is only a reference strays as well.
        enough &= given.found[index] | np.isin(np.arange(len(rule_sets)), chosen)
    # A group that is its own reference is compared with nothing.
    judged &= chosen != np.arange(len(rule_sets))
    return _MetricSides(
        everything=sides_of(of_cells.sum(axis=1)[:, None], scale=metric.scale),
        inside=inside,
        outside=outside,
        references=references,
        reference_group=chosen,
        judged=judged,
        strays=judged if references.compared else enough,
    )


def _found(
    cells: MetricCells,
    index: int,
    rule_sets: FrequentRuleSets,
    sides: _MetricSides,
    overlaps: Overlaps,
    sum_groups: SumsOfSome,
    error: float,
    parameters: MetricParameters,
) -> MetricFindings:
    """Return one metric of all groups with effects, lower confidence bounds and the ranking."""
    compared = compare_sides(
        sides.inside,
        sides.outside,
        sides.everything,
        sides.judged,
        error=error,
        measure=parameters.measure,
        reference=parameters.reference,
    )
    ranking = rank_groups(
        np.nan_to_num(compared.size),
        np.rint(compared.counted).astype(np.int64),
        _order_of_descriptions(rule_sets, compared),
        sides.judged,
        compared.lower_bound,
        harmed=_harmed(cells.metrics[index], compared),
    )
    ranking = ranking[sides.judged[ranking]]
    return MetricFindings(
        metric=cells.metrics[index],
        overall=float(sides.everything.value[0]),
        counted=int(sides.everything.counted[0]),
        compared=compared,
        reference_group=sides.reference_group,
        ranking=ranking,
        distinct=_different_people(
            cells, index, rule_sets, ranking, compared, parameters, sum_groups
        ),
        no_near_copies=_no_near_copies(cells, overlaps, ranking, parameters),
        reference_cells=sides.references.cells,
    )


def _order_of_descriptions(rule_sets: FrequentRuleSets, compared: Compared) -> NDArray[np.int64]:
    """Return numbers that order groups of which the metric counts as many rows, (groups,).

    The smallest comes first: groups with few rows that it does not count, so that a finding about
    some values does not name others of which it knows nothing; then those of few rules.
    """
    rules = rule_sets.rule_counts()
    uncounted = rule_sets.sums[0] - np.rint(compared.counted).astype(np.int64)
    if not uncounted.any():
        return rules
    places = np.unique(np.stack([uncounted, rules], axis=1), axis=0, return_inverse=True)[1]
    return places.reshape(-1).astype(np.int64)


def _harmed(metric: Metric, compared: Compared) -> NDArray[np.bool_] | None:
    """Return the groups whose value is the worse one; None if neither is better."""
    if metric.better == "neither":
        return None
    if metric.better == "zero":
        farther: NDArray[np.bool_] = np.abs(compared.value) > np.abs(compared.reference)
        return farther
    lower: NDArray[np.bool_] = compared.value < compared.reference
    return lower if metric.better == "higher" else ~lower


def _has_negatives(metric: Metric, inside: Sides) -> bool:
    return metric.scale == "number" and bool((inside.numerator < 0).any())


def _references(
    cells: MetricCells,
    inside: Sides,
    inside_sums: Floats,
    of_cells: Floats,
    rule_sets: FrequentRuleSets,
    metric: Metric,
    parameters: MetricParameters,
    *,
    best: NDArray[np.intp] | None,
) -> tuple[References, Sides, NDArray[np.intp]]:
    """Return the references of groups, and the index of each as a group, -1 for none; (groups,).

    `inside_sums` are the sums over groups, shape (6, groups); `of_cells` those over cells, shape
    (6, cells); `best` is the best group for each, if other rows were searched for it.
    """
    no_group = np.full(len(rule_sets), -1, dtype=np.intp)
    wanted = parameters.reference
    if wanted in (REST, OVERALL):
        references = References(all_others=wanted == OVERALL)
        sums = references.sums(rule_sets, cells.contingency, inside_sums, of_cells)
        return references, sides_of(sums, scale=metric.scale), no_group
    if wanted == BEST:
        if best is None:
            best = _best_of_features(metric, inside, rule_sets, parameters)
        # A given group that nothing was best for stands for itself, and is not judged.
        best = np.where(best >= 0, best, np.arange(len(rule_sets)))
        return References(compared=False), inside.take(best), best
    group = find_group(rule_sets, wanted)
    members = rule_sets.members(np.array([group]), cells.contingency)[0]
    references = References(cells=members)
    sums = references.sums(rule_sets, cells.contingency, inside_sums, of_cells)
    outside = sides_of(sums, scale=metric.scale)
    return references, outside, np.full(len(rule_sets), group, dtype=np.intp)


def _best_of_features(
    metric: Metric, inside: Sides, rule_sets: FrequentRuleSets, parameters: MetricParameters
) -> NDArray[np.intp]:
    """Return for each group the one over the same features with the best value."""
    if metric.better == "neither":
        raise ParameterError(
            f"no value of {metric.name} is best",
            where="reference",
            remedy="compare with rest, overall, or one group",
            metric=metric.name,
        )
    known = np.nan_to_num(inside.value)
    goodness = {"higher": known, "lower": -known, "zero": -np.abs(known)}[metric.better]
    value = np.where(inside.counted >= parameters.min_rows, goodness, -np.inf)
    best = np.arange(len(rule_sets), dtype=np.intp)
    for subset in np.unique(rule_sets.subset):
        groups = np.flatnonzero(rule_sets.subset == subset)
        # Of equal values the larger group's says more.
        order = np.lexsort((-inside.counted[groups], -value[groups]))
        best[groups] = groups[order[0]]
    return best


def _name_of_reference(
    rule_sets: FrequentRuleSets, text: str, read_reference: Callable[[str], str]
) -> str:
    """Return what groups are compared with, one group as reports call it."""
    if text in (REST, OVERALL, BEST):
        return text
    is_name = bool(np.any(rule_sets.texts(np.arange(len(rule_sets))) == text))
    return text if is_name else read_reference(text)


def find_group(rule_sets: FrequentRuleSets, text: str) -> int:
    """Return the group that a text such as "sex = Male and race = White" describes.

    Raises
    ------
    ParameterError
        If no frequent group is described so.
    """
    wanted = {" ".join(part.split()) for part in text.split(" and ")}
    texts = rule_sets.texts(np.arange(len(rule_sets)))
    for group, described in enumerate(texts.tolist()):
        if described == text or set(described.split(" and ")) == wanted:
            return group
    single = [item for item in texts.tolist() if " and " not in item]
    # First those that are about the same features, so that the limits of a number are seen.
    words = set(re.findall(r"\w+", text))
    alike = [item for item in single if words.intersection(re.findall(r"[^\W\d]\w*", item))]
    alike.sort(key=lambda item: SequenceMatcher(None, text, item).ratio(), reverse=True)
    listed = ", ".join((alike or single)[:_MOST_LISTED])
    what = f"no group of enough rows is {text!r}"
    if not alike:
        what = f"{text!r} is about no sensitive feature"
    raise ParameterError(
        what,
        where="reference",
        remedy=f"write rest, overall, best, or a group of {listed}; edges in features, "
        "or in a description, set the limits of numbers",
        reference=text,
    )


def _different_people(
    cells: MetricCells,
    index: int,
    rule_sets: FrequentRuleSets,
    ranking: NDArray[np.intp],
    compared: Compared,
    parameters: MetricParameters,
    sum_groups: SumsOfSome,
) -> tuple[int, ...]:
    """Return the first group of a ranking, and the first significant ones of different people.

    People count as one metric counts them: those in its denominator, by their weights. Where groups
    are compared with one other group, a group and its complement are two findings.
    """
    # The first group is shown in any case.
    others = ranking[1:][compared.significant[ranking[1:]]]
    return different_people(
        np.append(ranking[:1], others),
        rule_sets,
        cells.contingency,
        limit=DISTINCT,
        amounts=cells.sums[index, DENOMINATOR].astype(np.float64),
        inside=compared.inside.denominator,
        complements=parameters.reference in (REST, OVERALL),
        sum_groups=sum_groups,
    )


def _no_near_copies(
    cells: MetricCells,
    overlaps: Overlaps,
    ranking: NDArray[np.intp],
    parameters: MetricParameters,
) -> tuple[int, ...]:
    """Return the first groups of a ranking that are no near copies of one before them."""
    return tuple(
        distinct_groups(
            ranking,
            overlaps,
            overlap=parameters.overlap,
            limit=parameters.top,
            block=block_of(cells.contingency.cells),
        )
    )


def overlaps_of(cells: MetricCells, rule_sets: FrequentRuleSets, reference: str) -> Overlaps:
    """Return a function to the overlaps of groups; with the reference rest, also of complements."""
    return member_overlaps(
        rule_sets.member_lookup(cells.contingency),
        cells.rows,
        with_complements=reference == REST,
        complements=complements_of(cells, rule_sets),
    )


def complements_of(
    cells: MetricCells, rule_sets: FrequentRuleSets
) -> Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None:
    """Return a function to the cells of groups' complements; None if these are all other cells."""
    if len(rule_sets.universes) == 1:
        return None
    return partial(rule_sets.complement_members, contingency=cells.contingency)
