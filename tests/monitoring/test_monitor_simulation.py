"""A monitor that is simulated before it goes live: false alarms, delays, and past events."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy.stats import binom

import testsgd
from testsgd.cli.main import _run
from testsgd.errors import ParameterError, SpecificationError
from testsgd.monitoring import (
    MonitorSimulationResult,
    MonitorSpecification,
    simulate_monitor,
)
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters
from testsgd.monitoring.simulation.population import past_population
from testsgd.monitoring.trials import Trial
from testsgd.report.kinds import read_result

PARITY: dict[str, Any] = {
    "groups": {"names": ["women", "men"]},
    "properties": [{"property": "demographic_parity", "bound": 0.1}],
}


def by_estimate(**tables: Any) -> dict[str, Any]:
    watched = {"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}
    return {**PARITY, "properties": [watched], **tables}


@pytest.mark.parametrize("bias", [0.0, 0.1])
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_false_alarms_are_as_rare_as_promised(bias: float, confidence: float) -> None:
    runs = 150
    document = PARITY | {"evidence": {"confidence": confidence, "tuned_for": 100}}
    result = simulate_monitor(document, bias=[bias], runs=runs, people_a_day=100, days=6)
    (alarms,) = result.summary.alarms
    assert alarms.above is False
    assert alarms.promised == pytest.approx(1 - confidence)
    # Were the probability as large as promised, more would come in one of ten thousand.
    assert alarms.alarmed <= binom.ppf(0.9999, runs, 1 - confidence)


def test_false_alarms_by_the_estimate_at_the_end_of_a_window_are_binomial() -> None:
    # One window of 40 people; an alert is that the two rates are more than 0.3 apart.
    document = by_estimate(window={"kind": "tumbling", "length": 40})
    document["properties"] = [document["properties"][0] | {"bound": "3/10"}]
    runs, people = 400, 40
    result = simulate_monitor(document, bias=[0], runs=runs, people_a_day=people, days=1)
    chance = 0.0
    for women in range(people + 1):
        men = people - women
        if not women or not men:
            continue
        accepted_women = binom.pmf(np.arange(women + 1), women, 0.5)
        accepted_men = binom.pmf(np.arange(men + 1), men, 0.5)
        apart = np.abs(men * np.arange(women + 1)[:, None] - women * np.arange(men + 1)[None, :])
        above = 10 * apart > 3 * women * men
        both = accepted_women[:, None] * accepted_men[None, :]
        chance += binom.pmf(women, people, 0.5) * both[above].sum()
    low, high = binom.ppf([0.0005, 0.9995], runs, chance)
    assert low <= result.summary.alarms[0].alarmed <= high


@pytest.mark.parametrize("days", [1, 2, 5])
@pytest.mark.parametrize("tables", [{"window": {"kind": "tumbling", "length": "1 d"}}, {}])
def test_the_window_that_ends_with_the_stream_is_judged(days: int, tables: dict[str, Any]) -> None:
    """By the estimate, windows of independent days raise alarms independently."""
    document = by_estimate(**tables)
    if not tables:
        # Over all so far, so a first check that is no alarm is followed by dependent ones.
        document["properties"] = [document["properties"][0] | {"check": f"{days} d"}]
    runs, people = 300, 60
    result = simulate_monitor(document, bias=[0], runs=runs, people_a_day=people, days=days)
    (alarms,) = result.summary.alarms
    random = np.random.default_rng(5)
    together = 1 if tables else days
    women = random.binomial(people * together, 0.5, 200_000)
    men = people * together - women
    apart = random.binomial(women, 0.5) / women - random.binomial(men, 0.5) / men
    chance = float(np.mean(np.abs(apart) > 0.1))
    if tables:
        chance = 1 - (1 - chance) ** days
    low, high = binom.ppf([0.0005, 0.9995], runs, chance)
    assert low <= alarms.alarmed <= high


def test_a_larger_bias_is_found_sooner_and_the_delay_is_counted_in_days() -> None:
    result = simulate_monitor(PARITY, bias=[0.2, 0.3, 0.5], runs=40, people_a_day=50, days=30)
    alarms = result.summary.alarms
    found = [one.median_people for one in alarms]
    assert all(people is not None for people in found)
    assert sorted(found, reverse=True) == found
    for one in alarms:
        assert one.above
        assert one.median_days == pytest.approx((one.median_people or 0) / 50)
        assert one.course[-1].share == one.share
        shares = [point.share for point in one.course]
        assert shares == sorted(shares)
        at_half = [point.day for point in one.course if point.share >= 0.5]
        assert at_half[0] == pytest.approx(one.median_days, abs=30 / 60 + 1e-9)


def test_the_delay_is_that_of_the_monitor_itself() -> None:
    # The people of one run, drawn again by hand: two groups, with no labels and no fields.
    bias, seed, people = 0.4, 7, 400
    result = simulate_monitor(
        PARITY, bias=[bias], runs=1, people_a_day=people, days=1, random_state=seed
    )
    (alarms,) = result.summary.alarms
    random = np.random.default_rng([seed, 0])
    chosen = random.choice(4, size=people, p=[0.25] * 4)
    levels = random.random(people)
    monitor = testsgd.load_monitor(PARITY)
    place = 0
    for kind, level in zip(chosen.tolist(), levels.tolist(), strict=True):
        place += 1
        group = "women" if kind < 2 else "men"
        decision = int(level < (0.3 if group == "women" else 0.7))
        if monitor.observe({"group": group, "decision": decision}):
            break
    assert alarms.median_people == place < people


@pytest.mark.parametrize("name", ["equalized_odds", "disparate_impact"])
def test_every_known_property_has_its_own_bias(name: str) -> None:
    document = {
        "properties": [{"property": name, "bound": 0.1}],
        "trials": {"deadline": "2 d"},
    }
    result = simulate_monitor(document, bias=[0, 0.6], runs=10, people_a_day=200, days=10)
    alarms = result.summary.alarms
    assert [one.bias for one in alarms] == [
        bias for bias in (0.0, 0.6) for _ in range(len(alarms) // 2)
    ]
    assert all(one.share == (1.0 if one.above else 0.0) for one in alarms)
    if name == "equalized_odds":
        # Nobody is counted before the third day.
        assert all(one.median_days > 2 for one in alarms if one.median_days is not None)


def test_past_events_are_drawn_from() -> None:
    people = [
        {"id": number, "group": "ab"[number % 4 == 0], "decision": int(number % 10 < 3)}
        for number in range(400)
    ]
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    result = simulate_monitor(watched, people, bias=[0, 0.4], runs=10, days=5)
    summary = result.summary
    rates = {
        group: np.mean([one["decision"] for one in people if one["group"] == group])
        for group in "ab"
    }
    assert summary.groups == sorted("ab", key=lambda group: rates[group])
    assert dict(zip(summary.groups, summary.shares, strict=True)) == {"a": 0.75, "b": 0.25}
    assert (summary.past, summary.rate) == (400, pytest.approx(0.3))
    assert [one.bias for one in summary.alarms] == [0.0, 0.4, None]


def labelled_people() -> list[dict[str, Any]]:
    """Return people in three groups of whom a third has a positive label, more often in one."""
    return [
        {
            "id": number,
            "group": "abc"[(number % 4 > 1) + (number % 4 > 2)],
            "decision": int(number % 10 < 3),
            "label": int(number % 3 == 0 or number % 8 == 3),
        }
        for number in range(240)
    ]


def test_shares_and_rates_that_are_given_go_before_those_of_past_events() -> None:
    watched = {"properties": [{"property": "equal_opportunity", "bound": 0.1}]}
    asked: dict[str, Any] = {"bias": [0, 0.4], "runs": 4, "days": 5}
    plain = simulate_monitor(watched, labelled_people(), **asked)
    other = simulate_monitor(watched, labelled_people(), **asked, rate=0.6, share=0.7)
    assert other.summary.rate == other.summary.settings.rate == 0.6
    rest = [0.3 * share / sum(plain.summary.shares[1:]) for share in plain.summary.shares[1:]]
    assert other.summary.shares == pytest.approx([0.7, *rest], abs=1e-6)
    # Their own decisions do not have this rate.
    assert [one.bias for one in other.summary.alarms] == [0.0, 0.4]
    assert [one.bias for one in plain.summary.alarms] == [0.0, 0.4, None]
    assert plain.summary.past == other.summary.past == 240
    assert _figures(plain)[:2] != _figures(other)
    labelled = simulate_monitor(watched, labelled_people(), **asked, label_rate=0.85)
    assert labelled.summary.shares == plain.summary.shares
    assert _figures(labelled) != _figures(plain)
    assert "85%" in labelled.verdict.headline


@pytest.mark.parametrize("label_rate", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("share", [None, 0.6])
def test_past_people_are_drawn_with_the_label_rate_that_is_given(
    label_rate: float, share: float | None
) -> None:
    trials = [
        Trial(one["id"], one["group"], (), one["decision"], None, one["label"])
        for one in labelled_people()
    ]
    asked = MonitorSimulationParameters(label_rate=label_rate, share=share)
    population = past_population(trials, asked, where="events")
    plain = past_population(trials, MonitorSimulationParameters(), where="events")
    assert population.chances @ population.labels == pytest.approx(label_rate)
    first = population.chances[population.members == 0].sum()
    as_there = plain.chances[plain.members == 0].sum()
    assert first == pytest.approx(as_there if share is None else share)
    assert population.chances.sum() == pytest.approx(1)
    # People of one group with equal labels are drawn equally often.
    kinds = {(one.group, one.label) for one in trials}
    assert len(np.unique(population.chances.round(12))) <= len(kinds)


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7])
def test_the_bias_that_an_error_advises_has_rates(ratio: bool, rate: float) -> None:
    name = "disparate_impact" if ratio else "demographic_parity"
    watched = {"properties": [{"property": name, "bound": 0.1}]}
    asked: dict[str, Any] = {"runs": 1, "days": 1, "rate": rate}
    people = labelled_people()
    try:
        simulate_monitor(watched, people, bias=[1], **asked)
    except ParameterError as error:
        numbers = [float(text) for text in re.findall(r"\d+\.\d+|\d+", str(error.remedy))]
        advised, nearer = numbers
        simulate_monitor(watched, people, bias=[advised], **asked)
        simulate_monitor(watched, people, bias=[1], **{**asked, "rate": nearer})
    else:
        assert rate == 0.5 or (ratio and rate < 0.5)


@pytest.mark.parametrize(
    ("name", "labels"), [("demographic_parity", None), ("equal_opportunity", 1)]
)
def test_a_label_rate_that_past_people_cannot_have_is_refused(
    name: str, labels: int | None
) -> None:
    people = [{**one, "label": labels} for one in labelled_people()]
    with pytest.raises(ParameterError) as error:
        simulate_monitor(
            {"properties": [{"property": name, "bound": 0.1}]}, people, label_rate=0.3, runs=1
        )
    assert error.value.where == "label_rate"


def loan_events(hours: list[int]) -> list[dict[str, Any]]:
    """Return applications an hour apart, and acceptances so many hours after them."""
    applied = [
        {"id": number, "group": "ab"[number % 2], "time": 3600 * number}
        for number in range(len(hours))
    ]
    accepted = [
        {"id": number, "decision": 1, "time": 3600 * (number + wait)}
        for number, wait in enumerate(hours)
    ]
    return sorted(applied + accepted, key=lambda event: event["time"])


def test_past_decisions_are_favourable_as_soon_as_the_property_asks() -> None:
    watched = {"property": "demographic_parity", "bound": 0.1}
    soon = watched | {"favourable_within": "3 d"}
    trials = {"decision_deadline": "14 d", "without_decision": "refused"}
    document = {"trials": trials, "properties": [soon]}
    # Of group a half are accepted within 3 days, of group b a quarter.
    events = loan_events([4, 300, 200, 20, 8, 250, 200, 300] * 50)
    events.append({"id": "last", "group": "a", "time": 3600 * 3000})
    result = simulate_monitor(document, events, bias=[0], runs=3, days=40, people_a_day=10)
    rates = testsgd.monitor(document, events).summary.comparisons[0].groups
    counted = sum(group.denominator for group in rates)
    accepted = sum(group.numerator for group in rates)
    assert result.summary.past == counted
    assert result.summary.rate == pytest.approx(accepted / counted)
    assert result.summary.rate < 0.5
    with pytest.raises(ParameterError) as error:
        simulate_monitor(document | {"properties": [soon, watched]}, events, runs=3)
    assert error.value.where == "properties"


@pytest.mark.parametrize("left_out", ["decision", "group", "label"])
def test_past_events_without_a_part_of_trials_are_refused_by_its_name(left_out: str) -> None:
    document = {"properties": [{"property": "equal_opportunity", "bound": 0.1}]}
    people = [
        {"id": number, "group": "ab"[number % 2], "decision": number % 3 > 0, "label": 1}
        for number in range(12)
    ]
    for person in people:
        del person[left_out]
    with pytest.raises(ParameterError, match=f"'{left_out}'"):
        simulate_monitor(document, people, runs=3)
    for person in people:
        del person["id"]
    with pytest.raises(ParameterError, match=f"'{left_out}'"):
        simulate_monitor(document, people, runs=3)


SMALL: dict[str, Any] = PARITY | {
    "simulation": {"shares": [0.9, 0.1], "rates": [0.6, 0.4]},
}


def _figures(result: MonitorSimulationResult) -> list[tuple[float | None, int | None, int]]:
    return [(one.bias, one.median_people, one.alarmed) for one in result.summary.alarms]


def test_the_specified_people_are_those_that_options_ask_for() -> None:
    asked: dict[str, Any] = {"bias": [0, 0.3], "runs": 10, "days": 10}
    found = simulate_monitor(SMALL, **asked)
    # The lowest rate is that of the second group, which has a tenth of the people.
    summary = found.summary
    assert summary.groups == ["men", "women"]
    assert summary.shares == pytest.approx([0.1, 0.9])
    assert summary.rate == pytest.approx(0.5)
    by_option = simulate_monitor(PARITY, **asked, share=0.1, rate=0.5)
    assert _figures(found) == _figures(by_option)
    assert _figures(found) != _figures(simulate_monitor(PARITY, **asked))


def test_options_go_before_the_specification() -> None:
    result = simulate_monitor(SMALL, bias=[0.1], runs=1, days=1, share=0.25, rate=0.3)
    assert result.summary.shares == pytest.approx([0.25, 0.75])
    assert result.summary.rate == result.summary.settings.rate == 0.3
    three = {
        **PARITY,
        "groups": {"names": ["a", "b", "c"]},
        "simulation": {"shares": [0.2, 0.6, 0.2]},
    }
    shares = simulate_monitor(three, bias=[0.1], runs=1, days=1, share=0.6).summary.shares
    # The others keep their proportion.
    assert shares == pytest.approx([0.6, 0.3, 0.1])


def test_the_usual_biases_have_rates_and_that_of_the_specified_ones_is_among_them() -> None:
    document = {**PARITY, "simulation": {"rates": [0.01, 0.13]}}
    result = simulate_monitor(document, runs=1, days=1)
    assert [one.bias for one in result.summary.alarms] == [0.0, 0.05, 0.1, 0.12]
    with pytest.raises(ParameterError):
        simulate_monitor(document, bias=[0.2], runs=1, days=1)


@pytest.mark.parametrize(
    ("document", "options", "said"),
    [
        (SMALL, {}, ["10%", "90%", "50%"]),
        (PARITY, {"share": 0.084, "rate": 0.55}, ["8.4%", "91.6%", "55%"]),
        (PARITY, {}, ["50%"]),
        (
            {"properties": [{"property": "equal_opportunity", "bound": 0.1}]},
            {"label_rate": 0.15},
            ["50%", "15%"],
        ),
    ],
)
def test_every_sentence_says_which_people_it_is_of(
    document: dict[str, Any], options: dict[str, Any], said: list[str]
) -> None:
    verdict = simulate_monitor(document, bias=[0, 0.3], runs=2, days=2, **options).verdict
    about_streams = [verdict.headline, *verdict.sentences][:2]
    assert all(number in sentence for sentence in about_streams for number in said)


def test_the_table_of_a_simulation_changes_nothing_that_is_watched() -> None:
    plain, with_table = (MonitorSpecification.from_dict(one) for one in (PARITY, SMALL))
    assert plain.digest() == with_table.digest()
    assert plain != with_table


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"shares": [0.5, 0.4]}, "shares"),
        ({"shares": [0.5, 0.25, 0.25]}, "shares"),
        ({"shares": [1, 0]}, "shares"),
        ({"rates": [0.5]}, "rates"),
        ({"rates": [0, 0]}, "rates"),
        ({"rates": [0.5, 1.5]}, "rates"),
        ({"label_rate": 0}, "label_rate"),
        ({"share": 0.5}, "share"),
    ],
)
def test_wrong_numbers_of_a_simulation_are_named(table: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecificationError) as error:
        MonitorSpecification.from_dict({**PARITY, "simulation": table})
    assert f"simulation.{key}" in str(error.value)
    unnamed = {"properties": PARITY["properties"], "simulation": {"shares": [0.5, 0.5]}}
    with pytest.raises(SpecificationError):
        MonitorSpecification.from_dict(unnamed)


def test_equal_seeds_have_equal_results() -> None:
    first, second = (
        simulate_monitor(PARITY, bias=[0.3], runs=5, days=3, random_state=3).summary.alarms
        for _ in range(2)
    )
    other = simulate_monitor(PARITY, bias=[0.3], runs=5, days=3, random_state=4).summary.alarms
    assert first == second != other


@pytest.mark.parametrize(
    ("document", "options"),
    [
        (PARITY, {"bias": []}),
        (PARITY, {"bias": [1.5]}),
        (PARITY, {"bias": [float("nan")]}),
        (PARITY, {"bias": [0.5], "rate": 0.1}),
        (PARITY, {"runs": 0}),
        (PARITY, {"events": [{"group": "women", "decision": 1}]}),
        (
            {
                "trials": {"deadline": "60 d"},
                "properties": [{"property": "equal_opportunity", "bound": 0.1}],
            },
            {},
        ),
        (
            {
                "properties": [
                    {
                        "property": "custom",
                        "bound": 0.1,
                        "numerator": ["accept"],
                        "denominator": ["accept", "reject"],
                    }
                ]
            },
            {},
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    document: dict[str, Any], options: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError):
        simulate_monitor(document, **options)


def test_the_command_writes_reports_that_are_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specification = tmp_path / "loans.toml"
    specification.write_text('[[properties]]\nproperty = "demographic_parity"\nbound = 0.1\n')
    asked = ["monitor", "simulate", str(specification), "--runs", "5", "--days", "2"]
    out = tmp_path / "out"
    assert _run([*asked, "--bias", "0,0.5", "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    text = (out / "result.json").read_text()
    jsonschema.validate(json.loads(text), MonitorSimulationResult.document.schema())
    result = read_result(out / "result.json")
    assert isinstance(result, MonitorSimulationResult)
    assert result.verdict.headline in printed
    assert "<svg" in result.to_html()
    assert _run([*asked, "--bias", "much", "--out", str(out)]) == 2


@pytest.mark.parametrize(
    ("document", "days"),
    [
        ({"window": {"kind": "tumbling", "length": "31 d"}}, 30),
        ({"window": {"kind": "tumbling", "length": "25 h"}}, 1),
        ({"window": {"kind": "tumbling", "length": 1000}}, 30),
        ({"check": "31 d"}, 30),
        ({"favourable_within": "40 d"}, 30),
    ],
)
def test_streams_in_which_nothing_is_judged_are_refused(
    document: dict[str, Any], days: int
) -> None:
    tables = {key: value for key, value in document.items() if key == "window"}
    settings = {key: value for key, value in document.items() if key != "window"}
    watched = {"property": "demographic_parity", "bound": 0.1} | settings
    specification = tables | {"properties": [watched]}
    chosen: dict[str, Any] = {"runs": 2, "people_a_day": 20, "bias": (0, 0.5)}
    with pytest.raises(ParameterError) as error:
        testsgd.simulate_monitor(specification, days=days, **chosen)
    assert error.value.where == "days"
    assert "\n" not in str(error.value)
    assert testsgd.simulate_monitor(specification, days=3 * days + 1, **chosen).exit_code == 0
