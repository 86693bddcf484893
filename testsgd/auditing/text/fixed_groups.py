"""Rates of given groups of texts, without a search: to measure a model by again and again.

Which texts are a group's seeds, what they become, and which texts are outside it is found once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates, counted_estimates, drawn_estimates
from testsgd.auditing.fixed_groups import Measure, Questions
from testsgd.auditing.outcome import threads
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.text.answers import SharedPredictions
from testsgd.data.text import Texts
from testsgd.models.text import TextModel
from testsgd.rules.text import Mentions
from testsgd.sampling.text import Replacer

# Places of categories in a list of terms, and of the term chosen in each of them.
TermGroup: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]

_Change: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class TermGroupMeasure(Measure):
    """A measure of models: their selection rates in the same groups of the same texts.

    It is called with a model and returns :class:`testsgd.auditing.Estimates`, in the order of the
    groups. Inside a group are its seeds, the texts with a term of each of its categories, rewritten
    with its terms; outside are the texts, as they are, that lack one of its terms. A model is asked
    about each once, or about draws of them that are the same for every model. A group may have no
    texts on one side; its rates there are NaN.

    Parameters
    ----------
    texts : Texts
        The texts.
    mentions : Mentions
        The sensitive terms in them.
    groups : sequence of TermGroup
        For each group the places of its categories in the list of terms, and the place of the
        chosen term in each of them.
    max_queries : int
        The most texts that a model is asked about.
    seed : int
        The seed of the draws.
    jobs : int, optional
        Threads that may ask a model at once.

    Raises
    ------
    ParameterError
        If `max_queries` does not allow one draw on each side of each group.
    """

    texts: Texts
    mentions: Mentions
    groups: Sequence[TermGroup]

    @property
    def _groups(self) -> int:
        return len(self.groups)

    @property
    def exact(self) -> bool:
        """True if a model is asked about all texts and variants that the groups need."""
        return len(self._everything.distinct) <= self.max_queries

    def __call__(self, model: TextModel) -> Estimates:
        """Ask a model about the texts or draws, and return its rates in each group."""
        questions = self._everything if self.exact else self._drawn
        tallies = questions.tally(self._decided(model, questions))
        if self.exact:
            return counted_estimates(tallies)
        rows_in, rows_out = self._everything.sizes()
        return drawn_estimates(rows_in, rows_out, tallies, AuditParameters(interval="wald"))

    def answers(self, model: TextModel) -> tuple[NDArray[np.float64], ...] | None:
        """Return a model's answers about the texts on each side of each group.

        Parameters
        ----------
        model : TextModel
            The model to ask.

        Returns
        -------
        tuple of numpy.ndarray, or None
            Arrays of 1 where the label is favourable and 0 elsewhere: of the seeds of the first
            group, of the texts outside of it, of the seeds of the second group, and so on. None if
            they take more than `max_queries`.
        """
        if not self.exact:
            return None
        answers = self._decided(model, self._everything).astype(np.float64)
        return tuple(answers[side] for side in self._everything.sides)

    def _decided(self, model: TextModel, questions: Questions) -> NDArray[np.bool_]:
        predictions = SharedPredictions(model, jobs=threads(model, self.jobs))
        return predictions.decide(self._written(questions.distinct))

    @cached_property
    def _replacer(self) -> Replacer:
        return Replacer(self.texts.texts, self.mentions)

    @cached_property
    def _changes(self) -> dict[_Change, int]:
        """Number the ways to change a text: to leave it as it is has the number 0."""
        return {(): 0}

    @cached_property
    def _everything(self) -> Questions:
        """What is on both sides of each group: a text and how it is changed, as one number."""
        presence = self.mentions.replaceable()
        contains = self.mentions.contains()
        sole = self.mentions.sole()
        sides: list[Counts] = []
        for categories, chosen in self.groups:
            indices = list(categories)
            seeds = np.flatnonzero(presence[:, indices].all(axis=1))
            parts = zip(categories, chosen, strict=True)
            inside = np.all([contains[category][:, term] for category, term in parts], axis=0)
            # A category all of whose mentions are of the chosen term stays as it is.
            changed = sole[seeds][:, indices] != np.array(chosen, dtype=np.int64)
            changes = self._numbered(categories, chosen, changed)
            sides += changes * len(self.texts) + seeds, np.flatnonzero(~inside)
        return Questions.of(sides)

    @cached_property
    def _drawn(self) -> Questions:
        everything = self._everything
        sides: list[Counts] = []
        for index, side in enumerate(everything.sides):
            generator = np.random.default_rng([self.seed, 4, index])
            drawn = generator.integers(0, max(1, len(side)), self.draws_a_side if len(side) else 0)
            sides.append(everything.distinct[side[drawn]])
        return Questions.of(sides)

    def _numbered(
        self, categories: Sequence[int], chosen: Sequence[int], changed: NDArray[np.bool_]
    ) -> Counts:
        """Return the number of each seed's change, which several groups may share."""
        patterns = changed @ (1 << np.arange(len(categories), dtype=np.int64))
        distinct, indices = np.unique(patterns, return_inverse=True)
        numbers = []
        for pattern in distinct.tolist():
            parts = zip(categories, chosen, strict=True)
            change = tuple(part for bit, part in enumerate(parts) if pattern >> bit & 1)
            numbers.append(self._changes.setdefault(tuple(sorted(change)), len(self._changes)))
        return np.array(numbers, dtype=np.int64)[indices]

    def _written(self, questions: Counts) -> Iterator[str]:
        """Write the texts one by one: they are made faster than kept."""
        changes = [
            (tuple(category for category, _ in change), tuple(term for _, term in change))
            for change in self._changes
        ]
        for question in questions.tolist():
            number, row = divmod(question, len(self.texts))
            if number:
                yield self._replacer.variant(row, *changes[number])
            else:
                yield self.texts.texts[row]
