"""Control effects, as a mitigation counters them: texts with a term and with neutral words.

A model that treats all terms of a category alike has no difference between groups, however it
treats texts without a term. So what a term changes against every neutral word is a target of its
own. Samples are variants with the terms, labelled as the variants with neutral words would be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text.controls import LEAST_TEXTS, ControlPlan, control_replacer
from testsgd.auditing.text.findings import ControlEffect
from testsgd.data import Texts
from testsgd.data.text import SensitiveTerms
from testsgd.mitigation.samples import Source
from testsgd.mitigation.targets import ControlTarget, Subject
from testsgd.models import TextModel
from testsgd.rules import Mentions
from testsgd.sampling.text import without_removed
from testsgd.scoring import paired_tails_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ControlAnswers:
    """A model's answers, 0 or 1, about the same texts with a term and with neutral words."""

    subject: Subject
    controls: tuple[str, ...]  # What stands in place of the term; empty: nothing.
    with_term: Floats  # Shape (texts,).
    with_controls: Floats  # Shape (controls, texts).

    @property
    def difference(self) -> float:
        """The effect nearest to zero of those against each control."""
        return _nearest(self.with_term.mean() - self.with_controls.mean(axis=1))

    def effect(self, confidence: float) -> ControlEffect:
        """Return the effect with the intervals against each control."""
        moved = self.with_term - self.with_controls
        low, high = _tails(moved, confidence)
        return ControlEffect(
            *self.subject,
            texts=len(self.with_term),
            rate_with=float(self.with_term.mean()),
            controls=self.controls,
            rates=self.with_controls.mean(axis=1),
            low=low,
            high=high,
        )

    def change(self, after: ControlAnswers, confidence: float) -> tuple[float, float, float]:
        """Compute by how much the effect changed, with all that the intervals allow.

        Each text is compared with itself, and each control's change has its own interval.
        """
        moved = (after.with_term - after.with_controls) - (self.with_term - self.with_controls)
        # Changes lie within -2 and 2, the interval is for means of at most 1.
        low, high = _tails(moved / 2, confidence)
        change = after.difference - self.difference
        return change, min(2 * float(low.min()), change), max(2 * float(high.max()), change)


@dataclass(frozen=True, eq=False)
class ControlChanges:
    """The answers about control effects on the held-out texts, by both models."""

    before: list[ControlAnswers]
    after: list[ControlAnswers] | None  # None if the original is kept.
    confidence: float  # Of each interval.


class ControlMeasure:
    """Asks models about some texts with terms and with neutral words.

    Texts that have nothing but the term are left out, and so are categories with too few others. Of
    each category no more texts are asked about than the queries allow.
    """

    def __init__(
        self,
        texts: Texts,
        mentions: Mentions,
        plan: Sequence[ControlPlan],
        rows: NDArray[np.intp],
        *,
        max_queries: int,
        subjects: Collection[Subject] | None = None,
    ) -> None:
        replacer, inside = control_replacer(texts, mentions, plan), np.zeros(len(texts), dtype=bool)
        inside[rows] = True
        self._places: dict[str, int] = {}
        # Of each subject where its texts stand: shape (1 + controls, texts).
        self._questions: list[tuple[Subject, tuple[str, ...], NDArray[np.intp]]] = []
        wanted = {
            item.category: [
                term
                for term in (None, *item.known)
                if subjects is None or (item.category, term) in subjects
            ]
            for item in plan
        }
        columns = sum(
            len(terms) + len(item.controls)
            for item, terms in zip(plan, wanted.values(), strict=True)
            if terms
        )
        most = max_queries // max(1, columns)
        for item in plan:
            own, terms = item.rows[inside[item.rows]][:most].tolist(), wanted[item.category]
            if not terms:
                continue

            def written(
                place: int, rows: Sequence[int], category: int = item.category
            ) -> list[str]:
                return [without_removed(replacer.variant(row, [category], [place])) for row in rows]

            removed = written(item.terms, own)
            own = [row for row, text in zip(own, removed, strict=True) if text]
            if len(own) < LEAST_TEXTS:
                continue
            controls = [
                self._ask(written(item.terms + place, own)) for place in range(len(item.controls))
            ]
            for term in terms:
                answers = (
                    [texts.texts[row] for row in own]
                    if term is None
                    else [replacer.variant(row, [item.category], [term]) for row in own]
                )
                places = np.array([self._ask(answers), *controls], dtype=np.intp)
                self._questions.append(((item.category, term), item.controls, places))

    def __call__(self, model: TextModel) -> list[ControlAnswers]:
        """Ask a model about each text once."""
        if not self._questions:
            return []
        decided = model.decisions(tuple(self._places)).astype(np.float64)
        return [
            ControlAnswers(subject, controls, decided[places[0]], decided[places[1:]])
            for subject, controls, places in self._questions
        ]

    def _ask(self, texts: Sequence[str]) -> list[int]:
        """Return where texts stand among the different ones."""
        return [self._places.setdefault(text, len(self._places)) for text in texts]


