"""What a certification gives, before anything is rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

if TYPE_CHECKING:
    from testsgd.certification.domain import Domain
    from testsgd.certification.network import FeedForward
    from testsgd.certification.parameters import CertificationParameters

Stopped = Literal["done", "time", "undecided", "interrupted"]
Method = Literal["enumerated", "bounded"]


@dataclass(frozen=True)
class Shares:
    """What is proved, as shares of the domain that together are 1; holds for every point of it."""

    # A summary checks the shares that it is given.
    __pydantic_config__ = ConfigDict(
        extra="forbid", allow_inf_nan=False, revalidate_instances="always"
    )

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
    """How far a certification had come at some time.

    Attributes
    ----------
    seconds : float
        Since its start.
    boxes : int
        Boxes looked at until then.
    shares : Shares
        What was proved until then.
    """

    seconds: float
    boxes: int
    shares: Shares


@dataclass(frozen=True)
class Counterexample:
    """People who differ only in what is protected and get different decisions.

    Attributes
    ----------
    values : tuple of float
        Of the domain's free inputs, in their order; a category is given by its index.
    decisions : tuple of int
        Index of the decision for each of ``domain.protected_values``.
    sums : tuple of tuple of float
        The sums of the last layer that decide, for each of ``domain.protected_values``.
    proved : bool
        True if it lies in a region that is proved unfair; else running the model showed it.
    """

    values: tuple[float, ...]
    decisions: tuple[int, ...]
    sums: tuple[tuple[float, ...], ...]
    proved: bool


@dataclass(frozen=True)
class Condition:
    """A side of a box: one input is within bounds.

    Attributes
    ----------
    name : str
        The input.
    low, high : float
        Its bounds, inclusive; those of a category are indices.
    """

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Region:
    """A box of the domain where unfairness is proved or possible.

    Attributes
    ----------
    conditions : tuple of Condition
        Of the inputs that are narrower than the domain; none: the whole domain.
    share : float
        The box's share of the whole domain.
    certified, falsified, undecided : float
        The parts of `share`, as shares of the whole domain.
    unfair_estimate : float or None
        Unfair share of the samples that fell into the box; None if none did.
    """

    conditions: tuple[Condition, ...]
    share: float
    certified: float
    falsified: float
    undecided: float
    unfair_estimate: float | None


@dataclass(frozen=True)
class Remainder:
    """What samples of the undecided region say about it: an estimate, not a proof.

    Attributes
    ----------
    samples : int
        Points drawn from the undecided region.
    unfair : int
        Those for which two protected values get different decisions.
    low, high : float
        Clopper-Pearson interval of the undecided region's unfair share.
    domain_low, domain_high, domain_unfair : float or None
        An interval for the whole domain's unfair share, and its estimate, from all draws, those
        that are not kept included; never outside of what is proved. None: `low`, `high` and the
        unfair share of the samples, times the undecided share.
    """

    samples: int
    unfair: int
    low: float
    high: float
    domain_low: float | None = None
    domain_high: float | None = None
    domain_unfair: float | None = None


@dataclass(frozen=True, kw_only=True)
class Certification:
    """For which share of a domain a network is individually fair.

    Attributes
    ----------
    network : FeedForward
        The network.
    domain : Domain
        All people it was certified for.
    parameters : CertificationParameters
        What was asked for.
    shares : Shares
        What is proved.
    stopped : {"done", "time", "undecided", "interrupted"}
        Why it ended.
    method : {"enumerated", "bounded"}
        Whether every point was tried, or bounds were proved on boxes.
    points : int or None
        Points of the domain without the protected inputs; None if an input is real.
    boxes, open_boxes : int
        Boxes looked at, and those left undecided.
    seconds : float
        How long it took.
    moments : tuple of Moment
        The shares over time, ascending.
    remainder : Remainder or None
        What samples say of the undecided region; None if nothing is undecided or none were drawn.
    counterexamples : tuple of Counterexample
        Some of those found.
    regions : tuple of Region
        Where unfairness sits, proved or possible; the largest first.
    within_rounding : int
        Of an enumeration: points nearer to the threshold than the model's rounding may reach.
        They are decided by running the model, and may fall differently on another machine.

    Examples
    --------
    >>> some = Certification(
    ...     network=None, domain=None, parameters=CertificationParameters(),
    ...     shares=Shares(0.9, 0.02, 0.08), stopped="time", method="bounded", points=10**6,
    ...     boxes=800, open_boxes=31, seconds=60.0, moments=(),
    ...     remainder=Remainder(10_000, 1_000, 0.094, 0.106), counterexamples=(), regions=(),
    ...     within_rounding=0)
    >>> f"{some.unfair_low:.5f} to {some.unfair_high:.5f}"
    '0.02752 to 0.02848'
    """

    network: FeedForward
    domain: Domain
    parameters: CertificationParameters
    shares: Shares
    stopped: Stopped
    method: Method
    points: int | None
    boxes: int
    open_boxes: int
    seconds: float
    moments: tuple[Moment, ...]
    remainder: Remainder | None
    counterexamples: tuple[Counterexample, ...]
    regions: tuple[Region, ...]
    within_rounding: int

    @property
    def unfair(self) -> float | None:
        """Estimate of the domain's unfair share; None without samples."""
        found = self.remainder
        if found is None or not found.samples:
            return None
        if found.domain_unfair is not None:
            return found.domain_unfair
        middle = self.shares.falsified + self.shares.undecided * found.unfair / found.samples
        return min(max(middle, self.unfair_low), self.unfair_high)

    @property
    def unfair_low(self) -> float:
        """Lower end for the domain's unfair share: proved, plus the samples' lower end.

        It is a statistical bound as soon as samples are drawn, and a proof only without them.
        """
        if self.remainder is not None and self.remainder.domain_low is not None:
            return self.remainder.domain_low
        low = 0.0 if self.remainder is None else self.remainder.low
        return self.shares.falsified + self.shares.undecided * low

    @property
    def unfair_high(self) -> float:
        """Upper end for the domain's unfair share, as :attr:`unfair_low`."""
        if self.remainder is not None and self.remainder.domain_high is not None:
            return self.remainder.domain_high
        high = 1.0 if self.remainder is None else self.remainder.high
        return min(1.0, self.shares.falsified + self.shares.undecided * high)
