"""The HTML report: complete, self-contained, escaped, well formed and small."""

from __future__ import annotations

import re
from collections import Counter
from html import escape, unescape
from pathlib import Path

import pytest
from audit_documents import (
    as_summary,
    census_document,
    crime_document,
    empty_document,
    sampled_document,
)
from page_outline import Outline
from page_parts import section
from text_documents import TEXT_DOCUMENTS
from trusted_documents import TRUST_DOCUMENTS

from testsgd.auditing import AuditResult
from testsgd.auditing.report.wording import findings

EVIL = "<script>alert(1)</script>"
DOCUMENTS = {
    "census": census_document,
    "sampled": sampled_document,
    "empty": empty_document,
    "crime": crime_document,
    **TEXT_DOCUMENTS,
    **TRUST_DOCUMENTS,
}


@pytest.fixture(params=DOCUMENTS, scope="module")
def page(request) -> str:
    return AuditResult.document.to_html(as_summary(DOCUMENTS[request.param]()))


def test_well_formed_with_landmarks_and_headings_in_order(page):
    outline = Outline(page)
    assert outline.tags["main"] == outline.tags["header"] == outline.tags["footer"] == 1
    assert outline.tags["nav"] == outline.tags["h1"] == 1
    steps = [
        later - earlier
        for earlier, later in zip([0, *outline.headings], outline.headings, strict=False)
    ]
    assert max(steps) == 1


def test_every_identifier_is_unique_and_every_link_leads_somewhere(page):
    outline = Outline(page)
    assert max(Counter(outline.identifiers).values()) == 1
    inner = {link[1:] for link in outline.links if link.startswith("#")}
    assert inner <= set(outline.identifiers)


def test_labelled_by_points_to_something(page):
    names = re.findall(r'aria-labelledby="([^"]+)"', page)
    assert set(names) <= set(Outline(page).identifiers)


def test_self_contained_and_with_no_script_but_its_own(page):
    outline = Outline(page)
    assert outline.tags["script"] == outline.tags["img"] == 0
    assert len(outline.scripts) <= 1
    assert outline.policy.count("script-src") == len(outline.scripts)
    assert "unsafe-inline" not in outline.policy.partition("script-src")[2].partition(";")[0]
    assert {link for link in outline.links if not link.startswith("#")} == {"data:,"}
    assert not re.search(r"url\(|@import|@font-face|\ssrc=|\son\w+=", page)
    assert "default-src 'none'" in page


def test_no_python_leaks_into_the_page(page):
    assert not re.search(r"\bNone\b|\bTrue\b|\bFalse\b|Undefined|\bnan\b", Outline(page).text)


def test_size_of_the_largest_report(crime):
    assert len(AuditResult.document.to_html(crime).encode()) < 1_000_000


def test_same_document_same_page(summary):
    assert AuditResult.document.to_html(summary) == AuditResult.document.to_html(summary)


def test_verdict_comes_first(summary):
    text = Outline(AuditResult.document.to_html(summary)).text
    assert text.index(summary.verdict.headline) < text.index("Rows in the file")
    for sentence in summary.verdict.sentences:
        assert sentence in text
    assert "predicted “>50K” in column income, that is, the person earns more" in text


def test_every_distinct_group_has_its_section(summary):
    page = AuditResult.document.to_html(summary)
    top = findings(summary)
    assert len(top) == 10
    for group in top:
        assert f'id="group-{group.rank}"' in page
        assert escape(group.text) in page
    assert page.count('<article class="group"') == 10


def test_ranking_holds_all_groups(summary):
    page = AuditResult.document.to_html(summary)
    ranking = page[page.index('id="ranking"') :].partition("</section>")[0]
    assert ranking.count("<tr>") == len(summary.groups) + 1


def test_exact_audit_says_so(summary):
    text = Outline(AuditResult.document.to_html(summary)).text
    assert "exact: every perturbed row was predicted, no sampling error" in text
    assert "0.9025" not in text


def test_sampled_audit_explains_its_margins_and_lists_what_is_open(sampled):
    text = Outline(AuditResult.document.to_html(sampled)).text
    assert "± 3.1 points (Wilson; 1,000 samples inside, 1,000 outside)" in text
    assert "z = 1.96" in text
    assert "0.9025" in text
    assert "Theorem 4.2" in text
    assert "not decided" in text
    assert "Large enough, but with a sampling margin above" in text
    assert "The gate fails if a difference exceeds 10.0 points." in text


def test_undecided_groups_are_no_findings(sampled):
    page = AuditResult.document.to_html(sampled)
    for group in sampled.groups:
        if not group.decided:
            assert f'id="group-{group.rank}"' not in page


def test_audit_without_groups(empty):
    text = Outline(AuditResult.document.to_html(empty)).text
    assert "Not enough evidence" in text
    assert "no group was large enough to be compared" in text
    assert "Licence not stated" in text
    assert "by rank" not in text


@pytest.mark.parametrize(
    ("status", "name"), [("gate_failed", "Gate failed"), ("gate_passed", "Gate passed")]
)
def test_gate(document, status, name):
    document["verdict"]["status"] = status
    assert name in Outline(AuditResult.document.to_html(as_summary(document))).text


