"""What an audit of texts found, before anything is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.auditing.findings import Findings
from testsgd.data.text import Texts
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import Generated, Mentions, TermRuleSets
from testsgd.scoring import Clusters, Overlaps, lower_confidence_bound

# Words that mean nothing in any language that we know; the first that no text has is taken.
NONSENSE = ("florp", "blicket", "dax", "wug", "zorbic", "mimsical")

# A control effect in at least this number of texts is large or small whatever its interval.
_ENOUGH_TEXTS = 50


class SeedOverlaps:
    """Measures how much groups of texts tell the same story.

    Variants with different terms are never the same text. So two groups that share a term and
    differ in the same direction overlap by Jaccard's index of their seeds; others do not overlap.
    """

    def __init__(self, rule_sets: TermRuleSets, texts: int) -> None:
        self._rule_sets, sets = rule_sets, rule_sets.category_sets
        self._bounds = np.cumsum((0, *rule_sets.terms.sizes))
        self._firsts = np.array([item.first for item in sets], dtype=np.intp)
        inside = np.zeros((len(sets), texts))
        for index, item in enumerate(sets):
            inside[index, item.rows] = 1
        both = inside @ inside.T
        sizes = inside.sum(axis=1)
        # 0 where neither of two sets has seeds.
        self._shares: Floats = both / np.maximum(sizes[:, None] + sizes - both, 1)

    def between(self, difference: Floats, others: Floats | None = None) -> Overlaps:
        """Return the overlaps of groups with these differences (groups,) and those with others."""
        second = difference if others is None else others

        def overlaps(groups: NDArray[np.intp], compared: NDArray[np.intp]) -> Floats:
            sets, terms = self._features(groups)
            other_sets, other_terms = self._features(compared)
            alike = np.sign(difference[groups])[:, None] == np.sign(second[compared])
            shared = terms @ other_terms.T > 0
            both: Floats = np.where(shared & alike, self._shares[np.ix_(sets, other_sets)], 0.0)
            return both

        return overlaps

    def _features(self, groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
        """Return each group's category set and its terms as a 0/1 matrix."""
        indices = self._rule_sets.places(groups)
        sets = np.searchsorted(self._firsts, indices, side="right") - 1
        terms = np.zeros((len(groups), int(self._bounds[-1])))
        for number in np.unique(sets):
            item = self._rule_sets.category_sets[number]
            chosen = np.flatnonzero(sets == number)
            of_each = np.unravel_index(indices[chosen] - item.first, item.shape)
            for category, term in zip(item.categories, of_each, strict=True):
                terms[chosen, self._bounds[category] + term] = 1
        return sets, terms


@dataclass(frozen=True)
class Counterfactual:
    """What a rule set's terms change: the same seeds with its terms and others; (groups,)."""

    seeds: Counts  # Different seed texts that were compared; 0 where a category has no other term.
    rate_with: Floats  # Rate of the favourable label over the seeds with the rule set's terms.
    # Mean rate over the same seeds with other terms of the same categories, every category changed.
    rate_other: Floats
    # Ends of the paired interval for the difference in the population of the seeds. With a
    # simultaneous guarantee all of them hold at once, by Bonferroni's inequality; with any other
    # each holds with the confidence that was asked for.
    low: Floats
    high: Floats
    # How many independent seeds those that were compared are worth, of whom there may be copies.
    independent: Floats

    @property
    def difference(self) -> Floats:
        """Mean paired difference: rate with the rule set's terms minus rate with others."""
        return self.rate_with - self.rate_other

    def take(self, groups: NDArray[np.intp]) -> Counterfactual:
        """Return the comparisons of some of the groups.

        Parameters
        ----------
        groups : numpy.ndarray of int, shape (k,)
            The places of the groups.

        Returns
        -------
        Counterfactual
            With arrays of the shape (k,), in the order of `groups`.
        """
        return Counterfactual(*(values[groups] for values in self.__dict__.values()))


@dataclass(frozen=True)
class Control:
    """What a model makes of a nonsense word."""

    word: str  # The word
    # For each frequent category the rate over its seeds with the word in place of its terms
    rates: Mapping[int, float]
    # With which terms of it every seed is answered as with the word, shape (terms,)
    same: Mapping[int, NDArray[np.bool_]]
    # With which terms of it a seed is answered otherwise, whose article is the same, shape (terms,)
    unlike: Mapping[int, NDArray[np.bool_]]


@dataclass(frozen=True)
class ControlEffect:
    """What a term, or any term of a category, changes: the same texts with it and neutral words."""

    category: int  # The place of the category
    # The place of the term, which is put in for all of its category; None: the texts as they are
    term: int | None
    texts: int  # Different texts that were compared
    rate_with: float  # Rate of the favourable label over them with the term
    # Of each control: what stands in place of the term, empty if nothing does; the rate over the
    # same texts; and the ends of the paired interval of `rate_with` less that rate
    controls: tuple[str, ...]
    rates: Floats
    low: Floats
    high: Floats

    @property
    def differences(self) -> Floats:
        """The effect against each control: rate with the term minus rate with the control."""
        return self.rate_with - self.rates

    @property
    def difference(self) -> float:
        """The effect nearest to zero: what one control alone does is no effect of the term."""
        return float(self.differences[np.argmin(np.abs(self.differences))])

    @property
    def interval(self) -> tuple[float, float]:
        """All that the interval of any control allows, so zero unless all leave it out."""
        return float(self.low.min()), float(self.high.max())

    @property
    def lower_bound(self) -> float:
        """The smallest size of the effect within the interval."""
        low, high = self.low.min(keepdims=True), self.high.max(keepdims=True)
        return float(lower_confidence_bound(low, high)[0])

    @property
    def reach(self) -> tuple[float, float]:
        """The largest size that the intervals allow, and half the width of the one that says so.

        An effect is one by all controls, so the control that allows least is the one that tells.
        """
        allowed = np.maximum(np.abs(self.low), np.abs(self.high))
        least = np.argmin(allowed)
        return float(allowed[least]), float(self.high[least] - self.low[least]) / 2

    @property
    def contested_bound(self) -> float:
        """The lower bound that two controls reach, of those the model is likely to know; 0 if none.

        What one control shows alone is its own effect: that a word is missing, or what a neutral
        word means. A nonsense word is unlike all other words to many models, and never counts.
        """
        known = np.array([control not in NONSENSE for control in self.controls])
        bounds = np.sort(lower_confidence_bound(self.low, self.high)[known])
        return float(bounds[-2:].min(initial=1.0)) if len(bounds) else 0.0


