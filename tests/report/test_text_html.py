"""The HTML report of an audit of texts: what it says of terms, and nothing of rows."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from page_outline import Outline
from text_documents import (
    LARGE,
    TEXT_DOCUMENTS,
    comments_document,
    discreet_comments_document,
    independent_comments_document,
    large_comments_document,
    quiet_comments_document,
    sampled_comments_document,
    text_summary,
)

from testsgd.auditing import AuditResult
from testsgd.auditing.report.wording import findings

EVIL = "<script>alert(1)</script>"


def page_of(document: dict[str, Any]) -> str:
    return AuditResult.document.to_html(text_summary(document))


def words_of(document: dict[str, Any]) -> str:
    return Outline(page_of(document)).text


def spoken(fragment: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", fragment)).split())


def part_of(page: str, start: str, end: str) -> str:
    return page[page.index(f'id="{start}"') : page.index(f'id="{end}"')]


@pytest.mark.parametrize("make", TEXT_DOCUMENTS.values(), ids=TEXT_DOCUMENTS)
def test_nothing_is_said_of_rows_or_people(make: Any) -> None:
    said = words_of(make())
    for word in ("rows?", "people", "everybody", "nobody", "perturbed", "features?"):
        assert not re.search(rf"(?i)\b{word}\b(?! of texts)", said.replace("features of", "")), word


def test_the_report_of_the_papers_terms_is_small() -> None:
    document = large_comments_document()
    assert document["counts"]["groups"] == 534
    assert sum(map(len, LARGE.lines.values())) == 48
    assert len(page_of(document).encode()) < 600_000


def test_the_terms_stand_with_their_numbers_and_doubts() -> None:
    text = spoken(part_of(page_of(comments_document()), "terms", "ranking"))
    assert "4,700 texts of 20,000 mention" in text
    for line in (
        "straight straights ambiguous: also a direction 1,400 1,400 53.8%",
        "taoist taoists not in the vocabulary of the model 40 40 3.6%",
        "lesbian lesbians 300 300 11.5%",
        "nonbinary nonbinarys 0 0 0.0%",
    ):
        assert line in text
    # Most frequent first.
    places = [text.index(f"{term} {term}s") for term in ("straight", "gay", "lesbian", "nonbinary")]
    assert places == sorted(places)
    assert "0.4% of all, with 90 mentions of 1 term. " in text


def test_each_term_is_marked_in_its_places() -> None:
    terms = part_of(page_of(comments_document()), "terms", "ranking")
    # Three places of each term, none of the term without a mention.
    assert terms.count("<mark>") == 9 * 3
    assert terms.count("<mark>GAY</mark>, and no one") == 1
    assert terms.count("<mark>gay</mark>, and no one") == 2


def test_a_report_that_leaves_the_house_shows_no_text() -> None:
    page = page_of(discreet_comments_document())
    assert "<mark>" not in page
    assert "they call the neighbour" not in page
    assert "Places in the texts are left out" in Outline(page).text


def test_counterfactual_effects_stand_beside_the_score() -> None:
    summary = text_summary()
    page = AuditResult.document.to_html(summary)
    top = findings(summary)
    chart = part_of(page, "intervals", "groups")
    assert chart.count('class="ring"') == len(top)
    first = part_of(page, f"group-{top[0].rank}", f"group-{top[1].rank}")
    for said in (
        "21.0% of the group against 8.0% of other texts: 13.0 points more often",
        "12.3% of the same 1,040 texts",
        "effect is +8.7 points",
        "“gay” in place of every term of gender (ambiguous: also a first name)",
        "“taoist” in place of every term of religion (not in the vocabulary of the model)",
        "Generated from the 1,040 texts that have terms of gender and religion, 5.2% of all.",
        "Counterfactual effect +8.7 points",
        "Other terms 12.3%",
        "Against other terms in the same texts 1,040 texts, 21.0% against 12.3%",
    ):
        assert said in spoken(first), said
    assert "Counterfactual effect, points" in Outline(page).text


def test_a_group_of_one_term_is_compared_with_other_terms() -> None:
    page = page_of(comments_document())
    single = next(group for group in findings(text_summary()) if len(group.rules) == 1)
    card = page[page.index(f'id="group-{single.rank}"') :].partition("</article>")[0]
    assert "Against other texts" in card
    assert "Against other terms in the same texts" in card
    assert "Compared in two ways" in card
    assert "single term" not in card


def test_independent_sampling_compares_nothing_in_pairs() -> None:
    page = page_of(independent_comments_document())
    text = Outline(page).text
    assert 'class="ring"' not in page
    assert "Terms alone, points" not in text
    assert "is not known: the same texts with other terms" in text
    assert "independent sampling draws for each group alone" in text


def test_sampled_texts_explain_their_margins() -> None:
    text = words_of(sampled_comments_document())
    assert "± 3.1 points (Wilson; 1,001 samples inside, 5,005 outside)" in text
    assert "first draws of seeds" in text
    assert "texts that are missing from the data" in text


def test_colours_of_a_map_start_from_its_own_mean() -> None:
    document = comments_document()
    # The whole map moved: every term is as far from the others as before.
    moved = comments_document()
    one = moved["charts"]["heat_maps"][0]
    one["rates"] = [[rate + 0.3 for rate in line] for line in one["rates"]]
    shades = [
        re.findall(r'<td class="(\w+)', part_of(page_of(each), "rates", "terms"))
        for each in (document, moved)
    ]
    assert shades[0] == shades[1]
    assert len(set(shades[0])) > 3
    assert "mean 14.8%" in words_of(document)
    assert "mean 44.8%" in words_of(moved)


def test_texts_that_mention_too_little() -> None:
    text = words_of(quiet_comments_document())
    assert "No category has a term in at least 5% of the texts." in text
    assert "0 texts of 20,000 mention" in text


def test_nothing_of_the_texts_or_terms_becomes_markup() -> None:
    document = comments_document()
    document["terms"] |= {"name": EVIL, "source": EVIL}
    for category in document["terms"]["categories"]:
        category["name"] = EVIL
        for term in category["terms"]:
            term |= {"term": EVIL, "forms": [EVIL], "ambiguous": EVIL}
            for place in term["snippets"]:
                place |= dict.fromkeys(("before", "term", "after"), f'{EVIL}" & <b>')
    for group in document["groups"]:
        group["text"] = EVIL
        for rule in group["rules"]:
            rule |= {"feature": EVIL, "values": [EVIL], "text": EVIL}
    page = page_of(document)
    outline = Outline(page)
    assert outline.tags["script"] == 0
    assert outline.tags["mark"] == outline.tags["bdi"] == 27
    assert f"<mark>{escape(EVIL, quote=False)}&#34; &amp; &lt;b&gt;</mark>" in page


def test_the_mark_can_be_read_in_both_schemes() -> None:
    templates = Path(__file__).parents[2] / "testsgd" / "report" / "templates"
    css = (templates / "style.css.j2").read_text(encoding="utf-8")
    light, dark = re.findall(r"--mark: #(\w{6})", css)
    inks = ("1b2127", "e4e8ec")

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for mark, ink in zip((light, dark), inks, strict=True):
        high, low = sorted((luminance(mark), luminance(ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5
