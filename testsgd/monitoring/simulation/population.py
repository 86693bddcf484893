"""The people of simulated streams: drawn by chances, or from past events with replacement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import EventError, ParameterError
from testsgd.monitoring.event_sources import EventSource
from testsgd.monitoring.judging import Alert
from testsgd.monitoring.running import Monitor
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.monitoring.trials import Event, Step, Trial
from testsgd.report.formatting import plural

# Values of each field within which groups are compared; they are drawn equally often.
_VALUES = ("x", "y", "z")
_NAMES = ("a", "b")
# Of favourable decisions and of positive labels, if nothing is said.
_HALF = 0.5
# How often chances are scaled at most, and how near shares then are to those that are asked for.
_MOST_SCALED = 1_000
_NEAR = 1e-9


@dataclass(frozen=True)
class Population:
    """People to draw from; the first group has the lowest rate.

    `people` are drawn with replacement: the place of the group, the label and the given values of
    each, and how often they are drawn. `decisions` are their own, of past events that are drawn as
    they are; `past` is how many people past events have.
    """

    groups: tuple[str, ...]
    members: NDArray[np.int64]  # The place of each person's group; shape (people,).
    labels: NDArray[np.int64]
    conditions: tuple[tuple[str, ...], ...]
    chances: NDArray[np.float64]
    rate: float
    decisions: NDArray[np.int64] | None = None
    past: int | None = None

    def rates(self, bias: float, *, ratio: bool) -> NDArray[np.float64]:
        """Return the rate of each group, the lowest and the highest `bias` apart.

        The middle of both is the population's rate. With `ratio` the bias is 1 minus the ratio of
        the lowest and the highest; else it is their difference.
        """
        low, high = self._ends(bias, ratio=ratio)
        if low < 0 or high > 1:
            what = f"no rates around {self.rate:.3g} have a bias of {bias:g}"
            # Rounded down, so that it can be given.
            most = math.floor(1000 * self._largest_bias(ratio=ratio) + 1e-9) / 1000
            remedy = f"choose a bias of at most {most:g}, or a rate nearer to 0.5"
            raise ParameterError(what, where="bias", remedy=remedy, value=bias)
        rates = np.full(len(self.groups), self.rate)
        rates[0] = low
        rates[-1] = high
        return rates

    def allows(self, bias: float, *, ratio: bool) -> bool:
        """Return whether there are rates with this bias around the population's."""
        low, high = self._ends(bias, ratio=ratio)
        return low >= 0 and high <= 1

    def _largest_bias(self, *, ratio: bool) -> float:
        """Return the largest bias that some rates around the population's have."""
        if ratio:
            return min(1.0, 2 - 2 * self.rate)
        return 2 * min(self.rate, 1 - self.rate)

    def _ends(self, bias: float, *, ratio: bool) -> tuple[float, float]:
        high = 2 * self.rate / (2 - bias) if ratio else self.rate + bias / 2
        return 2 * self.rate - high, high

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
    groups, shares = _groups_by_rate(specification)
    count = len(groups)
    if parameters.share is not None:
        others = shares[1:] / shares[1:].sum()
        shares = np.array([parameters.share, *((1 - parameters.share) * others)])
    rate, label_rate = assumed_rates(specification, parameters)
    fields = len(specification.given_fields)
    given: list[tuple[str, ...]] = [()]
    for _ in range(fields):
        given = [(*values, value) for values in given for value in _VALUES]
    kinds = [
        (place, label, values) for place in range(count) for label in (0, 1) for values in given
    ]
    label_chances = (1 - label_rate, label_rate)
    chances = np.array(
        [shares[place] * label_chances[label] / len(given) for place, label, _ in kinds]
    )
    return Population(
        groups=tuple(groups),
        members=np.array([place for place, _, _ in kinds]),
        labels=np.array([label for _, label, _ in kinds]),
        conditions=tuple(values for _, _, values in kinds),
        chances=chances / chances.sum(),
        rate=rate,
    )


