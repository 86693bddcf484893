"""What is not known is not printed as a number."""

from __future__ import annotations

import pandas as pd

import testsgd


def test_without_any_sample_there_is_no_overall_rate() -> None:
    people = testsgd.generate_demo(rows=200)
    settings = {
        "mode": "sampled",
        "sampling": "independent",
        # Nobody is outside a group that has this share of the rows, so there is no group.
        "theta": 0.999,
    }

    def model(frame: pd.DataFrame) -> list[str]:
        return ["yes"] * len(frame)

    # All rows were asked about as they are, but none of their neighbours was.
    assert testsgd.audit(model, people, "demo", **settings).summary.overall_rate == 1
    result = testsgd.audit(model, people, "demo", estimand="neighbourhood", **settings)

    assert result.verdict.exit_code == 3
    assert result.summary.overall_rate is None
    assert testsgd.AuditResult.from_json(result.to_json()).summary == result.summary
    assert "Overall rate" in result.to_html()
    assert "Overall rate" in result.to_markdown()


def test_each_phase_of_an_exact_audit_has_its_time() -> None:
    result = testsgd.audit(None, None, "demo")

    assert list(result.summary.seconds) == [
        "rows",
        "model check",
        "predictions",
        "rule sets",
        "guarantee",
        "own effects",
        "ranking",
        "rule selection",
        "finer cuts",
        "error rates",
        "explanations",
        "stability",
    ]
