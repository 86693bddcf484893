"""The specification of a monitor: what a user writes in TOML, checked and read exactly."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from testsgd.data.schema_parts import mistake, repeated
from testsgd.data.toml_document import ExactDocument
from testsgd.fairness import EmptyGroup, FairnessProperty, PropertyName
from testsgd.fairness.conditioned_groups import listed_groups
from testsgd.fairness.property import PropertyTable
from testsgd.monitoring.specification import parts
from testsgd.monitoring.specification.beliefs import (
    EstimatePart,
    FieldRatio,
    PropertyEstimatePart,
    resolved_beliefs,
)
from testsgd.monitoring.specification.conditions import condition_of, fields_of
from testsgd.monitoring.specification.simulated_people import SimulationPart

Rule = Literal["estimate", "evidence"]
Check = Literal["every", "end", "period"]
WatchedName = Literal[PropertyName, "equalized_odds"]


def _check(value: Any) -> str | None:
    """Return when a property is judged, a period as the text of its length."""
    if value is None or value in ("every", "end"):
        return None if value is None else str(value)
    if isinstance(value, str) and value.strip().isalpha():
        remedy = 'write "every", "end", or a period such as "1 d"'
        raise mistake((), f"{value!r} does not say when", remedy)
    return parts.duration_text(parts.seconds_in(value))


class PropertyPart(PropertyTable):
    """What is compared, how far groups may be apart, and when that is judged how."""

    property: WatchedName = Field(description="a known property, or custom")
    condition_on: tuple[str, ...] = Field(
        (), description="fields within whose combinations of values groups are compared"
    )
    rule: Rule | None = Field(
        None, description="judged by the estimate, or by evidence; evidence where it is possible"
    )
    check: Annotated[
        str | None,
        PlainValidator(_check),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}),
    ] = Field(
        None,
        description="judged after every trial, at the end of each tumbling window, or after every "
        'period of the time of events, such as "1 d"',
    )
    estimate: PropertyEstimatePart | None = Field(
        None, description="what is believed of its rates, where that is not as for the others"
    )

    favourable_within: parts.Duration | None = Field(
        None, description="a decision is favourable only if it came so soon after the first event"
    )

    @model_validator(mode="after")
    def _labels_have_their_own_deadline(self) -> PropertyPart:
        labelled = any(fairness.labelled for fairness in self.all_made())
        if self.favourable_within is not None and labelled:
            what = "it is about decisions, and this property counts labels"
            raise mistake("favourable_within", what, "remove it, or set trials.deadline for labels")
        return self

    @model_validator(mode="after")
    def _fields_are_fields(self) -> PropertyPart:
        for index, field in enumerate(self.condition_on):
            if not field.strip():
                raise mistake(("condition_on", index), "a field needs a name")
        if (twice := repeated(list(self.condition_on))) is not None:
            raise mistake("condition_on", f"the field {twice!r} stands twice", "remove one of them")
        return self

    def seconds_of_period(self) -> float | None:
        """Return the length of the period after which it is judged; None if it has none."""
        return None if self.check in (None, "every", "end") else parts.seconds_in(self.check)


@dataclass(frozen=True)
class MonitoredProperty:
    """A property that a monitor watches, with every default filled in.

    Examples
    --------
    >>> specification = MonitorSpecification.from_dict({
    ...     "properties": [{"property": "demographic_parity", "bound": 0.1}]})
    >>> (watched,) = specification.monitored
    >>> watched.name, watched.bound, watched.rule, watched.check
    ('demographic_parity', Fraction(1, 10), 'evidence', 'every')
    """

    name: str  # What reports call it; no two of a monitor have the same.
    fairness: FairnessProperty  # What is counted, and how rates are compared.
    bound: Fraction  # The largest bias that is allowed.
    empty_group: EmptyGroup  # Of a group that nobody has come of.
    # Fields; groups are compared within each combination of their values.
    condition_on: tuple[str, ...]
    rule: Rule
    check: Check  # After every trial, at the end of each tumbling window, or of every period.
    period: float | None = None  # The length of a period in seconds.
    # Seconds after the trial's first event within which a decision is favourable.
    favourable_within: float | None = None
    # What is believed of its rates, where that is not as for all properties.
    estimate: PropertyEstimatePart | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all its settings, in types that JSON knows."""
        written: dict[str, Any] = {}
        if self.estimate is not None:
            written["estimate"] = self.estimate.model_dump(mode="json", exclude_none=True)
        if self.favourable_within is not None:
            written["favourable_within"] = self.favourable_within
        return written | {
            "name": self.name,
            "measure": self.fairness.measure,
            "numerator": [list(row) for row in self.fairness.numerator],
            "denominator": [list(row) for row in self.fairness.denominator],
            "bound": str(self.bound),
            "empty_group": self.empty_group,
            "condition_on": list(self.condition_on),
            "rule": self.rule,
            "check": self.check if self.period is None else parts.duration_text(self.period),
        }


