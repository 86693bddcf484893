"""Specifications of shields: exact bounds, what is filled in, changes and fingerprints."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import ParameterError, SpecificationError
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.fairness.property import property_from_events
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.specification import ShieldSpecification

PLAIN: dict[str, Any] = {
    "fairness": {"property": "demographic_parity", "bound": 0.1},
    "groups": {"names": ["female", "male"]},
    "horizon": {"length": 100},
}


def specified(**parts: Any) -> ShieldSpecification:
    return ShieldSpecification.from_dict({**PLAIN, **parts})


def of_bound(bound: Any) -> Fraction:
    return specified(fairness={"property": "demographic_parity", "bound": bound}).bound


@given(st.integers(0, 10**12), st.integers(0, 12))
def test_a_bound_in_toml_is_read_as_the_decimal_that_stands_there(digits: int, places: int) -> None:
    written = format(Decimal(digits).scaleb(-12 - places), "f")
    if "." not in written:
        written += ".0"
    text = f"""
        fairness = {{ property = "demographic_parity", bound = {written} }}
        groups = {{ names = ["a", "b"] }}
        horizon = {{ length = 3 }}
    """
    assert ShieldSpecification.parse(text).bound == Fraction(digits, 10 ** (12 + places))


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.3), Fraction(3, 10)),
        (Decimal("0.20"), Fraction(1, 5)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1/3", Fraction(1, 3)),
        ("0.15", Fraction(3, 20)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (1e-3, Fraction(1, 1000)),
    ],
)
def test_a_bound_given_in_python(given_value: Any, expected: Fraction) -> None:
    assert of_bound(given_value) == expected


def test_what_is_not_said_is_filled_in() -> None:
    made = specified()
    assert made.name == "shield"
    assert made.fairness.empty_group == "vacuous"
    assert made.groups.unknown == "refuse"
    assert (made.horizon.shield, made.horizon.after, made.horizon.periods) == (
        "finite",
        "stop",
        None,
    )
    assert made.fairness_property is NAMED_PROPERTIES["demographic_parity"]
    assert made.input_distribution().to_dict() == (
        InputDistribution.uniform(["female", "male"]).to_dict()
    )


@pytest.mark.parametrize("kind", ["static-fair", "dynamic"])
def test_periodic_shields_always_go_on(kind: str) -> None:
    assert specified(horizon={"length": 6, "shield": kind}).horizon.after == "next"


def test_labelled_properties_expect_either_label() -> None:
    made = specified(fairness={"property": "equal_opportunity", "bound": 0.1})
    labels = made.input_distribution().labels
    assert labels is not None
    assert labels.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_custom_property_goes_by_its_events() -> None:
    events = {"numerator": ["accept:1"], "denominator": ["accept:0", "accept:1"]}
    made = specified(fairness={"property": "custom", "bound": 0.1, "measure": "ratio", **events})
    expected = property_from_events("custom", measure="ratio", **events)
    assert made.fairness_property == expected


@pytest.mark.parametrize("measure", ["demographic_parity", "disparate_impact"])
def test_welfare_bounds_as_wide_as_the_bound_will_do(measure: str) -> None:
    # 0.5 - 0.4 is a tenth, and so is 1 - 0.45 / 0.5; in floats neither is.
    welfare = [0.4, 0.5] if measure == "demographic_parity" else [0.45, 0.5]
    made = specified(
        fairness={"property": measure, "bound": 0.1},
        horizon={"length": 40, "shield": "static-bounded-welfare", "welfare": welfare},
    )
    assert made.horizon.welfare == tuple(Fraction(str(bound)) for bound in welfare)


def test_dict_and_back_is_the_same() -> None:
    made = specified(
        name="x",
        fairness={"property": "equal_opportunity", "bound": "1/7", "empty_group": "zero"},
        horizon={"length": 4, "shield": "dynamic", "periods": 3},
        inputs={
            "table": [
                {"group": group, "recommendation": decision, "probability": "1/4", "cost": 0.1,
                 "label_probability": Fraction(1, 3)}
                for group in ("female", "male") for decision in (0, 1)
            ]
        },
    )  # fmt: skip
    written = made.to_dict()
    assert written["fairness"]["bound"] == "1/7"
    again = ShieldSpecification.from_dict(json.loads(json.dumps(written)))
    assert again == made
    assert hash(again) == hash(made)
    assert again.to_dict() == written
    assert again.input_distribution().to_dict() == made.input_distribution().to_dict()


def test_changes_by_name_and_by_path() -> None:
    made = specified().with_changes(bound=0.2, **{"horizon.length": 7, "name": "other"})
    assert (made.bound, made.horizon.length, made.name) == (Fraction(1, 5), 7, "other")
    assert made.groups == specified().groups


def test_changing_the_kind_takes_away_what_only_the_former_has() -> None:
    made = specified(
        horizon={"length": 20, "shield": "static-bounded-welfare", "welfare": [0.4, 0.5]}
    )
    for kind, after in (("finite", "stop"), ("dynamic", "next"), ("static-fair", "next")):
        saved = ShieldSpecification.from_dict(made.to_dict())
        for before in (made, saved):
            changed = before.with_changes(shield=kind)
            assert (changed.horizon.welfare, changed.horizon.after) == (None, after)
    parity = {"property": "demographic_parity", "bound": 0.1}
    custom = specified(
        fairness={
            **parity, "property": "custom", "numerator": ["accept"],
            "denominator": ["accept", "reject"], "measure": "ratio",
        }
    )  # fmt: skip
    assert custom.with_changes(property="demographic_parity") == specified(fairness=parity)


def test_changing_the_source_of_the_inputs() -> None:
    logged = specified(inputs={"log": "x.csv", "smoothing": 2.0})
    assert logged.with_changes(costs=[1, 2]).inputs == specified(inputs={"costs": [1, 2]}).inputs
    assert logged.with_changes(smoothing=None).inputs.smoothing is None
    assert logged.with_changes(inputs=None) == specified()


def test_changes_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="no key 'buond'; did you mean 'bound'"):
        specified().with_changes(buond=0.2)
    with pytest.raises(SpecificationError, match=r"changes: horizon\.length"):
        specified().with_changes(length=0)


def test_the_fingerprint_goes_by_what_is_specified_and_expected() -> None:
    made = specified()
    inputs = made.input_distribution()
    other = InputDistribution.uniform(["female", "male"], costs=[2])
    assert made.digest(inputs) == specified(inputs={"costs": [1.0]}).digest(inputs)
    assert made.digest(inputs) == made.with_changes(bound="1/10").digest(inputs)
    different = {
        made.digest(inputs),
        made.digest(other),
        *(
            made.with_changes(**change).digest(inputs)
            for change in (
                {"bound": 0.2},
                {"length": 99},
                {"empty_group": "zero"},
                {"after": "next"},
                {"names": ["male", "female"]},
                {"unknown": "pass"},
            )
        ),
    }
    assert len(different) == 8
    assert all(len(digest) == 64 for digest in different)


def test_the_log_is_found_beside_the_file(tmp_path: Path) -> None:
    text = """
        [fairness]
        property = "equal_opportunity"
        bound = 0.1
        [groups]
        names = ["a", "b"]
        unknown = "pass"
        [horizon]
        length = 3
        [inputs]
        log = "log.csv"
        smoothing = 0
        most_costs = 2
        columns = { label = "truth" }
    """
    folder = tmp_path / "specifications"
    folder.mkdir()
    (folder / "one.toml").write_text(text, encoding="utf-8")
    rows = "group,recommendation,cost,truth\na,1,1,1\na,0,2,0\nb,1,3,\nb,1,4,1\nc,1,1,1\n"
    (folder / "log.csv").write_text(rows, encoding="utf-8")
    made = ShieldSpecification.read(folder / "one.toml")
    inputs = made.input_distribution()
    assert inputs.costs == (2.0, 4.0)
    assert inputs.probabilities.tolist() == [
        [[0.25, 0], [0.25, 0]],
        [[0, 0], [0, 0.5]],
    ]
    assert inputs.labels is not None
    assert inputs.labels.tolist() == [[0, 1], [0.5, 1]]
    # A copy and a change remember the folder; another folder may be given.
    again = ShieldSpecification.from_dict(made.to_dict())
    assert again == made
    assert again.input_distribution(folder).to_dict() == inputs.to_dict()
    assert made.with_changes(length=9).input_distribution().to_dict() == inputs.to_dict()
