"""The HTML report of a comparison: complete, self-contained, escaped and well formed."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from comparison_documents import COMPARISONS, OLD, WHITE_MEN, as_comparison
from page_outline import Outline

from testsgd.comparison import ComparisonResult
from testsgd.report.formatting import NOTHING

EVIL = "<script>alert(1)</script>"


@pytest.fixture(params=COMPARISONS, scope="module")
def page(request: pytest.FixtureRequest) -> str:
    return ComparisonResult.document.to_html(as_comparison(COMPARISONS[request.param]()))


@pytest.fixture(scope="module")
def several() -> str:
    return ComparisonResult.document.to_html(as_comparison(COMPARISONS["several"]()))


def article(page: str, name: str) -> str:
    found = re.search(rf'<article [^>]*id="method-{name}".*?</article>', page, re.DOTALL)
    assert found is not None
    return Outline(found.group()).text


def test_well_formed_with_landmarks_and_headings_in_order(page: str) -> None:
    outline = Outline(page)
    assert outline.tags["main"] == outline.tags["header"] == outline.tags["footer"] == 1
    assert outline.tags["nav"] == outline.tags["h1"] == 1
    steps = [
        later - earlier
        for earlier, later in zip([0, *outline.headings], outline.headings, strict=False)
    ]
    assert max(steps) == 1


def test_every_identifier_is_unique_and_every_link_leads_somewhere(page: str) -> None:
    outline = Outline(page)
    assert max(Counter(outline.identifiers).values()) == 1
    inner = {link[1:] for link in outline.links if link.startswith("#")}
    assert inner <= set(outline.identifiers)


def test_nothing_is_asked_of_a_network_and_nothing_runs(page: str) -> None:
    outline = Outline(page)
    assert outline.tags["script"] == outline.tags["img"] == 0
    assert all(link.startswith(("#", "data:")) for link in outline.links)
    assert "src=" not in page
    assert "url(" not in page


def test_a_pair_shows_both_groups_and_an_empty_one_has_no_rate(several: str) -> None:
    said = article(several, "themis")
    assert "[age >= 80] - [age < 20]" in said
    assert f"the group with the lower rate 0.0% {NOTHING} 20.0% {NOTHING}" in said
    assert "Causal discrimination score: 14.8%. Share of generated rows" in said
    assert "Generated rows: 10,000." in said
    assert "testsgd 1: 0.71" in said


def test_the_audits_findings_have_intervals_and_what_only_it_found_a_mark(several: str) -> None:
    said = article(several, "testsgd")
    assert "+25.0 to +33.0" in said
    assert f"{OLD} only here" in said
    assert f"{WHITE_MEN} only here" not in said
    assert "2 more findings took part" in said


def test_findings_of_others_are_looked_up_in_the_audit(several: str) -> None:
    assert "rank 1,204: 0.93" in article(several, "gerryfair")
    # Hardly near to anything: nothing is named.
    assert "0.01" not in article(several, "themis")


def test_a_method_that_is_not_installed_says_how_to_install_it(several: str) -> None:
    assert "pip install 'testsgd[divexplorer]'" in article(several, "divexplorer")
    assert "It found nothing" not in article(several, "divexplorer")


def test_features_that_change_decisions_are_sentences(several: str) -> None:
    said = article(several, "individual")
    assert "Changing only the sensitive features changes the decision for 27.8%" in said
    assert "Changing only gender changes the decision for 10.1%" in said


def test_a_method_without_findings(page: str) -> None:
    nothing = ComparisonResult.document.to_html(as_comparison(COMPARISONS["nothing found"]()))
    assert "It found nothing." in article(nothing, "themis")
    assert 'id="common-scale"' not in nothing


def test_texts_are_escaped() -> None:
    document = COMPARISONS["several"]()
    document["methods"][0]["findings"][0]["text"] = EVIL
    document["methods"][1]["note"] = EVIL
    document["methods"][1]["figures"][0]["name"] = EVIL
    document["data"]["title"] = EVIL
    page = ComparisonResult.document.to_html(as_comparison(document))

    assert EVIL not in page
    assert "&lt;script&gt;" in page


def test_the_same_document_gives_the_same_page() -> None:
    pages = [
        ComparisonResult.document.to_html(as_comparison(COMPARISONS["several"]())) for _ in range(2)
    ]
    assert pages[0] == pages[1]
