"""The tables of a shield's specification; together they are the format."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import Field, field_validator, model_validator

from testsgd.data.exact_numbers import (
    AtLeastOne,
    Decision,
    ExactShare,
    NotNegative,
    Probability,
)
from testsgd.data.schema_parts import Part, mistake
from testsgd.errors import SpecificationError
from testsgd.fairness import GroupNames, Measure
from testsgd.shielding.inputs import checked_costs

ShieldKind = Literal["finite", "static-fair", "static-bounded-welfare", "dynamic"]


class GroupsPart(Part):
    """Who is compared."""

    names: GroupNames = Field(description="the groups, at least two")
    unknown: Literal["refuse", "pass"] = Field(
        "refuse", description="people of no such group: an error, or passed through and counted"
    )


class HorizonPart(Part):
    """When the bound must hold, and what comes after."""

    length: AtLeastOne = Field(description="decisions after which the bound must hold")
    shield: ShieldKind = Field("finite", description="one horizon, or a way to do many periods")
    welfare: tuple[ExactShare, ExactShare] | None = Field(
        None, description="lowest and highest rate of a group (static-bounded-welfare)"
    )
    after: Literal["stop", "next"] | None = Field(
        None, description="beyond the horizon: an error, or the next period, from nothing"
    )
    periods: AtLeastOne | None = Field(None, description="stop after so many periods")
    when_infeasible: Literal["pass", "closest"] | None = Field(
        None,
        description="dynamic, no shield for a period: pass, or keep the smallest bound there is",
    )

    @model_validator(mode="after")
    def _parts_agree(self) -> HorizonPart:
        bounded = self.shield == "static-bounded-welfare"
        if bounded and self.welfare is None:
            raise mistake(
                "welfare", "a static-bounded-welfare shield needs bounds", "give [lowest, highest]"
            )
        if not bounded and self.welfare is not None:
            raise mistake(
                "welfare", "only a static-bounded-welfare shield has welfare bounds", "remove them"
            )
        if self.welfare is not None and self.welfare[0] >= self.welfare[1]:
            low, high = self.welfare
            raise mistake("welfare", f"no room is left between {low} and {high}")
        if self.periodic and self.after == "stop":
            raise mistake(
                "after", f"a {self.shield} shield always goes on", "set `periods` to end it"
            )
        if self.when_infeasible is not None and self.shield != "dynamic":
            raise mistake(
                "when_infeasible", "only a dynamic shield can find none for a period", "remove it"
            )
        if self.when_infeasible == "pass":
            # It is the same as to leave it out, and so has the same digest.
            object.__setattr__(self, "when_infeasible", None)
        if self.after is None:
            # Filled in so that readers need no rule of their own; it stays a key not set.
            object.__setattr__(self, "after", "next" if self.periodic else "stop")
        if self.after == "stop" and self.periods not in (None, 1):
            raise mistake(
                "periods",
                f'{self.periods} periods and after = "stop" exclude each other',
                'set after = "next", or leave `periods` out',
            )
        return self

    @property
    def closest(self) -> bool:
        """Whether a period without a shield gets one of the smallest bound that can be kept."""
        return self.when_infeasible == "closest"

    @property
    def periodic(self) -> bool:
        """Whether the bound is on the whole history at the end of every period."""
        return self.shield != "finite"


class TableRow(Part):
    """How likely a group, recommendation and cost is."""

    group: str = Field(description="one of groups.names")
    recommendation: Decision = Field(description="0 reject, 1 accept")
    probability: Probability = Field(description="of this group, recommendation and cost")
    cost: NotNegative = Field(1.0, description="of changing the recommendation")
    label_probability: Probability | None = Field(
        None, description="probability that the true label is 1, given group and recommendation"
    )


class LogColumns(Part):
    """What the columns of a log are called."""

    group: str = Field("group", description="the group")
    recommendation: str = Field("recommendation", description="0 or 1, or reject or accept")
    cost: str | None = Field(None, description='its column; "cost" is read if it is there')
    label: str | None = Field(None, description='its column; "label" is read if it is there')


class InputsPart(Part):
    """What the shield expects to see; without it, everything equally often."""

    costs: tuple[NotNegative, ...] | None = Field(
        None, description="what a change can cost, if all are equally likely"
    )
    table: tuple[TableRow, ...] | None = Field(None, description="the probabilities, row by row")
    log: str | None = Field(None, description="a CSV file to estimate the probabilities from")
    smoothing: NotNegative | None = Field(
        None, description="people added to each group and recommendation of the log; 1"
    )
    most_costs: AtLeastOne | None = Field(
        None, description="more different costs in the log are put together; 8"
    )
    columns: LogColumns | None = Field(None, description="names of the log's columns")

    @field_validator("costs")
    @classmethod
    def _good_costs(cls, costs: tuple[float, ...] | None) -> tuple[float, ...] | None:
        try:
            return None if costs is None else checked_costs(sorted(costs))
        except SpecificationError as error:
            raise mistake((), error.what, error.remedy) from error

    @model_validator(mode="after")
    def _one_source(self) -> InputsPart:
        sources = [key for key in ("costs", "table", "log") if getattr(self, key) is not None]
        if len(sources) > 1:
            raise mistake(
                sources[1], f"`{sources[0]}` says already what is expected", "give one of them"
            )
        for key in ("smoothing", "most_costs", "columns"):
            if self.log is None and getattr(self, key) is not None:
                raise mistake(key, "only a `log` has it", "remove it")
        return self


def bounded_bias(welfare: tuple[Fraction, Fraction], measure: Measure) -> Fraction:
    """Give the largest bias of groups whose rates all lie within two bounds.

    Examples
    --------
    >>> bounded_bias((Fraction(2, 5), Fraction(1, 2)), "difference")
    Fraction(1, 10)
    """
    low, high = welfare
    return high - low if measure == "difference" else 1 - low / high
