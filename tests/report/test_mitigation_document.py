"""The JSON document of a mitigation: after its schema, and read back as it was."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from audit_documents import as_summary, census_document
from mitigation_documents import MITIGATIONS, as_mitigation, one_target_document

from testsgd.auditing import AuditResult
from testsgd.errors import ResultError
from testsgd.mitigation import MitigationResult


@pytest.mark.parametrize("name", MITIGATIONS)
def test_every_kind_of_result_is_valid_and_read_back_as_it_was(name: str) -> None:
    summary = as_mitigation(MITIGATIONS[name]())
    text = MitigationResult.document.render(summary)
    document = json.loads(text)
    jsonschema.validate(
        document, MitigationResult.document.schema(), jsonschema.Draft202012Validator
    )
    assert document["schema"] == "testsgd.mitigation/2"
    assert MitigationResult.document.read(text) == summary
    assert MitigationResult.document.render(MitigationResult.document.read(text)) == text


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "testsgd.mitigation/0"},
        {"targets": None},
        {"chosen_run": "second"},
        {"surprise": 1},
        {"accuracy_before": "high"},
    ],
)
def test_another_document_is_refused_by_schema_and_reader(change: dict[str, Any]) -> None:
    document = (
        json.loads(MitigationResult.document.render(as_mitigation(one_target_document()))) | change
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, MitigationResult.document.schema())
    with pytest.raises(ResultError) as raised:
        MitigationResult.document.read(json.dumps(document), where="there")
    assert str(raised.value).startswith("there: ")


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(ResultError, match=r"there: not valid JSON.*give a result\.json"):
        MitigationResult.document.read("{", where="there")


def test_a_key_that_is_wrong_is_named() -> None:
    document = one_target_document()
    document["runs"][1]["run"] = 0
    with pytest.raises(ResultError, match=r"runs\.1\.run"):
        MitigationResult.document.read(json.dumps(document))


def test_an_audit_is_no_mitigation_and_the_other_way_round() -> None:
    audit = AuditResult.document.render(as_summary(census_document()))
    mitigation = MitigationResult.document.render(as_mitigation(one_target_document()))
    with pytest.raises(ResultError, match=r"testsgd\.audit/2"):
        MitigationResult.document.read(audit)
    with pytest.raises(ResultError, match=r"testsgd\.mitigation/2"):
        AuditResult.document.read(mitigation)
