"""Groups of texts found on one part and estimated on the other: against two plain audits."""

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

from testsgd.auditing import AuditParameters
from testsgd.auditing.text import run_text_audit
from testsgd.auditing.text.outcome import paired_confidence
from testsgd.auditing.text.run import chosen_over, split_texts
from testsgd.errors import ParameterError
from testsgd.models import load_text_model
from testsgd.rules import RuleSet
from testsgd.rules.text import find_mentions
from testsgd.scoring import lower_confidence_bound

TEXTS = made_up_texts(240, 4, (0.5, 0.4, 0.3))
OPTIONS = {"theta": 0.05, "replicates": 199}


def decide(text: str) -> bool:
    return by_words(text) and "red" not in text.split()


def halves(share: float = 0.4) -> tuple[list[str], list[str]]:
    searched, kept = split_texts(checked(TEXTS), share, 0)
    return list(searched.texts), list(kept.texts)


def terms_of(rule_set: RuleSet) -> frozenset[tuple[str, str]]:
    return frozenset((rule.category, rule.term) for rule in rule_set.rules)


def test_groups_are_those_of_one_part_and_numbers_those_of_the_other():
    found = audit(decide, TEXTS, made_up_terms(), holdout=0.4, stability=20, **OPTIONS)
    searched, kept = halves()
    assert (len(searched), len(kept)) == (144, 96)
    one = audit(decide, searched, made_up_terms(), stability=20, guarantee="per-group", **OPTIONS)
    other = audit(decide, kept, made_up_terms(), **OPTIONS | {"theta": 0.001})
    assert len(found.rule_sets) == len(one.highlights) > 0
    assert found.holdout is not None
    assert found.holdout.groups == len(one.rule_sets)
    assert (found.holdout.searched, found.holdout.estimated) == (144, 96)
    assert found.rows == 96
    assert found.holdout.missing == 0
    places = named(other)
    for group, where in enumerate(one.highlights):
        assert found.rule_set(group) == one.rule_set(where)
        assert found.stability.get(group) == one.stability.get(where)
        place = places[terms_of(one.rule_set(where))]
        was = found.in_search[group]
        assert was.score == one.estimates.score[where]
        assert was.n_in == one.estimates.rows_in[where]
        assert one.ranking[was.rank - 1] == where
        for name in ("rows_in", "rows_out", "favourable_in", "favourable_out"):
            ours, theirs = getattr(found.estimates, name), getattr(other.estimates, name)
            assert ours[group] == theirs[place]
        for name in ("seeds", "rate_with", "rate_other"):
            ours, theirs = getattr(found.counterfactual, name), getattr(other.counterfactual, name)
            assert ours[group] == theirs[place]
        if group in found.explanations:
            explained = found.explanations[group]
            difference = float(other.estimates.difference[place])
            assert sum(item.value for item in explained.shapley_values) == pytest.approx(difference)
    compared = found.counterfactual
    sizes = lower_confidence_bound(compared.low, compared.high), np.abs(compared.difference)
    in_order = list(zip(*(size[found.ranking].round(9) for size in sizes), strict=True))
    assert in_order == sorted(in_order, reverse=True)
    assert set(found.explanations) == set(found.highlights[:10])
    groups = np.arange(len(found.rule_sets))
    assert found.overlaps()(groups, groups[:1]).shape == (len(groups), 1)


def test_the_guarantee_is_for_the_groups_found_only():
    found = audit(decide, TEXTS, made_up_terms(), holdout=0.5, **OPTIONS)
    assert found.guarantee is not None
    assert found.guarantee.method == "bonferroni"
    groups = len(found.rule_sets)
    assert found.guarantee.groups == groups == len(found.guarantee.errors) < found.holdout.groups
    np.testing.assert_allclose(found.guarantee.errors, 0.05 / groups)
    plain = audit(decide, TEXTS, made_up_terms(), holdout=0.5, guarantee="per-group", **OPTIONS)
    wide, narrow = (one.counterfactual.high - one.counterfactual.low for one in (found, plain))
    # So are the paired intervals.
    assert np.all(wide > narrow)
    parameters = AuditParameters()
    paired = paired_confidence(found.rule_sets, parameters, groups=groups)
    assert paired == pytest.approx(1 - 0.05 / groups)
    assert paired_confidence(found.rule_sets, parameters) > paired


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_parts_may_be_sampled(sampling):
    found = audit(
        decide,
        TEXTS,
        made_up_terms(),
        holdout=0.5,
        mode="sampled",
        sampling=sampling,
        min_samples=40,
        error_margin=0.3,
        max_queries=20_000,
        **OPTIONS,
    )
    assert found.mode == "sampled"
    assert 0 < len(found.rule_sets) == len(found.in_search) <= 20
    assert found.queries <= 20_000
    assert found.guarantee.groups == len(found.rule_sets)


