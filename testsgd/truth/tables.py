"""The benchmark's tables, for the terminal and for Markdown, and all its numbers for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from testsgd.truth.baseline_runs import FINDINGS, THETA
from testsgd.truth.bench import TruthSettings
from testsgd.truth.catalogue import POPULATIONS
from testsgd.truth.measures import AUDIT, Measure
from testsgd.truth.runs import CONFIDENCE, HOLDOUT
from testsgd.truth.worlds import LIMIT, WORLDS

SCHEMA = "testsgd.truth/1"

# As people read it: the interval only where a table is wide enough, so in Markdown.
_HEADS = {
    "first by score": "first by score",
    "among first five by score": "top 5 by score",
    "first by lower bound": "first by lower bound",
    "among first five by lower bound": "top 5 by lower bound",
    "explained": "exactly what explains",
    "overstated by score": "overstated by score",
    "overstated by lower bound": "overstated by lower bound",
    "first": "first",
    "among first five": "top 5",
    "first inside": "first inside",
}
_INTERVALS = {
    "per-group": "per group",
    "simultaneous": "simultaneous",
    "holdout": "holdout",
    "fdr": "fdr",
}
_MARGINS = {
    "pooled wald": "pooled, Wald",
    "pooled anytime": "pooled, anytime",
    "independent wald": "independent, Wald",
    "independent anytime": "independent, anytime",
}


@dataclass(frozen=True)
class TruthTable:
    """A table of the benchmark.

    Attributes
    ----------
    title : str
        What stands above it.
    note : str
        What its numbers are.
    headings : tuple of str
        Its columns.
    cells : list of list of str
        Its rows.
    labels : int
        How many columns, from the first, are no numbers.
    """

    title: str
    note: str
    headings: tuple[str, ...]
    cells: list[list[str]]
    labels: int


def truth_tables(measures: Sequence[Measure], *, intervals: bool) -> list[TruthTable]:
    """Lay out the measures; tables of which there is nothing are left out.

    Parameters
    ----------
    measures : sequence of Measure
        All measures.
    intervals : bool
        Write the Monte-Carlo interval behind each number.

    Returns
    -------
    list of TruthTable
    """
    tables = [
        _found(measures, intervals),
        _false(measures, intervals),
        _covered(measures, intervals),
        _margins(measures, intervals),
        _baselines_found(measures, intervals),
        _baselines_null(measures, intervals),
        _verdicts(measures),
        _named(measures),
    ]
    return [table for table in tables if table.cells]


def truth_document(measures: Sequence[Measure], settings: TruthSettings) -> dict[str, Any]:
    """Give everything as JSON-able data."""
    return {
        "schema": SCHEMA,
        "settings": asdict(settings),
        "theta": THETA,
        "confidence": CONFIDENCE,
        "holdout": HOLDOUT,
        "measures": [asdict(measure) for measure in measures],
    }


def truth_markdown(
    measures: Sequence[Measure], settings: TruthSettings, command: str, seconds: float
) -> str:
    """Write the tables as Markdown, with what made them."""
    made = f"Made by `{command}`, seed {settings.seed}, in {seconds / 60:.0f} minutes."
    if settings.populations:
        made += " In brackets: 95% intervals for what infinitely many runs would give."
    lines = [made]
    for table in truth_tables(measures, intervals=True):
        rules = ["---" if place < table.labels else "---:" for place in range(len(table.headings))]
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


def _found(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    names = list(_HEADS)[:7]
    return _pivot(
        measures,
        "Is the planted group found?",
        "Share of runs in which a planted group comes first, and in which all planted groups are "
        "among the first five, near copies folded; in which the rules that explain the "
        "differences are the planted groups, no more and no less; and by how many points the first "
        "group's score is larger than its true size, on average.",
        {name: _HEADS[name] for name in names},
        intervals,
        of=lambda measure: measure.method == AUDIT and measure.population not in ("null", *WORLDS),
    )


def _false(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    return _pivot(
        measures,
        "False findings where there is nothing to find",
        "Share of runs on the null population in which any interval leaves out the true "
        "difference, 0. Claimed: at most 5%; nothing for intervals per group.",
        {f"false findings: {kind}": head for kind, head in _INTERVALS.items()},
        intervals,
        of=lambda measure: measure.method == AUDIT and measure.population == "null",
    )


def _covered(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    heads = {
        "coverage: per-group": "per group, each",
        "coverage: planted": "per group, the planted one",
        "all covered: simultaneous": "simultaneous, all at once",
        "all covered: holdout": "holdout, all at once",
        "coverage: fdr": "fdr, of those found",
    }
    return _pivot(
        measures,
        "Do the intervals hold the truth?",
        "Share of groups whose interval holds the true difference of the population, or, where it "
        "says all at once, share of runs in which all intervals do. Claimed: at least 95%.",
        heads,
        intervals,
        of=lambda measure: measure.method == AUDIT,
    )


def _margins(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    return _pivot(
        measures,
        "Do the sampling margins hold what the rows have?",
        "Share of groups whose sampled difference lies within its margin of the exact one of the "
        "same rows. Claimed: at least 90.25%, the square of 95%. Independent sampling: groups of "
        "one feature.",
        {f"coverage: {kind}": head for kind, head in _MARGINS.items()},
        intervals,
        of=lambda measure: measure.method == AUDIT,
    )


def _baselines_found(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    return _pivot(
        measures,
        "Other methods on the same people and models",
        "As above. A first finding lies inside if at least 80% of its people are in planted "
        "groups. What counts as reporting something stands below. Seconds are of one run.",
        {"finding": "reports something"}
        | {name: _HEADS[name] for name in ("first", "among first five", "first inside")}
        | {"seconds": "seconds"},
        intervals,
        of=lambda measure: measure.method != AUDIT and measure.population != "null",
        method=True,
    )


def _baselines_null(measures: Sequence[Measure], intervals: bool) -> TruthTable:
    meanings = "; ".join(f"{method}: {meaning}" for method, meaning in FINDINGS.items())
    return _pivot(
        measures,
        "What other methods report where there is nothing",
        f"Share of runs on the null population with a finding. What counts as one: {meanings}.",
        {"finding": "reports something", "seconds": "seconds"},
        intervals,
        of=lambda measure: measure.method != AUDIT and measure.population == "null",
        method=True,
    )


def _verdicts(measures: Sequence[Measure]) -> TruthTable:
    return _pivot(
        measures,
        "Is the verdict right?",
        "Share of runs in which the verdict misleads, by the defaults, and either way by those of "
        "before: rates over the neighbourhood, groups of at least 5% with anybody outside, the "
        "first by score. A false all-clear: nothing beyond chance in the headline, or a gate of "
        f"{LIMIT:g} that passes, though a planted group of at least 50 people on both sides truly "
        "differs by clearly more. A false alarm: a headline about a group that does not differ, or "
        "differs the other way; or a gate that fails at a limit that no group exceeds. “Not enough "
        "evidence” (exit code 3) is neither. None of 200 runs means at most 1.8% of all.",
        {
            "judgeable": "50 planted people",
            "headline_all_clear": "headline: false all-clear",
            "headline_alarm": "headline: false alarm",
            "gate_all_clear": "gate: false all-clear",
            "gate_alarm": "gate: false alarm",
            "undecided": "gate: not enough evidence",
            "old headline": "before: wrong headline",
            "old gate": "before: wrong gate",
            "old undecided": "before: not enough evidence",
        },
        # So many columns leave no room for them.
        intervals=False,
        of=lambda measure: measure.population in WORLDS,
    )


def _named(measures: Sequence[Measure]) -> TruthTable:
    return _pivot(
        measures,
        "Are the planted groups what comes out?",
        "Share of runs in which the rules that explain the differences are the planted groups, no "
        "more and no less; and, where the planted group is judged, its median rank among all "
        "groups, and the share of runs in which none comes before it.",
        {
            "explained": "exactly what explains",
            "rank by lower bound": "rank by lower bound",
            "first by lower bound": "first by lower bound",
            "rank by score": "rank by score",
            "first by score": "first by score",
        },
        intervals=False,
        of=lambda measure: measure.population in WORLDS,
        needs="explained",
    )


def _pivot(
    measures: Sequence[Measure],
    title: str,
    note: str,
    heads: dict[str, str],
    intervals: bool,
    *,
    of: Callable[[Measure], bool],
    method: bool = False,
    needs: str | None = None,
) -> TruthTable:
    """Make a table: a row a population, size and perhaps method, a column a measure.

    Rows without the measure that they need are left out.
    """
    rows: dict[tuple[str, str, int], dict[str, Measure]] = {}
    for measure in measures:
        if of(measure) and measure.name in heads:
            key = (measure.method, measure.population, measure.rows)
            rows.setdefault(key, {})[measure.name] = measure
    order = (*POPULATIONS, *WORLDS)
    cells = []
    for (name, people, size), found in sorted(
        rows.items(), key=lambda item: (item[0][0], order.index(item[0][1]), item[0][2])
    ):
        if needs is not None and needs not in found:
            continue
        runs = max(measure.runs for measure in found.values())
        labels = [name] if method else []
        cells.append(
            [
                *labels,
                people,
                f"{size:,}",
                f"{runs:,}",
                *(_cell(found.get(head), intervals) for head in heads),
            ]
        )
    labels = ["method"] if method else []
    headings = (*labels, "population", "people", "runs", *heads.values())
    return TruthTable(title, note, headings, cells, len(labels) + 1)


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
    low, high = max(measure.low, 0.0), min(measure.high, 1.0)
    return f"{measure.value:.1%} ({100 * low:.1f} to {100 * high:.1f})"
