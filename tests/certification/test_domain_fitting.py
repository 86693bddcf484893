"""A domain and a network fit: by name where both have names, by position where one has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from testsgd.certification.domain import Domain, check_domain, find_domain
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.network.parts import group_inputs
from testsgd.errors import ParameterError

PEOPLE: dict[str, Any] = {
    "protected": "sex",
    "inputs": {
        "sex": {"values": ["0", "1"]},
        "age": {"integer": [17, 90]},
        "race": {"values": ["Asian", "Black", "White"]},
    },
}
NUMBER = NumberColumns(np.ones(1), np.zeros(1))


def category(*values: str) -> CategoryColumns:
    return CategoryColumns(np.eye(len(values)), values)


def network(*inputs: InputColumns) -> FeedForward:
    width = sum(given.columns.width for given in inputs)
    layer = DenseLayer(np.arange(1.0, width + 1)[:, None], np.zeros(1), "linear")
    decision = Decision("threshold", 0.0, 0.0, ("no", "yes"))
    return FeedForward("tiny", "made up", (layer,), inputs, decision, "float64")


def numbers(*names: str) -> list[InputColumns]:
    return [InputColumns(name, NUMBER) for name in names]


RACE = InputColumns("race", category("Asian", "Black", "White"))


def test_inputs_come_in_the_networks_order() -> None:
    domain = find_domain(PEOPLE, network=network(RACE, *numbers("age", "sex")))

    assert domain.names == ("race", "age", "sex")
    assert domain.protected_values == ((0.0,), (1.0,))
    # Sex is a number for the network: the domain then has whole numbers.
    assert domain.input("sex").extent == "whole numbers from 0 to 1"


def test_a_category_comes_in_the_networks_order_of_values() -> None:
    turned = InputColumns("race", category("White", "Asian", "Black"))
    domain = find_domain(PEOPLE, protected="race", network=network(turned, *numbers("age", "sex")))

    assert domain.describe_value("race", 0) == "race = White"
    assert domain.protected_values == ((0,), (1,), (2,))
    chosen = find_domain(
        PEOPLE, protected="race", protected_values=["Black", "White"],
        network=network(turned, *numbers("age", "sex")),
    )  # fmt: skip
    assert chosen.protected_values == ((2,), (0,))


def test_inputs_that_the_network_does_not_take_are_left_out() -> None:
    domain = find_domain(PEOPLE, network=network(*numbers("age", "sex")))

    assert domain.names == ("age", "sex")
    with pytest.raises(ParameterError, match="does not take 'race', so its decision cannot"):
        find_domain(PEOPLE, protected="race", network=network(*numbers("age", "sex")))


def test_without_names_inputs_are_matched_by_position() -> None:
    nameless = network(*numbers("x0", "x1"))
    assert find_domain(
        {"protected": "b", "inputs": {"b": {"integer": [0, 1]}, "a": {"integer": [0, 5]}}},
        network=nameless,
    ).names == ("b", "a")
    bounds = {"minimum": [0, 0], "maximum": [9, 1], "protected": 1}
    assert find_domain(bounds, network=network(*numbers("age", "sex"))).names == ("x0", "x1")


def test_groups_of_columns_stand_where_the_network_has_them() -> None:
    described = {
        "protected": "race",
        "inputs": {
            "race": {"values": ["Black", "White"], "columns": [3, 1]},
            "age": {"integer": [0, 9]},
            "hours": {"integer": [0, 7]},
            "debt": {"integer": [0, 3]},
        },
    }
    domain = find_domain(described)
    columns = numbers(*(f"x{place}" for place in range(5)))
    grouped, order = group_inputs(columns, domain.groups)
    fitted = find_domain(domain, network=network(*grouped))

    assert fitted == domain
    assert domain.names == ("age", "race", "hours", "debt")
    assert order.tolist() == [0, 3, 1, 2, 4]


def fails(domain: Domain, inputs: Sequence[InputColumns], seen: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_domain(domain, network(*inputs))
    assert seen in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_is_refused() -> None:
    domain = find_domain(PEOPLE)
    sex = InputColumns("sex", category("0", "1"))
    age = InputColumns("age", NUMBER)

    check_domain(domain, network(sex, age, RACE))
    fails(domain, [sex, *numbers("age", "hours"), RACE], "1 input of the model is missing")
    fails(domain, numbers("x0", "x1"), "the domain has 3 inputs, and the model takes 2")
    fails(domain, [age, sex, RACE], "input 0 is 'sex' in the domain and 'age' in the model")
    fails(domain, [sex, age, InputColumns("race", NUMBER)], "the model takes a number")
    fails(domain, [sex, InputColumns("age", category("young", "old")), RACE], "'age' as a category")
    fails(
        domain,
        [sex, age, InputColumns("race", category("Black", "Asian", "White"))],
        "in its order",
    )
    fails(domain, [sex, age, InputColumns("race", category("Black", "White"))], "in its order")


def test_the_missing_inputs_are_named_with_those_that_stand_instead() -> None:
    with pytest.raises(ParameterError) as caught:
        find_domain(PEOPLE, network=network(*numbers("gender", "age", "race")))
    assert "missing in the domain: gender, which has sex instead" in str(caught.value)


@pytest.mark.parametrize("age", [{"integer": [5, 5]}, {"real": [5, 5]}, {"values": ["5"]}])
def test_a_domain_of_one_person_is_refused(age: dict[str, Any]) -> None:
    domain = find_domain({"protected": "sex", "inputs": {"sex": {"integer": [0, 1]}, "age": age}})
    given = category("5") if "values" in age else NUMBER

    fails(domain, [*numbers("sex"), InputColumns("age", given)], "one person only")


def test_a_domain_without_free_inputs_is_refused() -> None:
    domain = find_domain({"protected": "sex", "inputs": {"sex": {"integer": [0, 1]}}})

    fails(domain, numbers("sex"), "one person only")
