"""A refitter that can be checked by hand: it tries a few deciders, and takes the best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.mitigation.exponentiated_gradient import (
    DIFFERENCE_BOUND,
    Mixture,
    exponentiated_gradients,
)
from testsgd.models.refitting import Examples, Stage

# Whoever has at least so much merit gets the favourable label; a limit for each side of the group.
LIMITS = tuple(range(8))
LIMIT_PAIRS = tuple(itertools.product(LIMITS, LIMITS))


@dataclass(frozen=True)
class Decider:
    """Decides by merit, with one limit for members of the group and one for everybody else."""

    limits: tuple[int, int]

    def decisions(self, people: pd.DataFrame) -> NDArray[np.bool_]:
        limits = np.where(people["member"], *self.limits)
        return np.asarray(people["merit"] >= limits)


class ThresholdRefitter:
    """Finds the decider of the least cost; the stage before the last is one that favours all."""

    kind = "two limits"
    goes_on = False

    def __init__(self, training: Examples) -> None:
        self.training = training
        self.calls: list[tuple[NDArray[np.float64], NDArray[np.bool_], int]] = []

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[Decider]]:
        assert extra is None
        assert weights is not None
        assert labels is not None
        self.calls.append((weights, labels, seed))
        costs = {
            pair: float(weights[Decider(pair).decisions(self.training.inputs) != labels].sum())
            for pair in LIMIT_PAIRS
        }
        yield Stage(Decider((0, 0)), "epoch 1")
        yield Stage(Decider(min(LIMIT_PAIRS, key=lambda pair: costs[pair])), "epoch 2")


def applicants(count: int, seed: int) -> tuple[Examples, NDArray[np.bool_]]:
    """Draw people with a merit of 0 to 6; members of the group need more of it for the label."""
    generator = np.random.default_rng(seed)
    member = generator.random(count) < 0.3
    merit = generator.integers(0, 7, count)
    favourable = merit + generator.normal(0, 1, count) > np.where(member, 4.5, 2.0)
    people = pd.DataFrame({"member": member, "merit": merit})
    return Examples(people, favourable), member


def exponentiated_gradient(
    refitter: Any, training: Examples, members: NDArray[np.bool_], **options: Any
) -> Mixture:
    """Find the mixture of the last bound alone."""
    bounds = (DIFFERENCE_BOUND,)
    return exponentiated_gradients(refitter, training, members, bounds=bounds, **options)[0]
