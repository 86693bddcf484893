"""``testsgd.monitor``: events of every kind are the same events; mistakes are named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd.data import read_frame
from testsgd.errors import DataError, EventError, ParameterError, ResultError, TestSGDError
from testsgd.monitoring import monitored

PARITY = {"property": "demographic_parity", "bound": 0.1}
CHANCE = {"property": "equal_opportunity", "bound": 0.1, "condition_on": ["region"]}
KEYS = {"name": "loans", "properties": [PARITY, CHANCE]}


def people(number: int = 300) -> list[dict[str, Any]]:
    """Everybody of a is accepted, every second one of b; some labels are not known."""
    return [
        {
            "id": f"p{place}",
            "group": "ab"[place % 2],
            "region": "north" if place % 3 else "south",
            "decision": 1 if place % 2 == 0 else place // 2 % 2,
            "label": None if place % 7 == 0 else place % 5 % 2,
            "time": 1000.0 + place,
            "age": 20 + place % 50,
        }
        for place in range(number)
    ]


def write_csv(path: Path, events: list[dict[str, Any]], separator: str = ",") -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(events[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(events)


def counted(result: testsgd.MonitorResult) -> Any:
    kept = result.summary.model_dump(exclude={"created", "versions"})
    return json.loads(json.dumps(kept))


def test_events_of_every_kind_are_the_same_events(tmp_path: Path) -> None:
    events = people()
    expected = counted(testsgd.monitor(KEYS, events))
    assert expected["stream"]["decided"] == 300
    assert expected["alerts_raised"] >= 1
    write_csv(tmp_path / "events.csv", events)
    lines = "\n\n".join(json.dumps(event) for event in events)
    (tmp_path / "events.jsonl").write_text(lines, encoding="utf-8")
    for given in (
        iter(events),
        pd.DataFrame(events),
        tmp_path / "events.csv",
        str(tmp_path / "events.jsonl"),
    ):
        assert counted(testsgd.monitor(KEYS, given)) == expected


@pytest.mark.parametrize(
    ("separator", "other"),
    [(";", "others.csv"), ("\t", "others.csv"), ("\t", "others.tsv"), ("|", "others.csv")],
)
def test_the_header_says_what_stands_between_the_cells(
    separator: str, other: str, tmp_path: Path
) -> None:
    events = [{"note": "a; b, c\td | e", **event} for event in people()]
    expected = counted(testsgd.monitor(KEYS, events))
    for name, between in (("commas.csv", ","), (other, separator)):
        write_csv(tmp_path / name, events, between)
        assert counted(testsgd.monitor(KEYS, tmp_path / name)) == expected
    drawn = [
        testsgd.simulate_monitor(KEYS, tmp_path / name, runs=2, people_a_day=50, days=2).summary
        for name in ("commas.csv", other)
    ]
    assert drawn[0].past is not None
    assert (drawn[0].past, drawn[0].alarms) == (drawn[1].past, drawn[1].alarms)


@pytest.mark.parametrize("header", ["id;group, named;decision", "id,group; named,decision"])
def test_a_header_with_several_is_read_as_the_tables_of_audits(header: str, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    between = ";" if header.count(";") > 1 else ","
    name = header.split(between)[1]
    rows = [between.join([str(row), "ab"[row % 2], str(row % 3 % 2)]) for row in range(30)]
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    keys = {"events": {"group": name}, "properties": [PARITY]}
    assert name in read_frame(path).columns
    assert testsgd.monitor(keys, path).summary.stream.decided == 30


def test_numbers_beside_semicolons_may_have_decimal_commas(tmp_path: Path) -> None:
    keys = {
        "groups": [
            {"name": "young", "when": "age < 39.5"},
            {"name": "old", "when": "age >= 39.5"},
        ],
        "properties": [PARITY],
    }
    events = [
        {"age": 20 + row / 2, "decision": int(row % 3 > 0), "time": 1000.5 + row}
        for row in range(80)
    ]
    expected = counted(testsgd.monitor(keys, events))
    rows = ["age;decision;time"]
    rows += [";".join(map(str, event.values())).replace(".", ",") for event in events]
    (tmp_path / "events.csv").write_text("\n".join(rows), encoding="utf-8")
    assert counted(testsgd.monitor(keys, tmp_path / "events.csv")) == expected


def test_a_first_line_may_name_the_separator(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    write_csv(path, people(60), separator=";")
    rows = path.read_text(encoding="utf-8-sig")
    path.write_text(f"sep=;\n{rows}1;2\n", encoding="utf-8-sig")
    with pytest.raises(EventError) as raised:
        testsgd.monitor(KEYS, path)
    assert str(raised.value.where).endswith("line 63")
    path.write_text(f"sep=;\n{rows}", encoding="utf-8-sig")
    assert counted(testsgd.monitor(KEYS, path)) == counted(testsgd.monitor(KEYS, people(60)))


def test_other_data_frames_are_read_too() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(people(60))
    assert counted(testsgd.monitor(KEYS, frame)) == counted(testsgd.monitor(KEYS, people(60)))


@pytest.mark.parametrize(
    ("favourable", "unfavourable", "cells"),
    [
        ([1], [0], ("1", "0")),
        (["1"], ["0"], ("1", "0")),
        ([True], [False], ("True", "false")),
        (["yes"], ["no", "later"], ("yes", "later")),
        ([2.0], [3], ("2", "3.0")),
    ],
)
def test_cells_are_read_as_the_values_that_the_specification_knows(
    favourable: list[Any], unfavourable: list[Any], cells: tuple[str, str], tmp_path: Path
) -> None:
    keys = KEYS | {"events": {"favourable": favourable, "unfavourable": unfavourable}}
    text = "".join(f"{'xy'[n % 2]},{cells[n % 2]},7\n" for n in range(8))
    (tmp_path / "events.csv").write_text(f"group,decision,region\n{text}", encoding="utf-8")
    result = testsgd.monitor(keys, tmp_path / "events.csv")
    (one,) = (found for found in result.summary.comparisons if not found.conditions)
    assert {known.name: known.rate for known in one.groups} == {"x": 1.0, "y": 0.0}


def test_names_that_look_like_numbers_stay_texts(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("id,group,decision\n01,07,1\n1,7,1\n", encoding="utf-8")
    keys = {"properties": [PARITY]}
    result = testsgd.monitor(keys, tmp_path / "e.csv")
    assert result.summary.stream.decided == 2
    assert [known.name for known in result.summary.comparisons[0].groups] == ["07", "7"]


def test_a_file_of_labels_goes_on_from_a_file_of_decisions(tmp_path: Path) -> None:
    events, state = people(40), tmp_path / "state.json"
    decisions = [{key: one[key] for key in ("id", "group", "region", "decision")} for one in events]
    labels = [{"id": one["id"], "label": one["label"]} for one in events]
    write_csv(tmp_path / "labels.csv", [one for one in labels if one["label"] is not None])
    first = testsgd.monitor(KEYS, decisions, state=state)
    assert (first.summary.stream.resumed, first.summary.stream.open) == (False, 40)
    second = testsgd.monitor(KEYS, tmp_path / "labels.csv", state=state)
    assert (second.summary.stream.resumed, second.summary.stream.open) == (True, 6)
    together = [{key: one[key] for key in one if key != "time"} for one in events]
    whole = testsgd.monitor(KEYS, together)
    assert second.summary.comparisons == whole.summary.comparisons


def test_alerts_are_called_out_and_the_monitor_can_go_on() -> None:
    seen: list[Any] = []
    result = testsgd.monitor(KEYS, people(), on_alert=seen.append)
    assert [one.kind for one in seen] == [one.alert for one in result.summary.alerts]
    assert result.exit_code == result.verdict.exit_code == 1
    assert result.monitor is not None
    result.monitor.observe({"group": "a", "region": "north", "decision": 1, "time": 9999.0})
    assert result.monitor.status().decided == 301
    assert "loans" in repr(result)


def test_a_wrong_event_is_named_or_handed_over(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    events = [{"group": "a", "decision": 1}, {"group": "a", "decision": 7}]
    keys = {"properties": [PARITY]}
    with pytest.raises(EventError, match=r"^event 2: decision: the value 7"):
        testsgd.monitor(keys, events, state=state)
    assert not state.exists()
    seen: list[tuple[TestSGDError, int]] = []
    result = testsgd.monitor(keys, events, on_error=lambda error, at: seen.append((error, at)))
    assert [at for _, at in seen] == [2]
    assert (result.summary.stream.refused, result.exit_code) == (1, 2)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("e.csv", "group,decision\na,1\nb\n", r"line 3: the row has 1 cells"),
        ("e.csv", "who,decision\na,1\n", "group"),
        ("e.csv", "id,group,decison\n1,a,1\n", "the column 'decision' is missing"),
        ("e.csv", "group,group,decision\na,a,1\n", "stands twice"),
        ("e.csv", 'group,decision\n"a,1\n', "no CSV file"),
        ("e.csv", "", "group"),
        ("e.jsonl", '{"group": "a", "decision": 1}\n[1]\n', "line 2: a JSON array"),
        ("e.jsonl", "{nope\n", "line 1: not valid JSON"),
        ("e.txt", "", "not known"),
        ("e", "", "no ending"),
    ],
)
def test_a_wrong_file_is_named(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(TestSGDError, match=words) as caught:
        testsgd.monitor({"properties": [PARITY]}, tmp_path / name)
    assert name in str(caught.value)


def test_what_has_no_events_is_refused(tmp_path: Path) -> None:
    keys = {"properties": [PARITY]}
    with pytest.raises(DataError, match="no such file"):
        testsgd.monitor(keys, tmp_path / "none.jsonl")
    for wrong in ({"group": "a", "decision": 1}, 5):
        with pytest.raises(ParameterError):
            testsgd.monitor(keys, wrong)


def test_a_state_of_another_specification_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    testsgd.monitor(KEYS, people(10), state=state)
    with pytest.raises(ResultError):
        testsgd.load_monitor({"properties": [PARITY]}, state=state)
    assert testsgd.load_monitor(KEYS, state=state).status().decided == 10
    assert testsgd.load_monitor(KEYS, state=tmp_path / "none.json").status().decided == 0


@pytest.mark.parametrize("address", ["redis://127.0.0.1:6379/0", "postgresql://me@there/fair"])
def test_an_address_is_no_file_for_the_state(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    for state in (address, Path(address)):
        with pytest.raises(ParameterError), monitored(wanted, [], state=state):
            pass
    assert list(tmp_path.iterdir()) == []
