"""What summaries of all kinds share: frozen parts, rules, and where a result is from."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from typing import Annotated, Any, Protocol, Self, TypedDict

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from testsgd._version import __version__
from testsgd.expressions import written_in_rules
from testsgd.report.formatting import distinct_cuts, first_of, seconds, series, shorten

Count = Annotated[int, Field(ge=0)]
"""A whole number of at least 0."""
Positive = Annotated[int, Field(ge=1)]
"""A whole number of at least 1."""
NonNegative = Annotated[float, Field(ge=0)]
"""A number of at least 0."""
Share = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""
Difference = Annotated[float, Field(ge=-1, le=1)]
"""The difference of two shares."""


def _in_order(ends: tuple[float, float]) -> tuple[float, float]:
    if ends[0] > ends[1]:
        raise ValueError(f"the lower end, {ends[0]:g}, is above the upper, {ends[1]:g}")
    return ends


Interval = Annotated[tuple[float, float], AfterValidator(_in_order)]
"""The lower end of an interval and the upper."""


def _exact(text: str) -> str:
    try:
        Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{text!r} is no fraction, such as 1/5") from None
    return text


ExactNumber = Annotated[str, AfterValidator(_exact)]
"""A number written as a fraction, exactly."""


def check_equal_lengths(lists: Mapping[str, Sized]) -> None:
    """Raise a ValueError that names the first of some lists that is not as long as the one before.

    Examples
    --------
    >>> check_equal_lengths({"groups": ["a", "b"], "shares": [1.0]})
    Traceback (most recent call last):
    ValueError: there are 2 of groups, and 1 of shares
    """
    lengths = {name: len(members) for name, members in lists.items()}
    for (first, length), (second, other_length) in pairwise(lengths.items()):
        if length != other_length:
            raise ValueError(f"there are {length} of {first}, and {other_length} of {second}")


@dataclass(frozen=True)
class OfOneRun:
    """Marks what differs between equal runs: reproducible files have null or nothing there."""


OF_ONE_RUN = OfOneRun()


def _no_truth_value(given: Any) -> Any:
    if isinstance(given, bool):
        raise ValueError("Input should be a number, not a truth value")
    return given


NO_TRUTH_VALUE = BeforeValidator(_no_truth_value)
"""Marks a choice of numbers, for which Python would take ``True`` as 1."""

Created = Annotated[str | None, OF_ONE_RUN]
"""When something was made, as ISO 8601 has it."""
Duration = Annotated[NonNegative | None, OF_ONE_RUN]
"""Wall-clock seconds, or a rate a second."""
Memory = Annotated[Count | None, OF_ONE_RUN]
"""Bytes of a process."""
Durations = Annotated[dict[str, NonNegative], OF_ONE_RUN]
"""Wall-clock seconds of each phase."""


# How the fields of the two ends of an interval are named, or end.
_UPPER_ENDS = {"low": "high", "lowest": "highest"}


class Part(BaseModel):
    """A part of a summary: frozen, and with no keys but its own."""

    # A key may be called model_queries; older versions of pydantic keep such names for themselves.
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=()
    )

    @model_validator(mode="after")
    def _ends_in_order(self) -> Self:
        for low, high in _ends_of(type(self)):
            lower, upper = getattr(self, low), getattr(self, high)
            # Others of these names are groups.
            are_numbers = isinstance(lower, (int, float)) and isinstance(upper, (int, float))
            if are_numbers and lower > upper:
                raise ValueError(f"{low}, {lower:g}, is above {high}, {upper:g}")
        return self

    @classmethod
    def of(cls, *sources: object, **known: Any) -> Self:
        """Return a part of what is `known`, all else from the first source with that attribute."""
        for name in cls.model_fields.keys() - known.keys():
            source = next((source for source in sources if hasattr(source, name)), None)
            if source is not None:
                known[name] = getattr(source, name)
        return cls.model_validate(known, from_attributes=True)

    def __repr__(self) -> str:
        """Return at most ten lines; ``model_dump`` and ``model_dump_json`` give everything."""
        from testsgd.report.short_form import short_form

        return short_form(type(self).__name__, self)

    def __str__(self) -> str:
        return repr(self)


@cache
def _ends_of(kind: type[Part]) -> tuple[tuple[str, str], ...]:
    """Return the names of the fields that are the lower end and the upper of one interval."""
    pairs = []
    for name in kind.model_fields:
        about, separator, end = name.rpartition("_")
        upper = f"{about}{separator}{_UPPER_ENDS.get(end)}"
        if upper in kind.model_fields:
            pairs.append((name, upper))
    return tuple(pairs)


class RuleSummary(Part):
    """One rule: values of a categorical feature, an interval of a continuous one, or a term."""

    feature: str = Field(description="the sensitive feature, or the category of the term")
    values: list[str] | None = Field(
        None, description="values allowed, for a categorical feature; for texts the one term"
    )
    low: float | None = Field(
        None, description="inclusive lower end, null where the rule is open below"
    )
    high: float | None = Field(
        None, description="exclusive upper end, null where the rule is open above"
    )
    text: str = Field(description="the rule as people write it")


class Ruled(Protocol):
    """What is described by rules, such as a group."""

    @property
    def rules(self) -> Sequence[RuleSummary]:
        """Return the rules; all of them hold."""

    @property
    def text(self) -> str:
        """Return the rules as people write them."""


# Longer rules of a group are cut in its row.
_ROW_TEXT = 160


def values_of(groups: Iterable[Ruled]) -> dict[str, set[str]]:
    """Return the values of each feature that rules of some groups name."""
    known: dict[str, set[str]] = {}
    for rule in (rule for group in groups for rule in group.rules):
        known.setdefault(rule.feature, set()).update(rule.values or ())
    return known


def row_parts(group: Ruled, among: Mapping[str, Collection[str]] | None = None) -> dict[str, Any]:
    """Return the parts of a row's name by name, for a row that a group's rules head."""
    units = tuple(rule.text for rule in group.rules)
    if len(group.text) <= _ROW_TEXT or " and ".join(units) != group.text:
        return {"units": units}
    return {"units": units, "brief": brief_units(group.rules, _ROW_TEXT, among)}


def brief_group(group: Ruled, limit: int) -> str:
    """Return the rules of a group as people write them, in less room where they are long.

    Parameters
    ----------
    group : Ruled
        A group with its rules.
    limit : int
        Characters from which on they are long. Then long values are cut, and of many values the
        last are counted.

    Returns
    -------
    str

    Examples
    --------
    >>> rule = RuleSummary(feature="town", values=["north", "x" * 60], text="town in {north, ...}")
    >>> class Group:
    ...     text, rules = f"town in {{north, {'x' * 60}}}", [rule]
    >>> brief_group(Group(), 200) == Group.text
    True
    >>> brief_group(Group(), 60)
    'town in {north, xxxxxxxxxxxxxx…xxxxxxxxxxx}'
    """
    if len(group.text) <= limit:
        return group.text
    units = brief_units(group.rules, limit)
    return shorten(" and ".join(units) or group.text, limit)


def brief_units(
    rules: Sequence[RuleSummary],
    limit: int,
    among: Mapping[str, Collection[str]] | None = None,
) -> tuple[str, ...]:
    """Return each of some rules with long values cut; together they have room in a limit.

    Of many values the last are counted. `among` are values of each feature that the values must
    not read like.
    """
    known = among or {}
    cuts = [distinct_cuts(rule.values or (), known.get(rule.feature, ())) for rule in rules]
    named = max(map(len, cuts), default=0)
    while True:
        units = tuple(
            _brief_rule(rule, values, named) for rule, values in zip(rules, cuts, strict=True)
        )
        if named <= 1 or len(" and ".join(units)) <= limit:
            return units
        named -= 1


def _brief_rule(rule: RuleSummary, values: Sequence[str], named: int) -> str:
    """Write a rule with values that are cut, of which the first are named."""
    if not rule.values or (list(values) == rule.values and len(values) <= named):
        return rule.text
    if len(values) == 1:
        # Terms of texts are written without their category.
        whole, brief = written_in_rules(rule.values[0]), written_in_rules(values[0])
        if whole in rule.text:
            return rule.text.replace(whole, brief)
        return rule.text.replace(rule.values[0], values[0])
    name = written_in_rules(rule.feature)
    shown = [written_in_rules(value, listed=True) for value in values]
    if len(values) <= named:
        return f"{name} in {{{', '.join(shown)}}}"
    return f"{name} in {{{series(first_of(shown, named))}}}"


class Versioned(Protocol):
    """What every summary knows of where it is from."""

    @property
    def created(self) -> str | None:
        """When it was made, as ISO 8601 has it; None if that is left out."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of testsgd and of what it computes with."""

    @property
    def schema_(self) -> str:
        """The name and version of its schema."""


