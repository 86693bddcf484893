"""Given people: what is said of each is what brute force says, whoever asks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from enumeration import truth_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from small_problems import problems

import testsgd
from testsgd.certification import (
    CertificationParameters,
    CertificationResult,
    Domain,
    FeedForward,
    ask,
    certify_network,
    check_people,
    find_domain,
    find_network,
    summarise_certification,
)
from testsgd.errors import DataError, ParameterError, ResultError

RANGES = {
    "inputs": {
        "skill": {"integer": [0, 19]},
        "region": {"values": ["north", "south"], "columns": [1, 2]},
        "man": {"integer": [0, 1]},
    }
}


def _model() -> Any:
    """Return a model that counts a skill once, the south as nothing and a man as three more."""
    model = LogisticRegression().fit([[0, 1, 0, 0], [19, 0, 1, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 0.0, 0.0, 3.0]], [-10.5]
    return model


def _everybody(domain: Domain, people: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return everybody with every compared combination; that of a person varies fastest."""
    free = [domain.names.index(item.name) for item in domain.free]
    protected = [domain.names.index(name) for name in domain.protected]
    count = len(domain.protected_values)
    values = np.empty((len(people) * count, len(domain.inputs)))
    values[:, free] = np.repeat(people, count, axis=0)
    values[:, protected] = np.tile(np.array(domain.protected_values), (len(people), 1))
    return values


@pytest.mark.slow
@given(problem=problems())
@settings(max_examples=60)
def test_no_verdict_contradicts_brute_force(problem: tuple[FeedForward, Domain]) -> None:
    network, domain = problem
    truth = truth_of(network, domain)
    checks = check_people(network, domain, _everybody(domain, truth.people))
    count = len(domain.protected_values)
    labels = network.decision.labels
    for index, check in enumerate(checks):
        person, own = divmod(index, count)
        answers = [labels[answer] for answer in truth.answers[person]]
        if check.verdict == "open":
            continue
        assert truth.surely_fair[person] == (check.verdict == "fair")
        assert truth.surely_unfair[person] == (check.verdict == "unfair")
        if check.verdict == "fair":
            assert (check.counterpart, check.decision) == (None, answers[own])
            continue
        assert check.counterpart is not None
        values = tuple(
            domain.input(name).values.index(str(value))  # type: ignore[union-attr]
            if isinstance(value, str)
            else value
            for name, value in check.counterpart.items()
        )
        assert check.counterpart_decision != check.decision
        other = domain.protected_values.index(values)
        if (truth.possible[person].sum(axis=1) == 1).all():
            assert check.decision == answers[own]
            assert check.counterpart_decision == answers[other]


def test_everybody_of_a_domain_and_the_certificate_agree() -> None:
    result = testsgd.certify(_model(), RANGES, protected="man")
    rows = [
        {"skill": skill, "region": region, "man": man}
        for skill in range(20)
        for region in ("north", "south")
        for man in (0, 1)
    ]
    found = result.check(rows)
    expected = ["unfair" if row["skill"] in (8, 9, 10) else "fair" for row in rows]
    assert found["verdict"].tolist() == expected
    assert (found["verdict"] == "unfair").mean() == pytest.approx(result.falsified)
    for row, check in zip(rows, found.itertuples(), strict=True):
        if check.verdict == "unfair":
            assert check.counterpart == {"man": 1 - row["man"]}
            assert check.region_proof == "falsified"
        else:
            assert check.region_proof == "certified"


