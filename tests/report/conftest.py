"""Fixtures of the tests of reporting."""

from __future__ import annotations

from typing import Any

import pytest
from audit_documents import (
    as_summary,
    census_document,
    crime_document,
    empty_document,
    sampled_document,
)

from testsgd.auditing.report.summary import AuditSummary


@pytest.fixture
def document() -> dict[str, Any]:
    return census_document()


@pytest.fixture
def summary(document: dict[str, Any]) -> AuditSummary:
    return as_summary(document)


@pytest.fixture
def sampled() -> AuditSummary:
    return as_summary(sampled_document())


@pytest.fixture
def empty() -> AuditSummary:
    return as_summary(empty_document())


@pytest.fixture
def crime() -> AuditSummary:
    return as_summary(crime_document())
