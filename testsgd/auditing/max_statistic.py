"""The largest deviation of any group: what a search over all of them finds by chance alone.

How much the most deviant of thousands of differences strays is found by a multiplier bootstrap:
every row gets a random weight from the standard normal distribution, and the weighted sums over all
groups at once show how far their differences stray, and how alike overlapping groups stray. Rows
with the same sensitive cells and answer go together, and a sum of normal weights is normal. So a
sample takes two random numbers a cell, however many rows there are, and one contraction of the
lattice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates, Floats
from testsgd.auditing.guarantee import Guarantee, bonferroni, guarantee_of
from testsgd.auditing.parameters import AuditParameters
from testsgd.rules import (
    Contingency,
    Universes,
    candidate_count,
    feature_subsets,
    rule_set_sums,
)

Singles = NDArray[np.float32]

# Sums of all bootstrap samples over all rule sets, some ten seconds' worth.
_MOST_NUMBERS = 1_500_000_000
FEWEST_SAMPLES = 99
# Samples of one seed. It is part of the seeds' meaning: the result does not depend on threads.
_TOGETHER = 25
# Sums over all rule sets that a processor keeps at hand: of few cells and rule sets the samples of
# several seeds are summed at once.
_AT_HAND = 1 << 18


@dataclass(frozen=True)
class CellRates:
    """What the bootstrap needs to know of the rows, by cell of the contingency table."""

    rows: Floats  # How many rows, shape (cells,)
    # Their rate of the favourable label, between 0 and 1 and neither of them, shape (cells,)
    rates: Floats


def smoothed_rates(rows: Counts, favourable: Counts, samples: Counts) -> CellRates:
    """Estimate each cell's rate with one sample more, at the rate of all rows; shapes (cells,).

    The rate is (n p + q) / (n + 1), where p is the rate of the n samples of the cell, at most as
    many as it has rows, and q the rate of all samples.

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
    """Return how many bootstrap samples to take: `wanted`, or fewer if there are many groups."""
    candidates = max(1, candidate_count(contingency.axes, max_features))
    return min(wanted, max(FEWEST_SAMPLES, _MOST_NUMBERS // (2 * candidates)))


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
    """Draw the largest standardised deviation over all frequent groups, shape (samples,).

    A group's deviation is D / s: with a standard normal weight g for each row, D is the sum of
    g (y - r) / n over the rows inside, less the same over those outside, where y is the answer, r
    the rate and n the number of rows of the side, and s is the standard error of the difference.
    Zeros if no group is frequent. See Chernozhukov, Chetverikov and Kato (2013), Gaussian
    approximations and multiplier bootstrap for maxima of sums of high-dimensional random vectors.
    Annals of Statistics 41(6).
    """
    universes = Universes(contingency.axes, max_features)
    subsets = feature_subsets(contingency.axes, max_features)

    def draw(starts: Sequence[int]) -> Floats:
        """Draw at most 25 samples from each number on, by one contraction of the lattice."""
        of_favourable = []
        of_all = []
        for start in starts:
            generator = np.random.default_rng([seed, 5, start])
            shape = (min(_TOGETHER, samples - start), len(cells.rows))
            # Sums of the weights of a cell's favourable rows, and of its others.
            favourable = generator.standard_normal(shape) * np.sqrt(cells.rows * cells.rates)
            others = generator.standard_normal(shape) * np.sqrt(cells.rows * (1 - cells.rates))
            of_favourable.append(favourable)
            of_all.append(favourable + others)
        # Six digits are plenty for a quantile, and half the bytes are half the time.
        quantities = np.vstack(
            [cells.rows, cells.rows * cells.rates, *of_favourable, *of_all], dtype=np.float32
        )
        count = sum(map(len, of_all))
        totals = universes.totals(contingency, quantities)
        # A group's rate lies between those of its cells, so it varies no less than one of them
        # does; rounding may say otherwise where nearly all answers are alike.
        least = float((cells.rates * (1 - cells.rates)).min(initial=0.25))
        largest = np.zeros(count)
        for block in rule_set_sums(contingency, quantities, max_features):
            rows = np.rint(block.sums[0])
            least_rows = max(min_count, 1)
            of_block = universes.of_block(block, subsets[block.subset])
            for universe, places in universes.parts(of_block, len(rows)):
                total = totals[:, universe]
                inside = rows[places]
                enough = (inside >= least_rows) & (round(total[0]) - inside >= least_rows)
                kept = places[enough]
                if len(kept):
                    deviations = _largest_deviations(block.sums[:, kept], total, count, least)
                    np.maximum(largest, deviations, out=largest)
        return largest

    starts = range(0, samples, _TOGETHER)
    each = math.ceil(len(starts) / joblib.effective_n_jobs(jobs))
    most = max(1, candidate_count(contingency.axes, max_features), contingency.cells)
    step = max(1, min(each, _AT_HAND // (2 * _TOGETHER * most)))
    parts = joblib.Parallel(n_jobs=jobs, prefer="threads")(
        joblib.delayed(draw)(starts[first : first + step]) for first in range(0, len(starts), step)
    )
    return np.concatenate([np.zeros(0), *parts])


def _largest_deviations(
    sums: NDArray[np.float32], totals: NDArray[np.float32], samples: int, least: float
) -> NDArray[np.float32]:
    """Return each sample's largest standardised deviation over some groups, shape (samples,).

    Shapes: `sums` (2 + 2 samples, groups), over each group: the rows, the favourable ones, then of
    each sample the weights of the favourable rows, then of each sample the weights of all rows;
    `totals` (2 + 2 samples,), the same over a group and its complement. `least` bounds the variance
    of an answer below.
    """
    inside, outside = sums[0], totals[0] - sums[0]
    rate_in, rate_out = sums[1] / inside, (totals[1] - sums[1]) / outside
    variance_in = np.maximum(rate_in * (1 - rate_in), least)
    variance_out = np.maximum(rate_out * (1 - rate_out), least)
    error = np.sqrt(variance_in / inside + variance_out / outside)
    favourable = sums[2 : 2 + samples]
    weights = sums[2 + samples :]
    total_favourable = totals[2 : 2 + samples, None]
    total_weights = totals[2 + samples :, None]
    # (favourable - rate_in * weights) / inside, less the same of those outside; gathered by what
    # differs between samples, so that as little as possible is done to the largest arrays.
    deviations = favourable * ((1 / inside + 1 / outside) / error)
    deviations -= weights * ((rate_in / inside + rate_out / outside) / error)
    deviations -= total_favourable * (1 / (outside * error))
    deviations += total_weights * (rate_out / (outside * error))
    largest: NDArray[np.float32] = np.abs([deviations.max(axis=1), deviations.min(axis=1)]).max(0)
    return largest


def upper_quantile(samples: Floats, error: float) -> float:
    """Return the value that a new sample exceeds with a probability of at most `error`.

    Of n samples and a new one, each is equally likely to be the largest; so the sample at place (n
    + 1) (1 - error), rounded up, is exceeded that rarely. Infinite if there are too few.
    """
    index = math.ceil((len(samples) + 1) * (1 - error) - 1e-9)
    return float(np.sort(samples)[index - 1]) if index <= len(samples) else math.inf


def shared_error(largest: Floats, error: float, groups: int) -> float:
    """Return the error rate of each interval with which all of them keep `error` together.

    It is 2 P(Z > c), where c is the upper quantile at `error` of the largest deviations (samples,),
    or error / groups if that is larger.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    # Bonferroni's is a bound on it: a bootstrap sample is never worth more groups than there are.
    return max(float(2 * ndtr(-upper_quantile(largest, error))), error / groups)


# A very high confidence takes more bootstrap samples than asked for, at most this many times.
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
    """Return a guarantee for all frequent groups of a table at once, by the max statistic.

    Shapes: `cell_samples`, `cell_favourable` (cells,); `own_samples` (groups,).

    The bootstrap's quantile c stands for an error rate of 2 P(Z > c) for each group. The ends of
    the intervals come from the exact tails of each group's rates, so groups of few rows, or with
    rates near 0 or 1, keep the promise too. Groups with samples of their own are judged by
    Bonferroni's inequality; each kind then gets half of the error rate. So are groups with fewer
    than `min_count` rows outside, each of which takes the error rate over the number of all groups
    beforehand; and all groups if the confidence is so high that the bootstrap would take more than
    ten times the samples that are asked for.
    """
    if not len(own_samples):
        return bonferroni(estimates, parameters.confidence)
    groups = len(own_samples)
    # The bootstrap's normal approximation is not for the rates of a few rows outside; it leaves out
    # just these groups, so those that it judges are all among those it draws.
    few_outside = ~own_samples & (np.asarray(estimates.rows_out) < min_count)
    few = int(few_outside.sum())
    own = int(own_samples.sum())
    # What these few take is what they would get if all were judged by Bonferroni's inequality, so
    # the others lose little by them, and nothing against Bonferroni's.
    each_of_few = (1 - parameters.confidence) / groups
    error = (1 - parameters.confidence) * (1 - few / groups) / (2 if own else 1)
    if own + few == groups:
        return bonferroni(estimates, parameters.confidence)
    samples = affordable_samples(contingency, parameters.depth, parameters.replicates)
    # Rarer errors than one in all the bootstrap samples cannot be seen in them.
    needed = math.ceil(1 / error)
    if needed > _MOST_TIMES * samples:
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
    shared = shared_error(largest, error, groups - own - few)
    errors = np.where(own_samples, error / max(1, own), np.where(few_outside, each_of_few, shared))
    return guarantee_of(
        estimates,
        errors,
        kind="simultaneous",
        confidence=parameters.confidence,
        method="mixed" if own or few else "max-statistic",
        replicates=samples,
    )
