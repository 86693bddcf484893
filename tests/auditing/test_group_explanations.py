"""What is behind a group's difference: against sums over rows, one order of rules after another."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from testsgd.auditing.explaining import Explanation, explain_groups
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.rules import IntervalRule, Rule, RuleSet, ValueRule, lay_out, sensitive_axes

ANSWERS = 6
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "explained"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m", "x"], "sensitive": True},
            "age": {"type": "integer", "range": [0, 8], "bins": 4, "sensitive": True},
            "region": {"type": "categorical", "values": ["n", "s", "w"], "sensitive": True},
            "member": {"type": "categorical", "values": ["no", "yes"], "sensitive": True},
            "income": {"type": "decimal", "range": [0, 100]},
            "flat": {"type": "decimal", "range": [0, 10]},
            "badge": {"type": "categorical", "values": ["blue", "red", "grey"]},
        },
    }
)
RULES: tuple[Rule, ...] = (
    ValueRule("gender", ("f", "missing")),
    IntervalRule("age", 2, 6),
    ValueRule("region", ("n", "w")),
    ValueRule("member", ("yes",)),
)


def people(seed: int, rows: int = 400) -> Table:
    """Rows with missing cells, and features that go with the sensitive ones."""
    generator = np.random.default_rng(seed)
    gender = generator.choice(["f", "m", "x"], rows, p=[0.5, 0.4, 0.1]).astype(object)
    gender[generator.random(rows) < 0.05] = None
    income = generator.uniform(0, 60, rows) + 40 * (gender == "f")
    income[generator.random(rows) < 0.1] = np.nan
    badge = generator.choice(["blue", "red", "grey"], rows).astype(object)
    badge[generator.random(rows) < 0.1] = None
    frame = pd.DataFrame(
        {
            "gender": gender,
            "age": np.where(generator.random(rows) < 0.1, np.nan, generator.integers(0, 9, rows)),
            "region": generator.choice(["n", "s", "w"], rows),
            "member": generator.choice(["no", "yes"], rows),
            "income": income,
            "flat": 0.3,
            "badge": badge,
        }
    )
    return check_table(frame, SPECIFICATION)


def answers_of(table: Table, seed: int) -> NDArray[np.int64]:
    """Numbers of favourable answers that depend on three of the four sensitive features."""
    generator = np.random.default_rng(seed)
    rate = 0.2 + 0.3 * RuleSet(RULES[:2]).matches(table) + 0.2 * RuleSet(RULES[2:3]).matches(table)
    return generator.binomial(ANSWERS, rate)


def explain(table: Table, favourable: Any, groups: list[RuleSet], **options: Any) -> Any:
    """Explain groups as an exact audit does."""
    contingency = lay_out(table, sensitive_axes(table))
    samples = contingency.tally() * ANSWERS
    cell_favourable = contingency.tally(favourable)
    return explain_groups(
        table, contingency, groups, samples, cell_favourable, favourable, ANSWERS, **options
    )


def difference(table: Table, favourable: NDArray[np.int64], rules: Any) -> float:
    """Rate inside minus rate outside, from the rows."""
    inside = RuleSet(tuple(rules)).matches(table)
    outside = ~inside
    for rule in rules:
        if isinstance(rule, IntervalRule):
            outside &= table.frame[rule.feature].notna().to_numpy()
    if not len(tuple(rules)) or not outside.any():
        return 0.0
    return float(favourable[inside].mean() - favourable[outside].mean()) / ANSWERS


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_shares_are_the_mean_gain_over_all_orders(count: int, seed: int) -> None:
    table = people(seed)
    favourable = answers_of(table, seed)
    group = RuleSet(RULES[:count])
    (explanation,) = explain(table, favourable, [group])
    gains = dict.fromkeys(group.rules, 0.0)
    for order in itertools.permutations(group.rules):
        for place, rule in enumerate(order):
            gains[rule] += difference(table, favourable, order[: place + 1])
            gains[rule] -= difference(table, favourable, order[:place])
    shares = {share.text: share.value for share in explanation.shapley_values}
    assert list(shares) == [rule.text for rule in group.rules]
    assert shares == pytest.approx(
        {rule.text: gain / math.factorial(count) for rule, gain in gains.items()}, abs=1e-12
    )
    assert sum(shares.values()) == pytest.approx(difference(table, favourable, group.rules))


@pytest.mark.parametrize("seed", range(8))
def test_the_simplest_rule_set_is_the_first_to_keep_nine_tenths(seed: int) -> None:
    table = people(seed)
    favourable = answers_of(table, seed)
    group = RuleSet(RULES)
    (explanation,) = explain(table, favourable, [group])
    whole = difference(table, favourable, group.rules)
    for count in range(1, 5):
        found = {
            rules: difference(table, favourable, rules)
            for rules in itertools.combinations(group.rules, count)
        }
        kept = {rules: gap for rules, gap in found.items() if gap / whole >= 0.9}
        if kept:
            best = max(kept, key=lambda rules: abs(kept[rules]))
            assert explanation.simplest.text == RuleSet(best).text
            assert explanation.simplest.difference == pytest.approx(kept[best])
            return
    raise AssertionError("the whole keeps all of its score")


def test_of_rules_that_all_keep_enough_the_one_that_keeps_most_is_chosen() -> None:
    table = people(0, rows=100)
    place = np.arange(100)
    frame = table.frame.assign(
        member=np.where(place < 50, "yes", "no"), region=np.where(place < 52, "n", "s")
    )
    table = check_table(frame, SPECIFICATION)
    group = RuleSet((ValueRule("region", ("n",)), RULES[3]))
    (explanation,) = explain(table, ANSWERS * (place < 50), [group])
    assert explanation.simplest.text == RuleSet(RULES[3:]).text
    assert explanation.simplest.difference == 1.0


def test_a_rule_that_holds_for_everybody_adds_nothing_and_is_left_out() -> None:
    table = people(1)
    everybody = ValueRule("region", ("n", "s", "w"))
    (explanation,) = explain(table, answers_of(table, 1), [RuleSet((RULES[1], everybody))])
    assert [share.value for share in explanation.shapley_values][1] == 0
    assert explanation.simplest.text == RuleSet(RULES[1:2]).text


def test_a_rule_may_name_a_value_that_no_row_has() -> None:
    table = people(2)
    table = table.take(np.flatnonzero((table.frame["gender"] != "x").to_numpy()))
    favourable = answers_of(table, 2)
    wide = RuleSet((ValueRule("gender", ("f", "x")), RULES[1]))
    (explanation,) = explain(table, favourable, [wide])
    assert sum(share.value for share in explanation.shapley_values) == pytest.approx(
        difference(table, favourable, wide.rules)
    )


def test_nothing_is_said_of_rules_without_common_samples() -> None:
    table = people(0)
    contingency = lay_out(table, sensitive_axes(table))
    none = np.zeros(contingency.cells, dtype=np.int64)
    group = RuleSet(RULES[:2])
    (explanation,) = explain_groups(
        table, contingency, [group], none, none, None, 1, condition_on=["income"]
    )
    assert explanation.shapley_values == []
    assert explanation.simplest is None
    assert explanation.conditional is None
    assert explanation.correlated_features


def contrasts_by_hand(table: Table, inside: NDArray[np.bool_]) -> dict[str, tuple[float, ...]]:
    """Means or shares, and their difference in standard deviations, from the data frame."""
    found = {}
    for name in ("income", "badge"):
        column = table.frame[name]
        known = column.notna().to_numpy()
        columns = column[known].to_frame() if name == "income" else pd.get_dummies(column[known])
        sides = [columns[inside[known]].mean(), columns[~inside[known]].mean()]
        gaps = sides[0] - sides[1]
        most = gaps.abs().idxmax()
        spread = columns[most].astype(float).std(ddof=0)
        found[name] = (sides[0][most], sides[1][most], gaps[most] / spread, known.sum())
    return found


@pytest.mark.parametrize("seed", range(4))
def test_contrasts_are_standardised_differences(seed: int) -> None:
    table = people(seed)
    group = RuleSet(RULES[:1])
    (explanation,) = explain(table, answers_of(table, seed), [group])
    wanted = contrasts_by_hand(table, group.matches(table))
    found = {
        one.feature: (one.mean_in, one.mean_out, one.standardised_difference, one.n_known)
        for one in explanation.correlated_features
    }
    # The feature that never varies is no lead.
    assert set(found) == {"income", "badge"}
    for name, figures in wanted.items():
        assert found[name] == pytest.approx(figures)
    sizes = [abs(one.standardised_difference) for one in explanation.correlated_features]
    assert sizes == sorted(sizes, reverse=True)


def left_by_hand(
    table: Table, favourable: NDArray[np.int64], inside: NDArray[np.bool_], name: str
) -> float:
    """Direct standardisation on a feature of few values, from the data frame."""
    values = table.frame[name].astype(object).fillna("missing").to_numpy()
    gap = weight = 0.0
    for value in np.unique(values):
        alike = values == value
        if (alike & inside).any() and (alike & ~inside).any():
            rows = float((alike & inside).sum())
            rates = [favourable[alike & side].mean() / ANSWERS for side in (inside, ~inside)]
            gap += rows * (rates[0] - rates[1])
            weight += rows
    return gap / weight


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_at_the_same_mix_of_a_feature(seed: int) -> None:
    table = people(seed)
    favourable = answers_of(table, seed)
    group = RuleSet(RULES[:1])
    (explanation,) = explain(table, favourable, [group])
    left = {item.features[0]: item for item in explanation.equalised}
    wanted = left_by_hand(table, favourable, group.matches(table), "badge")
    assert left["badge"].difference == pytest.approx(wanted, abs=1e-12)
    # A number is equalised in five bins, as for a conditional comparison.
    (alike,) = explain(table, favourable, [group], condition_on=["income"], error=0.01)
    assert left["income"] == alike.conditional


def test_nothing_is_left_at_the_same_mix_of_what_decides() -> None:
    table = people(5)
    decisions = np.where(table.frame["badge"] == "red", ANSWERS, 0).astype(np.int64)
    group = RuleSet((ValueRule("gender", ("m",)),))
    (explanation,) = explain(table, decisions, [group])
    (badge,) = [left for left in explanation.equalised if left.features == ["badge"]]
    assert badge.difference == 0


def test_a_feature_that_gives_the_group_away_comes_first() -> None:
    table = people(3)
    frame = table.frame.assign(badge=np.where(table.frame["gender"] == "m", "red", "blue"))
    table = check_table(frame, SPECIFICATION)
    group = RuleSet((ValueRule("gender", ("m",)),))
    explanations: list[Explanation] = explain(table, answers_of(table, 3), [group, group])
    first = explanations[0].correlated_features[0]
    assert (first.feature, first.value, first.mean_in, first.mean_out) == ("badge", "red", 1, 0)
    share = group.matches(table).mean()
    assert first.standardised_difference == pytest.approx(1 / math.sqrt(share * (1 - share)))
    assert explanations[0] == explanations[1]


def test_no_groups_have_no_explanations() -> None:
    table = people(0, rows=50)
    assert explain(table, answers_of(table, 0), []) == []
