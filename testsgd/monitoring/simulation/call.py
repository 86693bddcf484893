"""The call that simulates a monitor before it goes live."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from testsgd.errors import ParameterError
from testsgd.io import process_memory
from testsgd.monitoring.event_sources import EventSource, event_source
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.simulation.population import (
    Population,
    paper_population,
    past_population,
    past_trials,
)
from testsgd.monitoring.simulation.report.summarise import summarise
from testsgd.monitoring.simulation.result import MonitorSimulationResult
from testsgd.monitoring.simulation.runs import simulate, specifies_ratios
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.parameters import largest_below
from testsgd.progress import Counter, Progress, named, shown_progress
from testsgd.report.formatting import bytes_text, plural

BIASES = (0.0, 0.05, 0.1, 0.2)
_SECONDS = 86_400
# More than these people take days; what each of a stream takes in memory, and the process at most.
_MOST_PEOPLE = 10**10
_BYTES_A_PERSON = 200
_MOST_BYTES = 8 * 10**9
SpecificationLike: TypeAlias = MonitorSpecification | Mapping[str, Any] | str | Path


def simulate_monitor(
    specification: SpecificationLike,
    events: Any = None,
    *,
    bias: Sequence[float] | None = None,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> MonitorSimulationResult:
    """Return how often a monitor raises false alarms, and how soon it finds a bias.

    Every stream has people who are independent of each other. With each bias many streams go
    through the monitor as it is specified: its bound, rule, window and prior.

    Parameters
    ----------
    specification : MonitorSpecification, mapping, str or path-like
        What to watch: an object, its keys, or the TOML file that has them.
    events : iterable, data frame or path-like, optional
        Past events, as for :func:`testsgd.monitor`. Their people are drawn with replacement: with
        a bias each keeps group, label and given values, and is decided on anew; once more, unless a
        ``rate`` is given, they are drawn with their own decisions, which are favourable within the
        properties' ``favourable_within`` as for a monitor. A ``share`` or ``label_rate`` changes
        how often each is drawn. Left out, people are drawn by chances.
    bias : sequence of float, optional
        True biases, from 0 to 1; by default 0, 0.05, 0.1 and 0.2, as far as there are such rates,
        and that of the rates that the specification says.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **parameters
        ``runs``, ``people_a_day``, ``days``, ``rate``, ``share``, ``label_rate``,
        ``random_state``, as for ``testsgd monitor simulate``.

    Returns
    -------
    MonitorSimulationResult

    Raises
    ------
    SpecificationError
        If it specifies no monitor.
    ParameterError
        If a value is out of its range, the streams would need more than 8 GB of memory or go on for
        days, no rates have a bias, a property is judged in none of the
        streams, a custom property has no bias that could be drawn, or past events have no trials
        that count or properties with several ``favourable_within``.

    Examples
    --------
    >>> import testsgd
    >>> watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    >>> result = testsgd.simulate_monitor(watched, bias=(0, 0.5), runs=10, days=3)
    >>> result.exit_code, [one.above for one in result.summary.alarms]
    (0, [False, True])
    """
    chosen = MonitorSimulationParameters(**parameters)
    if isinstance(specification, Mapping):
        specification = MonitorSpecification.from_dict(specification)
    elif not isinstance(specification, MonitorSpecification):
        specification = MonitorSpecification.read(specification)
    given = None if bias is None else _checked(tuple(bias))
    _check_counted(specification, chosen)
    population = _population(specification, events, chosen)
    biases = _usual(specification, population) if given is None else given
    asked: tuple[float | None, ...] = biases
    if population.decisions is not None:
        asked = (*biases, None)
    _check_effort(chosen, len(asked))
    with shown_progress(progress) as reporter:
        counter = Counter(named("simulating", reporter), len(asked) * chosen.runs)
        found = list(simulate(specification, population, chosen, asked, counter))
    return MonitorSimulationResult(summarise(specification, population, chosen, found))


def _check_effort(parameters: MonitorSimulationParameters, biases: int) -> None:
    """Refuse streams that would take too much memory, or days; say what number would do."""
    present = process_memory()

    def fits(chosen: MonitorSimulationParameters) -> bool:
        people = chosen.people_a_day * chosen.days
        is_soon = people * chosen.runs * biases <= _MOST_PEOPLE
        return is_soon and present + people * _BYTES_A_PERSON <= _MOST_BYTES

    if fits(parameters):
        return
    usual = MonitorSimulationParameters()
    values = {name: getattr(parameters, name) for name in ("runs", "days", "people_a_day")}
    # The one that is the furthest from its default is too large; the others may be, too.
    where, *others = sorted(values, key=lambda name: -values[name] // getattr(usual, name))
    cut = {name: min(values[name], getattr(usual, name)) for name in others}
    most = largest_below(values[where], lambda number: fits(replace(parameters, **{where: number})))
    remedy = f"give at most {most}"
    if not most:
        cut_parameters = replace(parameters, **cut)
        most = largest_below(
            values[where], lambda number: fits(replace(cut_parameters, **{where: number}))
        )
        remedy = f"give at most {most}, and leave the others at their defaults"
    what = (
        f"{parameters.runs:,} streams of {parameters.people_a_day * parameters.days:,} people for "
        f"each of {plural(biases, 'bias', 'biases')} take more than {bytes_text(_MOST_BYTES)}, or "
        "days"
    )
    raise ParameterError(what, where=where, remedy=remedy, value=values[where])


def _checked(biases: tuple[float, ...]) -> tuple[float, ...]:
    if not biases:
        remedy = "give numbers such as 0, 0.05, 0.1"
        raise ParameterError("no bias is given", where="bias", remedy=remedy)
    for bias in biases:
        if isinstance(bias, bool) or not math.isfinite(bias) or not 0 <= bias <= 1:
            what = f"the bias {bias!r} is not from 0 to 1"
            raise ParameterError(what, where="bias", remedy="give shares such as 0.05", value=bias)
    return tuple(float(bias) for bias in dict.fromkeys(biases))


def _usual(specification: MonitorSpecification, population: Population) -> tuple[float, ...]:
    """Return the biases of a simulation that is asked for none."""
    ratio = specifies_ratios(specification)
    biases = {*BIASES}
    rates = specification.simulation.rates
    if rates is not None and population.past is None:
        low, high = min(rates), max(rates)
        biases.add(round(1 - low / high if ratio else high - low, 3))
    return tuple(bias for bias in sorted(biases) if population.allows(bias, ratio=ratio))


def _check_counted(
    specification: MonitorSpecification, parameters: MonitorSimulationParameters
) -> None:
    """Refuse a simulation that cannot say anything."""
    trials = specification.trials
    labelled = any(watched.fairness.labelled for watched in specification.monitored)
    waits = labelled and trials.count == "deadline" and trials.deadline is not None
    if waits and (trials.deadline or 0) >= parameters.days * _SECONDS:
        days = (trials.deadline or 0) / _SECONDS
        what = f"people are counted {days:g} days after their decision, and the stream ends before"
        remedy = f"simulate more days than {days:g}"
        raise ParameterError(what, where="days", remedy=remedy, value=parameters.days)
    for part in specification.properties:
        if part.property == "custom":
            what = "a custom property has no bias that could be drawn"
            remedy = "simulate a monitor with the known properties"
            raise ParameterError(what, where="properties", remedy=remedy)


def _population(
    specification: MonitorSpecification, events: Any, parameters: MonitorSimulationParameters
) -> Population:
    if events is None:
        return paper_population(specification, parameters)
    is_source = isinstance(events, EventSource)
    source = events if is_source else event_source(events, specification)
    labelled = any(watched.fairness.labelled for watched in specification.monitored)
    if parameters.label_rate is not None and not labelled:
        what = "no property counts labels, so past people have none that could be drawn"
        raise ParameterError(what, where="label_rate", remedy="leave it out")
    trials = past_trials(source, specification)
    return past_population(trials, parameters, where=source.name or "events")