class Timed(Protocol):
    """A summary of something that took time."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Wall-clock seconds of each phase."""


class Origin(TypedDict):
    """Where a report is from, as keywords of :class:`testsgd.report.blocks.Document`."""

    created: str | None
    version: str
    schema_name: str


def origin(summary: Versioned) -> Origin:
    """Return when a result was made, by which version, and the name of its form."""
    return Origin(
        created=summary.created,
        version=summary.versions.get("testsgd", ""),
        schema_name=summary.schema_,
    )


def version_facts(summary: Versioned) -> tuple[tuple[str, str], ...]:
    """Return the versions of testsgd and of what it computes with, each with its name."""
    return tuple((f"Version: {name}", version) for name, version in summary.versions.items())


def time_facts(summary: Timed) -> tuple[tuple[str, str], ...]:
    """Return how long each phase took, with its name."""
    return tuple((f"Time: {phase}", seconds(time)) for phase, time in summary.seconds.items())


def present_moment() -> str:
    """Return the present moment as ISO 8601 has it, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def package_versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of testsgd, of Python and of those packages that are installed."""
    versions = {"testsgd": __version__, "python": platform.python_version()}
    for package in packages:
        installed = _installed_version(package)
        if installed is not None:
            versions[package] = installed
    return versions


@cache
def _installed_version(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    # Kept: a file is read for it, in five milliseconds.
    try:
        return version(package)
    except PackageNotFoundError:
        return None
