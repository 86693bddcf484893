"""How a synthesis and a simulation of a shield are laid out as reports."""

from __future__ import annotations

from collections.abc import Callable

from testsgd.fairness.wording import EMPTY_GROUPS, bias_text, bound_text, events_text
from testsgd.report import blocks, charts
from testsgd.report.blocks import Facts, KeyFigure, Paragraph, Section, Standing, Table
from testsgd.report.formatting import (
    NOTHING,
    bytes_text,
    count,
    moment,
    number,
    percent,
    plural,
    seconds,
    series,
    share,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.scales import linear_scale
from testsgd.report.summaries import origin, version_facts
from testsgd.shielding.report import summary as documents
from testsgd.shielding.report import wording
from testsgd.shielding.report.summary import ShieldSummary, SimulationSummary
from testsgd.shielding.report.wording import cost_text, loss_text

# Longer tables are folded away on a page.
_OPEN_ROWS = 12
_RATINGS: dict[str, Standing] = {"synthesised": "good", "guarantee_kept": "good", "observed": ""}
_SIDES = ("Without the shield", "With the shield")
_DECISIONS = {1: "accept", 0: "reject"}
_STORAGE = {
    "whole": "all decisions",
    "windows": "some layers of values; the decisions between are found again when needed",
}


def shield_layout(summary: ShieldSummary) -> blocks.Document:
    """Return the report of a synthesis; nothing is computed again."""
    requirement = summary.requirement
    synthesis = summary.synthesis
    size = "" if synthesis.stored_bytes is None else bytes_text(synthesis.stored_bytes)
    stored = f"the file has {size}" if size else "for the synthesis"
    memory = "" if synthesis.predicted_bytes is None else bytes_text(synthesis.predicted_bytes)
    # Equal runs differ in both; reproducible reports have neither.
    needed = KeyFigure("Size of the file", size or "none is written")
    if memory:
        needed = KeyFigure("Memory", memory, (stored,))
    if memory and synthesis.seconds is not None:
        amounts = f"{seconds(synthesis.seconds)}, {memory}"
        needed = KeyFigure("Time and memory", amounts, (stored,))
    about = f"{wording.property_name(requirement)}, {wording.looked_at(requirement)}"
    changes = f"of all changes in {plural(requirement.horizon, 'decision')}"
    figures = (
        KeyFigure("Bound", bound_text(requirement), (about,), "good"),
        KeyFigure("Expected cost", cost_text(synthesis.expected_cost), (changes,)),
        needed,
    )
    pairs = (
        ("Written", moment(summary.created)),
        ("Expected cost", cost_text(synthesis.expected_cost)),
        ("Inputs", wording.SOURCES[summary.inputs.source]),
        ("Memory, as predicted", memory),
        ("Time", seconds(synthesis.seconds)),
        ("Stored", _STORAGE[synthesis.storage]),
        ("Size of the file", size),
        ("Specification (sha256)", summary.digest),
        *version_facts(summary),
    )
    title = "Specification, distribution and synthesis"
    return _document("Shield", summary, figures, (), title, Facts("Synthesis", pairs))


def simulation_layout(summary: SimulationSummary) -> blocks.Document:
    """Return the report of a simulation; nothing is computed again."""
    settings = summary.settings
    drawn = "from the distribution that the shield expects"
    if summary.logged is not None:
        drawn = f"from the {plural(summary.logged, 'row')} of a log, with replacement"
    pairs = (
        ("Written", moment(summary.created)),
        ("Runs", count(settings.runs)),
        ("Periods of a run", count(len(summary.periods))),
        ("People are drawn", drawn),
        ("The shield expects", wording.SOURCES[summary.inputs.source]),
        ("Seed", str(settings.random_state)),
        (
            "Gate: runs above at most",
            "" if settings.fail_above is None else share(settings.fail_above),
        ),
        ("Time", seconds(summary.seconds)),
        *version_facts(summary),
    )
    sections = (
        Section("bias", "Runs without the shield and with it", _biases(summary)),
        Section("cost", "Changes and what they cost", (_costs(summary),)),
        Section("periods", "Period by period", _periods(summary)),
    )
    return _document(
        "Simulation of a shield",
        summary,
        _key_figures(summary),
        sections,
        "Shield, distribution and settings",
        Facts("Simulation", pairs),
    )


def _document(
    what: str,
    summary: ShieldSummary | SimulationSummary,
    figures: tuple[KeyFigure, ...],
    sections: tuple[Section, ...],
    about: str,
    facts: Facts,
) -> blocks.Document:
    """Return a report of the parts that both have, and of those of its own."""
    requirement = summary.requirement
    verdict = summary.verdict
    rating = _RATINGS.get(verdict.status, "bad")
    particulars = (_bound_facts(requirement), facts, _inputs(summary.inputs))
    return blocks.Document(
        what=what,
        subject=requirement.name,
        status=blocks.Status(wording.STATUS_NAMES[verdict.status], rating),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        figures=(blocks.KeyFigures(figures),),
        opening=(Paragraph(wording.bias_definition(requirement), "definition"),),
        sections=(
            *sections,
            Section("particulars", about, particulars, markdown="folded", folded=True),
            blocks.meaning_section(wording.shield_notes(summary)),
        ),
        **origin(summary),
        closing="The drawings are in the HTML report." if sections else "",
    )


def _key_figures(summary: SimulationSummary) -> tuple[KeyFigure, ...]:
    """Return the shares of runs above the bound and of changed decisions."""
    runs = summary.settings.runs
    utility = summary.utility
    when = " at the end of some period" if len(summary.periods) > 1 else ""
    figures = []
    # Without the shield no run above the bound is nothing special.
    rating_if_none: Standing = ""
    for name, side in zip(_SIDES, (summary.unshielded, summary.shielded), strict=True):
        about = f"above the bound{when}: {count(side.above)} of {plural(runs, 'run')}"
        rating: Standing = "bad" if side.above else rating_if_none
        figures.append(KeyFigure(name, percent(side.above / runs), (about,), rating))
        rating_if_none = "good"
    changed = f"at a cost of {cost_text(summary.cost.mean)} a run"
    if utility is not None:
        without = percent(utility.accuracy_unshielded)
        shielded = percent(utility.accuracy_shielded)
        changed += f"; accuracy {without} without it, {shielded} with it"
    return (*figures, KeyFigure("Decisions changed", percent(summary.changed), (changed,)))


def _biases(summary: SimulationSummary) -> tuple[blocks.Block, ...]:
    """Return a figure of the distribution of the bias at the end of the runs, and a table.

    With a shield nearly all runs may have one bias, so each histogram has its own height.
    """
    runs = summary.settings.runs
    sides = (summary.unshielded, summary.shielded)
    across = max(1e-3, *(each.high for each in summary.bins))
    name = f"bound {bound_text(summary.requirement)}"
    bound = summary.requirement.bound
    last = " after the last period" if len(summary.periods) > 1 else ""
    planes = list[charts.Plane]()
    for key, title, side in zip(("unshielded", "shielded"), _SIDES, sides, strict=True):
        counted = [(each, getattr(each, key)) for each in summary.bins if getattr(each, key)]
        above = sum(height for each, height in counted if each.above)
        bars = (
            charts.Bar(
                each.low,
                each.high,
                height / runs,
                f"{plural(height, 'run')} with a bias {_extent(each)}",
                "less" if each.above else "more",
            )
            for each, height in counted
        )
        first = not planes
        plane = charts.Plane(
            title=f"{title}: {count(above)} of {plural(runs, 'run')} ended above the bound; "
            f"the run in the middle has a bias of {bias_text(side.median)}",
            across=linear_scale(0.0, across, count=6, write=number),
            upwards=linear_scale(0.0, max(height for _, height in counted) / runs, count=3),
            name=f"{title}: ",
            strong=f"{percent(above / runs) if above else 'none'} above the bound{last}",
            below=None if first else "",
            bars=tuple(bars),
            thresholds=(charts.Threshold(bound, name * first, upright=True),),
            height=9.0,
        )
        planes.append(plane)
    figure = blocks.Figure(
        "Bias of the runs, without the shield and with it",
        tuple(planes),
        f"Bars: share of the runs, in per cent, by their bias at the end{last}. Both drawings have "
        f"the same scale across, and each its own upwards. Dashed: the {name}.",
    )
    about = "How far apart the groups' rates are"
    if summary.requirement.measure == "share":
        about = "How far a group's share of all who are accepted lies outside of its range"
    about += f" at the end{last}. Orange lies above the bound."
    return Paragraph(about), figure, sides_table(summary)


def sides_table(summary: SimulationSummary) -> Table:
    """Return a table that compares the runs without the shield and with it."""
    runs = summary.settings.runs
    utility = summary.utility
    once = len(summary.periods) == 1
    rows = (
        (_SIDES[0], summary.unshielded, utility.accuracy_unshielded if utility else None),
        (_SIDES[1], summary.shielded, utility.accuracy_shielded if utility else None),
    )
    return listing(
        "The runs without the shield and with it",
        rows,
        (
            Listed("", lambda row: row[0], "name"),
            Listed(
                "Above the bound" if once else "Above at the end of some period",
                lambda row: f"{percent(row[1].above / runs)} ({count(row[1].above)})",
                "strong",
                short="above" if once else "ever above",
            ),
            Listed(
                "95% interval",
                lambda row: f"{percent(row[1].above_low)} to {percent(row[1].above_high)}",
            ),
            Listed("Median bias", lambda row: bias_text(row[1].median), short="median bias"),
            Listed("Bias of 95% up to", lambda row: bias_text(row[1].high)),
            Listed("Largest bias", lambda row: bias_text(row[1].largest)),
            Listed("Correct decisions", lambda row: percent(row[2]), shown=utility is not None),
        ),
        row=lambda row: {"emphasis": row[1] is summary.shielded},
    )


def _costs(summary: SimulationSummary) -> Table:
    """Return a table of the changed decisions, their cost and the loss of accuracy."""
    spreads: list[tuple[str, documents.RunRange, Callable[[float], str]]] = [
        ("Changed decisions", summary.interventions, cost_text),
        ("Cost of the changes", summary.cost, cost_text),
    ]
    if summary.utility is not None:
        spreads.append(("Loss of accuracy, points", summary.utility.loss, loss_text))
    return listing(
        "Changes, their cost and the loss of accuracy",
        spreads,
        (
            Listed("Of a run", lambda row: row[0], "name"),
            Listed("Mean", lambda row: row[2](row[1].mean), "strong"),
            Listed("5% of runs below", lambda row: row[2](row[1].low)),
            Listed("5% of runs above", lambda row: row[2](row[1].high)),
        ),
    )


def _periods(summary: SimulationSummary) -> tuple[blocks.Block, ...]:
    """Return a figure and a table of the ends of the periods; nothing for a single one."""
    runs = summary.settings.runs
    rows = []
    if len(summary.periods) < 2:
        return ()
    for period in summary.periods:
        without = 1 - period.above_unshielded / runs
        shielded = 1 - period.above_shielded / runs
        name = f"Period {period.period}"
        rows.append(
            charts.StripRow(
                name,
                percent(shielded),
                title=f"{name}: within the bound {percent(without)} without the shield, "
                f"{percent(shielded)} with it",
                marks=(charts.Mark(without, shape="rest"), charts.Mark(shielded)),
                line=(without, shielded),
            )
        )
    figure = blocks.Figure(
        "Runs within the bound, period by period",
        (charts.Strips((("", tuple(rows)),), linear_scale(0.0, 1.0, count=4), zero=False),),
        "Ring: without the shield. Dot: with it. At the right: with it.",
    )
    about = "Share of the runs that are within the bound at the end of each period."
    return Paragraph(about), figure, period_table(summary)


def period_table(summary: SimulationSummary) -> Table:
    """Return a table of the ends of the periods; with an assumption, how often it held."""
    runs = summary.settings.runs
    assumed = any(period.assumed is not None for period in summary.periods)

    def part(number: int | None, of: int | None = runs) -> str:
        return percent((number or 0) / of) if of else NOTHING

    return listing(
        "The end of each period, over all runs",
        summary.periods,
        (
            Listed("Period", lambda end: count(end.period), "name", short="period"),
            Listed("Above, without", lambda end: part(end.above_unshielded), short="above without"),
            Listed(
                "Above, with the shield",
                lambda end: part(end.above_shielded),
                "strong",
                short="with the shield",
            ),
            Listed(
                "Assumption held",
                lambda end: part(end.assumed),
                short="assumption held",
                shown=assumed,
            ),
            Listed(
                "Then fair",
                lambda end: part(end.assumed_fair, end.assumed),
                short="then fair",
                shown=assumed,
            ),
            Listed("Median bias, without", lambda end: bias_text(end.median_unshielded)),
            Listed("Median bias, with", lambda end: bias_text(end.median_shielded)),
            Listed("Changed", lambda end: cost_text(end.interventions)),
            Listed("Cost", lambda end: cost_text(end.cost)),
        ),
        fold=f"{plural(len(summary.periods), 'period')} with all numbers",
        open_rows=_OPEN_ROWS,
    )


def _inputs(inputs: documents.InputsSummary) -> Table:
    """Return a table of the distribution that the shield expects."""
    label = "The distribution that the shield expects"
    labelled = any(row.label_probability is not None for row in inputs.rows)
    return listing(
        label,
        inputs.rows,
        (
            Listed("Group", lambda row: row.group, "name"),
            Listed("Recommendation", lambda row: _DECISIONS[row.recommendation], "text"),
            Listed("Cost of a change", lambda row: number(row.cost)),
            Listed("Probability", lambda row: percent(row.probability)),
            Listed("True label 1", lambda row: percent(row.label_probability), shown=labelled),
        ),
        title=label,
        fold=plural(len(inputs.rows), "row"),
        open_rows=_OPEN_ROWS,
    )


def _bound_facts(requirement: documents.RequirementSummary) -> Facts:
    once = requirement.shield == "finite" and requirement.after == "stop"
    pairs = (
        ("Name", requirement.name),
        ("Property", wording.property_name(requirement)),
        ("Numerator of a rate counts", events_text(requirement.numerator)),
        ("Denominator counts", events_text(requirement.denominator)),
        ("Bound", bound_text(requirement)),
        ("A group without a rate", EMPTY_GROUPS[requirement.empty_group]),
        ("Groups", series(requirement.groups)),
        ("Other groups", "refused" if requirement.unknown == "refuse" else "passed through"),
        ("Kind", wording.KIND_NAMES[requirement.shield]),
        ("Horizon" if once else "Period", plural(requirement.horizon, "decision")),
        ("Periods at most", count(requirement.periods) if requirement.periods else ""),
        ("Welfare bounds", " to ".join(map(number, requirement.welfare or ()))),
        ("Assumption", wording.ASSUMPTIONS.get(requirement.shield, "")),
        (
            "If no shield exists for a period",
            wording.WHEN_INFEASIBLE.get(requirement.when_infeasible or "", ""),
        ),
    )
    return Facts("Shield", pairs)


def _extent(each: documents.BiasBin) -> str:
    if each.low == each.high:
        return f"of {bias_text(each.low)}"
    return f"above {bias_text(each.low)}, up to {bias_text(each.high)}"
