"""How far the most deviant of all groups strays by chance, over all metrics that are compared.

A multiplier bootstrap: every row gets a random weight from the standard normal distribution. The
weighted sums of the rows of a cell are normal too, with the cell's sums of squares as their
variances; so a sample takes a few random numbers a cell, however many rows there are. All metrics
of decisions follow from the same random sums, of the rows by decision and true label.

See Chernozhukov, Chetverikov and Kato (2013), Gaussian approximations and multiplier bootstrap for
maxima of sums of high-dimensional random vectors. Annals of Statistics 41(6). Other metrics are
drawn each by itself: were they drawn together the largest deviation would be no larger, see Royen
(2014), A simple proof of the Gaussian correlation conjecture extended to some multivariate gamma
distributions. Far East Journal of Theoretical Statistics 48.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.cells import (
    DENOMINATOR,
    DENOMINATOR_SQUARED,
    NUMERATOR_SQUARED,
    PRODUCT,
    KindSums,
    MetricCells,
)
from testsgd.metrics.definitions import Floats, Scale
from testsgd.metrics.in_threads import of_each
from testsgd.metrics.sides import Sides, sides_of
from testsgd.rules import Contingency, FrequentRuleSets

Singles = NDArray[np.float32]
OfBlock = TypeVar("OfBlock")

# Samples summed at once. It is part of the seeds' meaning.
_TOGETHER = 25
# Groups at once, 100 MB of sums; of more the lattice is summed once more.
_MOST_GROUPS = 1 << 18
# Sums in memory at once over all threads, 256 MB.
_MOST_SUMS = 1 << 26


@dataclass(frozen=True)
class References:
    """What groups are compared with: their complements, one group of cells, or nothing at all."""

    # The cells of the one group, shape (cells,); None of complements.
    cells: NDArray[np.bool_] | None = None
    # False: what strays are the values themselves.
    compared: bool = True
    # Whether groups are compared with all rows. Then complements are all other rows, also those in
    # which a number of the group's rules is missing.
    all_others: bool = False

    def sums(
        self,
        rule_sets: FrequentRuleSets,
        contingency: Contingency,
        inside: NDArray[Any],
        of_cells: NDArray[Any],
    ) -> NDArray[Any]:
        """Return the sums over the references of groups, given those over the groups.

        Shapes: `inside` (q, groups), `of_cells` (q, cells).
        """
        if self.cells is None:
            totals = of_cells.sum(axis=1)[:, None]
            if not self.all_others:
                totals = rule_sets.totals(contingency, of_cells)
            rest: NDArray[Any] = totals - inside
            return rest
        one = of_cells[:, self.cells].sum(axis=1)
        return np.repeat(one[:, None].astype(np.float64), inside.shape[1], axis=1)


@dataclass(frozen=True)
class Wholes:
    """The rows that groups and their complements are of together, as parts of the groups."""

    # The cells, shape (cells,), and the groups of each part; None where there is only one, of all.
    parts: Sequence[tuple[NDArray[np.bool_], NDArray[np.intp]]] | None

    @classmethod
    def of(
        cls, rule_sets: FrequentRuleSets, contingency: Contingency, *, all_others: bool
    ) -> Wholes:
        """Return the wholes of groups; `all_others` as for :class:`References`."""
        universes = rule_sets.universes
        if all_others or len(universes) == 1:
            return cls(None)
        members = universes.members(contingency)
        parts = universes.parts(rule_sets.universe, len(rule_sets))
        return cls([(members[universe], groups) for universe, groups in parts])

    def effects(self, drawn: Singles, effects: Singles) -> Singles:
        """Return the effects of random quantities of these rows, shape (samples, groups).

        Shapes: `drawn` (q, samples, cells); `effects` of a unit of each (q, groups). For a group g
        whose whole has the cells W(g) it is the sum over q and c in W(g) of
        ``drawn[q, sample, c] * effects[q, g]``.
        """
        if self.parts is None:
            of_all: Singles = drawn.sum(axis=2).T @ effects
            return of_all
        by_part = np.zeros((drawn.shape[1], effects.shape[1]), dtype=np.float32)
        for cells, groups in self.parts:
            sums = drawn[:, :, cells].sum(axis=2)
            by_part[:, groups] = sums.T @ effects[:, groups]
        return by_part


class Noise(Protocol):
    """Random sums over cells, from which samples of one or several metrics follow."""

    @property
    def metrics(self) -> tuple[int, ...]:
        """The places of these metrics among all that are compared."""
        ...

    @property
    def numerators(self) -> Floats:
        """Numerators of each metric for a unit of each random quantity, shape (metrics, q)."""
        ...

    @property
    def denominators(self) -> Floats:
        """Denominators likewise, shape (metrics, q)."""
        ...

    def of_metric(self, place: int) -> Floats:
        """Return the sums of a metric that the noise belongs to, shape (6, cells)."""
        ...

    def draw(self, generator: np.random.Generator, samples: int) -> Singles:
        """Draw the random quantities of each cell, shape (q, samples, cells)."""
        ...


@dataclass(frozen=True)
class KindNoise:
    """Random sums of the rows of each kind, a decision with a true label."""

    metrics: tuple[int, ...]
    numerators: Floats
    denominators: Floats
    rows: Floats  # Rows of each cell, shape (cells,).
    linear: Floats  # Sums of weights with one usual row more, shape (kinds, cells).
    square: Floats  # Sums of their squares, likewise.

    @classmethod
    def of(cls, kinds: KindSums, rows: Floats) -> KindNoise:
        """Return the noise of kinds, with one usual row more in each cell.

        A cell whose few rows all agree would otherwise seem not to vary at all. Sums are brought
        back to the number of rows that there are.
        """
        shrinkage = rows / (rows + 1)
        total = rows.sum()

        def smoothed(sums: Floats) -> Floats:
            # With one row of each kind, so that no kind's share is nothing.
            weight = sums.sum() / total
            usual = (sums.sum(axis=1) + weight) / (total + len(sums))
            smooth: Floats = shrinkage * (sums + usual[:, None])
            return smooth

        return cls(
            metrics=kinds.metrics,
            numerators=kinds.numerators,
            denominators=kinds.denominators,
            rows=rows,
            linear=smoothed(kinds.linear),
            square=smoothed(kinds.square),
        )

    def of_metric(self, place: int) -> Floats:
        """Return the sums of a metric, shape (6, cells)."""
        top = self.numerators[place]
        bottom = self.denominators[place]
        return np.array(
            [
                self.rows,
                top @ self.linear,
                bottom @ self.linear,
                (top * top) @ self.square,
                (top * bottom) @ self.square,
                (bottom * bottom) @ self.square,
            ]
        )

    def draw(self, generator: np.random.Generator, samples: int) -> Singles:
        """Draw the weighted sums of each kind and cell, shape (kinds, samples, cells)."""
        kinds, cells = self.square.shape
        drawn = generator.standard_normal((kinds, samples, cells), dtype=np.float32)
        drawn *= np.sqrt(self.square)[:, None].astype(np.float32)
        return drawn


@dataclass(frozen=True)
class PairNoise:
    """Random sums of the numerators and denominators of one metric."""

    metrics: tuple[int, ...]
    of_cells: Floats  # The metric's sums with one usual row more in each cell, shape (6, cells).
    numerators: Floats = field(default_factory=lambda: np.array([[1.0, 0.0]]))
    denominators: Floats = field(default_factory=lambda: np.array([[0.0, 1.0]]))

    def of_metric(self, place: int) -> Floats:
        """Return the sums of the metric, shape (6, cells)."""
        assert place == 0
        return self.of_cells

    def draw(self, generator: np.random.Generator, samples: int) -> Singles:
        """Draw sums of numerators and of denominators over each cell, (2, samples, cells)."""
        # The denominators have these variances and covariances with the numerators: a slope times
        # the numerator, and a rest that is independent of it.
        squares = self.of_cells[1 + NUMERATOR_SQUARED]
        product = self.of_cells[1 + PRODUCT]
        varies = squares > 0
        slope = np.where(varies, product / np.where(varies, squares, 1), 0.0)
        rest = np.maximum(self.of_cells[1 + DENOMINATOR_SQUARED] - slope * product, 0)
        shape = (samples, self.of_cells.shape[1])
        numerators = generator.standard_normal(shape) * np.sqrt(np.maximum(squares, 0))
        denominators = slope * numerators + generator.standard_normal(shape) * np.sqrt(rest)
        return np.array([numerators, denominators], dtype=np.float32)


def noises_of(cells: MetricCells) -> list[Noise]:
    """Return the noises to draw: one for all metrics of decisions, and one for each other."""
    noises: list[Noise] = []
    together: tuple[int, ...] = ()
    if cells.kinds is not None:
        together = cells.kinds.metrics
        noises.append(KindNoise.of(cells.kinds, cells.rows.astype(np.float64)))
    for index, metric in enumerate(cells.metrics):
        if index not in together:
            noises.append(PairNoise((index,), smoothed(cells.of_metric(index), metric.scale)))
    return noises


def smoothed(of_cells: Floats, scale: Scale) -> Floats:
    """Return the rows that count and the sums (6, cells) with one usual row more in each cell.

    A cell whose few rows all agree would otherwise seem not to vary at all. Sums are brought back
    to the number of rows that there are.
    """
    rows = of_cells[0]
    sums = of_cells[1:].copy()
    total = rows.sum()
    everything = sums.sum(axis=1)
    if scale == "share":
        # One row that has it and one that has it not, so that the usual rate is never 0 nor 1.
        weight = everything[DENOMINATOR] / total
        square = everything[DENOMINATOR_SQUARED] / total
        everything += [weight, 2 * weight, square, square, 2 * square]
        total += 2
    usual = everything / total
    shrinkage = rows / (rows + 1)
    return np.vstack([rows, shrinkage * (sums + usual[:, None])])


def largest_deviations(
    cells: MetricCells,
    rule_sets: FrequentRuleSets,
    judged: Sequence[NDArray[np.bool_]],
    references: Sequence[References],
    *,
    samples: int,
    seed: int,
) -> Floats:
    """Return samples of the largest standardised deviation over groups and metrics.

    The deviation of a group g in a metric is |D(g) - D(reference of g)| / s(g): the random changes
    of both values, and the standard error of their difference. Of all rows the group is a part, and
    its share of them is random too. Without a comparison it is |D(g)| / s(g), of the value alone.

    Parameters
    ----------
    cells : MetricCells
        The metrics' sums over cells.
    rule_sets : FrequentRuleSets
        The groups.
    judged : sequence of numpy.ndarray of bool, shape (groups,)
        The groups that count, for each metric.
    references : sequence of References
        What they are compared with, for each metric.
    samples, seed : int
        How many samples, and their seed.

    Returns
    -------
    numpy.ndarray of float64, shape (samples,)
        Zeros if no group is judged.
    """
    largest = np.zeros(samples)
    for number, noise in enumerate(noises_of(cells)):
        in_any_metric = np.any([judged[metric] for metric in noise.metrics], axis=0)
        groups = np.flatnonzero(in_any_metric)
        for first in range(0, len(groups), _MOST_GROUPS):
            chosen = groups[first : first + _MOST_GROUPS]
            part = rule_sets.take(chosen)
            deviations = [
                _Deviation.of(
                    part,
                    cells.contingency,
                    noise,
                    place,
                    references[metric],
                    judged[metric][chosen],
                    scale=cells.metrics[metric].scale,
                )
                for place, metric in enumerate(noise.metrics)
            ]
            draws = Draws.of(
                noise, part, cells.contingency, samples=samples, seed=[seed, 5, number]
            )
            of_blocks = draws.of_each_block(partial(_largest_of_block, draws, deviations))
            np.maximum(largest, np.concatenate(of_blocks), out=largest)
    return largest


def _largest_of_block(draws: Draws, deviations: Sequence[_Deviation], start: int) -> Singles:
    """Return the largest deviation of each sample of a block over all metrics, (samples,)."""
    drawn, sums = draws.block(start)
    largest: Singles = np.zeros(drawn.shape[1], dtype=np.float32)
    for deviation in deviations:
        np.maximum(largest, deviation.largest(drawn, sums), out=largest)
    return largest


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Samples of the random quantities of a noise, and of their sums over groups, in blocks."""

    noise: Noise
    sum_groups: Callable[[Singles], Singles]  # Sums (q, cells) over the groups, (q, groups).
    groups: int
    samples: int
    seed: Sequence[int]

    @classmethod
    def of(
        cls,
        noise: Noise,
        rule_sets: FrequentRuleSets,
        contingency: Contingency,
        *,
        samples: int,
        seed: Sequence[int],
    ) -> Draws:
        """Return the draws of a noise for some groups."""
        return cls(
            noise=noise,
            sum_groups=rule_sets.repeated_sums(contingency, np.float32),
            groups=len(rule_sets),
            samples=samples,
            seed=seed,
        )

    def of_each_block(self, function: Callable[[int], OfBlock]) -> list[OfBlock]:
        """Return the result of a function for each block, given its first sample."""
        quantities = self.noise.numerators.shape[1]
        at_once = _MOST_SUMS // max(1, quantities * _TOGETHER * self.groups)
        return of_each(function, range(0, self.samples, _TOGETHER), at_once=max(1, at_once))

    def block(self, start: int) -> tuple[Singles, Singles]:
        """Draw a block: the quantities (q, samples, cells), and their sums (q, samples, groups)."""
        # The same weights for every part of the groups.
        generator = np.random.default_rng([*self.seed, start])
        drawn = self.noise.draw(generator, min(_TOGETHER, self.samples - start))
        sums = self.sum_groups(drawn.reshape(-1, drawn.shape[-1]))
        return drawn, sums.reshape(*drawn.shape[:2], -1)


