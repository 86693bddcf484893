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

from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.models import LoadedModel, Model
from testsgd.rules import Contingency, lay_out, sensitive_axes

Places = NDArray[np.intp]
Bools = NDArray[np.bool_]


class FairModel(Protocol):
    """A model of a frontier: it decides on rows of the table, and can be written."""

    @property
    def kind(self) -> str:
        """What it is, in words."""
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

    def frame(self, places: Places) -> pd.DataFrame:
        """Return some rows, as the table has them."""
        return self.material.table.frame.iloc[places]

    def contingency_of(self, places: Places) -> Contingency:
        """Return the combinations of sensitive values, with the cells of some rows."""
        return replace(self.contingency, cell_of_row=self.contingency.cell_of_row[places])

    def groups(self, places: Places, *, counted: Bools | None = None) -> ComparedGroups:
        """Return the groups that have enough of some rows, inside and outside.

        `counted`: which of these rows count; None: all.
        """
        if counted is None:
            counted = np.ones(len(places), dtype=bool)
        share = self.parameters.min_share
        fewest = max(LEAST_HELD_OUT, int(np.ceil(share * counted.sum())))
        return self._groups(places, counted, min_rows=fewest)

    def small_groups(self, places: Places) -> ComparedGroups:
        """Return the groups of some rows that side effects are looked for in."""
        return self._groups(places, np.ones(len(places), dtype=bool), min_rows=LEAST_HELD_OUT)

    def _groups(self, places: Places, counted: Bools, *, min_rows: int) -> ComparedGroups:
        return ComparedGroups.of(
            self.contingency_of(places),
            counted,
            min_rows=min_rows,
            max_rules=self.parameters.max_features,
        )


@dataclass(frozen=True)
class AskedModel:
    """A model that is asked about rows of the table, and nothing else is known of."""

    problem: Problem
    model: Model
    kind: str = "the model as it is"

    def decisions(self, places: Places) -> Bools:
        """Return whether each of some rows of the table gets the favourable label."""
        return self.problem.material.decisions(self.model, places)

    def write(self, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write nothing: the model is where it was."""
        return []
