"""What no result can hold is refused where it is read back, with the key of it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from damaged_documents import opened

from testsgd.data import bundled_folder
from testsgd.errors import ResultError
from testsgd.report.kinds import RESULTS, read_result

Place = tuple[str | int, ...]


def smallest_results() -> dict[str, dict[str, Any]]:
    """Return the smallest result that is bundled of each schema."""
    files = sorted(bundled_folder("reports").glob("*/result.json"), key=lambda p: p.stat().st_size)
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        document = json.loads(file.read_text())
        if document.get("schema") in RESULTS:
            found.setdefault(document["schema"], document)
    return found


DOCUMENTS = smallest_results()


def numbers(value: Any, place: Place = ()) -> Iterator[tuple[Place, int | float]]:
    """Yield every number of a document with the keys that lead to it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers(part, (*place, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from numbers(part, (*place, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, value


def with_value(document: dict[str, Any], place: Place, value: Any) -> str:
    """Return the text of a document with another value at one place."""
    changed, holder = opened(document, place)
    holder[place[-1]] = value
    return json.dumps(changed)


def one_of_each(document: dict[str, Any]) -> dict[tuple[str, ...], Place]:
    """Return the first place of each key, the numbers of list items left out."""
    found: dict[tuple[str, ...], Place] = {}
    for place, _ in numbers(document):
        found.setdefault(tuple(str(key) for key in place if isinstance(key, str)), place)
    return found


def refusal(text: str) -> ResultError:
    with pytest.raises(ResultError) as caught:
        read_result(text)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("schema", sorted(DOCUMENTS))
def test_a_truth_value_is_no_number(schema: str) -> None:
    document = DOCUMENTS[schema]
    places = one_of_each(document)
    assert places
    for place in places.values():
        error = refusal(with_value(document, place, True))
        assert str(place[-1]) in str(error), place


@pytest.mark.parametrize("schema", sorted(DOCUMENTS))
def test_numbers_that_are_none(schema: str) -> None:
    document = DOCUMENTS[schema]
    values = itertools.cycle([math.nan, 1e308, math.inf, -1e308, -math.inf])
    for place, value in zip(one_of_each(document).values(), values, strict=False):
        error = refusal(with_value(document, place, value))
        assert ".".join(map(str, place)) in str(error)


def first_place(document: dict[str, Any], *keys: str) -> Place:
    """Return the first place of a number whose last keys, list items left out, are these."""
    return next(p for names, p in one_of_each(document).items() if names[-len(keys) :] == keys)


AUDIT = DOCUMENTS["testsgd.audit/2"]


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("groups", "rate_in"), 1.5),
        (("groups", "rate_out"), -0.25),
        (("groups", "n_in"), -5),
        (("charts", "features", "cells", "rate"), 2.0),
        (("undecided", "support"), 1.01),
        (("overall_rate",), 7.0),
        (("model_queries",), -1),
    ],
)
def test_rates_and_counts_of_an_audit(keys: tuple[str, ...], value: float) -> None:
    place = first_place(AUDIT, *keys)
    error = refusal(with_value(AUDIT, place, value))
    assert ".".join(map(str, place)) in str(error)


@pytest.mark.parametrize("schema", ["testsgd.audit/2", "testsgd.mitigation/2"])
def test_negative_seconds(schema: str) -> None:
    text = with_value(DOCUMENTS[schema], ("seconds",), {"audit": -3.0})
    assert "seconds" in str(refusal(text))


def test_intervals_that_end_before_they_begin() -> None:
    low = (*first_place(AUDIT, "groups", "confidence_interval")[:-1],)
    error = refusal(with_value(AUDIT, low, [0.5, -0.5]))
    assert "groups.0.confidence_interval" in str(error)
    rule = {"feature": "age", "values": None, "low": 60.0, "high": 40.0, "text": "60 <= age < 40"}
    error = refusal(with_value(AUDIT, ("groups", 0, "rules"), [rule]))
    assert "groups.0.rules.0" in str(error)


@pytest.mark.parametrize("ends", [[0.25, 0.25], [-0.5, 0.5]])
def test_intervals_that_may_be(ends: list[float]) -> None:
    place = (*first_place(AUDIT, "groups", "confidence_interval")[:-1],)
    assert read_result(with_value(AUDIT, place, ends)).summary.groups


def test_whole_numbers_for_decimals_and_all_that_is_bundled() -> None:
    place = first_place(AUDIT, "groups", "rate_in")
    assert read_result(with_value(AUDIT, place, 1)).summary.groups[0].rate_in == 1.0
    for document in DOCUMENTS.values():
        read_result(json.dumps(document))


@pytest.mark.parametrize(
    "words", [("report",), ("monitor", "init", "--from"), ("shield", "init", "--from")]
)
def test_the_command_line(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from testsgd.cli.main import run

    file = tmp_path / "result.json"
    for key, value in (("rate_in", True), ("rate_out", 1e308), ("score", math.nan), ("n_in", -1)):
        file.write_text(with_value(AUDIT, ("groups", 0, key), value))
        with pytest.raises(SystemExit) as ended:
            run([*words, str(file)])
        lines = capsys.readouterr().err.splitlines()
        assert ended.value.code == 2
        assert len(lines) == 1
        assert f"groups.0.{key}" in lines[0]