@dataclass(frozen=True)
class Effects:
    """What a unit of each random quantity does to the values of groups."""

    # The quantities that do anything: many metrics take nothing from most of them.
    counted: slice | NDArray[np.intp]
    of_counted: Singles  # What a unit of each of these does, shape (counted, groups).

    @classmethod
    def of(cls, of_quantities: Singles) -> Effects:
        """Return the effects, given those of all quantities, shape (q, groups)."""
        counted = _as_slice(np.flatnonzero(of_quantities.any(axis=1)))
        return cls(counted=counted, of_counted=of_quantities[counted])

    def contracted(self, sums: Singles) -> Singles:
        """Return the effects of sums (q, samples, groups), shape (samples, groups)."""
        total: Singles = np.einsum("qg,qsg->sg", self.of_counted, sums[self.counted])
        return total


@dataclass(frozen=True)
class _Deviation:
    """The effects of random quantities on the standardised values of a metric."""

    references: References
    wholes: Wholes
    inside: Effects  # Of the quantities in a group; what is not inside a complement is outside.
    outside: Singles  # What a unit of each quantity in its reference does, shape (q, groups).

    @classmethod
    def of(
        cls,
        rule_sets: FrequentRuleSets,
        contingency: Contingency,
        noise: Noise,
        place: int,
        references: References,
        judged: NDArray[np.bool_],
        *,
        scale: Scale,
    ) -> _Deviation:
        """Return the effects on a metric, which is the noise's metric at a place.

        `judged` is a mask over the groups, shape (groups,); others have no effects.
        """
        of_cells = noise.of_metric(place)
        inside_sums = rule_sets.sums_of(contingency, of_cells)
        inside = sides_of(inside_sums, scale=scale)
        if references.all_others:
            outside = sides_of(of_cells.sum(axis=1)[:, None], scale=scale)
            spread = variance_beside_whole(inside, outside)
        else:
            outside_sums = references.sums(rule_sets, contingency, inside_sums, of_cells)
            outside = sides_of(outside_sums, scale=scale)
            spread = value_variance(inside)
            if references.compared:
                spread = spread + value_variance(outside)
        # A metric that does not vary at all does not stray.
        varies = judged & (spread > 0)
        scaled = np.where(varies, 1 / np.sqrt(np.where(varies, spread, 1)), 0.0)
        top = noise.numerators[place][:, None]
        bottom = noise.denominators[place][:, None]

        def effects(sides: Sides) -> Singles:
            # The derivative of a ratio v = a / b: (da - v db) / b, in standard errors.
            known = varies & (sides.denominator > 0)
            factor = np.where(known, scaled / np.where(known, sides.denominator, 1), 0.0)
            value = np.where(known, sides.value, 0.0)
            single: Singles = (factor * (top - value * bottom)).astype(np.float32)
            return single

        wholes = Wholes(None)
        if references.cells is None:
            wholes = Wholes.of(rule_sets, contingency, all_others=references.all_others)
        of_inside = effects(inside)
        of_outside = effects(outside)
        if references.compared and references.cells is None and not references.all_others:
            of_inside = of_inside + of_outside
        return cls(
            references=references,
            wholes=wholes,
            inside=Effects.of(of_inside),
            outside=of_outside,
        )

    def largest(self, drawn: Singles, sums: Singles) -> Singles:
        """Return the largest deviation of each sample, shape (samples,)."""
        references = self.references
        strayed = self.inside.contracted(sums)
        if references.compared:
            chosen = drawn if references.cells is None else drawn[:, :, references.cells]
            strayed -= self.wholes.effects(chosen, self.outside)
        # Two passes that only read take less time than one that writes sizes and one that reads.
        furthest: Singles = np.maximum(
            strayed.max(axis=1, initial=0.0), -strayed.min(axis=1, initial=0.0)
        )
        return furthest


