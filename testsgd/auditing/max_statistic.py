"""The largest deviation of any group: what a search over all of them finds by chance alone.

How much the most deviant of thousands of differences strays is found by a multiplier bootstrap:
every row gets a random weight from the standard normal distribution, and the weighted sums over all
groups at once show how far their differences stray, and how alike overlapping groups stray. Rows
with the same sensitive cells and answer go together, and a sum of normal weights is normal. So a
sample takes two random numbers a cell, however many rows there are, and one contraction of the
lattice.

Of texts, every text, or cluster of texts, gets a weight. What a text does to a group's difference
is one number: its variant's answer counts inside if the text is a seed, and its own answer outside
if it lacks one of the terms. So a sample of all groups over the same categories is a product of the
weights with the matrix of these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates, Floats
from testsgd.auditing.guarantee import Guarantee, bonferroni, guarantee_of
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import KnownAnswers
from testsgd.rules import (
    Contingency,
    Universes,
    candidate_count,
    feature_subsets,
    rule_set_sums,
)
from testsgd.scoring import Clusters

Singles = NDArray[np.float32]

# Sums of all bootstrap samples over all rule sets, some ten seconds' worth.
_MOST_NUMBERS = 1_500_000_000
_FEWEST_SAMPLES = 99
# Samples summed at once. It is part of the seeds' meaning: the result does not depend on threads.
_TOGETHER = 25


@dataclass(frozen=True)
class CellRates:
    """What the bootstrap needs to know of the rows, by cell of the contingency table."""

    rows: Floats  # How many rows, shape (cells,)
    # Their rate of the favourable label, between 0 and 1 and neither of them, shape (cells,)
    rates: Floats


def smoothed_rates(rows: Counts, favourable: Counts, samples: Counts) -> CellRates:
    """Estimate each cell's rate with one sample more, at the rate of all rows; shapes (cells,).

    A cell whose few samples all agree would otherwise seem not to vary at all, and a group of such
    cells not to count among those that stray by chance.
    """
    # With one favourable and one other sample more, so that it is never 0 nor 1.
    overall = (favourable.sum() + 1) / (samples.sum() + 2)
    # A row's neighbours are no samples of their own: a cell counts for its rows at most.
    size = np.minimum(rows, samples).astype(np.float64)
    share = favourable / np.maximum(samples, 1)
    return CellRates(rows.astype(np.float64), (size * share + overall) / (size + 1))


def affordable_samples(contingency: Contingency, max_features: int, wanted: int) -> int:
    """Return how many bootstrap samples to take: fewer of millions of groups."""
    candidates = max(1, candidate_count(contingency.axes, max_features))
    return min(wanted, max(_FEWEST_SAMPLES, _MOST_NUMBERS // (2 * candidates)))


def max_statistics(
    contingency: Contingency,
    cells: CellRates,
    *,
    min_count: int,
    max_features: int,
    samples: int,
    seed: int,
    jobs: int = 1,
) -> Floats:
    """Draw samples (samples,) of the largest standardised deviation over all frequent groups.

    Zeros if no group is frequent. See Chernozhukov, Chetverikov and Kato (2013), Gaussian
    approximations and multiplier bootstrap for maxima of sums of high-dimensional random vectors.
    Annals of Statistics 41(6).
    """
    universes = Universes(contingency.axes, max_features)
    subsets = feature_subsets(contingency.axes, max_features)

    def draw(start: int) -> Floats:
        """Draw a few samples at once, with one contraction of the lattice."""
        together = min(_TOGETHER, samples - start)
        generator = np.random.default_rng([seed, 5, start])
        shape = (together, len(cells.rows))
        # Sums of the weights of a cell's favourable rows, and of its others.
        favourable = generator.standard_normal(shape) * np.sqrt(cells.rows * cells.rates)
        others = generator.standard_normal(shape) * np.sqrt(cells.rows * (1 - cells.rates))
        # Six digits are plenty for a quantile, and half the bytes are half the time.
        quantities = np.vstack(
            [cells.rows, cells.rows * cells.rates, favourable, favourable + others],
            dtype=np.float32,
        )
        totals = universes.totals(contingency, quantities)
        # A group's rate lies between those of its cells, so it varies no less than one of them
        # does; rounding may say otherwise where nearly all answers are alike.
        least = float((cells.rates * (1 - cells.rates)).min(initial=0.25))
        largest = np.zeros(together)
        for block in rule_set_sums(contingency, quantities, max_features):
            rows, least_rows = np.rint(block.sums[0]), max(min_count, 1)
            of_block = universes.of_block(block, subsets[block.subset])
            for universe, places in universes.parts(of_block, len(rows)):
                total, inside = totals[:, universe], rows[places]
                enough = (inside >= least_rows) & (round(total[0]) - inside >= least_rows)
                kept = places[enough]
                if len(kept):
                    found = _largest_deviations(block.sums[:, kept], total, together, least)
                    np.maximum(largest, found, out=largest)
        return largest

    parts = joblib.Parallel(n_jobs=jobs, prefer="threads")(
        joblib.delayed(draw)(start) for start in range(0, samples, _TOGETHER)
    )
    return np.concatenate([np.zeros(0), *parts])


def _largest_deviations(
    sums: NDArray[np.float32], totals: NDArray[np.float32], samples: int, least: float
) -> NDArray[np.float32]:
    """Return each sample's largest deviation; `least` bounds the variance of an answer below."""
    inside, outside = sums[0], totals[0] - sums[0]
    rate_in, rate_out = sums[1] / inside, (totals[1] - sums[1]) / outside
    variance_in = np.maximum(rate_in * (1 - rate_in), least)
    variance_out = np.maximum(rate_out * (1 - rate_out), least)
    error = np.sqrt(variance_in / inside + variance_out / outside)
    favourable, everybody = sums[2 : 2 + samples], sums[2 + samples :]
    all_favourable = totals[2 : 2 + samples, None]
    all_everybody = totals[2 + samples :, None]
    # (favourable - rate_in * everybody) / inside, less the same of those outside; gathered by what
    # differs between samples, so that as little as possible is done to the largest arrays.
    deviations = favourable * ((1 / inside + 1 / outside) / error)
    deviations -= everybody * ((rate_in / inside + rate_out / outside) / error)
    deviations -= all_favourable * (1 / (outside * error))
    deviations += all_everybody * (rate_out / (outside * error))
    largest: NDArray[np.float32] = np.abs([deviations.max(axis=1), deviations.min(axis=1)]).max(0)
    return largest


