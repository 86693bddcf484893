"""The benchmark's tables, for the terminal and for Markdown, and all its numbers for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from testsgd.truth.baseline_runs import FINDINGS, THETA
from testsgd.truth.bench import EVERY_WORLD, TruthSettings
from testsgd.truth.cases.catalogue import CASES
from testsgd.truth.catalogue import LIMIT, POPULATIONS, WORLDS
from testsgd.truth.measures import AUDIT, Measure, add_up
from testsgd.truth.runs import CONFIDENCE, HOLDOUT

# The row of all worlds together.
_TOGETHER = "all of these"
SCHEMA = "testsgd.truth/2"


@dataclass(frozen=True)
class TruthTable:
    """Table of the benchmark, its numbers written as text."""

    title: str
    note: str  # What its numbers are.
    headings: tuple[str, ...]  # Its columns.
    cells: list[list[str]]  # Its rows.
    labels: int  # How many columns, from the first, are no numbers.


def truth_tables(measures: Sequence[Measure], *, intervals: bool) -> list[TruthTable]:
    """Return the tables of the benchmark that have at least one row.

    Parameters
    ----------
    measures : sequence of Measure
        Those of all parts.
    intervals : bool
        Whether to write confidence intervals beside the numbers, in tables with room for them.

    Returns
    -------
    list of TruthTable
    """
    every = [
        measure
        for measure in measures
        if measure.population in EVERY_WORLD and measure.name in _EVERY_WORLD.heads
    ]
    measures = [*measures, *add_up(every, _TOGETHER)]
    tables = (_pivot(measures, layout, intervals) for layout in _LAYOUTS)
    return [table for table in tables if table.cells]


def truth_document(measures: Sequence[Measure], settings: TruthSettings) -> dict[str, Any]:
    """Return all measures and settings of the benchmark as JSON-able data.

    Parameters
    ----------
    measures : sequence of Measure
        Those of all parts.
    settings : TruthSettings
        What was run.

    Returns
    -------
    dict
    """
    return {
        "schema": SCHEMA,
        "settings": asdict(settings),
        "theta": THETA,
        "confidence": CONFIDENCE,
        "holdout": HOLDOUT,
        "measures": [asdict(measure) for measure in measures],
    }


def truth_markdown(
    measures: Sequence[Measure], settings: TruthSettings, command: str, seconds: float | None
) -> str:
    """Return the tables of the benchmark as Markdown, with the command that made them.

    Parameters
    ----------
    measures : sequence of Measure
        Those of all parts.
    settings : TruthSettings
        What was run.
    command : str
        The command line that ran it.
    seconds : float or None
        How long it took; None leaves it out.

    Returns
    -------
    str
    """
    time = "" if seconds is None else f", in {seconds / 60:.0f} minutes"
    source = f"Made by `{command}`, seed {settings.seed}{time}."
    if settings.populations:
        source += " In brackets: 95% confidence intervals for infinitely many runs."
    lines = [source]
    for table in truth_tables(measures, intervals=True):
        rules = ["---" if index < table.labels else "---:" for index in range(len(table.headings))]
        rows = [table.headings, rules, *table.cells]
        lines += [
            "",
            f"### {table.title}",
            "",
            table.note,
            "",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Layout of a table: a row a population, size and perhaps method, a column a measure."""

    title: str
    note: str
    heads: dict[str, str]  # By the names of measures, as people read them.
    of: Callable[[Measure], bool]  # Whether a measure belongs into it.
    method: bool = False
    wide: bool = False  # So many columns leave no room for intervals.
    needs: str = ""  # Rows without this measure are left out.


def _of_audit(measure: Measure) -> bool:
    return measure.method == AUDIT and measure.population not in (*CASES, _TOGETHER)


def _of_world(measure: Measure) -> bool:
    return measure.population in WORLDS