def _as_slice(indices: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return a slice of the same items if there is one: a slice of sums is not copied."""
    steps = np.unique(np.diff(indices))
    if len(indices) == 0 or len(steps) > 1:
        return indices
    step = int(steps[0]) if len(steps) else 1
    return slice(int(indices[0]), int(indices[-1]) + 1, step)


def value_variance(sides: Sides) -> Floats:
    """Return the variance of each value, by linearisation, shape (groups,); 0 without rows."""
    counts = sides.denominator > 0
    return np.where(counts, sides.residual / np.where(counts, sides.denominator, 1) ** 2, 0.0)


def variance_beside_whole(inside: Sides, everything: Sides) -> Floats:
    """Return the variance of the difference between groups and all rows, shape (groups,).

    With the numerators a, the denominators b and their sums A and B, in the group and in all rows,
    a row changes the difference by (a - v b) / B of its group, if it is in it, and by the negative
    of that of all rows. The variance is the sum of the squares.
    """
    counts = inside.denominator > 0
    denominator = np.where(counts, inside.denominator, 1)
    value = np.where(counts, inside.value, 0.0)
    # The sum of the products over the rows of the group.
    shared = inside.residual + (value - everything.value) * inside.residual_by_denominator
    apart = value_variance(inside) + value_variance(everything)
    variance = apart - 2 * shared / (denominator * everything.denominator)
    # A group of all rows does not differ from them; rounding may leave a little, or less than that.
    return np.where(counts & (variance > 1e-12 * apart), variance, 0.0)


def shared_error(largest: Floats, error: float, comparisons: int) -> float:
    """Return the error rate of each interval so that together they have the error rate `error`.

    Of n samples and a new one, each is equally likely to be the largest; so the sample at place
    (n + 1) (1 - error), rounded up, is exceeded that rarely. Bonferroni's rate bounds it below, and
    is the rate where nothing strayed: then the samples say nothing of how far intervals must reach.
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    index = math.ceil((len(largest) + 1) * (1 - error) - 1e-9)
    bonferroni = error / max(1, comparisons)
    if index > len(largest):
        return bonferroni
    quantile = float(np.sort(largest)[index - 1])
    if quantile <= 0:
        return bonferroni
    # No interval alone has a larger rate than all of them together.
    return min(max(float(2 * ndtr(-quantile)), bonferroni), error)
