"""Reports say what intervals hold for, how stable a group is, and what goes with it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from audit_documents import as_summary, census_document
from page_outline import Outline
from trusted_documents import SUREST, anytime_document, discoveries_document, trusted_document

from testsgd.auditing import AuditResult
from testsgd.auditing.report import charts as audit_charts
from testsgd.auditing.report.notes import meaning_notes
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.auditing.report.wording import findings
from testsgd.report.charts import StripRow


@pytest.fixture(scope="module")
def trusted() -> AuditSummary:
    return as_summary(trusted_document())


def notes(summary: AuditSummary) -> dict[str, str]:
    return {note.term: note.text for note in meaning_notes(summary)}


def readings(summary: AuditSummary) -> list[str]:
    """Both views as plain text, without the marks of Markdown."""
    markdown = (
        AuditResult.document.to_markdown(summary)
        .replace("\\", "")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
    )
    return [Outline(AuditResult.document.to_html(summary)).text, markdown]


def test_both_views_tell_of_stability_holdout_rules_and_correlated_features(
    trusted: AuditSummary,
) -> None:
    for text in readings(trusted):
        for part in (
            "187 of 200 bootstrap samples",
            "777 rows",
            "Simpler, with at least 90% of the difference",
            "orrelated features, not causes",
            "workclass = Private",
            "Compared with others of the same mix of hours_per_week and education_num",
            "98.7% of the group have somebody like them",
        ):
            assert part in text


def test_a_difference_of_a_hundredth_deviation_is_left_out(trusted: AuditSummary) -> None:
    for text in readings(trusted):
        assert "hours_per_week, mean" in text
        assert "capital_gain, mean" not in text


def test_a_group_that_differs_in_nothing_else_says_so() -> None:
    document = trusted_document()
    for group in document["groups"]:
        if "explanation" in group:
            explanation = group["explanation"]
            explanation["correlated_features"] = explanation["correlated_features"][-1:]
    for text in readings(as_summary(document)):
        assert "In no other feature does it differ by as much as a tenth" in text


def steps(summary: AuditSummary, group: GroupSummary) -> tuple[StripRow, ...]:
    """Return the rows that draw what each rule of a group adds."""
    scale = audit_charts.groups_scale([group])
    figure = audit_charts.group_steps(group, scale, vocabulary(summary))
    assert figure is not None
    ((_, rows),) = figure.charts[0].parts  # type: ignore[union-attr]
    return rows


def ends_of(row: StripRow) -> tuple[float, float]:
    """Return where the bar of a row begins and ends, in the direction in which it leads."""
    (segment,) = row.segments
    ends = segment.start, segment.end
    return ends if row.side == "more" else (ends[1], ends[0])


def test_what_the_rules_add_ends_at_the_difference(trusted: AuditSummary) -> None:
    several = [group for group in findings(trusted) if len(group.rules) > 1]
    assert several
    for group in several:
        rows = steps(trusted, group)
        assert [row.label for row in rows] == [rule.text for rule in group.rules]
        bars = [ends_of(row) for row in rows]
        assert bars[0][0] == 0
        assert bars[-1][1] == pytest.approx(group.difference, abs=2e-3)
        assert all(bar[1] == following[0] for bar, following in pairwise(bars))


def test_steps_that_go_back_and_forth_stay_on_the_scale() -> None:
    document = trusted_document()
    group = next(one for one in document["groups"] if len(one["rules"]) == 2)
    group.setdefault("explanation", {"simplest": None, "correlated_features": []})
    group["explanation"]["shapley_values"] = [
        {"text": "one", "value": 0.8},
        {"text": "other", "value": group["difference"] - 0.8},
    ]
    summary = as_summary(document)
    (found,) = [one for one in summary.groups if one.rank == group["rank"]]
    assert audit_charts.groups_scale([found]).high >= 0.8
    first, second = steps(summary, found)
    assert (first.side, second.side) == ("more", "less")


def test_a_group_whose_rules_are_all_needed_says_so() -> None:
    document = trusted_document()
    for group in document["groups"]:
        if "explanation" in group:
            group["explanation"]["simplest"]["rules"] = group["rules"]
    text = Outline(AuditResult.document.to_html(as_summary(document))).text
    assert "No rule can be left out" in text
    assert "Simpler, with" not in text


def test_the_group_of_the_largest_lower_bound_is_marked_in_the_ranking(
    trusted: AuditSummary,
) -> None:
    page = AuditResult.document.to_html(trusted)
    ranking = page[page.index('id="ranking"') : page.index('id="particulars"')]
    rows = [row for row in ranking.split("<tr>") if "largest lower confidence bound" in row]
    assert len(rows) == 1
    assert f'<td class="n">{trusted.groups[SUREST].rank}</td>' in rows[0]


def test_the_lower_bound_is_a_column(trusted: AuditSummary) -> None:
    assert "31.4" in AuditResult.document.to_html(trusted)
    for text in readings(trusted):
        assert "Lower confidence bound" in text
    for text in readings(as_summary(census_document())):
        assert "Lower confidence bound" not in text


def test_q_values_are_a_column_and_explained() -> None:
    summary = as_summary(discoveries_document())
    for text in readings(summary):
        assert "q-value" in text
        assert "<0.001" in text
        assert "0.012" in text
        assert "discoveries" in text
    assert "at most 5%" in notes(summary)["Multiple comparisons"]


def test_the_notes_say_what_the_intervals_hold_for(trusted: AuditSummary) -> None:
    told = notes(trusted)
    search = told["Multiple comparisons"]
    for part in ("hold at once", "3.66", "1.96", "1,000 bootstrap samples", "613"):
        assert part in search
    assert "24,419" in told["Held-out rows"]
    assert "200" in told["Bootstrap stability"]
    assert {"What each rule adds", "Correlated features, not causes"} <= set(told)
    assert "Conditional difference" in told
    assert "0.95" not in told["Confidence interval"]


def test_the_notes_of_per_group_audits_claim_no_more_than_they_can() -> None:
    for document in (census_document(), anytime_document()):
        told = notes(as_summary(document))
        assert "not for all groups at once" in told["Multiple comparisons"]
        assert "with a confidence of 0.95" in told["Confidence interval"]
        assert not {"Bootstrap stability", "Held-out rows", "What each rule adds"} & set(told)


def test_a_margin_that_holds_whenever_sampling_stops_is_named() -> None:
    summary = as_summary(anytime_document())
    assert "confidence sequence" in notes(summary)["Sampling margin"]
    assert "z = 1.96" not in notes(summary)["Sampling margin"]
    assert (
        "(anytime-valid; 1,000 samples inside"
        in Outline(AuditResult.document.to_html(summary)).text
    )


def test_the_rows_held_out_are_not_called_the_file(trusted: AuditSummary) -> None:
    for text in readings(trusted):
        assert "Rows held out" in text
        assert "Rows in the file" not in text
        assert "613" in text


def test_the_rule_of_the_gate_is_told(trusted: AuditSummary) -> None:
    for text in readings(trusted):
        assert "The gate fails if a lower confidence bound exceeds 10.0 points." in text
    text = Outline(AuditResult.document.to_html(as_summary(anytime_document()))).text
    assert "The gate fails if a difference exceeds 10.0 points." in text


def test_names_in_explanations_are_escaped() -> None:
    evil = "<script>alert(1)</script>"
    document = trusted_document()
    document["parameters"]["condition_on"] = [evil]
    for group in document["groups"]:
        if "explanation" in group:
            found = group["explanation"]
            features = found["correlated_features"]
            features[0]["feature"] = features[1]["value"] = evil
            found["shapley_values"][0]["text"] = found["simplest"]["text"] = evil
            found["conditional"]["features"] = [evil]
    summary = as_summary(document)
    assert Outline(AuditResult.document.to_html(summary)).tags["script"] == 0
    assert not re.search("<script", AuditResult.document.to_markdown(summary))
