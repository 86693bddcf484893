"""Equalized odds of the COMPAS scores as they came (Figure 7 of the paper).

A screening is an event with a group and a decision (high risk: a score above 6); the first new
offence is an event with the label. Whoever commits none within 730 days has label 0 then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.data import DatasetSpecification, find_files, load_specification
from testsgd.monitoring import Alert, ComparisonStatus, Monitor, MonitorSpecification

Row = dict[str, Any]
Event = dict[str, Any]

PAIR = ("African-American", "Caucasian")
THRESHOLD = "1/10"
DEADLINE = "730 d"
# A score above it is a high risk.
_HIGH = 6
_DAY = 86_400
_COLUMNS = [
    "id", "race", "compas_screening_date", "decile_score", "is_recid", "r_offense_date",
]  # fmt: skip


def read_screenings(path: Path | None = None) -> pd.DataFrame:
    """Read ProPublica's table, from the data set of the catalogue if no file is named."""
    if path is None:
        specification = load_specification("compas")
        assert isinstance(specification, DatasetSpecification)
        path = find_files(specification)[0]
    return pd.read_csv(path, usecols=_COLUMNS, dtype={"r_offense_date": "string"})


def events_of(screenings: pd.DataFrame, groups: Sequence[str]) -> list[Event]:
    """Make the stream of some groups, in the order of time.

    Parameters
    ----------
    screenings : pandas.DataFrame
    groups : sequence of str

    Returns
    -------
    list of dict
        Of the same day, screenings before offences, each in the order of the table.
    """
    events: list[Event] = []
    for row in screenings[screenings["race"].isin(list(groups))].to_dict("records"):
        person = row["id"]
        events.append(
            {
                "id": person,
                "time": row["compas_screening_date"],
                "group": row["race"],
                "decision": int(row["decile_score"] > _HIGH),
            }
        )
        if row["is_recid"] == 1 and not pd.isna(row["r_offense_date"]):
            events.append({"id": person, "time": row["r_offense_date"], "label": 1})
    return sorted(events, key=lambda event: (event["time"], "label" in event))


def specified(rule: str, groups: Sequence[str]) -> MonitorSpecification:
    """Specify equalized odds as the paper does, or with evidence in the place of estimates."""
    return MonitorSpecification.from_dict(
        {
            "name": f"compas by {rule}",
            "groups": {"names": list(groups)},
            # The times are known to be right, however far apart events of rare groups are.
            "time": {"max_skew": "3650 d"},
            "trials": {"deadline": DEADLINE},
            "estimate": {"prior": "1/2", "strength": 100},
            "properties": [{"property": "equalized_odds", "bound": THRESHOLD, "rule": rule}],
        }
    )


def watch(events: Iterable[Event], rule: str, groups: Sequence[str]) -> tuple[Monitor, list[Alert]]:
    """Give the events to a monitor, then wait until every deadline is over."""
    monitor = Monitor(specified(rule, groups))
    alerts: list[Alert] = []
    for event in events:
        alerts += monitor.observe(event)
    last = monitor.status().time or 0.0
    # The deadlines of the last day are over, too.
    alerts += monitor.advance(last + 731 * _DAY)
    return monitor, alerts


def recidivism(path: Path | None = None) -> Row:
    """Run the experiment for the paper's pair of groups, and for every other pair.

    Returns
    -------
    dict
        ``judged`` has a row a property and rule, ``curves`` the estimates over time, ``pairs`` a
        row a pair of groups, rule and property.
    """
    screenings = read_screenings(path)
    events = events_of(screenings, PAIR)
    judged: list[Row] = []
    curves: list[Row] = []
    for rule in ("estimate", "evidence"):
        monitor, _ = watch(events, rule, PAIR)
        status = monitor.status()
        judged += [_judged(comparison, events[0]["time"]) for comparison in status.comparisons]
        if rule == "estimate":
            curves = [_curve(comparison) for comparison in status.comparisons]
    # The largest groups first.
    groups = [str(name) for name in screenings["race"].value_counts().index]
    pairs = [
        {"groups": list(pair)} | one
        for pair in combinations(groups, 2)
        for one in _of_pair(screenings, pair)
    ]
    return {"events": len(events), "judged": judged, "curves": curves, "pairs": pairs}


def _of_pair(screenings: pd.DataFrame, pair: tuple[str, str]) -> list[Row]:
    events = events_of(screenings, pair)
    return [
        _judged(comparison, events[0]["time"])
        for rule in ("estimate", "evidence")
        for comparison in watch(events, rule, pair)[0].status().comparisons
    ]


def _judged(comparison: ComparisonStatus, begin: str) -> Row:
    """Sum up a comparison; days are counted from when the first outcome can be known."""
    first = comparison.first_alert
    row: Row = {
        "property": comparison.property.fairness.name,
        "rule": comparison.property.rule,
        "rates": {group.name: [group.numerator, group.denominator] for group in comparison.groups},
        "bias": float(comparison.bias),
        "estimate": float(comparison.estimate),
        "interval": None if comparison.interval is None else list(comparison.interval),
        "standing": comparison.standing,
        "alerts": comparison.alerts,
        "first_alert": None,
    }
    if first is not None and first.time is not None:
        day = datetime.fromtimestamp(first.time, UTC).date()
        row["first_alert"] = {
            "day": str(day),
            "days_after_two_years": (day - date.fromisoformat(begin)).days - 730,
            "trials": first.trials,
            "interval": None if first.interval is None else list(first.interval),
        }
    return row


def _curve(comparison: ComparisonStatus) -> Row:
    """Give the estimates over time as lists of one length, in seconds since 1970."""
    points = [point for point in comparison.trajectory if len(point.estimates) == len(PAIR)]
    return {
        "property": comparison.property.fairness.name,
        "groups": [group.name for group in comparison.groups],
        "times": [int(point.time or 0) for point in points],
        "rates": [
            [_short(point.estimates[place]) for point in points] for place in range(len(PAIR))
        ],
        "bias": [_short(point.bias) for point in points],
    }


def _short(rate: float | None) -> float | None:
    """Round as far as a drawing can show it."""
    return None if rate is None else round(rate, 4)