@dataclass(frozen=True)
class ControlEffects:
    """The control effects of all categories and terms that could be asked about."""

    effects: tuple[ControlEffect, ...]
    confidence: float  # Of each interval: by Bonferroni's inequality if all are to hold at once

    def judged(self, fewest: int) -> list[ControlEffect]:
        """Return the effects that are known well or significant.

        One is known well from as many texts as a group needs, or from 50.
        """
        return [
            effect
            for effect in self.effects
            if effect.texts >= min(fewest, _ENOUGH_TEXTS) or effect.lower_bound > 0
        ]

    @property
    def largest_bound(self) -> float:
        """The largest lower confidence bound; 0 if none."""
        return max((effect.lower_bound for effect in self.effects), default=0.0)

    @property
    def contested_bound(self) -> float:
        """The largest lower confidence bound that two controls of one effect reach; 0 if none."""
        return max((effect.contested_bound for effect in self.effects), default=0.0)


@dataclass(frozen=True, kw_only=True)
class TextFindings(Findings):
    """The groups of texts that an audit compared, with the texts and the paired comparisons."""

    kind = "texts"

    model: LoadedModel[TextModel]
    rule_sets: TermRuleSets
    texts: Texts  # The texts that were audited.
    mentions: Mentions  # The sensitive terms in them.
    clusters: Clusters  # Texts that are one unit: equal, nearly equal, or known variants of one.
    # What of all texts was generated from templates; None if that was not looked at.
    generated: Generated | None
    # The paired comparison; None with independent sampling, which compares nothing in pairs.
    counterfactual: Counterfactual | None
    # Groups with a term that the model does not know, and takes for any unknown word: they come
    # last, and neither the headline nor the gate goes by them; shape (groups,).
    unknown: NDArray[np.bool_]
    # Of each category which terms the model does not know, shape (terms,); None if it cannot say.
    unknown_terms: tuple[NDArray[np.bool_], ...] | None
    # The answers with a nonsense word in place of terms; None if samples were drawn, or the queries
    # did not suffice.
    control: Control | None
    # What terms change against neutral words; None if the queries did not suffice.
    control_effects: ControlEffects | None
    # Original texts that the model was asked about, draws that repeat one counted each time, and
    # how many got the favourable label; 0 with independent sampling.
    asked: int
    favourable: int

    @property
    def rows(self) -> int:
        """How many texts were audited."""
        return len(self.texts)

    @property
    def overall_rate(self) -> float:
        """Rate of the favourable label over the texts as they are, NaN if they were not asked."""
        return self.favourable / self.asked if self.asked else float("nan")

    def overlaps(self) -> Overlaps:
        """Return a function that measures overlaps by Jaccard's index of the groups' seeds.

        Groups that share no term, or whose differences have other signs, do not overlap.

        Returns
        -------
        callable
            From the places of k and of m groups to their overlaps between 0 and 1, shape (k, m).
        """
        return SeedOverlaps(self.rule_sets, len(self.texts)).between(self.effects)

    @property
    def effects(self) -> Floats:
        """What groups are ranked by, with its sign."""
        if self.parameters.rank_by == "counterfactual" and self.counterfactual is not None:
            return self.counterfactual.difference
        return self.estimates.difference

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The groups that the headline and the gate go by: decided ones of terms that are known."""
        known = self.estimates.decided & ~self.unknown
        return known if known.any() else self.estimates.decided

    @property
    def top_score(self) -> float | None:
        """The largest score, or paired difference, of a group that is judged; None if none is."""
        sizes = self.sizes[self.judged]
        return None if super().top_score is None else float(np.nanmax(sizes))

    @property
    def largest_bound(self) -> float:
        """The largest lower confidence bound of what groups are ranked by; 0 if none."""
        effects = self.counterfactual
        sizes = self.guarantee.lower_bounds
        if self.parameters.rank_by == "counterfactual" and effects is not None:
            sizes = lower_confidence_bound(effects.low, effects.high)
        return float(sizes[self.judged].max(initial=0.0))

    @property
    def significant_terms(self) -> int | None:
        """How many groups' paired intervals leave out zero; None without any."""
        if self.counterfactual is None:
            return None
        bounds = lower_confidence_bound(self.counterfactual.low, self.counterfactual.high)
        return int((bounds[self.judged] > 0).sum())

    @property
    def sizes(self) -> Floats:
        """The groups' scores, or paired differences if ranked by them; NaN where not known."""
        return np.abs(self.effects)
