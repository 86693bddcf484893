"""What is summed up of texts: their sensitive terms, and each term by itself."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from testsgd.auditing.text import TextFindings
from testsgd.data.text import texts_fingerprint
from testsgd.report.formatting import count
from testsgd.reporting.subject import Subject
from testsgd.reporting.summary import (
    CounterfactualSummary,
    DataSummary,
    FeatureRates,
    FeatureSummary,
    HeatMap,
    LabelSummary,
    RuleAlone,
    TermsSummary,
)
from testsgd.reporting.text.charts import pair_rates, term_rates
from testsgd.reporting.text.terms import describe_terms
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.words import Words


class TextSubject(Subject):
    """Findings about texts.

    Parameters
    ----------
    findings : TextFindings
        What the audit found.
    snippets : int
        Places of the texts to show of each term, at most.
    """

    words: ClassVar[Words] = words_for("texts")
    packages: ClassVar[tuple[str, ...]] = ("nltk", "mlxtend")

    def __init__(self, findings: TextFindings, *, snippets: int) -> None:
        self._findings = findings
        self._snippets = snippets

    def data(self) -> DataSummary:
        """Describe the texts; their features are the categories of terms."""
        texts = self._findings.texts
        specification = texts.specification
        identity, label = specification.dataset, specification.label
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
        return DataSummary(
            kind="texts",
            name=identity.name,
            title=identity.title or identity.name,
            description=identity.description,
            licence=identity.licence,
            citation=identity.citation,
            source=texts.source,
            fingerprint=texts_fingerprint(texts),
            rows=len(texts),
            independent=len(clusters) if clusters.repeated else None,
            label=LabelSummary(
                column=label.column, favourable=label.favourable, meaning=label.meaning
            ),
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
        """Give the rates over the terms of each frequent category."""
        return self._term_rates

    def heat_maps(self) -> list[HeatMap]:
        """Give the rates over the pairs of terms of each frequent pair of categories."""
        return pair_rates(self._findings)

    def counterfactual(self, group: int) -> CounterfactualSummary | None:
        """Say what the terms of a group change by themselves, if seeds were compared."""
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