def test_a_tie_within_rounding_is_open() -> None:
    model = LogisticRegression().fit([[0, 0], [9, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[0.1, 0.1]], [-0.3]
    ranges = {"inputs": {"a": {"integer": [0, 9]}, "p": {"integer": [0, 1]}}}
    # 0.1 * 3 - 0.3 and 0.1 * 2 + 0.1 - 0.3 are 0 in exact numbers, and not in floats.
    verdicts = [
        check.verdict
        for check in ask(model, ranges, protected="p", rows=[{"a": a, "p": 0} for a in range(5)])
    ]
    assert verdicts == ["fair", "fair", "open", "open", "fair"]


def test_own_values_that_are_not_compared_are_tried_too() -> None:
    model = LogisticRegression().fit([[0, 0], [19, 2]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    ranges = {"inputs": {"skill": {"integer": [0, 19]}, "rank": {"integer": [0, 2]}}}
    rows = [{"skill": 6, "rank": rank} for rank in (0, 1, 2)]
    checks = ask(model, ranges, protected="rank", protected_values=[0, 1], rows=rows)
    # With rank 2 the sum is above 0; with 0 and 1 it is below.
    assert [check.verdict for check in checks] == ["fair", "fair", "unfair"]
    everything = ask(model, ranges, protected="rank", rows=rows)
    assert [check.verdict for check in everything] == ["unfair"] * 3


@pytest.mark.parametrize(
    "rows",
    [
        {"skill": [9, 2], "region": ["north", "south"], "man": [0, 1]},
        pd.DataFrame({"man": ["0", "1"], "skill": [9.0, 2.0], "region": ["north", "south"]}),
        [
            {"skill": 9, "region": "north", "man": False},
            {"skill": "2", "region": "south", "man": np.int64(1)},
        ],
    ],
)
def test_people_come_in_several_forms(rows: Any) -> None:
    checks = ask(_model(), RANGES, protected="man", rows=rows)
    assert [check.verdict for check in checks] == ["unfair", "fair"]


def test_the_index_of_a_frame_is_kept() -> None:
    frame = pd.DataFrame(
        {"skill": [9, 2], "region": ["north", "south"], "man": [0, 1]}, index=["ann", "bob"]
    )
    found = testsgd.certify(_model(), RANGES, protected="man").check(frame)
    assert found["verdict"].to_dict() == {"ann": "unfair", "bob": "fair"}


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"skill": 20}, ["skill", "20", "0", "19"]),
        ({"skill": 1.5}, ["skill", "1.5", "0", "19"]),
        ({"skill": float("nan")}, ["skill", "nan", "0", "19"]),
        ({"skill": None}, ["skill", "None", "0", "19"]),
        ({"skill": "many"}, ["skill", "many", "0", "19"]),
        ({"region": "east"}, ["region", "east", "north", "south"]),
        ({"man": 2}, ["man", "2", "0", "1"]),
        ({"woman": 1}, ["woman", "1", "skill", "region", "man"]),
    ],
)
def test_whoever_is_outside_of_the_domain_is_named(change: dict[str, Any], seen: list[str]) -> None:
    inside = {"skill": 9, "region": "north", "man": 0}
    with pytest.raises(DataError) as error:
        ask(_model(), RANGES, protected="man", rows=[inside, {**inside, **change}])
    message = str(error.value)
    assert all(part in message for part in ["2", *seen])
    assert "\n" not in message


@pytest.mark.parametrize("name", ["skill", "region", "man"])
def test_a_missing_feature_is_named(name: str) -> None:
    person = {"skill": 9, "region": "north", "man": 0}
    del person[name]
    with pytest.raises(DataError) as error:
        ask(_model(), RANGES, protected="man", rows=person)
    assert repr(name) in str(error.value)


def test_other_columns_of_a_frame_are_ignored() -> None:
    result = testsgd.certify(_model(), RANGES, protected="man")
    frame = pd.DataFrame({"skill": [9, 2], "region": ["north", "south"], "man": [0, 1]})
    # In another order, with a label, an id that is no text, and a column without a value.
    wider = frame[["man", "skill", "region"]].assign(label=[1, 0], empty=[None, float("nan")])
    wider[7] = ["a", "b"]
    pd.testing.assert_frame_equal(result.check(wider), result.check(frame))
    checks = ask(_model(), RANGES, protected="man", rows=wider)
    assert [check.verdict for check in checks] == ["unfair", "fair"]


@pytest.mark.parametrize(
    ("columns", "seen"),
    [
        (["skil", "region", "man"], ["'skill'", "0", "19", "skil,", "skil?"]),
        (["skill", "label", "man"], ["'region'", "north", "label"]),
        (["skill", "region", "region"], ["region"]),
        (["skill", "region"], ["'man'"]),
    ],
)
def test_a_frame_without_a_column_for_an_input_is_refused(
    columns: list[str], seen: list[str]
) -> None:
    result = testsgd.certify(_model(), RANGES, protected="man")
    with pytest.raises(DataError) as error:
        result.check(pd.DataFrame([[1] * len(columns)] * 2, columns=columns))
    message = str(error.value)
    assert all(part.rstrip(",") in message for part in seen)
    assert "\n" not in message


def test_a_misspelt_name_of_a_person_is_told_with_the_nearest_input() -> None:
    person = {"skil": 9, "region": "north", "man": 0}
    for rows in (person, [person]):
        with pytest.raises(DataError) as error:
            ask(_model(), RANGES, protected="man", rows=rows)
        assert "'skil'" in str(error.value)
        assert "skill?" in str(error.value)


@pytest.mark.parametrize("rows", [3, "skill", [1, 2], {"skill": [1, 2], "region": "a", "man": 0}])
def test_what_are_no_people_is_refused(rows: Any) -> None:
    with pytest.raises(DataError):
        ask(_model(), RANGES, protected="man", rows=rows)


def test_a_result_that_was_read_back_tells_regions_only() -> None:
    result = testsgd.certify(_model(), RANGES, protected="man")
    saved = CertificationResult.from_json(result.to_json())
    person = {"skill": 9, "region": "north", "man": 0}
    with pytest.raises(ResultError):
        saved.check(person)
    (check,) = ask(_model(), RANGES, protected="man", rows=person, result=saved)
    assert (check.region, check.region_proof) == (result.summary.regions[0].text, "falsified")
    wider = {"inputs": {**RANGES["inputs"], "skill": {"integer": [0, 20]}}}
    with pytest.raises(ParameterError):
        ask(_model(), wider, protected="man", rows=person, result=saved)


