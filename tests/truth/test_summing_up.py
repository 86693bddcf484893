"""Runs are summed up by hand-made examples, and laid out as tables."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from scipy.stats import binom

from testsgd.errors import ParameterError
from testsgd.truth import (
    BaselineRun,
    Coverage,
    Hits,
    Run,
    TruthSettings,
    truth_document,
    truth_markdown,
    truth_tables,
)
from testsgd.truth.measures import measure_baselines, measure_runs, share_interval

GOOD = Coverage(groups=10, covered=10, false=False)
BAD = Coverage(groups=10, covered=8, false=True)
NONE = Coverage(groups=0, covered=0, false=False)
HIT, MISS = Hits(True, True, True), Hits(False, False, False)


def a_run(number: int, simultaneous: Coverage = GOOD, hit: Hits | None = HIT) -> Run:
    kinds = {"per-group": BAD, "simultaneous": simultaneous, "holdout": GOOD, "fdr": NONE}
    return Run(
        population="null" if hit is None else "band",
        rows=1_000,
        number=number,
        by_score=hit,
        by_lower_bound=hit,
        explained=None if hit is None else number % 2 == 1,
        overstated={"score": 0.02 * number, "lower bound": 0.0},
        planted=NONE if hit is None else Coverage(1, number % 2, False),
        intervals=kinds | {"pooled wald": BAD},
    )


def values(runs: list[Run]) -> dict[str, float]:
    return {measure.name: measure.value for measure in measure_runs(runs)}


def test_shares_and_means_by_hand() -> None:
    runs = [a_run(0), a_run(1, BAD, MISS), a_run(2), a_run(3)]
    found = values(runs)
    assert found["first by score"] == found["among first five by lower bound"] == 0.75
    assert found["overstated by score"] == pytest.approx(0.03)
    assert found["explained"] == 0.5
    assert found["coverage: planted"] == 0.5
    assert found["coverage: per-group"] == 0.8
    assert found["coverage: simultaneous"] == pytest.approx(0.95)
    assert found["all covered: simultaneous"] == 0.75
    assert found["false discoveries: simultaneous"] == 0.25
    assert found["false discoveries: per-group"] == 1
    # Nothing is discovered, so nothing discovered is false.
    assert found["coverage: fdr"] == 1
    assert found["coverage: pooled wald"] == 0.8
    assert "false discoveries: pooled wald" not in found


def test_where_nothing_is_planted_nothing_is_found() -> None:
    found = values([a_run(0, hit=None), a_run(1, hit=None)])
    assert not any("first by" in name or "planted" in name or name == "explained" for name in found)
    assert found["false discoveries: simultaneous"] == 0


def test_claims_go_with_the_measures() -> None:
    claims = {measure.name: measure.claimed for measure in measure_runs([a_run(0), a_run(1)])}
    assert claims["all covered: simultaneous"] == claims["coverage: per-group"] == 0.95
    assert claims["all covered: per-group"] is None
    assert claims["false discoveries: simultaneous"] == pytest.approx(0.05)
    assert claims["false discoveries: per-group"] is None
    assert claims["coverage: pooled wald"] == pytest.approx(0.9025)


@pytest.mark.parametrize(("successes", "runs"), [(0, 20), (3, 50), (50, 50)])
def test_the_interval_of_a_share_is_clopper_and_pearsons(successes: int, runs: int) -> None:
    low, high = share_interval(successes, runs)
    # At its ends, what was seen is just so likely that it is in the tail of 2.5%.
    if successes > 0:
        assert binom.sf(successes - 1, runs, low) == pytest.approx(0.025, rel=1e-6)
    if successes < runs:
        assert binom.cdf(successes, runs, high) == pytest.approx(0.025, rel=1e-6)


def a_baseline(method: str, hits: Hits | None, *, available: bool = True) -> BaselineRun:
    return BaselineRun(
        population="null" if hits is None else "band",
        rows=1_000,
        number=0,
        method=method,
        available=available,
        hits=hits,
        finding=True,
        seconds=0.5,
    )


def test_baselines_are_summed_up_one_by_one_and_absent_ones_left_out() -> None:
    runs = [
        a_baseline("themis", HIT),
        a_baseline("themis", MISS),
        a_baseline("gerryfair", HIT),
        a_baseline("divexplorer", HIT, available=False),
    ]
    found = {(m.method, m.name): m.value for m in measure_baselines(runs)}
    assert found["themis", "first"] == 0.5
    assert found["gerryfair", "among first five"] == 1
    assert found["themis", "seconds"] == 0.5
    assert not any(method == "divexplorer" for method, _ in found)


def test_tables_show_every_run_and_markdown_is_whole() -> None:
    measures = [
        *measure_runs([a_run(0), a_run(1, BAD, MISS)]),
        *measure_runs([a_run(0, hit=None), a_run(1, hit=None)]),
        *measure_baselines([a_baseline("themis", HIT), a_baseline("themis", None)]),
    ]
    tables = {table.title: table for table in truth_tables(measures, intervals=False)}
    assert len(tables) == 6
    found = tables["Is the planted group found?"]
    assert found.cells == [["band", "1,000", "2", *["50.0%"] * 5, "1.0", "0.0"]]
    false = tables["False discoveries where there is no difference"]
    assert false.cells == [["null", "1,000", "2", "100.0%", "0.0%", "0.0%", "0.0%"]]
    settings = TruthSettings(runs=2)
    text = truth_markdown(measures, settings, "testsgd bench truth", 90)
    assert "50.0% (1.3 to 98.7)" in text
    for table in tables.values():
        assert f"### {table.title}" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") > 4
    document = json.loads(json.dumps(truth_document(measures, settings)))
    assert document["schema"] == "testsgd.truth/2"
    assert len(document["measures"]) == len(measures)


def test_a_run_is_json() -> None:
    run = json.loads(json.dumps(asdict(a_run(1))))
    assert run["intervals"]["simultaneous"] == {"groups": 10, "covered": 10, "false": False}


def test_larger_samples_get_fewer_runs() -> None:
    settings = TruthSettings(runs=1_000, baseline_runs=100)
    sizes = (1_000, 10_000, 100_000, 1_000_000)
    assert [settings.runs_of(rows) for rows in sizes] == [1_000, 1_000, 100, 10]
    assert [settings.baseline_runs_of(rows) for rows in sizes] == [100, 100, 10, 0]
    assert replace(settings, runs=4).runs_of(1_000_000) == 4
    assert replace(settings, baseline_runs=0).baseline_runs_of(1_000) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"populations": ("none",)}, "'none' is unknown"),
        ({"methods": ("none",)}, "'none' is unknown"),
        ({"sizes": (1_000, 100)}, "sizes: 100 is not at least 500"),
        ({"runs": 1}, "runs: 1 is not at least 2"),
        ({"jobs": 0}, "jobs: 0 is not between 1 and"),
        ({"baseline_runs": -1}, "baseline_runs: -1 is not at least 0"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TruthSettings(**wrong)
