"""The largest deviation of any group of texts: what a search finds by chance alone.

As of rows (:mod:`testsgd.auditing.max_statistic`) it is found by a multiplier bootstrap: every
text, or cluster of texts, gets a random weight from the standard normal distribution. What a text
does to a group's difference is one number: its variant's answer counts inside if the text is a
seed, and its own answer outside if it lacks one of the terms. So a sample of all groups over the
same categories is a product of the weights with the matrix of these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates, Floats
from testsgd.auditing.guarantee import Guarantee, bonferroni, guarantee_of
from testsgd.auditing.max_statistic import FEWEST_SAMPLES, Singles, shared_error
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import KnownAnswers
from testsgd.scoring import Clusters

# Weights, and effects of texts on groups, in memory at once: 64 and 32 MB.
_WEIGHTS = 1 << 24
_EFFECTS = 1 << 23
# Products that take some ten seconds. More answers get fewer samples.
_MOST_PRODUCTS = 200_000_000_000


def simultaneous_texts(
    estimates: Estimates, known: KnownAnswers, parameters: AuditParameters
) -> Guarantee:
    """Return a guarantee for all groups of texts at once, by the max statistic.

    The intervals take the two sides of a group for independent. Mostly that makes them too wide,
    for which the bootstrap allows. Where it makes them too narrow, because variants are answered
    the other way round than the texts they come from, the group's error rate is made smaller, so
    that the interval is as wide as the difference strays.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr, ndtri

    spread = spread_of(estimates, known)
    groups = int(np.count_nonzero(spread.counted))
    if not groups:
        return bonferroni(estimates, parameters.confidence)
    error = 1 - parameters.confidence
    answers = sum(variants.size for variants in known.variants)
    samples = min(parameters.replicates, max(FEWEST_SAMPLES, _MOST_PRODUCTS // max(1, answers)))
    # Rarer errors than one in all the bootstrap samples cannot be seen in them.
    samples = max(samples, math.ceil(1 / error))
    largest = largest_deviations(estimates, known, spread, samples=samples, seed=parameters.seed)
    shared = shared_error(largest, error, groups)
    errors = np.full(len(spread.stretch), shared)
    wide = spread.stretch > 1
    errors[wide] = 2 * ndtr(ndtri(shared / 2) * spread.stretch[wide])
    return guarantee_of(
        estimates,
        errors,
        kind="simultaneous",
        confidence=parameters.confidence,
        method="max-statistic",
        replicates=samples,
    )


@dataclass(frozen=True)
class Spread:
    """The standard errors of the groups' differences; all arrays have the shape (groups,)."""

    counted: NDArray[np.bool_]  # Groups with texts on both sides
    missing: Floats  # Variance that the answers do not show, because they are few and alike
    error: Floats  # Standard error of the difference
    # The standard error as a multiple of that for independent sides; 1 where it is smaller
    stretch: Floats


def spread_of(estimates: Estimates, known: KnownAnswers) -> Spread:
    """Compute the standard errors of all groups' differences.

    A rate whose few answers all agree seems not to vary at all. So its variance is taken with one
    answer more, at the rate of all texts, unless that makes it smaller.
    """
    counted = estimates.sampled
    clusters = known.clusters
    overall = (known.texts.sum() + 1) / (len(known.texts) + 2)
    independent = np.zeros(len(counted))
    missing = np.zeros(len(counted))
    for rows, side in zip((estimates.rows_in, estimates.rows_out), estimates.sides, strict=True):
        size = np.where(rows > 0, side.rows, 1)
        samples = np.maximum(side.samples, 1)
        rate = side.favourable / samples
        favourable = side.favourable * rows / samples if clusters is None else rate * size
        guarded = (favourable + overall) / (size + 1)
        shown = rate * (1 - rate)
        needed = guarded * (1 - guarded)
        independent += np.maximum(shown, needed) / size
        missing += np.maximum(needed - shown, 0) / size
    together = np.zeros(len(counted))
    for block in _blocks(estimates, known):
        if clusters is not None:
            together[block.groups] = _squares(block, known, clusters)
            continue
        # Texts that are no seeds are outside.
        likes = float(known.texts.sum() - block.answers.sum())
        others = len(known.texts) - len(block.answers) - likes
        squares = likes * (1 - block.rate) ** 2 + others * block.rate**2
        together[block.groups] = (block.effects.astype(np.float64) ** 2).sum(axis=0)
        together[block.groups] += squares / block.outside**2
    together += missing
    return Spread(
        counted,
        missing,
        np.sqrt(np.maximum(independent, together)),
        np.sqrt(np.maximum(together / independent, 1)),
    )


def _squares(block: _Block, known: KnownAnswers, clusters: Clusters) -> Floats:
    """Return the sums of the squared effects of whole clusters on a block's groups, (groups,)."""
    seeds, order = np.unique(clusters.of_row[block.rows], return_inverse=True)
    by_cluster = np.zeros((len(seeds), block.effects.shape[1]))
    np.add.at(by_cluster, order, block.effects.astype(np.float64))
    # Texts that are no seeds are outside.
    others, likes = (
        np.bincount(clusters.of_row, weights=all_of, minlength=len(clusters))
        - np.bincount(clusters.of_row[block.rows], weights=of_seeds, minlength=len(clusters))
        for all_of, of_seeds in (
            (np.ones(len(known.texts)), np.ones(len(block.rows))),
            (known.texts.astype(np.float64), block.answers.astype(np.float64)),
        )
    )
    rate = block.rate.astype(np.float64)
    outside = block.outside.astype(np.float64)
    by_cluster -= (likes[seeds, None] - others[seeds, None] * rate) / outside
    apart = np.ones(len(clusters), dtype=bool)
    apart[seeds] = False
    likes = likes[apart]
    others = others[apart]
    squares = likes @ likes - 2 * rate * (likes @ others) + rate**2 * (others @ others)
    sums: Floats = (by_cluster**2).sum(axis=0) + squares / outside**2
    return sums


def largest_deviations(
    estimates: Estimates, known: KnownAnswers, spread: Spread, *, samples: int, seed: int
) -> Floats:
    """Draw the largest standardised deviation over all groups of texts, shape (samples,).

    It is what :func:`testsgd.auditing.max_statistic.max_statistics` does of rows.
    """
    texts = len(known.texts)
    clusters = known.clusters
    units = texts if clusters is None else len(clusters)
    together = max(1, min(samples, _WEIGHTS // max(1, texts)))
    largest = np.zeros(samples)
    noise = np.sqrt(spread.missing).astype(np.float32)
    scale = np.where(spread.counted, spread.error, np.inf).astype(np.float32)
    for start in range(0, samples, together):
        # Six digits are plenty for a quantile, and half the bytes are half the time.
        weights = np.random.default_rng([seed, 5, start]).standard_normal(
            (min(together, samples - start), units), dtype=np.float32
        )
        if clusters is not None:
            weights = weights[:, clusters.of_row]
        largest_of_part = largest[start : start + len(weights)]
        generator = np.random.default_rng([seed, 6, start])
        total = weights.sum(axis=1)
        favourable = weights @ known.texts.astype(np.float32)
        for block in _blocks(estimates, known):
            of_seeds = weights[:, block.rows]
            others = total - of_seeds.sum(axis=1)
            favourable_others = favourable - of_seeds @ block.answers
            deviations = of_seeds @ block.effects
            deviations -= np.outer(favourable_others, 1 / block.outside)
            deviations += np.outer(others, block.rate / block.outside)
            drawn = generator.standard_normal(deviations.shape, dtype=np.float32)
            deviations += drawn * noise[block.groups]
            deviations /= scale[block.groups]
            deviations_of_part = np.abs(deviations).max(axis=1)
            np.maximum(largest_of_part, deviations_of_part, out=largest_of_part)
    return largest


@dataclass(frozen=True)
class _Block:
    """Some groups over the same categories, and what each seed does to their differences."""

    groups: slice
    rows: Counts
    # Each seed's own answer, and its effect on each group's difference.
    answers: Singles
    effects: Singles
    # Rate and number of the texts outside each group.
    rate: Singles
    outside: Singles


def _blocks(estimates: Estimates, known: KnownAnswers) -> Iterator[_Block]:
    """Yield the groups in blocks small enough for the memory, with the effects of their seeds.

    The effect of a seed on a group's difference, shape (seeds, groups), is
    (variant - rate_in) / size_in - (answer - rate_out) / size_out; the second part is 0 if the seed
    as it is has all of the group's terms.
    """
    rate_in = np.nan_to_num(estimates.rate_in).astype(np.float32)
    rate_out = np.nan_to_num(estimates.rate_out).astype(np.float32)
    size_in = np.maximum(estimates.rows_in, 1).astype(np.float32)
    size_out = np.maximum(estimates.rows_out, 1).astype(np.float32)
    for category_set, variants in known.of_sets():
        if not len(variants):
            continue
        answers = known.texts[category_set.rows].astype(np.float32)
        inside = known.inside(category_set)
        step = max(1, _EFFECTS // len(variants))
        for start in range(0, len(category_set), step):
            places = slice(start, min(start + step, len(category_set)))
            groups = slice(category_set.first + places.start, category_set.first + places.stop)
            effects = variants[:, places].astype(np.float32)
            effects -= rate_in[groups]
            effects /= size_in[groups]
            outside = answers[:, None] - rate_out[groups]
            outside /= size_out[groups]
            outside[inside[:, places]] = 0
            effects -= outside
            yield _Block(
                groups, category_set.rows, answers, effects, rate_out[groups], size_out[groups]
            )
