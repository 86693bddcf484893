"""How a synthesis and a simulation of a shield are laid out as reports."""

from __future__ import annotations

from collections.abc import Callable

from testsgd.fairness.wording import EMPTY_GROUPS, bias_text, bound_text, events_text
from testsgd.report.blocks import (
    Block,
    Document,
    Facts,
    Figure,
    KeyFigure,
    KeyFigures,
    Note,
    Only,
    Paragraph,
    Section,
    Standing,
    Status,
    Strong,
    Table,
    meaning_section,
)
from testsgd.report.charts import Bar, Mark, Plane, StripRow, Strips, Threshold
from testsgd.report.formatting import (
    NOTHING,
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
from testsgd.shielding.report.summary import (
    BiasBin,
    InputsSummary,
    PeriodSummary,
    RequirementSummary,
    RunRange,
    ShieldSummary,
    SideSummary,
    SimulationSummary,
)
from testsgd.shielding.report.verdict import loss_text
from testsgd.shielding.report.wording import (
    ASSUMPTIONS,
    KIND_NAMES,
    SOURCES,
    STATUS_NAMES,
    WHEN_INFEASIBLE,
    bias_meaning,
    bytes_text,
    cost_text,
    looked_at,
    property_name,
    rate_text,
    shield_notes,
    simulation_notes,
)

# Longer tables are folded away on a page.
_OPEN_ROWS = 12
# Heights that differ by no more than this are drawn on one scale.
_ALIKE = 3.0
_STANDINGS: dict[str, Standing] = {
    "synthesised": "good",
    "guarantee_kept": "good",
    "observed": "",
}
_DECISIONS = {1: "accept", 0: "reject"}
_STORAGE = {
    "whole": "all decisions",
    "windows": "some layers of values; the decisions between are found again when needed",
}


def shield_layout(summary: ShieldSummary) -> Document:
    """Lay a synthesis out as a report; nothing is computed again."""
    requirement, made = summary.requirement, summary.synthesis
    size = "" if made.stored_bytes is None else bytes_text(made.stored_bytes)
    stored = f"the file has {size}" if size else "for the synthesis"
    used = f"{seconds(made.seconds)}, {bytes_text(made.predicted_bytes)}"
    about = f"{property_name(requirement)}, {looked_at(requirement)}"
    changes = f"of all changes in {plural(requirement.horizon, 'decision')}"
    figures = (
        KeyFigure("Bound", bound_text(requirement), (about,), "good"),
        KeyFigure("Expected cost", cost_text(made.expected_cost), (changes,)),
        KeyFigure("Time and memory", used, (stored,)),
    )
    made_of = Facts(
        "Synthesis",
        (
            ("Written", moment(summary.created)),
            ("Expected cost", cost_text(made.expected_cost)),
            ("Inputs", SOURCES[summary.inputs.source]),
            ("Memory, as predicted", bytes_text(made.predicted_bytes)),
            ("Time", seconds(made.seconds)),
            ("Stored", _STORAGE[made.storage]),
            ("Size of the file", size),
            ("Specification (sha256)", summary.digest),
            *version_facts(summary),
        ),
    )
    title = "Specification, distribution and synthesis"
    return _document("Shield", summary, figures, (), title, made_of, shield_notes(summary))


def simulation_layout(summary: SimulationSummary) -> Document:
    """Lay a simulation out as a report; nothing is computed again."""
    asked = summary.settings
    drawn = "from the distribution that the shield expects"
    if summary.logged is not None:
        drawn = f"from the {plural(summary.logged, 'row')} of a log, with replacement"
    settings = Facts(
        "Simulation",
        (
            ("Written", moment(summary.created)),
            ("Runs", count(asked.runs)),
            ("Periods of a run", count(len(summary.periods))),
            ("People are drawn", drawn),
            ("The shield expects", SOURCES[summary.inputs.source]),
            ("Seed", str(asked.random_state)),
            (
                "Gate: runs above at most",
                "" if asked.fail_above is None else share(asked.fail_above),
            ),
            ("Time", seconds(summary.seconds)),
            *version_facts(summary),
        ),
    )
    sections = (
        Section("bias", "Runs without the shield and with it", _biases(summary)),
        Section("cost", "Changes and what they cost", (_costs(summary),)),
        Section("periods", "Period by period", _periods(summary)),
    )
    return _document(
        "Simulation of a shield",
        summary,
        _simulated(summary),
        sections,
        "Shield, distribution and settings",
        settings,
        simulation_notes(summary),
        closing="The drawings are in the HTML report.",
    )


def _document(
    what: str,
    summary: ShieldSummary | SimulationSummary,
    figures: tuple[KeyFigure, ...],
    sections: tuple[Section, ...],
    about: str,
    facts: Facts,
    notes: tuple[Note, ...],
    closing: str = "",
) -> Document:
    """Put together what both reports have, and what only this one has."""
    requirement, verdict = summary.requirement, summary.verdict
    standing = _STANDINGS.get(verdict.status, "bad")
    explained = (
        f"The bias is {bias_meaning(requirement)}, looked at {looked_at(requirement)}. A group's "
        f"rate is: {rate_text(requirement)}. At most ",
        Strong(bound_text(requirement)),
        " is within the bound.",
    )
    return Document(
        what=what,
        subject=requirement.name,
        status=Status(STATUS_NAMES[verdict.status], standing),
        headline=verdict.headline,
        sentences=tuple(verdict.sentences),
        figures=(Only("html", (KeyFigures(figures),)),),
        opening=(Only("html", (Paragraph(explained, "definition"),)),),
        sections=(
            *sections,
            Section(
                "particulars",
                about,
                (_bound_facts(requirement), facts, _inputs(summary.inputs)),
                markdown="folded",
            ),
            meaning_section(notes),
        ),
        **origin(summary),
        closing=closing,
    )


def _simulated(summary: SimulationSummary) -> tuple[KeyFigure, ...]:
    runs, correct = summary.settings.runs, summary.utility
    when = " at the end of some period" if len(summary.periods) > 1 else ""
    figures = []
    sides: tuple[tuple[str, SideSummary, Standing], ...] = (
        ("Without the shield", summary.unshielded, ""),
        ("With the shield", summary.shielded, "good"),
    )
    for name, side, good in sides:
        about = f"above the bound{when}: {count(side.above)} of {plural(runs, 'run')}"
        standing = "bad" if side.above else good
        figures.append(KeyFigure(name, percent(side.above / runs), (about,), standing))
    changed = f"at a cost of {cost_text(summary.cost.mean)} a run"
    if correct is not None:
        changed += (
            f"; accuracy {percent(correct.accuracy_unshielded)} without it, "
            f"{percent(correct.accuracy_shielded)} with it"
        )
    return (*figures, KeyFigure("Decisions changed", percent(summary.changed), (changed,)))


def _biases(summary: SimulationSummary) -> tuple[Block, ...]:
    """Draw how the bias at the end of the runs is distributed, and list it.

    With a shield nearly all runs may have one bias; then each histogram has its own height.
    """
    bins, runs, last = summary.bins, summary.settings.runs, len(summary.periods) > 1
    widest = max(*(bias_bin.high for bias_bin in bins), 1e-3)
    across = linear_scale(0.0, widest, count=6, write=number)
    most = [
        max(bias_bin.unshielded for bias_bin in bins),
        max(bias_bin.shielded for bias_bin in bins),
    ]
    alike = max(most) <= _ALIKE * min(most)
    name = f"bound {bound_text(summary.requirement)}"

    def histogram(
        title: str, side: SideSummary, height: int, of: Callable[[BiasBin], int], first: bool
    ) -> Plane:
        above = sum(of(bias_bin) for bias_bin in bins if bias_bin.above)
        ended = f"{percent(above / runs) if above else 'none'} above the bound"
        bars = (
            Bar(
                bias_bin.low,
                bias_bin.high,
                of(bias_bin) / runs,
                f"{plural(of(bias_bin), 'run')} with a bias {_extent(bias_bin)}",
                "less" if bias_bin.above else "more",
            )
            for bias_bin in bins
            if of(bias_bin)
        )
        return Plane(
            title=f"{title}: {count(above)} of {plural(runs, 'run')} ended above the bound; "
            f"the run in the middle has a bias of {bias_text(side.median)}",
            across=across,
            upwards=linear_scale(0.0, (max(most) if alike else height) / runs, count=3),
            name=f"{title}: ",
            strong=f"{ended}{' after the last period' * last}",
            below=None if first else "",
            bars=tuple(bars),
            thresholds=(Threshold(summary.requirement.bound, name * first, upright=True),),
            height=9.0,
        )

    upwards = "both drawings have the same scale across, and each its own upwards"
    if alike:
        upwards = "both drawings have the same scales"
    which = "the run" if runs == 1 else f"each of the {count(runs)} runs"
    about = (
        f"How far apart the groups' rates are at the end of {which}"
        f"{', after its last period' * last}. Orange lies above the bound."
    )
    planes = (
        histogram(
            "Without the shield", summary.unshielded, most[0], lambda bar: bar.unshielded, True
        ),
        histogram("With it", summary.shielded, most[1], lambda bar: bar.shielded, False),
    )
    caption = (
        f"Bars: share of the runs, in per cent, by their bias at the end; {upwards}. Dashed: the "
        f"{name}."
    )
    figure = Figure("Bias of the runs, without the shield and with it", planes, caption)
    return Only("html", (Paragraph(about), figure)), sides_table(summary)


def sides_table(summary: SimulationSummary) -> Table:
    """Compare the runs without the shield and with it."""
    runs, correct = summary.settings.runs, summary.utility
    once = len(summary.periods) == 1
    accuracies = (
        (correct.accuracy_unshielded, correct.accuracy_shielded) if correct else (None, None)
    )
    sides = (("Without the shield", summary.unshielded), ("With it", summary.shielded))
    return listing(
        "The runs without the shield and with it",
        [(name, side, share) for (name, side), share in zip(sides, accuracies, strict=True)],
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
            Listed("Correct decisions", lambda row: percent(row[2]), shown=correct is not None),
        ),
        row=lambda row: {"emphasis": row[1] is summary.shielded},
    )


