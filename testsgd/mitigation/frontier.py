"""The frontier of a fair classifier: what each strength of its play costs, and what it brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.mitigation.compared_rates import SELECTION_RATE, ComparedRates
from testsgd.mitigation.cross_fitted_play import (
    CrossFits,
    Judge,
    choose_voters,
    majority,
    play_rounds,
)
from testsgd.mitigation.folds import Unanswered, few_rows_left, folds_of, values_of_one_fold
from testsgd.mitigation.journal import Journal
from testsgd.mitigation.play import Bools, Floats, cost_examples, group_weights
from testsgd.mitigation.retrained_estimator import rows_table
from testsgd.progress import Counter
from testsgd.rules import lay_out, sensitive_axes

# With fewer rows neither a loss of accuracy nor a difference would show.
LEAST_ROWS = 100
# What a difference of 100 points costs, in errors of all rows.
STRENGTHS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.24, 0.32)
# Parts of the rows: what voters lose is counted on each, of voters chosen by the others.
_PARTS = 2
# The strength of a play is chosen to lose this share of the budget at most. Voters are chosen by
# the rows that say what they lose, and are fitted to more rows in the end: of census, bank and law
# (docs/mitigation.md) they lost 0.05 points more on other rows than was expected.
SPENT_BY_PLAY = 0.9
# Strengths are not raised further once this multiple of the budget is lost.
_HOPELESS = 3


@dataclass(frozen=True, kw_only=True)
class FrontierPoint:
    """The accuracy and the worst difference of one strength, by cross-fitted decisions.

    A row is decided on by models that were not fitted to it. :class:`FairClassifier` has one point
    for each strength that it tried, in its ``frontier_``.
    """

    strength: float  # What a difference of 1 costs, in errors of all rows.
    voters: int  # How many models vote.
    accuracy: float  # Share of right decisions, by weight.
    accuracy_error: float  # Its standard error.
    # How much less than with the plain estimator it is expected to be on other rows.
    accuracy_drop: float
    accuracy_drop_error: float  # The standard error of this, each row compared with itself.
    worst_before: float  # Worst difference of all groups with the plain estimator, with its sign.
    group_before: str  # Its rules.
    worst_after: float  # Worst difference of all groups now, with its sign.
    group_after: str  # Its rules.
    # How much lower the mean of the accuracies by label is expected to be.
    balanced_drop: float = 0.0
    # The rates of the two differences; they can be two where several are compared.
    rate_before: str = SELECTION_RATE
    rate_after: str = SELECTION_RATE

    @property
    def reduction(self) -> float:
        """By how much the worst difference is smaller than with the plain estimator."""
        return abs(self.worst_before) - abs(self.worst_after)


@dataclass(frozen=True)
class Search:
    """The settings of a search over strengths."""

    sensitive: tuple[str, ...]
    budget: float
    strengths: tuple[float, ...]
    rounds: int
    folds: int
    min_rows: float
    max_rules: int | None
    seed: int
    jobs: int | None
    objective: str = SELECTION_RATE
    # Most balanced accuracy that may be lost, as a share.
    balanced_budget: float = 1.0


@dataclass(frozen=True)
class Original:
    """An estimator that plays are compared with, where it is not the one that plays."""

    estimator: Any
    X: Any  # The columns that it is given, of the same rows.


@dataclass(frozen=True, kw_only=True)
class PlayedPoint:
    """A point of the frontier, and what its models are to be fitted to."""

    point: FrontierPoint
    # Labels and weights of all rows for each model that votes, both of shape (rows,).
    examples: tuple[tuple[Bools, Floats], ...]
    # What the vote decides about each row by models that were not fitted to it; shape (rows,).
    decisions: Bools


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The points that were found, in ascending order of strength, and the best of them."""

    reason: str = ""  # Why the plain estimator is to be kept; empty if it is not.
    too_few_rows: bool = False  # Whether that is because too few rows can be judged by.
    played: tuple[PlayedPoint, ...] = ()
    best: PlayedPoint | None = None  # None if the plain estimator is to be kept.
    # What the plain estimator, or the original, decides likewise, and which rows are counted; both
    # empty if it was not asked.
    plain: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    counted: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def points(self) -> tuple[FrontierPoint, ...]:
        """What each strength costs and brings."""
        return tuple(each.point for each in self.played)

    @property
    def chosen(self) -> FrontierPoint | None:
        """What the best strength costs and brings."""
        return None if self.best is None else self.best.point

    @property
    def examples(self) -> tuple[tuple[Bools, Floats], ...]:
        """What the best strength's models are to be fitted to; none for the plain estimator."""
        return () if self.best is None else self.best.examples


