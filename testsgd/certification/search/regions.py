"""Regions of unfairness: a few large boxes with the shares proved and estimated in each."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, DomainInput
from testsgd.certification.outcome import Condition, Region
from testsgd.certification.proving import Axes
from testsgd.certification.proving.axes import Floats
from testsgd.certification.search.branch_and_bound import ROOT, BranchAndBound
from testsgd.certification.search.enumeration import Enumeration
from testsgd.report.formatting import either

# Of longer lists of values only the first are written.
_MOST_VALUES = 5


def regions_of_search(
    search: BranchAndBound,
    domain: Domain,
    nodes: NDArray[np.int64],
    unfair: NDArray[np.bool_],
    count: int,
) -> tuple[Region, ...]:
    """Describe up to `count` nodes of the tree that split the domain.

    The node with most unfairness, proved or possible, is replaced by its halves until `count` nodes
    are left. The unfairness of a node is its proved unfair share plus its undecided share times the
    rate of unfair samples in it, or plus all of its undecided share without samples.

    Parameters
    ----------
    search : BranchAndBound
        The search.
    domain : Domain
        Its domain.
    nodes : numpy.ndarray of int, shape (n,)
        The nodes of n samples of the undecided region.
    unfair : numpy.ndarray of bool, shape (n,)
        Which of the samples are treated unfairly.
    count : int
        The most regions to return.

    Returns
    -------
    tuple of Region
        The regions, that with most unfairness first.
    """
    if count == 0:
        return ()
    boxes, tree = search.boxes, search.tree
    where = boxes["node"].astype(np.int64)
    none = np.zeros_like(tree.fair)
    fair = tree.totals(where, boxes["fair"], tree.fair.copy())
    falsified = tree.totals(where, boxes["unfair"], tree.unfair.copy())
    undecided = tree.totals(where, boxes["undecided"], none.copy())
    drawn = tree.totals(nodes, np.ones(len(nodes)), none.copy())
    drawn_unfair = tree.totals(nodes, unfair.astype(np.float64), none.copy())
    rate = np.where(drawn > 0, drawn_unfair / np.maximum(drawn, 1), 1.0)
    weight = falsified + undecided * rate
    leaves = [(-weight[ROOT], ROOT)]
    finished: list[int] = []
    while leaves and len(leaves) + len(finished) < count:
        _, node = heapq.heappop(leaves)
        children = tree.children(node)
        if children is None:
            finished.append(node)
            continue
        for child in children:
            if falsified[child] + undecided[child] > 0:
                heapq.heappush(leaves, (-weight[child], child))
    chosen = sorted([*finished, *(node for _, node in leaves)], key=lambda node: -weight[node])
    axes = search.axes
    regions = []
    for node in chosen:
        low, high = tree.box(node, axes.low, axes.high)
        regions.append(
            region_of(
                _conditions(domain, axes, low, high),
                axes.shares(low[None], high[None])[0],
                fair[node],
                falsified[node],
                undecided[node],
                estimate=float(rate[node]) if drawn[node] else None,
            )
        )
    return tuple(regions)


def regions_of_enumeration(
    enumeration: Enumeration, domain: Domain, axes: Axes, count: int
) -> tuple[Region, ...]:
    """Describe where the unfair people of an enumeration are, by the leaves of a decision tree.

    Parameters
    ----------
    enumeration : Enumeration
        All people of the domain.
    domain : Domain
        The domain.
    axes : Axes
        Its free inputs.
    count : int
        The most regions to return.

    Returns
    -------
    tuple of Region
        The smallest box around each leaf that holds unfair people, that with most of them first;
        its shares are those of the people of the leaf.
    """
    # Imported here: more than a second, which only this needs.
    from sklearn.tree import DecisionTreeClassifier

    unfair = enumeration.answers.unfair
    if count == 0 or not unfair.any():
        return ()
    leaf = np.zeros(len(unfair), dtype=np.int64)
    if not unfair.all():
        tree = DecisionTreeClassifier(max_leaf_nodes=max(2, count), random_state=0)
        known = enumeration.weights > 0
        # Trees round to float32, which holds the steps from the lowest values exactly.
        steps = enumeration.answers.points - enumeration.answers.points.min(axis=0)
        tree.fit(steps[known], unfair[known], sample_weight=enumeration.weights[known])
        leaf = tree.apply(steps)
    regions = []
    for index in np.unique(leaf):
        inside = leaf == index
        falsified = enumeration.share(inside & unfair)
        if falsified == 0:
            continue
        points = enumeration.answers.points[inside]
        rules = _conditions(domain, axes, points.min(axis=0), points.max(axis=0))
        fair = enumeration.share(inside & ~unfair)
        share = enumeration.share(inside)
        regions.append(region_of(rules, share, fair, falsified, 0.0))
    return tuple(sorted(regions, key=lambda region: -region.falsified))[:count]


def region_of(rules: Iterable[Condition], *shares: float, estimate: float | None = None) -> Region:
    """Describe a box by its rules, and its shares: its own, certified, falsified, undecided."""
    rules = tuple(rules)
    # A sum of weights may be above 1 by rounding.
    share, certified, falsified, undecided = (min(max(float(part), 0.0), 1.0) for part in shares)
    return Region(rules, _text(rules), share, certified, falsified, undecided, estimate)


def box_text(domain: Domain, axes: Axes, low: Floats, high: Floats) -> str:
    """Return a box as people write its rules.

    Parameters
    ----------
    domain : Domain
        The domain.
    axes : Axes
        Its free inputs.
    low, high : numpy.ndarray of float64, shape (axes,)
        The ends of the box, both part of it; those of a category are indices.

    Returns
    -------
    str
        The sides that are narrower than the domain, joined by "and"; "the whole domain" if none is.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> from testsgd.certification.proving import build_problem
    >>> model = LogisticRegression().fit([[0, 0, 0], [19, 9, 1]], [0, 1])
    >>> domain = find_domain(
    ...     {
    ...         "inputs": {
    ...             "skill": {"integer": [0, 19]},
    ...             "years": {"integer": [0, 9]},
    ...             "man": {"integer": [0, 1]},
    ...         }
    ...     },
    ...     protected="man",
    ... )
    >>> axes = build_problem(find_network(model), domain).axes
    >>> box_text(domain, axes, np.array([8.0, 0.0]), np.array([10.0, 9.0]))
    'skill from 8 to 10'
    >>> box_text(domain, axes, axes.low, axes.high)
    'the whole domain'
    """
    return _text(_conditions(domain, axes, low, high))


def _text(rules: Iterable[Condition]) -> str:
    return " and ".join(rule.text for rule in rules) or "the whole domain"


def _conditions(domain: Domain, axes: Axes, low: Floats, high: Floats) -> Iterator[Condition]:
    """Return the sides of a box that are narrower than the domain."""
    for axis, item in enumerate(domain.free):
        if low[axis] > axes.low[axis] or high[axis] < axes.high[axis]:
            yield condition_on(item, float(low[axis]), float(high[axis]))


def condition_on(item: DomainInput, low: float, high: float) -> Condition:
    """Write down that an input is within bounds; those of a category are indices."""
    name = item.name
    if isinstance(item, CategoryInput):
        values = list(item.values[int(low) : int(high) + 1])
        return Condition(name, values, None, None, f"{name} {_category_text(item, values)}")
    text = f"= {item.text(low)}" if low == high else f"from {item.text(low)} to {item.text(high)}"
    return Condition(name, None, low, high, f"{name} {text}")


def _category_text(item: CategoryInput, values: list[str]) -> str:
    """Write which values are allowed; of many which are not, or how many more there are."""
    others = [value for value in item.values if value not in values]
    if len(values) <= _MOST_VALUES:
        return f"= {either(values)}"
    if len(others) <= _MOST_VALUES:
        return f"other than {either(others)}"
    shown = values[: _MOST_VALUES - 1]
    return f"= {either([*shown, f'{len(values) - len(shown)} more'])}"
