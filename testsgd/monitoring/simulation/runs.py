"""Simulated streams through a monitor, and after how many people it raises its first alerts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.monitoring.judging import Alert
from testsgd.monitoring.running import Monitor
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.simulation.population import Population, events_of
from testsgd.monitoring.specification import MonitoredProperty, MonitorSpecification
from testsgd.progress import Counter
from testsgd.report.formatting import plural

_DAY = 86_400.0


@dataclass(frozen=True)
class FirstAlerts:
    """After how many people the first alert of a property came in each run; infinite: in none."""

    watched: MonitoredProperty
    bias: Fraction | None  # None: as the past events are.
    people: NDArray[np.float64]

    @property
    def alarmed(self) -> int:
        """The number of runs with an alert."""
        return int(np.isfinite(self.people).sum())

    def quantile(self, share: float) -> int | None:
        """Return after how many people a share of all runs has an alert; None if fewer have one."""
        value = np.quantile(self.people, share, method="inverted_cdf")
        return int(value) if np.isfinite(value) else None


def specifies_ratios(specification: MonitorSpecification) -> bool:
    """Return whether biases are those of ratios: if all properties compare ratios."""
    return all(watched.fairness.measure == "ratio" for watched in specification.monitored)


def simulate(
    specification: MonitorSpecification,
    population: Population,
    parameters: MonitorSimulationParameters,
    biases: tuple[float | None, ...],
    counter: Counter,
) -> Iterator[FirstAlerts]:
    """Return the first alerts of every bias and property.

    The streams of all biases have the same people and the same luck, so that they differ in
    nothing but the rates. A bias of None leaves the decisions of past events as they are.
    `counter` counts the streams. A ParameterError says that a property was judged in none of them.
    """
    monitored = specification.monitored
    ratio = specifies_ratios(specification)
    for bias in biases:
        rates = None if bias is None else population.rates(bias, ratio=ratio)
        of_runs = []
        judged: set[str] = set()
        for run in range(parameters.runs):
            first, of_run = _first_alerts(specification, population, parameters, rates, run)
            of_runs.append(first)
            judged.update(of_run)
            counter.add(1)
        _check_judged(specification, parameters, judged)
        found = np.array(of_runs)
        for place, watched in enumerate(monitored):
            true_bias = None
            if bias is not None and rates is not None:
                low, high = float(rates[0]), float(rates[-1])
                is_ratio = watched.fairness.measure == "ratio"
                other = 1 - low / high if is_ratio and high else high - low
                true_bias = Fraction(str(bias if is_ratio == ratio else round(other, 9)))
            yield FirstAlerts(watched, true_bias, found[:, place])


def _first_alerts(
    specification: MonitorSpecification,
    population: Population,
    parameters: MonitorSimulationParameters,
    rates: NDArray[np.float64] | None,
    run: int,
) -> tuple[list[float], tuple[str, ...]]:
    """Return after how many people of one stream each property has its first alert.

    With it the names of the properties that were judged.
    """
    random = np.random.default_rng([parameters.random_state, run])
    people = parameters.people_a_day * parameters.days
    chosen, decisions = population.draw(random, people, rates)
    labelled = any(watched.fairness.labelled for watched in specification.monitored)
    first = {watched.name: np.inf for watched in specification.monitored}
    missing = len(first)
    monitor = Monitor(specification)
    apart = _DAY / parameters.people_a_day
    events = events_of(population, chosen, decisions, labelled=labelled, seconds_apart=apart)
    for place, event in enumerate(events, start=1):
        missing -= _note_first(first, monitor.observe_read(event), place)
        if not missing:
            break
    else:
        # What is judged when time has passed, such as the window that ends with the stream.
        end = datetime.fromtimestamp(parameters.days * _DAY, UTC)
        _note_first(first, monitor.advance(end), people)
    return list(first.values()), monitor.judged


def _note_first(first: dict[str, float], alerts: Iterable[Alert], people: int) -> int:
    """Note after how many people properties have their first alert; return of how many it is."""
    noted = 0
    for alert in alerts:
        if alert.kind == "raised" and np.isinf(first[alert.property]):
            first[alert.property] = people
            noted += 1
    return noted


def _check_judged(
    specification: MonitorSpecification, parameters: MonitorSimulationParameters, judged: set[str]
) -> None:
    """Refuse to count alarms of a property that was judged in none of the streams."""
    for watched in specification.monitored:
        if watched.name not in judged:
            people = parameters.people_a_day * parameters.days
            what = (
                f"{watched.name} is judged in none of {parameters.runs} streams of "
                f"{people} people in {plural(parameters.days, 'day')}"
            )
            remedy = (
                "simulate more days or more people a day, or choose a shorter window, check or "
                "favourable_within"
            )
            raise ParameterError(what, where="days", remedy=remedy, value=parameters.days)
