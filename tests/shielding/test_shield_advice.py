"""The probability of an assumption, against adding up all sequences of groups."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from shield_runs import specification

from testsgd.cli.main import _run
from testsgd.errors import ParameterError, SpecificationError
from testsgd.shielding import ShieldSpecification, synthesis_result
from testsgd.shielding.advice import (
    enough_probability,
    equal_probability,
    period_advice,
    short_probability,
)

WELFARE = {"shield": "static-bounded-welfare", "welfare": ["2/5", "3/5"], "bound": "1/5"}


def by_enumeration(shares: list[float], length: int, least: int) -> float:
    rest = 1 - sum(shares)
    kinds = [*shares, rest]
    return sum(
        prod(kinds[kind] for kind in sequence)
        for sequence in product(range(len(kinds)), repeat=length)
        if all(sequence.count(group) >= least for group in range(len(shares)))
    )


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.1, 0.9], [0.2, 0.3], [0.2, 0.3, 0.5]])
def test_all_sequences(shares: list[float]) -> None:
    for length, least in product((1, 4, 6), (0, 1, 2, 3)):
        expected = by_enumeration(shares, length, least)
        assert enough_probability(shares, length, least) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity"])
def test_what_is_advised_is_drawn_that_often(name: str) -> None:
    rows = [
        {"group": group, "recommendation": 1, "probability": share, "label_probability": 0.5}
        for group, share in (("a", 0.3), ("b", 0.7))
    ]
    wanted = specification(property=name, length=20, inputs={"table": rows}, **WELFARE)
    advice = period_advice(wanted, target=0.9)
    assert advice.shortest is not None
    draw = random.Random(1)

    def often_enough(length: int) -> float:
        met = 0
        for _ in range(4000):
            counts = {"a": 0, "b": 0}
            for _ in range(length):
                group = "a" if draw.random() < 0.3 else "b"
                counts[group] += name == "demographic_parity" or draw.random() < 0.5
            met += min(counts.values()) >= advice.least
        return met / 4000

    assert advice.least == 5
    for length, probability in advice.rows:
        assert often_enough(length) == pytest.approx(probability, abs=0.03)
    assert often_enough(advice.shortest) > 0.87
    assert often_enough(advice.shortest - 2) < 0.91


def in_fractions(shares: list[Fraction], length: int, least: int) -> Fraction:
    """Return the exact probability that some group comes less than so often."""
    rest = 1 - sum(shares)
    # How many events each state of counts, cut at what is needed, has by chance.
    states = {(0,) * len(shares): Fraction(1)}
    for _ in range(length):
        after: dict[tuple[int, ...], Fraction] = {}
        for counts, chance in states.items():
            for group, share in enumerate([*shares, rest]):
                if not share:
                    continue
                new = tuple(
                    min(count + (place == group), least) for place, count in enumerate(counts)
                )
                after[new] = after.get(new, Fraction(0)) + chance * share
        states = after
    return 1 - states.get((least,) * len(shares), Fraction(0))


@pytest.mark.parametrize("length", [10, 80, 160, 320])
@pytest.mark.parametrize(
    "shares",
    [
        [Fraction(1, 2), Fraction(1, 2)],
        [Fraction(1, 8), Fraction(1, 2)],
        [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)],
        [Fraction(1, 1024), Fraction(1023, 1024)],
    ],
)
def test_tiny_probabilities_to_fail_are_those_of_fractions(
    shares: list[Fraction], length: int
) -> None:
    exact = in_fractions(shares, length, 3)
    floats = [float(share) for share in shares]
    assert short_probability(floats, length, 3) == pytest.approx(float(exact), rel=1e-10)
    held = enough_probability(floats, length, 3)
    assert held == pytest.approx(float(1 - exact), rel=1e-10)
    assert 0 < held < 1


@pytest.mark.parametrize(
    ("shares", "length", "least", "held"),
    [
        ([0.5, 0.5], 1, 0, 1.0),
        ([1.0], 3, 3, 1.0),
        ([1.0], 2, 3, 0.0),
        ([0.5, 0.5], 3, 2, 0.0),
        ([1.0, 0.0], 100, 1, 0.0),
    ],
)
def test_only_what_is_certain_has_a_probability_of_1(
    shares: list[float], length: int, least: int, held: float
) -> None:
    assert enough_probability(shares, length, least) == held
    assert short_probability(shares, length, least) == 1 - held
    # So much underflows, and is not certain.
    assert 0 < short_probability([0.5, 0.5], 4000, 1) < 1e-300
    assert enough_probability([0.5, 0.5], 4000, 1) < 1


def test_the_command_writes_no_certainty_that_there_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = Path(__file__).parents[2] / "examples/shields/grants-bounded-welfare.toml"
    assert _run(["shield", "advise", str(example)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Period")]
    advice = period_advice(ShieldSpecification.read(example))
    assert len(lines) == len(advice.rows)
    assert all(0 < failing < 1 for failing in advice.failing)
    assert not any("1.0000" in line for line in lines)
    assert sorted(advice.failing, reverse=True) == list(advice.failing)


@pytest.mark.parametrize("name", ["demographic_parity", "disparate_impact"])
@pytest.mark.parametrize("length", [20, 60, 200])
def test_welfare_bounds_that_are_advised_can_be_synthesized(name: str, length: int) -> None:
    rows = [
        {"group": group, "recommendation": 1, "probability": share}
        for group, share in (("a", 0.2), ("b", 0.8))
    ]
    keys = WELFARE | {"welfare": ["9/10", "1"]}
    wanted = specification(property=name, length=length, inputs={"table": rows}, **keys)
    advice = period_advice(wanted)
    assert (advice.narrowest is None) == (enough_probability([0.2, 0.8], length, 5) < 0.95)
    if advice.narrowest is not None:
        advised = wanted.with_changes(welfare=[1 - advice.narrowest, 1])
        held = dict(period_advice(advised).rows)[length]
        assert held >= 0.95


def test_the_command_advises_no_bounds_that_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shield.toml"
    path.write_text(
        '[fairness]\nproperty = "demographic_parity"\nbound = 0.2\n'
        '[groups]\nnames = ["a", "b"]\n'
        '[horizon]\nlength = 10\nshield = "static-bounded-welfare"\nwelfare = [0.4, 0.6]\n'
    )
    assert _run(["shield", "advise", str(path)]) == 0
    assert " apart" not in capsys.readouterr().out
    assert _run(["shield", "advise", str(path), "--probability", "1.5"]) == 2
    assert "--probability" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["demographic_parity", "disparate_impact"])
def test_groups_that_never_come_equally_often_are_refused(name: str) -> None:
    for length, names in ((21, ("a", "b")), (20, ("a", "b", "c"))):
        with pytest.raises(SpecificationError) as error:
            specification(property=name, shield="static-fair", length=length, names=names)
        assert "length" in str(error.value)
        assert "\n" not in str(error.value)
        for kind in ("finite", "dynamic"):
            specification(property=name, shield=kind, length=length, names=names)


TWO = {"shield": "static-bounded-welfare", "welfare": ["1/4", "3/4"], "bound": "1/2"}
# Below the line of a custom property: who is accepted, twice if the label is 1.
TWICE = {"numerator": ["accept:1"], "denominator": ["accept", "accept:1"]}


@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c")])
@pytest.mark.parametrize("name", ["demographic_parity", "disparate_impact", "equal_opportunity"])
def test_a_period_in_which_too_few_can_come_is_refused(name: str, names: tuple[str, ...]) -> None:
    keys = TWO | ({"bound": "2/3"} if name == "disparate_impact" else {})
    needed = 2 * len(names)
    with pytest.raises(SpecificationError) as error:
        specification(property=name, length=needed - 1, names=names, **keys)
    assert "horizon.length" in str(error.value)
    assert str(needed) in error.value.remedy
    assert specification(property=name, length=needed, names=names, **keys).horizon.welfare
    for kind in ("finite", "dynamic"):
        specification(property=name, length=needed - 1, names=names, shield=kind)


def test_a_decision_that_counts_twice_needs_half_the_people() -> None:
    document = {
        "fairness": {"property": "custom", "bound": "1/2", **TWICE},
        "groups": {"names": ["a", "b"]},
        "horizon": {"length": 2, "shield": "static-bounded-welfare", "welfare": ["1/4", "3/4"]},
    }
    assert ShieldSpecification.from_dict(document).horizon.length == 2
    with pytest.raises(SpecificationError):
        ShieldSpecification.from_dict(document | {"horizon": document["horizon"] | {"length": 1}})


def test_the_advised_length_and_width_are_accepted() -> None:
    keys = WELFARE | {"welfare": ["9/20", "11/20"]}
    with pytest.raises(SpecificationError) as error:
        specification(length=12, **keys)
    assert "20" in error.value.remedy
    assert "1/6" in error.value.remedy
    specification(length=20, **keys)
    specification(length=12, **WELFARE | {"welfare": ["2/5", "17/30"]})
    # No wider bounds are within the bound on the bias.
    with pytest.raises(SpecificationError) as error:
        specification(length=8, **keys)
    assert "1/4" not in error.value.remedy


@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity", "custom"])
def test_a_synthesis_says_how_likely_its_assumption_is(name: str, tmp_path: Path) -> None:
    wanted = specification(property=name, length=8, **TWO)
    if name == "custom":
        document = wanted.to_dict()
        document["fairness"] |= {"numerator": ["accept"], "denominator": ["accept", "reject:1"]}
        wanted = ShieldSpecification.from_dict(document)
    result = synthesis_result(wanted, out=tmp_path / "shield.npz", progress=False)
    synthesis = result.summary.synthesis
    assert synthesis.least_counted == 2
    if name == "custom":
        assert synthesis.assumption_probability is None
    else:
        share = 1 / 2 if name == "demographic_parity" else 1 / 4
        expected = enough_probability([share] * 2, 8, 2)
        assert synthesis.assumption_probability == pytest.approx(expected)
        text = f"{expected:.4f}"
        assert any(text in one for one in result.verdict.sentences)


def test_only_a_static_shield_has_a_likely_assumption(tmp_path: Path) -> None:
    for kind, likely in (("static-fair", 6 / 16), ("dynamic", None), ("finite", None)):
        wanted = specification(bound="1/2", length=4, shield=kind)
        result = synthesis_result(wanted, out=tmp_path / f"{kind}.npz", progress=False)
        synthesis = result.summary.synthesis
        assert synthesis.least_counted is None
        assert synthesis.assumption_probability == (likely and pytest.approx(likely))


def test_the_command_refuses_a_shield_that_promises_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shield.toml"
    path.write_text(
        '[fairness]\nproperty = "demographic_parity"\nbound = 0.1\n'
        '[groups]\nnames = ["a", "b"]\n'
        '[horizon]\nlength = 4\nshield = "static-bounded-welfare"\nwelfare = [0.4, 0.5]\n'
    )
    for command in (["synthesize", str(path), "--shield", str(tmp_path / "s.npz")],
                    ["advise", str(path)]):  # fmt: skip
        assert _run(["shield", *command]) == 2
        assert "horizon.length" in capsys.readouterr().err
    assert not (tmp_path / "s.npz").exists()


def test_an_equal_share() -> None:
    advice = period_advice(specification(shield="static-fair", length=4))
    assert dict(advice.rows)[4] == pytest.approx(6 / 16)
    assert dict(advice.rows)[2] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    "shares", [(1 / 2, 1 / 2), (1 / 8, 1 / 4), (1 / 4, 1 / 2, 1 / 8), (1 / 4, 3 / 4), (0.0, 0.5)]
)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 6])
def test_equally_often_is_added_up_exactly(shares: tuple[float, ...], length: int) -> None:
    exact = [Fraction(share) for share in shares]
    exact.append(1 - sum(exact))
    groups = range(len(shares))
    equal = Fraction(0)
    for came in product(range(len(exact)), repeat=length):
        if len({came.count(group) for group in groups}) == 1:
            equal += prod((exact[one] for one in came), start=Fraction(1))
    found = equal_probability(shares, length)
    assert found == (pytest.approx(float(equal), rel=1e-10), pytest.approx(1 - equal, rel=1e-10))
    assert [one == 0 for one in found] == [equal == 0, equal == 1]


def test_the_advice_for_labels_is_about_equally_many_at_any_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    advice = period_advice(
        specification(property="equal_opportunity", shield="static-fair", length=7)
    )
    assert dict(advice.rows)[7] == pytest.approx(equal_probability([1 / 4, 1 / 4], 7)[0])
    assert advice.least is None
    path = tmp_path / "shield.toml"
    path.write_text(
        '[fairness]\nproperty = "equal_opportunity"\nbound = 0.2\n'
        '[groups]\nnames = ["a", "b"]\n[horizon]\nlength = 7\nshield = "static-fair"\n'
    )
    assert _run(["shield", "advise", str(path)]) == 0
    assert "None" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "keys",
    [
        {"shield": "dynamic"},
        {},
        {"property": "custom", **WELFARE},
    ],
)
def test_what_has_no_advice(keys: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        period_advice(specification(**keys))


def test_of_equal_shares_the_likeliest_period_has_as_many_events_as_groups() -> None:
    advice = period_advice(specification(shield="static-fair", length=20))
    assert advice.likeliest is not None
    length, likely = advice.likeliest
    every = {one: by_enumeration([0.5, 0.5], one, -(-one // 2)) for one in range(1, 9)}
    assert likely == pytest.approx(every[length])
    assert likely == pytest.approx(max(every.values()))
    assert advice.shortest is None
    assert period_advice(specification(shield="static-fair", length=20), target=0.5).shortest == 2


@pytest.mark.parametrize("name", ["demographic_parity", "equal_opportunity"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_the_likeliest_period_of_equal_counts(name: str, share: float) -> None:
    """By labels it is the shorter one, where no one may be counted."""
    rows = [
        {"group": group, "recommendation": 1, "probability": each, "label_probability": share}
        for group, each in (("a", 0.4), ("b", 0.6))
    ]
    wanted = specification(property=name, length=4, inputs={"table": rows}, shield="static-fair")
    counted = share if name == "equal_opportunity" else 1.0
    kinds = [0.4 * counted, 0.6 * counted, 1 - counted]
    probabilities = {
        length: sum(
            prod(kinds[kind] for kind in sequence)
            for sequence in product(range(3), repeat=length)
            if sequence.count(0) == sequence.count(1)
        )
        for length in range(1, 8)
    }
    best = max(probabilities, key=lambda length: probabilities[length])
    advice = period_advice(wanted, target=0.99)
    assert advice.likeliest == (best, pytest.approx(probabilities[best]))
    low = period_advice(wanted, target=probabilities[best] * 0.99)
    assert low.shortest == best
