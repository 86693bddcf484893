"""What the user of a mitigation can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from testsgd.errors import ParameterError
from testsgd.parameters import LARGEST_SEED, Parameters, parameter

Side = Literal["group", "rest"]
Kind = Literal["counter", "odds", "shifted", "anchored"]
Fallback = Literal["nearest", "none"]
SideChoice = Literal["auto", "group", "rest", "both"]
KindChoice = Literal["auto", "counter", "odds", "shifted", "anchored"]

# From so large a rise of a group's score on, a report lists it.
RISEN_BY = 0.02

# With fewer held-out rows or texts on one side nothing is concluded from them.
LEAST_HELD_OUT = 30

# Sums of points of accuracy carry rounding errors of this size at most.
ROUNDING = 1e-9

# The largest number of samples is tried with these weights too; a training row weighs 1.
HEAVIER = (1.6, 2.5, 4.0, 6.0)


@dataclass(frozen=True)
class Dosage:
    """How many samples are added, and how much each counts beside a training row."""

    count: int
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class MitigationParameters(Parameters):
    """The parameters of a mitigation.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    References
    ----------
    Zhang et al., TestSGD, RQ3: from 50 samples up to a tenth of the data, 3 runs.

    Examples
    --------
    >>> MitigationParameters().sizes(20_000)
    (50, 105, 219, 457, 956, 2000)
    """

    group: int | None = parameter(
        None,
        "Rank of the group in the audit. By default the first with at least 30 held-out rows or "
        "texts on both sides.",
        at_least=1,
    )
    all_above: float | None = parameter(
        None,
        "In place of `group`: all distinct groups with a larger score, with a shared number of "
        "samples, until all are below; the mitigation fails if one of them stays above.",
        above=0,
        below=1,
        example="a score such as 0.1",
    )
    max_accuracy_drop: float = parameter(
        0.5,
        "Most percentage points of accuracy that a retrained model may lose on training, "
        "validation and held-out data. If each candidate loses more, the original model is kept.",
        at_least=0,
        at_most=100,
        example="percentage points such as 0.5",
    )
    max_balanced_drop: float = parameter(
        2.0,
        "Most percentage points of balanced accuracy, the mean over both labels, that it may lose.",
        at_least=0,
        at_most=100,
        example="percentage points such as 0.5",
    )
    max_side_effect: float = parameter(
        0.05,
        "Most by which the gap of any group to its complement in selection rate, true-positive "
        "rate, false-positive rate or accuracy may grow on held-out data, as a share: 0.05 is 5 "
        "points. If one grows by more, and by more than chance explains, the mitigation fails.",
        at_least=0,
        at_most=1,
        example="a share such as 0.05",
    )
    max_group_accuracy_drop: float = parameter(
        3.0,
        "Most percentage points of accuracy that any group may lose on held-out data. If one loses "
        "more, and more than chance explains, the mitigation fails.",
        at_least=0,
        at_most=100,
        example="percentage points such as 3",
    )
    runs: int = parameter(3, "Do everything so often, each time with another seed.", at_least=1)
    steps: int = parameter(
        6,
        "How many numbers of samples to try, growing geometrically; then the largest number is "
        "tried with heavier samples.",
        at_least=1,
    )
    fewest_samples: int = parameter(50, "Samples added in the first step.", at_least=1)
    largest_share: float = parameter(
        0.1,
        "Samples added in the last step, as a share of the training data.",
        above=0,
        at_most=1,
        example="a share such as 0.1",
    )
    samples: KindChoice = parameter(
        "auto",
        "Which samples to add: counter (those that the model gives the label wanted, as in the "
        "paper), odds (drawn by the chance that it does), shifted (as they come, what the model "
        "says of all moved by one step), anchored (all; those nearest to the decision boundary "
        "relabelled), or auto (one kind after the other).",
    )
    side: SideChoice = parameter(
        "auto",
        "Whose samples to add: group, rest, both, or auto (the smaller side's, if it has less than "
        "a tenth of the training data, or else both).",
    )
    fallback: Fallback = parameter(
        "nearest",
        "Where the model gives too few samples the label that is wanted: nearest (relabel those "
        "nearest to its decision boundary) or none (add fewer).",
    )
    max_draws: int = parameter(
        1_000_000, "Most samples to draw for a side of a group in a run.", at_least=1
    )
    from_scratch: bool = parameter(False, "Retrain from new weights, not from those of the model.")
    soften: bool = parameter(
        True,
        "Networks learn the training data's labels softened to probabilities: of tables "
        "cross-fitted ones, of texts the model's own scores. Labels as they are leave less "
        "accuracy to spend. Estimators learn them as they are.",
    )
    seed: int = parameter(0, "Same seed, same result.", at_least=0, at_most=LARGEST_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group is not None and self.all_above is not None:
            raise ParameterError(
                f"group {self.group} and all groups above {self.all_above} are both asked for",
                where="group",
                remedy="give one of the two",
            )

    @property
    def rank(self) -> int | None:
        """The rank asked for; None if it is all groups above a score."""
        if self.all_above is not None:
            return None
        return 1 if self.group is None else self.group

    def sizes(self, training: int) -> tuple[int, ...]:
        """Return the numbers of samples to try, ascending.

        They grow geometrically from `fewest_samples` to `largest_share` of the training data, in
        `steps` steps; equal ones are tried once.

        Parameters
        ----------
        training : int
            How many rows or texts are trained on.

        Returns
        -------
        tuple of int
            At most `steps` different numbers.
        """
        # Not for the help of a command.
        import numpy as np

        most = max(1, round(self.largest_share * training))
        fewest = min(self.fewest_samples, most)
        return tuple(
            sorted({round(size) for size in np.geomspace(fewest, most, self.steps).tolist()})
        )

    def dosages(self, training: int) -> tuple[Dosage, ...]:
        """Return the numbers and weights of samples to try, in order.

        Parameters
        ----------
        training : int
            How many rows or texts are trained on.

        Returns
        -------
        tuple of Dosage
            Those of :meth:`sizes` with the weight 1, then the largest with larger weights.

        Examples
        --------
        >>> MitigationParameters(steps=2).dosages(1000)[1:3]
        (Dosage(count=100, weight=1.0), Dosage(count=100, weight=1.6))
        """
        sizes = self.sizes(training)
        return (
            *(Dosage(size) for size in sizes),
            *(Dosage(sizes[-1], weight) for weight in HEAVIER),
        )
