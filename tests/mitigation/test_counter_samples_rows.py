"""Counter-labelled samples of rows: one step from their seed, in its group, with the label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from neighbours_by_hand import (
    ROWS,
    SPECIFICATION,
    draw_samples,
    keys_of,
    model_of,
    neighbourhood,
    rows_of,
    same_cell,
    score,
    table_of,
)

from testsgd.data import Table
from testsgd.rules import IntervalRule, RuleSet, ValueRule

GROUP = RuleSet((ValueRule("gender", ("f",)), IntervalRule("age", 4, 9)))
OPTIONS = st.fixed_dictionaries(
    {
        "favourable": st.booleans(),
        "wanted": st.integers(0, 40) | st.just(10**6),
        "max_draws": st.integers(1, 80) | st.just(10**6),
        "fallback": st.sampled_from(["nearest", "none"]),
        "seed": st.integers(0, 1000),
    }
)


def some_seeds(rows: list[Any], chosen: list[int]) -> np.ndarray[Any, np.dtype[np.intp]]:
    return np.array(sorted({place % len(rows) for place in chosen}), dtype=np.intp)


@given(ROWS, st.lists(st.integers(0, 11)), OPTIONS)
def test_every_sample_is_a_neighbour_of_its_seed_with_the_label(rows, chosen, options):
    seeds = some_seeds(rows, chosen)
    samples = draw_samples(rows, seeds=seeds, **options)
    keys = keys_of(samples, rows)  # each is a neighbour of its seed
    assert len(set(keys)) == len(keys) == len(samples), "no sample comes twice"
    assert set(samples.seeds) <= set(seeds)
    assert samples.inputs.columns.tolist() == list(SPECIFICATION.features)
    assert samples.inputs.index.tolist() == list(range(len(samples)))
    decisions = model_of().decisions(samples.inputs) if len(samples) else np.zeros(0, dtype=bool)
    counter = decisions == options["favourable"]
    assert samples.favourable == options["favourable"]
    assert samples.relabelled.tolist() == (~counter).tolist()
    assert samples.relabelled.tolist() == sorted(samples.relabelled), "the relabelled come last"
    for seed, sample in zip(samples.seeds, rows_of(samples.inputs), strict=True):
        for name in SPECIFICATION.sensitive:
            assert same_cell(sample[name], rows[seed][name])


@given(ROWS, OPTIONS)
def test_caps_are_respected(rows, options):
    samples = draw_samples(rows, **options)
    report = samples.report
    assert len(samples) <= options["wanted"]
    assert report.distinct <= report.drawn <= options["max_draws"]
    assert report.drawn <= 6 * len(rows)
    assert report.seeds == len(rows)
    assert report.relabelled == samples.relabelled.sum()
    assert report.counter_labelled >= (~samples.relabelled).sum()
    if options["fallback"] == "none":
        assert report.relabelled == 0
    if report.relabelled:
        assert report.exhausted, "labels are changed only if there is no other way"
        assert report.counter_labelled < options["wanted"]
    if len(samples) < options["wanted"]:
        assert report.exhausted
        assert report.drawn == min(options["max_draws"], 6 * len(rows))


@given(ROWS, st.booleans(), st.sampled_from(["nearest", "none"]), st.integers(0, 100))
def test_a_whole_neighbourhood_is_seen(rows, favourable, fallback, seed):
    samples = draw_samples(rows, favourable=favourable, fallback=fallback, seed=seed)
    everything = neighbourhood(rows, list(range(len(rows))))
    wanted = {key for key, row in everything.items() if (score(row) > 0.5) == favourable}
    keys = keys_of(samples, rows)
    kept = [key for key, other in zip(keys, samples.relabelled, strict=True) if not other]
    assert set(kept) == wanted
    assert set(keys) == (wanted if fallback == "none" else set(everything))
    report = samples.report
    assert (report.distinct, report.counter_labelled) == (len(everything), len(wanted))
    assert report.drawn == 6 * len(rows)
    assert report.exhausted


@given(ROWS, OPTIONS)
def test_samples_are_in_the_groups_of_their_seeds(rows, options):
    table = table_of(rows)
    samples = draw_samples(rows, **options)
    again = Table(SPECIFICATION, samples.inputs, None)
    assert GROUP.matches(again).tolist() == GROUP.matches(table)[samples.seeds].tolist()


@given(ROWS, OPTIONS)
def test_what_was_changed_is_told(rows, options):
    samples = draw_samples(rows, **options)
    for change, seed, sample in zip(
        samples.changes, samples.seeds, rows_of(samples.inputs), strict=True
    ):
        told = [
            f"{name}: {cell_text(rows[seed][name])} to {cell_text(sample[name])}"
            for name in sample
            if not same_cell(rows[seed][name], sample[name])
        ]
        assert [change] == (told or [""])


def cell_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{float(cell):.4f}".rstrip("0").rstrip(".")


@given(ROWS, OPTIONS)
def test_nothing_that_was_given_is_changed(rows, options):
    table, seeds = table_of(rows), np.arange(len(rows))
    before = table.frame.copy(deep=True)
    samples = draw_samples(rows, table=table, seeds=seeds, **options)
    for name in samples.inputs:
        samples.inputs[name] = None
    pd.testing.assert_frame_equal(table.frame, before)
    assert seeds.tolist() == list(range(len(rows)))


def test_a_table_in_which_nothing_may_be_moved_has_its_rows_for_samples():
    specification = SPECIFICATION.model_copy(
        update={
            "features": {name: SPECIFICATION.features[name] for name in SPECIFICATION.sensitive}
        }
    )
    frame = pd.DataFrame({"gender": ["f", "m", "f"], "age": [1, 2, 3]})
    table = Table(specification, frame, None, {"gender": 0, "age": 0})
    samples = draw_samples([], table=table, seeds=np.arange(3), model=model_of(lambda row: 0.9))
    assert sorted(samples.seeds) == [0, 1, 2]
    assert set(samples.changes) == {""}
    assert (samples.report.drawn, samples.report.distinct) == (6, 3)


def test_without_seeds_there_are_no_samples():
    rows = [{"gender": "f", "wage": 1, "age": 4, "share": 0.5, "town": "north"}]
    samples = draw_samples(rows, seeds=np.zeros(0, dtype=np.intp))
    assert len(samples) == 0
    assert samples.inputs.columns.tolist() == list(rows[0])
    assert samples.report.exhausted