def control_scores(
    targets: Sequence[ControlTarget], answers: Sequence[ControlAnswers]
) -> list[float]:
    """Return the size of each target's effect; NaN where it could not be asked about."""
    sizes = {item.subject: abs(item.difference) for item in answers}
    return [sizes.get(target.subject, float("nan")) for target in targets]


def shared_control_confidence(confidence: float, answers: Sequence[ControlAnswers]) -> float:
    """Return the confidence with which the intervals of all control effects hold at once."""
    return 1 - (1 - confidence) / max(1, len(answers))


def choose_control_targets(
    answers: Sequence[ControlAnswers], terms: SensitiveTerms, confidence: float
) -> tuple[ControlTarget, ...]:
    """Choose the significant control effects, the largest lower bound first.

    The intervals of all of them hold at once, by Bonferroni's inequality.
    """
    shared = shared_control_confidence(confidence, answers)
    effects = [item.effect(shared) for item in answers]
    significant = sorted(
        (effect for effect in effects if effect.lower_bound > 0),
        key=lambda effect: (effect.term is not None, -effect.lower_bound),
    )
    whole = {
        effect.category: effect.difference < 0 for effect in significant if effect.term is None
    }
    return tuple(
        ControlTarget(
            category=effect.category,
            term=effect.term,
            category_name=terms.categories[effect.category].name,
            term_name=(
                None
                if effect.term is None
                else terms.categories[effect.category].terms[effect.term].name
            ),
            effect=effect.difference,
            lower_bound=effect.lower_bound,
            sampled=effect.term is None
            or whole.get(effect.category) is not (effect.difference < 0),
        )
        for effect in significant
    )


class ControlVariants(Source):
    """Texts with each of some terms, or of some controls, in place of a category's terms.

    A draw is a text with one of these words. Of samples that read the same, one counts.
    """

    def __init__(
        self,
        texts: Texts,
        mentions: Mentions,
        plan: ControlPlan,
        places: Sequence[int],
        seeds: NDArray[np.intp],
    ) -> None:
        super().__init__(seeds)
        self._plan, self._texts, self._mentions = plan, texts, mentions
        self._replacer = control_replacer(texts, mentions, [plan])
        # Of words of the list, and of controls, which stand behind them.
        self._words = tuple(places)
        self._made: set[str] = set()

    @property
    def draws(self) -> int:
        """How many draws there are: each text with each word."""
        return len(self._rows) * len(self._words)

    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Write texts, those left out that some call has written before, or that are empty."""
        left, written = [], []
        for number, text in zip(numbers.tolist(), self.make(numbers), strict=True):
            if text and text not in self._made:
                self._made.add(text)
                left.append(number)
                written.append(text)
        return np.array(left, dtype=np.int64), tuple(written)

    def make(self, numbers: NDArray[np.int64]) -> tuple[str, ...]:
        """Write texts again."""
        return tuple(
            without_removed(self._replacer.variant(row, [self._plan.category], [word]))
            for row, word in map(self._draw, numbers.tolist())
        )

    def described(
        self, numbers: NDArray[np.int64]
    ) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.object_]]:
        """Write texts again, with those they are made from and which terms became which."""
        drawn = [self._draw(number) for number in numbers.tolist()]
        changes = np.array([*(self._change(*draw) for draw in drawn), None], dtype=object)[:-1]
        return self.make(numbers), np.array([row for row, _ in drawn], dtype=np.int64), changes

    def _draw(self, number: int) -> tuple[int, int]:
        row, word = divmod(number, len(self._words))
        return int(self._rows[row]), self._words[word]

    def _change(self, row: int, word: int) -> str:
        mentions, terms = self._mentions, self._mentions.terms.categories[self._plan.category].terms
        new = f'"{terms[word].name}"' if word < self._plan.terms else ""
        if word >= self._plan.terms:
            control = self._plan.controls[word - self._plan.terms]
            new = f'"{control}"' if control else "nothing"
        here = slice(mentions.offsets[row], mentions.offsets[row + 1])
        found = dict.fromkeys(
            f'"{terms[term].name}" to {new}'
            for category, term in zip(
                mentions.category[here].tolist(), mentions.term[here].tolist(), strict=True
            )
            if category == self._plan.category and term != word
        )
        return ", ".join(found)


def _nearest(differences: Floats) -> float:
    return float(differences[np.argmin(np.abs(differences))])


def _tails(moved: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the paired interval of each mean; `moved` has shape (means, texts)."""
    pairs = np.full(len(moved), float(moved.shape[1]))
    mean, size = moved.mean(axis=1), np.abs(moved).mean(axis=1)
    return paired_tails_interval(mean, size, pairs, 1 - confidence)
