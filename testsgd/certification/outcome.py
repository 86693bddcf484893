"""The outcome of a certification, before anything is rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from testsgd.report.summaries import Interval

if TYPE_CHECKING:
    from testsgd.certification.domain import Domain
    from testsgd.certification.network import FeedForward
    from testsgd.certification.parameters import CertificationParameters

Stopped = Literal["done", "time", "undecided", "interrupted"]
Method = Literal["enumerated", "bounded"]


# A summary checks what it is given.
_CHECKED = ConfigDict(extra="forbid", allow_inf_nan=False, revalidate_instances="always")


@dataclass(frozen=True)
class Shares:
    """What is proved, as shares of the domain that together are 1; holds for every point of it."""

    __pydantic_config__ = _CHECKED

    certified: Annotated[
        float,
        Field(ge=0, le=1, description="lower bound: every protected value gets the same decision"),
    ]
    falsified: Annotated[
        float,
        Field(ge=0, le=1, description="lower bound: two protected values get different decisions"),
    ]
    undecided: Annotated[
        float, Field(ge=0, le=1, description="upper bound: nothing is proved of the rest")
    ]


@dataclass(frozen=True)
class Moment:
    """How far a certification had come at some time."""

    seconds: float  # Since its start.
    boxes: int  # Boxes looked at until then.
    shares: Shares  # What was proved until then.


@dataclass(frozen=True)
class Counterexample:
    """People who differ only in what is protected and get different decisions."""

    # Of the domain's free inputs, in their order; a category is given by its index.
    values: tuple[float, ...]
    decisions: tuple[int, ...]  # Index of the decision for each of ``domain.protected_values``.
    # The sums of the last layer that decide, for each of ``domain.protected_values``.
    sums: tuple[tuple[float, ...], ...]
    # True if it lies in a region that is proved unfair; else running the model showed it.
    proved: bool


@dataclass(frozen=True)
class Condition:
    """A condition on one input."""

    __pydantic_config__ = _CHECKED

    name: Annotated[str, Field(description="the input")]
    values: Annotated[list[str] | None, Field(description="the values allowed, of a category")]
    low: Annotated[float | None, Field(description="smallest value allowed, of a number")]
    high: Annotated[float | None, Field(description="largest value allowed, of a number")]
    text: Annotated[str, Field(description="the condition as people write it")]


@dataclass(frozen=True)
class Region:
    """A part of the domain where unfairness is proved or possible; shares are of the domain."""

    __pydantic_config__ = _CHECKED

    rules: Annotated[tuple[Condition, ...], Field(description="all hold; none: the whole domain")]
    text: Annotated[str, Field(description="the rules as people write them")]
    share: Annotated[float, Field(ge=0, le=1, description="of the domain")]
    certified: Annotated[
        float, Field(ge=0, le=1, description="share of the domain that is in it and proved fair")
    ]
    falsified: Annotated[
        float, Field(ge=0, le=1, description="share of the domain that is in it and proved unfair")
    ]
    undecided: Annotated[
        float, Field(ge=0, le=1, description="share of the domain that is in it and undecided")
    ]
    unfair_estimate: Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description="estimated: unfair share of the samples of the undecided part that fell "
            "into it; null if none did",
        ),
    ]


@dataclass(frozen=True)
class Remainder:
    """What samples of the undecided part say: estimated with a confidence, never proved."""

    __pydantic_config__ = _CHECKED

    samples: Annotated[int, Field(ge=1, description="points drawn from the undecided part")]
    unfair: Annotated[
        int, Field(ge=0, description="of them: two protected values get different decisions")
    ]
    confidence_interval: Annotated[
        Interval,
        Field(description="of the unfair share of the undecided part (Clopper and Pearson)"),
    ]
    confidence: Annotated[float, Field(ge=0, le=1, description="of both intervals")]
    domain_unfair: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="unfair share of the whole domain, by all draws from the boxes left "
            "undecided: without bias, but for a cut at what is proved",
        ),
    ]
    domain_confidence_interval: Annotated[
        Interval,
        Field(
            description="of the unfair share of the whole domain, by all draws from the boxes left "
            "undecided; within what is proved"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Certification:
    """The outcome of a certification: for which share of a domain a network is individually fair.

    Examples
    --------
    >>> from testsgd.certification import CertificationParameters
    >>> certification = Certification(
    ...     network=None, domain=None, parameters=CertificationParameters(),
    ...     shares=Shares(0.875, 0.0, 0.125), stopped="time", method="bounded", points=10**6,
    ...     boxes=800, open_boxes=31, seconds=60.0, moments=(), remainder=None,
    ...     counterexamples=(), regions=(), within_rounding=0)
    >>> certification.unfair_low, certification.unfair_high
    (0.0, 0.125)
    """

    network: FeedForward  # The network.
    domain: Domain  # All people it was certified for.
    parameters: CertificationParameters  # What was asked for.
    shares: Shares  # What is proved.
    stopped: Stopped  # Why it ended.
    method: Method  # Whether every point was tried, or bounds were proved on boxes.
    # Points of the domain without the protected inputs; None if an input is real.
    points: int | None
    # Boxes looked at, and those left undecided.
    boxes: int
    open_boxes: int
    seconds: float  # How long it took.
    moments: tuple[Moment, ...]  # The shares over time, ascending.
    # What samples say of the undecided region; None if nothing is undecided or none were drawn.
    remainder: Remainder | None
    counterexamples: tuple[Counterexample, ...]  # Some of those found.
    # Of an enumeration: people with weight who get different decisions; None where they are
    # not counted.
    counterexamples_found: int | None = None
    # Label of the decision that every point of the domain gets with every compared combination;
    # None if there are several, or it is not known.
    only_decision: str | None = None
    regions: tuple[Region, ...]  # Where unfairness sits, proved or possible; the largest first.
    # Of an enumeration: points nearer to the threshold than the model's rounding may reach. They
    # are decided by running the model, and may fall differently on another machine.
    within_rounding: int
    # Of an enumeration: the shares that hold however sums are rounded, undecided what rounding
    # decides; None if it decides nothing.
    however_rounded: Shares | None = None

    @property
    def unfair(self) -> float | None:
        """Estimate of the domain's unfair share; None without samples."""
        return None if self.remainder is None else self.remainder.domain_unfair

    @property
    def unfair_low(self) -> float:
        """Lower end for the domain's unfair share: a proof only if no samples are drawn."""
        remainder = self.remainder
        return remainder.domain_confidence_interval[0] if remainder else self.shares.falsified

    @property
    def unfair_high(self) -> float:
        """Upper end for the domain's unfair share, as :attr:`unfair_low`."""
        if self.remainder is not None:
            return self.remainder.domain_confidence_interval[1]
        return min(1.0, self.shares.falsified + self.shares.undecided)