def _costs(summary: SimulationSummary) -> Table:
    """List what the shield changed, what that cost and how many decisions became wrong by it."""
    spreads: list[tuple[str, RunRange, Callable[[float], str]]] = [
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


def _periods(summary: SimulationSummary) -> tuple[Block, ...]:
    """Draw and list the ends of the periods; nothing of a single one."""
    runs, periods = summary.settings.runs, summary.periods
    if len(periods) < 2:
        return ()
    rows = []
    for period in periods:
        without, shielded = 1 - period.above_unshielded / runs, 1 - period.above_shielded / runs
        name = f"Period {period.period}"
        title = (
            f"{name}: within the bound {percent(without)} without the shield, "
            f"{percent(shielded)} with it"
        )
        marks = Mark(without, shape="rest"), Mark(shielded)
        line = without, shielded
        rows.append(StripRow(name, percent(shielded), title=title, marks=marks, line=line))
    figure = Figure(
        "Runs within the bound, period by period",
        (Strips((("", tuple(rows)),), linear_scale(0.0, 1.0, count=4), zero=False),),
        "Ring: without the shield. Dot: with it. At the right: with it.",
    )
    about = "Share of the runs that are within the bound at the end of each period."
    return Only("html", (Paragraph(about), figure)), period_table(summary)


def period_table(summary: SimulationSummary) -> Table:
    """List the ends of the periods; whether an assumption held only where one is needed."""
    runs = summary.settings.runs
    assumed = any(period.assumed is not None for period in summary.periods)

    def fair(period: PeriodSummary) -> str:
        return percent((period.assumed_fair or 0) / period.assumed) if period.assumed else NOTHING

    return listing(
        "The end of each period, over all runs",
        summary.periods,
        (
            Listed("Period", lambda period: count(period.period), "name", short="period"),
            Listed(
                "Above, without",
                lambda period: percent(period.above_unshielded / runs),
                short="above without",
            ),
            Listed(
                "Above, with the shield",
                lambda period: percent(period.above_shielded / runs),
                "strong",
                short="with the shield",
            ),
            Listed(
                "Assumption held",
                lambda period: percent((period.assumed or 0) / runs),
                short="assumption held",
                shown=assumed,
            ),
            Listed("Then fair", fair, short="then fair", shown=assumed),
            Listed("Median bias, without", lambda period: bias_text(period.median_unshielded)),
            Listed("Median bias, with", lambda period: bias_text(period.median_shielded)),
            Listed("Changed", lambda period: cost_text(period.interventions)),
            Listed("Cost", lambda period: cost_text(period.cost)),
        ),
        fold=f"{plural(len(summary.periods), 'period')} with all numbers",
        open_rows=_OPEN_ROWS,
    )


def _inputs(inputs: InputsSummary) -> Table:
    """List the distribution that the shield expects."""
    label = "The distribution that the shield expects"
    return listing(
        label,
        inputs.rows,
        (
            Listed("Group", lambda row: row.group, "name"),
            Listed("Recommendation", lambda row: _DECISIONS[row.recommendation], "text"),
            Listed("Cost of a change", lambda row: number(row.cost)),
            Listed("Probability", lambda row: percent(row.probability)),
            Listed(
                "True label 1",
                lambda row: percent(row.label_probability),
                shown=any(row.label_probability is not None for row in inputs.rows),
            ),
        ),
        title=label,
        fold=plural(len(inputs.rows), "row"),
        open_rows=_OPEN_ROWS,
    )


def _bound_facts(requirement: RequirementSummary) -> Facts:
    welfare = (
        ""
        if requirement.welfare is None
        else " to ".join(number(end) for end in requirement.welfare)
    )
    once = requirement.shield == "finite" and requirement.after == "stop"
    return Facts(
        "Shield",
        (
            ("Name", requirement.name),
            ("Property", property_name(requirement)),
            ("Numerator of a rate counts", events_text(requirement.numerator)),
            ("Denominator counts", events_text(requirement.denominator)),
            ("Bound", bound_text(requirement)),
            ("A group without a rate", EMPTY_GROUPS[requirement.empty_group]),
            ("Groups", series(requirement.groups)),
            ("Other groups", "refused" if requirement.unknown == "refuse" else "passed through"),
            ("Kind", KIND_NAMES[requirement.shield]),
            ("Horizon" if once else "Period", plural(requirement.horizon, "decision")),
            ("Periods at most", "" if requirement.periods is None else count(requirement.periods)),
            ("Welfare bounds", welfare),
            ("Assumption", ASSUMPTIONS.get(requirement.shield, "")),
            (
                "If no shield exists for a period",
                WHEN_INFEASIBLE.get(requirement.when_infeasible or "", ""),
            ),
        ),
    )


def _extent(bias_bin: BiasBin) -> str:
    if bias_bin.low == bias_bin.high:
        return f"of {bias_text(bias_bin.low)}"
    return f"above {bias_text(bias_bin.low)}, up to {bias_text(bias_bin.high)}"
