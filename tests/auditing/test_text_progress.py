"""The share of an audit of texts that is done grows with each batch, and never goes back."""

from __future__ import annotations

from typing import Any

import pytest
from made_up_texts import SPECIFICATION, by_words, checked, made_up_terms, made_up_texts

from testsgd.auditing import AuditParameters
from testsgd.auditing.text.run import run_text_audit
from testsgd.models import load_text_model


def audited(**options: Any) -> dict[str, list[tuple[int, int]]]:
    """Return the calls of progress by phase, after a check that none begins again."""
    phases: dict[str, list[tuple[int, int]]] = {}

    def take(phase: str, done: int, total: int) -> None:
        phases.setdefault(phase, []).append((done, total))

    parameters = AuditParameters(theta=0.05, stability=0, max_features=2, **options)
    run_text_audit(
        load_text_model(
            lambda batch: ["good" if by_words(text) else "bad" for text in batch], SPECIFICATION
        ),
        checked(made_up_texts(300, 1)),
        made_up_terms(),
        parameters,
        progress=take,
    )
    return phases


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 7},
        {"batch_size": 7, "jobs": 3},
        {"holdout": 0.5},
        {"mode": "sampled", "max_queries": 5_000, "batch_size": 50},
        {"mode": "sampled", "sampling": "independent", "max_queries": 60_000},
        {"nondeterministic": 2, "batch_size": 50},
    ],
    ids=str,
)
def test_a_share_never_goes_back(options: dict[str, Any]) -> None:
    phases = audited(**options)
    assert phases
    for calls in phases.values():
        assert len({total for _, total in calls}) == 1
        assert calls == sorted(calls)
        assert all(0 <= done <= total for done, total in calls)
    if options.get("mode") != "sampled":
        assert all(calls[-1][0] == calls[-1][1] for calls in phases.values())


def test_a_portion_is_counted_batch_by_batch() -> None:
    coarse, fine = audited(), audited(batch_size=7)
    assert coarse.keys() == fine.keys()
    most = {name: len(set(phases)) for name, phases in fine.items()}
    assert max(most.values()) > 40
    assert all(len(set(coarse[name])) <= number for name, number in most.items())
