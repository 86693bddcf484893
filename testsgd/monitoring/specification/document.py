"""The specification of a monitor: what a user writes in TOML, checked and read exactly."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from testsgd.data.exact_document import ExactDocument
from testsgd.data.schema_parts import mistake
from testsgd.monitoring.specification.parts import (
    EstimatePart,
    EventsPart,
    EvidencePart,
    GroupsPart,
    TimePart,
    TrialsPart,
    WindowPart,
)
from testsgd.monitoring.specification.properties import (
    MonitoredProperty,
    PropertyPart,
    allows_evidence,
    monitored_properties,
)


def _at_least_one(properties: Any) -> Any:
    if isinstance(properties, Mapping):
        raise mistake(
            (), "one table stands where a list of tables should", "write [[properties]] above it"
        )
    if isinstance(properties, list | tuple) and not properties:
        raise mistake((), "nothing is to be watched", "add a table [[properties]]")
    return properties


class MonitorSpecification(ExactDocument):
    """What a monitor watches over, and how its events are to be read.

    Attributes
    ----------
    name : str
    events, groups, time, trials, window, estimate, evidence
        The tables of the TOML file.
    properties : tuple of PropertyPart
        The properties as they are written; :attr:`monitored` has everything filled in.

    Examples
    --------
    >>> specification = MonitorSpecification.from_dict({
    ...     "properties": [{"property": "equalized_odds", "threshold": 0.1}]})
    >>> [(one.name, one.threshold, one.rule) for one in specification.monitored]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('equal_opportunity', Fraction(1, 10), 'evidence'),
     ('predictive_equality', Fraction(1, 10), 'evidence')]
    """

    purpose: ClassVar[str] = "specifies a monitor"

    name: str = Field("monitor", min_length=1, description="what reports call it")
    events: EventsPart = Field(EventsPart(), description="how events are read")
    groups: GroupsPart = Field(GroupsPart(), description="who is compared")
    time: TimePart = Field(TimePart(), description="when the time of an event is believed")
    trials: TrialsPart = Field(TrialsPart(), description="when a trial is complete")
    window: WindowPart = Field(WindowPart(), description="which trials are compared")
    estimate: EstimatePart = Field(EstimatePart(), description="how rates are estimated")
    evidence: EvidencePart = Field(EvidencePart(), description="how sure evidence must be")
    properties: Annotated[tuple[PropertyPart, ...], BeforeValidator(_at_least_one)] = Field(
        description="what is watched, one table a property"
    )

    @model_validator(mode="after")
    def _properties_fit_the_rest(self) -> MonitorSpecification:
        for place, one in enumerate(self.properties):
            self._check_given(place, one)
            self._check_rule(place, one)
            if one.check == "end" and self.window.kind != "tumbling":
                raise mistake(
                    ("properties", place, "check"),
                    f'a window of kind "{self.window.kind}" has no end',
                    'set window.kind = "tumbling", or check = "every"',
                )
        return self

    def _check_given(self, place: int, one: PropertyPart) -> None:
        known = self.events.roles
        for position, field in enumerate(one.given):
            if field in known:
                raise mistake(
                    ("properties", place, "given", position),
                    f"the field {field!r} is the {known[field]} of an event already",
                    "name another field",
                )

    def _check_rule(self, place: int, one: PropertyPart) -> None:
        if one.rule != "evidence":
            return
        key = ("properties", place, "rule")
        if self.window.kind != "all":
            raise mistake(
                key,
                f"evidence is about all trials, and the window is {self.window.kind}",
                'set window.kind = "all", or rule = "estimate"',
            )
        if not all(map(allows_evidence, one.all_made())):
            raise mistake(
                key,
                "evidence needs a share of successes, and these counters are none: each trial that "
                "counts must add 1 to the denominator, and 0 or 1 to the numerator",
                'set rule = "estimate", or count other events',
            )

    @cached_property
    def monitored(self) -> tuple[MonitoredProperty, ...]:
        """The properties with everything filled in; equalized odds are two."""
        return monitored_properties(self.properties, self.window.kind)

    @property
    def needs_time(self) -> bool:
        """Whether every event must have a time, because deadlines or windows are in time."""
        return self.trials.deadline is not None or self.window.seconds is not None

    @property
    def watches_time(self) -> bool:
        """Whether times that cannot be are dead letters: where time is needed, or it is asked."""
        asked = self.time.lateness is not None or self.time.max_skew is not None
        return self.needs_time or asked

    def digest(self) -> str:
        """Give a fingerprint of what is specified.

        What is written out and what is filled in by itself make no difference.

        Returns
        -------
        str
            A sha256 in hexadecimal.
        """
        document = {**self.to_dict(), "properties": [one.to_dict() for one in self.monitored]}
        if not document["time"]:
            del document["time"]  # it was not there in former versions
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
