"""From simulated first alerts to the summary document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from testsgd.monitoring.report.wording import property_title
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.simulation.population import Population, assumed_rates
from testsgd.monitoring.simulation.report.summary import (
    AlarmPoint,
    MonitorSimulationSummary,
    MonitorSimulationVerdict,
    SimulatedAlarms,
)
from testsgd.monitoring.simulation.runs import FirstAlerts
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.report.formatting import NOTHING, count, number, percent, plural
from testsgd.report.summaries import package_versions, present_moment
from testsgd.scoring import clopper_pearson

_POINTS = 60
_HALF = 0.5
_MOST = 0.9
_ERROR = 0.05
# Shares of more groups are not listed in a sentence.
_MOST_SHARES = 4


def summarise(
    specification: MonitorSpecification,
    population: Population,
    parameters: MonitorSimulationParameters,
    found: Sequence[FirstAlerts],
) -> MonitorSimulationSummary:
    """Return the document of a simulation."""
    past = population.past
    alarms = [_alarms(specification, parameters, one) for one in found]
    settings = parameters
    if past is None:
        rate, label_rate = assumed_rates(specification, parameters)
        settings = replace(parameters, rate=rate, label_rate=label_rate)
    return MonitorSimulationSummary(
        created=present_moment(),
        versions=package_versions(("numpy",)),
        name=specification.name,
        digest=specification.digest(),
        settings=settings,
        past=past,
        groups=list(population.groups),
        shares=_shares(population),
        rate=population.rate,
        alarms=alarms,
        verdict=_verdict(parameters, alarms, _assumed(specification, population, parameters)),
    )


def _alarms(
    specification: MonitorSpecification,
    parameters: MonitorSimulationParameters,
    found: FirstAlerts,
) -> SimulatedAlarms:
    watched = found.watched
    runs = len(found.people)
    low, high = clopper_pearson(found.alarmed, runs, _ERROR)
    half = found.quantile(_HALF)
    most = found.quantile(_MOST)
    proved = watched.rule == "evidence"
    days = found.people / parameters.people_a_day
    moments = np.linspace(0, parameters.days, _POINTS + 1)
    return SimulatedAlarms(
        property=watched.name,
        rule=watched.rule,
        bias=None if found.bias is None else float(found.bias),
        bound=float(watched.bound),
        bound_exact=str(watched.bound),
        above=None if found.bias is None else found.bias > watched.bound,
        promised=round(1 - specification.evidence.confidence, 12) if proved else None,
        alarmed=found.alarmed,
        share=found.alarmed / runs,
        low=float(low),
        high=float(high),
        median_people=half,
        median_days=None if half is None else half / parameters.people_a_day,
        most_people=most,
        most_days=None if most is None else most / parameters.people_a_day,
        course=[
            AlarmPoint(day=float(moment), share=float((days <= moment).mean()))
            for moment in moments
        ],
    )


def bias_words(bias: float | None) -> str:
    """Return a true bias in words, in percentage points."""
    if bias is None:
        return "the bias of the past events"
    return f"a bias of {number(round(100 * bias, 6))} points" if bias else "no bias"


def days_text(days: float | None) -> str:
    """Return a number of days; a dash if there is none."""
    if days is None:
        return NOTHING
    rounded = round(days, 1) if days < 10 else float(round(days))
    return f"{number(rounded)} {'day' if rounded == 1 else 'days'}"


def _assumed(
    specification: MonitorSpecification,
    population: Population,
    parameters: MonitorSimulationParameters,
) -> str:
    """Return in words what the streams are drawn with, as the beginning of a sentence."""
    people = plural(parameters.people_a_day, "person", "people")
    shares = _shares_text(_shares(population))
    text = f"With {people} a day, {shares} and rates around {_short(population.rate)}"
    labelled = any(watched.fairness.labelled for watched in specification.monitored)
    if labelled and (population.past is None or parameters.label_rate is not None):
        _, label_rate = assumed_rates(specification, parameters)
        text += f", {_short(label_rate)} of labels positive"
    return text


def _shares(population: Population) -> list[float]:
    """Return the share of people in each group."""
    sizes = np.bincount(
        population.members, weights=population.chances, minlength=len(population.groups)
    )
    return [round(float(size), 6) for size in sizes]


def _shares_text(shares: Sequence[float]) -> str:
    """Return the shares of groups in words; of many groups the smallest and the largest."""
    low, high = _short(min(shares)), _short(max(shares))
    if len(shares) > _MOST_SHARES:
        between = f"{low} each" if low == high else f"{low} to {high}"
        return f"{len(shares)} groups of {between}"
    *first, last = map(_short, shares)
    return f"groups of {', '.join(first)} and {last}"


def _short(rate: float) -> str:
    """Return a rate in per cent, without a decimal that is 0."""
    return percent(rate).replace(".0%", "%")


def _verdict(
    parameters: MonitorSimulationParameters, alarms: Sequence[SimulatedAlarms], assumed: str
) -> MonitorSimulationVerdict:
    several = len({one.property for one in alarms}) > 1
    sentences = [_sentence(parameters, one, assumed, several=several) for one in alarms]
    # What is to be found comes before what must not be said, the hardest first.
    order = sorted(
        range(len(alarms)),
        key=lambda place: (
            not alarms[place].above,
            alarms[place].median_people is None,
            alarms[place].bias or 0.0,
        ),
    )
    first, *others = [sentences[place] for place in order]
    promised = {one.promised for one in alarms if one.promised is not None}
    if promised:
        others.append(
            "By evidence the probability of a false alarm is at most "
            f"{percent(max(promised))}, of all properties together."
        )
    if any(one.promised is None for one in alarms):
        others.append("Alerts by the estimate promise nothing about false alarms.")
    return MonitorSimulationVerdict(
        status="simulated", exit_code=0, headline=first, sentences=others
    )


def _sentence(
    parameters: MonitorSimulationParameters,
    alarms: SimulatedAlarms,
    assumed: str,
    *,
    several: bool,
) -> str:
    of_property = f" in {property_title(alarms.property)}" if several else ""
    what = f"{bias_words(alarms.bias)}{of_property}"
    runs = f"{count(alarms.alarmed)} of {plural(parameters.runs, 'stream')}"
    within = f"within {plural(parameters.days, 'day')}"
    if alarms.above is False:
        return f"{assumed}, and {what}, {runs} raised a false alarm {within}."
    if alarms.median_days is None:
        return f"{assumed}, {what} is found in {runs} {within}."
    middle = days_text(alarms.median_days)
    if alarms.median_days < 1 and alarms.median_people is not None:
        middle = f"{plural(round(alarms.median_people), 'person', 'people')}, on the first day"
    return f"{assumed}, {what} is found after a median of {middle}, and in {runs} {within}."
