"""What the experiments write: between marks of a page, figures, and times beside SQLite."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from paper_benchmarks import benchmark

assignment = benchmark("monitor_experiments.assignment")
figures = benchmark("monitor_experiments.figures")
hiring = benchmark("monitor_experiments.hiring")
marked_page = benchmark("marked_page")
page = benchmark("monitor_experiments.page")
recidivism = benchmark("monitor_experiments.recidivism")
stream = benchmark("monitor_stream")


@pytest.mark.parametrize("name", ["demographic parity", "conditional parity"])
def test_monitor_and_sqlite_say_the_same_after_every_event(name: str) -> None:
    said = []
    for number in range(10):
        random = np.random.default_rng(number)
        people = assignment.Applications.draw(random, 80)
        events = assignment.decisions(people, assignment.assign("Randomize", people, random))
        monitor = stream.watch_with_monitor(name, events)
        assert monitor == stream.watch_with_sqlite(name, events)
        said += monitor
    assert 0 < sum(said) < len(said)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is Linux's")
@pytest.mark.parametrize("kind", list(stream.KINDS))
def test_a_long_stream_of_each_kind_is_measured(kind: str) -> None:
    found = stream.measure(kind, 500)
    assert found.events == 500
    assert min(found.seconds, found.limit, found.median) > 0
    assert len(stream.long_rows([found])[0]) == len(stream.LONG)


def test_labels_come_to_people_who_were_decided() -> None:
    events = [one for part in stream._portions("labels", 12_000) for one in part]
    decided = {one["id"] for one in events if "decision" in one}
    labelled = [one["id"] for one in events if "label" in one]
    assert set(labelled) <= decided
    assert len(set(labelled)) == len(labelled) > 1000


def test_only_what_stands_between_the_marks_is_written(tmp_path: Path) -> None:
    written = tmp_path / "page.md"
    written.write_text("before\n\nBEGIN\nold\nEND\n\nafter\n")
    for part in ("new", "newer"):
        marked_page.fill_marked(written, {("BEGIN", "END"): part})
        assert written.read_text() == f"before\n\nBEGIN\n\n{part}\n\nEND\n\nafter\n"
    with pytest.raises(SystemExit, match="lacks the lines"):
        marked_page.fill_marked(written, {("BEGIN", "END"): "x", ("AGAIN", "END"): "y"})
    assert "newer" in written.read_text()
    with pytest.raises(SystemExit, match="is missing"):
        marked_page.fill_marked(tmp_path / "none.md", {})


def test_the_curves_are_drawn_with_the_title_that_the_page_has() -> None:
    size = hiring.Hiring(people=40)
    streams = [hiring.one_stream(system, size) for system in ("fair", "unfair")]
    drawing = ElementTree.fromstring(figures.draw_hiring(streams))
    title = drawing.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == figures.HIRING_TITLE
    kinds = [part.get("class") for part in drawing]
    assert kinds.count("difference") == 3  # a line a panel, and the legend


def test_curves_of_screenings_are_drawn() -> None:
    days = [f"2013-{1 + day // 20:02}-{1 + day % 20:02}" for day in range(240)]
    screenings = pd.DataFrame(
        {
            "id": range(240),
            "race": ["African-American", "Caucasian"] * 120,
            "compas_screening_date": days,
            "decile_score": [9, 2] * 120,
            "is_recid": [0, 0, 1, 1] * 60,
            "r_offense_date": [None, None, "2014-02-01", "2014-02-02"] * 60,
        }
    )
    events = recidivism.events_of(screenings, recidivism.PAIR)
    monitor, _ = recidivism.watch(events, "estimate", recidivism.PAIR)
    comparisons = monitor.status().comparisons
    judged = [recidivism._judged(one, "2013-01-01") for one in comparisons]
    curves = [recidivism._curve(one) for one in comparisons]
    drawing = figures.draw_recidivism({"judged": judged, "curves": curves})
    assert figures.COMPAS_TITLE in drawing
    assert ElementTree.fromstring(drawing).get("role") == "img"


def test_kept_results_are_what_was_kept() -> None:
    kept = benchmark("kept_results")
    results = {"day": "2020-01-01", "rows": [{"a": 1, "b": [0.25, None]}, {"c": "x"}], "size": {}}
    assert json.loads(kept.as_json(results)) == results
    assert json.loads(kept.as_json({"rows": [1 / 3]})) == {"rows": [0.333333]}
