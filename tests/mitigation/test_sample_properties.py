"""Samples of every kind: in the group of their seeds, with the label that they should carry."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from neighbours_by_hand import (
    ROWS,
    SPECIFICATION,
    draw_samples,
    keys_of,
    model_of,
    rows_of,
    same_cell,
    table_of,
)
from texts_by_hand import SIDES, TERMS, TEXTS, draw_texts, score, seeds_of, variant

from testsgd.data import Table
from testsgd.mitigation.samples import CounterSamples
from testsgd.rules import IntervalRule, RuleSet, ValueRule, find_mentions

GROUP = RuleSet((ValueRule("gender", ("f",)), IntervalRule("age", 4, 9)))
OPTIONS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["counter", "odds", "shifted"]),
        "favourable": st.booleans(),
        "wanted": st.integers(0, 40) | st.just(10**6),
        "max_draws": st.integers(1, 80) | st.just(10**6),
        "share": st.floats(0, 1),
        "seed": st.integers(0, 1000),
    }
)


def check_labels(samples: CounterSamples, decisions: Any, favourable: bool) -> None:
    """Check labels against what the model says of each sample."""
    assert samples.favourable == favourable
    counter = np.asarray(decisions, dtype=bool) == favourable
    # Whose label is not the counter label by the model is relabelled, or an anchor.
    assert (samples.relabelled | samples.anchors).tolist() == (~counter).tolist()
    assert not (samples.relabelled & samples.anchors).any()
    assert not samples.anchors.any() or samples.kind == "shifted"
    carried = [favourable != anchor for anchor in samples.anchors.tolist()]
    assert samples.carried.tolist() == carried
    if samples.kind != "shifted":
        assert samples.targets.tolist() == [float(favourable)] * len(samples)
    assert ((samples.targets > 0.5) == samples.carried).all()


@given(ROWS, OPTIONS)
def test_rows_stay_in_their_group_and_all_but_anchors_have_the_label(rows, options):
    table = table_of(rows)
    samples = draw_samples(rows, **options)
    keys = keys_of(samples, rows)  # each is a neighbour of its seed
    assert len(set(keys)) == len(keys) <= options["wanted"]
    again = Table(SPECIFICATION, samples.inputs, None)
    assert GROUP.matches(again).tolist() == GROUP.matches(table)[samples.seeds].tolist()
    for seed, sample in zip(samples.seeds, rows_of(samples.inputs), strict=True):
        for name in SPECIFICATION.sensitive:
            assert same_cell(sample[name], rows[seed][name])
    decisions = model_of().decisions(samples.inputs) if len(samples) else []
    check_labels(samples, decisions, options["favourable"])
    assert samples.kind == options["kind"]


@given(TEXTS, SIDES, OPTIONS)
def test_texts_have_the_groups_terms_and_all_but_anchors_have_the_label(texts, side, options):
    samples = draw_texts(texts, side, **options)
    assert set(samples.seeds) <= set(seeds_of(texts, side))
    assert len(set(samples.inputs)) == len(samples) <= options["wanted"]
    for seed, sample in zip(samples.seeds, samples.inputs, strict=True):
        assert sample == (variant(texts[seed]) if side == "group" else texts[seed])
    if side == "group":
        mentions = find_mentions(samples.inputs, TERMS)
        assert mentions.sole().tolist() == [[2, 0]] * len(samples)
    check_labels(samples, [score(text) > 0.5 for text in samples.inputs], options["favourable"])
    assert samples.kind == options["kind"]


@given(ROWS, OPTIONS, st.integers(0, 50))
def test_the_first_samples_keep_what_they_have(rows, options, count):
    samples = draw_samples(rows, **options)
    first = samples.take(count)
    assert len(first) == min(count, len(samples))
    for name in ("seeds", "changes", "relabelled", "targets", "anchors", "carried"):
        assert getattr(first, name).tolist() == getattr(samples, name)[:count].tolist()
    assert rows_of(first.inputs) == rows_of(samples.inputs)[:count]
