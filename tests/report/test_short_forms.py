"""Summaries and results, as an interpreter echoes them: a few lines, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from audit_documents import as_summary, census_document
from pydantic import BaseModel

from testsgd import AuditResult
from testsgd.auditing.report.summary import AuditSummary
from testsgd.report.short_form import LINES, short_form
from testsgd.report.summaries import Part


def parts_of(value: Any) -> Iterator[Part]:
    """Yield a part and all parts inside of it."""
    if isinstance(value, Part):
        yield value
    if isinstance(value, BaseModel):
        for _, inner in value:
            yield from parts_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from parts_of(inner)


def test_every_part_of_a_summary_is_at_most_ten_lines(summary: AuditSummary) -> None:
    parts = list(parts_of(summary))
    assert len(parts) > 100
    for part in parts:
        for text in (repr(part), str(part), f"{part}"):
            assert text.count("\n") < LINES == 10
            assert len(text) < 4000


def test_a_summary_shows_its_verdict_and_how_many_groups_there_are(summary: AuditSummary) -> None:
    shown = repr(summary)
    assert summary.verdict.status in shown
    assert summary.verdict.headline in shown
    assert str(summary.counts.groups) in shown


def test_a_small_part_is_shown_whole(summary: AuditSummary) -> None:
    rule = summary.groups[0].rules[0]
    assert all(f"{name}={value!r}" in repr(rule) for name, value in rule)


@pytest.mark.parametrize("name", ["x" * 100_000, "line\n" * 500, "\x1b[2J\r\n" * 50])
def test_a_long_name_makes_neither_a_summary_nor_a_result_long(name: str) -> None:
    document = census_document()
    document["data"]["name"] = name
    document["verdict"]["headline"] = name
    summary = as_summary(document)
    for text in (repr(summary), repr(summary.data), repr(AuditResult(summary))):
        assert text.count("\n") < LINES
        assert len(text) < 4000
        assert "\x1b" not in text


def test_what_is_left_out_is_counted() -> None:
    text = short_form("Many", [(f"field{number}", "x" * 30) for number in range(50)])
    shown = sum(f"field{number}=" in text for number in range(50))
    assert f"{50 - shown} more" in text
