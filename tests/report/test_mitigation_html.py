"""The HTML report of a mitigation: complete, self-contained, escaped, well formed and small."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

import pytest
from mitigation_documents import (
    MITIGATIONS,
    as_mitigation,
    few_held_out_document,
    no_candidate_document,
    one_target_document,
    several_targets_document,
    texts_document,
    uncompared_document,
)
from page_outline import Outline
from page_planes import planes_of

from testsgd.mitigation import MitigationResult
from testsgd.report.formatting import MINUS

EVIL = "<script>alert(1)</script>"


@pytest.fixture(params=MITIGATIONS, scope="module")
def page(request: pytest.FixtureRequest) -> str:
    return MitigationResult.document.to_html(as_mitigation(MITIGATIONS[request.param]()))


def part(page: str, name: str) -> str:
    """The section of that name."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found is not None
    return found.group()


def words(page: str) -> str:
    """What the page says; a blank that keeps a figure together is a blank."""
    return Outline(page).text.replace("\N{NO-BREAK SPACE}", " ")


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


def test_labelled_by_points_to_something(page: str) -> None:
    names = re.findall(r'aria-labelledby="([^"]+)"', page)
    assert {name for several in names for name in several.split()} <= set(Outline(page).identifiers)


def test_drawings_are_named_or_hidden_and_tables_have_headings(page: str) -> None:
    for drawing in re.findall(r"<svg[^>]*>\s*(?:<title|[^<]|<(?!title))", page):
        named = 'role="img"' in drawing and drawing.endswith("<title")
        assert named or 'aria-hidden="true"' in drawing or "symbols" in page
    for drawing in re.findall(r'<svg[^>]*role="img"[^>]*>(.{12})', page, re.DOTALL):
        assert drawing.startswith("<title")
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        rows = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        assert 'scope="col"' in rows[0]
        assert all('scope="row"' in row for row in rows[1:])
        assert all(
            re.search(r"\w", heading) for heading in re.findall("<th[^>]*>(.*?)</th>", rows[0])
        )


def test_self_contained_and_without_script(page: str) -> None:
    outline = Outline(page)
    assert outline.tags["script"] == outline.tags["img"] == 0
    assert {link for link in outline.links if not link.startswith("#")} == {"data:,"}
    assert not re.search(r"url\(|@import|@font-face|\ssrc=|\son\w+=", page)
    assert "default-src 'none'" in page


def test_no_python_and_no_dashes_leak_into_the_page(page: str) -> None:
    text = Outline(page).text
    assert not re.search(
        r"\bNone\b|\b(True|False)\b(?!-positive)|Undefined|\bnan\b|\N{EM DASH}", text
    )


def test_size_and_sameness() -> None:
    summary = as_mitigation(several_targets_document())
    page = MitigationResult.document.to_html(summary)
    assert len(page.encode()) < 200_000
    assert page == MitigationResult.document.to_html(summary)


def test_the_three_questions_come_first(page: str) -> None:
    text = words(page)
    asked = ["Did it help?", "What did it cost?", "Did others get worse?"]
    positions = [text.index(question) for question in asked]
    assert positions == sorted(positions)
    assert positions[-1] < text.index("Every rate below")


def test_the_answers_have_the_figures() -> None:
    text = words(MitigationResult.document.to_html(as_mitigation(one_target_document())))
    for figure in (
        "27.9 → 9.2 points difference between the group and everybody else, 9,769 held-out rows",
        "best constant model: 75.90%, “<=50K” for all",
        f"{MINUS}0.18 points of accuracy: 85.26% → 85.08% on 9,769 held-out rows",
        "4 of 1,403 groups have a difference that grew by more than 2.0 points",
        "largest difference of any group, kept model: 29.4 → 15.9 points",
    ):
        assert figure in text


def test_the_verdict_is_told_in_full(page: str) -> None:
    text = words(page)
    for name, make in MITIGATIONS.items():
        verdict = as_mitigation(make()).verdict
        if verdict.headline in text and all(part in text for part in verdict.sentences):
            assert len(verdict.sentences) > 3, name
            return
    raise AssertionError("no headline")


def test_each_target_has_its_section_drawing_and_table() -> None:
    summary = as_mitigation(several_targets_document())
    page = MitigationResult.document.to_html(summary)
    assert page.count("<article") == 4
    for target in summary.targets:
        assert f'id="target-{target.rank}"' in page
        assert escape(target.text) in page
    assert page.count('class="gap-line"') == 4 * 4
    assert "4 of 4 at 10.0 points or less" in words(page)


def test_many_targets_are_folded() -> None:
    document = several_targets_document()
    for place in range(6):
        document["targets"].append(document["targets"][place % 4] | {"rank": 100 + place})
        document["ranges"].append(document["ranges"][place % 4])
        document["written"]["targets"].append(document["written"]["targets"][place % 4])
    page = MitigationResult.document.to_html(as_mitigation(document))
    section = part(page, "before-after")
    assert section.count("<article") == 10
    assert "6 more targets" in section
    assert section.split("<details")[0].count("<article") == 4