def upper_quantile(samples: Floats, error: float) -> float:
    """Return the value that a new sample exceeds with a probability of at most `error`.

    Of n samples and a new one, each is equally likely to be the largest; so the sample at place (n
    + 1) (1 - error), rounded up, is exceeded that rarely. Infinite if there are too few.
    """
    index = math.ceil((len(samples) + 1) * (1 - error) - 1e-9)
    return float(np.sort(samples)[index - 1]) if index <= len(samples) else math.inf


def _shared_error(largest: Floats, error: float, groups: int) -> float:
    """Return the error rate of each interval with which all of them keep `error` together."""
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    # Bonferroni's is a bound on it: a bootstrap sample is never worth more groups than there are.
    return max(float(2 * ndtr(-upper_quantile(largest, error))), error / groups)


# For very high confidences it takes more bootstrap samples than asked for; at most so many times.
_MOST_TIMES = 10


def simultaneous(
    estimates: Estimates,
    contingency: Contingency,
    cell_samples: Counts,
    cell_favourable: Counts,
    own_samples: NDArray[np.bool_],
    parameters: AuditParameters,
    *,
    min_count: int,
    jobs: int,
) -> Guarantee:
    """Promise the confidence for all frequent groups of a table at once.

    Shapes: `cell_samples`, `cell_favourable` (cells,); `own_samples` (groups,).

    The bootstrap's quantile c stands for an error rate of 2 P(Z > c) for each group. The ends of
    the intervals come from the exact tails of each group's rates, so groups of few rows, or with
    rates near 0 or 1, keep the promise too. Groups with samples of their own are judged by
    Bonferroni's inequality; each kind then gets half of the error rate. So are all groups if the
    confidence is so high that the bootstrap would take more than ten times the samples that are
    asked for.
    """
    if not len(own_samples):
        return bonferroni(estimates, parameters.confidence)
    own = int(own_samples.sum())
    error = (1 - parameters.confidence) / (2 if own else 1)
    samples = affordable_samples(contingency, parameters.depth, parameters.replicates)
    # Rarer errors than one in all the bootstrap samples cannot be seen in them.
    needed = math.ceil(1 / error)
    if own == len(own_samples) or needed > _MOST_TIMES * samples:
        return bonferroni(estimates, parameters.confidence)
    samples = max(samples, needed)
    largest = max_statistics(
        contingency,
        smoothed_rates(contingency.tally(), cell_favourable, cell_samples),
        min_count=min_count,
        max_features=parameters.depth,
        samples=samples,
        seed=parameters.seed,
        jobs=jobs,
    )
    shared = _shared_error(largest, error, len(own_samples) - own)
    errors = np.where(own_samples, error / max(1, own), shared)
    return guarantee_of(
        estimates,
        errors,
        kind="simultaneous",
        confidence=parameters.confidence,
        method="mixed" if own else "max-statistic",
        replicates=samples,
    )


