"""Streams of events that fit together, drawn at random, and the comparison with the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from offline_monitor import OfflineMonitor, Said, stratum
from offline_trials import given_fields

from testsgd.monitoring import Alert, Monitor, MonitorSpecification, MonitorStatus

PROPERTIES: list[dict[str, Any]] = [
    {"property": "demographic_parity"},
    {"property": "disparate_impact"},
    {"property": "equal_opportunity"},
    {"property": "predictive_equality"},
    {"property": "equalized_odds"},
    {"property": "custom", "numerator": ["accept:1"], "denominator": ["accept:1", "accept:0"]},
    {"property": "custom", "numerator": ["accept"], "denominator": ["reject"]},
    {
        "property": "custom",
        "numerator": ["accept", "accept:1"],
        "denominator": ["accept", "reject", "reject:0"],
        "measure": "ratio",
    },
]
_SHARES = ["0", "0.1", "1/3", "1/2", "0.75"]


def beliefs(least: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    """A prior and its strength, or one of them; or neither, unless one is asked for."""
    said = st.fixed_dictionaries(
        {},
        optional={
            "prior": st.sampled_from(["overall", "1/3", "0.2"]),
            "strength": st.sampled_from(["0", "2", "1/3"]),
        },
    )
    return said.filter(lambda one: len(one) >= least)


def group_beliefs() -> st.SearchStrategy[dict[str, Any]]:
    """What is believed of single groups; mostly nothing."""
    single = st.dictionaries(st.sampled_from(["a", "b"]), beliefs(1), min_size=1)
    return st.one_of(st.just({}), st.just({}), st.fixed_dictionaries({"groups": single}))


@st.composite
def properties(draw: st.DrawFn, *, window: str, most: int = 2) -> list[dict[str, Any]]:
    """One or more properties, no two of the same name."""
    chosen = draw(
        st.lists(st.sampled_from(PROPERTIES), min_size=1, max_size=most, unique_by=_parts_of)
    )
    made = []
    for one in chosen:
        given = draw(st.sampled_from([[], [], ["site"], ["site", "kind"]]))
        made.append(
            one
            | {
                "bound": draw(st.sampled_from(_SHARES)),
                "empty_group": draw(st.sampled_from(["vacuous", "zero"])),
                "rule": "estimate",
                "condition_on": given,
            }
        )
        if draw(st.booleans()):
            made[-1]["estimate"] = draw(beliefs()) | draw(group_beliefs())
            if not made[-1]["estimate"]:
                del made[-1]["estimate"]
        if window == "tumbling":
            made[-1]["check"] = draw(st.sampled_from(["every", "end"]))
        else:
            made[-1]["check"] = draw(st.sampled_from(["every", "every", "1 s", "4 s"]))
    return made


def _parts_of(one: dict[str, Any]) -> str:
    # Equalized odds have the names of their parts, so they stand for them.
    same = {"equal_opportunity": "equalized_odds", "predictive_equality": "equalized_odds"}
    return str(same.get(one["property"], one["property"]))


@st.composite
def documents(draw: st.DrawFn, kinds: tuple[str, ...] = ("all",)) -> dict[str, Any]:
    """What a monitor is asked for; every property by estimates."""
    kind = draw(st.sampled_from(kinds))
    window: dict[str, Any] = {"kind": kind}
    if kind != "all":
        window["length"] = draw(st.sampled_from([1, 2, 3, 5, "4s", "9s"]))
    document: dict[str, Any] = {
        "window": window,
        "events": {"others": "ignore"},
        "estimate": {
            "prior": draw(st.sampled_from(["overall", "1/2", "0.9"])),
            "strength": draw(st.sampled_from(["0", "0", "1", "2.5"])),
            **draw(group_beliefs()),
        },
        "properties": draw(properties(window=kind)),
    }
    if draw(st.booleans()):
        document["groups"] = {"names": ["a", "b", "c"], "unknown": "pass"}
    trials: dict[str, Any] = {"repeated": draw(st.sampled_from(["ignore", "ignore", "new"]))}
    if draw(st.booleans()):
        trials["deadline"] = draw(st.sampled_from([2, 5]))
        trials["without_label"] = draw(st.sampled_from([0, 1, "drop"]))
        trials["count"] = draw(st.sampled_from(["deadline", "known"]))
    document["trials"] = trials
    return document


def needs_time(document: dict[str, Any]) -> bool:
    """Whether every event must have a time."""
    length = document.get("window", {}).get("length")
    periods = any(
        one.get("check", "every") not in ("every", "end") for one in document["properties"]
    )
    return periods or "deadline" in document.get("trials", {}) or isinstance(length, str)


@st.composite
def streams(draw: st.DrawFn, document: dict[str, Any], most: int = 8) -> list[dict[str, Any]]:
    """Events of several people: split, repeated, labels early, late, just in time or never."""
    groups = ["a", "b", "c"] if "groups" not in document else ["a", "b", "c", "z"]
    given, new = given_fields(document), document.get("trials", {}).get("repeated") == "new"
    deadline = document.get("trials", {}).get("deadline")
    dated = needs_time(document) or draw(st.booleans())
    events: list[tuple[float, int, int, dict[str, Any]]] = []
    people = draw(st.integers(1, most))
    for person in range(people):
        facts = {
            "group": draw(st.sampled_from(groups)),
            "decision": draw(st.integers(0, 1)),
            **{name: draw(st.sampled_from(["x", "y"])) for name in given},
        }
        named = draw(st.integers(0, 3)) > 0
        pieces = _pieces(draw, facts, split=named)
        time = float(draw(st.integers(0, 20)))
        label = draw(st.sampled_from([0, 1, None]))
        said = []
        for number, piece in enumerate(pieces):
            # A deadline is that of the decision; whoever is not decided at all does not wait here
            # for longer than one.
            time += draw(st.integers(0, 1)) if number else 0
            said.append((time, piece))
        # The last piece may say nothing new; two later at most is the decision.
        delays = [0, 0, 1, 3] if deadline is None else [0, max(deadline - 3, 0), deadline - 2]
        if deadline is not None and not new:
            delays += [deadline - 1, deadline, deadline + 1, deadline + 5]
        if label is not None and named and draw(st.integers(0, 3)) == 0:
            said.insert(0, (said[0][0], {"label": label}))
        elif label is not None and draw(st.booleans()):
            said[-1] = (said[-1][0], said[-1][1] | {"label": label})
        elif label is not None:
            said.append((time + draw(st.sampled_from(delays)), {"label": label}))
        if named and not new and draw(st.booleans()):
            again = draw(st.sampled_from([event for _, event in said]))
            said.append((said[-1][0] + draw(st.integers(0, 9)), dict(again)))
        keys = sorted(draw(st.lists(st.integers(0, 9), min_size=len(said), max_size=len(said))))
        for key, (when, event) in zip(keys, said, strict=True):
            name = {"id": person} if named else {"person": person}
            events.append(
                (when, key, len(events), event | name | ({"time": when} if dated else {}))
            )
    for _ in range(draw(st.integers(0, 2))):
        when = float(draw(st.integers(0, 30)))
        events.append((when, 0, len(events), {"header": 1} | ({"time": when} if dated else {})))
    events.sort(key=lambda one: one[:3])
    return _with_ids_again(draw, document, _in_turn([event for *_, event in events]))


def _pieces(draw: st.DrawFn, facts: dict[str, Any], *, split: bool) -> list[dict[str, Any]]:
    if not split or draw(st.booleans()):
        return [facts]
    place = {name: draw(st.integers(0, 2)) for name in facts}
    made = [{name: facts[name] for name in facts if place[name] == part} for part in range(3)]
    # What has only a given field is no event by itself.
    return [piece | {"group": facts["group"]} for piece in made if piece]


def _in_turn(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out labels without an id that would belong to another decision."""
    kept, last = [], None
    for event in events:
        if "person" in event:
            if "decision" in event:
                last = event["person"]
            elif event["person"] != last:
                continue
        kept.append({key: value for key, value in event.items() if key != "person"})
    return kept