def allows_evidence(fairness: FairnessProperty) -> bool:
    """Return whether evidence can be gathered about a property: its rates are shares of successes.

    An e-process bets on trials that succeed or fail. So each kind of trial must count 1 in the
    denominator, and 0 or 1 in the numerator.

    Parameters
    ----------
    fairness : FairnessProperty

    Returns
    -------
    bool
    """
    return all(whole == 1 and part <= 1 for part, whole in fairness.kinds)


def _distinct_names(names: list[str]) -> list[str]:
    """Return names of which no two are equal: the second of a name has "(2)" behind it."""
    used = set(names)
    occurrences = Counter[str]()
    distinct: list[str] = []
    for name in names:
        occurrences[name] += 1
        new = name
        while occurrences[name] > 1 and (new := f"{name} ({occurrences[name]})") in used:
            occurrences[name] += 1
        used.add(new)
        distinct.append(new)
    return distinct


def _at_least_one(properties: Any) -> Any:
    if isinstance(properties, Mapping):
        what = "one table stands where a list of tables should"
        raise mistake((), what, "write [[properties]] above it")
    if isinstance(properties, list | tuple) and not properties:
        raise mistake((), "nothing is to be watched", "add a table [[properties]]")
    return properties


class MonitorSpecification(ExactDocument):
    """What a monitor watches over, and how its events are to be read.

    Attributes
    ----------
    name : str
    events, groups, time, trials, window, estimate, evidence, simulation
        The tables of the TOML file.
    properties : tuple of PropertyPart
        The properties as they are written; :attr:`monitored` has everything filled in.

    Examples
    --------
    >>> specification = MonitorSpecification.from_dict({
    ...     "properties": [{"property": "equalized_odds", "bound": 0.1}]})
    >>> [(one.name, one.bound, one.rule) for one in specification.monitored]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('equal_opportunity', Fraction(1, 10), 'evidence'),
     ('predictive_equality', Fraction(1, 10), 'evidence')]
    """

    purpose: ClassVar[str] = "specifies a monitor"
    lists_for_tables: ClassVar[Mapping[str, str]] = {"groups": "by"}

    name: str = Field("monitor", min_length=1, description="what reports call it")
    events: parts.EventsPart = Field(parts.EventsPart(), description="how events are read")
    groups: Annotated[parts.GroupsPart, BeforeValidator(listed_groups)] = Field(
        parts.GroupsPart(), description="who is compared"
    )
    time: parts.TimePart = Field(
        parts.TimePart(), description="when the time of an event is believed"
    )
    trials: parts.TrialsPart = Field(parts.TrialsPart(), description="when a trial is complete")
    window: parts.WindowPart = Field(parts.WindowPart(), description="which trials are compared")
    estimate: EstimatePart = Field(EstimatePart(), description="how rates are estimated")
    evidence: parts.EvidencePart = Field(
        parts.EvidencePart(), description="how sure evidence must be"
    )
    simulation: SimulationPart = Field(
        SimulationPart(), description="whom a simulation draws; nothing else depends on it"
    )
    properties: Annotated[tuple[PropertyPart, ...], BeforeValidator(_at_least_one)] = Field(
        description="what is watched, one table a property"
    )

    @model_validator(mode="after")
    def _beliefs_are_about_known_groups(self) -> MonitorSpecification:
        names = self.groups.names
        places: list[tuple[tuple[str | int, ...], Any]] = [(("estimate",), self.estimate)]
        for index, part in enumerate(self.properties):
            places.append((("properties", index, "estimate"), part.estimate))
        for key, estimate in places if names is not None else ():
            for group in (estimate.groups or {}) if estimate is not None else {}:
                if group not in (names or ()):
                    remedy = f"the groups are {', '.join(names or ())}"
                    raise mistake((*key, "groups", group), f"there is no group {group!r}", remedy)
        return self

    @model_validator(mode="after")
    def _simulated_groups_are_known(self) -> MonitorSpecification:
        self.simulation.check_groups(self.groups.names)
        return self

    @model_validator(mode="after")
    def _priors_are_of_fields_of_their_own(self) -> MonitorSpecification:
        for field in self.prior_fields:
            if role := self.events.roles.get(field):
                what = f"the field {field!r} is the {role} of an event already"
                raise mistake("estimate", what, "name another field for the prior")
        return self

    @model_validator(mode="after")
    def _properties_fit_the_rest(self) -> MonitorSpecification:
        for index, part in enumerate(self.properties):
            for position, field in enumerate(part.condition_on):
                role = self.events.roles.get(field)
                # Many trials may share one part of their ids.
                if role is not None and not (role == "id" and len(self.events.id_fields) > 1):
                    what = f"the field {field!r} is the {role} of an event already"
                    key = ("properties", index, "condition_on", position)
                    raise mistake(key, what, "name another field")
            self._check_rule(index, part)
            if part.check == "end" and self.window.kind != "tumbling":
                what = f'a window of kind "{self.window.kind}" has no end'
                remedy = 'set window.kind = "tumbling", or check = "every"'
                raise mistake(("properties", index, "check"), what, remedy)
            if part.seconds_of_period() is not None and self.window.kind == "tumbling":
                what = "a tumbling window is judged after every trial, or at its own end"
                remedy = 'set check = "every" or "end", or another window.kind'
                raise mistake(("properties", index, "check"), what, remedy)
        return self

    def _check_rule(self, index: int, part: PropertyPart) -> None:
        key = ("properties", index, "rule")
        if part.rule == "evidence" and self.window.kind != "all":
            what = f"evidence is about all trials, and the window is {self.window.kind}"
            raise mistake(key, what, 'set window.kind = "all", or rule = "estimate"')
        if part.rule == "evidence" and not all(map(allows_evidence, part.all_made())):
            what = (
                "evidence needs a share of successes, and these counters are none: each trial that "
                "counts must add 1 to the denominator, and 0 or 1 to the numerator"
            )
            raise mistake(key, what, 'set rule = "estimate", or count other events')

    @cached_property
    def monitored(self) -> tuple[MonitoredProperty, ...]:
        """The properties with a name and everything filled in; equalized odds are two."""
        watched: list[MonitoredProperty] = []
        window = self.window.kind
        for part in self.properties:
            given = f" given {' and '.join(part.condition_on)}" if part.condition_on else ""
            period = part.seconds_of_period()
            within = part.favourable_within
            soon = "" if within is None else f" within {parts.duration_text(within)}"
            check: Check = "end" if window == "tumbling" else "every"
            if period is not None:
                check = "period"
            elif part.check is not None:
                check = "end" if part.check == "end" else "every"
            for fairness in part.all_made():
                proved = window == "all" and allows_evidence(fairness)
                rule = part.rule or ("evidence" if proved else "estimate")
                watched.append(
                    MonitoredProperty(
                        name=f"{fairness.name}{soon}{given}",
                        fairness=fairness,
                        bound=part.bound,
                        empty_group=part.empty_group,
                        condition_on=part.condition_on,
                        rule=rule,
                        check=check,
                        period=period,
                        favourable_within=within,
                        estimate=part.estimate,
                    )
                )
        names = _distinct_names([known.name for known in watched])
        return tuple(replace(known, name=name) for known, name in zip(watched, names, strict=True))

    @cached_property
    def given_fields(self) -> tuple[str, ...]:
        """All fields within which some property compares groups."""
        fields = (field for watched in self.monitored for field in watched.condition_on)
        return tuple(dict.fromkeys(fields))

    @cached_property
    def prior_fields(self) -> tuple[str, ...]:
        """The fields whose last values are the prior of some rate."""
        fields: list[str] = []
        for part in self.properties:
            general, exceptions = resolved_beliefs(self.estimate, part.estimate)
            for belief in (general, *exceptions.values()):
                if isinstance(belief.rate, FieldRatio):
                    fields += belief.rate.numerator, belief.rate.denominator
        return tuple(dict.fromkeys(fields))

    @cached_property
    def group_fields(self) -> tuple[str, ...]:
        """The fields of an event that its group is read from."""
        if self.groups.by is None:
            return (self.events.group,)
        fields = (field for group in self.groups.by for field in group.condition.names)
        return tuple(dict.fromkeys(fields))

    @cached_property
    def condition_fields(self) -> tuple[str, ...]:
        """The fields that the expressions are about."""
        by_group = () if self.groups.by is None else self.group_fields
        written = (self.events.decision, self.events.label)
        by_field = (name for text in written if condition_of(text) for name in fields_of(text))
        return tuple(dict.fromkeys((*by_group, *by_field)))

    @cached_property
    def spans(self) -> tuple[float, ...]:
        """The times within which some property needs a favourable decision, the shortest first."""
        spans = (part.favourable_within for part in self.properties)
        return tuple(sorted({span for span in spans if span is not None}))

    @property
    def judges_in_time(self) -> bool:
        """Whether something is judged because time has passed: windows in time, or periods."""
        periods = (part.seconds_of_period() for part in self.properties)
        return any(span is not None for span in (self.window.seconds, *periods))

    @property
    def needs_time(self) -> bool:
        """Whether every event must have a time: for deadlines, windows in time, or periods."""
        deadlines = (self.trials.deadline, self.trials.decision_deadline)
        timed = self.judges_in_time or bool(self.spans)
        return timed or any(span is not None for span in deadlines)

    @property
    def watches_time(self) -> bool:
        """Whether times that cannot be are dead letters: where time is needed, or it is asked."""
        asked = self.time.lateness is not None or self.time.max_skew is not None
        return self.needs_time or asked

    def digest(self) -> str:
        """Return a sha256 of what is specified or filled in by itself, in hexadecimal."""
        properties = [watched.to_dict() for watched in self.monitored]
        document = self.to_dict() | {"properties": properties}
        if not document["time"]:
            del document["time"]  # it was not there in former versions
        del document["simulation"]  # what is watched does not depend on it
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