def test_single_sensitive_feature_has_no_heat_map(document):
    document["charts"]["heat_maps"] = []
    document["charts"]["features"] = document["charts"]["features"][:1]
    text = Outline(AuditResult.document.to_html(as_summary(document))).text
    assert "for each value of each sensitive feature" in text
    assert "Two features at a time" not in text


def test_many_heat_maps_are_folded(crime):
    page = AuditResult.document.to_html(crime)
    assert "42 more pairs of features" in page
    assert page.count('<div class="heat">') == 45


def test_empty_cells_and_missing_rates(document):
    document["charts"]["features"][0]["cells"][0] |= {"rate": None, "n": 0}
    document["charts"]["heat_maps"][0]["rates"][0][0] = None
    document["charts"]["heat_maps"][0]["counts"][0][0] = 0
    document["groups"][0]["rules_alone"][0] |= {"rate_out": None, "difference": None}
    page = AuditResult.document.to_html(as_summary(document))
    assert 'class="no" title="no rows"' in page
    assert "its complement is empty" in page


def test_names_are_escaped_everywhere(document):
    for group in document["groups"]:
        group["text"] = EVIL
        for rule in group["rules"]:
            rule |= {"text": EVIL, "feature": EVIL, "values": [EVIL, '"quoted" & <b>'], "low": None}
        for part in group["rules_alone"]:
            part["text"] = EVIL
    for group in document["undecided"]:
        group |= {"text": EVIL, "reason": EVIL}
    data, model, charts = document["data"], document["model"], document["charts"]
    for key in ("name", "title", "description", "licence", "citation", "source", "fingerprint"):
        data[key] = EVIL
    data["notes"] = [EVIL]
    data["label"] = dict.fromkeys(("column", "favourable", "meaning"), EVIL)
    for feature in data["features"]:
        feature |= {"name": EVIL, "domain": EVIL}
    model |= {"name": EVIL, "kind": EVIL, "fingerprint": EVIL, "card": {EVIL: EVIL}}
    document["verdict"] |= {"headline": EVIL, "sentences": [EVIL]}
    document["versions"] = {EVIL: EVIL, "testsgd": EVIL}
    document["seconds"] = {EVIL: 1.0}
    document["created"] = EVIL
    for feature in charts["features"]:
        feature["feature"] = EVIL
        feature["cells"][0]["label"] = EVIL
    for heat_map in charts["heat_maps"]:
        heat_map |= {"row_feature": f'"{EVIL}', "column_feature": EVIL}
        heat_map["row_labels"][0] = heat_map["column_labels"][0] = EVIL
    page = AuditResult.document.to_html(as_summary(document))
    outline = Outline(page)
    assert outline.tags["script"] == outline.tags["b"] - page.count("<b>") == 0
    assert "alert(1)" in outline.text
    assert "&amp;lt;" not in page


def test_long_rules_are_whole_in_the_group_and_short_elsewhere(document):
    values = [f"country number {index}" for index in range(120)]
    text = f"country in {{{', '.join(values)}}}"
    group = document["groups"][0]
    group |= {"text": text, "rules": [{"feature": "country", "values": values, "text": text}]}
    page = AuditResult.document.to_html(as_summary(document))
    assert "country number 118 or country number 119" in page
    # A search in the ranking finds all values; what is shown has the first, and counts the others.
    [name] = [cell for cell in section(page, "ranking").iter("th") if cell.get("title") == text]
    shown = " ".join("".join(name.itertext()).split())
    assert "country number 119" not in shown
    assert len(shown) < 240
    named = len(re.findall(r"country number \d+", shown))
    assert f"{120 - named} others" in shown


def test_unicode_stays(document):
    document["groups"][0]["text"] = "Herkunft = Köln · 東京 🏙"
    document["model"]["name"] = "modèle"
    page = AuditResult.document.to_html(as_summary(document))
    assert "東京 🏙" in page
    assert "modèle on Census income" in unescape(page)


def test_long_list_of_small_groups_is_cut(document):
    document["undecided"] = document["undecided"] * 100
    document["counts"]["undecided_small"] = 9000
    text = Outline(AuditResult.document.to_html(as_summary(document))).text
    assert "9,000 groups are too small, of which 200 are listed." in text


def _luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    linear = []
    for start in (0, 2, 4):
        value = int(digits[start : start + 2], 16) / 255
        linear.append(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_every_colour(scheme):
    templates = Path(__file__).parents[2] / "testsgd" / "report" / "templates"
    css = (templates / "style.css.j2").read_text(encoding="utf-8")
    block = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", block))
    for text in ("ink", "soft", "accent"):
        assert _contrast(colours[text], colours["page"]) >= 4.5
        assert _contrast(colours[text], colours["panel"]) >= 4.5
    for mark in ("less", "more", "point"):
        assert _contrast(colours[mark], colours["panel"]) >= 3
    for level, text in ((4, "on-strong"), (3, "on-middle"), (2, "on-weak"), (1, "on-weak")):
        for side in "lm":
            assert _contrast(colours[f"{side}{level}"], colours[text]) >= 4.5
    assert _contrast(colours["z"], colours["on-weak"]) >= 4.5
