"""What is believed of rates before anything is seen of them: for all, a property or a group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from testsgd.data.schema_parts import ExactNotNegative, Part, exact_share, mistake

Rate = Fraction | Literal["overall"]


def _prior(value: Any) -> Rate:
    if value == "overall":
        return "overall"
    if isinstance(value, str) and value.strip().isalpha():
        remedy = 'give a share such as 0.5, or "overall"'
        raise mistake((), f"{value!r} is no prior belief", remedy)
    return exact_share(value)


Prior = Annotated[
    Rate,
    PlainValidator(_prior),
    PlainSerializer(str),
    WithJsonSchema({"type": ["number", "string"]}),
]


class GroupEstimatePart(Part):
    """What is believed of one group; what is left out is as for the others."""

    prior: Prior | None = Field(None, description="the rate that is believed in")
    strength: ExactNotNegative | None = Field(
        None, description="how many trials the belief is worth"
    )

    @model_validator(mode="after")
    def _says_something(self) -> GroupEstimatePart:
        if not self.model_fields_set:
            raise mistake((), "nothing is said here", "give `prior` or `strength`, or remove it")
        return self


class PropertyEstimatePart(GroupEstimatePart):
    """What is believed of one property's rates; what is left out is as for all properties."""

    groups: dict[str, GroupEstimatePart] | None = Field(
        None, description="what is believed of single groups, by their names"
    )


class EstimatePart(Part):
    """What is believed of every group before anything is seen of it, and how firmly."""

    prior: Prior = Field(
        Fraction(1, 2), description='the rate believed in, or "overall": that of all groups so far'
    )
    strength: ExactNotNegative = Field(
        Fraction(0), description="how many trials the belief is worth"
    )
    groups: dict[str, GroupEstimatePart] | None = Field(
        None, description="what is believed of single groups, by their names"
    )


@dataclass(frozen=True)
class Belief:
    """A rate that is believed in, and how many trials that is worth."""

    rate: Rate
    strength: Fraction


def resolved_beliefs(
    general: EstimatePart, own: PropertyEstimatePart | None
) -> tuple[Belief, dict[str, Belief]]:
    """Return what is believed of a property's rates, and of the groups that are exceptions.

    The prior and the strength are each taken from the first place that has it: what the property
    says of the group, what it says of all groups, what the specification says of the group, what
    it says of all.

    Parameters
    ----------
    general : EstimatePart
        What the specification says.
    own : PropertyEstimatePart, optional
        What the property says.

    Returns
    -------
    belief : Belief
    exceptions : dict of str to Belief
        By the name of the group.

    Examples
    --------
    >>> general = EstimatePart(strength=24, groups={"old": {"prior": 0.3}})
    >>> belief, exceptions = resolved_beliefs(general, PropertyEstimatePart(strength=10))
    >>> belief.strength, exceptions["old"]
    (Fraction(10, 1), Belief(rate=Fraction(3, 10), strength=Fraction(10, 1)))
    """
    by_property = (own.groups or {}) if own is not None else {}
    by_specification = general.groups or {}
    names = dict.fromkeys((*by_property, *by_specification))
    exceptions = {
        name: _first((by_property.get(name), own, by_specification.get(name)), general)
        for name in names
    }
    return _first((own,), general), exceptions


def _first(places: tuple[GroupEstimatePart | None, ...], general: EstimatePart) -> Belief:
    """Return the belief whose parts are each of the first place that has it."""
    said = [place for place in places if place is not None]
    priors = [place.prior for place in said if place.prior is not None]
    strengths = [place.strength for place in said if place.strength is not None]
    return Belief((*priors, general.prior)[0], (*strengths, general.strength)[0])
