"""The experiments of the paper's section 5: what they count, beside plain recounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from paper_benchmarks import benchmark
from scipy.stats import binom

from testsgd.data import Table, find_files, load_specification

assignment = benchmark("monitor_experiments.assignment")
hiring = benchmark("monitor_experiments.hiring")
recidivism = benchmark("monitor_experiments.recidivism")
seminars = benchmark("monitor_experiments.seminars")

HALF = Fraction(1, 2)


def recounted(
    events: Iterable[dict[str, Any]], strength: int, bound: Fraction, given: str | None = None
) -> list[bool]:
    """Say after each event whether any two groups are too far apart, from all events so far."""
    so_far: list[dict[str, Any]] = []
    said = []
    for event in events:
        so_far.append(event)
        gaps = []
        for value in {one.get(given) for one in so_far}:
            here = [one for one in so_far if one.get(given) == value]
            rates = []
            for group in {one["group"] for one in here}:
                decisions = [one["decision"] for one in here if one["group"] == group]
                rates.append((sum(decisions) + HALF * strength) / (len(decisions) + strength))
            gaps.append(max(rates) - min(rates))
        said.append(max(gaps) > bound)
    return said


@pytest.mark.parametrize("algorithm", assignment.ALGORITHMS)
def test_every_place_is_given_as_long_as_somebody_waits(algorithm: str) -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        people = assignment.Applications.draw(random, 60, 4)
        accepted = assignment.assign(algorithm, people, random)
        for seminar in range(4):
            here = people.seminars == seminar
            assert accepted[here].sum() == min(here.sum(), people.places)


@pytest.mark.parametrize("algorithm", ["FCFS", "Qualification"])
def test_who_is_first_or_most_qualified_is_accepted(algorithm: str) -> None:
    random = np.random.default_rng(4)
    people = assignment.Applications.draw(random)
    accepted = assignment.assign(algorithm, people, random)
    worth = -np.arange(100.0) if algorithm == "FCFS" else people.qualifications
    for seminar in range(5):
        here = people.seminars == seminar
        if accepted[here].all():
            continue
        assert worth[here & accepted].min() > worth[here & ~accepted].max()


def test_equal_gender_gives_both_groups_nearly_the_same_share() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        people = assignment.Applications.draw(random)
        accepted = assignment.assign("EqualGender", people, random)
        women, men = (accepted[people.groups == group].mean() for group in (0, 1))
        assert abs(women - men) < 0.1


@pytest.mark.parametrize("parity", ["demographic", "conditional"])
@pytest.mark.parametrize("strength", [0, 30])
def test_triggers_are_the_events_after_which_estimates_are_too_far_apart(
    parity: str, strength: int
) -> None:
    size = seminars.Seminars(people=60)
    bounds = ("0.05", "0.085", "0.1")
    specification = seminars.specified(strength, bounds, parity)
    given = "seminar" if parity == "conditional" else None
    for algorithm in ("FCFS", "EqualGender"):
        events = seminars.scenario(algorithm, 7, size)
        assert seminars.triggers(specification, events) == [
            sum(recounted(events, strength, Fraction(bound), given)) for bound in bounds
        ]


def test_scenarios_are_the_same_people_for_all_algorithms() -> None:
    size = seminars.Seminars()
    drawn = [seminars.scenario(name, 2, size) for name in assignment.ALGORITHMS]
    told = [[(one["group"], one["seminar"]) for one in events] for events in drawn]
    assert told == [told[0]] * 4
    assert drawn == [seminars.scenario(name, 2, size) for name in assignment.ALGORITHMS]


@pytest.mark.parametrize(("rule", "strength"), [("estimate with prior", 24), ("estimate", 0)])
def test_alerts_about_hiring_are_those_of_a_recount(rule: str, strength: int) -> None:
    size = hiring.Hiring(people=80, seed=1)
    streams = range(3, 6)
    found = hiring._count("unfair", rule, streams, size)
    for row, stream in zip(found, streams, strict=True):
        events = hiring.applicants("unfair", stream, size)
        above = recounted(events, strength, Fraction(1, 10))
        first = 1 + above.index(True) if any(above) else np.inf
        assert row.tolist() == [first, above[-1], sum(above)]


def test_evidence_keeps_its_error_where_the_truth_is_at_the_bound() -> None:
    streams = 60
    found = hiring._count("at the bound", "evidence", range(streams), hiring.Hiring(people=150))
    assert np.isfinite(found[:, 0]).sum() <= binom.ppf(1 - 1e-6, streams, 0.05)


SCREENED = """\
id,name,race,compas_screening_date,decile_score,is_recid,r_offense_date,two_year_recid
1,x,A,2013-01-02,9,1,2013-05-01,1
2,x,A,2013-01-01,7,0,,0
3,x,B,2013-01-03,6,1,2013-01-03,1
4,x,B,2013-01-03,10,1,2015-06-01,0
5,x,C,2013-01-02,8,0,,0
6,x,B,2013-01-04,2,0,,0
"""


def test_screenings_come_in_the_order_of_time_and_before_offences(tmp_path: Path) -> None:
    (tmp_path / "made_up.csv").write_text(SCREENED)
    screenings = recidivism.read_screenings(tmp_path / "made_up.csv")
    events = recidivism.events_of(screenings, ["A", "B"])
    told = [(one["id"], one.get("decision"), one.get("label")) for one in events]
    assert told == [
        (2, 1, None), (1, 1, None), (3, 0, None), (4, 1, None), (3, None, 1), (6, 0, None),
        (1, None, 1), (4, None, 1),
    ]  # fmt: skip


def test_an_offence_after_two_years_is_none(tmp_path: Path) -> None:
    (tmp_path / "made_up.csv").write_text(SCREENED)
    screenings = recidivism.read_screenings(tmp_path / "made_up.csv")
    monitor, _ = recidivism.watch(
        recidivism.events_of(screenings, ["A", "B"]), "estimate", ["A", "B"]
    )
    counted = [
        [(group.numerator, group.denominator) for group in one.groups]
        for one in monitor.status().comparisons
    ]
    # Positives are 1 and 3; the fourth person offended again too late.
    assert counted == [[(1, 1), (0, 1)], [(1, 1), (1, 2)]]


@pytest.mark.slow
@pytest.mark.real_data
def test_unfairness_of_compas_is_seen_within_a_month_of_the_third_year(
    real_table: Callable[[str], Table],
) -> None:
    real_table("compas")  # skips if the file is absent
    rows = pd.read_csv(find_files(load_specification("compas"), download=False)[0])
    rows = rows[rows["race"].isin(recidivism.PAIR)]
    found = recidivism.recidivism()
    judged = {(row["property"], row["rule"]): row for row in found["judged"]}
    again = (rows["is_recid"] == 1) & (
        pd.to_datetime(rows["r_offense_date"]) - pd.to_datetime(rows["compas_screening_date"])
        <= timedelta(days=730)
    )
    for name, part in (("equal_opportunity", again), ("predictive_equality", ~again)):
        for group in recidivism.PAIR:
            high = rows[part & (rows["race"] == group)]["decile_score"] > 6
            for rule in ("estimate", "evidence"):
                assert judged[name, rule]["rates"][group] == [int(high.sum()), len(high)]
    first = judged["predictive_equality", "estimate"]["first_alert"]
    assert date(2015, 1, 1) < date.fromisoformat(first["day"]) < date(2015, 2, 1)
    # Evidence takes longer, and is right in the end.
    for row in found["judged"]:
        assert row["standing"] == "beyond"
        if row["rule"] == "evidence":
            assert row["first_alert"]["days_after_two_years"] < 365
            assert row["interval"][0] > 0.1
