"""Rows of a table, as a mitigation works on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import (
    AuditParameters,
    Estimates,
    GroupMeasure,
    Progress,
    TableFindings,
    run_audit,
)
from testsgd.data import Table
from testsgd.mitigation.material import DataSplit, Material, Places, RowShares, counter_label
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.mitigation.samples import CounterSamples, Kind, Side
from testsgd.mitigation.soft_labels import cross_fitted
from testsgd.mitigation.table_samples import sample_rows
from testsgd.mitigation.targets import Target
from testsgd.models import Examples, LoadedModel, Model
from testsgd.sampling import explore_neighbourhood, neighbourhood_size

# The step of shifted samples: the training rows of the group stay beside them and hold back.
_STRENGTH = 2.0


class TableMaterial(Material):
    """A table with labels, split in three.

    Parameters
    ----------
    table : Table
        All rows.
    favourable, split, targets, audit_parameters
        As for :class:`Material`.
    """

    def __init__(
        self,
        table: Table,
        favourable: NDArray[np.bool_],
        split: DataSplit,
        targets: tuple[Target, ...],
        audit_parameters: AuditParameters,
    ) -> None:
        super().__init__(table.specification, favourable, split, targets, audit_parameters)
        self.table = table
        self._probabilities: NDArray[np.float64] | None = None
        self._inside = [target.rule_set.matches(table) for target in targets]

    @property
    def audited(self) -> Places:
        """All rows."""
        return np.arange(len(self.table))

    def examples(self, places: Places) -> Examples:
        """Give some rows with their labels."""
        return Examples(self.table.frame.iloc[places], self.favourable[places])

    def decisions(self, model: Model, places: Places) -> NDArray[np.bool_]:
        """Say for some rows whether a model gives them the favourable label."""
        return model.decisions(self.table.frame.iloc[places])

    def members(self, target: Target) -> NDArray[np.bool_]:
        """Say for each row whether it is in a group."""
        return self._inside[self.targets.index(target)]

    def seeds(self, target: Target, side: Side) -> Places:
        """Give the training rows of one side."""
        training = self.split.parts.train
        chosen: Places = training[self.members(target)[training] == (side == "group")]
        return chosen

    def sample(
        self,
        model: Model,
        place: int,
        side: Side,
        *,
        kind: Kind,
        wanted: int,
        share: float,
        parameters: MitigationParameters,
        generator: np.random.Generator,
    ) -> CounterSamples:
        """Generate counter-labelled neighbours of one side's training rows."""
        target = self.targets[place]
        return sample_rows(
            model,
            self.table,
            self.seeds(target, side),
            favourable=counter_label(target, side),
            wanted=wanted,
            max_draws=parameters.max_draws,
            fallback=parameters.fallback,
            generator=generator,
            side=side,
            target=place,
            kind=kind,
            share=share,
            strength=_STRENGTH,
        )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The paper's kind, and the one that moved most at the same cost wherever it was tried."""
        return ("counter", "shifted")

    def probabilities(self) -> NDArray[np.float64] | None:
        """Give cross-fitted probabilities, found once."""
        if self._probabilities is None:
            parts = self.split.parts
            self._probabilities = cross_fitted(
                self.table,
                self.favourable,
                parts.train,
                parts.validation,
                seed=self.audit_parameters.seed,
            )
        return self._probabilities

    def measure(self, places: Places, *, max_queries: int) -> Callable[[Model], Estimates]:
        """Get ready to measure the targets' rates on some rows, for any model."""
        return GroupMeasure(
            self.table.take(places),
            [target.rule_set for target in self.targets],
            max_queries=max_queries,
            seed=self.audit_parameters.seed,
            jobs=self.audit_parameters.jobs,
        )

    def row_shares(self, model: Model, places: Places, *, max_queries: int) -> RowShares | None:
        """Return the share of favourable neighbours of each row, inside and outside each target."""
        rows = self.table.take(places)
        if (neighbourhood_size(rows) + 1) * len(rows) > max_queries:
            return None
        found = explore_neighbourhood(model, rows)
        shares = found.favourable / found.size
        return [
            (shares[inside], shares[~inside]) for inside in (one[places] for one in self._inside)
        ]

    def audit(
        self, model: LoadedModel[Model], places: Places, *, progress: Progress | None = None
    ) -> TableFindings:
        """Audit a model on some rows."""
        table = self.table if len(places) == len(self.table) else self.table.take(places)
        return run_audit(model, table, self.parameters_for(places), progress=progress)
