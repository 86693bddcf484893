"""What rows and texts each sum up in a way of their own, and the numbers behind the charts."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.report.summarise_parts import describe_terms
from testsgd.auditing.report.summary import (
    CellRate,
    Charts,
    CounterfactualSummary,
    DataSummary,
    FeatureRates,
    FeatureSummary,
    HeatMap,
    LabelSummary,
    RuleAlone,
    ScatterCell,
    TermsSummary,
)
from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.auditing.text import TextFindings
from testsgd.data import Specification, table_fingerprint
from testsgd.data.text import texts_fingerprint
from testsgd.report.formatting import count
from testsgd.rules import Rule, RuleSet
from testsgd.rules.text import CategorySet


class Subject(ABC):
    """Findings about one kind of data."""

    words: ClassVar[Words]  # How the data are spoken of
    # Packages whose versions matter for this kind of data only
    packages: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def data(self) -> DataSummary:
        """Describe the data."""

    @abstractmethod
    def rules_alone(self, group: int) -> list[RuleAlone]:
        """Look at each rule of a group by itself, or at none if that is not known."""

    @abstractmethod
    def feature_rates(self) -> list[FeatureRates]:
        """Return the rates over the cells of each sensitive feature."""

    @abstractmethod
    def heat_maps(self) -> list[HeatMap]:
        """Return the rates over the cells of each pair of sensitive features."""

    def counterfactual(self, group: int) -> CounterfactualSummary | None:
        """Write what the terms of a group change by themselves, if that is known."""
        return None

    def unknown(self, group: int) -> bool:
        """Return whether the model does not know a term of a group; rows have no terms."""
        return False

    def terms(self) -> TermsSummary | None:
        """Describe the sensitive terms; None for rows."""
        return None


# More points than this are one on top of the other; they are then counted by small cells.
_MOST_POINTS = 1500
_CELLS = 60


def _data(specification: Specification, **rest: Any) -> DataSummary:
    """Describe data, first what a description says of rows and of texts alike."""
    identity, label = specification.dataset, specification.label
    return DataSummary(
        name=identity.name,
        title=identity.title or identity.name,
        description=identity.description,
        licence=identity.licence,
        citation=identity.citation,
        label=LabelSummary(column=label.column, favourable=label.favourable, meaning=label.meaning),
        **rest,
    )


def charts(findings: Findings, subject: Subject) -> Charts:
    """Compute what the charts of a report show."""
    points, binned = _scatter(findings)
    return Charts(
        scatter=points,
        scatter_binned=binned,
        features=subject.feature_rates(),
        heat_maps=subject.heat_maps(),
    )


def _scatter(findings: Findings) -> tuple[list[ScatterCell], bool]:
    support = findings.estimates.rows_in[findings.ranking] / findings.rows
    score = findings.estimates.score[findings.ranking]
    if len(score) <= _MOST_POINTS:
        points = [
            ScatterCell(support=rounded(x), score=rounded(y), n=1)
            for x, y in zip(support, score, strict=True)
        ]
        return points, False
    highest = float(score.max()) or 1.0
    counts, support_edges, score_edges = np.histogram2d(
        support, score, bins=_CELLS, range=[[0, 1], [0, highest]]
    )
    support_centres = (support_edges[:-1] + support_edges[1:]) / 2
    score_centres = (score_edges[:-1] + score_edges[1:]) / 2
    return [
        ScatterCell(
            support=rounded(support_centres[i]),
            score=rounded(score_centres[j]),
            n=int(counts[i, j]),
        )
        for i, j in np.argwhere(counts > 0)
    ], True


def rounded(value: float) -> float:
    """Round a share or a rate as far as a chart shows it."""
    return round(float(value), 4)


class TableSubject(Subject):
    """Findings about the rows of a table."""

    words: ClassVar[Words] = words_for("rows")

    def __init__(self, findings: TableFindings) -> None:
        self._findings = findings

    def data(self) -> DataSummary:
        """Describe the table."""
        table = self._findings.table
        specification = table.specification
        notes = list(table.notes)
        if table.labels is None:
            column = specification.label.column
            notes.append(f"the data have no label column {column!r}; an audit needs none")
        return _data(
            specification,
            kind="rows",
            source=table.source,
            fingerprint=table_fingerprint(table),
            rows=len(table),
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
        """Return the rates over the cells of each sensitive feature."""
        return feature_rates(self._findings)

    def heat_maps(self) -> list[HeatMap]:
        """Return the rates over the cells of each pair of sensitive features."""
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


def feature_rates(findings: TableFindings) -> list[FeatureRates]:
    """Compute the rates over the cells of each sensitive feature."""
    contingency = findings.contingency
    quantities = _quantities(findings)
    rates = []
    for place, axis in enumerate(contingency.axes):
        rows, samples, favourable = contingency.dense((place,), quantities)
        rates.append(
            FeatureRates(
                feature=axis.feature,
                cells=[
                    CellRate(label=label, n=int(n), rate=_sampled_rate(yes, asked))
                    for label, n, yes, asked in zip(
                        axis.labels, rows, favourable, samples, strict=True
                    )
                ],
            )
        )
    return rates


def heat_maps(findings: TableFindings) -> list[HeatMap]:
    """Compute the rates over the cells of each pair of sensitive features."""
    contingency = findings.contingency
    quantities = _quantities(findings)
    maps = []
    for pair in itertools.combinations(range(len(contingency.axes)), 2):
        rows, samples, favourable = contingency.dense(pair, quantities)
        first, second = (contingency.axes[place] for place in pair)
        maps.append(
            HeatMap(
                row_feature=first.feature,
                column_feature=second.feature,
                row_labels=list(first.labels),
                column_labels=list(second.labels),
                rates=[
                    [_sampled_rate(yes, asked) for yes, asked in zip(*lines, strict=True)]
                    for lines in zip(favourable, samples, strict=True)
                ],
                counts=rows.tolist(),
            )
        )
    return maps


def _quantities(findings: TableFindings) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.vstack(
        [findings.contingency.tally(), findings.cell_samples, findings.cell_favourable]
    )


def _sampled_rate(favourable: int, samples: int) -> float | None:
    return rounded(favourable / samples) if samples else None


class TextSubject(Subject):
    """Findings about texts."""

    words: ClassVar[Words] = words_for("texts")
    packages: ClassVar[tuple[str, ...]] = ("nltk", "mlxtend")

    def __init__(self, findings: TextFindings, *, snippets: int) -> None:
        self._findings = findings
        self._snippets = snippets

    def data(self) -> DataSummary:
        """Describe the texts; their features are the categories of terms."""
        texts = self._findings.texts
        specification = texts.specification
        present = self._findings.mentions.presence()
        clusters = self._findings.clusters
        notes = list(texts.notes)
        if clusters.repeated:
            notes.append(
                f"{count(clusters.repeated)} texts are equal or nearly equal to others, or belong "
                f"with them: the {count(len(texts))} texts count as {count(len(clusters))} in "
                "intervals and p-values"
            )
        if texts.labels is None:
            notes.append("the texts have no labels; an audit needs none")
        return _data(
            specification,
            kind="texts",
            source=texts.source,
            fingerprint=texts_fingerprint(texts),
            rows=len(texts),
            independent=len(clusters) if clusters.repeated else None,
            features=[
                FeatureSummary(
                    name=category.name,
                    type="terms",
                    sensitive=True,
                    domain=", ".join(term.name for term in category.terms),
                    missing=int((~present[:, place]).sum()),
                )
                for place, category in enumerate(self._findings.mentions.terms.categories)
            ],
            notes=notes,
        )

    def rules_alone(self, group: int) -> list[RuleAlone]:
        """Look at the groups of each term by itself; they are frequent if the group is."""
        rule_sets, estimates = self._findings.rule_sets, self._findings.estimates
        # Of a split only the groups found are known, not those of each term by itself.
        if not rule_sets.complete:
            return []
        categories = rule_sets.category_sets[rule_sets.set_of(group)].categories
        first = self._first_of_single
        places = [
            first[category] + term
            for category, term in zip(categories, rule_sets.chosen(group), strict=True)
        ]
        some = estimates.take(np.array(places, dtype=np.intp))
        if not some.sampled.all():
            return []
        return [
            RuleAlone(
                text=rule_sets.rule_set(place).text,
                n_in=int(some.rows_in[at]),
                rate_in=float(some.rate_in[at]),
                rate_out=float(some.rate_out[at]),
                difference=float(some.difference[at]),
            )
            for at, place in enumerate(places)
        ]

    def feature_rates(self) -> list[FeatureRates]:
        """Return the rates over the terms of each frequent category."""
        return self._term_rates

    def heat_maps(self) -> list[HeatMap]:
        """Return the rates over the pairs of terms of each frequent pair of categories."""
        return pair_rates(self._findings)

    def counterfactual(self, group: int) -> CounterfactualSummary | None:
        """Write what the terms of a group change by themselves, if seeds were compared."""
        found = self._findings.counterfactual
        if found is None or found.seeds[group] == 0:
            return None
        return CounterfactualSummary(
            seeds=int(found.seeds[group]),
            rate_with=float(found.rate_with[group]),
            rate_other=float(found.rate_other[group]),
            difference=float(found.difference[group]),
            interval=(float(found.low[group]), float(found.high[group])),
            independent=float(found.independent[group])
            if self._findings.clusters.repeated
            else None,
        )

    def unknown(self, group: int) -> bool:
        """Return whether the model does not know a term of a group."""
        return bool(self._findings.unknown[group])

    def terms(self) -> TermsSummary | None:
        """Describe the sensitive terms."""
        return describe_terms(self._findings, self._term_rates, snippets=self._snippets)

    @cached_property
    def _term_rates(self) -> list[FeatureRates]:
        return term_rates(self._findings)

    @cached_property
    def _first_of_single(self) -> dict[int, int]:
        """The first group of each category that is alone in its category set."""
        return {
            one.categories[0]: one.first
            for one in self._findings.rule_sets.category_sets
            if len(one.categories) == 1
        }


def term_rates(findings: TextFindings) -> list[FeatureRates]:
    """Return the rates over the terms of each frequent category.

    The terms of one category are put into the same texts, so their number is the same. None if the
    findings hold chosen groups only, as those of a split do.
    """
    if not findings.rule_sets.complete:
        return []
    rates = []
    for category_set in findings.rule_sets.category_sets:
        if len(category_set.categories) != 1:
            continue
        (names,) = _names(findings, category_set)
        rates.append(
            FeatureRates(
                feature=_categories(findings, category_set)[0],
                cells=[
                    CellRate(label=name, n=len(category_set.rows), rate=_known_rate(rate))
                    for name, rate in zip(names, _rates(findings, category_set), strict=True)
                ],
            )
        )
    return rates


def pair_rates(findings: TextFindings) -> list[HeatMap]:
    """Return the rates over the pairs of terms of each frequent pair of categories.

    All pairs of terms of one map are put into the same texts. None if the findings hold chosen
    groups only, as those of a split do.
    """
    if not findings.rule_sets.complete:
        return []
    maps = []
    for category_set in findings.rule_sets.category_sets:
        if len(category_set.categories) != 2:
            continue
        row_names, column_names = _names(findings, category_set)
        row_feature, column_feature = _categories(findings, category_set)
        rates = _rates(findings, category_set).reshape(category_set.shape)
        maps.append(
            HeatMap(
                row_feature=row_feature,
                column_feature=column_feature,
                row_labels=row_names,
                column_labels=column_names,
                rates=[[_known_rate(rate) for rate in line] for line in rates],
                counts=[[len(category_set.rows)] * len(column_names)] * len(row_names),
            )
        )
    return maps


def _names(findings: TextFindings, category_set: CategorySet) -> list[list[str]]:
    categories = findings.mentions.terms.categories
    return [[term.name for term in categories[at].terms] for at in category_set.categories]


def _categories(findings: TextFindings, category_set: CategorySet) -> list[str]:
    return [findings.mentions.terms.categories[at].name for at in category_set.categories]


def _rates(findings: TextFindings, category_set: CategorySet) -> NDArray[np.float64]:
    count = int(np.prod(category_set.shape))
    return findings.estimates.rate_in[category_set.first : category_set.first + count]


def _known_rate(rate: float) -> float | None:
    return None if np.isnan(rate) else rounded(rate)
