"""Texts, as a mitigation works on them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, Findings
from testsgd.auditing.parameters import Estimand
from testsgd.auditing.text import (
    TermGroupMeasure,
    TextFindings,
    run_text_audit,
    text_clusters,
)
from testsgd.auditing.text.controls import ControlPlan, plan_controls
from testsgd.data import SensitiveTerms, Texts
from testsgd.mitigation.control_effects import (
    ControlMeasure,
    ControlVariants,
    choose_control_targets,
)
from testsgd.mitigation.data_splits import CANDIDATE_QUERIES, Material, Places, RowShares
from testsgd.mitigation.parameters import Dosage, Kind, Side, SideChoice
from testsgd.mitigation.samples import Source
from testsgd.mitigation.side_effects import Counts, GroupSums
from testsgd.mitigation.targets import ControlTarget, Target
from testsgd.models import Examples, LoadedModel, TextModel
from testsgd.progress import Progress
from testsgd.rules import Mentions, RuleSet, TermRule, find_mentions
from testsgd.sampling import Replacer

# The categories of a group, and the term chosen of each.
ChosenTerms = tuple[tuple[int, ...], tuple[int, ...]]

# Of fewer training texts heavier samples are tried too.
_FEW_TEXTS = 5_000


class TextMaterial(Material):
    """Texts with labels, split in three; those that are for training only are among them."""

    # A shifted sample stands in for the training text of the same words.
    strength = 1.0

    def __init__(self, texts: Texts, mentions: Mentions, *arguments: Any) -> None:
        super().__init__(texts.specification, *arguments)
        self.texts = texts
        self.terms = mentions.terms
        self.term_categories = mentions.terms.categories
        self._mentions = mentions
        self._plan: tuple[ControlPlan, ...] = ()
        # One text of each unit, of equal and nearly equal ones.
        self._first_of_unit: Places = np.zeros(0, dtype=np.intp)

    def with_control_targets(self, model: LoadedModel[TextModel], findings: Findings) -> Self:
        """Return the same with the control effects that are significant on the seen texts."""
        material, settings = copy(self), self.audit_parameters
        unknown = findings.unknown_terms if isinstance(findings, TextFindings) else None
        plan = plan_controls(self.texts, self._mentions, unknown, settings.seed)
        units = text_clusters(self.texts, self._mentions).of_row
        material._plan = tuple(plan)
        material._first_of_unit = np.unique(units, return_index=True)[1].astype(np.intp)
        measure = material.control_measure(material.seen, max_queries=CANDIDATE_QUERIES)
        answers = [] if measure is None else measure(model.model)
        material.controls = choose_control_targets(answers, self.terms, settings.confidence)
        if isinstance(findings, TextFindings) and findings.counterfactual is not None:
            sizes = np.abs(findings.counterfactual.difference[findings.judged])
            largest = float(np.nanmax(sizes, initial=0.0))
            bounds = [target.lower_bound for target in material.controls[:1]]
            material.controls_lead = max(bounds, default=0.0) > largest
        return material

    def control_measure(
        self, indices: Places, *, max_queries: int, targets_only: bool = False
    ) -> ControlMeasure | None:
        """Return a function from a model to its control effects on some texts, equal ones once."""
        if not self._plan or (targets_only and not self.controls):
            return None
        return ControlMeasure(
            self.texts,
            self._mentions,
            self._plan,
            np.intersect1d(indices, self._first_of_unit),
            max_queries=max_queries,
            subjects={target.subject for target in self.controls} if targets_only else None,
        )

    def control_source(self, target: ControlTarget, side: Side) -> ControlVariants:
        """Return training texts with the terms of a control effect, or with the controls."""
        [plan] = [item for item in self._plan if item.category == target.category]
        training, has = self.trained, self._mentions.replaceable()[:, target.category]
        places: Sequence[int] = plan.known if target.term is None else (target.term,)
        if side == "rest":
            places = range(plan.terms, plan.terms + len(plan.controls))
        return ControlVariants(self.texts, self._mentions, plan, places, training[has[training]])

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

    def examples(self, indices: Places) -> Examples:
        """Return some texts with their labels."""
        return Examples(self._pick(indices), self.favourable[indices])

    def decisions(self, model: TextModel, indices: Places) -> NDArray[np.bool_]:
        """Return for some texts whether a model gives them the favourable label."""
        return model.decisions(self._pick(indices))

    def _matches(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        """Return for each text whether it has all terms of a group."""
        contains = self._mentions.contains()
        inside = np.ones(len(self.texts), dtype=bool)
        for category, term in zip(*chosen_terms(rule_set, self.terms), strict=True):
            inside &= contains[category][:, term]
        return inside

    def eligible(self, rule_set: RuleSet, side: Side) -> NDArray[np.bool_]:
        """Return which texts the terms of a group can be put into, or which lack one."""
        if side == "rest":
            return super().eligible(rule_set, side)
        categories, _ = chosen_terms(rule_set, self.terms)
        return np.asarray(self._mentions.replaceable()[:, list(categories)].all(axis=1))

    def source(self, index: int, side: Side) -> Variants:
        """Return one side's training texts with the group's terms, or as they are."""
        target = self.targets[index]
        seeds = self.seeds(target, side)
        group = chosen_terms(target.rule_set, self.terms) if side == "group" else ((), ())
        return Variants(self.texts, self._mentions, group, seeds)

    def tried(self, kind: Kind, dosages: Sequence[Dosage]) -> Sequence[Dosage]:
        """Return fewer than for rows: where texts are many, a retraining takes minutes."""
        light = [dosage for dosage in dosages if dosage.weight == 1]
        if kind == "counter":
            return light[-1:]
        return dosages if kind == "shifted" and self.training_size < _FEW_TEXTS else light

    def sides(self, target: Target, choice: SideChoice) -> tuple[Side, ...]:
        """Return the sides of a target that get samples; by default the group alone.

        The rest is texts as they are, which the network has learnt already.
        """
        return ("group",) if choice == "auto" else super().sides(target, choice)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The paper's kind, and those that do not run past the goal: many texts take minutes."""
        few = self.training_size < _FEW_TEXTS
        return ("counter", "shifted", "anchored") if few else ("counter", "shifted")

    def measure(self, indices: Places, *, max_queries: int) -> TermGroupMeasure:
        """Return a function from a model to the targets' rates on some texts, with terms put in."""
        texts = self.texts.take(indices)
        return TermGroupMeasure(
            texts,
            find_mentions(texts.texts, self.terms),
            [chosen_terms(target.rule_set, self.terms) for target in self.targets],
            max_queries=max_queries,
            seed=self.audit_parameters.seed,
            jobs=self.audit_parameters.jobs,
        )

    def row_shares(
        self, model: TextModel, indices: Places, *, max_queries: int
    ) -> RowShares | None:
        """Return the answers about each seed with the terms, and about each text outside."""
        answers = self.measure(indices, max_queries=max_queries).answers(model)
        return None if answers is None else list(zip(answers[::2], answers[1::2], strict=True))

    def group_sums(self, findings: Findings, indices: Places) -> GroupSums:
        """Return a function that sums over each group, the texts that have all of its terms."""
        # Single precision adds whole numbers exactly up to 16 million, more texts than are held.
        inside = np.zeros((len(indices), len(findings.rule_sets)), dtype=np.float32)
        for group in range(len(findings.rule_sets)):
            inside[:, group] = self._members(findings.rule_set(group))[indices]

        def sums(quantities: Counts) -> tuple[Counts, Counts]:
            found = np.rint(quantities.astype(np.float32) @ inside).astype(np.int64)
            together = quantities.sum(axis=1, keepdims=True)
            return found, np.broadcast_to(together, found.shape)

        return sums

    def _audit(
        self,
        model: LoadedModel[TextModel],
        indices: Places,
        parameters: AuditParameters,
        progress: Progress | None,
    ) -> TextFindings:
        texts = self.texts.take(indices)
        return run_text_audit(model, texts, self.terms, parameters, progress=progress)

    def _pick(self, indices: Places) -> tuple[str, ...]:
        return tuple(self.texts.texts[index] for index in indices.tolist())


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


