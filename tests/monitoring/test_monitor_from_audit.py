"""What an audit found is watched by monitors that put the same people into the same groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import testsgd
from testsgd.auditing import AuditResult
from testsgd.data import load_specification, load_table
from testsgd.errors import ParameterError, ResultError
from testsgd.expressions import parse
from testsgd.monitoring import MonitorSpecification, monitors_from_audit
from testsgd.monitoring.from_audit import conditions_of
from testsgd.report.summaries import RuleSummary


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    return testsgd.audit(None, None, "demo", estimand="observed")


def test_a_group_has_the_people_that_the_audit_counted(audited: AuditResult) -> None:
    table = load_table(load_specification("demo"), seed=0)
    events = table.frame.assign(decision=list("yn" * (len(table) // 2)))
    distinct = [group for group in audited.summary.groups if group.distinct]
    texts = monitors_from_audit(audited.to_json(), groups=2)
    assert len(texts) == min(2, len(distinct))
    for text, group in zip(texts, distinct, strict=False):
        result = testsgd.monitor(MonitorSpecification.parse(text), events)
        (comparison,) = result.summary.comparisons
        counted = [one.denominator for one in comparison.groups]
        assert counted == [group.n_in, group.n_out]


def test_together_they_keep_the_confidence(audited: AuditResult) -> None:
    texts = monitors_from_audit(audited.to_json(), groups=2)
    errors = [1 - MonitorSpecification.parse(text).evidence.confidence for text in texts]
    assert 0.0499 < sum(errors) < 0.05 + 1e-9


@pytest.mark.parametrize(
    ("rules", "inside", "outside", "neither"),
    [
        (
            [RuleSummary(feature="in come", low=1.1, high=None, text="")],
            [{"in come": 1.1}, {"in come": 2}],
            [{"in come": 1}],
            [{"in come": None}, {}],
        ),
        (
            [RuleSummary(feature="job", values=["<=50K", "a, b", "not"], text="")],
            [{"job": "<=50K"}, {"job": "a, b"}, {"job": "not"}],
            [{"job": "a"}, {"job": None}],
            [],
        ),
        (
            [
                RuleSummary(feature="age", values=["missing"], text=""),
                RuleSummary(feature="code", values=["1", "True"], text=""),
            ],
            [{"age": None, "code": 1}, {"age": None, "code": True}],
            [{"age": 3, "code": 1}, {"age": None, "code": 2}],
            [],
        ),
    ],
)
def test_rules_of_all_kinds_have_a_complement(
    rules: list[RuleSummary],
    inside: list[dict[str, Any]],
    outside: list[dict[str, Any]],
    neither: list[dict[str, Any]],
) -> None:
    first, second = map(parse, conditions_of(rules))
    for events, wanted in ((inside, (1, 0)), (outside, (0, 1)), (neither, (0, 0))):
        for event in events:
            assert (first.holds(event), second.holds(event)) == wanted


def test_what_is_no_audit_of_rows_is_refused(audited: AuditResult, tmp_path: Path) -> None:
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    monitored = testsgd.monitor(watched, [{"group": "a", "decision": 1}])
    with pytest.raises(ParameterError):
        monitors_from_audit(monitored.to_json())
    with pytest.raises(ParameterError):
        monitors_from_audit(audited.to_json(), groups=0)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(ResultError):
        monitors_from_audit(tmp_path / "result.json")
