"""Every kind of document: its schema ships, and no other does."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from testsgd.reporting import AUDIT_DOCUMENT, DOCUMENTS, DocumentKind, summary_schema


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_the_schema_that_ships_is_the_one_of_the_classes(kind: DocumentKind[Any]) -> None:
    shipped = kind.file.read_bytes()
    assert shipped == kind.generate_schema().encode(), "run: make schemas"
    jsonschema.Draft202012Validator.check_schema(kind.schema())
    assert kind.schema()["title"] == kind.schema()["properties"]["schema"]["const"] == kind.name


def test_every_schema_that_ships_is_of_a_kind() -> None:
    folder = AUDIT_DOCUMENT.file.parent
    assert sorted(file.name for file in folder.iterdir()) == [
        "audit-1.json",
        "certify-1.json",
        "comparison-1.json",
        "mitigation-1.json",
        "monitoring-1.json",
        "shield-1.json",
        "shield-simulation-1.json",
    ]
    assert {kind.file for kind in DOCUMENTS} == set(folder.iterdir())
    assert summary_schema() == AUDIT_DOCUMENT.schema()