def _groups_by_rate(
    specification: MonitorSpecification,
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the groups and their shares, that with the lowest of the specified rates first."""
    groups = specification.groups.names or _NAMES
    assumed = specification.simulation
    shares = np.array(assumed.shares or [1.0] * len(groups))
    order = np.argsort(assumed.rates or [0.0] * len(groups), kind="stable")
    return tuple(groups[place] for place in order), shares[order] / shares.sum()


def assumed_rates(
    specification: MonitorSpecification, parameters: MonitorSimulationParameters
) -> tuple[float, float]:
    """Return the rate and the share of positive labels: as asked for, specified, or a half."""
    assumed = specification.simulation
    rates = (parameters.rate, assumed.middle_rate, _HALF)
    label_rates = (parameters.label_rate, assumed.label_rate, _HALF)
    rate, label_rate = (
        next(value for value in values if value is not None) for values in (rates, label_rates)
    )
    return rate, label_rate


def past_population(
    trials: Sequence[Trial], parameters: MonitorSimulationParameters, *, where: str
) -> Population:
    """Return the people of past trials; the group with the lowest rate is the first.

    They are drawn equally often, or as often as gives the shares that are asked for.
    """
    by_group: dict[str, list[int]] = {}
    for trial in trials:
        by_group.setdefault(trial.group, []).append(trial.decision)
    if len(by_group) < 2:
        what = f"the trials that count are of {plural(len(by_group), 'group')}, and two are needed"
        raise ParameterError(what, where=where, remedy="give events of more people")
    groups = sorted(by_group, key=lambda name: (np.mean(by_group[name]), name))
    decisions = np.array([trial.decision for trial in trials])
    places = {name: place for place, name in enumerate(groups)}
    members = np.array([places[trial.group] for trial in trials])
    labels = np.array([trial.label or 0 for trial in trials])
    return Population(
        groups=tuple(groups),
        members=members,
        labels=labels,
        conditions=tuple(trial.conditions for trial in trials),
        chances=_chances(members, labels, parameters),
        rate=float(decisions.mean()) if parameters.rate is None else parameters.rate,
        # At another rate their own decisions would not be what is drawn.
        decisions=decisions if parameters.rate is None else None,
        past=len(trials),
    )


def _chances(
    members: NDArray[np.int64], labels: NDArray[np.int64], parameters: MonitorSimulationParameters
) -> NDArray[np.float64]:
    """Return how often past people are drawn, so that groups and labels have the given shares.

    Groups stay in their proportion and labels are as they are within a group, as far as nothing
    else is asked for.
    """
    chances = np.full(len(members), 1 / len(members))
    shares = np.bincount(members) / len(members)
    if parameters.share is not None:
        others = shares[1:] / shares[1:].sum()
        shares = np.array([parameters.share, *((1 - parameters.share) * others)])
        chances = _scaled(chances, members, shares)
    if parameters.label_rate is None:
        return chances
    wanted = np.array([1 - parameters.label_rate, parameters.label_rate])
    for _ in range(_MOST_SCALED):
        if len(np.unique(labels)) < len(wanted):
            break
        chances = _scaled(_scaled(chances, labels, wanted), members, shares)
        if abs(chances[labels == 1].sum() - parameters.label_rate) < _NEAR:
            return chances
    what = f"no draw of past people has the label rate {parameters.label_rate:g}"
    remedy = "choose a label rate nearer to that of the past events, or leave the events out"
    raise ParameterError(what, where="label_rate", remedy=remedy, value=parameters.label_rate)


def _scaled(
    chances: NDArray[np.float64], kinds: NDArray[np.int64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return chances that are scaled within each kind, so that the kinds have shares."""
    return np.asarray(chances * (shares / np.bincount(kinds, weights=chances))[kinds])


class _Listener(Monitor):
    """A monitor that judges nothing, and keeps the trials that would count.

    `known_parts` are the parts of trials that some event has.
    """

    def __init__(self, specification: MonitorSpecification) -> None:
        self.known_parts: set[str] = set()
        super().__init__(specification)

    def check_counted(self, where: str) -> None:
        """Refuse events of which no trial counts, and say what they lack."""
        if self.counted:
            return
        named = self.specification.events
        fields = {"group": named.group, "decision": named.decision}
        if self._kind == "complete":
            fields["label"] = named.label
        what = "the past events make no trial that counts"
        remedy = "give events of more people or of a longer time"
        for part, field in fields.items():
            if part not in self.known_parts:
                is_group = part == "group" and self.specification.groups.by is not None
                field = " or ".join(self.specification.group_fields) if is_group else field
                what = f"none of the past events has the {part} ({field!r})"
                remedy = "give events that have it, or correct the field of the specification"
                break
        raise ParameterError(what, where=where, remedy=remedy)

    def _begin(self) -> None:
        super()._begin()
        self._judges = []
        self._in_time = []
        self.counted: list[Trial] = []
        self._kind, self._span = _counted_steps(self.specification)

    def observe(self, event: Mapping[str, Any], *, place: Any = None) -> tuple[Alert, ...]:
        read = self._reader.read(event)
        values = {"group": read.group, "decision": read.decision, "label": read.label}
        self.known_parts.update(part for part, value in values.items() if value is not None)
        return super().observe(event, place=place)

    def _judged(self, steps: Any) -> list[Any]:
        kept: list[Step] = [
            step for step in steps if step.kind == self._kind and step.span == self._span
        ]
        self.counted += [step.trial for step in kept]
        return []


def _counted_steps(specification: MonitorSpecification) -> tuple[str, float | None]:
    """Return which steps count people, and within which time; refuse several times.

    Simulated people have one decision each, and it is favourable for all properties or for none.
    """
    monitored = specification.monitored
    spans = {watched.favourable_within for watched in monitored}
    if len(spans) > 1:
        what = "past people have another decision by each favourable_within"
        remedy = "simulate the properties one by one"
        raise ParameterError(what, where="properties", remedy=remedy)
    labelled = any(watched.fairness.labelled for watched in monitored)
    return "complete" if labelled else "decided", spans.pop()


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
    listener.check_counted(source.name or "events")
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
