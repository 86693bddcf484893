"""What an assessment finds: how each value of a requirement appears, and which combinations do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from testsgd.generative.specification import Requirement

Scope: TypeAlias = Literal["all", "neutral"]
Standing: TypeAlias = Literal["kept", "broken", "not_enough", "described"]


@dataclass(frozen=True, kw_only=True)
class ValueOutcome:
    """How one value appears among the related outputs of a requirement."""

    name: str
    count: int  # Related outputs that have it.
    share: float | None  # The same as a share of the related outputs; None without any.
    # Ends of the exact interval of the share (Clopper and Pearson).
    exact_low: float
    exact_high: float
    # Ends of the interval that holds for every length of the sequence at once.
    low: float
    high: float
    first: int | None  # Position of its first output, from 1; None if it never appears.
    # The smallest number of outputs within which it came, and came again (Definition 10).
    smallest_beta: int
    beta: int | None  # The number that is asked for.
    kept: bool | None  # Whether that was kept; None if nothing is asked for.
    missed_at: int | None  # Position of the output by which it should have come, but did not.
    asked: int  # Outputs for which it was asked.
    obeyed: int  # Those of them that had it.


@dataclass(frozen=True, kw_only=True)
class SequenceOutcome:
    """How the values of a requirement appear in a sequence of outputs."""

    requirement: Requirement
    scope: Scope  # All outputs, or those of neutral prompts.
    outputs: int  # Outputs that were looked at.
    related: int  # Those that fulfil the condition and have a value.
    unrelated: int  # Those that fulfil the condition and have none.
    standing: Standing
    long_enough: bool  # More related outputs than the largest beta.
    all_appeared: bool  # Every value appeared (Definition 4).
    values: tuple[ValueOutcome, ...]
    difference: float | None  # The largest share less the smallest.
    # Ends of its interval that holds for every length of the sequence at once.
    difference_low: float
    difference_high: float
    difference_bound: float | None  # What the betas allow in the long run (Lemma 1).
    labels: NDArray[np.int32]  # The values of the related outputs in their order, from 1.
    asked: NDArray[np.bool_]  # Which of them had been asked for.
    positions: NDArray[np.intp]  # Which of all outputs they are, from 0.


@dataclass(frozen=True, kw_only=True)
class MissingCombination:
    """A combination of values that no output has."""

    groupings: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CoverageOutcome:
    """Which combinations of values appear (Definitions 8 and 9)."""

    groupings: tuple[str, ...]
    strength: int  # How many groupings a combination joins.
    condition: tuple[tuple[str, str], ...]
    outputs: int  # Outputs that fulfil the condition.
    combinations: int  # All that there are.
    covered: int  # Those that appear.
    curve: NDArray[np.int64]  # How many had appeared after each output, shape (outputs,).
    missing: tuple[MissingCombination, ...]  # The first of those that do not appear.
    # The least number of outputs that could still cover them all lies between these two.
    least_further: int
    enough_further: int | None  # None if it was not computed.


@dataclass(frozen=True, kw_only=True)
class AssessmentOutcome:
    """Everything that an assessment finds."""

    outputs: int
    prompts_known: bool  # Whether the outputs came with their prompts.
    all_neutral: bool  # Whether all prompts are neutral for all requirements.
    sequences: tuple[SequenceOutcome, ...]
    coverage: CoverageOutcome | None
    several: int  # Outputs with several values of a grouping.
    unanswered: int  # Outputs about which a chat model gave no usable answer.
