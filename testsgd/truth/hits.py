"""When a finding counts as the group that was planted.

A finding hits a planted group if the two share at least 80% of the people that are in either
(Jaccard's index, on the rows at hand). The rest of the people says the same with the other sign:
"all but the south are favoured" is "the south is disfavoured". So a finding also hits if it is the
people outside of it that match the planted group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HIT = 0.8
FIRST = 5


@dataclass(frozen=True)
class Hits:
    """Whether a list of findings has the planted groups in it.

    Attributes
    ----------
    first : bool
        The first finding hits a planted group.
    among_first : bool
        Every planted group is hit by one of the first five findings.
    inside : bool
        At least 80% of the first finding's people are in planted groups.
    """

    first: bool
    among_first: bool
    inside: bool


def jaccard(
    group: NDArray[np.bool_], other: NDArray[np.bool_], weights: NDArray[np.int64] | None = None
) -> float:
    """Compute the people in both groups as a share of those in either.

    Parameters
    ----------
    group, other : numpy.ndarray of bool, shape (n,)
        Who, or which cells, are in each.
    weights : numpy.ndarray of int64, shape (n,), optional
        People in each cell.

    Returns
    -------
    float
        0 if both are empty.

    Examples
    --------
    >>> jaccard(np.array([True, True, False]), np.array([False, True, True]))
    0.3333333333333333
    """
    either = _size(group | other, weights)
    return _size(group & other, weights) / either if either else 0.0


def find_hits(
    findings: Sequence[Sequence[NDArray[np.bool_]]],
    planted: Sequence[NDArray[np.bool_]],
    weights: NDArray[np.int64] | None = None,
) -> Hits:
    """Look for the planted groups among findings.

    Parameters
    ----------
    findings : sequence of sequences of numpy.ndarray of bool
        Best first; each finding as the groups that it names: one, or two where a method reports
        pairs, of which either may be the planted one.
    planted : sequence of numpy.ndarray of bool
        The planted groups, at least one.
    weights : numpy.ndarray of int64, optional
        People in each place of these arrays; one if not given.

    Returns
    -------
    Hits
    """

    def hit(finding: Sequence[NDArray[np.bool_]], group: NDArray[np.bool_]) -> bool:
        return any(
            jaccard(side, group, weights) >= HIT for named in finding for side in (named, ~named)
        )

    union = np.logical_or.reduce(list(planted))

    def inside(named: NDArray[np.bool_]) -> bool:
        people = _size(named, weights)
        return people > 0 and _size(named & union, weights) >= HIT * people

    first = findings[0] if findings else ()
    return Hits(
        first=any(hit(first, group) for group in planted),
        among_first=all(
            any(hit(finding, group) for finding in findings[:FIRST]) for group in planted
        ),
        inside=any(inside(side) for named in first for side in (named, ~named)),
    )


def same_groups(groups: Sequence[NDArray[np.bool_]], others: Sequence[NDArray[np.bool_]]) -> bool:
    """Return if two lists hold the same groups in any order, each or the rest of the people.

    Parameters
    ----------
    groups, others : sequence of numpy.ndarray of bool, shape (n,)
        Who, or which cells, are in each.

    Examples
    --------
    >>> women = np.array([True, True, False])
    >>> same_groups([women], [~women]), same_groups([women], [women, ~women[::-1]])
    (True, False)
    """

    def sides(group: NDArray[np.bool_]) -> frozenset[bytes]:
        return frozenset((group.tobytes(), (~group).tobytes()))

    return {sides(group) for group in groups} == {sides(group) for group in others}


def _size(group: NDArray[np.bool_], weights: NDArray[np.int64] | None) -> int:
    return int(group.sum() if weights is None else weights[group].sum())
