"""Every kind of document: its schema ships, and no other does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

import testsgd
from testsgd.report.documents import DocumentKind
from testsgd.report.kinds import RESULTS, result_classes

DOCUMENTS = [result.document for result in result_classes()]


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_the_schema_that_ships_is_the_one_of_the_classes(kind: DocumentKind[Any]) -> None:
    shipped = kind.file.read_bytes()
    assert shipped == kind.generate_schema().encode(), "run: make schemas"
    jsonschema.Draft202012Validator.check_schema(kind.schema())
    assert kind.schema()["title"] == kind.schema()["properties"]["schema"]["const"] == kind.name


def test_every_schema_that_ships_is_of_a_kind() -> None:
    package = Path(testsgd.__file__).parent
    assert {kind.file for kind in DOCUMENTS} == set(package.glob("**/report/*.json"))


def test_the_registry_names_each_document_as_its_class_does() -> None:
    assert [kind.name for kind in DOCUMENTS] == list(RESULTS)
