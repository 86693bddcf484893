"""What a comparison gives, before anything is rendered."""

from __future__ import annotations

from dataclasses import dataclass, field

from testsgd.auditing import TableFindings
from testsgd.baselines import BaselineFinding, BaselineResult, Subject


@dataclass(frozen=True)
class Side:
    """How the model treats a group, by its decisions on the rows as they are.

    Attributes
    ----------
    n_in, n_out : int
        Rows in the group and outside.
    rate_in, rate_out : float or None
        Rate of the favourable label; None where there is no row.
    """

    n_in: int
    n_out: int
    rate_in: float | None
    rate_out: float | None

    @property
    def share(self) -> float:
        """The group's share of the rows."""
        return self.n_in / max(self.n_in + self.n_out, 1)

    @property
    def difference(self) -> float | None:
        """Rate in the group minus rate outside; None if one side has no rows."""
        if self.rate_in is None or self.rate_out is None:
            return None
        return self.rate_in - self.rate_out


@dataclass(frozen=True)
class Nearest:
    """The finding of another method that is nearest to a finding.

    Attributes
    ----------
    method : str
        The other method.
    place : int or None
        Its finding's place, from 1; None if it has no groups of rows.
    nearness : float
        See :func:`testsgd.comparison.nearness`.
    """

    method: str
    place: int | None
    nearness: float


@dataclass(frozen=True)
class InAudit:
    """The frequent group of the audit that is nearest to a finding.

    Attributes
    ----------
    group : int
        The group's place in the findings of the audit.
    rank : int or None
        Its rank by score; None if it is not ranked.
    nearness : float
        See :func:`testsgd.comparison.alikeness`.
    """

    group: int
    rank: int | None
    nearness: float


@dataclass(frozen=True)
class ComparedFinding:
    """One finding of a method, beside those of the others.

    Attributes
    ----------
    place : int
        Its place among the method's findings, from 1.
    finding : BaselineFinding
        As the method gave it.
    side, other_side : Side or None
        On the common yardstick: its group, and of a pair the group with the lower rate; None if it
        is no group of rows.
    nearest : tuple of Nearest
        The nearest finding of each other method that took part.
    only : bool or None
        True if no other method has a finding near it; None if it is no group of rows, or nothing
        else was found.
    interval : tuple of float or None
        Of the audit's own findings: the interval of the difference.
    in_audit : InAudit or None
        The audit's nearest group, whatever its rank; None for the audit's own findings.
    """

    place: int
    finding: BaselineFinding
    side: Side | None
    other_side: Side | None
    nearest: tuple[Nearest, ...]
    only: bool | None
    interval: tuple[float, float] | None = None
    in_audit: InAudit | None = None


@dataclass(frozen=True)
class ComparedMethod:
    """A method with its first distinct findings.

    Attributes
    ----------
    result : BaselineResult
        As the method gave it.
    findings : tuple of ComparedFinding
        The first that are no near copies of one before them.
    distinct : int
        How many of its findings are no near copies, shown here or not.
    """

    result: BaselineResult
    findings: tuple[ComparedFinding, ...]
    distinct: int


@dataclass(frozen=True)
class Search:
    """How fast the audit's search is, without its questions to the model.

    Attributes
    ----------
    groups : int
        Groups with enough rows.
    seconds : float
        How long it took to find them, with their rates and their order.
    """

    groups: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several methods on one model and its rows.

    Attributes
    ----------
    audit : TableFindings
        The audit.
    subject : Subject
        What all methods were given.
    methods : tuple of ComparedMethod
        The audit first.
    search : Search
        The audit's search alone, given the decisions, as the other methods are.
    time_limit : float or None
        Seconds that each of the others might take.
    seconds : dict of str to float
        Wall-clock time of each phase.
    """

    audit: TableFindings
    subject: Subject
    methods: tuple[ComparedMethod, ...]
    search: Search
    time_limit: float | None
    seconds: dict[str, float] = field(default_factory=dict)
