"""What a verdict says of the samples: how many, of which kind, and where their labels are from."""

from __future__ import annotations

from typing import Any

from mitigation_documents import (
    as_mitigation,
    few_held_out_document,
    one_target_document,
    texts_document,
)

Document = dict[str, Any]


def told(document: Document) -> str:
    return " ".join(as_mitigation(document).verdict.sentences)


def sampled(document: Document, **figures: Any) -> Document:
    """Let all runs have samples with these figures."""
    for target in document["targets"]:
        for one in target["samples"]:
            one |= {"kind": "counter", "added": 40, "relabelled": 0, "anchors": 0, **figures}
    return document


def test_samples_are_counted_with_their_kind_and_weight() -> None:
    words = told(sampled(one_target_document(), kind="odds", weight=2.5))
    assert "40 samples of everybody else were added to the 34,189 training rows in each" in words
    assert "of the kind “odds”, and each counts as much as 2.5 training rows." in words
    words = told(sampled(texts_document(), weight=1.0))
    assert "40 samples of other texts were added to the 14,000 training texts" in words
    assert "counts as much" not in words
    document = sampled(one_target_document(), weight=1.0)
    samples = document["targets"][0]["samples"]
    samples[0] |= {"kind": "shifted", "weight": 58.54, "added": 139}
    words = told(document)
    assert "40 to 139 samples of everybody else were added" in words
    assert "depending on the run" in words
    assert "of the kind “counter” in 2 runs and “shifted” in 1 run" in words
    assert "each counts as much as 1 to 58.5 training rows" in words


def test_all_labels_may_be_those_of_the_original_model() -> None:
    words = told(sampled(one_target_document()))
    assert "The original model gives all of them the label “>50K”, which they carry." in words
    assert "relabelled" not in words
    assert "anchor" not in words


def test_relabelled_samples_are_owned_up_to() -> None:
    document = sampled(few_held_out_document(), relabelled=30)
    words = told(document)
    assert "40 samples of everybody else" in words
    assert "gives 10 of them the label “good” by itself and 30 were relabelled, nearest" in words
    assert "because it gives too few that label" in words
    words = told(sampled(document, relabelled=40))
    assert "gives none of them the label “good” by itself and 40 were relabelled" in words


def test_most_labels_are_the_models_and_some_are_not() -> None:
    """As in a result that once said that all were."""
    document = sampled(one_target_document(), kind="odds", added=1_440, counter_labelled=3_420)
    for one, number in zip(document["targets"][0]["samples"], (249, 239, 253), strict=True):
        one["relabelled"] = number
    words = told(document)
    assert "gives 1,187 to 1,201 of them the label “>50K” by itself" in words
    assert "239 to 253 were relabelled, as they were drawn by the chance" in words
    assert "all of them" not in words


def test_anchors_are_told_of() -> None:
    words = told(sampled(one_target_document(), kind="shifted", relabelled=9, anchors=20))
    assert "gives 11 of them the label “>50K” by itself, 9 were relabelled and 20 are" in words
    assert "anchors, which keep the label that it gives" in words


def test_of_several_kinds_the_labels_of_the_kept_run_are_told() -> None:
    document = sampled(one_target_document(), kind="odds", relabelled=3)
    document["targets"][0]["samples"][1] |= {"kind": "shifted", "relabelled": 7, "anchors": 2}
    words = told(document)
    assert (
        "In run 2, which was kept, the original model gives 31 of them the label “>50K” by "
        "itself, 7 were relabelled and 2 are anchors"
    ) in words


def test_samples_of_both_sides_are_added_up() -> None:
    document = sampled(one_target_document(), kind="odds", relabelled=4)
    samples = document["targets"][0]["samples"]
    other = {"rest": "group", "group": "rest"}[samples[0]["side"]]
    samples += [one | {"side": other, "label": "<=50K", "relabelled": 6} for one in samples]
    words = told(document)
    assert "80 samples were added" in words
    assert (
        "gives 70 of them the label that counters the difference by itself and 10 were relabelled"
    ) in words
