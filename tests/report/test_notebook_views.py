"""What a notebook shows of a result: a small part of a page, without a script."""

from __future__ import annotations

import html
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest
from audit_documents import as_summary, census_document
from comparison_documents import alone_document, as_comparison
from mitigation_documents import as_mitigation, one_target_document
from monitor_documents import alarmed
from shield_documents import simulated, synthesised
from text_documents import large_comments_document, text_summary

from testsgd import AuditResult
from testsgd.auditing.report.summary import AuditSummary
from testsgd.comparison import ComparisonResult
from testsgd.mitigation import MitigationResult
from testsgd.monitoring import MonitorResult
from testsgd.report.formatting import percent
from testsgd.report.results import DocumentResult
from testsgd.shielding import ShieldResult, SimulationResult

MOST = 200_000
HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&"


class Fragment(HTMLParser):
    """Reads a part of a page; fails where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.style = ""
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attributes}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            self.style += data
        else:
            self.words += f" {data.strip()}"


def fragment_of(result: DocumentResult[Any]) -> tuple[str, Fragment]:
    text = result._repr_html_()
    return text, Fragment(text)


RESULTS: list[DocumentResult[Any]] = [
    AuditResult(as_summary(census_document())),
    AuditResult(text_summary(large_comments_document())),
    ComparisonResult(as_comparison(alone_document())),
    MitigationResult(as_mitigation(one_target_document())),
    MonitorResult(alarmed()),
    ShieldResult(synthesised()),
    SimulationResult(simulated()),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_every_result_is_a_small_part_of_a_page(result: DocumentResult[Any]) -> None:
    text, fragment = fragment_of(result)
    assert len(text.encode()) < MOST
    assert result.verdict.headline in fragment.words
    assert not set(fragment.tags) & {"script", "html", "body", "head", "link", "iframe", "a"}
    # Two results in one notebook must not share identifiers, and nothing may run.
    assert "id" not in fragment.attributes
    assert not any(name.startswith("on") for name in fragment.attributes)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_its_style_is_for_nothing_else_on_the_page(result: DocumentResult[Any]) -> None:
    _, fragment = fragment_of(result)
    rules = [line for line in fragment.style.splitlines() if line.strip()]
    assert len(rules) > 5
    for rule in rules:
        selectors = rule.partition("{")[0].split(",")
        assert all(selector.strip().startswith(".testsgd-result") for selector in selectors)
    assert "http" not in fragment.style
    assert "url(" not in fragment.style


def test_an_audit_shows_its_groups_and_the_rates_by_feature(summary: AuditSummary) -> None:
    _, fragment = fragment_of(AuditResult(summary))
    words = " ".join(fragment.words.split())
    first = summary.groups[0]
    for rule in first.rules:
        assert rule.text in words
    assert percent(first.rate_in) in words
    assert percent(first.rate_out) in words
    for feature in summary.charts.features:
        assert feature.feature in words
        for cell in feature.cells:
            if cell.n and cell.confidence_interval:
                low, high = cell.confidence_interval
                assert cell.label in words
                assert f"{percent(low)} to {percent(high)}" in words


def hostile(name: str, *, values: int = 2) -> AuditSummary:
    """Return an audit in which a name stands wherever a user's text can."""
    document = census_document()
    document["data"]["title"] = document["model"]["name"] = name
    document["verdict"]["headline"] = name
    document["verdict"]["sentences"] = [name] * 30
    for group in document["groups"]:
        group["text"] = name
        for rule in group["rules"]:
            rule["text"] = rule["feature"] = name
    cell = document["charts"]["features"][0]["cells"][0]
    document["charts"]["features"] = [
        {"feature": name, "cells": [{**cell, "label": name}] * values}
    ] * 40
    return as_summary(document)


def test_names_of_a_user_are_text_and_nothing_else() -> None:
    text, fragment = fragment_of(AuditResult(hostile(HOSTILE)))
    assert HOSTILE not in text
    assert html.escape(HOSTILE, quote=False).split("'")[0] in text
    assert not set(fragment.tags) & {"script", "img"}
    assert "<script>" in fragment.words


def test_it_is_small_whatever_the_result_holds() -> None:
    for name in ("x" * 50_000, "&" * 50_000, "word " * 10_000):
        text, _ = fragment_of(AuditResult(hostile(name, values=500)))
        assert len(text.encode()) < MOST
