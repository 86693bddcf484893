"""The largest deviation of any group: what a search over all of them finds by chance alone.

Every group's difference deviates a little from that in the population, and the most deviant of
thousands deviates by much. How much is found by a multiplier bootstrap: every row gets a random
weight from the standard normal distribution, and the weighted sums over all groups at once show how
far their differences stray, and how alike overlapping groups stray. The largest of these strays,
each divided by its own standard error, is one sample of the maximum.

Rows with the same sensitive cells and the same answer always go together, and a sum of normal
weights is normal. So a sample takes two random numbers a cell of the contingency table, however
many rows there are, and one contraction of the lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.rules import Contingency, candidate_count, rule_set_sums

Floats = NDArray[np.float64]

# Sums of all bootstrap samples over all rule sets, some ten seconds' worth. Millions of rule sets
# get fewer samples.
_MOST_NUMBERS = 1_500_000_000
_FEWEST_SAMPLES = 99
# Samples summed at once. It is part of the seeds' meaning: the result does not depend on threads.
_TOGETHER = 25


@dataclass(frozen=True)
class CellRates:
    """What the bootstrap needs to know of the rows, by cell of the contingency table.

    Attributes
    ----------
    rows : numpy.ndarray of float64, shape (cells,)
        How many rows.
    rates : numpy.ndarray of float64, shape (cells,)
        Their rate of the favourable label, between 0 and 1 and neither of them.
    """

    rows: Floats
    rates: Floats


def smoothed_rates(
    rows: NDArray[np.int64], favourable: NDArray[np.int64], samples: NDArray[np.int64]
) -> CellRates:
    """Estimate each cell's rate with one sample more, at the rate of all rows.

    A cell whose few samples all agree would otherwise seem not to vary at all, and a group of such
    cells not to count among those that stray by chance.

    Parameters
    ----------
    rows, favourable, samples : numpy.ndarray of int64, shape (cells,)
        Rows of each cell, samples from it, and those of them that got the favourable label.

    Returns
    -------
    CellRates

    Examples
    --------
    >>> counts = np.array([3, 1])
    >>> smoothed_rates(counts, np.array([0, 1]), counts).rates.round(4).tolist()
    [0.0833, 0.6667]
    """
    # With one favourable and one other sample more, so that it is never 0 nor 1.
    overall = (favourable.sum() + 1) / (samples.sum() + 2)
    # A row's neighbours are no samples of their own: a cell counts for its rows at most.
    size = np.minimum(rows, samples).astype(np.float64)
    share = favourable / np.maximum(samples, 1)
    return CellRates(rows.astype(np.float64), (size * share + overall) / (size + 1))


def affordable_samples(contingency: Contingency, max_features: int, wanted: int) -> int:
    """Give how many bootstrap samples to take: fewer than wanted if there are millions of groups.

    The level is kept with any number of them; with fewer the quantile is only less precise.
    """
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
    """Draw bootstrap samples of the largest standardised deviation over all frequent groups.

    Parameters
    ----------
    contingency : Contingency
        The sensitive cells.
    cells : CellRates
        Their rows and rates.
    min_count : int
        Fewest rows on each side of a judged group.
    max_features : int
        Most rules in a rule set.
    samples : int
        Bootstrap samples.
    seed : int
        Same seed, same samples.
    jobs : int
        Threads. Changes no result.

    Returns
    -------
    numpy.ndarray of float64, shape (samples,)
        Zeros if no group is frequent.

    References
    ----------
    Chernozhukov, Chetverikov and Kato (2013), Gaussian approximations and multiplier bootstrap for
    maxima of sums of high-dimensional random vectors. Annals of Statistics 41(6).
    """
    parts = joblib.Parallel(n_jobs=jobs, prefer="threads")(
        joblib.delayed(_some_samples)(
            contingency,
            cells,
            min_count=min_count,
            max_features=max_features,
            samples=min(_TOGETHER, samples - start),
            generator=np.random.default_rng([seed, 5, start]),
        )
        for start in range(0, samples, _TOGETHER)
    )
    return np.concatenate([np.zeros(0), *parts])


def _some_samples(
    contingency: Contingency,
    cells: CellRates,
    *,
    min_count: int,
    max_features: int,
    samples: int,
    generator: np.random.Generator,
) -> Floats:
    """Draw a few samples at once, with one contraction of the lattice."""
    shape = (samples, len(cells.rows))
    # Sums of the weights of a cell's favourable rows, and of its others.
    favourable = generator.standard_normal(shape) * np.sqrt(cells.rows * cells.rates)
    others = generator.standard_normal(shape) * np.sqrt(cells.rows * (1 - cells.rates))
    # Six digits are plenty for a quantile, and half the bytes are half the time.
    quantities = np.vstack(
        [cells.rows, cells.rows * cells.rates, favourable, favourable + others], dtype=np.float32
    )
    totals = quantities.sum(axis=1)
    # A group's rate lies between those of its cells, so it varies no less than one of them does;
    # rounding may say otherwise where nearly all answers are alike.
    least = float((cells.rates * (1 - cells.rates)).min(initial=0.25))
    largest = np.zeros(samples)
    for block in rule_set_sums(contingency, quantities, max_features):
        rows = np.rint(block.sums[0])
        least_rows = max(min_count, 1)
        kept = np.flatnonzero((rows >= least_rows) & (round(totals[0]) - rows >= least_rows))
        if len(kept):
            found = _largest_deviations(block.sums[:, kept], totals, samples, least)
            np.maximum(largest, found, out=largest)
    return largest


def _largest_deviations(
    sums: NDArray[np.float32], totals: NDArray[np.float32], samples: int, least: float
) -> NDArray[np.float32]:
    """Give each sample's largest standardised deviation over some groups.

    `least` is a bound on the variance of an answer in any group.
    """
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
    """Give the value that a new sample exceeds with a probability of at most `error`.

    Of n samples and a new one, each is equally likely to be the largest; so the sample at place
    (n + 1) (1 - error), rounded up, is exceeded that rarely. It holds for any number of samples.

    Examples
    --------
    >>> upper_quantile(np.arange(1.0, 100.0), 0.05)
    95.0
    >>> upper_quantile(np.arange(10.0), 0.05)  # too few to say
    inf
    """
    place = math.ceil((len(samples) + 1) * (1 - error) - 1e-9)
    return float(np.sort(samples)[place - 1]) if place <= len(samples) else math.inf
