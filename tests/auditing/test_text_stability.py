"""How often groups of texts are found again: against whole audits of texts drawn one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_up_texts import (
    SPECIFICATION,
    audit,
    by_words,
    checked,
    made_up_terms,
    made_up_texts,
    named,
)

from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.outcome import TextAudit
from testsgd.auditing.text.rule_selection import TermSelection
from testsgd.auditing.text.stability import resampled, term_stability
from testsgd.models import load_text_model
from testsgd.scoring import Clusters

TEXTS = made_up_texts(70, 3, (0.6, 0.5, 0.4))
OPTIONS = {"theta": 0.2, "overlap": 0.5}
SAMPLES = 12


def decide(text: str) -> bool:
    """Answers that depend on the words, and on one term."""
    return by_words(text) and "red" not in text.split()


def first_audit(**options):
    return audit(decide, TEXTS, made_up_terms(), **OPTIONS | options)


def drawn_texts(seed: int) -> list[list[str]]:
    """The bootstrap samples, as lists of texts."""
    generator = np.random.default_rng([seed, 7])
    chances = np.full(len(TEXTS), 1 / len(TEXTS))
    drawn = generator.multinomial(len(TEXTS), chances, size=SAMPLES)
    return [list(np.repeat(np.array(TEXTS, dtype=object), often)) for often in drawn]


def known_answers(found):
    model = load_text_model(
        lambda batch: ["good" if decide(text) else "bad" for text in batch], SPECIFICATION
    )
    outcome = audit_texts_exactly(
        TextAudit(
            model=model,
            texts=checked(TEXTS),
            mentions=found.mentions,
            clusters=Clusters.of(np.arange(len(TEXTS))),
            rule_sets=found.rule_sets,
            variants=0,
            parameters=found.parameters,
            exact=True,
        )
    )
    return outcome.known


@pytest.mark.parametrize("by_terms", [False, True])
def test_differences_of_a_sample_are_those_of_an_audit_of_it(by_terms):
    found = first_audit()
    samples = resampled(known_answers(found), by_terms=by_terms, samples=SAMPLES, seed=1)
    groups = named(found)
    for texts, sample in zip(drawn_texts(1), samples, strict=True):
        again = audit(decide, texts, made_up_terms(), **OPTIONS | {"theta": 0.01})
        difference = again.estimates.difference
        if by_terms:
            difference = again.counterfactual.difference
        for terms, place in named(again).items():
            if terms in groups:
                group = groups[terms]
                assert sample.rows_in[group] == again.estimates.rows_in[place]
                assert sample.difference[group] == pytest.approx(difference[place], abs=1e-6)


def overlap(one, other, found, differences) -> float:
    """Jaccard's index of the seeds of two groups that share a term and a direction."""
    (first, of_first), (second, of_second) = zip((one, other), differences, strict=True)
    shared = set(found.rule_set(first).rules) & set(found.rule_set(second).rules)
    if not shared or np.sign(of_first[first]) != np.sign(of_second[second]):
        return 0.0
    sets = found.rule_sets
    rows = [set(sets.category_sets[sets.set_of(group)].rows) for group in (first, second)]
    return len(rows[0] & rows[1]) / len(rows[0] | rows[1])


@pytest.mark.parametrize("rank_by", ["score", "counterfactual"])
def test_shares_are_those_of_a_loop_over_samples(rank_by):
    found = first_audit(rank_by=rank_by, estimand="neighbourhood")
    by_terms = rank_by == "counterfactual"
    original = found.counterfactual.difference if by_terms else found.estimates.difference
    sets, known = found.rule_sets, known_answers(found)
    counts, judged = sets.rule_counts(), np.ones(len(sets), dtype=bool)
    rules = tuple(range(0, len(sets), 3))[:10]
    # Everything varies so little that several groups are selected, not always the same ones.
    selection = TermSelection(sets, np.full(len(sets), 1e-3), critical=2.0)
    shares = term_stability(
        known,
        original,
        rules,
        found.parameters,
        selection=selection,
        judged=judged,
        min_count=14,
        samples=SAMPLES,
    )
    times = dict.fromkeys(rules, 0)
    for sample in resampled(known, by_terms=by_terms, samples=SAMPLES, seed=0):
        size = np.abs(sample.difference)
        order = sorted(
            (group for group in range(len(size)) if sample.rows_in[group] >= 14),
            key=lambda group: (-round(size[group], 12), -sample.rows_in[group], counts[group]),
        )
        effects = np.where(sample.rows_in >= 14, sample.difference, np.nan)
        seeds = sample.rows_in.astype(float)
        again = selection.select(effects, seeds, np.array(order))
        for wanted in times:
            times[wanted] += any(
                overlap(wanted, rule.group, found, (original, sample.difference)) >= 0.5
                for rule in again
            )
    assert shares == {group: count / SAMPLES for group, count in times.items()}
    # Some come back more often than others, or the test shows nothing.
    assert len(set(shares.values())) > 1


def test_copies_are_drawn_together():
    found = first_audit()
    clusters = Clusters.of(np.arange(len(TEXTS)) // 5)
    known = replace(known_answers(found), clusters=clusters)
    drawn = np.random.default_rng([0, 7]).multinomial(14, np.full(14, 1 / 14), size=SAMPLES)
    samples = resampled(known, by_terms=True, samples=SAMPLES, seed=0)
    for times, sample in zip(drawn.astype(np.float32), samples, strict=True):
        for one in found.rule_sets.category_sets:
            assert sample.rows_in[one.first] == times[clusters.of_row][one.rows].sum()


def test_a_planted_term_always_comes_back_and_chance_does_not():
    texts = made_up_texts(200, 1, (0.6, 0.5, 0.4))
    found = audit(
        lambda text: "red" not in text.split() and by_words(text),
        texts,
        made_up_terms(),
        stability=50,
    )
    assert found.rule_set(found.distinct[0]).rules[0].term == "red"
    assert found.stability[found.distinct[0]] == 1
    assert min(found.stability.values()) < 0.9


def test_nothing_is_looked_for_where_samples_were_drawn_or_it_is_switched_off():
    sampled = first_audit(mode="sampled", min_samples=30, error_margin=0.3, stability=5)
    assert (sampled.stability, sampled.stability_samples) == ({}, 0)
    off = first_audit(stability=0)
    assert (off.stability, off.stability_samples) == ({}, 0)
    assert first_audit(stability=None).stability_samples == 200
