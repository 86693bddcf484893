"""The keywords of a frontier, for editors and type checkers."""

from __future__ import annotations

from typing import TypedDict

from testsgd.mitigation.frontiers.parameters import Method, Objective


# Checkers read no class of parameters as keywords, so that its names and types stand here once
# more; a test compares the two.
class FrontierOptions(TypedDict, total=False):
    """The keywords of a frontier: those of :class:`testsgd.mitigation.FrontierParameters`.

    Examples
    --------
    >>> options: FrontierOptions = {"max_accuracy_drop": 1.0, "method": "thresholds"}
    >>> from testsgd.mitigation import FrontierParameters
    >>> FrontierParameters(**options).budget
    0.01
    """

    method: Method
    max_accuracy_drop: float
    max_balanced_drop: float
    objective: Objective
    max_side_effect: float
    max_group_accuracy_drop: float
    min_share: float
    max_features: int | None
    blind: bool
    no_rate_lowered: bool
    confidence: float
    seed: int
    jobs: int | None
