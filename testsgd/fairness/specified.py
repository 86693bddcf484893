"""A fairness property as a table of a TOML document."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from testsgd.data.exact_numbers import ExactShare
from testsgd.data.schema_parts import Part, mistake, repeated
from testsgd.errors import SpecificationError
from testsgd.fairness.groups import checked_groups
from testsgd.fairness.property import (
    NAMED_PROPERTIES,
    EmptyGroup,
    FairnessProperty,
    Measure,
    property_from_events,
)

PropertyName = Literal[
    "demographic_parity",
    "disparate_impact",
    "equal_opportunity",
    "predictive_equality",
    "custom",
]
# Names that stand for more than one property with the same bound.
_JOINT = {"equalized_odds": ("equal_opportunity", "predictive_equality")}


def _group_names(names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return checked_groups(names)
    except SpecificationError as error:
        raise mistake((), error.what, error.remedy) from error


GroupNames = Annotated[tuple[str, ...], AfterValidator(_group_names)]


class PropertyTable(Part):
    """What is counted, and how far groups may be apart; which names are known, each kind says."""

    property: str = Field(description="a known property, or custom")
    threshold: ExactShare = Field(description="the largest bias, exactly as written")
    empty_group: EmptyGroup = Field(
        "vacuous", description="a group of which nobody came is left out, or its rate is zero"
    )
    numerator: tuple[str, ...] | None = Field(
        None, description="events that the numerator counts (custom)"
    )
    denominator: tuple[str, ...] | None = Field(
        None, description="events that the denominator counts (custom)"
    )
    measure: Measure | None = Field(None, description="how rates are compared (custom)")

    @model_validator(mode="after")
    def _events_make_a_property(self) -> PropertyTable:
        for key in ("numerator", "denominator"):
            events = getattr(self, key)
            if self.property != "custom" and events is not None:
                raise mistake(
                    key, f'only property = "custom" has it, {self.property} is known', "remove it"
                )
            if self.property == "custom" and not events:
                raise mistake(
                    key, "a custom property needs a list of events", 'give one such as ["accept:1"]'
                )
            if events and (twice := repeated(list(events))):
                raise mistake(key, f"the event {twice!r} stands twice")
        if self.property != "custom" and self.measure is not None:
            raise mistake(
                "measure", f'only property = "custom" has it, {self.property} is known', "remove it"
            )
        try:
            self.all_made()
        except SpecificationError as error:
            key = error.where.removeprefix("fairness.")
            raise mistake(key, error.what, error.remedy) from error
        return self

    def all_made(self) -> tuple[FairnessProperty, ...]:
        """Give the property, or the properties that a joint name stands for."""
        if self.property != "custom":
            names = _JOINT.get(self.property, (self.property,))
            return tuple(NAMED_PROPERTIES[name] for name in names)
        return (
            property_from_events(
                "custom",
                numerator=self.numerator or (),
                denominator=self.denominator or (),
                measure=self.measure or "difference",
            ),
        )


class FairnessPart(PropertyTable):
    """What is counted, and how far groups may be apart."""

    property: PropertyName = Field(description="a known property, or custom")

    def made(self) -> FairnessProperty:
        """Give the property."""
        return self.all_made()[0]
