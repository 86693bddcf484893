"""What is summed up of a table: its features, and each rule by itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import TableFindings
from testsgd.data import table_fingerprint
from testsgd.reporting.subject import Subject
from testsgd.reporting.summary import (
    DataSummary,
    FeatureRates,
    FeatureSummary,
    HeatMap,
    LabelSummary,
    RuleAlone,
)
from testsgd.reporting.table.charts import feature_rates, heat_maps
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.words import Words
from testsgd.rules import Rule, RuleSet


class TableSubject(Subject):
    """Findings about the rows of a table."""

    words: ClassVar[Words] = words_for("rows")

    def __init__(self, findings: TableFindings) -> None:
        self._findings = findings

    def data(self) -> DataSummary:
        """Describe the table."""
        table = self._findings.table
        specification = table.specification
        identity, label = specification.dataset, specification.label
        notes = list(table.notes)
        if table.labels is None:
            notes.append(f"the data have no label column {label.column!r}; an audit needs none")
        return DataSummary(
            kind="rows",
            name=identity.name,
            title=identity.title or identity.name,
            description=identity.description,
            licence=identity.licence,
            citation=identity.citation,
            source=table.source,
            fingerprint=table_fingerprint(table),
            rows=len(table),
            label=LabelSummary(
                column=label.column, favourable=label.favourable, meaning=label.meaning
            ),
            features=[
                FeatureSummary(
                    name=name,
                    type=feature.type,
                    sensitive=feature.sensitive,
                    domain=feature.domain,
                    missing=table.missing[name],
                )
                for name, feature in specification.features.items()
            ],
            notes=notes,
        )

    def rules_alone(self, group: int) -> list[RuleAlone]:
        """Look at each rule by itself, or at none if there are too few samples in common.

        Independent sampling keeps none: every group is judged by draws of its own.
        """
        rules = self._findings.rule_set(group).rules
        alone = [self._rule_alone(rule) for rule in rules]
        known = [part for part in alone if part is not None]
        return known if len(known) == len(alone) else []

    def feature_rates(self) -> list[FeatureRates]:
        """Give the rates over the cells of each sensitive feature."""
        return feature_rates(self._findings)

    def heat_maps(self) -> list[HeatMap]:
        """Give the rates over the cells of each pair of sensitive features."""
        return heat_maps(self._findings)

    def _rule_alone(self, rule: Rule) -> RuleAlone | None:
        """Look at one rule by itself, from the cells' samples."""
        inside = self._cells_of(rule)
        rows = self._findings.contingency.tally()
        samples, favourable = self._findings.cell_samples, self._findings.cell_favourable
        n_in = int(rows[inside].sum())
        asked_in, asked_out = int(samples[inside].sum()), int(samples[~inside].sum())
        if asked_in == 0:
            return None
        rate_in = float(favourable[inside].sum() / asked_in)
        rate_out = float(favourable[~inside].sum() / asked_out) if asked_out else None
        return RuleAlone(
            text=RuleSet((rule,)).text,
            n_in=n_in,
            rate_in=rate_in,
            rate_out=rate_out,
            difference=None if rate_out is None else rate_in - rate_out,
        )

    def _cells_of(self, rule: Rule) -> NDArray[np.bool_]:
        contingency = self._findings.contingency
        for place, axis in enumerate(contingency.axes):
            if axis.feature == rule.feature:
                matching = next(
                    index for index in range(axis.rule_count) if axis.rule(index) == rule
                )
                cells: NDArray[np.bool_] = axis.matrix[matching].astype(bool)
                return cells[contingency.coordinates[:, place]]
        raise KeyError(rule.feature)
