"""Summaries with all that is said of uncertainty, and of what makes up a difference."""

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
        "critical_value": 3.6579,
        "significant": 57,
        "significant_complete": True,
        "largest_bound_rank": groups[SUREST]["rank"],
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
        low, high = group["confidence_interval"]
        group["lower_confidence_bound"] = max(low, -high, 0.0)
        if group["distinct"]:
            group |= {
                "stability": 0.935 - 0.03 * place / len(groups),
                "in_search": {"rank": group["rank"], "score": group["score"], "n_in": 777},
                "explanation": explanation(group),
            }
    groups[SUREST]["lower_confidence_bound"] = 0.3141
    return document


def explanation(group: dict[str, Any]) -> dict[str, Any]:
    """Equal Shapley values, the first rule as the simplest, two correlated features."""
    rules = group["rules"]
    return {
        "shapley_values": [
            {"text": rule["text"], "value": group["difference"] / len(rules)} for rule in rules
        ],
        "simplest": {
            "rules": rules[:1],
            "text": rules[0]["text"],
            "difference": 0.95 * group["difference"],
        },
        "correlated_features": [
            {"feature": "hours_per_week", "value": None, "mean_in": 44.91, "mean_out": 39.1,
             "standardised_difference": 0.4612, "n_known": 48_000},
            {"feature": "workclass", "value": "Private", "mean_in": 0.64, "mean_out": 0.77,
             "standardised_difference": -0.3, "n_known": 46_043},
            {"feature": "capital_gain", "value": None, "mean_in": 1000.4, "mean_out": 1020.0,
             "standardised_difference": -0.01, "n_known": 48_000},
        ],
        "conditional": {
            "features": ["hours_per_week", "education_num"],
            "difference": 0.5 * group["difference"],
            "confidence_interval": [-0.123, -0.045],
            "covered": 0.987,
            "strata": 60,
        },
    }  # fmt: skip


def discoveries_document() -> dict[str, Any]:
    """An audit that controls the false discovery rate."""
    document = census_document()
    document["parameters"] |= {"guarantee": "fdr"}
    document["guarantee"] = {
        "kind": "fdr",
        "confidence": 0.95,
        "method": "false-coverage",
        "groups": document["counts"]["groups"],
        "replicates": 0,
        "critical_value": 2.88,
        "significant": 42,
        "significant_complete": True,
        "largest_bound_rank": None,
    }
    for index, group in enumerate(document["groups"]):
        low, high = group["confidence_interval"]
        group["lower_confidence_bound"] = max(low, -high, 0.0)
        group["q_value"] = 1e-9 if index == 0 else 0.0123
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
        "critical_value": None,
        "significant": 3,
        "significant_complete": False,
        "largest_bound_rank": None,
    }
    for group in document["groups"]:
        group["margin_method"] = "anytime"
    return document


TRUST_DOCUMENTS = {
    "trusted": trusted_document,
    "discoveries": discoveries_document,
    "anytime": anytime_document,
}
