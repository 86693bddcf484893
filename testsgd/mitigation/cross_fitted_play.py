"""Cross-fitted rounds of a play: each row is decided on by models that were not fitted to it.

The weights of groups are one set for all folds, from the differences of these decisions; so a round
that is found good can be fitted to all rows with the very same costs.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from testsgd.mitigation.compared_rates import ComparedRates
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


def folds_of(
    frame: pd.DataFrame, favourable: Bools, *, folds: int, seed: int
) -> NDArray[np.intp] | None:
    """Return the fold of each row, -1 for those that are always trained on; None if too few.

    Always trained on are rows with a category that no other fold has: an encoder would not know it.
    """
    if np.bincount(favourable, minlength=2).min() < folds:
        return None
    fold = np.zeros(len(frame), dtype=np.intp)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for index, (_, rows) in enumerate(splitter.split(frame, favourable)):
        fold[rows] = index
    alone = np.zeros(len(frame), dtype=bool)
    for name in frame:
        column = frame[name]
        if not pd.api.types.is_any_real_numeric_dtype(column):
            for index in range(folds):
                inside = fold == index
                known = column.isin(column[~inside]) | column.isna()
                alone |= inside & ~np.asarray(known, dtype=bool)
    fold[alone] = -1
    return fold


def rows_of(X: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of an array or a data frame."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


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

    def decisions(self, labels: Bools, weights: Floats | None) -> Bools | None:
        """Return each row's decision, shape (rows,); None if a fit has one label.

        Rows of no fold are False.
        """
        if self.journal is None:
            return self._decisions(labels, weights)
        name = self.name + _digest(labels, weights)
        kept = self.journal.get(name)
        if kept is not None:
            return _unpacked(kept, len(labels))
        decisions = self._decisions(labels, weights)
        if decisions is not None:
            self.journal.keep(name, _packed(decisions))
        return decisions

    def _decisions(self, labels: Bools, weights: Floats | None) -> Bools | None:
        parts = range(int(self.fold.max()) + 1)
        if any(len(set(labels[self.fold != part].tolist())) < 2 for part in parts):
            return None
        found = Parallel(n_jobs=self.jobs)(
            delayed(_decided)(
                self.estimator,
                rows_of(self.X, self.fold != part),
                self.classes[labels[self.fold != part].astype(np.intp)],
                None if weights is None else weights[self.fold != part],
                rows_of(self.X, self.fold == part),
                self.classes[1],
            )
            for part in parts
        )
        decisions = np.zeros(len(labels), dtype=bool)
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
