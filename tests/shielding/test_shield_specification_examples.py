"""The example specifications of the repository: they are read, and say what they seem to say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from testsgd.shielding.specification import ShieldSpecification

FOLDER = Path(__file__).parents[2] / "examples" / "shields"
# File, property, bound, groups, kind of shield, whether labels are expected.
EXAMPLES = [
    ("grants-bounded-welfare", "demographic_parity", "1/10", 2, "static-bounded-welfare", False),
    ("hiring-equal-opportunity", "equal_opportunity", "3/20", 2, "finite", True),
    ("loans-demographic-parity", "demographic_parity", "1/10", 2, "finite", False),
    ("refusals-own-property", "custom", "1/5", 2, "finite", False),
    ("screening-periods", "demographic_parity", "1/5", 2, "dynamic", True),
]


def test_every_example_is_known_here() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == [row[0] for row in EXAMPLES]


@pytest.mark.parametrize(("name", "property_name", "bound", "groups", "kind", "labels"), EXAMPLES)
def test_an_example(
    name: str, property_name: str, bound: str, groups: int, kind: str, labels: bool
) -> None:
    made = ShieldSpecification.read(FOLDER / f"{name}.toml")
    assert made.fairness_property.name == property_name
    assert made.bound == Fraction(bound)
    assert len(made.groups.names) == groups
    assert made.horizon.shield == kind
    inputs = made.input_distribution()
    assert inputs.groups == made.groups.names
    assert inputs.probabilities.sum() == pytest.approx(1)
    assert (inputs.labels is not None) == labels
    assert ShieldSpecification.from_dict(made.to_dict()) == made
