"""Candidates: what each strength of a method costs and brings on rows it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from testsgd.mitigation.frontier import FrontierPoint, best_point
from testsgd.mitigation.frontiers.problem import Bools, FairModel, Places, Problem
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.side_effects import SideEffects, side_effects


# Compared by identity: arrays have no one answer to whether they are equal.
@dataclass(frozen=True, eq=False)
class Candidate:
    """A point of a frontier, and the model that it is of."""

    point: FrontierPoint
    fit: Callable[[], FairModel]  # Fits it to all rows that were seen.
    # What it and the original decide about some of the rows that were seen, by models that were
    # not fitted to them; all of shape (rows,).
    places: Places
    decisions: Bools
    before: Bools


def frontier_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no other beats in both accuracy and worst difference.

    They are a frontier: the more accuracy is lost, the smaller is the worst difference that is
    expected. The others were tried for nothing.
    """

    def key(candidate: Candidate) -> tuple[float, float]:
        return candidate.point.accuracy_drop, abs(candidate.point.worst_after)

    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=key):
        if not kept or key(candidate)[1] < key(kept[-1])[1]:
            kept.append(candidate)
    return kept


def choose_candidate(
    problem: Problem, candidates: Sequence[Candidate], *, budget: float
) -> int | None:
    """Return which candidate lowers the worst difference most, keeps the budgets and harms none.

    `budget` is the share of accuracy that it may be expected to lose.

    Side effects are looked for among the rows that were seen. If each candidate that keeps the
    budgets has some, the one that lowers the worst difference most is chosen all the same, and the
    held-out rows say what it does. None if no candidate keeps the budgets.
    """
    settings = problem.parameters
    left = list(candidates)
    first = groups = None
    while left:
        best = best_point(left, budget=budget, balanced_budget=settings.balanced_budget)
        if best is None:
            break
        first = best if first is None else first
        # All candidates of a method are about the same rows.
        groups = problem.small_groups(best.places) if groups is None else groups
        labels = problem.favourable[best.places]
        effects = effects_of(problem, groups, labels, before=best.before, after=best.decisions)
        if not effects.harmful:
            return candidates.index(best)
        left.remove(best)
    return None if first is None else candidates.index(first)


def effects_of(
    problem: Problem, groups: ComparedGroups, labels: Bools, *, before: Bools, after: Bools
) -> SideEffects:
    """Return what decisions about the rows of some groups do to all of them, small ones too."""
    settings = problem.parameters
    return side_effects(
        groups.sums,
        labels,
        original=before,
        reference=before,
        written=after,
        allowed=settings.max_side_effect,
        allowed_loss=settings.max_group_accuracy_drop / 100,
        confidence=settings.confidence,
        seed=settings.seed,
        with_worst=False,
    )
