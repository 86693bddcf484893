"""Places in seminars: who applies, and four ways to choose (section 5.1 of the paper).

The paper does not say how many seminars and places there are. Here a hundred people apply to five
seminars with ten places each, so that half of them can be accepted, as the prior belief says. Man
or woman, seminar and qualification are drawn independently and evenly. Everybody's decision is an
event, in the order of the applications: FCFS, Randomize and Qualification are told apart by whom
they choose, not by when they say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Event = dict[str, Any]
Integers = NDArray[np.int64]

GROUPS = ("women", "men")
ALGORITHMS = ("FCFS", "Randomize", "Qualification", "EqualGender")


@dataclass(frozen=True)
class Applications:
    """Who applies, in this order.

    Attributes
    ----------
    groups, seminars : numpy.ndarray of int, shape (n,)
    qualifications : numpy.ndarray of float, shape (n,)
    places : int
        Of each seminar.
    """

    groups: Integers
    seminars: Integers
    qualifications: NDArray[np.float64]
    places: int

    @classmethod
    def draw(
        cls, random: np.random.Generator, people: int = 100, seminars: int = 5
    ) -> Applications:
        """Draw people; about half of them find a place."""
        return cls(
            random.integers(0, len(GROUPS), people),
            random.integers(0, seminars, people),
            random.random(people),
            people // (2 * seminars),
        )


def assign(
    algorithm: str, applications: Applications, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Say who is accepted.

    Parameters
    ----------
    algorithm : str
        FCFS takes those who apply first, Randomize anybody, Qualification the most qualified;
        EqualGender gives each place to the group of which the smaller share has been accepted so
        far, over all seminars, and within it to anybody.
    applications : Applications
    random : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
    """
    people = len(applications.groups)
    if algorithm == "EqualGender":
        return _equal_gender(applications, random)
    order = {
        "FCFS": np.arange(people, dtype=np.float64),
        "Randomize": random.random(people),
        "Qualification": -applications.qualifications,
    }[algorithm]
    accepted = np.zeros(people, dtype=bool)
    for seminar in np.unique(applications.seminars):
        here = np.flatnonzero(applications.seminars == seminar)
        accepted[here[np.argsort(order[here])][: applications.places]] = True
    return accepted


def _equal_gender(applications: Applications, random: np.random.Generator) -> NDArray[np.bool_]:
    accepted = np.zeros(len(applications.groups), dtype=bool)
    applied, given = [0, 0], [0, 0]
    for seminar in np.unique(applications.seminars):
        here = random.permutation(np.flatnonzero(applications.seminars == seminar))
        waiting = [here[applications.groups[here] == group].tolist() for group in (0, 1)]
        applied = [before + len(new) for before, new in zip(applied, waiting, strict=True)]
        for _ in range(min(applications.places, len(here))):
            # The shares are compared in whole numbers; where they are equal, chance decides.
            behind = given[0] * applied[1] - given[1] * applied[0]
            group = int(random.integers(0, 2)) if behind == 0 else int(behind > 0)
            group = group if waiting[group] else 1 - group
            accepted[waiting[group].pop()] = True
            given[group] += 1
    return accepted


def decisions(applications: Applications, accepted: NDArray[np.bool_]) -> list[Event]:
    """Make the events of a monitor: an applicant, with the decision."""
    return [
        {"id": person, "group": GROUPS[group], "seminar": seminar, "decision": int(decision)}
        for person, (group, seminar, decision) in enumerate(
            zip(
                applications.groups.tolist(),
                applications.seminars.tolist(),
                accepted.tolist(),
                strict=True,
            )
        )
    ]
