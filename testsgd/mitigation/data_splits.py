"""The data of a mitigation: rows or texts, split in three, and what can be done with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, Estimates, Findings
from testsgd.auditing.estimates import counted_estimates
from testsgd.auditing.parameters import Estimand
from testsgd.data import Specification
from testsgd.data.text import TermCategory
from testsgd.errors import DataError
from testsgd.mitigation.control_effects import ControlMeasure
from testsgd.mitigation.parameters import (
    LEAST_HELD_OUT,
    Dosage,
    Kind,
    MitigationParameters,
    Side,
    SideChoice,
)
from testsgd.mitigation.sample_selection import draw_samples
from testsgd.mitigation.samples import CounterSamples, Source
from testsgd.mitigation.side_effects import GroupSums
from testsgd.mitigation.targets import ControlTarget, Target
from testsgd.models import Examples, LoadedModel, Split
from testsgd.progress import Progress
from testsgd.rules import RuleSet

Places = NDArray[np.intp]

# Asks a model, and returns the favourable rates inside and outside of each target's group.
RateMeasure = Callable[[Any], Estimates]

# For each target each row's share of favourable answers: of the rows inside, and of those outside.
RowShares = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]

# A side with a smaller share of the training rows or texts gets all the samples.
SMALL_SIDE = 0.1

# Rows or texts to ask a candidate about, at most, before its score is measured on draws.
CANDIDATE_QUERIES = 200_000

# With fewer training rows on a side only the first kind of samples is tried.
FEW_SEEDS = 100


@dataclass(frozen=True)
class DataSplit:
    """The parts for training, validation and testing, and how the split was found."""

    parts: Split
    # How the split was found, in words.
    source: str
    # What is doubtful about it; empty if nothing is.
    warning: str = ""
    # Whether the original model is known to have learnt from no other rows than the training's.
    known: bool = True
    # Whether the targets were found without the held-out rows.
    unseen: bool = True
    # Rows or texts in no part, because they would have been held out but repeat others.
    repeats: int = 0
    # What it was drawn with; None if it was not drawn by a seed.
    seed: int | None = None


def comparison_parameters(parameters: AuditParameters) -> AuditParameters:
    """Return an audit's parameters without what a mitigation does not report.

    That is the guarantee for the whole search, stability, conditional scores and the gate. The
    groups, their rates and their ranks are the same.
    """
    return replace(
        parameters,
        guarantee="per-group",
        stability=0,
        condition_on=(),
        fail_above=None,
        fail_below_ratio=None,
    )


def finding_parameters(parameters: AuditParameters) -> AuditParameters:
    """Return the parameters of the audit that names the groups, from those of an audit.

    Where groups are ranked by intervals for the whole search, its guarantee stays.
    """
    if parameters.ranked_by in ("score", "counterfactual"):
        return comparison_parameters(parameters)
    return replace(parameters, stability=0, condition_on=(), fail_above=None, fail_below_ratio=None)


class Material(ABC):
    """The data of a mitigation: rows or texts with labels, split in three, and the targets.

    `favourable` says which have the favourable label, `split` which are trained on, which choose
    among candidates, and which are held out. Audits are made as :func:`comparison_parameters` has
    it from `audit_parameters`.
    """

    # The categories of sensitive terms that texts are audited for.
    term_categories: tuple[TermCategory, ...] = ()
    # The control effects of texts that are to be countered, too.
    controls: tuple[ControlTarget, ...] = ()
    # Whether the first of them is larger than what any terms change against one another.
    controls_lead = False
    # How much each row or text counts in the accuracy; None: all the same.
    weights: NDArray[np.float64] | None = None
    # How many times the step of shifted samples is made.
    strength: float

    def __init__(
        self,
        specification: Specification,
        favourable: NDArray[np.bool_],
        split: DataSplit,
        targets: tuple[Target, ...],
        audit_parameters: AuditParameters,
    ) -> None:
        self.specification = specification
        self.favourable = favourable
        self.split = split
        self.targets = targets
        self.audit_parameters = comparison_parameters(audit_parameters)
        self._inside: dict[RuleSet, NDArray[np.bool_]] = {}

    def with_targets(self, targets: tuple[Target, ...]) -> Self:
        """Return the same with the groups whose discrimination is to be countered."""
        material = copy(self)
        material.targets = targets
        return material

    def with_control_targets(self, model: LoadedModel[Any], findings: Findings) -> Self:
        """Return the same with the control effects that are to be countered; rows have none."""
        return self

    def control_measure(
        self, indices: Places, *, max_queries: int, targets_only: bool = False
    ) -> ControlMeasure | None:
        """Return a function from a model to its control effects; None for data that have none."""
        return None

    def control_source(self, target: ControlTarget, side: Side) -> Source:
        """Return the source of the samples of one side of a control effect."""
        raise TypeError("rows have no control effects")

    @property
    def all_targets(self) -> list[Target | ControlTarget]:
        """What samples are for: the groups, and behind them the control effects."""
        return [*self.targets, *self.controls]

    @property
    @abstractmethod
    def audited(self) -> Places:
        """The places that audits look at: all but those that are for training only."""

    @property
    def seen(self) -> Places:
        """The audited places that are not held out: what candidates' scores are measured on."""
        return np.setdiff1d(self.audited, self.split.parts.test)

    @property
    def trained(self) -> Places:
        """The audited places that models are trained on, ascending.

        What is for training only has been learnt already: made-up texts by the thousand would take
        most of the time and teach nothing new.
        """
        return np.intersect1d(self.split.parts.train, self.audited)

    @property
    def training_size(self) -> int:
        """How many of the audited rows or texts are trained on."""
        return len(self.trained)

    @property
    def validation(self) -> Places:
        """The audited places that candidates' accuracy is judged on."""
        return np.intersect1d(self.split.parts.validation, self.audited)

    @abstractmethod
    def examples(self, indices: Places) -> Examples:
        """Return some rows or texts with their labels."""

    @abstractmethod
    def decisions(self, model: Any, indices: Places) -> NDArray[np.bool_]:
        """Return a mask of the places that a model gives the favourable label, shape (indices,)."""

    @abstractmethod
    def _matches(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        """Return a mask of the rows or texts in a group, shape (n,)."""

    def members(self, target: Target) -> NDArray[np.bool_]:
        """Return a mask of the rows or texts in a target's group, shape (n,)."""
        return self._members(target.rule_set)

    def _members(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        inside = self._inside.get(rule_set)
        if inside is None:
            inside = self._matches(rule_set)
            # Kept for the targets only: until they are chosen there may be thousands of groups.
            if any(target.rule_set == rule_set for target in self.targets):
                self._inside[rule_set] = inside
        return inside

    def eligible(self, rule_set: RuleSet, side: Side) -> NDArray[np.bool_]:
        """Return a mask of those that samples of one side of a group can be made of, shape (n,)."""
        return self._members(rule_set) if side == "group" else self._complement(rule_set)

    def complement(self, target: Target) -> NDArray[np.bool_]:
        """Return a mask of the rows or texts in the complement of a target's group, shape (n,)."""
        return self._complement(target.rule_set)

    def _complement(self, rule_set: RuleSet) -> NDArray[np.bool_]:
        return ~self._members(rule_set)

    def seeds(self, target: Target, side: Side) -> Places:
        """Return the training rows or texts from which samples of one side are made."""
        training = self.trained
        return training[self.eligible(target.rule_set, side)[training]]

    def enough_held_out(self, rule_set: RuleSet) -> bool:
        """Return whether both sides of a group have enough held-out rows or texts for a verdict."""
        test = self.split.parts.test
        counts = [self.eligible(rule_set, side)[test].sum() for side in get_args(Side)]
        return bool(min(counts) >= LEAST_HELD_OUT)

    @abstractmethod
    def source(self, index: int, side: Side) -> Source:
        """Return the source of the samples of one side of a target, given by its index."""

    def sample(
        self,
        model: Any,
        index: int,
        side: Side,
        *,
        kind: Kind,
        wanted: int,
        share: float,
        parameters: MitigationParameters,
        generator: np.random.Generator,
    ) -> CounterSamples:
        """Return samples of a kind of one side of a target, given by its index."""
        return draw_samples(
            self.source(index, side),
            model,
            side=side,
            target=index,
            kind=kind,
            favourable=counter_label(self.targets[index], side),
            wanted=wanted,
            max_draws=parameters.max_draws,
            fallback=parameters.fallback,
            generator=generator,
            share=share,
            strength=self.strength,
        )

    def pools(
        self,
        model: Any,
        parameters: MitigationParameters,
        *,
        kind: Kind,
        gaps: Sequence[float],
        run: int,
        wanted: int,
    ) -> tuple[CounterSamples, ...]:
        """Return samples of a kind, `wanted` of each side of each target that gets some.

        `gaps` are the targets' scores, which shifted samples are to close; each run, from 1, draws
        others. Raises a :class:`DataError` if there is nothing to make samples from.
        """
        pools = []
        for index, target in enumerate(self.targets):
            sides = self.sides(target, parameters.side)
            sizes = {side: len(self.seeds(target, side)) for side in get_args(Side)}
            for side in sides:
                # Both sides move to the rate of all together, one side moves all the way.
                others = sum(sizes.values()) - sizes[side]
                share = others / sum(sizes.values()) if len(sides) > 1 else 1.0
                state = [parameters.seed, run, index, get_args(Side).index(side)]
                pool = self.sample(
                    model,
                    index,
                    side,
                    kind=kind,
                    wanted=wanted,
                    share=share * gaps[index],
                    parameters=parameters,
                    generator=np.random.default_rng(state),
                )
                pools.append(pool)
            if not any(len(pool) for pool in pools if pool.target == index):
                report = pools[-1].report
                raise DataError(
                    "there are no samples that counter the discrimination of "
                    f"{target.rule_set.text}: {report.seeds} of the training data to draw from, "
                    f"{report.counter_labelled} counter-labelled samples",
                    where=f"group {target.rank}",
                    remedy="allow relabelling with --fallback nearest, or choose another group",
                )
        return tuple(pools)

    def control_pools(
        self,
        model: Any,
        parameters: MitigationParameters,
        *,
        kind: Kind,
        gaps: Sequence[float],
        run: int,
        wanted: int,
    ) -> tuple[CounterSamples, ...]:
        """Return samples that counter control effects; none for rows.

        `gaps` has the scores of the groups, and behind them those of the control effects. On the
        side of the group are variants with the terms, on the other side those with the controls.
        The default is the side of the group alone, as for groups of texts.
        """
        pools: list[CounterSamples] = []
        choice = parameters.side
        sides: tuple[Side, ...] = get_args(Side) if choice == "both" else ("group",)
        sides = ("rest",) if choice == "rest" else sides
        for index, target in enumerate(self.controls, start=len(self.targets)):
            if not target.sampled:
                continue
            for side in sides:
                source = self.control_source(target, side)
                state = [parameters.seed, run, index, get_args(Side).index(side)]
                pool = draw_samples(
                    source,
                    model,
                    side=side,
                    target=index,
                    kind=kind,
                    favourable=target.counter_label(side),
                    wanted=wanted,
                    max_draws=parameters.max_draws,
                    fallback=parameters.fallback,
                    generator=np.random.default_rng(state),
                    share=gaps[index] / len(sides),
                    strength=self.strength,
                )
                pools += [pool] if len(pool) else []
        return tuple(pools)

    @abstractmethod
    def measure(self, indices: Places, *, max_queries: int) -> RateMeasure:
        """Return a function from a model to the targets' neighbourhood rates, at the given places.

        Of rows these are rates over their neighbours, of texts over variants with terms put in.
        `max_queries` bounds what a model is asked; beyond that, draws are asked about.
        """

    def audit(
        self,
        model: LoadedModel[Any],
        indices: Places,
        *,
        parameters: AuditParameters | None = None,
        progress: Progress | None = None,
    ) -> Findings:
        """Audit a model on some rows or texts.

        Without `parameters` it is an audit for a comparison. Then on a part of the data `min_rows`,
        where it applies, is at most :data:`LEAST_HELD_OUT`.
        """
        chosen = parameters or self.audit_parameters
        is_part = parameters is None and len(indices) < len(self.audited)
        if is_part and (chosen.theta is None or chosen.min_rows):
            least = min(chosen.min_rows or LEAST_HELD_OUT, LEAST_HELD_OUT)
            chosen = replace(chosen, min_rows=least)
        return self._audit(model, indices, chosen, progress)

    @abstractmethod
    def _audit(
        self,
        model: LoadedModel[Any],
        indices: Places,
        parameters: AuditParameters,
        progress: Progress | None,
    ) -> Findings: ...

    @abstractmethod
    def group_sums(self, findings: Findings, indices: Places) -> GroupSums:
        """Return a function that sums numbers over each group of an audit and its complement."""

    @property
    def estimand(self) -> Estimand:
        """Which rates the audit speaks of."""
        return self.audit_parameters.estimand

    def rates(self, indices: Places, *, max_queries: int) -> RateMeasure:
        """Return a function from a model to the targets' rates of the audit's :attr:`estimand`.

        These are :meth:`observed` rates, or else those of :meth:`measure`.
        """
        if self.estimand == "observed":
            return self.observed(indices)
        return self.measure(indices, max_queries=max_queries)

    def observed(self, indices: Places) -> RateMeasure:
        """Return a function from a model to the targets' rates on the rows or texts as they are."""
        # Masks of shape (targets, places).
        inside = np.array([self.members(target)[indices] for target in self.targets])
        outside = np.array([self.complement(target)[indices] for target in self.targets])

        def measure_observed(model: Any) -> Estimates:
            decisions = self.decisions(model, indices)
            counts = [
                inside.sum(axis=1),
                outside.sum(axis=1),
                (inside & decisions).sum(axis=1),
                (outside & decisions).sum(axis=1),
            ]
            return counted_estimates(np.array(counts, dtype=np.int64))

        return measure_observed

    @abstractmethod
    def row_shares(self, model: Any, indices: Places, *, max_queries: int) -> RowShares | None:
        """Return each row's share of favourable answers, whose means :meth:`measure` gives.

        None if not all variants are asked about, but draws of them.
        """

    def accuracy(self, model: Any, indices: Places) -> float:
        """Return the share of some rows or texts that a model labels as the data do."""
        right = self.decisions(model, indices) == self.favourable[indices]
        weights = None if self.weights is None else self.weights[indices]
        return float(np.average(right, weights=weights))

    def sides(self, target: Target, choice: SideChoice) -> tuple[Side, ...]:
        """Return the sides of a target that get samples."""
        if choice == "group" or choice == "rest":
            return (choice,)
        if choice == "both":
            return get_args(Side)
        # Where one side is small, few decisions must change there, which costs the least accuracy.
        inside = len(self.seeds(target, "group"))
        outside = len(self.seeds(target, "rest"))
        if outside == 0 or (inside and inside < SMALL_SIDE * (inside + outside)):
            return ("group",)
        if inside == 0 or outside < SMALL_SIDE * (inside + outside):
            return ("rest",)
        return get_args(Side)

    def tried(self, kind: Kind, dosages: Sequence[Dosage]) -> Sequence[Dosage]:
        """Return those dosages of a kind that are worth a retraining, of all that are given."""
        # Samples that the model labels so already move it little, however heavy they are.
        return [dosage for dosage in dosages if kind != "counter" or dosage.weight == 1]

    @property
    @abstractmethod
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of samples to try one after the other, if the user names none."""

    def wanted_kinds(self, parameters: MitigationParameters) -> tuple[Kind, ...]:
        """Return the kinds of samples to try, in order."""
        if parameters.samples != "auto":
            return (parameters.samples,)
        seeds = min(
            len(self.seeds(target, side))
            for target in self.targets
            for side in self.sides(target, parameters.side)
        )
        # The other kinds move many members a little; of a few, they would be memorised.
        return self.kinds if seeds >= FEW_SEEDS else self.kinds[:1]

    def wanted_dosages(self, parameters: MitigationParameters, kind: Kind) -> Sequence[Dosage]:
        """Return the numbers and weights of samples to try of a kind."""
        dosages = parameters.dosages(self.training_size)
        # If only one kind is tried, it is tried in full.
        alone = len(self.wanted_kinds(parameters)) == 1
        return dosages if alone else self.tried(kind, dosages)

    def soft_targets(self, indices: Places) -> NDArray[np.float64] | None:
        """Return softened labels of training examples; None where a refitter has its own."""
        probabilities = self.probabilities()
        return None if probabilities is None else probabilities[indices]

    def probabilities(self) -> NDArray[np.float64] | None:
        """Return each row's probability of the favourable label, NaN where it is held out.

        None where no better is known than the labels.
        """
        return None


def counter_label(target: Target, side: Side) -> bool:
    """Return the label of samples that counter a target's discrimination; True: the favourable."""
    return (target.direction == "less") == (side == "group")
