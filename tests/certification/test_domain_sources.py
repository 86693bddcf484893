"""A domain is found from every kind of description, and says what the description says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from testsgd.certification.domain import (
    CategoryInput,
    Domain,
    IntegerInput,
    RealInput,
    find_domain,
)
from testsgd.certification.domain.document import shipped_domains
from testsgd.data import DatasetSpecification

LOANS = """
protected = ["race", "sex"]

[protected_values]
race = ["Black", "White"]

[inputs]
hours = { real = [0, 1.5] }
sex = { integer = [0, 1] }

[inputs.race]
values = ["Asian", "Black", "White"]
columns = [1, 3, 2]
"""

BOUNDS = {
    "one": {"minimum": [10, 0, -1], "maximum": [12, 6, 1], "protected": 1},
    "two": {"minimum": [0.0, 0], "maximum": [1, 1]},
}


def test_a_toml_file_gives_inputs_in_the_order_of_their_columns(tmp_path: Path) -> None:
    (tmp_path / "loans.toml").write_text(LOANS)
    domain = find_domain(tmp_path / "loans.toml")

    assert domain.name == "loans"
    assert domain.inputs == (
        RealInput("hours", 0.0, 1.5),
        CategoryInput("race", ("Asian", "Black", "White"), (1, 3, 2)),
        IntegerInput("sex", 0, 1),
    )
    assert domain.groups == {"race": (1, 3, 2)}
    assert domain.protected == ("race", "sex")
    assert domain.protected_values == ((1, 0), (1, 1), (2, 0), (2, 1))
    assert domain.points is None


def test_a_mapping_is_read_like_a_toml_file() -> None:
    document = {
        "name": "small",
        "protected": "sex",
        "inputs": {"age": {"integer": [17, 90]}, "sex": {"values": ["female", "male"]}},
    }
    domain = find_domain(document)

    assert domain.name == "small"
    assert domain.points == 74
    assert domain.protected_values == ((0.0,), (1.0,))
    assert domain.describe_value("sex", 1) == "sex = male"


def test_json_bounds_compare_the_ends_of_the_protected_input(tmp_path: Path) -> None:
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps(BOUNDS))
    domain = find_domain(f"{path}:one")

    assert domain.inputs == (
        IntegerInput("x0", 10, 12), IntegerInput("x1", 0, 6), IntegerInput("x2", -1, 1)
    )  # fmt: skip
    assert (domain.name, domain.protected, domain.points) == ("one", ("x1",), 9)
    assert domain.protected_values == ((0.0,), (6.0,))
    # Another input than the file's is compared at all its values.
    for other in ("x2", "2"):
        assert find_domain(f"{path}:one", protected=other).protected_values == ((-1,), (0,), (1,))


def test_a_decimal_point_in_json_makes_an_input_real(tmp_path: Path) -> None:
    path = tmp_path / "only.json"
    path.write_text(json.dumps(BOUNDS["two"]))
    domain = find_domain(path, protected="x1")

    assert domain.inputs == (RealInput("x0", 0.0, 1.0), IntegerInput("x1", 0, 1))


def test_an_nnet_file_has_the_ranges_of_its_inputs(tmp_path: Path) -> None:
    path = tmp_path / "tiny.nnet"
    header = ["// a remark", "1,2,1,2,", "2,1,", "0,", "1,0.0,", "5,1.0,", "0,0,0,", "1,1,1,"]
    path.write_text("\n".join([*header, "1.5,2.5,", "0,"]))
    domain = find_domain(str(path), protected="x0", protected_values=[1, 5])

    assert domain.inputs == (IntegerInput("x0", 1, 5), RealInput("x1", 0.0, 1.0))


def test_features_become_inputs_of_their_type() -> None:
    features: dict[str, Any] = {
        "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "age": {"type": "integer", "range": [17.5, 90]},
        "debt": {"type": "decimal", "range": [0, 1]},
    }
    specification = DatasetSpecification.model_validate(
        {
            "dataset": {"name": "people"},
            "label": {"column": "y", "favourable": "1", "values": ["0", "1"]},
            "features": features,
        }
    )
    domain = find_domain(specification)

    assert domain.inputs == (
        CategoryInput("sex", ("f", "m")), IntegerInput("age", 18, 90), RealInput("debt", 0.0, 1.0)
    )  # fmt: skip
    assert domain.protected == ("sex",)


def test_a_data_set_of_the_catalogue_is_a_domain() -> None:
    domain = find_domain("credit", protected=["gender"])

    assert domain.input("age") == IntegerInput("age", 0, 100)
    assert domain.input("housing").size == 3
    assert domain.protected_values == ((0.0,), (1.0,))


def test_a_domain_is_its_own_description(tmp_path: Path) -> None:
    (tmp_path / "loans.toml").write_text(LOANS)
    domain = find_domain(tmp_path / "loans.toml")

    assert find_domain(domain) == domain
    narrower = find_domain(domain, protected="sex")
    assert narrower.protected_values == ((0.0,), (1.0,))
    assert [item.name for item in narrower.free] == ["hours", "race"]


# From the ranges that the issue and the published program give, multiplied by hand.
PEOPLE = {
    "fairify/adult": 91 * 7 * 16 * 16 * 7 * 14 * 6 * 5 * 20 * 20 * 100 * 41,
    "fairify/bank": 11 * 3 * 7 * 2**4 * 12 * 7 * 5001 * 5 * 50 * 1000 * 8 * 3,
    "fairify/bank-published": 3 * 7 * 2**4 * 12 * 7 * 5 * 5001 * 50 * 1000 * 8 * 3 * 2,
    "fairify/compas": 2 * 39 * 2 * 2 * 2,
    "fairify/german": 3 * 81 * 3 * 10 * 20001 * 9 * 4 * 3 * 4 * 3 * 3 * 3 * 4 * 4 * 2 * 8,
}


@pytest.mark.parametrize("name", sorted(PEOPLE))
def test_shipped_domains_have_the_published_size(name: str) -> None:
    domain = find_domain(name)

    assert list(shipped_domains()) == sorted(PEOPLE)
    assert domain.name == name
    assert domain.points == PEOPLE[name]
    assert len(domain.protected_values) == 2


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("AC", "fairify/adult"),
        ("BM", "fairify/bank-published"),
        ("GC", "fairify/german"),
        ("compas", "fairify/compas"),
    ],
)
def test_shipped_domains_are_the_published_ones(key: str, name: str) -> None:
    home = os.environ.get("TESTSGD_DATA_HOME", "")
    path = Path(home).parent / "models" / "fairify" / "domains.json"
    if not home or not path.is_file():
        pytest.skip("the published domains are absent")
    published, shipped = find_domain(f"{path}:{key}"), find_domain(name)

    def ends(domain: Domain) -> list[tuple[float, float]]:
        return [(item.low, item.high) for item in domain.inputs if isinstance(item, IntegerInput)]

    assert ends(published) == ends(shipped)
    assert published.protected_values == shipped.protected_values
    assert published.names.index(published.protected[0]) == shipped.names.index(
        shipped.protected[0]
    )