def _with_ids_again(
    draw: st.DrawFn, document: dict[str, Any], events: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Where an id may begin a new trial, let some later people have the id of earlier ones."""
    if document.get("trials", {}).get("repeated") != "new" or not draw(st.booleans()):
        return events
    spans: dict[Any, list[int]] = {}
    for place, event in enumerate(events):
        if "id" in event:
            spans.setdefault(event["id"], []).append(place)
    story = OfflineMonitor(document, events).trials
    over = {one.name: one for one in story.trials}
    names: dict[Any, Any] = {}
    ends: dict[Any, int] = {}
    for name, places in sorted(spans.items(), key=lambda pair: pair[1][0]):
        names[name] = name
        free = [one for one, end in ends.items() if end < places[0]]
        if free:
            names[name] = draw(st.sampled_from(free))
        trial = over.get(name)
        if trial is not None:
            closed = trial.closed_at if trial.unknown_at is None else trial.unknown_at
            if closed is not None and closed < len(events):
                ends[names[name]] = max(closed, places[-1])
            else:
                ends.pop(names[name], None)
    return [event | ({"id": names[event["id"]]} if "id" in event else {}) for event in events]


def monitor_of(document: dict[str, Any]) -> Monitor:
    """Make a monitor."""
    return Monitor(MonitorSpecification.from_dict(document))


def heard(alerts: Iterable[Alert]) -> list[tuple[Any, ...]]:
    """What the oracle determines of alerts, in an order of its own."""
    return sorted(
        (
            one.property,
            one.conditions,
            -1 if one.window is None else one.window,
            one.kind,
            one.trials,
            one.bias,
        )
        for one in alerts
    )


def expected(said: Iterable[Said]) -> list[tuple[Any, ...]]:
    """The same of the oracle's."""
    return heard(said)  # type: ignore[arg-type]


def check_counters(status: MonitorStatus, wanted: dict[str, int]) -> None:
    """Compare the counters of events and trials."""
    assert {
        "events": status.events,
        "without effect": status.ignored + status.repeated,
        "unknown": status.unknown,
        "late": status.late,
        "decided": status.decided,
        "dropped": status.dropped,
        "open": status.open,
    } == wanted


def check_comparisons(offline: OfflineMonitor, status: MonitorStatus, place: int) -> None:
    """Compare counters, rates and bias of every comparison after the event at a place."""
    now = offline.trials.now[place]
    found = {(one.property.name, one.conditions): one for one in status.comparisons}
    for one in offline.properties:
        counts = [count for count in offline.counted(one) if count.place <= place]
        kept = offline.kept(counts, now)
        strata = offline.within(one, counts)
        for key, ever in strata.items():
            mine = [count for count in kept if stratum(one, count.trial) == key]
            got = found.pop((one.name, tuple(zip(one.condition_on, key, strict=True))))
            assert got.trials == len(ever)
            table = {group.name: (group.numerator, group.denominator) for group in got.groups}
            assert table == offline.table(one, mine, ever)
            rates = offline.rates(one, mine, ever, prior=True)
            assert {group.name: group.estimate for group in got.groups} == rates
            assert got.bias == offline.bias(one, mine, ever, prior=False)
            assert got.estimate == offline.bias(one, mine, ever)
    assert not found
