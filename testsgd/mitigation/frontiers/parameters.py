"""What the user of a frontier can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from testsgd.mitigation.parameters import MitigationParameters
from testsgd.parameters import MOST_JOBS, Parameters, declared_parameters, parameter

Method = Literal["auto", "play", "thresholds", "penalty", "ensemble"]
Objective = Literal[
    "selection_rate", "true_positive_rate", "false_positive_rate", "equalized_odds", "accuracy"
]

_OF_SAMPLES = declared_parameters(MitigationParameters)


@dataclass(frozen=True, kw_only=True)
class FrontierParameters(Parameters):
    """The parameters of a frontier.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> FrontierParameters(max_accuracy_drop=1).budget
    0.01
    """

    method: Method = parameter(
        "auto",
        "How the worst difference of all groups is lowered: play (refits with weights against the "
        "groups that are worst), penalty (networks, trained on against it), thresholds (one for "
        "each combination of sensitive values, of a model with scores), ensemble (such thresholds "
        "for a boosting, a forest and a logistic regression together, in place of the model), or "
        "auto (penalty for networks, play for what can be fitted with weights, or else "
        "thresholds).",
    )
    max_accuracy_drop: float = parameter(
        0.5,
        "Most percentage points of accuracy that may be lost. It chooses the point of the "
        "frontier; what the held-out rows then show is judged by it.",
        at_least=0,
        at_most=100,
        example="percentage points such as 0.5",
    )
    max_balanced_drop: float = parameter(
        5.0,
        "Most percentage points of balanced accuracy, the mean over both labels, that may be lost.",
        at_least=0,
        at_most=100,
        example="percentage points such as 5",
    )
    objective: Objective = parameter(
        "selection_rate",
        "Which rate groups are to have alike: selection_rate, true_positive_rate, "
        "false_positive_rate, equalized_odds (both of these) or accuracy.",
    )
    max_side_effect: float = parameter(
        0.05,
        _OF_SAMPLES["max_side_effect"].parameter.help,
        at_least=0,
        at_most=1,
        example="a share such as 0.05",
    )
    max_group_accuracy_drop: float = parameter(
        3.0,
        _OF_SAMPLES["max_group_accuracy_drop"].parameter.help,
        at_least=0,
        at_most=100,
        example="percentage points such as 3",
    )
    min_share: float = parameter(
        0.05,
        "Smallest share of the rows that a group has, and its complement, to be compared; side "
        "effects are looked for in smaller groups too.",
        above=0,
        below=0.5,
        example="a share such as 0.05",
    )
    max_features: int | None = parameter(
        None,
        "Most rules of a group. (default: what a search of a few seconds allows)",
        at_least=1,
    )
    blind: bool = parameter(
        False, "The model that is written does not see the sensitive features. For play."
    )
    no_rate_lowered: bool = parameter(
        False,
        "No combination of sensitive values gets the favourable label less often than by the "
        "original, on the rows that choose. For thresholds.",
    )
    confidence: float = parameter(
        0.95, "Confidence of intervals.", above=0, below=1, example="a share such as 0.95"
    )
    seed: int = parameter(0, "Same seed, same result.", at_least=0)
    jobs: int | None = parameter(
        None,
        "Processors to work on; changes no result. (default: all)",
        at_least=1,
        at_most=MOST_JOBS,
    )

    @property
    def budget(self) -> float:
        """Most accuracy that may be lost, as a share of the rows."""
        return self.max_accuracy_drop / 100

    @property
    def balanced_budget(self) -> float:
        """Most balanced accuracy that may be lost, as a share."""
        return self.max_balanced_drop / 100
