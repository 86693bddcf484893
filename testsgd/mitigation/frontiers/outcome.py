"""What a frontier is found to be, before anything is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from testsgd.mitigation.frontier import FrontierPoint
from testsgd.mitigation.frontiers.problem import FairModel, Problem
from testsgd.mitigation.play import ComparedGroups
from testsgd.mitigation.side_effects import SideEffects


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The accuracy of a model on the held-out rows, beside that of the original."""

    accuracy: float  # Share of right decisions.
    balanced: float  # Mean of the shares of right decisions by label.
    drop: float  # How much lower the accuracy is; less than 0 is a gain.
    drop_interval: tuple[float, float]  # Of that, each row compared with itself.
    balanced_drop: float  # How much lower the balanced accuracy is.
    balanced_drop_interval: tuple[float, float]  # Of that, likewise.


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The worst difference of all groups."""

    difference: float  # With its sign.
    rate: str  # Of which rate it is.
    group: str  # The group's rules.


@dataclass(frozen=True, kw_only=True)
class MeasuredPoint:
    """A point of a frontier: what was expected of it, and what the held-out rows show."""

    expected: FrontierPoint
    accuracy: Accuracy
    worst: Worst
    model: FairModel


@dataclass(frozen=True, kw_only=True)
class SidesOfGroup:
    """A rate of a group and of its complement, by the model before and after."""

    text: str
    rate: str  # Which rate.
    rows: tuple[int, int]  # In the group, and in its complement.
    base_rates: tuple[float, float]  # Share with the favourable label in the file.
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class FrontierOutcome:
    """What a frontier is found to be."""

    problem: Problem
    method: str
    kind: str  # What is fitted, and how, in words.
    tried: int  # Strengths that were tried; the points are those that no other beats.
    depth: int  # Rules that a group has at most.
    groups: int  # Groups of the held-out rows that are compared, once for each rate.
    before: Accuracy
    worst_before: Worst  # Of the original.
    # Of the change of the worst difference, of the chosen point; None if none was.
    worst_change: tuple[float, float] | None
    constant_accuracy: float  # Of the best model that says the same of all.
    points: tuple[MeasuredPoint, ...]
    chosen: int | None  # Which point was chosen by the rows that were seen; None if none.
    reason: str  # Why none was; empty if one was.
    too_few_rows: bool  # Whether that is because too few of the rows that were seen can be judged.
    # The worst difference over each row's neighbours, before and after; None if not measured.
    neighbourhood: tuple[float, float] | None
    effects: SideEffects | None  # Of the chosen point.
    small_groups: ComparedGroups | None  # The groups that these are about.
    paying: tuple[SidesOfGroup, ...]  # The groups that are worst before and after.
    ceiling: tuple[MeasuredPoint, ...]  # Thresholds with the same scores; empty if it has none.
    refitted: bool  # Whether the original was fitted anew to the rows that were seen.
    seconds: Mapping[str, float]

    @property
    def point(self) -> MeasuredPoint | None:
        """The point that was chosen."""
        return None if self.chosen is None else self.points[self.chosen]