_EVERY_WORLD = _Layout(
    title="False all-clears and false alarms, world by world",
    note="Share of runs in which the verdict, headline or gate, is wrong; with 95% Clopper-Pearson "
    "intervals. A false all-clear: of the runs in which something is planted, those whose headline "
    "claims no difference, or whose gate passes, without a word about what was not looked at. A "
    "false alarm: a difference is claimed that is not there, or the gate fails where no group is "
    "beyond its limit. Named: it would be one of them if the verdict did not name what it has not "
    "looked at, or what to check.",
    heads={
        "all_clear": "false all-clear",
        "alarm": "false alarm",
        "reserved": "named",
        "undecided": "not enough evidence",
    },
    of=lambda measure: measure.population in (*EVERY_WORLD, _TOGETHER),
)
_LAYOUTS = (
    _EVERY_WORLD,
    _Layout(
        title="Is the planted group found?",
        note="Share of runs in which a planted group is ranked first, and in which all planted "
        "groups are among the first five, without near-duplicates; in which the explaining rules "
        "are exactly the planted groups; and by how many points the score of the first group is "
        "larger than its true score, on average.",
        heads={
            "first by score": "first by score",
            "among first five by score": "top 5 by score",
            "first by lower bound": "first by lower bound",
            "among first five by lower bound": "top 5 by lower bound",
            "explained": "exactly the explaining rules",
            "overstated by score": "overstated by score",
            "overstated by lower bound": "overstated by lower bound",
        },
        of=lambda measure: _of_audit(measure) and measure.population not in ("null", *WORLDS),
    ),
    _Layout(
        title="False discoveries where there is no difference",
        note="Share of runs on the null population in which any confidence interval excludes the "
        "true difference, 0. Claimed: at most 5%; nothing for intervals per group.",
        heads={
            "false discoveries: per-group": "per group",
            "false discoveries: simultaneous": "simultaneous",
            "false discoveries: holdout": "holdout",
            "false discoveries: fdr": "fdr",
        },
        of=lambda measure: _of_audit(measure) and measure.population == "null",
    ),
    _Layout(
        title="Coverage of the confidence intervals",
        note="Share of groups whose confidence interval contains the true difference of the "
        "population, or, where it says all at once, share of runs in which all intervals do. "
        "Claimed: at least 95%.",
        heads={
            "coverage: per-group": "per group, each",
            "coverage: planted": "per group, the planted one",
            "all covered: simultaneous": "simultaneous, all at once",
            "all covered: holdout": "holdout, all at once",
            "coverage: fdr": "fdr, of those found",
        },
        of=_of_audit,
    ),
    _Layout(
        title="Coverage of the sampling margins",
        note="Share of groups whose sampled difference lies within its margin of the exact one of "
        "the same rows. Claimed: at least 90.25%, the square of 95%. Independent sampling: groups "
        "of one feature.",
        heads={
            "coverage: pooled wald": "pooled, Wald",
            "coverage: pooled anytime": "pooled, anytime",
            "coverage: independent wald": "independent, Wald",
            "coverage: independent anytime": "independent, anytime",
        },
        of=_of_audit,
    ),
    _Layout(
        title="Other methods on the same people and models",
        note="As above. A first finding is inside if at least 80% of its people are in planted "
        "groups. What counts as reporting something is below. Seconds are of one run.",
        heads={
            "finding": "reports something",
            "first": "first",
            "among first five": "top 5",
            "first inside": "first inside",
            "seconds": "seconds",
        },
        of=lambda measure: not _of_audit(measure) and measure.population != "null",
        method=True,
    ),
    _Layout(
        title="What other methods report where there is no difference",
        note="Share of runs on the null population with a finding. What counts as one: "
        f"{'; '.join(f'{method}: {meaning}' for method, meaning in FINDINGS.items())}.",
        heads={"finding": "reports something", "seconds": "seconds"},
        of=lambda measure: not _of_audit(measure) and measure.population == "null",
        method=True,
    ),
    _Layout(
        title="Is the verdict right?",
        note="Share of runs in which the verdict of the defaults is wrong. "
        "A false all-clear: no significant difference in the "
        f"headline, or a gate of {LIMIT:g} that passes, though the true difference of a planted "
        "group with at least 50 people inside and outside is clearly larger. A false alarm: a "
        "headline about a group that does not differ, or differs in the other direction; or a "
        "gate that fails at a limit that no group exceeds. “Not enough evidence” (exit code 3) is "
        "neither. With none of 200 runs the 95% confidence interval reaches to 1.8%.",
        heads={
            "evaluable": "50 planted people",
            "headline_all_clear": "headline: false all-clear",
            "headline_alarm": "headline: false alarm",
            "gate_all_clear": "gate: false all-clear",
            "gate_alarm": "gate: false alarm",
            "undecided": "gate: not enough evidence",
        },
        of=_of_world,
        wide=True,
    ),
    _Layout(
        title="Are the planted groups explained and ranked first?",
        note="Share of runs in which the explaining rules are exactly the planted groups; and, "
        "where the planted group has enough people, its median rank among all groups, and the "
        "share of runs in which it is ranked first.",
        heads={
            "explained": "exactly the explaining rules",
            "rank by lower bound": "rank by lower bound",
            "first by lower bound": "first by lower bound",
            "rank by score": "rank by score",
            "first by score": "first by score",
        },
        of=_of_world,
        wide=True,
        needs="explained",
    ),
)


def _pivot(measures: Sequence[Measure], layout: _Layout, intervals: bool) -> TruthTable:
    """Return the table of a layout, its rows sorted by method, population and size."""
    rows: dict[tuple[str, str, int], dict[str, Measure]] = {}
    for measure in measures:
        if layout.of(measure) and measure.name in layout.heads:
            key = (measure.method, measure.population, measure.rows)
            rows.setdefault(key, {})[measure.name] = measure
    order = (*POPULATIONS, *EVERY_WORLD, _TOGETHER)
    cells = [
        [
            *([method] if layout.method else []),
            people,
            f"{size:,}" if size else "",
            f"{max(measure.runs for measure in row.values()):,}",
            *(_cell(row.get(name), intervals and not layout.wide) for name in layout.heads),
        ]
        for (method, people, size), row in sorted(
            rows.items(), key=lambda item: (item[0][0], order.index(item[0][1]), item[0][2])
        )
        if not layout.needs or layout.needs in row
    ]
    labels = ["method"] if layout.method else []
    headings = (*labels, "population", "people", "runs", *layout.heads.values())
    return TruthTable(layout.title, layout.note, headings, cells, len(labels) + 1)


def _cell(measure: Measure | None, intervals: bool) -> str:
    if measure is None:
        return ""
    if measure.name.startswith("rank"):
        return f"{measure.value:,.0f}"
    if measure.name == "seconds":
        return f"{measure.value:.2f}"
    if measure.name.startswith("overstated"):
        # In points of the rate.
        return f"{100 * measure.value:.1f}"
    if not intervals:
        return f"{measure.value:.1%}"
    low, high = max(measure.ci_low, 0.0), min(measure.ci_high, 1.0)
    return f"{measure.value:.1%} ({100 * low:.1f} to {100 * high:.1f})"
