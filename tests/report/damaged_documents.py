"""Results of every kind with one value damaged, and what becomes of their views."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit_documents import as_summary, census_document, crime_document
from certification_documents import CERTIFICATIONS
from comparison_documents import COMPARISONS, as_comparison
from mitigation_documents import MITIGATIONS, as_mitigation
from monitor_documents import MONITORINGS
from shield_documents import SIMULATIONS, synthesised
from text_documents import comments_document, text_summary
from trusted_documents import trusted_document

from testsgd.certification import CertificationResult
from testsgd.errors import TestSGDError
from testsgd.report.kinds import read_result, result_class

REPORTS = Path(__file__).parents[2] / "reports"

Place = tuple[str | int, ...]

DELETED = object()
SHORTENED = object()
LENGTHENED = object()
DAMAGES: dict[str, Any] = {
    "deleted": DELETED,
    "null": None,
    "[]": [],
    "{}": {},
    '""': "",
    '"x"': "x",
    "true": True,
    "-1": -1,
    "0": 0,
    "1e308": 1e308,
    "NaN": float("nan"),
    "shortened": SHORTENED,
    "lengthened": LENGTHENED,
}
"""What is put in place of a value."""


def documents() -> dict[str, list[Any]]:
    """Return the made-up documents of each kind, and one report where there are none, by schema."""
    made: list[Any] = [
        *(as_summary(make()) for make in (census_document, crime_document, trusted_document)),
        text_summary(comments_document()),
        *(make() for make in (*CERTIFICATIONS.values(), *MONITORINGS.values())),
        *(make() for make in (*SIMULATIONS.values(), synthesised)),
        *(as_comparison(make()) for make in COMPARISONS.values()),
        *(as_mitigation(make()) for make in MITIGATIONS.values()),
    ]
    found: dict[str, list[Any]] = {}
    for summary in made:
        text = result_class(summary.schema_).document.render(summary)
        found.setdefault(summary.schema_, []).append(json.loads(text))
    for name in (
        "demo-metrics",
        "census-frontier",
        "loans-monitor-simulated",
        "generative-llm-after",
    ):
        document = json.loads((REPORTS / name / "result.json").read_text(encoding="utf-8"))
        found.setdefault(document["schema"], []).append(document)
    return found


def places_of(document: Any, before: Place = ()) -> Iterator[Place]:
    """Yield the place of each value of a document."""
    for key, value in _members(document):
        yield (*before, key)
        yield from places_of(value, (*before, key))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    if isinstance(value, list):
        yield from enumerate(value)


def kind_of_place(place: Place) -> str:
    """Return a place with a star for each index: what all members of a list have in common."""
    return ".".join("*" if isinstance(key, int) else key for key in place)


def sampled_places(document: Any, chance: random.Random) -> list[Place]:
    """Return one place of each kind in a document, drawn at random."""
    kinds: dict[str, list[Place]] = {}
    for place in places_of(document):
        kinds.setdefault(kind_of_place(place), []).append(place)
    return [chance.choice(places) for places in kinds.values()]


def opened(document: Any, place: Place) -> tuple[Any, Any]:
    """Return a copy of a document and what holds a place in it, to change that place alone.

    Only what leads to the place is copied: all else is too much to copy for each of many changes.
    """
    changed = copy.copy(document)
    holder = changed
    for key in place[:-1]:
        holder[key] = copy.copy(holder[key])
        holder = holder[key]
    return changed, holder


def damaged(document: Any, place: Place, damage: Any) -> Any | None:
    """Return a copy of a document with one value damaged; None if the damage changes nothing."""
    changed, holder = opened(document, place)
    last: Any = place[-1]
    value = holder[last]
    if damage is DELETED:
        del holder[last]
    elif damage is SHORTENED or damage is LENGTHENED:
        if not isinstance(value, list) or not value:
            return None
        holder[last] = value[:-1] if damage is SHORTENED else [*value, value[-1]]
    elif type(value) is type(damage) and value == damage:
        return None
    else:
        holder[last] = damage
    return changed


def views(text: str) -> None:
    """Make every view of a result that was read: what ``testsgd report`` prints and writes."""
    result = read_result(text)
    assert result.verdict.headline is not None
    assert result.exit_code in range(4)
    result.to_json()
    result.to_html()
    result.to_markdown()
    result._repr_html_()
    repr(result)
    if isinstance(result, CertificationResult):
        result.to_junit()
        result.to_csv()


def outcome(document: Any) -> Exception | None:
    """Return the error of a user that a document gives; None if it can be shown."""
    try:
        views(json.dumps(document))
    except TestSGDError as error:
        return error
    return None
