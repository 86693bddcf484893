"""What a smaller difference may hide is told: one-sided decisions, and other terms."""

from __future__ import annotations

from typing import Any

from mitigation_documents import as_mitigation, one_target_document, texts_document

from testsgd.reporting.wording import MINUS


def told(document: dict[str, Any]) -> str:
    return " ".join(as_mitigation(document).verdict.sentences)


def terms(difference: float) -> dict[str, Any]:
    return {
        "seeds": 900,
        "rate_with": 0.2 + difference,
        "rate_other": 0.2,
        "difference": difference,
        "interval": (difference - 0.01, difference + 0.01),
    }


def test_how_often_either_way_is_decided_is_told() -> None:
    document = one_target_document()
    document |= {
        "favourable_before": 0.241,
        "favourable_after": {"mean": 0.119, "lowest": 0.1, "highest": 0.14},
        "balanced_before": 0.762,
        "balanced_after": {"mean": 0.655, "lowest": 0.65, "highest": 0.66},
    }
    words = told(document)
    assert "Of the held-out rows 11.9% get “>50K” now, before 24.1%" in words
    assert "balanced accuracy is 65.5%, before 76.2%." in words
    assert "Of the held-out texts" in told(texts_document())


def test_what_the_terms_change_by_themselves_is_told() -> None:
    document = texts_document()
    assert "In place of other terms" not in told(document)
    target = document["targets"][0]
    target |= {"terms_before": terms(0.114), "terms_after": terms(0.021)}
    words = told(document)
    assert f"{target['text']} changed the rate by +11.4 points before and by +2.1 points" in words
    assert "That is more" not in words


def test_terms_that_change_more_than_before_are_pointed_out() -> None:
    document = texts_document()
    document["targets"][0] |= {"terms_before": terms(0.05), "terms_after": terms(-0.09)}
    words = told(document)
    assert f"by {MINUS}9.0 points now. That is more: the model makes up with the terms" in words
