"""Populations whose discrimination is known: people, a model, and who is treated differently.

Each person is in one cell, a combination of the sensitive features' bins and values. Two features
are not sensitive: ``merit``, a whole number, mostly from 0 to 99, and ``tenure``, which means
nothing. The model says yes if merit is above a limit. Discrimination is direct where the limit
depends on the cell, and through a proxy where the limit is one for all and the distribution of
merit depends on the cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd import rules
from testsgd.data import DatasetSpecification, Table, check_table
from testsgd.models import LoadedModel, Model, load_model


@dataclass(frozen=True)
class CategoryTrait:
    """Categorical feature of a population; every value is a cell."""

    name: str  # The feature's name.
    values: tuple[str, ...]  # Its values.
    shares: tuple[float, ...]  # How many people have each; they add up to 1.

    @property
    def feature(self) -> dict[str, Any]:
        """The feature, as a data set's description has it."""
        return {"type": "categorical", "values": list(self.values), "sensitive": True}

    @property
    def axis(self) -> rules.Axis:
        """The axis that an audit lays out, if all values occur."""
        return rules.CategoryAxis(self.name, self.values, tuple(range(len(self.values))))

    def column(self, cells: NDArray[np.intp], generator: np.random.Generator) -> pd.Series[Any]:
        """Write people's cells as a column."""
        return pd.Series(pd.Categorical.from_codes(cells, categories=pd.Index(self.values)))

    def cells(self, column: pd.Series[Any]) -> NDArray[np.intp]:
        """Read people's cells from a column of any type."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            if tuple(column.cat.categories) == self.values:
                return column.cat.codes.to_numpy().astype(np.intp)
            column = column.astype(object)
        return pd.Categorical(column, categories=list(self.values)).codes.astype(np.intp)

    def inside(self, rule: rules.Rule) -> NDArray[np.bool_]:
        """Return which cells satisfy a rule."""
        if not isinstance(rule, rules.ValueRule):
            raise TypeError(f"{rule.text} is no rule about values")
        return np.array([value in rule.values for value in self.values])


@dataclass(frozen=True)
class NumberTrait:
    """Whole number in bins; inside a bin every number is as frequent as the next."""

    name: str  # The feature's name.
    low: int  # The smallest number.
    width: int  # How many numbers a bin has.
    shares: tuple[float, ...]  # How many people are in each bin; they add up to 1.

    @property
    def edges(self) -> tuple[float, ...]:
        """The bins' limits."""
        return tuple(float(self.low + self.width * bin_) for bin_ in range(len(self.shares) + 1))

    @property
    def feature(self) -> dict[str, Any]:
        """The feature, as a data set's description has it."""
        high = self.low + self.width * len(self.shares) - 1
        return {
            "type": "integer",
            "range": [self.low, high],
            "edges": list(self.edges),
            "sensitive": True,
        }

    @property
    def axis(self) -> rules.Axis:
        """The axis that an audit lays out."""
        return rules.IntervalAxis(self.name, self.edges)

    def column(self, cells: NDArray[np.intp], generator: np.random.Generator) -> pd.Series[Any]:
        """Write people's cells as a column; where in its bin a number lies is drawn."""
        offsets = generator.integers(0, self.width, len(cells))
        return pd.Series(self.low + self.width * cells + offsets)

    def cells(self, column: pd.Series[Any]) -> NDArray[np.intp]:
        """Read people's cells from a column of numbers."""
        return ((column.to_numpy(dtype=np.float64) - self.low) // self.width).astype(np.intp)

    def inside(self, rule: rules.Rule) -> NDArray[np.bool_]:
        """Return which cells satisfy a rule whose limits are limits of bins."""
        if not isinstance(rule, rules.IntervalRule):
            raise TypeError(f"{rule.text} is no rule about numbers")
        starts = np.array(self.edges[:-1])
        low = -np.inf if rule.low is None else rule.low
        high = np.inf if rule.high is None else rule.high
        return np.asarray((starts >= low) & (starts < high))


Trait: TypeAlias = CategoryTrait | NumberTrait


def cells_of(traits: Sequence[Trait], group: rules.RuleSet) -> tuple[NDArray[np.intp], ...]:
    """Return the cells of a group, as an index of arrays of the shape (cells of each trait)."""
    by_name = {rule.feature: rule for rule in group.rules}
    parts = [
        np.flatnonzero(trait.inside(by_name[trait.name]))
        if trait.name in by_name
        else np.arange(len(trait.shares))
        for trait in traits
    ]
    return np.ix_(*parts)


Floats = NDArray[np.float64]
Estimand = Literal["observed", "neighbourhood"]

MERITS = 100
TENURES = 10

_LABEL = {"column": "granted", "favourable": "yes", "values": ["no", "yes"]}


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Population with a model and the groups planted in it.

    People are in cells, combinations of the sensitive features' bins and values. Two more features,
    merit and tenure, are not sensitive. The model says yes to a merit above the limit of the cell,
    unless `answers` are given.

    Examples
    --------
    >>> from testsgd.truth import population
    >>> people = population("null").people(3, seed=0)
    >>> people.columns.tolist(), len(people)
    (['gender', 'region', 'age', 'merit', 'tenure'], 3)
    """

    name: str  # What it is called in a command.
    title: str  # What it is, in words.
    traits: tuple[Trait, ...]  # The sensitive features.
    # The model says yes to a merit above it; shape (cells of each trait).
    limits: NDArray[np.int64]
    planted: tuple[rules.RuleSet, ...]  # The groups planted.
    # What the model says to each row there can be, in place of the limits; shape (cells of each
    # trait, k, tenures).
    answers: NDArray[np.bool_] | None = None
    # The share of people in each cell; None: the features are independent of each other; shape
    # (cells of each trait).
    joint: Floats | None = None
    # Which of `merits` holds in each cell; None: the first in all of them; shape (cells of each
    # trait).
    merit_of: NDArray[np.int64] | None = None
    # Distributions of merit, which has the values 0 to k - 1; shape (distributions, k).
    merits: Floats = field(default_factory=lambda: np.full((1, MERITS), 1 / MERITS))
    tenures: int = TENURES  # How many values tenure has; 0: there is no such feature.
    max_features: int = 3  # Most rules in a rule set of an audit of it.
    number: int = 0  # Sets its random numbers apart from those of other populations.

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each sensitive feature has."""
        return tuple(len(trait.shares) for trait in self.traits)

    @cached_property
    def masses(self) -> Floats:
        """The share of people in each cell, shape (cells of each trait)."""
        if self.joint is not None:
            return self.joint
        masses = np.ones(())
        for trait in self.traits:
            masses = np.multiply.outer(masses, np.array(trait.shares))
        return masses

    @cached_property
    def specification(self) -> DatasetSpecification:
        """The description of its rows."""
        features = {trait.name: trait.feature for trait in self.traits}
        for name, values in (("merit", self.merits.shape[1]), ("tenure", self.tenures)):
            if values:
                features[name] = {"type": "integer", "range": [0, values - 1]}
        return DatasetSpecification.model_validate(
            {
                "dataset": {"name": self.name},
                "label": _LABEL,
                "features": features,
            }
        )

    def people(self, rows: int, *, seed: int, run: int = 0) -> pd.DataFrame:
        """Draw people: sensitive features, ``merit``, ``tenure``; the same for a seed and run."""
        generator = np.random.default_rng([seed, self.number, rows, run])
        drawn = np.searchsorted(np.cumsum(self.masses)[:-1], generator.random(rows), side="right")
        cells = np.unravel_index(drawn, self.shape)
        kinds = self._kinds[cells]
        uniform = generator.random(rows)
        merit = np.zeros(rows, dtype=np.int64)
        for kind, distribution in enumerate(self.merits):
            chosen = kinds == kind
            steps = np.cumsum(distribution)[:-1]
            merit[chosen] = np.searchsorted(steps, uniform[chosen], side="right")
        columns = {
            trait.name: trait.column(cell, generator)
            for trait, cell in zip(self.traits, cells, strict=True)
        }
        columns["merit"] = pd.Series(merit)
        if self.tenures:
            columns["tenure"] = pd.Series(generator.integers(0, self.tenures, rows))
        return pd.DataFrame(columns)

    def table(self, rows: int, *, seed: int, run: int = 0) -> Table:
        """Draw people and check them, as an audit takes them."""
        people = self.people(rows, seed=seed, run=run)
        return check_table(people, self.specification, source=f"{self.name}, generated")

    def decide(self, frame: pd.DataFrame) -> Floats:
        """Decide on people by nothing but their rows: 1 is yes, 0 is no."""
        merit: NDArray[np.int64] = frame["merit"].to_numpy(dtype=np.int64)
        first = self.limits.flat[0]
        if self.answers is None and (self.limits == first).all():
            # A model that is the same for all does not look at who it is.
            return np.asarray(merit > first, dtype=np.float64)
        cells = tuple(trait.cells(frame[trait.name]) for trait in self.traits)
        if self.answers is None:
            return np.asarray(merit > self.limits[cells], dtype=np.float64)
        tenure = frame["tenure"].to_numpy(dtype=np.int64)
        return np.asarray(self.answers[(*cells, merit, tenure)], dtype=np.float64)

    def model(self) -> LoadedModel[Model]:
        """Return the model as a black box."""
        return load_model(self.decide, self.specification)

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """Which distribution of merit holds in each cell."""
        return np.zeros(self.shape, dtype=np.int64) if self.merit_of is None else self.merit_of

    def rates(self, estimand: Estimand) -> Floats:
        """Compute the rate of yes in each cell, as the sum over all rows there can be.

        Of the people as they are; or of their neighbours, which an audit asks about too: a row has
        two for each feature that is not sensitive, one step down and one up, and a step out of the
        range stays. The shape is (cells of each trait).
        """
        yes = self.answers
        if yes is None:
            yes = (np.arange(self.merits.shape[1]) > self.limits[..., None])[..., None]
        asked = yes.astype(np.float64)
        if estimand == "neighbourhood":
            steps = (_steps(asked, -2), _steps(asked, -1)) if self.tenures else (_steps(asked, -2),)
            asked = np.mean(steps, axis=0)
        shares = self.merits[self._kinds] * asked.mean(axis=-1)
        # Sums that are exact to the last digit: equal rates are equal.
        rates: Floats = np.apply_along_axis(math.fsum, -1, shares)
        return rates


def _steps(values: Floats, axis: int) -> Floats:
    """Average the values one step down and one step up an axis."""
    last = values.shape[axis] - 1
    down, up = (np.clip(np.arange(last + 1) + step, 0, last) for step in (-1, 1))
    averages: Floats = (np.take(values, down, axis=axis) + np.take(values, up, axis=axis)) / 2
    return averages


_LEAST_SHARE = 1e-12


class Truth:
    """True differences of a population's groups, as people are or over their neighbours.

    Rates are counted from that of the first cell, so that where no cell differs, no group does to
    the last digit.

    Parameters
    ----------
    population : Population
        Whose truth.
    estimand : {"observed", "neighbourhood"}
        Rates of the people as they are, or of their neighbours.

    Examples
    --------
    >>> from testsgd.truth import population
    >>> truth = Truth(population("intersection"), "observed")
    >>> (group,) = population("intersection").planted
    >>> round(truth.share(group), 3), round(truth.difference(group), 3)
    (0.07, -0.25)
    """

    def __init__(self, population: Population, estimand: Estimand) -> None:
        self.population = population
        rates = population.rates(estimand)
        self._masses = population.masses
        self._gains = population.masses * (rates - rates.flat[0])
        axes = tuple(trait.axis for trait in population.traits)
        self._axes = axes
        self._differences = [
            self._of_subset(axes, subset)
            for subset in rules.feature_subsets(axes, population.max_features)
        ]

    @property
    def largest(self) -> float:
        """The largest size of any group's true difference."""
        return max(float(np.nanmax(np.abs(of_subset))) for of_subset in self._differences)

    def share(self, group: rules.RuleSet) -> float:
        """Return the share of people in a group."""
        return float(self._masses[cells_of(self.population.traits, group)].sum())

    def difference(self, group: rules.RuleSet) -> float:
        """Return a group's true difference: the rate inside minus that outside."""
        chosen = cells_of(self.population.traits, group)
        share, gain = float(self._masses[chosen].sum()), float(self._gains[chosen].sum())
        return gain / share - (float(self._gains.sum()) - gain) / (1 - share)

    def differences(self, groups: rules.FrequentRuleSets) -> Floats:
        """Return the true differences of an audit's groups, in their order, shape (groups,).

        They are read off arrays that hold all of them; only where a value of a feature does not
        occur in the audit's rows are its rule sets others, and added up one by one.
        """
        if groups.axes != self._axes or len(groups.subsets) != len(self._differences):
            return np.array([self.difference(groups.rule_set(g)) for g in range(len(groups))])
        differences = np.zeros(len(groups))
        for index, of_subset in enumerate(self._differences):
            chosen = groups.subset == index
            differences[chosen] = of_subset[groups.position[chosen]]
        return differences

    def _of_subset(self, axes: tuple[rules.Axis, ...], subset: tuple[int, ...]) -> Floats:
        """Return the differences of all rule sets over some features, in the lattice's order.

        For each rule set: gain / share - (total gain - gain) / (1 - share); NaN if a side is empty.
        """
        others = tuple(axis for axis in range(len(axes)) if axis not in subset)
        share, gain = self._masses.sum(axis=others), self._gains.sum(axis=others)
        for index, axis in enumerate(subset):
            matrix = axes[axis].matrix.astype(np.float64)
            share = np.moveaxis(np.tensordot(matrix, share, axes=(1, index)), 0, index)
            gain = np.moveaxis(np.tensordot(matrix, gain, axes=(1, index)), 0, index)
        total = float(self._gains.sum())
        # If a side is empty, there is no difference.
        share = np.where((share > _LEAST_SHARE) & (share < 1 - _LEAST_SHARE), share, np.nan)
        return np.ravel(gain / share - (total - gain) / (1 - share))


@lru_cache
def truth_of(population: Population, estimand: Estimand) -> Truth:
    """Return the truth of a population, computed once a process.

    Parameters
    ----------
    population : Population
        Whose truth.
    estimand : {"observed", "neighbourhood"}
        Rates of the people as they are, or of their neighbours.

    Returns
    -------
    Truth
    """
    return Truth(population, estimand)
