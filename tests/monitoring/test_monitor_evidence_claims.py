"""Evidence: fair streams rarely raise an alert, however often one looks; unfair ones soon do."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from monitor_streams import monitor_of
from numpy.typing import NDArray
from scipy.stats import binom

from testsgd.monitoring import Monitor
from testsgd.scoring import pair_evidence

STREAMS = 1500
# One in a hundred thousand that a right claim fails a test.
_CHANCE = 1 - 1e-5
ERRORS = (0.5, 0.2, 0.05, 0.01)


def at_most(error: float, streams: int) -> int:
    """How many of so many streams may be wrong, if each is with this probability."""
    return int(binom.ppf(_CHANCE, streams, error))


def counts_at(
    rates: list[float], looks: list[int], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Successes and samples of each group in many streams, shape (streams, looks, groups)."""
    random = np.random.default_rng(seed)
    steps = np.diff([0, *looks])
    shares = random.dirichlet([4.0] * len(rates), STREAMS)
    samples = np.stack([random.multinomial(step, shares) for step in steps], axis=1)
    successes = random.binomial(samples, rates)
    return successes.cumsum(axis=1), samples.cumsum(axis=1)


def largest(rates: list[float], bound: float, measure: Any, seed: int) -> NDArray[np.float64]:
    """Largest evidence of any pair of groups that a look at each stream finds."""
    looks = sorted({int(10 * 1.1**power) for power in range(57)})
    assert 2000 < looks[-1] < 2200
    successes, samples = counts_at(rates, looks, seed)
    found = []
    for pair in combinations(range(len(rates)), 2):
        one = pair_evidence(
            successes[..., pair], samples[..., pair], bound, measure=measure, tuned_for=500
        )
        found.append(one.max(axis=1))
    return np.max(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "bound", "measure"),
    [
        ([0.55, 0.45], 0.1, "difference"),
        ([0.1, 0.0], 0.1, "difference"),
        ([0.3, 0.3], 0.0, "difference"),
        ([0.95, 0.9, 0.85], 0.1, "difference"),
        ([0.5, 0.4], 0.2, "ratio"),
        ([0.05, 0.04], 0.2, "ratio"),
        ([0.6, 0.54, 0.48], 0.2, "ratio"),
    ],
)
def test_false_alerts_on_fair_streams(rates: list[float], bound: float, measure: Any) -> None:
    # The bias is exactly the bound, which is fair, and the hardest case of all.
    evidence = largest(rates, bound, measure, seed=len(rates))
    pairs = math.comb(len(rates), 2)
    for error in ERRORS:
        alerts = int((evidence >= -math.log(error / pairs)).sum())
        assert alerts <= at_most(error, STREAMS)


def test_alerts_on_unfair_streams() -> None:
    evidence = largest([0.7, 0.3], 0.1, "difference", seed=5)
    assert (evidence >= -math.log(0.05)).mean() > 0.99
    evidence = largest([0.6, 0.3, 0.6], 0.2, "ratio", seed=6)
    assert (evidence >= -math.log(0.05 / 3)).mean() > 0.95


