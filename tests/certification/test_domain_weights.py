"""Weights from data: what a count of rows gives, and an error for rows outside of the domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.certification.domain import (
    Domain,
    IntegerInput,
    Marginal,
    RealInput,
    find_domain,
    with_data_weights,
)
from testsgd.certification.domain.weights import BINS
from testsgd.data import DatasetSpecification, Table, check_table
from testsgd.errors import DataError, ParameterError

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "people"},
        "label": {"column": "y", "favourable": "1", "values": ["0", "1"]},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "age": {"type": "integer", "range": [0, 100]},
            "debt": {"type": "decimal", "range": [0, 2]},
            "race": {"type": "categorical", "values": ["a", "b", "c"]},
            "flag": {"type": "categorical", "values": [0, 1]},
        },
    }
)

PERSON = st.fixed_dictionaries(
    {
        "age": st.one_of(st.none(), st.integers(0, 100)),
        "debt": st.one_of(st.none(), st.floats(0, 2)),
        "race": st.one_of(st.none(), st.sampled_from(["a", "b", "c"])),
        "flag": st.sampled_from([0, 1]),
    }
)
COMPLETE = {"age": 3, "debt": 0.5, "race": "b", "flag": 1}


def table(people: list[dict[str, Any]]) -> Table:
    rows = [{**person, "sex": "fm"[place % 2]} for place, person in enumerate(people)]
    frame = pd.DataFrame(rows).astype({"age": float, "debt": float})
    return check_table(frame, SPECIFICATION, source="made up")


def shares(marginal: Marginal) -> list[float]:
    return np.diff(marginal.cumulative).tolist()


@given(people=st.lists(PERSON, max_size=40))
def test_weights_are_relative_frequencies(people: list[dict[str, Any]]) -> None:
    people = [COMPLETE, COMPLETE, *people]
    domain = with_data_weights(find_domain(SPECIFICATION), table(people))

    assert set(domain.marginals) == {"age", "debt", "race", "flag"}
    for name, values in (("age", range(101)), ("race", "abc"), ("flag", (0, 1))):
        known = [person[name] for person in people if person[name] is not None]
        expected = [known.count(value) / len(known) for value in values]
        assert shares(domain.marginals[name]) == pytest.approx(expected, abs=1e-12)
        assert domain.marginals[name].positions.tolist() == list(range(len(expected) + 1))

    debts = [person["debt"] for person in people if person["debt"] is not None]
    counts = [0] * BINS
    for debt in debts:
        counts[min(int(debt * BINS / 2), BINS - 1)] += 1  # exact: 32 bins a unit
    assert shares(domain.marginals["debt"]) == pytest.approx(
        [count / len(debts) for count in counts], abs=1e-12
    )
    for marginal in domain.marginals.values():
        assert marginal.cumulative[0] == 0.0
        assert marginal.cumulative[-1] == 1.0


def test_a_category_of_numbers_may_be_an_input_of_whole_numbers() -> None:
    people = [{**COMPLETE, "flag": flag} for flag in (0, 1, 1, 1)]
    domain = find_domain({"protected": "sex", "inputs": {
        "flag": {"integer": [0, 2]}, "sex": {"integer": [0, 1]},
    }})  # fmt: skip

    weighted = with_data_weights(domain, table(people))
    assert shares(weighted.marginals["flag"]) == [0.25, 0.75, 0.0]


def domain_of(**age: Any) -> Domain:
    return find_domain({"protected": "sex", "inputs": {"age": age, "sex": {"values": ["f", "m"]}}})


def error(domain: Domain, people: list[dict[str, Any]]) -> str:
    with pytest.raises(DataError) as caught:
        with_data_weights(domain, table(people))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_rows_outside_of_the_domain_are_an_error() -> None:
    people = [{**COMPLETE, "age": age} for age in (17, 20, 91, 95)]

    assert "2 of 4 rows" in error(domain_of(integer=[17, 90]), people)
    assert "(91)" in error(domain_of(integer=[17, 90]), people)
    assert "2 of 4 rows" in error(domain_of(real=[17, 90.5]), people)
    assert "3 of 4 rows" in error(domain_of(real=[91, 91]), people)
    with_data_weights(domain_of(integer=[17, 95]), table(people))


def test_a_category_outside_of_the_domain_is_an_error() -> None:
    narrow = find_domain(
        {"protected": "flag",
         "inputs": {"race": {"values": ["a", "b"]}, "flag": {"integer": [0, 1]}}}
    )  # fmt: skip

    assert "'c'" in error(narrow, [{**COMPLETE, "race": race} for race in "abc"])


def test_what_the_data_lack_is_an_error() -> None:
    nameless = find_domain({"minimum": [0, 0], "maximum": [100, 1], "protected": 1})
    assert "no column 'x0'" in error(nameless, [COMPLETE, COMPLETE])
    absent = [{**COMPLETE, "age": None}] * 2
    assert "missing in every row" in error(domain_of(integer=[0, 100]), absent)


def test_a_real_input_with_one_value_has_no_weights() -> None:
    people = [{**COMPLETE, "debt": 0.5}] * 2
    domain = find_domain({"protected": "sex", "inputs": {
        "debt": {"real": [0.5, 0.5]}, "age": {"integer": [0, 100]}, "sex": {"integer": [0, 1]},
    }})  # fmt: skip

    assert set(with_data_weights(domain, table(people)).marginals) == {"age"}


def test_a_weighted_domain_keeps_its_protected_inputs() -> None:
    domain = with_data_weights(find_domain(SPECIFICATION), table([COMPLETE] * 2))

    assert find_domain(domain) == domain
    with pytest.raises(ParameterError, match="is weighted"):
        find_domain(domain, protected="race")


@pytest.mark.parametrize(
    ("positions", "cumulative"),
    [([0, 1, 2], [0, 1]), ([0, 1], [0, 0.5]), ([0, 1, 1], [0, 0.5, 1]), ([0, 1, 2], [0, 2, 1]),
     ([0, 1], [0, np.nan])],
)  # fmt: skip
def test_weights_that_are_no_distribution_are_refused(
    positions: list[float], cumulative: list[float]
) -> None:
    with pytest.raises(ParameterError, match="no rising line"):
        Marginal(np.array(positions, dtype=float), np.array(cumulative, dtype=float))


@pytest.mark.parametrize("item", [IntegerInput("age", 3, 5), RealInput("age", 3.0, 5.5)])
def test_weights_that_do_not_span_an_input_are_refused(item: Any) -> None:
    half = Marginal(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    inputs = (item, IntegerInput("sex", 0, 1))
    for name, seen in (("age", "do not span"), ("sex", "no unprotected input")):
        with pytest.raises(ParameterError, match=seen):
            Domain("people", inputs, ("sex",), ((0.0,), (1.0,)), {name: half})
