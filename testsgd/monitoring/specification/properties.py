"""The properties that a monitor watches: as they are written, and with everything filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field, model_validator

from testsgd.data.schema_parts import mistake, repeated
from testsgd.fairness import EmptyGroup, FairnessProperty, PropertyTable

Rule = Literal["estimate", "evidence"]
Check = Literal["every", "end"]
WatchedName = Literal[
    "demographic_parity",
    "disparate_impact",
    "equal_opportunity",
    "predictive_equality",
    "equalized_odds",
    "custom",
]


class PropertyPart(PropertyTable):
    """What is compared, how far groups may be apart, and when that is judged how."""

    property: WatchedName = Field(description="a known property, or custom")
    given: tuple[str, ...] = Field(
        (), description="fields within whose combinations of values groups are compared"
    )
    rule: Rule | None = Field(
        None, description="judged by the estimate, or by evidence; evidence where it is possible"
    )
    check: Check | None = Field(
        None, description="judged after every trial, or at the end of each tumbling window"
    )

    @model_validator(mode="after")
    def _fields_are_fields(self) -> PropertyPart:
        for place, field in enumerate(self.given):
            if not field.strip():
                raise mistake(("given", place), "a field needs a name")
        if (twice := repeated(list(self.given))) is not None:
            raise mistake("given", f"the field {twice!r} stands twice", "remove one of them")
        return self


@dataclass(frozen=True)
class MonitoredProperty:
    """A property that a monitor watches.

    Attributes
    ----------
    name : str
        What reports call it; no two of a monitor have the same.
    fairness : FairnessProperty
        What is counted, and how rates are compared.
    threshold : fractions.Fraction
        The largest bias that is allowed.
    empty_group : {"vacuous", "zero"}
        Of a group that nobody has come of.
    given : tuple of str
        Fields; groups are compared within each combination of their values.
    rule : {"estimate", "evidence"}
    check : {"every", "end"}
        After every trial, or at the end of each tumbling window.
    """

    name: str
    fairness: FairnessProperty
    threshold: Fraction
    empty_group: EmptyGroup
    given: tuple[str, ...]
    rule: Rule
    check: Check

    def to_dict(self) -> dict[str, Any]:
        """Give everything that it says, in types that JSON knows.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "measure": self.fairness.measure,
            "numerator": [list(row) for row in self.fairness.numerator],
            "denominator": [list(row) for row in self.fairness.denominator],
            "threshold": str(self.threshold),
            "empty_group": self.empty_group,
            "given": list(self.given),
            "rule": self.rule,
            "check": self.check,
        }


def allows_evidence(fairness: FairnessProperty) -> bool:
    """Say whether a rate is a share of successes, one or none a trial.

    Only of those is known how far they can be from a probability.

    Examples
    --------
    >>> from testsgd.fairness import NAMED_PROPERTIES, property_from_events
    >>> allows_evidence(NAMED_PROPERTIES["disparate_impact"])
    True
    >>> allows_evidence(property_from_events(
    ...     "odds", numerator=["accept"], denominator=["reject"]))
    False
    """
    return all(whole == 1 and part <= 1 for part, whole in fairness.kinds)


def monitored_properties(
    parts: Iterable[PropertyPart], window: Literal["all", "tumbling", "sliding"]
) -> tuple[MonitoredProperty, ...]:
    """Take joint names apart, fill in what is not said and give each property a name.

    Parameters
    ----------
    parts : iterable of PropertyPart
    window : {"all", "tumbling", "sliding"}

    Returns
    -------
    tuple of MonitoredProperty
    """
    made = [
        MonitoredProperty(
            fairness.name + (" given " + " and ".join(part.given) if part.given else ""),
            fairness,
            part.threshold,
            part.empty_group,
            part.given,
            part.rule
            or ("evidence" if window == "all" and allows_evidence(fairness) else "estimate"),
            part.check or ("end" if window == "tumbling" else "every"),
        )
        for part in parts
        for fairness in part.all_made()
    ]
    return tuple(
        replace(one, name=name)
        for one, name in zip(made, _told_apart([one.name for one in made]), strict=True)
    )


def _told_apart(names: list[str]) -> list[str]:
    """Give names of which no two are equal: the second of a name has "(2)" behind it."""
    taken, seen, made = set(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        new = name
        while seen[name] > 1 and (new := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(new)
        made.append(new)
    return made
