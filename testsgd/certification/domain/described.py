"""The domain that a data set's description implies: its features with their ranges and values."""

from __future__ import annotations

import math

from testsgd.certification.domain.document import Described
from testsgd.certification.domain.inputs import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    RealInput,
)
from testsgd.data import DatasetSpecification, Feature
from testsgd.errors import SpecificationError


def domain_of_features(specification: DatasetSpecification) -> Described:
    """Make a domain of a data set's features.

    A feature of the type ``integer`` takes the whole numbers of its range, as ages do, one of the
    type ``decimal`` all real numbers of it, a categorical one its declared values. Nobody in the
    domain lacks a value. Protected are, if nobody says otherwise, the sensitive features.

    Parameters
    ----------
    specification : DatasetSpecification
        The data set.

    Returns
    -------
    Described

    Raises
    ------
    SpecificationError
        If there is no whole number in the range of an integer feature.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> for item in domain_of_features(load_specification("demo")).inputs[:2]:
    ...     print(item)
    CategoryInput(name='gender', values=('female', 'male'), columns=None)
    CategoryInput(name='race', values=('White', 'Black', 'Hispanic', 'Asian'), columns=None)
    """
    return Described(
        name=specification.name,
        inputs=tuple(
            _input(name, feature, specification.name)
            for name, feature in specification.features.items()
            if feature.input
        ),
        protected=tuple(name for name in specification.sensitive if name in specification.inputs),
        protected_values=None,
        where=specification.name,
        no_inputs=tuple(
            name for name, feature in specification.features.items() if not feature.input
        ),
    )


def _input(name: str, feature: Feature, where: str) -> DomainInput:
    if feature.type == "categorical":
        return CategoryInput(name, tuple(feature.values or ()))
    if feature.range is None:
        raise SpecificationError(
            "the feature has no range, so its domain is not known",
            where=f"{where}, features.{name}",
            remedy="add `range = [lowest, highest]`",
        )
    low, high = feature.range
    if feature.type == "decimal":
        return RealInput(name, low, high)
    if math.ceil(low) > math.floor(high):
        raise SpecificationError(
            f"there is no whole number from {low:g} to {high:g}",
            where=f"{where}, features.{name}",
            remedy="correct `range`, or declare the feature decimal",
        )
    return IntegerInput(name, math.ceil(low), math.floor(high))
