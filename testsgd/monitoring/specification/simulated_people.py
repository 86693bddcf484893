"""Whom a simulation of a monitor draws: the table of a specification that plays no other part."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from testsgd.data.schema_parts import Part, Share, mistake, plain_number

Rate = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=0, le=1), BeforeValidator(plain_number)
]
# Shares may be written with few decimals.
_ROUNDING = 1e-3


class SimulationPart(Part):
    """What simulations assume of the people; options of theirs go before it.

    Examples
    --------
    >>> SimulationPart(shares=[0.1, 0.9], rates=[0.3, 0.5]).middle_rate
    0.4
    """

    shares: tuple[Share, ...] | None = Field(
        None, description="the share of people in each group, as the groups are ordered"
    )
    rates: tuple[Rate, ...] | None = Field(
        None, description="the rate that is compared, in each group"
    )
    label_rate: Share | None = Field(None, description="the share of people with a positive label")

    @property
    def middle_rate(self) -> float | None:
        """The middle of the lowest and the highest rate; None if no rates are given."""
        return None if self.rates is None else (min(self.rates) + max(self.rates)) / 2

    @model_validator(mode="after")
    def _numbers_fit(self) -> SimulationPart:
        if self.shares is not None and abs(math.fsum(self.shares) - 1) > _ROUNDING:
            what = f"together the shares are {math.fsum(self.shares):.6g}"
            raise mistake("shares", what, "give shares that add up to 1")
        if self.middle_rate in (0.0, 1.0):
            what = f"all rates are {self.middle_rate:g}, and no bias is around that"
            raise mistake("rates", what, "give rates of which one is between 0 and 1")
        return self

    def check_groups(self, names: tuple[str, ...] | None) -> None:
        """Refuse numbers of groups that have no names, or of more or fewer than there are."""
        for key, numbers in (("shares", self.shares), ("rates", self.rates)):
            if numbers is None:
                continue
            if names is None:
                what = "no groups are named whose numbers these are"
                raise mistake(("simulation", key), what, "name them in `groups`, or remove it")
            if len(numbers) != len(names):
                what = f"there are {len(names)} groups and {len(numbers)} numbers"
                raise mistake(("simulation", key), what, "give a number for each group")
