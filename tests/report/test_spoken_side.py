"""What follows a headline has the sign of the side that the headline begins with."""

from __future__ import annotations

import pytest
from audit_documents import as_summary, census_document
from page_outline import Outline

from testsgd.auditing import AuditResult
from testsgd.auditing.report.layout import audit_layout
from testsgd.auditing.report.own_effects import OwnEffectSummary, own_effect_sentence
from testsgd.report.blocks import KeyFigures
from testsgd.report.formatting import MINUS, points


@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
def test_the_top_difference_has_the_sign_of_those_who_are_worse_off(outcome: str) -> None:
    document = census_document()
    document["data"]["label"]["outcome"] = outcome
    summary = as_summary(document)
    difference = summary.groups[0].difference
    expected = {"benefit": -abs(difference), "harm": abs(difference), "neither": difference}
    [figures] = [part for part in audit_layout(summary).opening if isinstance(part, KeyFigures)]
    values = {figure.name: figure.value for figure in figures.figures}
    assert values["Top difference"] == points(expected[outcome])
    for view in (AuditResult.document.to_html, AuditResult.document.to_markdown):
        assert points(expected[outcome]) in view(summary)


def test_an_own_effect_is_turned_with_its_difference() -> None:
    effect = OwnEffectSummary(
        difference=0.1,
        confidence_interval=(0.08, 0.12),
        observed_difference=0.25,
        not_given=False,
    )
    sentence = own_effect_sentence(effect, turned=True)
    for number in ("-10.0", "-25.0", "-12.0 to -8.0", "-15.0"):
        assert number in sentence.replace(MINUS, "-")


@pytest.mark.parametrize("complete", [True, False])
def test_a_page_says_how_many_groups_its_ranking_has(complete: bool) -> None:
    document = census_document()
    listed = len(document["groups"])
    document["counts"]["groups"] = listed if complete else 3541
    page = Outline(AuditResult.document.to_html(as_summary(document))).text
    assert ("ull ranking" in page) == complete
    assert (f"{listed} of 3,541" in page) != complete
