"""Populations whose discrimination is known: people, a model, and who is treated differently.

Everybody is in one cell, a combination of the sensitive features' bins and values. Two features
are not sensitive: ``merit``, a whole number from 0 to 99, and ``tenure``, which means nothing. The
model says yes if merit is above a limit. Discrimination is direct where the limit depends on the
cell, and through a proxy where the limit is one for all and the distribution of merit depends on
the cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification, Table, check_table
from testsgd.models import LoadedModel, Model, load_model
from testsgd.rules import RuleSet
from testsgd.truth.traits import Trait

Floats = NDArray[np.float64]

MERITS = 100
TENURES = 10

_LABEL = {"column": "granted", "favourable": "yes", "values": ["no", "yes"]}


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """A population with a model and the groups planted in it.

    Attributes
    ----------
    name : str
        What it is called in a command.
    title : str
        What it is, in words.
    traits : tuple of Trait
        The sensitive features; they are independent of each other.
    limits : numpy.ndarray of int64, shape (cells of each trait)
        The model says yes to a merit above it.
    planted : tuple of RuleSet
        The groups planted.
    merit_of : numpy.ndarray of int64, shape (cells of each trait), or None
        Which of `merits` holds in each cell; None: the first in all of them.
    merits : numpy.ndarray of float64, shape (k, 100)
        Distributions of merit.
    max_features : int
        Most rules in a rule set of an audit of it.
    number : int
        Sets its random numbers apart from those of other populations.
    """

    name: str
    title: str
    traits: tuple[Trait, ...]
    limits: NDArray[np.int64]
    planted: tuple[RuleSet, ...]
    merit_of: NDArray[np.int64] | None = None
    merits: Floats = field(default_factory=lambda: np.full((1, MERITS), 1 / MERITS))
    max_features: int = 3
    number: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each sensitive feature has."""
        return tuple(len(trait.shares) for trait in self.traits)

    @cached_property
    def masses(self) -> Floats:
        """The share of people in each cell, shape (cells of each trait)."""
        masses = np.ones(())
        for trait in self.traits:
            masses = np.multiply.outer(masses, np.array(trait.shares))
        return masses

    @cached_property
    def specification(self) -> DatasetSpecification:
        """The description of its rows."""
        merit = {"type": "integer", "range": [0, MERITS - 1]}
        tenure = {"type": "integer", "range": [0, TENURES - 1]}
        features = {trait.name: trait.feature for trait in self.traits}
        return DatasetSpecification.model_validate(
            {
                "dataset": {"name": self.name},
                "label": _LABEL,
                "features": {**features, "merit": merit, "tenure": tenure},
            }
        )

    def people(self, rows: int, *, seed: int, run: int = 0) -> pd.DataFrame:
        """Draw people.

        Parameters
        ----------
        rows : int
            How many.
        seed, run : int
            Same seed and same run, same people.

        Returns
        -------
        pandas.DataFrame
            The sensitive features, then ``merit`` and ``tenure``.

        Examples
        --------
        >>> from testsgd.truth import population
        >>> list(population("null").people(5, seed=0))
        ['gender', 'region', 'age', 'merit', 'tenure']
        """
        generator = np.random.default_rng([seed, self.number, rows, run])
        cells = [generator.choice(len(t.shares), rows, p=t.shares) for t in self.traits]
        kinds = np.zeros(rows, dtype=np.intp)
        if self.merit_of is not None:
            kinds = self.merit_of[tuple(cells)].astype(np.intp)
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
        tenure = generator.integers(0, TENURES, rows)
        return pd.DataFrame({**columns, "merit": merit, "tenure": tenure})

    def table(self, rows: int, *, seed: int, run: int = 0) -> Table:
        """Draw people and check them, as an audit takes them."""
        people = self.people(rows, seed=seed, run=run)
        return check_table(people, self.specification, source=f"{self.name}, generated")

    def decide(self, frame: pd.DataFrame) -> Floats:
        """Decide on people by nothing but their rows: 1 is yes, 0 is no."""
        merit = frame["merit"].to_numpy(dtype=np.float64)
        first = self.limits.flat[0]
        if (self.limits == first).all():
            # A model that is the same for all does not look at who it is.
            return (merit > first).astype(np.float64)
        cells = tuple(trait.cells(frame[trait.name]) for trait in self.traits)
        return (merit > self.limits[cells]).astype(np.float64)

    def model(self) -> LoadedModel[Model]:
        """Give the model as a black box."""
        return load_model(self.decide, self.specification)

    @cached_property
    def answer_rates(self) -> Floats:
        """The mean rate of yes over the neighbours of a cell's people, shape (cells of each trait).

        What an audit measures: a row has two neighbours a feature that is not sensitive, one step
        down and one up, and a step out of the range stays. The two of ``tenure`` are answered as
        the row itself.
        """
        merits = np.arange(MERITS)
        down, up = np.maximum(merits - 1, 0), np.minimum(merits + 1, MERITS - 1)
        rates = np.zeros(self.shape)
        kinds = np.zeros(self.shape, dtype=np.int64) if self.merit_of is None else self.merit_of
        for kind, distribution in enumerate(self.merits):
            for limit in np.unique(self.limits):
                yes = merits > limit
                share = (yes[down].astype(float) + yes[up] + 2 * yes) / 4
                # Merits all alike are counted: so equal rates are equal to the last digit.
                rates[(kinds == kind) & (self.limits == limit)] = math.fsum(distribution * share)
        return rates