def decisions(rates: dict[str, float], length: int, seed: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    names = list(rates)
    events = []
    for _ in range(length):
        group = names[random.integers(len(names))]
        events.append({"group": group, "decision": int(random.random() < rates[group])})
    return events


def test_false_alerts_of_monitors_that_look_at_every_event() -> None:
    streams, wrong = 60, 0
    document = {
        "evidence": {"confidence": 0.5},
        "properties": [{"property": "demographic_parity", "bound": "0.1"}],
    }
    for seed in range(streams):
        monitor = monitor_of(document)
        wrong += bool(monitor.observe_all(decisions({"a": 0.55, "b": 0.45}, 250, seed)))
    assert wrong <= at_most(0.5, streams)


# The share of the error that a pair may use, by the prose: 0.05, in equal parts to properties; the
# k-th stratum 1/(k(k+1)) of that; each pair an equal part, or the k-th that comes 1/(k(k+1)).
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("given", [[], ["site"]])
@pytest.mark.parametrize(
    "properties",
    [["demographic_parity"], ["disparate_impact"], ["demographic_parity", "disparate_impact"]],
)
def test_alerts_come_when_the_evidence_is_there(
    properties: list[str], given: list[str], named: bool
) -> None:
    document: dict[str, Any] = {
        "groups": {"names": ["a", "b", "c"]} if named else {},
        "properties": [
            {"property": name, "bound": 0.2, "condition_on": given} for name in properties
        ],
    }
    events = decisions({"b": 0.8, "c": 0.3, "a": 0.75}, 2000, seed=11)
    for number, event in enumerate(events):
        event["site"] = "xy"[number % 3 == 0]
    monitor = monitor_of(document)
    alerts = {}
    for number, event in enumerate(events):
        for alert in monitor.observe(event):
            assert (alert.rule, alert.kind) == ("evidence", "raised")
            assert alert.lowest == "c"
            assert alert.interval is not None
            assert alert.interval[0] > 0.2
            assert (alert.property, alert.conditions) not in alerts
            alerts[alert.property, alert.conditions] = number, {alert.highest, alert.lowest}
    for name in properties:
        measure: Any = "ratio" if name == "disparate_impact" else "difference"
        for place, site in enumerate(dict.fromkeys(e["site"] for e in events) if given else [""]):
            part = 0.05 / len(properties) / ((place + 1) * (place + 2) if given else 1)
            kept = [n for n, e in enumerate(events) if not given or e["site"] == site]
            first, pairs = first_proof([events[n] for n in kept], part, named, measure)
            called = name + (" given site" if given else "")
            number, found = alerts.pop((called, (("site", site),) if given else ()))
            counted = kept.index(number)
            # Looks are at most a part in 128 of a pair apart; all three groups count here.
            assert first <= counted <= first * (1 + 3 / 128) + 6
            if counted == first:
                assert found in pairs
    assert not alerts


def first_proof(
    events: list[dict[str, Any]], part: float, named: bool, measure: Any
) -> tuple[int, list[set[str]]]:
    """The first event after which pairs of groups are proved to be apart, and which these are."""
    order = list(dict.fromkeys(event["group"] for event in events))
    seen = np.array([[event["group"] == name for name in order] for event in events])
    hits = seen * np.array([[event["decision"]] for event in events])
    samples, successes = seen.cumsum(axis=0), hits.cumsum(axis=0)
    # A pair comes up with the second of its groups; of two at once, the older group's first.
    pairs = sorted(combinations(range(len(order)), 2), key=lambda pair: (pair[1], pair[0]))
    firsts: list[tuple[int, set[str]]] = []
    for number, pair in enumerate(pairs):
        error = part / len(pairs) if named else part / ((number + 1) * (number + 2))
        found = pair_evidence(
            successes[:, pair], samples[:, pair], 0.2, measure=measure, tuned_for=500
        )
        proved = np.flatnonzero(found >= -math.log(error))
        if len(proved):
            firsts.append((int(proved[0]), {order[place] for place in pair}))
    first = min(at for at, _ in firsts)
    return first, [pair for at, pair in firsts if at == first]


def test_what_is_proved_stays_proved_and_is_said_once() -> None:
    monitor = monitor_of({"properties": [{"property": "demographic_parity", "bound": 0.1}]})
    alerts = monitor.observe_all(decisions({"a": 0.9, "b": 0.2}, 400, seed=3))
    assert len(alerts) == 1
    # The same rates from now on: the bias goes down, and yet there was a time of bias.
    assert monitor.observe_all(decisions({"a": 0.0, "b": 1.0}, 200, seed=3)) == ()
    (one,) = monitor.status().comparisons
    assert (one.standing, one.in_alert, one.alerts) == ("beyond", True, 1)
    assert one.first_alert == alerts[0]


def standing(monitor: Monitor) -> str:
    return monitor.status().standing


def test_standing_of_fair_streams() -> None:
    monitor = monitor_of({"properties": [{"property": "demographic_parity", "bound": 0.2}]})
    assert standing(monitor) == "undecided"
    events = decisions({"a": 0.5, "b": 0.5}, 4000, seed=8)
    monitor.observe_all(events[:100])
    assert standing(monitor) == "undecided"
    monitor.observe_all(events[100:])
    assert standing(monitor) == "within"
    (one,) = monitor.status().comparisons
    assert one.interval is not None
    assert one.interval[1] <= 0.2


def test_a_named_group_of_which_nobody_came_is_not_proved_to_be_treated_alike() -> None:
    monitor = monitor_of(
        {
            "groups": {"names": ["a", "b", "c"]},
            "properties": [{"property": "demographic_parity", "bound": 0.2}],
        }
    )
    monitor.observe_all(decisions({"a": 0.5, "b": 0.5}, 4000, seed=8))
    assert standing(monitor) == "undecided"


def test_looking_at_the_status_changes_nothing() -> None:
    document = {"properties": [{"property": "demographic_parity", "bound": 0.3}]}
    looked, plain = monitor_of(document), monitor_of(document)
    for event in decisions({"a": 0.6, "b": 0.5, "c": 0.4, "d": 0.3}, 120, seed=2):
        said = looked.observe(event)
        looked.status()
        assert said == plain.observe(event)
        assert looked.to_state() == plain.to_state()
