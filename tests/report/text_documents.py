"""Summaries of audits of texts to render: made-up comments, whose numbers all agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod, sqrt
from typing import Any

from testsgd.auditing.report.summary import AuditSummary

TEXTS = 20_000
LABEL = "toxic"
BASE = 0.08

# Term, its mentions in the texts, how much it adds to the rate, what else it means.
Line = tuple[str, int, float, str]
LINES: dict[str, list[Line]] = {
    "gender": [
        ("gay", 900, 0.06, "also a first name"),
        ("lesbian", 300, 0.05, ""),
        ("straight", 1_400, -0.01, "also a direction"),
        ("nonbinary", 0, 0.0, ""),
    ],
    "religion": [
        ("taoist", 40, 0.02, ""),
        ("catholic", 800, -0.01, ""),
        ("sikh", 260, -0.03, ""),
    ],
    "age": [("old", 2_500, 0.0, "also of things"), ("middle aged", 30, -0.02, "")],
    "origin": [("martian", 90, 0.0, "")],
}
# Texts with a term of each of some categories, and what such texts have in common.
Seeds = dict[tuple[str, ...], tuple[int, float]]
SEEDS: Seeds = {
    ("gender",): (2_200, 0.03),
    ("religion",): (1_000, 0.01),
    ("age",): (2_100, -0.03),
    ("gender", "religion"): (1_040, 0.05),
    ("gender", "age"): (1_060, 0.0),
}


@dataclass(frozen=True)
class World:
    """The terms of each category, and which categories are frequent, alone and together."""

    lines: dict[str, list[Line]]
    seeds: Seeds

    def rate(self, categories: Sequence[str], terms: Sequence[Line]) -> float:
        """Rate of the favourable label where these terms are put into the seeds."""
        topic = self.seeds[tuple(categories)][1]
        return min(max(BASE + topic + sum(term[2] for term in terms), 0.001), 1.0)


SMALL = World(LINES, SEEDS)


def _large() -> World:
    """As many terms as in the paper's Table 1, and 534 rule sets."""
    sizes = {"gender": 14, "race": 17, "religion": 9, "age": 8}
    lines: dict[str, list[Line]] = {
        name: [
            (f"{name} term {at}", 40 * at, 0.004 * (at % 7 - 3), "also a word" if at % 2 else "")
            for at in range(size)
        ]
        for name, size in sizes.items()
    }
    pairs = [("gender", "race"), ("gender", "age"), ("race", "age")]
    seeds = {(name,): (1_500, 0.01) for name in sizes} | dict.fromkeys(pairs, (1020, 0.02))
    return World(lines, seeds)


LARGE = _large()


def _interval(p: float, n: int, q: float, m: int) -> tuple[float, float]:
    half = 1.96 * sqrt(p * (1 - p) / n + q * (1 - q) / m)
    return (p - q - half, p - q + half)


def _groups(world: World) -> list[dict[str, Any]]:
    found = []
    for categories in world.seeds:
        every = list(product(*(world.lines[name] for name in categories)))
        found += [_group(world, categories, chosen, every) for chosen in every]
    found.sort(key=lambda group: -group["score"])
    return [group | {"rank": rank} for rank, group in enumerate(found, start=1)]


