"""Summaries of comparisons to render: made up, with numbers that all agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit_documents import census_document

from testsgd.comparison import ComparisonSummary
from testsgd.comparison.report.summary import ComparisonSettings, MethodSummary
from testsgd.comparison.report.verdict import comparison_verdict

ROWS = 32_561
WHITE_MEN = "race = White and gender = Male"
OLD = "age >= 60"
NAMES = {
    "testsgd": "testsgd",
    "themis": "Themis",
    "gerryfair": "GerryFair's auditor",
    "divexplorer": "DivExplorer",
    "individual": "Individual discrimination",
}


def side(n_in: int, rate_in: float | None, rate_out: float | None) -> dict[str, Any]:
    known = rate_in is not None and rate_out is not None
    return {
        "n_in": n_in, "n_out": ROWS - n_in, "share": n_in / ROWS, "rate_in": rate_in,
        "rate_out": rate_out, "difference": rate_in - rate_out if known else None,
    }  # fmt: skip


def finding(
    rank: int, text: str, value: float, measured: dict[str, Any] | None, **more: Any
) -> dict[str, Any]:
    return {
        "rank": rank, "text": text, "value": value, "confidence_interval": None, "side": measured,
        "other_side": None, "nearest": [], "only": None, "in_audit": None, **more,
    }  # fmt: skip


def method(name: str, *findings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "method": name, "title": NAMES[name], "measure": f"what {name} measures",
        "available": True, "note": "", "findings": list(findings), "distinct": len(findings),
        "compared": sum(one["only"] is not None for one in findings),
        "only": sum(one["only"] is True for one in findings), "figures": [], "groups": 5_114,
        "queries": 651_220, "seconds": 1.25, "groups_per_second": 4_091.2, **more,
    }  # fmt: skip


def near(name: str, rank: int | None, similarity: float) -> dict[str, Any]:
    return {"method": name, "rank": rank, "similarity": similarity}


def several_methods() -> list[dict[str, Any]]:
    known = {"text": WHITE_MEN, "rank": 1_204, "similarity": 0.93}
    nobody = {"text": WHITE_MEN, "rank": None, "similarity": 0.01}
    return [
        method(
            "testsgd",
            finding(
                1, WHITE_MEN, 0.294, side(18_000, 0.31, 0.09), only=False,
                confidence_interval=(0.25, 0.33),
                nearest=[near("themis", 1, 0.71), near("gerryfair", 1, 0.62)],
            ),
            finding(
                3, OLD, 0.12, side(2_400, 0.11, 0.21), only=True,
                confidence_interval=(-0.15, -0.09),
                nearest=[near("themis", 1, 0.2), near("gerryfair", 1, 0.1)],
            ),
            distinct=4, groups_per_second=758_200.0,
        ),
        method(
            "themis",
            finding(
                1, "[age >= 80] - [age < 20]", 0.266, side(40, 0.55, 0.2), only=False,
                other_side=side(0, None, 0.2), in_audit=nobody, nearest=[near("testsgd", 1, 0.71)],
            ),
            figures=[
                {"name": "causal discrimination score", "value": 0.148,
                 "meaning": "share of generated rows whose decision changes"},
                {"name": "generated rows", "value": 10_000, "meaning": "rows that were made"},
            ],
            groups=100, groups_per_second=55.5,
        ),
        method(
            "gerryfair",
            finding(
                1, "weighted sum above 0.02", 0.067, side(15_000, 0.35, 0.08), only=True,
                in_audit=known, nearest=[near("testsgd", 1, 0.42), near("themis", 1, 0.1)],
            ),
            groups=None, groups_per_second=None, queries=0,
        ),
        method(
            "divexplorer", available=False, measure="", groups=None, groups_per_second=None,
            note="divexplorer is not installed; run: pip install 'testsgd[divexplorer]'",
            seconds=0.0, queries=0,
        ),
        method(
            "individual",
            finding(1, "all sensitive features", 0.278, None),
            finding(2, "gender alone", 0.101, None),
            groups=None, groups_per_second=None,
        ),
    ]  # fmt: skip


def settings(methods: list[dict[str, Any]]) -> ComparisonSettings:
    return ComparisonSettings(
        methods=[one["method"] for one in methods],
        time_limit=600.0,
        theta=0.05,
        max_features=3,
        bins=None,
        confidence=0.95,
        guarantee="simultaneous",
        seed=0,
        matching_similarity=0.5,
        duplicate_similarity=0.8,
    )


def document(methods: list[dict[str, Any]]) -> dict[str, Any]:
    audit = census_document()
    parts = [MethodSummary.model_validate(one) for one in methods]
    return {
        "schema": "testsgd.comparison/2",
        "created": "2026-11-21T20:10:00+00:00",
        "settings": settings(methods).model_dump(),
        "versions": {"testsgd": "0.5", "divexplorer": "0.2.6"},
        "data": audit["data"],
        "model": audit["model"],
        "mode": "exact",
        "overall_rate": 0.204,
        "methods": methods,
        "verdict": comparison_verdict(parts, settings(methods), label=">50K").model_dump(),
        "seconds": {"testsgd": 1.25, "themis": 2.0, "side by side": 0.01},
    }  # fmt: skip


def alone_document() -> dict[str, Any]:
    audit = several_methods()[0]
    findings = [{**one, "only": None, "nearest": []} for one in audit["findings"]]
    return document([{**audit, "findings": findings, "only": 0, "compared": 0}])


COMPARISONS: dict[str, Callable[[], dict[str, Any]]] = {
    "several": lambda: document(several_methods()),
    "audit alone": alone_document,
    "nothing found": lambda: document([method("testsgd"), method("themis")]),
}


def as_comparison(document: dict[str, Any]) -> ComparisonSummary:
    return ComparisonSummary.model_validate(document)