class Variants(Source):
    """Texts with some terms in place of others, a number a seed.

    A sample of the group is a text rewritten with the group's terms; one of the rest is a text as
    it is, and its group is empty. Of samples that read the same, one counts.
    """

    def __init__(
        self, texts: Texts, mentions: Mentions, group: ChosenTerms, seeds: NDArray[np.intp]
    ) -> None:
        super().__init__(seeds)
        self._mentions = mentions
        self._replacer = Replacer(texts.texts, mentions)
        self._categories, self._chosen = group
        self._made: set[str] = set()

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Write texts, those left out that some call has written before."""
        left, written = [], []
        for number, text in zip(numbers.tolist(), self.make(numbers), strict=True):
            if text not in self._made:
                self._made.add(text)
                left.append(number)
                written.append(text)
        return np.array(left, dtype=np.int64), tuple(written)

    def make(self, numbers: NDArray[np.int64]) -> tuple[str, ...]:
        """Write texts again."""
        return tuple(
            self._replacer.variant(row, self._categories, self._chosen)
            for row in self._rows[numbers].tolist()
        )

    def described(
        self, numbers: NDArray[np.int64]
    ) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.object_]]:
        """Write texts again, with those they are made from and which terms became which."""
        rows = self._rows[numbers]
        changes = [self._change(row) for row in rows.tolist()]
        return self.make(numbers), rows, np.array([*changes, None], dtype=object)[:-1]

    def _change(self, row: int) -> str:
        mentions, categories = self._mentions, self._mentions.terms.categories
        wanted = dict(zip(self._categories, self._chosen, strict=True))
        here = slice(mentions.offsets[row], mentions.offsets[row + 1])
        found: dict[str, None] = {}
        for category, term in zip(
            mentions.category[here].tolist(), mentions.term[here].tolist(), strict=True
        ):
            new = wanted.get(category, term)
            if new != term:
                terms = categories[category].terms
                found[f'"{terms[term].name}" to "{terms[new].name}"'] = None
        return ", ".join(found)
