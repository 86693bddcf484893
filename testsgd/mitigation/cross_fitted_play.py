"""Cross-fitted rounds of a play: each row is decided on by models that were not fitted to it.

The weights of groups are one set for all folds, from the differences of these decisions; so a round
that is found good can be fitted to all rows with the very same costs.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from testsgd.mitigation.compared_rates import ComparedRates
from testsgd.mitigation.folds import Unanswered, rows_of, unanswered_rows
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.play import (
    Bools,
    Floats,
    cost_examples,
    decision_costs,
    group_weights,
)
from testsgd.mitigation.retrained_estimator import fit_clone
from testsgd.progress import tell_answered
from testsgd.single_thread import on_one_thread

# Models that vote, at most.
MOST_VOTERS = 5


@dataclass(frozen=True)
class Tried:
    """The first decisions of cross-fits, and the rows that the estimator cannot answer about."""

    fold: NDArray[np.intp]  # Of each row, when it was tried.
    unanswered: Unanswered
    # Shape (rows,); False where it cannot answer. None: they were found earlier, and are kept.
    decisions: Bools | None = None


@dataclass(frozen=True)
class CrossFits:
    """An estimator and its rows in folds; a fit to all folds but one decides on that one."""

    estimator: Any
    X: Any
    classes: NDArray[Any]
    fold: NDArray[np.intp]  # Of each row; -1 for those that are always trained on.
    jobs: int | None = None
    # Keeps decisions under the digest of what was fitted to; None: nothing is kept.
    journal: Journal | None = None
    # Which estimator it is, where a journal keeps decisions of several.
    name: str = ""

    def decisions(
        self, labels: Bools, weights: Floats | None, *, tried: Tried | None = None
    ) -> Bools | None:
        """Return each row's decision, shape (rows,); None if a fit has one label.

        Rows of no fold are False. What was tried with these labels and weights is not fitted again,
        but where rows of the fold have become rows of no fold, which are always trained on.
        """
        if self.journal is None:
            return self._decisions(labels, weights, tried)
        name = self.name + _digest(labels, weights)
        kept = self.journal.get(name)
        if kept is not None:
            return _unpacked(kept, len(labels))
        decisions = self._decisions(labels, weights, tried)
        if decisions is not None:
            self.journal.keep(name, _packed(decisions))
        return decisions

    def tried(
        self, labels: Bools, weights: Floats | None, alone: Mapping[str, Bools]
    ) -> Tried | None:
        """Fit to all folds but one and try to decide on that one; None if a fit has one label.

        `alone` says for each column which rows have a value that no other fold has.
        """
        name = f"{self.name}unanswered"
        kept = None if self.journal is None else self.journal.get(name)
        if kept is not None:
            unanswered = Unanswered(_unpacked(kept["rows"], len(labels)), tuple(kept["columns"]))
            return Tried(self.fold, unanswered)
        parts = self._parts
        if self._has_one_label(labels):
            return None
        found = Parallel(n_jobs=self.jobs)(
            delayed(_tried)(
                *self._fit_of(part, labels, weights),
                {column: rows[self.fold == part] for column, rows in alone.items()},
            )
            for part in parts
        )
        decisions = np.zeros(len(labels), dtype=bool)
        rows = np.zeros(len(labels), dtype=bool)
        columns: list[str] = []
        for part, (decided, unanswered) in zip(parts, found, strict=True):
            decisions[self.fold == part] = decided
            rows[self.fold == part] = unanswered.rows
            columns += unanswered.columns
        named = tuple(name for name in alone if name in columns)
        if self.journal is not None:
            self.journal.keep(name, {"rows": _packed(rows), "columns": named})
        return Tried(self.fold, Unanswered(rows, named), decisions)

    @property
    def _parts(self) -> list[int]:
        """The folds that have rows."""
        return [int(part) for part in np.unique(self.fold) if part >= 0]

    def _has_one_label(self, labels: Bools) -> bool:
        """Return whether the rows that are fitted to have one label only, for some fold."""
        return any(len(set(labels[self.fold != part].tolist())) < 2 for part in self._parts)

    def _fit_of(self, part: int, labels: Bools, weights: Floats | None) -> tuple[Any, ...]:
        """Return what is fitted to all folds but one, and the rows of that one."""
        inside = self.fold == part
        return (
            self.estimator,
            rows_of(self.X, ~inside),
            self.classes[labels[~inside].astype(np.intp)],
            None if weights is None else weights[~inside],
            rows_of(self.X, inside),
            self.classes[1],
        )

    def _decisions(
        self, labels: Bools, weights: Floats | None, tried: Tried | None
    ) -> Bools | None:
        if self._has_one_label(labels):
            return None
        decisions = np.zeros(len(labels), dtype=bool)
        parts = self._parts
        if tried is not None and tried.decisions is not None:
            decisions[self.fold >= 0] = tried.decisions[self.fold >= 0]
            parts = [part for part in parts if ((tried.fold == part) != (self.fold == part)).any()]
        found = Parallel(n_jobs=self.jobs)(
            delayed(_decided)(*self._fit_of(part, labels, weights)) for part in parts
        )
        for part, decided in zip(parts, found, strict=True):
            decisions[self.fold == part] = decided
        return decisions


def _digest(labels: Bools, weights: Floats | None) -> str:
    """Return the sha256 of labels and weights."""
    digest = hashlib.sha256(labels.tobytes())
    digest.update(b"" if weights is None else weights.tobytes())
    return digest.hexdigest()


def _packed(decisions: Bools) -> str:
    """Return decisions as text, eight in a byte."""
    return base64.b64encode(np.packbits(decisions).tobytes()).decode("ascii")


def _unpacked(text: str, rows: int) -> Bools:
    """Return the decisions of a text."""
    bits = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return np.unpackbits(bits, count=rows).astype(bool)


def _decided(
    estimator: Any, X: Any, y: NDArray[Any], weights: Floats | None, others: Any, favourable: Any
) -> Bools:
    fitted = fit_on_one_thread(estimator, X, y, weights)
    return np.asarray(fitted.predict(others) == favourable, dtype=bool)


def _tried(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weights: Floats | None,
    others: Any,
    favourable: Any,
    alone: Mapping[str, Bools],
) -> tuple[Bools, Unanswered]:
    """Return decisions on other rows, and about which of them the estimator cannot answer.

    If there are such rows, none is decided on: the estimator is to be fitted to them, too.
    """
    fitted = fit_on_one_thread(estimator, X, y, weights)
    nothing = np.zeros(len(others), dtype=bool)
    try:
        decisions = np.asarray(fitted.predict(others) == favourable, dtype=bool)
    except Exception:
        if not any(rows.any() for rows in alone.values()):
            raise
        known = rows_of(X, np.arange(1))
        return nothing, unanswered_rows(fitted.predict, others, alone, known=known)
    return decisions, Unanswered(nothing)


# Errors of an estimator's own carry this note, so that they can be distinguished from others.
FIT_NOTE = "raised by the estimator, while it was fitted again"


def fit_on_one_thread(estimator: Any, X: Any, y: NDArray[Any], weights: Floats | None) -> Any:
    """Fit a clone; its sums do not depend on how many processors there are."""
    with on_one_thread():
        try:
            return fit_clone(estimator, X, y, weights)
        except Exception as error:
            error.add_note(FIT_NOTE)
            raise


@dataclass(frozen=True)
class Round:
    """One round: the costs that models were fitted to, and their decisions on other rows."""

    costs: Floats  # Shape (rows,).
    decisions: Bools  # Shape (rows,).


def play_rounds(
    fits: CrossFits,
    rates: ComparedRates,
    favourable: Bools,
    shares: Floats,
    *,
    strength: float,
    rounds: int,
    start: Floats,
) -> tuple[list[Round], Floats]:
    """Play rounds of one strength; return them and the groups' weights after the last.

    Parameters
    ----------
    fits : CrossFits
    rates : ComparedRates
    favourable : numpy.ndarray of bool, shape (rows,)
        The labels.
    shares : numpy.ndarray of shape (rows,)
        How much an error counts for each row; they sum to 1.
    strength : float
        What a difference of 1 costs, in errors of all rows.
    rounds : int
        How many rounds are played; fewer if the costs leave one label only.
    start : numpy.ndarray of shape (groups,)
        The groups' weights in the first round.
    """
    played: list[Round] = []
    weights, differences = start, np.zeros(len(rates))
    for number in range(rounds):
        costs = decision_costs(favourable, shares, rates.derivative(strength * weights))
        decisions = fits.decisions(*cost_examples(costs))
        if decisions is None:
            break
        played.append(Round(costs, decisions))
        # Each side answers the mean of what the other did so far.
        differences = differences + (rates.differences(decisions)[0] - differences) / (number + 1)
        weights = weights + (group_weights(differences) - weights) / (number + 2)
        tell_answered(number + 1, rounds)
    return played, weights


@dataclass(frozen=True)
class Judge:
    """Accuracy and worst difference of decisions on the rows that were not trained on."""

    rates: ComparedRates
    favourable: Bools
    shares: Floats  # Of the counted rows, which sum to 1; 0 for others.
    # Chances of the favourable label, if decisions are right as often as these say: of a model that
    # may know the labels of these rows by heart they say more than the labels do. Shape (rows,).
    chances: Floats | None = None

    def right(self, decisions: Bools) -> Floats:
        """Return how right each of several decisions is, from 0 to 1; shape (q, rows)."""
        chances = self.favourable if self.chances is None else self.chances
        return np.where(decisions, chances, 1.0 - chances)

    def accuracies(self, decisions: Bools) -> Floats:
        """Return the accuracy of several decisions, shape (q, rows)."""
        return np.asarray(self.right(decisions) @ self.shares)

    def balanced_accuracies(self, decisions: Bools) -> Floats:
        """Return the mean of the accuracies by label of several decisions, shape (q, rows)."""
        chances = self.favourable if self.chances is None else self.chances
        counted = [(decisions, self.shares * chances), (~decisions, self.shares * (1.0 - chances))]
        parts = [chosen @ weight / weight.sum() for chosen, weight in counted if weight.any()]
        return np.asarray(np.mean(parts, axis=0))

    def worst(self, decisions: Bools) -> Floats:
        """Return the largest size of a difference, for decisions of shape (q, rows); shape (q,)."""
        return np.asarray(np.abs(self.rates.differences(decisions)).max(axis=1, initial=0.0))

    def error_of_mean(self, numbers: Floats) -> float:
        """Return the standard error of the mean of a number of each row."""
        mean = numbers @ self.shares
        return float(np.sqrt(((numbers - mean) ** 2) @ self.shares**2))


def choose_voters(decisions: Bools, judge: Judge, *, least_accuracy: float) -> tuple[int, ...]:
    """Choose an odd number of models whose majority has the least worst difference.

    Votes that are less accurate than they must be come behind all others, the most accurate first.
    The best model is taken first; then two more at a time, as long as that helps.
    """

    def best_of(choices: Sequence[tuple[int, ...]]) -> tuple[tuple[float, float], tuple[int, ...]]:
        votes = np.stack([majority(decisions[list(voters)]) for voters in choices])
        lacking = np.maximum(least_accuracy - judge.accuracies(votes), 0.0)
        keys = list(zip(lacking.tolist(), judge.worst(votes).tolist(), strict=True))
        place = min(range(len(choices)), key=keys.__getitem__)
        return keys[place], choices[place]

    every = range(len(decisions))
    best, voters = best_of([(place,) for place in every])
    while len(voters) < min(MOST_VOTERS, len(decisions) - 1):
        others = [place for place in every if place not in voters]
        found, larger = best_of([(*voters, *pair) for pair in combinations(others, 2)])
        if found >= best:
            break
        best, voters = found, larger
    return voters


def majority(decisions: Bools) -> Bools:
    """Return what most of an odd number of models decide; shape (models, rows).

    Examples
    --------
    >>> majority(np.array([[True, False], [True, False], [False, True]]))
    array([ True, False])
    """
    return np.asarray(2 * decisions.sum(axis=0) > len(decisions))
