"""The layout of the report of a simulation of a monitor."""

from __future__ import annotations

from testsgd.monitoring.report.wording import property_title
from testsgd.monitoring.simulation.report.summarise import bias_words, days_text
from testsgd.monitoring.simulation.report.summary import (
    MonitorSimulationSummary,
    SimulatedAlarms,
)
from testsgd.report import blocks, charts
from testsgd.report.blocks import Paragraph, Section, Table
from testsgd.report.formatting import (
    NOTHING,
    capital,
    count,
    moment,
    number,
    percent,
    plural,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.scales import count_scale, linear_scale
from testsgd.report.summaries import origin, version_facts


def simulation_layout(summary: MonitorSimulationSummary) -> blocks.Document:
    """Return the report of a simulation as blocks; nothing is computed again."""
    verdict = summary.verdict
    about = (
        "Each line is a true bias. It says in which share of the simulated streams an alert was "
        "raised by when. Alerts where the true bias is within the bound are false."
    )
    shown: tuple[blocks.Block, ...] = (
        alarms_table(summary),
        Paragraph(about),
        *_figures(summary),
    )
    return blocks.Document(
        what="Monitor simulation",
        subject=summary.name,
        status=blocks.Status("Simulated", ""),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        opening=(),
        sections=(
            Section("alarms", "False alarms and the time to an alert", shown, "Alarms"),
            Section(
                "particulars",
                "What was simulated",
                _particulars(summary),
                markdown="folded",
                folded=True,
            ),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report.",
    )


def alarms_table(summary: MonitorSimulationSummary) -> Table:
    """Return a table of alerts and delays, a row a property and bias."""
    several = len({one.property for one in summary.alarms}) > 1
    return listing(
        "Alerts by the true bias",
        summary.alarms,
        (
            Listed(
                "True bias", lambda one: capital(bias_words(one.bias)), "name", short="true bias"
            ),
            Listed(
                "Property",
                lambda one: property_title(one.property),
                "text",
                short="property",
                shown=several,
            ),
            Listed("Bound", lambda one: number(one.bound)),
            Listed("An alert is", _meaning, "text", short="an alert is"),
            Listed(
                "Streams with an alert",
                lambda one: percent(one.share),
                "strong",
                short="streams with an alert",
            ),
            Listed("95% interval", lambda one: f"{percent(one.low)} to {percent(one.high)}"),
            Listed(
                "Half had one after",
                lambda one: days_text(one.median_days),
                short="half had one after",
            ),
            Listed("People by then", lambda one: _people(one.median_people)),
            Listed("Nine tenths after", lambda one: days_text(one.most_days)),
        ),
    )


def _meaning(alarms: SimulatedAlarms) -> str:
    if alarms.above is None:
        return "not known"
    return "right" if alarms.above else "false"


def _people(people: int | None) -> str:
    return NOTHING if people is None else count(people)


def _figures(summary: MonitorSimulationSummary) -> tuple[blocks.Figure, ...]:
    """Return a drawing for each property: the share of streams with an alert over the days."""
    names = dict.fromkeys(one.property for one in summary.alarms)
    return tuple(
        _figure(summary, name, [one for one in summary.alarms if one.property == name])
        for name in names
    )


def _figure(
    summary: MonitorSimulationSummary, name: str, alarms: list[SimulatedAlarms]
) -> blocks.Figure:
    lines = tuple(
        charts.Line(
            tuple((point.day, point.share) for point in one.course),
            "less" if one.above else "more",
            "as before" if one.bias is None else number(one.bias),
        )
        for one in alarms
    )
    promised = [one.promised for one in alarms if one.promised is not None]
    thresholds = (charts.Threshold(promised[0], "promised"),) if promised else ()
    title = f"Streams with an alert: {property_title(name)}"
    plane = charts.Plane(
        title=title,
        across=count_scale(0, summary.settings.days),
        upwards=linear_scale(0.0, 1.0, count=5),
        name="Streams with an alert so far",
        below="Days",
        lines=lines,
        thresholds=thresholds,
        height=16.0,
    )
    caption = "Orange: the true bias is above the bound. Blue: it is not, so alerts are false."
    if promised:
        caption += " Dashed: the most that false alarms are, as promised."
    return blocks.Figure(title, (plane,), caption)


def _particulars(summary: MonitorSimulationSummary) -> tuple[blocks.Facts, ...]:
    settings = summary.settings
    named = zip(summary.groups, summary.shares, strict=True)
    past = "" if summary.past is None else plural(summary.past, "person", "people")
    labels = "" if settings.label_rate is None else share(settings.label_rate)
    pairs = (
        ("Streams for each bias", count(settings.runs)),
        ("People a day", count(settings.people_a_day)),
        ("Days", count(settings.days)),
        ("Drawn from past events of", past),
        *((f"People in “{name}”", percent(size)) for name, size in named),
        ("Favourable decisions", percent(summary.rate)),
        ("Positive labels", labels),
        ("Seed", str(settings.random_state)),
        ("Specification (sha256)", summary.digest),
        ("Written", moment(summary.created)),
        *version_facts(summary),
    )
    return (blocks.Facts("Simulation", pairs),)
