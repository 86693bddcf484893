"""Every number of the summary of an audit of texts, computed a second time, text by text."""

from __future__ import annotations

import itertools
import math
from statistics import mean

import pandas as pd
import pytest
from furnished_rooms import (
    CATEGORIES,
    ROOMS,
    audit,
    mentions,
    other_choices,
    outside,
    rate,
    seeds,
    variant,
)
from scipy import stats

from testsgd import AuditResult
from testsgd.auditing import AuditSummary, GroupSummary
from testsgd.errors import DataError


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(top=500, snippets=3)


@pytest.fixture(scope="module")
def summary(result: AuditResult) -> AuditSummary:
    return result.summary


def choice(group: GroupSummary) -> dict[str, str]:
    return {rule.feature: (rule.values or [""])[0] for rule in group.rules}


def test_the_groups(summary: AuditSummary) -> None:
    frequent = [
        categories
        for size in (1, 2, 3)
        for categories in itertools.combinations(CATEGORIES, size)
        if len(seeds(categories)) >= 0.05 * len(ROOMS)
    ]
    assert ("colour", "size") in frequent
    expected = {
        frozenset(zip(categories, chosen, strict=True))
        for categories in frequent
        for chosen in itertools.product(*(CATEGORIES[name] for name in categories))
    }
    assert {frozenset(choice(group).items()) for group in summary.groups} == expected
    for group in summary.groups:
        terms = choice(group)
        inside = [variant(text, terms) for text in seeds(list(terms))]
        assert group.text == " and ".join(f"“{term}”" for term in terms.values())
        assert (group.n_in, group.n_out) == (len(inside), len(outside(terms)))
        assert group.support == pytest.approx(len(inside) / len(ROOMS))
        assert group.rate_in == pytest.approx(rate(inside))
        assert group.rate_out == pytest.approx(rate(outside(terms)))
        assert group.difference == pytest.approx(group.rate_in - group.rate_out)
        assert group.confidence_interval[0] <= group.difference <= group.confidence_interval[1]


def test_the_terms_alone(summary: AuditSummary) -> None:
    for group in summary.groups:
        terms = choice(group)
        found = group.counterfactual
        assert found is not None
        texts = seeds(list(terms))
        others = [rate([variant(text, other) for text in texts]) for other in other_choices(terms)]
        assert found.seeds == len(texts)
        assert found.rate_with == pytest.approx(group.rate_in)
        assert found.rate_other == pytest.approx(mean(others))
        assert found.difference == pytest.approx(found.rate_with - found.rate_other)
        assert found.confidence_interval[0] <= found.difference <= found.confidence_interval[1]


def test_each_term_of_the_first_groups_by_itself(summary: AuditSummary) -> None:
    explained = [group for group in summary.groups if group.rules_alone]
    assert explained
    for group in explained:
        terms = choice(group)
        assert [part.text for part in group.rules_alone] == [f"“{t}”" for t in terms.values()]
        for part, (category, term) in zip(group.rules_alone, terms.items(), strict=True):
            inside = [variant(text, {category: term}) for text in seeds([category])]
            assert part.n_in == len(inside)
            assert part.rate_in == pytest.approx(rate(inside))
            assert part.rate_out == pytest.approx(rate(outside({category: term})))
            assert part.difference == pytest.approx(part.rate_in - (part.rate_out or 0.0))


def test_the_rates_of_single_terms(summary: AuditSummary) -> None:
    assert [rates.feature for rates in summary.charts.features] == ["colour", "size", "shape"]
    for rates in summary.charts.features:
        texts = seeds([rates.feature])
        assert [cell.label for cell in rates.cells] == list(CATEGORIES[rates.feature])
        for cell in rates.cells:
            changed = [variant(text, {rates.feature: cell.label}) for text in texts]
            assert cell.n == len(texts)
            assert cell.rate == pytest.approx(rate(changed), abs=0.00005)


def test_the_maps_of_pairs(summary: AuditSummary) -> None:
    maps = summary.charts.heat_maps
    assert ("colour", "size") in [(one.row_feature, one.column_feature) for one in maps]
    for one in maps:
        texts = seeds([one.row_feature, one.column_feature])
        assert one.row_labels == list(CATEGORIES[one.row_feature])
        assert one.column_labels == list(CATEGORIES[one.column_feature])
        for row, down in enumerate(one.row_labels):
            for column, across in enumerate(one.column_labels):
                pair = {one.row_feature: down, one.column_feature: across}
                assert one.counts[row][column] == len(texts)
                assert one.rates[row][column] == pytest.approx(
                    rate([variant(text, pair) for text in texts]), abs=0.00005
                )


