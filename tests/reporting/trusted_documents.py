"""Summaries with all that is said of how far findings can be trusted, and what is behind them."""

from __future__ import annotations

from typing import Any

from audit_documents import census_document, sampled_document

SUREST = 8


def trusted_document() -> dict[str, Any]:
    """An audit whose intervals hold at once, with explanations, stability and held-out rows."""
    document = census_document()
    groups = document["groups"]
    document["parameters"] |= {
        "guarantee": "simultaneous",
        "interval": "auto",
        "holdout": 0.5,
        "stability": 200,
        "condition_on": ["hours_per_week", "education_num"],
        "fail_above": 0.1,
    }
    document["guarantee"] = {
        "kind": "simultaneous",
        "confidence": 0.95,
        "method": "max-statistic",
        "groups": document["counts"]["groups"],
        "replicates": 1000,
        "critical": 3.6579,
        "sure": 57,
        "sure_complete": True,
        "surest_rank": groups[SUREST]["rank"],
    }
    document["holdout"] = {
        "share": 0.5,
        "searched": 24_419,
        "estimated": 24_423,
        "groups": 613,
        "missing": 1,
    }
    document["stability_samples"] = 200
    for place, group in enumerate(groups):
        low, high = group["interval"]
        group["assured"] = max(low, -high, 0.0)
        if group["distinct"]:
            group |= {
                "stability": 0.935 - 0.03 * place / len(groups),
                "found": {"rank": group["rank"], "score": group["score"], "n_in": 777},
                "explanation": explanation(group),
            }
    groups[SUREST]["assured"] = 0.3141
    return document


def explanation(group: dict[str, Any]) -> dict[str, Any]:
    """What is behind a group: equal shares, the first rule as the simplest, two contrasts."""
    rules = group["rules"]
    return {
        "shares": [
            {"text": rule["text"], "share": group["difference"] / len(rules)} for rule in rules
        ],
        "simplest": {
            "rules": rules[:1],
            "text": rules[0]["text"],
            "difference": 0.95 * group["difference"],
        },
        "contrasts": [
            {"feature": "hours_per_week", "value": None, "inside": 44.91, "outside": 39.1,
             "standardised": 0.4612, "known": 48_000},
            {"feature": "workclass", "value": "Private", "inside": 0.64, "outside": 0.77,
             "standardised": -0.3, "known": 46_043},
            {"feature": "capital_gain", "value": None, "inside": 1000.4, "outside": 1020.0,
             "standardised": -0.01, "known": 48_000},
        ],
        "conditional": {
            "features": ["hours_per_week", "education_num"],
            "difference": 0.5 * group["difference"],
            "interval": [-0.123, -0.045],
            "covered": 0.987,
            "strata": 60,
        },
    }  # fmt: skip


def found_document() -> dict[str, Any]:
    """An audit that limits the share of false finds."""
    document = census_document()
    document["parameters"] |= {"guarantee": "fdr"}
    document["guarantee"] = {
        "kind": "fdr",
        "confidence": 0.95,
        "method": "false-coverage",
        "groups": document["counts"]["groups"],
        "replicates": 0,
        "critical": 2.88,
        "sure": 42,
        "sure_complete": True,
        "surest_rank": None,
    }
    for place, group in enumerate(document["groups"]):
        low, high = group["interval"]
        group |= {"assured": max(low, -high, 0.0), "q_value": 1e-9 if place == 0 else 0.0123}
    return document


def anytime_document() -> dict[str, Any]:
    """An audit from samples whose margins hold whenever sampling stopped."""
    document = sampled_document()
    document["parameters"] |= {"guarantee": "per-group", "interval": "auto"}
    document["guarantee"] = {
        "kind": "per-group",
        "confidence": 0.95,
        "method": "each",
        "groups": 1,
        "replicates": 0,
        "critical": None,
        "sure": 3,
        "sure_complete": False,
        "surest_rank": None,
    }
    for group in document["groups"]:
        group["margin_method"] = "anytime"
    return document


TRUST_DOCUMENTS = {
    "trusted": trusted_document,
    "found": found_document,
    "anytime": anytime_document,
}
