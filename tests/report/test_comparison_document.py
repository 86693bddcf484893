"""The JSON document of a comparison: its schema, and reading it back."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from comparison_documents import COMPARISONS, as_comparison

from testsgd.comparison import ComparisonResult
from testsgd.errors import ResultError
from testsgd.report.kinds import read_result


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_document_is_valid_and_read_back_as_it_was(name: str) -> None:
    summary = as_comparison(COMPARISONS[name]())
    text = ComparisonResult.document.render(summary)

    jsonschema.validate(json.loads(text), ComparisonResult.document.schema())
    assert ComparisonResult.document.read(text) == summary
    result = read_result(text)
    assert isinstance(result, ComparisonResult)
    assert result.verdict == summary.verdict


@pytest.mark.parametrize(
    "change",
    [{"schema": "testsgd.audit/2"}, {"methods": None}, {"extra": 1}, {"overall_rate": "half"}],
    ids=str,
)
def test_another_document_is_refused_by_schema_and_reader(change: dict[str, Any]) -> None:
    document = COMPARISONS["several"]() | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, ComparisonResult.document.schema())
    with pytest.raises(ResultError):
        ComparisonResult.document.read(json.dumps(document))


def test_a_key_that_is_wrong_is_named() -> None:
    document = COMPARISONS["several"]()
    document["methods"][0]["seconds"] = "soon"
    with pytest.raises(ResultError, match=r"methods\.0\.seconds") as caught:
        ComparisonResult.document.read(json.dumps(document), where="result.json")
    assert caught.value.where == "result.json"
    assert "run the comparison again" in str(caught.value)


def test_an_unknown_kind_of_result_names_those_known() -> None:
    with pytest.raises(ResultError, match=r"testsgd\.comparison/2"):
        read_result('{"schema": "testsgd.weather/1"}')
