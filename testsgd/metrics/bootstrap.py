"""How far the most deviant of all groups strays by chance, for a metric of any kind.

A multiplier bootstrap: every row gets a random weight from the standard normal distribution. The
weighted sums of the rows of a cell are normal too, with the cell's sums of squares as their
variances; so a sample takes two random numbers a cell, however many rows there are.

See Chernozhukov, Chetverikov and Kato (2013), Gaussian approximations and multiplier bootstrap for
maxima of sums of high-dimensional random vectors. Annals of Statistics 41(6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.cells import (
    DENOMINATOR,
    DENOMINATOR_SQUARED,
    NUMERATOR_SQUARED,
    PRODUCT,
)
from testsgd.metrics.definitions import Floats, Scale
from testsgd.metrics.sides import Sides, sides_of
from testsgd.rules import Contingency, FrequentRuleSets

# Samples summed at once. It is part of the seeds' meaning.
_TOGETHER = 25
# Groups at once, 100 MB of sums; of more the lattice is summed once more.
_MOST_GROUPS = 1 << 18


@dataclass(frozen=True)
class References:
    """What groups are compared with: their complements, one group of cells, or nothing at all."""

    # The cells of the one group, shape (cells,); None of complements.
    cells: NDArray[np.bool_] | None = None
    # False: what strays are the values themselves.
    compared: bool = True

    def sums(self, inside: Floats, of_cells: NDArray[Any]) -> Floats:
        """Return the sums over the references of groups, given those over the groups.

        Shapes: `inside` (q, groups), `of_cells` (q, cells).
        """
        if self.cells is None:
            total = of_cells.sum(axis=1)
            rest: Floats = total[:, None] - inside
            return rest
        one = of_cells[:, self.cells].sum(axis=1)
        return np.repeat(one[:, None].astype(np.float64), inside.shape[1], axis=1)


def smoothed(of_cells: Floats, scale: Scale) -> Floats:
    """Return the rows that count and the sums (6, cells) with one usual row more in each cell.

    A cell whose few rows all agree would otherwise seem not to vary at all. Sums are brought back
    to the number of rows that there are.
    """
    rows, sums = of_cells[0], of_cells[1:].copy()
    total, everything = rows.sum(), sums.sum(axis=1)
    if scale == "share":
        # One row that has it and one that has it not, so that the usual rate is never 0 nor 1.
        weight = everything[DENOMINATOR] / total
        square = everything[DENOMINATOR_SQUARED] / total
        everything += [weight, 2 * weight, square, square, 2 * square]
        total += 2
    usual = everything / total
    more = rows / (rows + 1)
    return np.vstack([rows, more * (sums + usual[:, None])])


def largest_deviations(
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    of_cells: Floats,
    judged: NDArray[np.bool_],
    references: References,
    *,
    scale: Scale,
    samples: int,
    seed: int,
) -> Floats:
    """Draw samples (samples,) of the largest standardised deviation over the judged groups.

    Parameters
    ----------
    contingency : Contingency
        The cells.
    rule_sets : FrequentRuleSets
        The groups.
    of_cells : numpy.ndarray of float64, shape (6, cells)
        The rows that the metric counts, and its sums.
    judged : numpy.ndarray of bool, shape (groups,)
        The groups that count.
    references : References
        What they are compared with.
    scale : str
        What values the metric has.
    samples, seed : int
        How many samples, and their seed.

    Returns
    -------
    numpy.ndarray of float64, shape (samples,)
        Zeros if no group is judged.
    """
    groups = np.flatnonzero(judged)
    largest = np.zeros(samples)
    cells = smoothed(of_cells, scale)
    for first in range(0, len(groups), _MOST_GROUPS):
        part = rule_sets.take(groups[first : first + _MOST_GROUPS])
        effects = _effects_of(part, contingency, cells, references, scale=scale)
        for start in range(0, samples, _TOGETHER):
            together = min(_TOGETHER, samples - start)
            # The same weights for every part of the groups.
            generator = np.random.default_rng([seed, 5, start])
            quantities = np.vstack(_weighted_sums(generator, cells, together), dtype=np.float32)
            sums = part.sums_of(contingency, quantities)
            deviations = effects.inside(sums[:together], sums[together:])
            if references.compared:
                others = references.sums(sums, quantities)
                deviations -= effects.outside(others[:together], others[together:])
            found = largest[start : start + together]
            np.maximum(found, np.abs(deviations).max(axis=1), out=found)
    return largest


def _effects_of(
    rule_sets: FrequentRuleSets,
    contingency: Contingency,
    cells: Floats,
    references: References,
    *,
    scale: Scale,
) -> _Effects:
    """Return what weighted sums do to the standardised values of some groups."""
    inside_sums = rule_sets.sums_of(contingency, cells)
    inside = sides_of(inside_sums, scale=scale)
    outside = sides_of(references.sums(inside_sums, cells), scale=scale)
    spread = inside.residual / inside.denominator**2
    if references.compared:
        spread = spread + outside.residual / outside.denominator**2
    # A metric that does not vary at all does not stray.
    scaled = np.where(spread > 0, 1 / np.sqrt(np.where(spread > 0, spread, 1)), 0.0)
    return _Effects.of(inside, outside, scaled)


@dataclass(frozen=True)
class _Effects:
    """What weighted sums do to the groups' standardised values; arrays of shape (groups,)."""

    numerator_in: Floats
    denominator_in: Floats
    numerator_out: Floats
    denominator_out: Floats

    @classmethod
    def of(cls, inside: Sides, outside: Sides, scaled: Floats) -> _Effects:
        first, second = scaled / inside.denominator, scaled / outside.denominator
        return cls(first, first * inside.value, second, second * outside.value)

    def inside(self, numerators: Floats, denominators: Floats) -> Floats:
        """Return deviations of the groups' values, shape (samples, groups)."""
        return numerators * self.numerator_in - denominators * self.denominator_in

    def outside(self, numerators: Floats, denominators: Floats) -> Floats:
        """Return deviations of their references' values, shape (samples, groups)."""
        return numerators * self.numerator_out - denominators * self.denominator_out


def _weighted_sums(
    generator: np.random.Generator, cells: Floats, samples: int
) -> tuple[Floats, Floats]:
    """Draw sums of numerators and of denominators over each cell, (samples, cells) each."""
    squares, product = cells[1 + NUMERATOR_SQUARED], cells[1 + PRODUCT]
    some = squares > 0
    slope = np.where(some, product / np.where(some, squares, 1), 0.0)
    rest = np.maximum(cells[1 + DENOMINATOR_SQUARED] - slope * product, 0)
    shape = (samples, cells.shape[1])
    numerators = generator.standard_normal(shape) * np.sqrt(np.maximum(squares, 0))
    denominators = slope * numerators + generator.standard_normal(shape) * np.sqrt(rest)
    return numerators, denominators


def shared_error(largest: Floats, error: float, groups: int) -> float:
    """Return the error rate of each interval with which all of them keep `error` together.

    Of n samples and a new one, each is equally likely to be the largest; so the sample at place
    (n + 1) (1 - error), rounded up, is exceeded that rarely. Bonferroni's rate bounds it below.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    index = math.ceil((len(largest) + 1) * (1 - error) - 1e-9)
    bonferroni = error / max(1, groups)
    if index > len(largest):
        return bonferroni
    quantile = float(np.sort(largest)[index - 1])
    return max(float(2 * ndtr(-quantile)), bonferroni)