def test_a_group_is_judged_with_its_other_terms_and_with_some_of_its_terms():
    found = audit(decide, TEXTS, made_up_terms(), **OPTIONS)
    chosen = {("colour", "blue"), ("size", "small"), ("shape", "flat")}
    other = find_mentions(made_up_texts(50, 9), made_up_terms())
    needed, given = chosen_over(other, found.rule_sets, (named(found)[frozenset(chosen)],))
    assert [one.categories for one in needed.category_sets] == [
        one.categories for one in found.rule_sets.category_sets
    ]
    assert terms_of(needed.rule_set(int(given[0]))) == chosen
    alone = {("size", "large")}
    needed, given = chosen_over(other, found.rule_sets, (named(found)[frozenset(alone)],))
    assert len(needed) == 2
    assert terms_of(needed.rule_set(int(given[0]))) == alone
    assert needed.rows()[0] == other.presence()[:, 1].sum()


def test_an_exact_audit_of_both_parts_keeps_to_its_budget():
    found = audit(decide, TEXTS, made_up_terms(), holdout=0.5, mode="exact", **OPTIONS)
    assert found.mode == "exact"
    with pytest.raises(ParameterError, match="queries"):
        audit(decide, TEXTS, made_up_terms(), holdout=0.5, mode="exact", max_queries=300, **OPTIONS)


def test_variants_of_one_text_stay_together():
    clusters = np.repeat(np.arange(60), 4)
    texts = replace(checked(TEXTS), clusters=clusters)
    for seed in range(5):
        searched, kept = split_texts(texts, 0.3, seed)
        assert not set(searched.clusters) & set(kept.clusters)
        assert len(kept) == 72
        assert "groups were found on 168 texts and estimated on 72 others" in kept.notes[-1]
    assert split_texts(texts, 0.3, 1)[1].texts == split_texts(texts, 0.3, 1)[1].texts
    assert split_texts(texts, 0.3, 1)[1].texts != split_texts(texts, 0.3, 2)[1].texts


def test_a_split_that_leaves_a_part_empty_is_refused():
    with pytest.raises(ParameterError, match="of 240 texts leaves one part without texts"):
        audit(decide, TEXTS, made_up_terms(), holdout=0.001)


def test_where_no_group_is_frequent_nothing_is_estimated():
    found = audit(decide, TEXTS, made_up_terms(), holdout=0.5, theta=0.95)
    assert len(found.rule_sets) == 0
    assert found.distinct == ()
    assert found.guarantee.significant == 0
    assert found.largest_bound == 0


def test_texts_have_no_features_to_condition_on():
    with pytest.raises(ParameterError, match="no features besides their terms"):
        audit(decide, TEXTS, made_up_terms(), condition_on=("length",))


def test_groups_without_seeds_in_the_part_kept_are_missing():
    # Two texts about a shape, both in the part searched.
    plain = [f"{one}{other} door" for one in "abcdef" for other in "abcdefghij"]
    searched, _ = split_texts(checked(plain), 0.5, 0)
    for row in [plain.index(text) for text in searched.texts][:2]:
        plain[row] += " round"
    model = load_text_model(lambda batch: ["good"] * len(batch), SPECIFICATION)
    for mode in ("exact", "sampled"):
        found = run_text_audit(
            model,
            checked(plain),
            made_up_terms(),
            AuditParameters(
                theta=0.05, holdout=0.5, mode=mode, min_samples=10, error_margin=0.4, stability=0
            ),
        )
        shapes = [
            group
            for group in range(len(found.rule_sets))
            if "shape" in {rule.category for rule in found.rule_set(group).rules}
        ]
        assert found.holdout.missing == len(shapes) > 0
        assert not found.estimates.sampled[shapes].any()
        assert not set(shapes) & set(found.ranking.tolist())


@pytest.mark.parametrize("rank_by", ["score", "counterfactual"])
def test_a_gate_goes_by_what_was_searched_where_groups_were_not_estimated(rank_by: str) -> None:
    options = {**OPTIONS, "rank_by": rank_by, "fail_above": 0.1}
    found = audit(decide, TEXTS, made_up_terms(), holdout=0.4, **options)
    searched, _ = halves()
    one = audit(decide, searched, made_up_terms(), guarantee="per-group", stability=0, **options)
    left = found.holdout.largest_unestimated
    near = one.overlaps()(np.arange(len(one.rule_sets)), np.array(one.highlights))
    others = one.judged & (near < one.parameters.overlap).all(axis=1) & ~np.isnan(one.sizes)
    sizes = [one.sizes[others].max()]
    sizes += [np.nanmax(other.estimates.score[others]) for other in one.others]
    assert left.size == pytest.approx(max(sizes[:1] if rank_by == "counterfactual" else sizes))
    assert set(left.text.split(" and ")) <= {
        text for group in np.flatnonzero(others) for text in one.rule_set(group).text.split(" and ")
    }