# Weights, and effects of texts on groups, in memory at once: 64 and 32 MB.
_WEIGHTS = 1 << 24
_EFFECTS = 1 << 23
# Products that take some ten seconds. More answers get fewer samples.
_MOST_PRODUCTS = 200_000_000_000


def simultaneous_texts(
    estimates: Estimates, known: KnownAnswers, parameters: AuditParameters
) -> Guarantee:
    """Promise the confidence for all groups of texts at once.

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
    samples = min(parameters.replicates, max(_FEWEST_SAMPLES, _MOST_PRODUCTS // max(1, answers)))
    # Rarer errors than one in all the bootstrap samples cannot be seen in them.
    samples = max(samples, math.ceil(1 / error))
    largest = largest_deviations(estimates, known, spread, samples=samples, seed=parameters.seed)
    shared = _shared_error(largest, error, groups)
    errors, wide = np.full(len(spread.stretch), shared), spread.stretch > 1
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
    """How far each group's difference strays, all arrays of shape (groups,)."""

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
    counted, clusters = estimates.sampled, known.clusters
    overall = (known.texts.sum() + 1) / (len(known.texts) + 2)
    independent = np.zeros(len(counted))
    missing = np.zeros(len(counted))
    for rows, side in zip((estimates.rows_in, estimates.rows_out), estimates.sides, strict=True):
        size = np.where(rows > 0, side.rows, 1)
        samples = np.maximum(side.samples, 1)
        rate = side.favourable / samples
        favourable = side.favourable * rows / samples if clusters is None else rate * size
        guarded = (favourable + overall) / (size + 1)
        shown, needed = rate * (1 - rate), guarded * (1 - guarded)
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
    """Sum the squared effects of whole clusters on the groups of a block."""
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
    rate, outside = block.rate.astype(np.float64), block.outside.astype(np.float64)
    by_cluster -= (likes[seeds, None] - others[seeds, None] * rate) / outside
    apart = np.ones(len(clusters), dtype=bool)
    apart[seeds] = False
    likes, others = likes[apart], others[apart]
    squares = likes @ likes - 2 * rate * (likes @ others) + rate**2 * (others @ others)
    sums: Floats = (by_cluster**2).sum(axis=0) + squares / outside**2
    return sums


def largest_deviations(
    estimates: Estimates, known: KnownAnswers, spread: Spread, *, samples: int, seed: int
) -> Floats:
    """Draw samples (samples,) of the largest deviation, as :func:`max_statistics` does of rows."""
    texts, clusters = len(known.texts), known.clusters
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
        found = largest[start : start + len(weights)]
        generator = np.random.default_rng([seed, 6, start])
        everybody, favourable = weights.sum(axis=1), weights @ known.texts.astype(np.float32)
        for block in _blocks(estimates, known):
            of_seeds = weights[:, block.rows]
            others = everybody - of_seeds.sum(axis=1)
            favourable_others = favourable - of_seeds @ block.answers
            deviations = of_seeds @ block.effects
            deviations -= np.outer(favourable_others, 1 / block.outside)
            deviations += np.outer(others, block.rate / block.outside)
            drawn = generator.standard_normal(deviations.shape, dtype=np.float32)
            deviations += drawn * noise[block.groups]
            deviations /= scale[block.groups]
            np.maximum(found, np.abs(deviations).max(axis=1), out=found)
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
    """Work out the effects, in blocks small enough for the memory."""
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
            some = slice(start, min(start + step, len(category_set)))
            groups = slice(category_set.first + some.start, category_set.first + some.stop)
            effects = variants[:, some].astype(np.float32)
            effects -= rate_in[groups]
            effects /= size_in[groups]
            outside = answers[:, None] - rate_out[groups]
            outside /= size_out[groups]
            outside[inside[:, some]] = 0
            effects -= outside
            yield _Block(
                groups, category_set.rows, answers, effects, rate_out[groups], size_out[groups]
            )
