"""Who is compared: all combinations of values, or those that are named."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.certification.domain import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    RealInput,
    find_domain,
)
from testsgd.certification.domain.protected import compared_values
from testsgd.data import DatasetSpecification, catalogue, load_specification
from testsgd.errors import ParameterError

PEOPLE: dict[str, Any] = {
    "protected": ["race", "sex"],
    "inputs": {
        "sex": {"integer": [0, 1]},
        "age": {"integer": [17, 90]},
        "debt": {"real": [0, 1]},
        "race": {"values": ["Asian", "Black", "White"]},
    },
}


def names(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=count, unique=True)


@st.composite
def inputs(draw: st.DrawFn) -> list[DomainInput]:
    found: list[DomainInput] = []
    for place in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            low = draw(st.integers(-5, 5))
            found.append(IntegerInput(f"i{place}", low, low + draw(st.integers(0, 4))))
        else:
            found.append(CategoryInput(f"c{place}", tuple(draw(names(4)))))
    return found


@given(found=inputs())
def test_by_default_all_combinations_are_compared_once(found: list[DomainInput]) -> None:
    compared = compared_values(found, tuple(item.name for item in found), None)

    axes = [
        range(item.low, item.high + 1)
        if isinstance(item, IntegerInput)
        else range(len(item.values))  # type: ignore[union-attr]  # the last kind
        for item in found
    ]
    assert list(compared) == list(itertools.product(*axes))
    assert all(
        item.holds(value) for row in compared for item, value in zip(found, row, strict=True)
    )


@given(found=inputs(), data=st.data())
def test_named_values_come_back_as_they_are_described(
    found: list[DomainInput], data: st.DataObject
) -> None:
    everybody = compared_values(found, tuple(item.name for item in found), None)
    chosen = data.draw(st.lists(st.sampled_from(everybody), min_size=1, unique=True))
    texts = [[item.text(value) for item, value in zip(found, row, strict=True)] for row in chosen]
    assert compared_values(found, tuple(item.name for item in found), texts) == tuple(chosen)


def test_a_list_for_some_inputs_is_combined_with_all_values_of_the_others() -> None:
    domain = find_domain(PEOPLE, protected_values={"race": ["White", "Asian"]})

    assert domain.protected == ("race", "sex")
    assert domain.protected_values == ((2, 0), (2, 1), (0, 0), (0, 1))


def test_combinations_are_taken_as_they_are() -> None:
    domain = find_domain(PEOPLE, protected_values=[("Black", 0), ("White", "1")])

    assert domain.protected_values == ((1.0, 0.0), (2.0, 1.0))


@pytest.mark.parametrize("protected", ["3", ["3"], [3], "race", ("race",)])
def test_an_input_has_a_name_and_a_position(protected: Any) -> None:
    assert find_domain(PEOPLE, protected=protected).protected == ("race",)


def test_values_of_a_real_input_are_named() -> None:
    domain = find_domain(PEOPLE, protected="debt", protected_values=[0.25, 0.75])

    assert domain.protected_values == ((0.25,), (0.75,))
    assert domain.points == 2 * 74 * 3


def test_the_descriptions_own_values_are_for_its_own_protected_inputs() -> None:
    described = {**PEOPLE, "protected": "race", "protected_values": ["Black", "White"]}

    assert find_domain(described).protected_values == ((1,), (2,))
    assert find_domain(described, protected="race").protected_values == ((1,), (2,))
    assert find_domain(described, protected="sex").protected_values == ((0,), (1,))
    assert len(find_domain(described, protected=["race", "sex"]).protected_values) == 6


@given(
    low=st.integers(-(2**52), 2**52),
    width=st.integers(0, 50),
    value=st.one_of(st.integers(-60, 60), st.floats(-60, 60)),
)
def test_an_integer_input_holds_the_whole_numbers_between_its_ends(
    low: int, width: int, value: float
) -> None:
    item = IntegerInput("age", low, low + width)

    assert item.holds(low + value) == (
        float(low + value) in map(float, range(low, low + width + 1))
    )
    assert item.size == len(range(low, low + width + 1))


def test_a_real_input_with_one_value_counts_once() -> None:
    described = {
        "protected": "sex",
        "inputs": {
            "sex": {"integer": [0, 1]},
            "age": {"integer": [0, 4]},
            "rate": {"real": [0.5, 0.5]},
        },
    }
    domain = find_domain(described)

    assert domain.input("rate") == RealInput("rate", 0.5, 0.5)
    assert domain.points == 5


def jobs(**gender: Any) -> DatasetSpecification:
    return DatasetSpecification.model_validate(
        {
            "dataset": {"name": "jobs"},
            "label": {"column": "hired", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True} | gender,
                "age": {"type": "integer", "range": [18, 80], "sensitive": True},
                "score": {"type": "integer", "range": [0, 99]},
            },
        }
    )


@pytest.mark.parametrize("protected", [None, "gender", ["age", "gender"]])
def test_what_is_no_input_of_the_model_cannot_be_protected(protected: Any) -> None:
    with pytest.raises(ParameterError, match="'gender' is no input") as raised:
        find_domain(jobs(input=False), protected=protected)
    assert "\n" not in str(raised.value)


def test_inputs_are_protected_beside_what_is_none() -> None:
    domain = find_domain(jobs(input=False), protected="age")
    assert [item.name for item in domain.inputs] == ["age", "score"]
    assert find_domain(jobs()).protected == ("gender", "age")


def described(ranges: dict[str, tuple[int, int]], decimal: tuple[str, ...] = ()) -> dict[str, Any]:
    """Describe a data set whose features but the last are sensitive."""
    features = {
        name: {
            "type": "decimal" if name in decimal else "integer",
            "range": list(ends),
            "sensitive": True,
        }
        for name, ends in ranges.items()
    }
    return {
        "dataset": {"name": "small"},
        "label": {"column": "granted", "values": ["no", "yes"], "favourable": "yes"},
        "features": {**features, "income": {"type": "integer", "range": [0, 9]}},
    }


@pytest.mark.parametrize(
    ("ranges", "decimal", "protected", "left_out"),
    [
        ({"age": (1, 100), "race": (1, 5), "sex": (0, 1)}, (), ("age", "race", "sex"), ()),
        ({"age": (0, 100), "race": (1, 5), "sex": (0, 1)}, (), ("race", "sex"), ("age",)),
        ({"age": (0, 100), "zip": (1, 999), "race": (1, 11)}, (), ("race",), ("age", "zip")),
        ({"debt": (0, 1), "sex": (0, 1)}, ("debt",), ("sex",), ("debt",)),
    ],
)
def test_of_too_many_combinations_the_features_with_the_most_values_are_left_out(
    ranges: dict[str, tuple[int, int]],
    decimal: tuple[str, ...],
    protected: tuple[str, ...],
    left_out: tuple[str, ...],
) -> None:
    source = described(ranges, decimal)
    domain = find_domain(source)
    assert (domain.protected, domain.left_out) == (protected, left_out)
    # What is asked for is never left out.
    chosen = find_domain(source, protected=protected)
    assert (chosen.protected_values, chosen.left_out) == (domain.protected_values, ())
    assert find_domain(domain).left_out == left_out
    if left_out:
        with pytest.raises(ParameterError):
            find_domain(source, protected=list(ranges))


def test_a_feature_with_too_many_values_is_not_left_out_if_it_is_the_only_one() -> None:
    with pytest.raises(ParameterError, match="1,001"):
        find_domain(described({"age": (0, 1000)}))


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_data_set_of_rows_is_a_domain_without_options(name: str) -> None:
    specification = load_specification(name)
    if not isinstance(specification, DatasetSpecification):
        return
    sensitive = set(specification.sensitive) & set(specification.inputs)
    if all(specification.features[feature].type == "decimal" for feature in sensitive):
        # Real numbers cannot all be compared.
        with pytest.raises(ParameterError, match="values to compare"):
            find_domain(name)
        return
    domain = find_domain(name)
    assert {*domain.protected, *domain.left_out} == sensitive
    assert 2 <= len(domain.protected_values) <= 1_000
