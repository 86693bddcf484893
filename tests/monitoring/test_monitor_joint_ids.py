"""Ids of several fields: events are of one trial if they are equal in all of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd.cli.main import _run
from testsgd.errors import DataError, EventError, SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification, simulate_monitor

# Texts that would be taken for others if fields were only put side by side, whatever is between.
ODD = ("a", "b", "a|b", "|b", "a|", 'a", "b', '"', "\\", "[", ",", "é", "1", 1, 1.0, 2.5, "a b")


def document(property: str = "demographic_parity", **tables: Any) -> dict[str, Any]:  # noqa: A002
    return {
        "events": {"id": ["applicant", "job"]},
        "properties": [{"property": property, "bound": 0.1, "rule": "estimate"}],
        **tables,
    }


def counts(monitor: Monitor) -> dict[str, tuple[int, int]]:
    (one,) = monitor.status().comparisons
    return {group.name: (group.numerator, group.denominator) for group in one.groups}


def parts_of_people(seed: int) -> list[dict[str, Any]]:
    """Return what is said of people in several events, in any order; some of it is never said."""
    chance = random.Random(seed)
    events = []
    pairs = {(str_of(a), str_of(b)): (a, b) for a in ODD for b in ODD}
    for applicant, job in chance.sample(list(pairs.values()), 60):
        key = {"applicant": applicant, "job": job}
        said = [
            {"group": chance.choice(["women", "men"])},
            {"decision": chance.randint(0, 1)},
            {"label": chance.randint(0, 1)},
        ]
        events += [{**key, **part} for part in said if chance.random() < 0.9]
    chance.shuffle(events)
    return events


def str_of(value: Any) -> str:
    """Return the text of an id: 1 and 1.0 and "1" are one."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def joined_by_hand(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is known of each pair, by a dictionary with pairs as keys."""
    trials: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        known = trials.setdefault((str_of(event["applicant"]), str_of(event["job"])), {})
        known |= {key: event[key] for key in ("group", "decision", "label") if key in event}
    return list(trials.values())


def counted_by_hand(events: list[dict[str, Any]], *, among_label_1: bool) -> dict[str, Any]:
    needed = {"group", "decision", "label"} if among_label_1 else {"group", "decision"}
    found = {"women": (0, 0), "men": (0, 0)}
    for trial in joined_by_hand(events):
        if needed <= trial.keys() and (not among_label_1 or trial["label"] == 1):
            favoured, everyone = found[trial["group"]]
            found[trial["group"]] = (favoured + trial["decision"], everyone + 1)
    return found


@pytest.mark.parametrize("property", ["demographic_parity", "equal_opportunity"])
@pytest.mark.parametrize("seed", range(5))
def test_counts_of_pairs_resumed_after_every_event(property: str, seed: int) -> None:  # noqa: A002
    events = parts_of_people(seed)
    specification = MonitorSpecification.from_dict(document(property))
    monitor, resumed = Monitor(specification), Monitor(specification)
    for event in events:
        monitor.observe(event)
        resumed.observe(event)
        state = json.loads(json.dumps(resumed.to_state(), allow_nan=False))
        resumed = Monitor.from_state(specification, state)
    by_hand = counted_by_hand(events, among_label_1=property == "equal_opportunity")
    assert counts(monitor) == counts(resumed) == by_hand
    assert all(everyone > 5 for _, everyone in by_hand.values())
    for event in events:
        monitor.observe(event)  # said again: nothing is counted twice
    assert counts(monitor) == by_hand
    assert monitor.status().repeated >= len(events) * 0.5


def test_a_table_is_counted_as_pandas_joins_it(tmp_path: Path) -> None:
    chance = random.Random(3)
    numbers = [(applicant, job) for applicant in range(12) for job in range(5)]
    applied = pd.DataFrame(numbers, columns=["applicant", "job"])
    applied["group"] = [chance.choice(["women", "men"]) for _ in numbers]
    decided = applied[["applicant", "job"]].sample(frac=0.8, random_state=1)
    decided["decision"] = [chance.randint(0, 1) for _ in range(len(decided))]
    joined = applied.merge(decided, on=["applicant", "job"])
    expected = joined.groupby("group")["decision"].agg(["sum", "count"])
    frame = pd.concat([applied, decided])
    file = tmp_path / "events.csv"
    frame.to_csv(file, index=False)
    for events in (frame, file):
        result = testsgd.monitor(document(), events)
        (one,) = result.summary.comparisons
        found = {group.name: (group.numerator, group.denominator) for group in one.groups}
        assert found == {
            group: (int(row["sum"]), int(row["count"])) for group, row in expected.iterrows()
        }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a|b", "c"), ("a", "b|c")),
        (("a|", "b"), ("a", "|b")),
        (('a", "b', "c"), ("a", 'b", "c')),
        (("a,b", "c"), ("a", "b,c")),
        (("x", "y"), ("y", "x")),
        (("\\", '"'), ('\\"', "\\")),
    ],
)
def test_pairs_that_look_alike_are_two_trials(first: Any, second: Any) -> None:
    monitor = Monitor(MonitorSpecification.from_dict(document()))
    for (applicant, job), group in ((first, "women"), (second, "men")):
        monitor.observe({"applicant": applicant, "job": job, "group": group})
    monitor.observe({"applicant": second[0], "job": second[1], "decision": 1})
    assert counts(monitor) == {"men": (1, 1)}
    monitor.observe({"applicant": first[0], "job": first[1], "decision": 0})
    assert counts(monitor) == {"women": (0, 1), "men": (1, 1)}


