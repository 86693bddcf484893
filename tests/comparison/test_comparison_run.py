"""All methods run on one subject, the audit first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_up_rows import (
    SPECIFICATION,
    finding,
    loaded,
    parameters,
    people,
    result,
    strict_with_young_women,
    table,
)

import testsgd
from testsgd.baselines import METHODS, BaselineResult, Subject
from testsgd.comparison.run import compare_methods
from testsgd.comparison.testsgd_method import resolve_methods, time_search
from testsgd.errors import ParameterError


class Stub:
    """Notes what it is asked to run."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float | None]] = []
        self.subject: Subject | None = None

    def __call__(
        self, name: str, subject: Subject, *, time_limit: float | None = None
    ) -> BaselineResult:
        self.asked.append((name, time_limit))
        self.subject = subject
        if name == "divexplorer":
            return result(name, available=False, note="pip install 'testsgd[divexplorer]'")
        return result(name, finding(np.arange(400) < 100))


def test_each_method_is_run_once_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    run, seen = Stub(), []
    monkeypatch.setattr("testsgd.comparison.run.run_baseline", run)
    comparison = compare_methods(
        loaded(),
        table(),
        parameters(max_features=1, seed=7),
        resolve_methods(None),
        time_limit=9.0,
        progress=lambda *step: seen.append(step),
    )

    assert run.asked == [(name, 9.0) for name in METHODS]
    assert [method.method for method in comparison.methods] == ["testsgd", *METHODS]
    assert run.subject is not None
    assert (run.subject.max_features, run.subject.seed, run.subject.min_count) == (1, 7, 20)
    assert set(comparison.seconds) == {"testsgd", *METHODS, "side by side"}
    assert seen[-1] == ("other methods", len(METHODS), len(METHODS))


def test_the_decisions_of_the_subject_are_those_of_the_model() -> None:
    comparison = compare_methods(loaded(), table(), parameters(), ["testsgd"])

    granted = strict_with_young_women(people()) == "yes"
    np.testing.assert_array_equal(comparison.subject.decisions, granted)
    assert len(comparison.methods) == 1
    assert comparison.methods[0].queries == comparison.audit.queries


def test_the_search_alone_finds_as_many_groups_as_the_audit() -> None:
    comparison = compare_methods(loaded(), table(), parameters(), ["testsgd"])

    groups, seconds = time_search(comparison.subject)
    assert groups == len(comparison.audit.rule_sets)
    assert seconds > 0
    assert comparison.methods[0].groups_per_second is not None


def test_one_call_from_data_frame_to_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testsgd.comparison.run.run_baseline", Stub())
    outcome = testsgd.compare(
        strict_with_young_women, people(), SPECIFICATION, theta=0.05, replicates=50, stability=0
    )

    summary = outcome.summary
    assert summary.methods[0].findings[0].text == "gender = f and age < 40"
    missing = next(method for method in summary.methods if not method.available)
    assert "pip install 'testsgd[divexplorer]'" in missing.note
    assert outcome.verdict.exit_code == 0
    read = testsgd.ComparisonResult.from_json(outcome.to_json())
    assert read.summary == summary
    assert read.comparison is None
    assert "loans" in repr(read)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"methods": "thermos"}, "the method 'thermos' is unknown"),
        ({"time_limit": 0}, "not a positive number of seconds"),
        ({"holdout": 0.5}, "look at the same rows"),
        ({"limit": 0}, "not a whole number"),
        ({"thetta": 0.1}, "there is no parameter 'thetta'"),
    ],
)
def test_mistakes(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        testsgd.compare(strict_with_young_women, people(), SPECIFICATION, **given)


def test_texts_are_refused() -> None:
    description = {
        "dataset": {"name": "reviews"},
        "text": {},
        "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    }
    with pytest.raises(ParameterError, match="'reviews' is a data set of texts"):
        testsgd.compare(lambda texts: ["good"] * len(texts), ["A film."], description)
