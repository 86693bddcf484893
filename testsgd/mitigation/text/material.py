"""Texts, as a mitigation works on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, Estimates, Progress
from testsgd.auditing.parameters import Estimand
from testsgd.auditing.text import TermGroupMeasure, TextFindings, run_text_audit
from testsgd.data import SensitiveTerms, Texts
from testsgd.mitigation.material import DataSplit, Material, Places, RowShares, counter_label
from testsgd.mitigation.parameters import Dosage, MitigationParameters
from testsgd.mitigation.samples import CounterSamples, Kind, Side
from testsgd.mitigation.targets import Target
from testsgd.mitigation.text.samples import sample_texts
from testsgd.models import Examples, LoadedModel, TextModel
from testsgd.rules import RuleSet, TermRule, find_mentions

# The categories of a group, and the term chosen of each.
ChosenTerms = tuple[tuple[int, ...], tuple[int, ...]]

# The step of shifted samples: a sample stands in for the training text of the same words.
_STRENGTH = 1.0

# Of fewer training texts heavier samples are tried too.
_FEW_TEXTS = 5_000


class TextMaterial(Material):
    """Texts with labels, split in three.

    Parameters
    ----------
    texts : Texts
        All texts, those for training only among them.
    terms : SensitiveTerms
        Which terms are sensitive.
    favourable, split, targets, audit_parameters
        As for :class:`Material`.
    """

    def __init__(
        self,
        texts: Texts,
        terms: SensitiveTerms,
        favourable: NDArray[np.bool_],
        split: DataSplit,
        targets: tuple[Target, ...],
        audit_parameters: AuditParameters,
    ) -> None:
        super().__init__(texts.specification, favourable, split, targets, audit_parameters)
        self.texts = texts
        self.terms = terms
        self._mentions = find_mentions(texts.texts, terms)
        self._chosen = [chosen_terms(target.rule_set, terms) for target in targets]

    @property
    def estimand(self) -> Estimand:
        """Which rates the audit speaks of: with the terms put in, unless it ranks by others."""
        by_terms = self.audit_parameters.rank_by in ("auto", "counterfactual")
        return "neighbourhood" if by_terms else self.audit_parameters.estimand

    @property
    def audited(self) -> Places:
        """All texts but those that are for training only."""
        everything = np.arange(len(self.texts))
        only = self.texts.training_only
        return everything if only is None else everything[~only]

    def examples(self, places: Places) -> Examples:
        """Give some texts with their labels."""
        return Examples(self._pick(places), self.favourable[places])

    def decisions(self, model: TextModel, places: Places) -> NDArray[np.bool_]:
        """Say for some texts whether a model gives them the favourable label."""
        return model.decisions(self._pick(places))

    def members(self, target: Target) -> NDArray[np.bool_]:
        """Say for each text whether it has all terms of a group."""
        contains = self._mentions.contains()
        inside = np.ones(len(self.texts), dtype=bool)
        for category, term in zip(*self._chosen[self.targets.index(target)], strict=True):
            inside &= contains[category][:, term]
        return inside

    def seeds(self, target: Target, side: Side) -> Places:
        """Give training texts: those that the terms can be put into, or those that lack one."""
        # Texts for training only are no part of what was audited.
        training = self.trained
        if side == "rest":
            return training[~self.members(target)[training]]
        categories, _ = self._chosen[self.targets.index(target)]
        return training[self._mentions.presence()[training][:, list(categories)].all(axis=1)]

    def sample(
        self,
        model: TextModel,
        place: int,
        side: Side,
        *,
        kind: Kind,
        wanted: int,
        share: float,
        parameters: MitigationParameters,
        generator: np.random.Generator,
    ) -> CounterSamples:
        """Generate counter-labelled texts of one side."""
        target = self.targets[place]
        return sample_texts(
            model,
            self.texts,
            self._mentions,
            self._chosen[place],
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

    def tried(self, kind: Kind, dosages: Sequence[Dosage]) -> Sequence[Dosage]:
        """Give fewer than for rows: where texts are many, a retraining takes minutes."""
        light = [dosage for dosage in dosages if dosage.weight == 1]
        if kind == "counter":
            return light[-1:]
        return dosages if kind == "shifted" and self.training_size < _FEW_TEXTS else light

    def sides(self, target: Target, choice: str) -> tuple[Side, ...]:
        """Give the sides of a target that get samples: the group alone, if it is not said.

        The rest is texts as they are, which the network has learnt already.
        """
        return ("group",) if choice == "auto" else super().sides(target, choice)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The paper's kind, and those that do not run past the goal: many texts take minutes."""
        few = self.training_size < _FEW_TEXTS
        return ("counter", "shifted", "anchored") if few else ("counter", "shifted")

    def measure(self, places: Places, *, max_queries: int) -> Callable[[TextModel], Estimates]:
        """Get ready to measure the targets' rates on some texts, for any model."""
        return self._measure(places, max_queries=max_queries)

    def _measure(self, places: Places, *, max_queries: int) -> TermGroupMeasure:
        texts = self.texts.take(places)
        return TermGroupMeasure(
            texts,
            find_mentions(texts.texts, self.terms),
            self._chosen,
            max_queries=max_queries,
            seed=self.audit_parameters.seed,
            jobs=self.audit_parameters.jobs,
        )

    def row_shares(self, model: TextModel, places: Places, *, max_queries: int) -> RowShares | None:
        """Return the answers about each seed with the terms, and about each text outside."""
        answers = self._measure(places, max_queries=max_queries).answers(model)
        return None if answers is None else list(zip(answers[::2], answers[1::2], strict=True))

    def audit(
        self, model: LoadedModel[TextModel], places: Places, *, progress: Progress | None = None
    ) -> TextFindings:
        """Audit a model on some texts."""
        return run_text_audit(
            model,
            self.texts.take(places),
            self.terms,
            self.parameters_for(places),
            progress=progress,
        )

    def _pick(self, places: Places) -> tuple[str, ...]:
        return tuple(self.texts.texts[place] for place in places.tolist())


def chosen_terms(rule_set: RuleSet, terms: SensitiveTerms) -> ChosenTerms:
    """Find the terms of a group in the list they are from: the categories, a term of each."""
    names = [category.name for category in terms.categories]
    found = []
    for rule in rule_set.rules:
        if not isinstance(rule, TermRule):
            raise TypeError(f"{rule.text} is no rule about a term")
        category = names.index(rule.category)
        known = [term.name for term in terms.categories[category].terms]
        found.append((category, known.index(rule.term)))
    found.sort()
    return tuple(category for category, _ in found), tuple(term for _, term in found)
