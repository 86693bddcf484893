"""The model's answers to the generated texts of one category set, and what is counted of them."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts
from testsgd.auditing.text.predictions import SharedPredictions
from testsgd.rules.text import CategorySet, Mentions, TermRuleSets
from testsgd.sampling.text import Replacer

Floats = NDArray[np.float64]

# Numbers in one block of paired differences, 16 MB.
_BLOCK_NUMBERS = 1 << 21


def ask_variants(
    predictions: SharedPredictions,
    replacer: Replacer,
    category_set: CategorySet,
    rows: NDArray[np.int64],
    groups: NDArray[np.intp] | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> NDArray[Any]:
    """Ask about seed texts with the terms of each rule set of one category set.

    Parameters
    ----------
    predictions : SharedPredictions
        The model.
    replacer : Replacer
        Writes the variants.
    category_set : CategorySet
        The categories whose terms are replaced.
    rows : numpy.ndarray of int64, shape (m,)
        Seed texts.
    groups : numpy.ndarray of int, shape (k,), optional
        Places of the rule sets within the category set; all of them if not given.
    progress : callable, optional
        Called with the number of texts done so far.

    Returns
    -------
    numpy.ndarray of bool, or of int64, shape (m, k)
        Which variants get the favourable label, or how many of the answers about each do.
    """
    places = np.arange(int(np.prod(category_set.shape))) if groups is None else groups
    chosen = np.column_stack(np.unravel_index(places, category_set.shape)).tolist()

    def variants() -> Iterator[str]:
        for row in rows.tolist():
            for terms in chosen:
                yield replacer.variant(row, category_set.categories, terms)

    answers = predictions.decide(variants(), progress=progress)
    return answers.reshape(len(rows), len(places))


def containing_all(mentions: Mentions, rule_sets: TermRuleSets, weights: Counts) -> Counts:
    """Count the texts that contain all terms of each rule set; all others are outside it.

    Parameters
    ----------
    mentions : Mentions
        The terms in the texts.
    rule_sets : TermRuleSets
        The rule sets.
    weights : numpy.ndarray of int64, shape (texts,)
        How often each text counts: once, or as often as it was drawn.

    Returns
    -------
    numpy.ndarray of int64, shape (groups,)
    """
    contains = mentions.contains()
    counts = [_joint_counts(contains, one, weights) for one in rule_sets.category_sets]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def _joint_counts(
    contains: tuple[NDArray[np.bool_], ...], category_set: CategorySet, weights: Counts
) -> Counts:
    rows = category_set.rows[weights[category_set.rows] > 0]
    letters = string.ascii_lowercase[: len(category_set.categories)]
    # Floats, because whole numbers have no fast product; sums below 2**53 are exact.
    operands = [contains[at][rows].astype(np.float64) for at in category_set.categories]
    operands[0] = operands[0] * weights[rows][:, None]
    sums = np.einsum(
        ",".join(f"z{letter}" for letter in letters) + "->" + letters, *operands, optimize=True
    )
    counts: Counts = np.rint(sums).astype(np.int64).ravel()
    return counts


@dataclass(frozen=True)
class KnownAnswers:
    """All answers of an exact audit, one by one; means where a question was asked several times.

    Attributes
    ----------
    texts : numpy.ndarray of bool or float, shape (texts,)
        Which texts get the favourable label as they are.
    variants : tuple of numpy.ndarray of bool or float, shape (seeds, groups of the set)
        For each set of categories, which seeds get it with the terms of which group.
    contains : tuple of numpy.ndarray of bool, shape (texts, terms)
        For each category, which texts have which term.
    """

    texts: NDArray[Any]
    variants: tuple[NDArray[Any], ...]
    contains: tuple[NDArray[np.bool_], ...]

    def inside(self, category_set: CategorySet) -> NDArray[np.bool_]:
        """Say which seeds contain all terms of a group already, shape (seeds, groups)."""
        found = np.ones((len(category_set.rows), 1), dtype=bool)
        for category in category_set.categories:
            of_category = self.contains[category][category_set.rows]
            found = (found[:, :, None] & of_category[:, None, :]).reshape(len(found), -1)
        return found


@dataclass(frozen=True)
class PairSums:
    """Sums over the seeds of one category set, one number a rule set, flat.

    Attributes
    ----------
    with_terms : numpy.ndarray of float64
        Sum of the answers with the rule set's terms.
    other : numpy.ndarray of float64
        Sum of the mean answers with other terms, every category changed.
    squares, sizes : numpy.ndarray of float64
        Sums of the squared differences of the two, and of the differences without their signs.
    cluster_sizes, cluster_gains, cluster_losses : numpy.ndarray of float64
        Sums of the sizes of the seeds' clusters, and of these times the differences above and below
        zero.
    """

    with_terms: Floats
    other: Floats
    squares: Floats
    sizes: Floats
    cluster_sizes: Floats
    cluster_gains: Floats
    cluster_losses: Floats


def pair_sums(
    answers: NDArray[Any],
    shape: tuple[int, ...],
    weights: Counts | None = None,
    cluster_sizes: Counts | None = None,
) -> PairSums:
    """Compare each seed's answer with a rule set's terms with those with other terms.

    Parameters
    ----------
    answers : numpy.ndarray of bool or float, shape (m, groups)
        From :func:`ask_variants`, or means of it; all rule sets of the category set.
    shape : tuple of int
        Terms of each category; at least two each.
    weights : numpy.ndarray of int64, shape (m,), optional
        How often each seed counts.
    cluster_sizes : numpy.ndarray of int64, shape (m,), optional
        Seeds in each seed's cluster; 1 if not given.

    Returns
    -------
    PairSums
    """
    groups = answers.shape[1]
    with_terms, other, squares, sizes, of_clusters, gains, losses = np.zeros((7, groups))
    step = max(1, _BLOCK_NUMBERS // max(1, groups))
    for start in range(0, len(answers), step):
        block = answers[start : start + step].astype(np.float64)
        means = other_means(block, shape)
        often = np.ones(len(block)) if weights is None else weights[start : start + step]
        more = often if cluster_sizes is None else often * cluster_sizes[start : start + step]
        with_terms += often @ block
        other += often @ means
        squares += often @ (block - means) ** 2
        sizes += often @ np.abs(block - means)
        of_clusters += more.sum()
        gains += more @ np.maximum(block - means, 0)
        losses += more @ np.maximum(means - block, 0)
    return PairSums(with_terms, other, squares, sizes, of_clusters, gains, losses)


def other_means(answers: Floats, shape: tuple[int, ...]) -> Floats:
    """Give each seed's mean answer with other terms, every category changed.

    The sum over the other terms of every category is found axis by axis: along one category, the
    others are all terms less the one. So all rule sets are compared at once.

    Parameters
    ----------
    answers : numpy.ndarray of float64, shape (m, groups)
        Answers to all rule sets of the category set, 0 or 1.
    shape : tuple of int
        Terms of each category; at least two each.

    Returns
    -------
    numpy.ndarray of float64, shape (m, groups)

    Examples
    --------
    >>> other_means(np.array([[1.0, 0.0, 0.0]]), (3,)).tolist()
    [[0.0, 0.5, 0.5]]
    """
    sums = answers.reshape(-1, *shape)
    for axis in range(1, 1 + len(shape)):
        sums = sums.sum(axis=axis, keepdims=True) - sums
    means: Floats = sums.reshape(answers.shape) / np.prod([size - 1 for size in shape])
    return means
