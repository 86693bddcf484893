"""The JSON document: after its schema, complete, and read back as it was."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

import testsgd
from testsgd.auditing import AuditResult, AuditSummary
from testsgd.data import generate_demo
from testsgd.errors import ResultError

PEOPLE = generate_demo(rows=1500, seed=8)

# A guarantee and stability too, from few bootstrap samples.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 5}
KINDS: dict[str, dict[str, Any]] = {
    "exact": {},
    "gate": {"fail_above": 0.05},
    "pooled": {"mode": "sampled", "error_margin": 0.2, "min_samples": 100},
    "independent": {
        "mode": "sampled",
        "sampling": "independent",
        "error_margin": 0.3,
        "min_samples": 50,
        "theta": 0.6,
    },
    "no groups": {"theta": 0.999},
    "no evidence": {"mode": "sampled", "max_queries": 100},
}


@pytest.fixture(scope="module", params=KINDS)
def result(request: pytest.FixtureRequest) -> AuditResult:
    return testsgd.audit(None, PEOPLE, "demo", **QUICK, **KINDS[request.param])


@pytest.fixture(scope="module")
def written() -> str:
    return testsgd.audit(None, PEOPLE, "demo", **QUICK).to_json()


def test_every_kind_of_result_is_valid(result: AuditResult) -> None:
    jsonschema.validate(
        json.loads(result.to_json()), AuditResult.document.schema(), jsonschema.Draft202012Validator
    )


def test_a_document_is_read_back_as_it_was(result: AuditResult) -> None:
    text = result.to_json()
    assert AuditResult.document.read(text) == result.summary
    assert AuditResult.document.render(AuditResult.document.read(text)) == text


def test_a_document_holds_plain_numbers_only(result: AuditResult) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    # NaN and infinity are no JSON.
    document = json.loads(result.to_json(), parse_constant=refuse)
    assert document["schema"] == "testsgd.audit/2"
    assert document["created"].endswith("+00:00")


def test_each_group_has_what_a_reader_asks_for(written: str) -> None:
    document = json.loads(written)
    demanded = {
        "rank", "rules", "text", "support", "n_in", "n_out", "rate_in", "rate_out", "difference",
        "score", "margin", "confidence_interval", "exact", "samples_in", "samples_out", "distinct",
    }  # fmt: skip
    assert document["groups"]
    for group in document["groups"]:
        assert demanded <= set(group)
        assert len(group["confidence_interval"]) == 2
        for rule in group["rules"]:
            assert rule["feature"] in ("gender", "race", "age")
            if rule["feature"] == "age":
                assert rule["values"] is None
                assert (rule["low"], rule["high"]) != (None, None)
            else:
                assert rule["values"]
                assert (rule["low"], rule["high"]) == (None, None)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "testsgd.audit/0"},
        {"groups": None},
        {"mode": "rough"},
        {"surprise": 1},
        {"overall_rate": "high"},
    ],
)
def test_another_document_is_refused_by_schema_and_reader(
    written: str, change: dict[str, Any]
) -> None:
    document = json.loads(written) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, AuditResult.document.schema())
    with pytest.raises(ResultError) as raised:
        AuditResult.document.read(json.dumps(document), where="there")
    assert str(raised.value).startswith("there: ")


@pytest.mark.parametrize(("key", "value"), [("rank", 0), ("rate_in", 1.5), ("score", -0.1)])
def test_a_figure_out_of_its_range_is_named(written: str, key: str, value: float) -> None:
    document = json.loads(written)
    document["groups"][2][key] = value
    with pytest.raises(ResultError, match=rf"groups\.2\.{key}"):
        AuditResult.document.read(json.dumps(document))


def test_a_summary_cannot_be_changed(written: str) -> None:
    summary: AuditSummary = AuditResult.document.read(written)
    with pytest.raises(ValueError, match="frozen"):
        summary.mode = "sampled"