def test_the_terms_in_the_texts(summary: AuditSummary) -> None:
    assert summary.terms is not None
    assert summary.terms.texts == sum(
        any(mentions(text, category) for category in CATEGORIES) for text in ROOMS
    )
    single = {rates.feature: rates for rates in summary.charts.features}
    for category in summary.terms.categories:
        found = [word for text in ROOMS for word in mentions(text, category.name)]
        assert category.mentions == len(found)
        assert category.texts == len(seeds([category.name]))
        assert category.share == pytest.approx(category.texts / len(ROOMS))
        for place, term in enumerate(category.terms):
            assert term.term == CATEGORIES[category.name][place]
            assert term.mentions == found.count(term.term)
            assert term.share == pytest.approx(term.mentions / len(found))
            assert term.texts == sum(term.term in text.split() for text in ROOMS)
            if category.name in single:
                assert term.rate == single[category.name].cells[place].rate
            else:
                assert term.rate is None


def test_the_places_are_where_the_terms_are(summary: AuditSummary) -> None:
    assert summary.terms is not None
    for category in summary.terms.categories:
        for term in category.terms:
            assert len(term.snippets) == min(3, term.texts)
            for place in term.snippets:
                assert place.term == term.term
                assert f"{place.before}{place.term}{place.after}" in ROOMS


def test_what_is_too_small(summary: AuditSummary) -> None:
    names = [[rule.feature for rule in group.rules] for group in summary.undecided]
    assert ["cloth"] in names
    for group in summary.undecided:
        number = len(seeds([rule.feature for rule in group.rules]))
        assert group.n_in == number < 0.05 * len(ROOMS)
        assert group.support == pytest.approx(number / len(ROOMS))
        assert all(rule.values is None for rule in group.rules)
        assert f"fewer than {math.ceil(0.05 * len(ROOMS))} texts" in group.reason
    assert summary.counts.undecided_small == len(summary.undecided)


def test_the_data(summary: AuditSummary) -> None:
    data = summary.data
    assert (data.kind, data.rows, data.name) == ("texts", len(ROOMS), "rooms")
    assert [feature.name for feature in data.features] == list(CATEGORIES)
    for feature in data.features:
        assert (feature.type, feature.sensitive) == ("terms", True)
        assert feature.domain == ", ".join(CATEGORIES[feature.name])
        assert feature.missing == len(ROOMS) - len(seeds([feature.name]))
    assert summary.overall_rate == pytest.approx(rate(ROOMS))
    assert summary.model.accuracy is None


def test_the_rates_of_terms_have_intervals(result: AuditResult) -> None:
    frame = result.by_feature()
    assert len(frame)
    assert not frame.isna().any().any()
    for row in frame.itertuples():
        inside = [variant(text, {row.feature: row.value}) for text in seeds([row.feature])]
        assert row.rate == pytest.approx(rate(inside), abs=1e-4)
        assert row.ci_low <= row.rate <= row.ci_high
        # Texts that were audited without copies: the interval of a share by Clopper and Pearson.
        favourable = round(rate(inside) * len(inside))
        ends = stats.binomtest(favourable, len(inside)).proportion_ci(0.95)
        assert row.ci_low <= ends.low + 1e-4
        assert row.ci_high >= ends.high - 1e-4


def test_the_texts_of_a_group_mention_its_terms(result: AuditResult) -> None:
    for group in result.summary.groups[:20]:
        terms = choice(group)
        expected = [
            all(term in mentions(text, category) for category, term in terms.items())
            for text in ROOMS
        ]
        for texts in (ROOMS, pd.Series(ROOMS)):
            assert group.mask(texts).tolist() == expected
            assert result.mask(group.rank, texts).tolist() == expected
    assert group.mask([]).tolist() == []


@pytest.mark.parametrize("data", ["one text", [1, 2], {"a": 1}, 3], ids=str)
def test_what_is_no_list_of_texts_is_refused(result: AuditResult, data: object) -> None:
    with pytest.raises(DataError) as caught:
        result.summary.groups[0].mask(data)
    assert "series of texts" in caught.value.remedy


def test_a_table_is_no_list_of_texts(result: AuditResult) -> None:
    with pytest.raises(DataError):
        result.summary.groups[0].mask(pd.DataFrame({"text": ROOMS}))
