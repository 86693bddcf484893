"""The people of simulated streams: drawn by chances, or from past events with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import EventError, ParameterError
from testsgd.monitoring.event_sources import EventSource
from testsgd.monitoring.running import Monitor
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.trials import Event, Step, Trial

# Values of each field within which groups are compared; they are drawn equally often.
_VALUES = ("x", "y", "z")
_NAMES = ("a", "b")


@dataclass(frozen=True)
class Population:
    """People to draw from; the first group has the lowest rate.

    `people` are drawn with replacement: the place of the group, the label and the given values of
    each, and how often they are drawn. `decisions` are their own, of past events.
    """

    groups: tuple[str, ...]
    members: NDArray[np.int64]  # The place of each person's group; shape (people,).
    labels: NDArray[np.int64]
    conditions: tuple[tuple[str, ...], ...]
    chances: NDArray[np.float64]
    rate: float
    decisions: NDArray[np.int64] | None = None

    def rates(self, bias: float, *, ratio: bool) -> NDArray[np.float64]:
        """Return the rate of each group, the lowest and the highest `bias` apart.

        The middle of both is the population's rate. With `ratio` the bias is 1 minus the ratio of
        the lowest and the highest; else it is their difference.
        """
        high = 2 * self.rate / (2 - bias) if ratio else self.rate + bias / 2
        low = 2 * self.rate - high
        if low < 0 or high > 1:
            what = f"no rates around {self.rate:.3g} have a bias of {bias:g}"
            remedy = "choose a smaller bias, or a rate nearer to 0.5"
            raise ParameterError(what, where="bias", remedy=remedy, value=bias)
        rates = np.full(len(self.groups), self.rate)
        rates[0] = low
        rates[-1] = high
        return rates

    def draw(
        self, random: np.random.Generator, people: int, rates: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of people that are drawn, and a decision on each.

        Without rates the decisions are their own.
        """
        chosen = random.choice(len(self.members), size=people, p=self.chances)
        levels = random.random(people)
        if rates is None:
            assert self.decisions is not None
            return chosen, self.decisions[chosen]
        return chosen, (levels < rates[self.members[chosen]]).astype(np.int64)


def paper_population(
    specification: MonitorSpecification, parameters: MonitorSimulationParameters
) -> Population:
    """Return the people of the paper's hiring streams: independent, of groups with chances.

    Labels are independent of group and decision, and so are the values of `condition_on` fields,
    three of each, equally often.
    """
    groups = specification.groups.names or _NAMES
    count = len(groups)
    shares = np.full(count, 1 / count)
    if parameters.share is not None:
        shares = np.full(count, (1 - parameters.share) / (count - 1))
        shares[0] = parameters.share
    fields = len(specification.given_fields)
    given: list[tuple[str, ...]] = [()]
    for _ in range(fields):
        given = [(*values, value) for values in given for value in _VALUES]
    kinds = [
        (place, label, values) for place in range(count) for label in (0, 1) for values in given
    ]
    label_chances = (1 - parameters.label_rate, parameters.label_rate)
    chances = np.array(
        [shares[place] * label_chances[label] / len(given) for place, label, _ in kinds]
    )
    return Population(
        groups=tuple(groups),
        members=np.array([place for place, _, _ in kinds]),
        labels=np.array([label for _, label, _ in kinds]),
        conditions=tuple(values for _, _, values in kinds),
        chances=chances / chances.sum(),
        rate=parameters.rate,
    )


def past_population(trials: Sequence[Trial], *, where: str) -> Population:
    """Return the people of past trials; the group with the lowest rate is the first."""
    by_group: dict[str, list[int]] = {}
    for trial in trials:
        by_group.setdefault(trial.group, []).append(trial.decision)
    if len(by_group) < 2:
        what = f"the past events have people of {len(by_group)} groups, and two are needed"
        raise ParameterError(what, where=where, remedy="give events of more people")
    groups = sorted(by_group, key=lambda name: (np.mean(by_group[name]), name))
    decisions = np.array([trial.decision for trial in trials])
    return Population(
        groups=tuple(groups),
        members=np.array([groups.index(trial.group) for trial in trials]),
        labels=np.array([trial.label or 0 for trial in trials]),
        conditions=tuple(trial.conditions for trial in trials),
        chances=np.full(len(trials), 1 / len(trials)),
        rate=float(decisions.mean()),
        decisions=decisions,
    )


class _Listener(Monitor):
    """A monitor that judges nothing, and keeps the trials that would count."""

    def _begin(self) -> None:
        super()._begin()
        self._judges = []
        self._in_time = []
        self.counted: list[Trial] = []

    def _judged(self, steps: Any) -> list[Any]:
        labelled = any(watched.fairness.labelled for watched in self.specification.monitored)
        kind = "complete" if labelled else "decided"
        kept: list[Step] = [step for step in steps if step.kind == kind and step.span is None]
        self.counted += [step.trial for step in kept]
        return []


def past_trials(source: EventSource, specification: MonitorSpecification) -> list[Trial]:
    """Return the trials of past events that a monitor would count; wrong events are left out."""
    listener = _Listener(specification)
    for number, item in source.items:
        event = source.parse(item)
        if event is None:
            continue
        try:
            listener.observe(event, place=number)
        except EventError:
            continue
    return listener.counted


def events_of(
    population: Population,
    chosen: NDArray[np.int64],
    decisions: NDArray[np.int64],
    *,
    labelled: bool,
    seconds_apart: float,
) -> list[Event]:
    """Return the event of each person, which says all of it."""
    return [
        Event(
            None,
            population.groups[population.members[person]],
            decision,
            int(population.labels[person]) if labelled else None,
            population.conditions[person],
            place * seconds_apart,
        )
        for place, (person, decision) in enumerate(
            zip(chosen.tolist(), decisions.tolist(), strict=True)
        )
    ]
