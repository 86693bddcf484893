"""What the user of a mitigation can choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from operator import le
from typing import Any, Literal, get_args

import numpy as np

from testsgd.errors import ParameterError

Side = Literal["group", "rest"]
Kind = Literal["counter", "odds", "shifted", "anchored"]
Fallback = Literal["nearest", "none"]
SideChoice = Literal["auto", "group", "rest", "both"]
KindChoice = Literal["auto", "counter", "odds", "shifted", "anchored"]

# From so large a rise of a group's score on, a report lists it.
RISEN_BY = 0.02

# With fewer held-out rows or texts on one side nothing is concluded from them.
LEAST_HELD_OUT = 30

# The largest number of samples is tried with these weights too; a training row weighs 1.
HEAVIER = (1.6, 2.5, 4.0, 6.0)


@dataclass(frozen=True)
class Dosage:
    """How many samples are added, and how much each counts beside a training row."""

    count: int
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class MitigationParameters:
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

    # Rank of the group in the audit; the first if neither this nor `all_above` is given.
    group: int | None = None
    # In place of one group: every distinct group with a larger score, until all are below.
    all_above: float | None = None
    # Most percentage points of accuracy that a candidate may lose on the training rows, on the
    # validation rows and, when it is chosen, on the held-out rows.
    max_accuracy_drop: float = 0.5
    # The same of balanced accuracy, the mean of the accuracies on the rows of either label.
    max_balanced_drop: float = 2.0
    runs: int = 3  # How often everything is done, each time with a seed of its own.
    # How many numbers of samples are tried, growing geometrically. Then the largest number is tried
    # with heavier samples.
    steps: int = 6
    fewest_samples: int = 50  # Samples added in the first step.
    largest_share: float = 0.1  # Samples added in the last step, as a share of the training rows.
    # Which samples are added: those that the model gives the counter label, as in the paper; those
    # drawn by the chance that it does; shifted ones; or, one kind after the other, what has proved
    # its worth. See :mod:`testsgd.mitigation.sample_selection`.
    samples: KindChoice = "auto"
    # Whose samples are added: the group's, everybody else's, or of both; ``auto`` is the smaller
    # side, if it has less than a tenth of the training rows, or else both.
    side: SideChoice = "auto"
    # Where too few counter-labelled samples exist: relabel those nearest to the decision boundary,
    # or go on with fewer.
    fallback: Fallback = "nearest"
    max_draws: int = 1_000_000  # Most samples to draw for a side of a target in a run.
    from_scratch: bool = False  # Retrain from new weights, not from the original ones.
    # Networks learn softened labels of the training rows: for tables cross-fitted probabilities,
    # for texts the original's own scores; see :mod:`testsgd.mitigation.table_splits`. Estimators
    # learn the labels as they are.
    soften: bool = True
    seed: int = 0  # Same seed, same result.

    def __post_init__(self) -> None:
        for name in ("group", "runs", "steps", "fewest_samples", "max_draws", "seed"):
            least = 0 if name == "seed" else 1
            self._check(name, Integral, partial(le, least), f"at least {least}")
        if self.group is not None and self.all_above is not None:
            raise ParameterError(
                f"group {self.group} and all groups above {self.all_above} are both asked for",
                where="group",
                remedy="give one of the two",
            )
        score, points = "a score such as 0.1", "percentage points such as 0.5"
        self._check("all_above", Real, lambda value: 0 < value < 1, "between 0 and 1", score)
        for name in ("max_accuracy_drop", "max_balanced_drop"):
            self._check(name, Real, lambda value: 0 <= value <= 100, "between 0 and 100", points)
        share = "a share such as 0.1"
        self._check("largest_share", Real, lambda value: 0 < value <= 1, "in (0, 1]", share)
        for name, kind in {"side": SideChoice, "fallback": Fallback, "samples": KindChoice}.items():
            choices, chosen = get_args(kind), getattr(self, name)
            if chosen not in choices:
                remedy = f"choose one of {', '.join(choices)}"
                raise _refused(name, f"{chosen!r} is not known", remedy)

    def _check(
        self,
        name: str,
        kind: type,
        fits: Callable[[Any], bool],
        bounds: str,
        example: str = "a whole number",
    ) -> None:
        """Check that a number is of its kind and in its range; None is for those that may be."""
        value = getattr(self, name)
        if value is None and name in ("group", "all_above"):
            return
        if isinstance(value, bool) or not isinstance(value, kind):
            wanted = "a whole number" if kind is Integral else "a number"
            raise _refused(name, f"{value!r} is not {wanted}", f"give {wanted}")
        if not fits(value):
            raise _refused(name, f"{value} is not {bounds}", f"give {example}")

    @property
    def rank(self) -> int | None:
        """The rank asked for; None if it is all groups above a score."""
        if self.all_above is not None:
            return None
        return 1 if self.group is None else self.group

    def sizes(self, training: int) -> tuple[int, ...]:
        """Return the numbers of samples to try, ascending, for so many training rows or texts."""
        most = max(1, round(self.largest_share * training))
        fewest = min(self.fewest_samples, most)
        return tuple(
            sorted({round(size) for size in np.geomspace(fewest, most, self.steps).tolist()})
        )

    def dosages(self, training: int) -> tuple[Dosage, ...]:
        """Return the numbers and weights of samples to try, for so many training rows or texts."""
        sizes = self.sizes(training)
        return (
            *(Dosage(size) for size in sizes),
            *(Dosage(sizes[-1], weight) for weight in HEAVIER),
        )


def _refused(name: str, what: str, remedy: str) -> ParameterError:
    return ParameterError(what, where=name, remedy=remedy, name=name)