def test_proved_regions_of_a_search_fit_the_people_in_them() -> None:
    model = LogisticRegression().fit([[0, 0], [20, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    ranges = {"inputs": {"skill": {"real": [0, 20]}, "man": {"integer": [0, 1]}}}
    result = testsgd.certify(model, ranges, protected="man", undecided=1e-6, jobs=1)
    skills = np.linspace(0.01, 19.99, 333)
    found = result.check(pd.DataFrame({"skill": skills, "man": 0}))
    unfair = (skills > 7.5) & (skills < 10.5)
    assert ((found["verdict"] == "unfair") == unfair).all()
    assert not unfair[found["region_proof"] == "certified"].any()
    assert unfair[found["region_proof"] == "falsified"].all()


def _holds(text: str, domain: Domain, person: NDArray[np.float64]) -> bool:
    """Return whether a region, by its text alone, holds the free values of a person."""
    if text in ("the whole domain", "outside of all regions"):
        return True
    for condition in text.split(" and "):
        name, _, said = condition.partition(" ")
        place, item = next(
            (place, item) for place, item in enumerate(domain.free) if item.name == name
        )
        value = item.text(float(person[place]))
        if said.startswith("from "):
            low, high = said.removeprefix("from ").split(" to ")
            holds = float(low) <= float(value) <= float(high)
        elif said.startswith("other than "):
            holds = value not in re.split(", | or ", said.removeprefix("other than "))
        else:
            holds = value in re.split(", | or ", said.removeprefix("= "))
        if not holds:
            return False
    return True


@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_the_region_of_everybody_is_fair_or_unfair_as_the_enumeration_is(
    weighted: bool, data: st.DataObject
) -> None:
    network, domain = data.draw(problems(weighted=weighted, activations=("relu",)))
    truth = truth_of(network, domain)
    # So few regions that most of them are of fair and of unfair people.
    few = CertificationParameters(regions=data.draw(st.integers(0, 3)))
    certification = certify_network(network, domain, few)
    result = CertificationResult(summarise_certification(certification), certification)
    values = _everybody(domain, truth.people)[:: len(domain.protected_values)]
    checks = result.locate(check_people(network, domain, values), domain, network, values)
    for person, check in enumerate(checks):
        # Everybody was tried, those without weight too.
        assert check.region is not None
        assert _holds(check.region, domain, truth.people[person])
        assert check.region_proof in ("certified", "falsified")
        if truth.surely_fair[person]:
            assert check.region_proof == "certified"
        if truth.surely_unfair[person]:
            assert check.region_proof == "falsified"


def test_the_finer_region_is_one_that_is_exported(tmp_path: Path) -> None:
    path = tmp_path / "regions.csv"
    # Values so large that single precision cannot tell them apart.
    ranges = {
        "inputs": {
            "skill": {"integer": [10**9, 10**9 + 19]},
            "hours": {"integer": [0, 5]},
            "man": {"integer": [0, 1]},
        }
    }
    model = LogisticRegression().fit([[10**9, 0, 0], [10**9 + 19, 5, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 2.0, 3.0]], [-(10.0**9) - 10.5]
    result = testsgd.certify(model, ranges, protected="man", regions=1, export_regions=path)
    exported = pd.read_csv(path)
    rows = [
        {"skill": 10**9 + skill, "hours": hours, "man": 0}
        for skill in range(20)
        for hours in range(6)
    ]
    saved = CertificationResult.from_json(result.to_json())
    asked = ask(model, ranges, protected="man", rows=rows, result=saved)
    assert [check.region for check in asked] == result.check(rows)["region"].tolist()
    for row, check in zip(rows, asked, strict=True):
        inside = exported[
            (exported["skill from"] <= row["skill"])
            & (row["skill"] <= exported["skill to"])
            & (exported["hours from"] <= row["hours"])
            & (row["hours"] <= exported["hours to"])
        ]
        (box,) = inside.to_dict("records")
        unfair = 7.5 < row["skill"] - 10**9 + 2 * row["hours"] < 10.5
        assert check.region_proof == box["proof"] == ("falsified" if unfair else "certified")
        assert check.region is not None
        for name in ("skill", "hours"):
            low, high = box[f"{name} from"], box[f"{name} to"]
            if low > min(one[name] for one in rows) or high < max(one[name] for one in rows):
                assert f"{name} = {low}" in check.region or (
                    f"{name} from {low} to {high}" in check.region
                )


def test_people_without_weight_are_not_said_to_be_proved_fair() -> None:
    model = _model()
    network = find_network(model, categories={"region": (1, 2)})
    domain = find_domain(RANGES, protected="man", network=network)
    from testsgd.certification import Marginal

    # All weight is on a skill of 0, so nobody with weight is treated unfairly.
    positions = np.arange(21.0)
    weighted = replace(
        domain, marginals={"skill": Marginal(positions, (positions > 0).astype(float))}
    )
    certification = certify_network(network, weighted, CertificationParameters())
    result = CertificationResult(summarise_certification(certification), certification)
    assert result.certified == 1.0
    found = result.check({"skill": 9, "region": "north", "man": 0})
    assert found["verdict"].tolist() == ["unfair"]
    assert found["region_proof"].tolist() == ["falsified"]
