"""Candidates: what each strength of a method costs and brings on rows it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from testsgd.mitigation.frontier import FrontierPoint
from testsgd.mitigation.frontiers.problem import FairModel


@dataclass(frozen=True)
class Candidate:
    """A point of a frontier, and the model that it is of."""

    point: FrontierPoint
    fit: Callable[[], FairModel]  # Fits it to all rows that were seen.
