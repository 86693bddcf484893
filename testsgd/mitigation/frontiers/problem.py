"""What a frontier is of: rows split in two, a model, and the groups that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.mitigation.compared_rates import ComparedRates
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Model
from testsgd.rules import Contingency, candidate_count, lay_out, sensitive_axes
from testsgd.sampling import explore_neighbourhood, neighbourhood_size

# Of more groups the frontier takes long: each point is compared for all of them.
_MOST_RULE_SETS = 250_000

# Of more neighbours no model is asked.
_MOST_NEIGHBOURS = 1_000_000

Places = NDArray[np.intp]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class FairModel(Protocol):
    """A model of a frontier: it decides on rows of the table, and can be written."""

    @property
    def kind(self) -> str:
        """What it is, in words."""
        ...

    @property
    def black_box(self) -> Model | None:
        """What decides on any rows by their features alone; None if it needs more."""
        ...

    def decisions(self, places: Places) -> Bools:
        """Return whether each of some rows of the table gets the favourable label."""
        ...

    def write(self, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write it into a folder, with what `about` says of it; return the files."""
        ...


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Rows split in two, a model, and the groups that are compared."""

    loaded: LoadedModel[Model]
    material: TableMaterial
    parameters: FrontierParameters

    @cached_property
    def seen(self) -> Places:
        """The rows that models are fitted to and chosen by."""
        parts = self.material.split.parts
        return np.union1d(parts.train, parts.validation)

    @cached_property
    def held_out(self) -> Places:
        """The rows that are looked at once, at the end."""
        return self.material.split.parts.test

    @property
    def favourable(self) -> Bools:
        """Which rows have the favourable label."""
        return self.material.favourable

    @cached_property
    def contingency(self) -> Contingency:
        """The combinations of sensitive values of all rows."""
        table = self.material.table
        return lay_out(table, sensitive_axes(table))

    @cached_property
    def depth(self) -> int:
        """How many rules a group has at most."""
        return self.depth_for(_MOST_RULE_SETS)

    def depth_for(self, most: int) -> int:
        """Return how many rules a group has at most if no more rule sets than these are possible.

        As many as the parameters say, if they do.
        """
        axes = self.contingency.axes
        wanted = self.parameters.max_features
        if wanted is not None:
            return wanted
        depth = 1
        while depth < len(axes) and candidate_count(axes, depth + 1) <= most:
            depth += 1
        return depth

    def frame(self, places: Places) -> pd.DataFrame:
        """Return some rows, as the table has them."""
        return self.material.table.frame.iloc[places]

    def neighbour_shares(self, model: FairModel, places: Places) -> Floats | None:
        """Return which share of each row's neighbours gets the favourable label, shape (rows,).

        None if there are too many neighbours, or the model decides by more than the features.
        """
        rows = self.material.table.take(places)
        asked = (neighbourhood_size(rows) + 1) * len(rows)
        if model.black_box is None or asked > _MOST_NEIGHBOURS:
            return None
        found = explore_neighbourhood(model.black_box, rows)
        return np.asarray(found.favourable / found.size)

    def contingency_of(self, places: Places) -> Contingency:
        """Return the combinations of sensitive values, with the cells of some rows."""
        return replace(self.contingency, cell_of_row=self.contingency.cell_of_row[places])

    def rates(
        self, places: Places, *, counted: Bools | None = None, max_features: int | None = None
    ) -> ComparedRates:
        """Return the rates that are compared among some rows, each with its groups.

        `counted`: which of these rows count; None: all. `max_features`: most rules of a group;
        None: as many as the depth.
        """
        if counted is None:
            counted = np.ones(len(places), dtype=bool)
        # Half a row less: times the number of rows and rounded up it is the least number, exactly.
        least = (LEAST_HELD_OUT - 0.5) / max(1, int(counted.sum()))
        share = max(self.parameters.min_share, least)
        return ComparedRates.of(
            self.parameters.objective,
            self.contingency_of(places),
            self.favourable[places],
            counted,
            min_rows=share,
            max_rules=max_features or self.depth,
        )

    def small_groups(self, places: Places) -> ComparedGroups:
        """Return the groups of some rows that side effects are looked for in."""
        return ComparedGroups.of(
            self.contingency_of(places),
            np.ones(len(places), dtype=bool),
            min_rows=LEAST_HELD_OUT,
            max_rules=self.depth,
        )


@dataclass(frozen=True)
class AskedModel:
    """A model that is asked about rows of the table, and nothing else is known of."""

    problem: Problem
    model: Model
    kind: str = "the model as it is"

    @property
    def black_box(self) -> Model | None:
        """The model itself."""
        return self.model

    def decisions(self, places: Places) -> Bools:
        """Return whether each of some rows of the table gets the favourable label."""
        return self.problem.material.decisions(self.model, places)

    def write(self, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write nothing: the model is where it was."""
        return []