def search_strengths(
    estimator: Any,
    X: Any,
    frame: pd.DataFrame,
    favourable: Bools,
    classes: NDArray[Any],
    weights: Floats | None,
    search: Search,
    *,
    original: Original | None = None,
    rates_of: Callable[[Bools], ComparedRates | None] | None = None,
    journal: Journal | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> Searched:
    """Return the points of all strengths, and the best of those that keep the budget.

    `frame` holds the columns of X by name, and the sensitive ones even if X lacks them. Losses and
    differences before are those of `original`; None: of the estimator itself. `rates_of` gives
    what is compared, from which rows are counted; None: what the columns are is guessed. `journal`
    keeps what models of a part of the rows decided, so that it need not be found again. `advance`
    is called with how many rounds of all strengths are done, and how many there are.
    """
    if len(frame) < LEAST_ROWS:
        return _too_few(f"{len(frame)} rows are too few to set some apart for validation")
    fold = folds_of(favourable, folds=search.folds, seed=search.seed)
    if fold is None:
        return _too_few("one of the labels is too rare to set rows apart for validation")
    if rates_of is None:
        rates_of = partial(_rates, frame, favourable, search)
    rates = rates_of(fold >= 0)
    if rates is None or not len(rates):
        return _too_few("no group has enough rows")
    fits = CrossFits(estimator, X, classes, fold, search.jobs, journal)
    all_fits = [fits]
    if original is not None:
        all_fits.append(replace(fits, estimator=original.estimator, X=original.X, name="original"))
    alone = values_of_one_fold(frame, fold)
    tried = [each.tried(favourable, weights, alone) for each in all_fits]
    if any(each is None for each in tried):
        return _too_few("a part of the rows has one label only")
    unanswered = _together([each.unanswered for each in tried if each is not None], alone)
    if unanswered.rows.any():
        # Such rows are always trained on.
        fold = np.where(unanswered.rows, -1, fold)
        left = int((fold >= 0).sum())
        rates = rates_of(fold >= 0) if left >= LEAST_ROWS else None
        if rates is None or not len(rates):
            return _too_few(few_rows_left(unanswered.columns, left, len(frame)))
    all_fits = [replace(each, fold=fold) for each in all_fits]
    fits = all_fits[0]
    first = [
        each.decisions(favourable, weights, tried=of_fits)
        for each, of_fits in zip(all_fits, tried, strict=True)
    ]
    # Of the estimator itself, and of the original.
    own, plain = first[0], first[-1]
    if own is None or plain is None:
        return _too_few("a part of the rows has one label only")
    counts = np.ones(len(frame)) if weights is None else weights
    counted = np.where(fold >= 0, counts, 0.0)
    judge = Judge(rates, favourable, counted / counted.sum())
    if not judge.worst(plain)[0]:
        return Searched(reason="no group is treated differently")
    of_plain, of_alone = judge.accuracies(np.stack([plain, own]))
    least = float(of_plain) - search.budget

    # Rows without weight are in no part.
    weighted_rows = np.flatnonzero(counted)
    part = np.full(len(frame), -1)
    generator = np.random.default_rng(search.seed)
    part[weighted_rows] = generator.permutation(len(weighted_rows)) % _PARTS
    played: list[PlayedPoint] = []
    start = group_weights(rates.differences(own)[0])
    all_rounds = search.rounds * len(search.strengths)
    counter = Counter(advance, all_rounds)
    for strength in sorted(search.strengths):
        with counter.asking(search.rounds):
            rounds, start = play_rounds(
                fits,
                rates,
                favourable,
                counts / counts.sum(),
                strength=strength,
                rounds=search.rounds,
                start=start,
            )
        if not rounds:
            break
        decisions = np.stack([each.decisions for each in rounds])
        voters = choose_voters(decisions, judge, least_accuracy=least)
        drop, balanced_drop = losses_of_choice(
            plain, decisions, judge, part=part, least_lost=search.budget
        )
        point = replace(
            point_of(strength, plain, decisions[list(voters)], judge),
            accuracy_drop=drop,
            balanced_drop=balanced_drop,
        )
        examples = tuple(cost_examples(rounds[voter].costs) for voter in voters)
        vote = majority(decisions[list(voters)])
        played.append(PlayedPoint(point=point, examples=examples, decisions=vote))
        if point.accuracy_drop > _HOPELESS * search.budget:
            break
    # Strengths that were not needed are done too.
    counter.add_up_to(all_rounds)
    best = best_point(
        played,
        budget=SPENT_BY_PLAY * search.budget,
        balanced_budget=search.balanced_budget,
    )
    if best is None:
        reason = (
            f"no strength lowered the worst difference and kept the accuracy within "
            f"{100 * search.budget:g} points"
        )
        if original is not None:
            reason += (
                "; leaving the sensitive features out alone changes it by "
                f"{100 * (of_alone - of_plain):+.1f} points"
            )
        return Searched(reason=reason, played=tuple(played), plain=plain, counted=fold >= 0)
    return Searched(played=tuple(played), best=best, plain=plain, counted=fold >= 0)


def _too_few(reason: str) -> Searched:
    """Return that nothing was searched, since too few rows can be judged by."""
    return Searched(reason=reason, too_few_rows=True)


def _together(found: Sequence[Unanswered], columns: Iterable[str]) -> Unanswered:
    """Return the rows that one of several estimators cannot answer about."""
    return Unanswered(
        np.any([each.rows for each in found], axis=0),
        tuple(name for name in columns if any(name in each.columns for each in found)),
    )


class HasPoint(Protocol):
    """An object with the point of the frontier that it is of."""

    @property
    def point(self) -> FrontierPoint:
        """The point."""


P = TypeVar("P", bound=HasPoint)


def best_point(candidates: Sequence[P], *, budget: float, balanced_budget: float = 1.0) -> P | None:
    """Return what lowers the worst difference most within both budgets; None if nothing does.

    The budgets are the shares of accuracy and of balanced accuracy that may be lost.
    """
    kept = [
        each
        for each in candidates
        if each.point.accuracy_drop <= budget
        and each.point.balanced_drop <= balanced_budget
        and each.point.reduction > 0
    ]
    return max(kept, key=lambda each: each.point.reduction, default=None)


def _rates(
    frame: pd.DataFrame, favourable: Bools, search: Search, counted: Bools
) -> ComparedRates | None:
    table = rows_table(frame[list(search.sensitive)], favourable, search.sensitive)
    if table is None:
        return None
    return ComparedRates.of(
        search.objective,
        lay_out(table, sensitive_axes(table)),
        favourable,
        counted,
        min_rows=search.min_rows,
        max_rules=search.max_rules,
    )


def losses_of_choice(
    plain: Bools, decisions: Bools, judge: Judge, *, part: NDArray[np.intp], least_lost: float
) -> tuple[float, float]:
    """Return the accuracy and the balanced accuracy that a choice of voters is expected to lose.

    Voters that are chosen by some rows look more accurate there than they are. So for each part of
    the rows, voters chosen by the accuracy on the others are counted on it. `decisions` are of
    shape (models, rows), `plain` and `part` of shape (rows,).
    """
    drops, balanced_drops, sizes = [], [], []
    for own in range(_PARTS):
        inside, outside = (
            replace(judge, shares=judge.shares * rows / (judge.shares @ rows))
            for rows in (part == own, part != own)
        )
        least = float(outside.accuracies(plain[None])[0]) - least_lost
        voters = choose_voters(decisions, outside, least_accuracy=least)
        both = np.stack([plain, majority(decisions[list(voters)])])
        drops.append(float(np.subtract(*inside.accuracies(both))))
        balanced_drops.append(float(np.subtract(*inside.balanced_accuracies(both))))
        sizes.append(float(judge.shares @ (part == own)))
    return float(np.average(drops, weights=sizes)), float(np.average(balanced_drops, weights=sizes))


def point_of(strength: float, plain: Bools, decisions: Bools, judge: Judge) -> FrontierPoint:
    """Return what a majority costs and brings; `decisions` of its models, shape (models, rows)."""
    vote = majority(decisions)
    differences = judge.rates.differences(np.stack([plain, vote]))
    before, after = np.abs(differences).argmax(axis=1)
    rate_before, group_before = judge.rates.described(int(before))
    rate_after, group_after = judge.rates.described(int(after))
    right = judge.right(np.stack([plain, vote]))
    accuracies = right @ judge.shares
    return FrontierPoint(
        strength=float(strength),
        voters=len(decisions),
        accuracy=float(accuracies[1]),
        accuracy_error=judge.error_of_mean(right[1]),
        accuracy_drop=float(accuracies[0] - accuracies[1]),
        accuracy_drop_error=judge.error_of_mean(right[0] - right[1]),
        worst_before=float(differences[0, before]),
        group_before=group_before,
        balanced_drop=float(np.subtract(*judge.balanced_accuracies(np.stack([plain, vote])))),
        rate_before=rate_before,
        worst_after=float(differences[1, after]),
        group_after=group_after,
        rate_after=rate_after,
    )