def test_messages_name_the_values_of_the_id() -> None:
    monitor = Monitor(MonitorSpecification.from_dict(document()))
    monitor.observe({"applicant": 7, "job": "bäcker", "group": "women"})
    with pytest.raises(EventError) as caught:
        monitor.observe({"applicant": "7", "job": "bäcker", "group": "men"})
    assert json.loads(caught.value.details["id"]) == ["7", "bäcker"]
    assert "bäcker" in str(caught.value)


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_a_part_of_an_id_is_refused_and_counts_nowhere(missing: Any) -> None:
    monitor = Monitor(MonitorSpecification.from_dict(document()))
    monitor.observe({"group": "men", "decision": 1})
    with pytest.raises(EventError) as caught:
        monitor.observe({"applicant": 7, "job": missing, "group": "women", "decision": 1})
    assert caught.value.where == "job"
    assert caught.value.remedy
    assert counts(monitor) == {"men": (1, 1)}


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_events_without_any_of_the_fields_are_trials_of_their_own(missing: Any) -> None:
    monitor = Monitor(MonitorSpecification.from_dict(document()))
    nobody = {"applicant": missing, "job": missing}
    with pytest.raises(EventError) as caught:
        monitor.observe({**nobody, "group": "women"})
    assert caught.value.where == "decision"
    assert "applicant and job" in str(caught.value)
    for _ in range(2):
        monitor.observe({**nobody, "group": "women", "decision": 1})
    assert counts(monitor) == {"women": (2, 2)}


def test_a_value_that_is_no_id_is_refused_by_its_field() -> None:
    monitor = Monitor(MonitorSpecification.from_dict(document()))
    with pytest.raises(EventError) as caught:
        monitor.observe({"applicant": 7, "job": ["baker"], "group": "women"})
    assert caught.value.where == "job"


@pytest.mark.parametrize("kept", ["applicant", "job"])
def test_a_table_with_a_part_of_the_id_is_refused(kept: str) -> None:
    (missing,) = {"applicant", "job"} - {kept}
    frame = pd.DataFrame({kept: [1, 2], "group": ["women", "men"], "decision": [1, 0]})
    with pytest.raises(DataError, match=missing):
        testsgd.monitor(document(), frame)


def test_groups_can_be_compared_within_a_part_of_the_id() -> None:
    table = document()
    table["properties"][0]["condition_on"] = ["job"]
    monitor = Monitor(MonitorSpecification.from_dict(table))
    for job, decision in (("baker", 1), ("smith", 0)):
        monitor.observe({"applicant": 1, "job": job, "group": "women", "decision": decision})
        monitor.observe({"applicant": 2, "job": job, "group": "men", "decision": 1})
    found = {
        one.conditions: {group.name: (group.numerator, group.denominator) for group in one.groups}
        for one in monitor.status().comparisons
    }
    assert found == {
        (("job", "baker"),): {"women": (1, 1), "men": (1, 1)},
        (("job", "smith"),): {"women": (0, 1), "men": (1, 1)},
    }


def test_simulation_takes_the_people_of_past_events() -> None:
    events = parts_of_people(1)
    whole = [trial for trial in joined_by_hand(events) if {"group", "decision"} <= trial.keys()]
    by_pairs, by_hand = (
        simulate_monitor(document(), events=past, runs=10, days=2, people_a_day=30).summary
        for past in (events, whole)
    )
    shares = dict(zip(by_hand.groups, by_hand.shares, strict=True))
    assert dict(zip(by_pairs.groups, by_pairs.shares, strict=True)) == shares
    assert by_pairs.rate == pytest.approx(by_hand.rate)
    women = sum(trial["group"] == "women" for trial in whole)
    assert shares["women"] == pytest.approx(women / len(whole))


def test_one_field_in_a_list_is_that_field() -> None:
    of_list, of_text = (
        MonitorSpecification.from_dict(document(events={"id": given}))
        for given in (["person"], "person")
    )
    assert of_list == of_text
    assert of_list.digest() == of_text.digest()


def test_the_order_and_the_choice_of_fields_are_part_of_the_specification() -> None:
    choices = (["a", "b"], ["b", "a"], ["a", "c"], "a")
    made = [MonitorSpecification.from_dict(document(events={"id": given})) for given in choices]
    assert len({one.digest() for one in made}) == len(choices)
    for one in made:
        assert MonitorSpecification.from_dict(one.to_dict()) == one


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ([], "events.id"),
        (["applicant", ""], "events.id.1"),
        (["applicant", 7], "events.id.1"),
        (["applicant", "job", "applicant"], "events.id.2"),
        (["applicant", "time"], "events.id"),
        (7, "events.id"),
    ],
)
def test_ids_that_are_refused(given: Any, key: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        MonitorSpecification.from_dict(document(events={"id": given}))
    assert caught.value.what.split(":")[0] == key


def test_a_state_file_is_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specification, state = tmp_path / "jobs.toml", tmp_path / "state.json"
    specification.write_text(
        '[events]\nid = ["applicant", "job"]\n'
        '[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\nrule = "estimate"\n'
    )
    parts = [
        [{"applicant": "a|b", "job": "c", "group": "women"}],
        [
            {"applicant": "a", "job": "b|c", "group": "men", "decision": 1},
            {"applicant": "a|b", "job": "c", "decision": 0},
        ],
    ]
    for number, events in enumerate(parts):
        file = tmp_path / f"{number}.jsonl"
        file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
        _run(["monitor", "run", str(specification), "--events", str(file), "--state", str(state)])
    assert '"raised"' in capsys.readouterr().out
