"""Rules over texts, as they are written and saved."""

from __future__ import annotations

import pandas as pd
import pytest
from plain_rules import make_table

from testsgd.rules import CategoryRule, RuleSet, TermRule, ValueRule


def test_term_rule():
    rule = TermRule("race", "african american")
    assert rule.text == "“african american”"
    assert rule.feature == "race"
    assert rule.to_json() == {
        "feature": "race",
        "values": ["african american"],
        "text": "“african american”",
    }


def test_category_rule():
    rule = CategoryRule("religion")
    assert rule.text == "any term of religion"
    assert rule.feature == "religion"
    assert rule.to_json() == {
        "feature": "religion",
        "values": None,
        "text": "any term of religion",
    }


def test_rule_set_of_terms():
    assert RuleSet((TermRule("gender", "gay"), TermRule("religion", "taoist"))).text == (
        "“gay” and “taoist”"
    )
    assert RuleSet((CategoryRule("age"), CategoryRule("race"))).text == (
        "any term of age and any term of race"
    )


@pytest.mark.parametrize("rule", [TermRule("gender", "gay"), CategoryRule("gender")])
def test_rules_over_texts_match_no_rows(rule):
    table = make_table(
        {"gender": {"type": "categorical", "values": ["f", "m"]}},
        {"gender": pd.Series(["f", "m"], dtype=object)},
    )
    assert RuleSet((ValueRule("gender", ("f",)),)).matches(table).tolist() == [True, False]
    with pytest.raises(TypeError, match="about texts"):
        RuleSet((rule,)).matches(table)