def test_the_trade_off_shows_budget_candidates_and_choice() -> None:
    summary = as_mitigation(one_target_document())
    section = part(MitigationResult.document.to_html(summary), "cost")
    chosen = sum(one.chosen for one in summary.candidates)
    assert section.count('href="#diamond"') == chosen == 3
    (plane,) = planes_of(section)
    refused = plane.marks("plane", "use", "soft")
    assert len(refused) == sum(not one.allowed for one in summary.candidates)
    # The ring is the original model.
    assert section.count("<circle") == len(plane.marks("plane", "circle", "origin")) == 1
    # The forbidden area reaches from the budget to the right and over the whole height.
    ((tone, corners),) = plane.lines("areas")
    assert tone == "less"
    (budget,) = plane.marks("plane", "line", "threshold")
    assert min(x for x, _ in corners) == pytest.approx(float(budget["x1"][:-1]), abs=0.051)
    assert max(x for x, _ in corners) == 100
    assert {y for _, y in corners} == {0, 100}
    assert "0.5 points allowed" in words(section)
    assert ">2, kept</text>" in section
    assert f"{len(summary.candidates)} candidates as they were judged" in section


def test_other_groups_are_listed_with_before_and_after() -> None:
    summary = as_mitigation(one_target_document())
    section = part(MitigationResult.document.to_html(summary), "others")
    for group in (*summary.all_rows.worst, *summary.all_rows.increased):
        for rule in group.rules:
            assert escape(rule.text) in section
    assert section.count('class="was"') == len(summary.all_rows.worst) + len(
        summary.all_rows.increased
    )
    assert "The same on the 9,769 held-out rows" in section


def test_methods_stand_side_by_side_and_none_is_praised() -> None:
    section = words(
        part(MitigationResult.document.to_html(as_mitigation(one_target_document())), "methods")
    )
    for figure in (
        "16.7 (16.2 to 17.2)",
        "4.0 (3.5 to 4.5)",
        f"{MINUS}0.75 ({MINUS}0.84 to {MINUS}0.67)",
    ):
        assert figure in section
    assert not re.search(r"(?i)\b(best|better|winner|wins)\b", section)
    missing = words(
        part(MitigationResult.document.to_html(as_mitigation(texts_document())), "methods")
    )
    assert "not installed" in missing
    assert "pip install fairlearn" in missing
    assert 'id="methods"' not in MitigationResult.document.to_html(
        as_mitigation(uncompared_document())
    )


def test_few_held_out_rows_do_not_catch_the_eye() -> None:
    page = MitigationResult.document.to_html(as_mitigation(few_held_out_document()))
    assert page.count(' faint"') == 2
    assert "fewer than 30 on one side: too few to tell" in words(page)
    assert ' faint"' not in MitigationResult.document.to_html(as_mitigation(one_target_document()))


def test_a_model_that_was_kept_as_it_was() -> None:
    page = MitigationResult.document.to_html(as_mitigation(no_candidate_document()))
    text = words(page)
    assert "Original model kept" in text
    assert "The original model was kept" in text
    assert "Retrained model" not in text
    assert 'href="#diamond"' not in page
    assert 'id="samples"' in page


@pytest.mark.parametrize("name", MITIGATIONS)
def test_a_document_with_little_in_it_is_rendered(name: str) -> None:
    document = MITIGATIONS[name]()
    document |= {"candidates": [], "comparisons": [], "seconds": {}, "versions": {}}
    nobody = dict.fromkeys(("rate_in", "rate_out", "difference", "score", "confidence_interval"))
    nobody |= {"n_in": 0, "n_out": 0}
    for target in document["targets"]:
        target |= {"held_out_before": nobody, "held_out_after": nobody, "choice_before": None}
        target["samples"] = []
    for spread in document["ranges"]:
        spread["held_out_score"] = None
    for run in document["runs"]:
        run |= {"held_out_scores": [None] * len(document["targets"]), "worst": None}
    for key in ("all_rows", "held_out"):
        document[key] |= {"worst": [], "increased": [], "increased_count": 0, "groups": 0}
        document[key] |= {"worst_before": None, "worst_after": None}
    text = words(MitigationResult.document.to_html(as_mitigation(document)))
    assert "too few to tell" in text
    assert "nan" not in text.split()
    assert "None" not in text.split()
    assert MitigationResult.document.to_markdown(as_mitigation(document))


def test_texts_are_called_texts() -> None:
    text = words(MitigationResult.document.to_html(as_mitigation(texts_document())))
    assert "held-out texts" in text
    assert not re.search(r"(?i)\b(rows|everybody|people)\b", text)


def test_names_are_escaped_everywhere() -> None:
    document = one_target_document()
    groups = [
        *document["targets"],
        *document["all_rows"]["worst"],
        *document["all_rows"]["increased"],
    ]
    for group in groups:
        group["text"] = EVIL
        group["rules"] = [{"feature": EVIL, "values": [EVIL], "text": EVIL}]
    for one in document["comparisons"]:
        one |= {"name": EVIL, "about": EVIL, "reason": EVIL}
    for one in document["candidates"]:
        one["stage"] = EVIL
    for one in document["targets"][0]["samples"]:
        one["label"] = EVIL
    data = document["data"]
    for key in ("name", "title", "description", "licence", "citation", "source", "fingerprint"):
        data[key] = EVIL
    data["label"] = dict.fromkeys(("column", "favourable", "meaning"), EVIL)
    document["split"] |= {"source": EVIL, "warning": EVIL}
    for model in (document["original"], document["retrained"]):
        model |= {"name": EVIL, "kind": EVIL, "fingerprint": EVIL, "card": {EVIL: EVIL}}
    document |= {"refitted_as": EVIL, "versions": {EVIL: EVIL}, "seconds": {EVIL: 1.0}}
    document["created"] = EVIL
    page = MitigationResult.document.to_html(as_mitigation(document))
    outline = Outline(page)
    assert outline.tags["script"] == 0
    assert "alert(1)" in outline.text
    assert "&amp;lt;" not in page