def _group(
    world: World,
    categories: tuple[str, ...],
    chosen: tuple[Line, ...],
    every: list[tuple[Line, ...]],
) -> dict[str, Any]:
    seeds = world.seeds[categories][0]
    inside, outside = world.rate(categories, chosen), BASE
    # Texts that have all of the terms are not outside.
    n_out = TEXTS - min(prod(1 + term[1] for term in chosen), seeds // 10)
    others = [
        world.rate(categories, terms)
        for terms in every
        if all(term is not mine for term, mine in zip(terms, chosen, strict=True))
    ]
    rules = [
        {"feature": category, "values": [term[0]], "text": f"“{term[0]}”"}
        for category, term in zip(categories, chosen, strict=True)
    ]
    alone = [
        {
            "text": rule["text"],
            "n_in": world.seeds[(category,)][0],
            "rate_in": (rate := world.rate((category,), (term,))),
            "rate_out": outside,
            "difference": rate - outside,
        }
        for rule, category, term in zip(rules, categories, chosen, strict=True)
    ]
    other = sum(others) / len(others)
    own = inside - other
    return {
        "rules": rules,
        "text": " and ".join(str(rule["text"]) for rule in rules),
        "support": seeds / TEXTS,
        "n_in": seeds,
        "n_out": n_out,
        "rate_in": inside,
        "rate_out": outside,
        "difference": inside - outside,
        "score": abs(inside - outside),
        "margin": 0.0,
        "margin_method": "none",
        "confidence_interval": _interval(inside, seeds, outside, n_out),
        "exact": True,
        "samples_in": seeds,
        "samples_out": n_out,
        "decided": True,
        "distinct": False,
        "rules_alone": alone if len(alone) > 1 else [],
        "counterfactual": {
            "seeds": seeds,
            "rate_with": inside,
            "rate_other": other,
            "difference": own,
            "confidence_interval": (own - 0.8 / sqrt(seeds), own + 0.6 / sqrt(seeds)),
        },
    }


def _terms(world: World, snippets: int) -> dict[str, Any]:
    categories = []
    for name, terms in world.lines.items():
        mentions = sum(term[1] for term in terms)
        texts = world.seeds[(name,)][0] if (name,) in world.seeds else mentions
        categories.append(
            {
                "name": name,
                "texts": texts,
                "share": texts / TEXTS,
                "mentions": mentions,
                "terms": [
                    {
                        "term": term,
                        "forms": [f"{term}s"],
                        "ambiguous": remark,
                        "texts": min(number, texts),
                        "mentions": number,
                        "share": number / mentions,
                        "rate": world.rate((name,), ((term, number, effect, ""),))
                        if (name,) in world.seeds
                        else None,
                        "known_to_model": term != "taoist",
                        "snippets": [
                            {
                                "before": f"… in the {place}. story they call the neighbour an ",
                                "term": term.upper() if place == 1 else term,
                                "after": ", and no one on the talk page asks why this should …",
                            }
                            for place in range(1, 1 + min(snippets, number))
                        ],
                    }
                    for term, number, effect, remark in terms
                ],
            }
        )
    return {
        "name": "terms of a test",
        "source": "made up",
        "fingerprint": "5c" * 32,
        "texts": 4_700,
        "snippets_shown": snippets > 0,
        "categories": categories,
    }


def _charts(world: World, groups: list[dict[str, Any]]) -> dict[str, Any]:
    features, maps = [], []
    for categories, (seeds, _) in world.seeds.items():
        labels = [[term[0] for term in world.lines[name]] for name in categories]
        if len(categories) == 1:
            cells = [
                {"label": term[0], "n": seeds, "rate": world.rate(categories, (term,))}
                for term in world.lines[categories[0]]
            ]
            features.append({"feature": categories[0], "cells": cells})
        elif len(categories) == 2:
            down, across = (world.lines[name] for name in categories)
            maps.append(
                {
                    "row_feature": categories[0],
                    "column_feature": categories[1],
                    "row_labels": labels[0],
                    "column_labels": labels[1],
                    "rates": [[world.rate(categories, (a, b)) for b in across] for a in down],
                    "counts": [[seeds] * len(across)] * len(down),
                }
            )
    scatter = [{"support": group["support"], "score": group["score"], "n": 1} for group in groups]
    return {"scatter": scatter, "scatter_binned": False, "features": features, "heat_maps": maps}


def _undecided(world: World) -> list[dict[str, Any]]:
    frequent = [name for name in world.lines if (name,) in world.seeds]
    small: list[tuple[str, ...]] = [(name,) for name in world.lines if name not in frequent]
    small += [pair for pair in combinations(frequent, 2) if pair not in world.seeds]
    groups = []
    for categories in small:
        rules = [{"feature": name, "text": f"any term of {name}"} for name in categories]
        groups.append(
            {
                "text": " and ".join(rule["text"] for rule in rules),
                "rules": rules,
                "n_in": 90,
                "support": 90 / TEXTS,
                "reason": "less than 5% of the texts",
            }
        )
    return groups


def comments_document(world: World = SMALL, *, snippets: int = 3) -> dict[str, Any]:
    """An exact audit of comments, free to be changed by a test."""
    groups = _groups(world)
    found = len(groups)
    points = _charts(world, groups)
    groups = groups[:100]
    for group in groups[:30:3]:
        group["distinct"] = True
    undecided = _undecided(world)
    return {
        "schema": "testsgd.audit/2",
        "created": "2026-03-02T14:07:31Z",
        "mode": "exact",
        "sampling": None,
        "parameters": {
            "estimand": "neighbourhood",
            "rank_by": "score",
            "guarantee": "per-group",
            "interval": "wald",
            "stability": 0,
            "theta": 0.05,
            "error_margin": 0.05,
            "min_samples": 1000,
            "confidence": 0.95,
            "mode": "auto",
            "sampling": "pooled",
            "max_queries": 1_000_000,
            "max_features": 3,
            "bins": None,
            "top": 100,
            "seed": 0,
            "overlap": 0.8,
            "fail_above": None,
        },
        "guarantee": {
            "kind": "per-group",
            "confidence": 0.95,
            "method": "each",
            "groups": 1,
            "replicates": 0,
            "significant": 3,
            "significant_complete": True,
            "largest_bound_rank": 1,
        },
        "unjudged": {"fewest": 50, "combinations": 40, "unjudged": 0, "rows": 0, "share": 0.0},
        "versions": {"testsgd": "0.1.0", "python": "3.11.2", "numpy": "2.4.6"},
        "data": {
            "kind": "texts",
            "name": "comments",
            "title": "Comments",
            "description": "Comments that somebody wrote below a story.",
            "licence": "CC0",
            "citation": "made up",
            "source": "comments.csv",
            "fingerprint": "9f2b7c1e" * 8,
            "rows": TEXTS,
            "label": {
                "column": "toxic",
                "favourable": LABEL,
                "meaning": "the comment is rude enough to make others leave",
            },
            "features": [
                {
                    "name": name,
                    "type": "terms",
                    "sensitive": True,
                    "domain": ", ".join(term[0] for term in terms),
                    "missing": TEXTS - 2_000,
                }
                for name, terms in world.lines.items()
            ],
            "notes": ["3 texts are empty"],
        },
        "model": {
            "name": "words",
            "kind": "CNN-LSTM",
            "output": "scores",
            "threshold": 0.5,
            "fingerprint": "03ad55e0" * 8,
            "file_sha256": "7be1d2aa" * 8,
            "accuracy": 0.8514,
            "card": {"trained on": "comments.csv, 15,000 texts"},
        },
        "overall_rate": BASE,
        "counts": {
            "candidates": 4 * found,
            "frequent": found,
            "groups": found,
            "decided": found,
            "undecided_frequent": 0,
            "undecided_small": len(undecided),
        },
        "neighbourhood": 40_000,
        "model_queries": 60_000,
        "seconds": {"terms": 0.41, "predictions of the variants": 14.2},
        "verdict": {
            "status": "reported",
            "exit_code": 0,
            "headline": f"“{LABEL}” comes more often for texts with {groups[0]['text']}.",
            "sentences": ["Taken as a sample, these texts say as much."],
        },
        "groups": groups,
        "undecided": undecided,
        "charts": points,
        "terms": _terms(world, snippets),
    }


def sampled_comments_document() -> dict[str, Any]:
    """The same audit from samples, behind a gate, with a group that stayed undecided."""
    document = comments_document()
    document |= {"mode": "sampled", "sampling": "pooled", "model_queries": 12_000}
    document["parameters"] |= {"mode": "sampled", "fail_above": 0.1}
    document["counts"] |= {"undecided_frequent": 1}
    document["verdict"] |= {"status": "gate_failed", "exit_code": 1}
    for position, group in enumerate(document["groups"]):
        group |= {
            "exact": False,
            "margin": 0.031,
            "margin_method": "wald" if position % 3 else "wilson",
            "samples_in": 1001,
            "samples_out": 5005,
        }
    document["groups"][1] |= {"decided": False, "margin": 0.072}
    return document


def independent_comments_document() -> dict[str, Any]:
    """The same audit with the paper's sampling, which compares nothing in pairs."""
    document = sampled_comments_document() | {"sampling": "independent", "overall_rate": None}
    for group in document["groups"]:
        group |= {"counterfactual": None}
    return document


def discreet_comments_document() -> dict[str, Any]:
    """The same audit for a report that leaves the house: nothing of the texts is shown."""
    return comments_document(snippets=0)


def quiet_comments_document() -> dict[str, Any]:
    """Texts that mention too few terms for any group."""
    document = comments_document()
    document["groups"] = []
    document["charts"] = {"scatter": [], "scatter_binned": False, "features": [], "heat_maps": []}
    document["counts"] |= {"frequent": 0, "groups": 0, "decided": 0}
    for category in document["terms"]["categories"]:
        category |= {"texts": 0, "share": 0.0, "mentions": 0}
        for term in category["terms"]:
            term |= {"texts": 0, "mentions": 0, "share": 0.0, "rate": None, "snippets": []}
    document["terms"]["texts"] = 0
    document["verdict"] = {
        "status": "not_enough_evidence",
        "exit_code": 3,
        "headline": "Not enough evidence to judge any group.",
        "sentences": ["No category has a term in at least 5% of the texts."],
    }
    return document


def large_comments_document() -> dict[str, Any]:
    """An audit with as many terms and rule sets as the paper's lists give."""
    return comments_document(LARGE)


TEXT_DOCUMENTS = {
    "comments": comments_document,
    "sampled comments": sampled_comments_document,
    "independent comments": independent_comments_document,
    "discreet comments": discreet_comments_document,
    "quiet comments": quiet_comments_document,
    "large comments": large_comments_document,
}


def text_summary(document: dict[str, Any] | None = None) -> AuditSummary:
    """Check a document, by default that of the comments, and make it an object."""
    return AuditSummary.model_validate(comments_document() if document is None else document)
