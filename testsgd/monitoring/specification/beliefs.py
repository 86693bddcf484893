"""What is believed of rates before anything is seen of them: for all, a property or a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from testsgd.data.schema_parts import ExactNotNegative, Part, exact_share, mistake


@dataclass(frozen=True)
class FieldRatio:
    """A prior that comes from the stream: the last value of one field over that of another one.

    Examples
    --------
    >>> prior = FieldRatio("places", "applicants", before=Fraction(1, 2))
    >>> str(prior), prior.rate({}), prior.rate({"places": Fraction(3), "applicants": Fraction(12)})
    ('places / applicants', Fraction(1, 2), Fraction(1, 4))
    """

    numerator: str
    denominator: str
    before: Fraction  # The prior while one of them is not known, or the denominator is 0.

    def __str__(self) -> str:
        return f"{self.numerator} / {self.denominator}"

    def rate(self, values: Mapping[str, Fraction]) -> Fraction:
        """Return the prior by the last values of fields; at most 1."""
        top, bottom = values.get(self.numerator), values.get(self.denominator)
        if top is None or not bottom:
            return self.before
        return min(top / bottom, Fraction(1))

    def to_dict(self) -> dict[str, str]:
        """Return it as a specification has it."""
        fields = {"numerator": self.numerator, "denominator": self.denominator}
        return fields | {"before": str(self.before)}


Rate = Fraction | Literal["overall"] | FieldRatio


def _prior(value: Any) -> Rate:
    if value == "overall":
        return "overall"
    if isinstance(value, FieldRatio):
        return value
    if isinstance(value, Mapping):
        return _field_ratio(value)
    if isinstance(value, str) and value.strip().isalpha():
        remedy = 'give a share such as 0.5, or "overall"'
        raise mistake((), f"{value!r} is no prior belief", remedy)
    return exact_share(value)


def _field_ratio(table: Mapping[str, Any]) -> FieldRatio:
    """Read the names of two fields, and the prior before they are known."""
    remedy = 'write { numerator = "places", denominator = "applicants" }'
    for key in table:
        if key not in ("numerator", "denominator", "before"):
            raise mistake((), f"a prior of two fields has no key {key!r}", remedy)
    names: list[str] = []
    for key in ("numerator", "denominator"):
        name = table.get(key)
        if not isinstance(name, str) or not name.strip():
            raise mistake((), f"`{key}` is the name of a field", remedy)
        names.append(name)
    if names[0] == names[1]:
        raise mistake((), f"the field {names[0]!r} over itself is always 1", remedy)
    before = exact_share(table.get("before", Fraction(1, 2)))
    return FieldRatio(names[0], names[1], before)


def _written(rate: Rate) -> str | dict[str, str]:
    return rate.to_dict() if isinstance(rate, FieldRatio) else str(rate)


Prior = Annotated[
    Rate,
    PlainValidator(_prior),
    PlainSerializer(_written),
    WithJsonSchema({"type": ["number", "string", "object"]}),
]


class GroupEstimatePart(Part):
    """What is believed of one group; what is left out is as for the others."""

    prior: Prior | None = Field(None, description="the rate that is believed in")
    strength: ExactNotNegative | None = Field(
        None, description="how many trials the belief is worth"
    )

    @model_validator(mode="after")
    def _has_a_key(self) -> GroupEstimatePart:
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
        Fraction(1, 2),
        description='the rate believed in; or "overall": that of all groups so far; or a table: '
        "the last value of one field over that of another one",
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
    given = [place for place in places if place is not None]
    priors = [place.prior for place in given if place.prior is not None]
    strengths = [place.strength for place in given if place.strength is not None]
    return Belief((*priors, general.prior)[0], (*strengths, general.strength)[0])
