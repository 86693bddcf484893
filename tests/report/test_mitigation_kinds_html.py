"""What the HTML report says of the kinds of samples, and of how candidates were judged."""

from __future__ import annotations

import re

import pytest
from mitigation_documents import as_mitigation, one_target_document, texts_document
from page_outline import Outline

from testsgd.mitigation import MitigationResult
from testsgd.report.formatting import NOTHING


def part(page: str, name: str) -> str:
    """The section of that name."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found is not None
    return found.group()


def words(page: str) -> str:
    """What the page says."""
    return Outline(page).text


def test_shapes_have_a_legend_if_there_are_several() -> None:
    document = one_target_document()
    page = MitigationResult.document.to_html(as_mitigation(document))
    shapes = re.findall('href="#symbol-([a-z]+)"/></svg>([a-z]+)', part(page, "cost"))
    assert shapes == [
        ("cross", "none"), ("circle", "counter"), ("square", "odds"), ("triangle", "shifted"),
    ]  # fmt: skip
    for shape, _ in shapes:
        assert page.count(f'id="symbol-{shape}"') == 1
    assert "Samples: none counter odds shifted Accuracy is" in words(part(page, "cost"))
    for one in document["candidates"]:
        one["kind"] = "odds"
    section = part(MitigationResult.document.to_html(as_mitigation(document)), "cost")
    assert "Samples:" not in words(section)


def test_it_is_said_how_accuracy_was_judged() -> None:
    document = one_target_document()
    pages = []
    for document["split"]["evaluated_by"] in ("labels", "probabilities"):
        pages.append(words(MitigationResult.document.to_html(as_mitigation(document))))
    by_labels, estimated = pages
    rows = f"{document['split']['validation']:,} validation rows"
    assert "Points of accuracy lost, validation rows" in by_labels
    assert f"Accuracy is that on the {rows}" in by_labels
    assert "Accuracy change, validation" in by_labels
    assert "estimate" not in by_labels
    assert "Points of accuracy lost, estimated" in estimated
    assert f"Accuracy lost is the larger of two estimates: on the {rows}" in estimated
    assert "Accuracy change, estimated" in estimated
    assert not re.search("(lost|change|loses?), validation", estimated)


def test_runs_and_candidates_tell_kind_and_weight() -> None:
    document = one_target_document()
    document["runs"][0] |= {"kind": "odds", "weight": 2.5}
    document["runs"][1] |= {"kind": None, "weight": None, "samples": None}
    document["candidates"][-1] |= {"kind": "shifted", "weight": 1.436}
    page = MitigationResult.document.to_html(as_mitigation(document))
    runs, candidates = (
        re.findall("<tr.*?</tr>", re.findall("<table.*?</table>", part(page, key), re.DOTALL)[-1],
                   re.DOTALL)
        for key in ("runs", "cost")
    )  # fmt: skip
    assert "<td>odds, 2.5</td>" in runs[1]
    assert "odds" not in runs[2]
    assert "none" in runs[2]
    assert re.search(r'<td>shifted</td>\s*<td class="n">[0-9,]+</td>\s*<td class="n">1.44</td>',
                     candidates[-1])  # fmt: skip


def test_samples_are_told_apart_by_where_their_label_is_from() -> None:
    document = one_target_document()
    for one in document["targets"][0]["samples"]:
        one |= {
            "kind": "shifted", "weight": 2.5, "added": 1_000, "relabelled": 230, "anchors": 129,
            "drawn": 8_192, "distinct": 7_003, "counter_labelled": 3_001, "seeds": 4_004,
        }  # fmt: skip
    section = part(MitigationResult.document.to_html(as_mitigation(document)), "samples")
    row = words(re.findall("<tr.*?</tr>", section, re.DOTALL)[1])
    assert row.split("1 shifted, 2.5")[1].split()[1:] == (
        ["4,004", "8,192", "3,001", "of", "7,003", "1,000", "641", "230", "129"]
    )
    document["targets"][0]["samples"][0] |= {"added": 0, "relabelled": 0, "anchors": 0}
    section = part(MitigationResult.document.to_html(as_mitigation(document)), "samples")
    row = words(re.findall("<tr.*?</tr>", section, re.DOTALL)[1])
    assert row.split()[-4:] == ["0", NOTHING, NOTHING, NOTHING]


@pytest.mark.parametrize("soften", [True, False])
def test_softened_labels_are_explained_if_there_are_any(soften: bool) -> None:
    for make, what in (
        (one_target_document, "cross-fitted"),
        (texts_document, "its own earlier scores"),
    ):
        document = make()
        document["settings"]["soften"] = soften
        meaning = words(part(MitigationResult.document.to_html(as_mitigation(document)), "meaning"))
        assert ("Softened labels" in meaning) is soften
        assert (what in meaning) is soften
    # From new weights a network of texts learns the labels.
    document["settings"] |= {"soften": True, "from_scratch": True}
    meaning = words(part(MitigationResult.document.to_html(as_mitigation(document)), "meaning"))
    assert "Softened labels" not in meaning


def test_candidates_that_decide_one_way_only_are_told_apart() -> None:
    document = one_target_document()
    page = MitigationResult.document.to_html(as_mitigation(document))
    assert "one-sided" not in words(page)
    assert "grey ones elsewhere" not in words(page)
    refused = [one for one in document["candidates"] if one["allowed"] and not one["chosen"]][:3]
    for one in refused:
        one["allowed"] = False
    section = words(part(MitigationResult.document.to_html(as_mitigation(document)), "cost"))
    assert len(re.findall(r" refused\b", section)) == 3 + 1
    assert "grey ones elsewhere were refused" in section


def test_the_kinds_that_were_tried_are_explained() -> None:
    document = one_target_document()
    meaning = words(part(MitigationResult.document.to_html(as_mitigation(document)), "meaning"))
    for kind in ("counter", "odds", "shifted"):
        assert f"Kind of samples: {kind}" in meaning
    assert "Kind of samples: anchored" not in meaning
    document["candidates"][0]["kind"] = "anchored"
    meaning = words(part(MitigationResult.document.to_html(as_mitigation(document)), "meaning"))
    assert "Kind of samples: anchored" in meaning
