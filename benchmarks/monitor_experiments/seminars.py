"""How often a monitor triggers about seminars, by strength and bound (Figure 5 of the paper).

As in the paper, every event after which the estimates are above the bound is a trigger. For
demographic parity the groups are compared over all seminars; for conditional parity within each,
and an event is a trigger if any seminar is above.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.monitor_experiments.assignment import (
    ALGORITHMS,
    GROUPS,
    Applications,
    Event,
    assign,
    decisions,
)
from testsgd.monitoring import Monitor, MonitorSpecification

Row = dict[str, Any]

PARITIES: dict[str, tuple[str, ...]] = {"demographic": (), "conditional": ("seminar",)}
_AT_ONCE = 50


@dataclass(frozen=True)
class Seminars:
    """How much is simulated.

    Attributes
    ----------
    scenarios : int
        Of each algorithm.
    people, seminars : int
        In a scenario.
    strengths : tuple of int
    bounds : tuple of str
    seed : int
    jobs : int
        Processes.
    """

    scenarios: int = 2000
    people: int = 100
    seminars: int = 5
    strengths: tuple[int, ...] = (0, 30, 54, 80)
    bounds: tuple[str, ...] = ("0.05", "0.085", "0.1", "0.15")
    seed: int = 0
    jobs: int = 1


def specified(strength: int, bounds: Iterable[str], parity: str) -> MonitorSpecification:
    """Specify parity with each of the bounds."""
    return MonitorSpecification.from_dict(
        {
            "name": f"seminars, strength {strength}",
            "groups": {"names": list(GROUPS)},
            "estimate": {"prior": "1/2", "strength": strength},
            "properties": [
                {
                    "property": "demographic_parity",
                    "bound": bound,
                    "condition_on": list(PARITIES[parity]),
                    "rule": "estimate",
                }
                for bound in bounds
            ],
        }
    )


def triggers(specification: MonitorSpecification, events: Iterable[Event]) -> list[int]:
    """Count the events after which each property is in alert, for some combination of values."""
    monitor = Monitor(specification)
    places = {one.name: place for place, one in enumerate(specification.monitored)}
    standing: list[set[Any]] = [set() for _ in places]
    counted = [0] * len(places)
    for event in events:
        for alert in monitor.observe(event):
            here = standing[places[alert.property]]
            if alert.kind == "raised":
                here.add(alert.conditions)
            else:
                here.discard(alert.conditions)
        for place, here in enumerate(standing):
            counted[place] += bool(here)
    return counted


def scenario(algorithm: str, number: int, size: Seminars) -> list[Event]:
    """Draw a scenario: the same people for every algorithm."""
    people = np.random.default_rng([size.seed, number])
    applications = Applications.draw(people, size.people, size.seminars)
    chance = np.random.default_rng([size.seed, number, 1 + ALGORITHMS.index(algorithm)])
    return decisions(applications, assign(algorithm, applications, chance))


def seminars(size: Seminars) -> list[Row]:
    """Count triggers; a row a parity, strength, bound and algorithm."""
    rows = []
    with ProcessPoolExecutor(size.jobs) as pool:
        for parity, strength, algorithm in product(PARITIES, size.strengths, ALGORITHMS):
            parts = pool.map(
                _count, *zip(*_portions(parity, strength, algorithm, size), strict=True)
            )
            found = np.concatenate(list(parts))
            rows += [
                {
                    "parity": parity,
                    "strength": strength,
                    "bound": float(bound),
                    "algorithm": algorithm,
                    "scenarios": len(found),
                    "events": len(found) * size.people,
                    "triggers": int(found[:, place].sum()),
                    "with_trigger": int((found[:, place] > 0).sum()),
                }
                for place, bound in enumerate(size.bounds)
            ]
            print(f"  seminars, {parity}, strength {strength}, {algorithm}", flush=True)
    return rows


def _portions(
    parity: str, strength: int, algorithm: str, size: Seminars
) -> Iterator[tuple[str, int, str, range, Seminars]]:
    for begin in range(0, size.scenarios, _AT_ONCE):
        numbers = range(begin, min(begin + _AT_ONCE, size.scenarios))
        yield parity, strength, algorithm, numbers, size


def _count(
    parity: str, strength: int, algorithm: str, numbers: range, size: Seminars
) -> NDArray[np.int64]:
    """Count the triggers of some scenarios; a row a scenario, a column a bound."""
    specification = specified(strength, size.bounds, parity)
    return np.array(
        [triggers(specification, scenario(algorithm, number, size)) for number in numbers]
    )
