"""What terms change against neutral words is countered by a mitigation of texts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from identity_comments import FAITHS, SPECIFICATION, TERMS, comments, control_effect, world
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import testsgd
from testsgd import MitigationResult
from testsgd.mitigation.control_effects import (
    ControlAnswers,
    choose_control_targets,
    control_scores,
)
from testsgd.mitigation.report.key_figures import key_figures

WHOLE = "any term of faith against a neutral word"
# A bag of words keeps its accuracy only if it calls such comments rude: that is what is to go.
LENIENT: dict[str, Any] = {"max_accuracy_drop": 8.0, "max_balanced_drop": 12.0}


def mitigated(seed: int, **options: Any) -> MitigationResult:
    data, model = world(seed)
    quick = {"runs": 1, "steps": 3, "largest_share": 0.3, "seed": seed, "jobs": 1, **LENIENT}
    settings: dict[str, Any] = {**quick, **options}
    return testsgd.mitigate(model, data, SPECIFICATION, terms=TERMS, compare=(), **settings)


@pytest.fixture(scope="module")
def result() -> MitigationResult:
    return mitigated(0)


def test_a_control_effect_shrinks_on_new_texts(result: MitigationResult) -> None:
    outcome = result.outcome
    assert outcome is not None
    before, after = (control_effect(model.model) for model in (outcome.original, outcome.model))
    # Without control effects in the objective it went from -0.24 to -0.21.
    assert before < -0.2
    assert abs(after) < 0.4 * abs(before)


def test_the_verdict_names_it_in_plain_words(result: MitigationResult) -> None:
    assert WHOLE in result.verdict.headline
    assert (result.verdict.status, result.verdict.exit_code) == ("mitigated", 0)


def test_the_document_has_the_largest_before_and_after(result: MitigationResult) -> None:
    controls = json.loads(result.to_json())["controls"]
    first, last = controls["largest_before"], controls["largest_after"]
    assert controls["decides"]
    assert abs(last["after"]["difference"]) < abs(first["before"]["difference"])
    # Each of six terms and the category.
    assert controls["effects"] == 7
    assert controls["confidence"] == pytest.approx(1 - 0.05 / 7)
    target = controls["targets"][0]
    assert (target["text"], target["effect"] < 0) == (WHOLE, True)
    assert sum(some["added"] for some in target["samples"]) > 0
    assert {some["label"] for some in target["samples"]} == {"fine"}
    low, high = target["held_out"]["change_interval"]
    assert 0 < low <= target["held_out"]["change"] <= high


@pytest.mark.parametrize("view", ["to_markdown", "to_html"])
def test_the_reports_show_it_beside_the_worst_of_all_groups(
    result: MitigationResult, view: str
) -> None:
    shown = getattr(result, view)()
    for words in ("Largest difference of any group", "Largest control effect before", WHOLE):
        assert words in shown


def test_the_first_figure_is_that_of_the_headline(result: MitigationResult) -> None:
    assert result.summary.controls is not None
    change = result.summary.controls.targets[0].held_out
    assert change is not None
    assert change.after is not None
    figure = key_figures(result.summary).figures[0]
    sizes = [abs(item.difference) for item in (change.before, change.after)]
    assert all(f"{100 * size:.1f}" in figure.value for size in sizes)
    assert any(WHOLE in line for line in figure.about)


def test_scores_of_candidates_have_the_control_effects(result: MitigationResult) -> None:
    summary = result.summary
    assert summary.controls is not None
    number = len(summary.targets) + len(summary.controls.targets)
    assert {len(candidate.scores) for candidate in summary.candidates} == {number}


def test_samples_say_what_they_are_for_and_what_was_changed(result: MitigationResult) -> None:
    samples = result.samples
    against = samples[samples["group"] == WHOLE]
    texts, _ = comments(0)
    for sample in against.itertuples():
        faith = set(sample.text.split()) & set(FAITHS)
        assert len(faith) == 1
        assert sample.change in ("", *(f'"{old}" to "{new}"' for old in FAITHS for new in faith))
        assert set(sample.text.split()) - faith == set(texts[sample.seed_row].split()) - set(FAITHS)


def test_a_group_that_was_asked_for_has_the_verdict() -> None:
    result = mitigated(0, group=1)
    assert result.summary.controls is not None
    assert not result.summary.controls.decides
    assert WHOLE not in result.verdict.headline
    assert any(WHOLE in sentence for sentence in result.verdict.sentences)


def has_faith(text: str) -> bool:
    return not set(FAITHS).isdisjoint(text.split())


def test_texts_that_differ_in_nothing_but_having_a_term_are_countered() -> None:
    texts, labels = comments(0)

    def known(text: str) -> str:
        return "any" if has_faith(text) else "none"

    model = make_pipeline(CountVectorizer(preprocessor=known), LogisticRegression())
    data = pd.DataFrame({"text": texts, "label": labels})
    # Every text has a term, and all are called rude: no group has a difference.
    seen = data[[has_faith(text) for text in texts]].reset_index(drop=True)
    result = testsgd.mitigate(
        model.fit(texts, labels),
        seen,
        SPECIFICATION,
        terms=TERMS,
        compare=(),
        runs=1,
        steps=2,
        largest_share=0.3,
        jobs=1,
        **LENIENT,
    )
    assert result.outcome is not None
    before, after = (
        control_effect(some.model) for some in (result.outcome.original, result.outcome.model)
    )
    assert (before, after) == (-1, 0)
    # But the new model calls all texts rude.
    assert result.verdict.exit_code == 1


def test_both_sides_get_opposite_labels() -> None:
    data, model = world(1)
    samples = testsgd.counter_samples(
        model, data, SPECIFICATION, terms=TERMS, side="both", count=40, jobs=1
    )
    against = samples[samples["group"] == WHOLE]
    labels = against.groupby("side")["label"].unique().map(list).to_dict()
    assert labels == {"group": ["fine"], "rest": ["rude"]}
    rest = against[against["side"] == "rest"]["text"]
    assert not any(set(text.split()) & set(FAITHS) for text in rest)


def answers(term: int | None, with_term: float, *controls: float) -> ControlAnswers:
    """Give answers about 100 texts, of which these shares are favourable."""
    texts = np.arange(100) / 100
    return ControlAnswers(
        (0, term),
        tuple(f"control{place}" for place in range(len(controls))),
        (texts < with_term).astype(float),
        np.array([texts < control for control in controls], dtype=float),
    )


def test_an_effect_is_one_against_every_control() -> None:
    listed = [answers(None, 0.2, 0.8, 0.7), answers(0, 0.2, 0.8, 0.2), answers(1, 0.9, 0.5, 0.4)]
    assert [item.difference for item in listed] == pytest.approx([-0.5, 0.0, 0.4])
    targets = choose_control_targets(listed, TERMS, 0.95)
    assert [target.subject for target in targets] == [(0, None), (0, 1)]
    # The samples of the category make all of its terms more favourable, and this one is already.
    assert [target.sampled for target in targets] == [True, True]
    assert [target.counter_label("group") for target in targets] == [True, False]
    assert control_scores(targets, listed) == pytest.approx([0.5, 0.4])


def test_a_change_holds_against_every_control() -> None:
    change, low, high = answers(None, 0.2, 0.8, 0.7).change(answers(None, 0.6, 0.8, 0.7), 0.95)
    assert change == pytest.approx(0.4)
    assert 0 < low < change < high
    change, low, high = answers(None, 0.2, 0.8, 0.7).change(answers(None, 0.2, 0.3, 0.7), 0.95)
    assert change == pytest.approx(0.4)
    assert low < 0
