"""The generated part of docs/monitoring.md, and its figures."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.marked_page import fill_marked, percent, table
from benchmarks.monitor_experiments.assignment import ALGORITHMS
from benchmarks.monitor_experiments.figures import (
    COMPAS_TITLE,
    HIRING_TITLE,
    draw_hiring,
    draw_recidivism,
)
from benchmarks.monitor_stream import (
    BESIDE_SQLITE,
    LONG,
    Beside,
    Long,
    beside_sqlite_rows,
    long_rows,
)
from testsgd.io import replacing_any_file, write_text

Row = dict[str, Any]

MARKS = ("<!-- monitor experiments begin -->", "<!-- monitor experiments end -->")

_RATES = {
    "equal_opportunity": "true positive rates",
    "predictive_equality": "false positive rates",
}
_RULES = {
    "estimate with prior": "estimate, prior 1/2 of strength 24",
    "estimate": "estimate, no prior",
    "evidence": "evidence, 95%",
}
_CHANCES = {
    "fair": "fair (women 0.5, men 0.5)",
    "unfair": "unfair (0.2, 0.5)",
    "at the bound": "at the bound (0.4, 0.5)",
}
# What the paper counts in 2,000 scenarios.
_PAPER_TRIGGERS = {("demographic", 54, 0.085, "EqualGender"): 1031}
# And how many times as many for Randomize as for EqualGender.
_PAPER_RATIOS = {("demographic", 80, 0.1): "187", ("demographic", 30, 0.1): "around 6"}


def fill(docs: Path, results: Row) -> list[Path]:
    """Write the figures, and the text between the marks; give the files written.

    Raises
    ------
    SystemExit
        If the page is missing or lacks the marks.
    """
    page = docs / "monitoring.md"
    fill_marked(page, {MARKS: text(results)})
    written = [page]
    pictures = {
        "monitor-compas.svg": draw_recidivism(results["recidivism"]),
        "monitor-hiring.svg": draw_hiring(results["streams"]),
    }
    for name, drawing in pictures.items():
        with replacing_any_file():
            write_text(docs / "images" / name, drawing)
        written.append(docs / "images" / name)
    return written


def text(results: Row) -> str:
    """Write the tables with what they need to be understood."""
    parts = [
        f"`make monitors` writes this; the last time on {results['day']}. Machine: "
        f"{results['machine']}.",
        *_recidivism(results["recidivism"]),
        *_hiring(results["hiring"], results["streams"]),
        *_seminars(results["seminars"], results["size"]["seminars"]),
        *_speed(results["beside_sqlite"], results["long"]),
    ]
    return "\n\n".join(parts)


def _recidivism(found: Row) -> list[str]:
    estimates = [row for row in found["judged"] if row["rule"] == "estimate"]
    names = [str(name) for name in estimates[0]["rates"]]
    return [
        "### COMPAS over time",
        f"{found['events']:,} events in the order of time: a screening with its decision (a score "
        "above 6 is a high risk), and the first new offence. Who commits none within 730 days has "
        "not offended again. Equalized odds, bound 0.1, prior 1/2 of strength 100, as in "
        "Figure 7 of the paper; days are counted from when the first outcome can be known, two "
        "years after the first screening. What evidence says of both rates together is wrong in "
        "at most 5% of all streams, however often one looks.",
        _judged(found["judged"], names),
        f"![{COMPAS_TITLE}](images/monitor-compas.svg)",
        "The false positive rates stand still in the end because of the table: of people screened "
        "after 1 April 2014 it has only those who offended again.",
        "The same for every pair of groups: the day of the first alert, by estimates (e) and by "
        "evidence (p, for proved); in brackets if the estimates were within the bound again at "
        "the end. With a prior of 1/2 and low rates, two groups of different size look different "
        "until the smaller one has outweighed the belief; evidence has no belief.",
        _pairs(found["pairs"]),
    ]


def _judged(rows: list[Row], names: list[str]) -> str:
    lines = []
    for row in rows:
        first, interval = row["first_alert"], row["interval"]
        lines.append(
            [
                _RATES[row["property"]],
                row["rule"],
                *(_rate(*row["rates"][name]) for name in names),
                "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}",
                "none" if first is None else f"{first['day']} (day {_day(first)})",
                "" if first is None else f"{first['trials']:,}",
            ]
        )
    heading = ["", "rule", *names, "difference at the end, proved", "first alert", "trials by then"]
    return table(heading, lines)


def _rate(top: int, bottom: int) -> str:
    return f"{top:,} of {bottom:,} ({percent(top / bottom)})" if bottom else "nobody"


def _pairs(rows: list[Row]) -> str:
    lines = []
    for groups, here in groupby(rows, key=lambda row: row["groups"]):
        found = {(row["property"], row["rule"]): row for row in here}
        cells = []
        for name in _RATES:
            row = found[name, "estimate"]
            proved = found[name, "evidence"]
            rates = " / ".join(
                percent(top / bottom) if bottom else "nobody"
                for top, bottom in row["rates"].values()
            )
            cells += [rates, f"{_first(row, 'e')}, {_first(proved, 'p')}"]
        people = " / ".join(
            f"{sum(found[name, 'estimate']['rates'][group][1] for name in _RATES):,}"
            for group in groups
        )
        lines.append([" / ".join(groups), people, *cells])
    heading = ["groups", "people", *(cell for name in _RATES.values() for cell in (name, "alert"))]
    return table(heading, lines)


def _first(row: Row, letter: str) -> str:
    first = row["first_alert"]
    if first is None:
        return f"{letter} none"
    said = f"{letter} day {_day(first)}"
    return said if row["standing"] == "beyond" else f"({said})"


def _day(first: Row) -> str:
    return f"{first['days_after_two_years']:,}"


def _hiring(rows: list[Row], streams: list[Row]) -> list[str]:
    first = {row["system"]: row["first_alert"] for row in streams}
    shown = ", ".join(
        f"{'none' if when is None else f'after {when} people'} in the {system} one"
        for system, when in first.items()
    )
    lines = []
    for row in rows:
        half, most = ("" if when is None else f"{when:,}" for when in row["first"])
        lines.append(
            [
                _CHANCES[row["system"]],
                _RULES[row["rule"]],
                f"{row['with_alert']:,} of {row['streams']:,} ({percent(row['ever'])})",
                half,
                most,
                percent(row["in_alert"]),
                percent(row["at_end"]),
            ]
        )
    heading = [
        "system", "rule", "streams with an alert", "first alert: half of all streams by person",
        "95% by person", "events in alert", "in alert at the end",
    ]  # fmt: skip
    return [
        "### Hiring",
        f"Streams of {rows[0]['people']} people, women or men with equal chances. Demographic "
        "parity, bound 0.1. Figure 4 of the paper shows one stream of a fair system, without "
        "an alert, and one of an unfair system, with an alert from around the 85th person on; many "
        "streams say how often that is so. A system at the bound is still fair by it, so an "
        "alert about it is a false one. Evidence waits until it is sure, and is wrong in at most "
        "5% of streams, however long they are.",
        table(heading, lines),
        f"The first stream of each, with the prior; first alert: {shown}.",
        f"![{HIRING_TITLE}](images/monitor-hiring.svg)",
    ]


def _seminars(rows: list[Row], size: Row) -> list[str]:
    parts = [
        "### Seminars",
        f"{size['scenarios']:,} scenarios of each algorithm; in each, {size['people']} people "
        f"apply to {size['seminars']} seminars with "
        f"{size['people'] // (2 * size['seminars'])} places each (the paper does not say how many "
        "there are). FCFS takes those who come first, Randomize anybody, Qualification the most "
        "qualified, EqualGender keeps the accepted shares of women and men equal. Decisions are "
        "told in the order of the applications. A trigger is an event after which the estimates, "
        "with a prior of 1/2, are farther apart than the bound, as the paper counts them in "
        "Figure 5. Numbers of the paper, where it gives any, are in brackets.",
    ]
    for parity, words in (
        ("demographic", "Demographic parity over all seminars:"),
        ("conditional", "Conditional parity, within each seminar (an event counts once):"),
    ):
        here = [row for row in rows if row["parity"] == parity]
        parts += [words, _triggers(here)]
    return parts


def _triggers(rows: list[Row]) -> str:
    found = {(row["strength"], row["bound"], row["algorithm"]): row for row in rows}
    lines = []
    for strength, bound in dict.fromkeys((key[0], key[1]) for key in found):
        cells = []
        for algorithm in ALGORITHMS:
            row = found[strength, bound, algorithm]
            paper = _PAPER_TRIGGERS.get((row["parity"], strength, bound, algorithm))
            cells.append(f"{row['triggers']:,}" + (f" ({paper:,})" if paper else ""))
        random, equal = (
            found[strength, bound, algorithm]["triggers"]
            for algorithm in ("Randomize", "EqualGender")
        )
        ratio = f"{random / equal:.3g}" if equal else ""
        paper_ratio = _PAPER_RATIOS.get((rows[0]["parity"], strength, bound))
        ratio = f"{ratio} ({paper_ratio})".strip() if paper_ratio else ratio
        lines.append([f"{strength}", f"{bound:g}", *cells, ratio])
    heading = ["strength", "bound", *ALGORITHMS, "Randomize / EqualGender"]
    return f"{table(heading, lines)}\n\nOf {rows[0]['events']:,} events in each cell."


def _speed(beside: list[Row], long: list[Row]) -> list[str]:
    return [
        "### Running time",
        "Figure 6 of the paper: after each event the bias is judged, by the monitor, and by a "
        "query over all rows so far in SQLite (in memory, one table, no index; the same answers "
        "after every event). Means of ten scenarios, in turn in one process. The monitor takes "
        "the same time for each event, SQLite more with every row.",
        table(BESIDE_SQLITE, beside_sqlite_rows([Beside(**row) for row in beside])),
        "Long streams, one process each. The least that any monitor must do is to find a group's "
        "counters and to add to two of them; that is how fast Python does it. Memory is what the "
        "stream added to the process: ids that are remembered, and people whose label is not "
        "known yet.",
        table(LONG, long_rows([Long(**row) for row in long])),
    ]
