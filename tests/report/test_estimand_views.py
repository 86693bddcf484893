"""Both estimands, the explaining rules and who was not judged, in every view of an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page_outline import Outline

import testsgd
from testsgd import AuditResult
from testsgd.report.formatting import interval, percent, points, signed

PEOPLE = pd.DataFrame({"g": ["f", "m"] * 500, "b": [0, 1] * 500})
SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "t"},
    "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "g": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "b": {"type": "integer", "range": [0, 1]},
    },
}


def by_proxy(frame: pd.DataFrame) -> Any:
    """Decide by one binary proxy of gender."""
    return np.where(frame["b"] == 1, "yes", "no")


@pytest.fixture(scope="module")
def proxy() -> AuditResult:
    return testsgd.audit(by_proxy, PEOPLE, SPECIFICATION, fail_above=0.2, stability=0)


def few() -> pd.DataFrame:
    """Two causes, women and young people, and thirty people of a third gender."""
    generator = np.random.default_rng(3)
    count = 2000
    people = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], count),
            "age": generator.integers(20, 80, count),
            "points": generator.integers(0, 100, count),
        }
    )
    people.loc[:29, "gender"] = "x"
    return people


CAUSES: dict[str, Any] = {
    "dataset": {"name": "causes"},
    "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["f", "m", "x"], "sensitive": True},
        "age": {"type": "integer", "range": [20, 79], "edges": [20, 40, 60, 79], "sensitive": True},
        "points": {"type": "integer", "range": [0, 99]},
    },
}


def by_causes(frame: pd.DataFrame) -> Any:
    limit = 20 + 40 * (frame["gender"] == "f") + 15 * (frame["age"] < 40)
    return np.where(frame["points"] >= limit, "yes", "no")


@pytest.fixture(scope="module")
def causes() -> AuditResult:
    return testsgd.audit(by_causes, few(), CAUSES, stability=0, replicates=199)


def readings(result: AuditResult) -> list[str]:
    markdown = result.to_markdown().replace("\\", "").replace("&lt;", "<").replace("&gt;", ">")
    return [Outline(result.to_html()).text, markdown]


def test_a_binary_proxy_fails_the_gate_whatever_is_ranked_by() -> None:
    for estimand in ("observed", "neighbourhood"):
        result = testsgd.audit(
            by_proxy, PEOPLE, SPECIFICATION, fail_above=0.2, stability=0, estimand=estimand
        )
        assert (result.verdict.status, result.verdict.exit_code) == ("gate_failed", 1)
        assert "observed difference" in result.verdict.sentences[0]
        sizes = {one.estimand: one.largest for one in result.summary.estimands}
        assert sizes == {"observed": 1.0, "neighbourhood": 0.0}


def test_the_disagreement_is_told_and_the_feature_named(proxy: AuditResult) -> None:
    assert [moved.feature for moved in proxy.summary.moved] == ["b"]
    # With b moved women have 1 and men 0 half of the time; the other half the step leads nowhere.
    assert proxy.summary.moved[0].difference == pytest.approx(0.0)
    told = " ".join(proxy.verdict.sentences)
    assert "disagree" in told
    assert "b (0.0 points)" in told
    assert "100.0 points less often" in proxy.verdict.headline


def test_estimands_that_agree_are_not_said_to_disagree(causes: AuditResult) -> None:
    assert causes.summary.moved == []
    assert "disagree" not in " ".join(causes.verdict.sentences)


def test_every_view_has_both_estimands_of_the_first_groups(causes: AuditResult) -> None:
    document = json.loads(causes.to_json())
    table = causes.groups.set_index("rank")
    shown = [group for group in causes.summary.groups if group.distinct or group.rank == 1]
    assert len(shown) > 1
    for group in shown:
        assert group.other is not None
        assert group.other.confidence_interval is not None
        [stored] = [one for one in document["groups"] if one["rank"] == group.rank]
        row = table.loc[group.rank]
        for name in ("rate_in", "rate_out", "difference"):
            assert stored[name] == getattr(group, name) == row[name]
            assert stored["other"][name] == getattr(group.other, name) == row[f"other_{name}"]
        assert tuple(stored["other"]["confidence_interval"]) == group.other.confidence_interval
        assert (row["other_ci_low"], row["other_ci_high"]) == group.other.confidence_interval
        page, markdown = readings(causes)
        for text in (page, markdown):
            for part in (
                percent(group.rate_in),
                percent(group.rate_out),
                points(group.difference),
                interval(group.confidence_interval),
                percent(group.other.rate_in),
                percent(group.other.rate_out),
                signed(group.other.difference),
                interval(group.other.confidence_interval),
            ):
                assert part in text


def test_the_csv_has_both_estimands(causes: AuditResult, tmp_path: Path) -> None:
    causes.write(tmp_path, ["csv"])
    read = pd.read_csv(tmp_path / "groups.csv")
    assert len(read) == causes.summary.counts.groups
    assert set(read["estimand"]) == {"observed"}
    assert read["other_difference"].tolist() == pytest.approx(
        (read["other_rate_in"] - read["other_rate_out"]).tolist()
    )
    assert read["other_ci_low"].le(read["other_difference"]).all()
    assert read["other_ci_high"].ge(read["other_difference"]).all()


def test_the_rules_stand_in_both_views_with_their_numbers(causes: AuditResult) -> None:
    rules = causes.summary.rules
    # Forward selection finds the two causes; the few of the third gender do not matter.
    assert rules[0].text == "gender = f"
    assert rules[1].text in ("age < 40", "gender in {f, m} and age < 40")
    assert len(rules) < 4
    groups = {group.rank: group for group in causes.summary.groups}
    together = 0.0
    for rule in rules:
        assert rule.share is not None
        together += rule.share
        for text in readings(causes):
            assert rule.text in text
            assert percent(rule.share) in text
            assert percent(together) in text
            assert signed(groups[rule.rank].difference) in text
            if rule.near_duplicates:
                assert f"{rule.near_duplicates} near-duplicate" in text
                assert rule.examples[0] in text
    assert "rules explain" in " ".join(causes.verdict.sentences)


def test_links_of_rules_lead_to_groups_that_are_there(causes: AuditResult) -> None:
    page = causes.to_html()
    for rank in {rule.rank for rule in causes.summary.rules}:
        if f'href="#group-{rank}"' in page:
            assert f'id="group-{rank}"' in page


def test_who_is_not_judged_is_counted_and_said(causes: AuditResult) -> None:
    unjudged, people = causes.summary.unjudged, few()
    assert unjudged is not None
    ages = pd.cut(people["age"], [20, 40, 60, 80], right=False)
    sizes = people.groupby(["gender", ages], observed=True).size()
    small = sizes[(sizes < 50) | (sizes > len(people) - 50)]
    assert len(small) > 0
    assert (unjudged.combinations, unjudged.unjudged) == (len(sizes), len(small))
    assert (unjudged.fewest, unjudged.rows) == (50, small.sum())
    assert unjudged.share == pytest.approx(small.sum() / len(people))
    told = " ".join(causes.verdict.sentences)
    assert f"{small.sum()} rows ({percent(unjudged.share)})" in told
    for text in readings(causes):
        assert f"{small.sum()} rows ({percent(unjudged.share)})" in text


@pytest.mark.parametrize(
    ("limit", "gate", "code"), [(0.01, None, 3), (0.02, None, 0), (0.01, 0.9, 3), (0.01, 0.1, 1)]
)
def test_strictness_on_real_people(limit: float, gate: float | None, code: int) -> None:
    # 30 people of 2,000 are 1.5%.
    chosen = {"strict": True, "max_unjudged": limit, "fail_above": gate}
    result = testsgd.audit(by_causes, few(), CAUSES, stability=0, replicates=99, **chosen)
    assert result.verdict.exit_code == code
    assert json.loads(result.to_json())["verdict"]["exit_code"] == code
    for text in readings(result):
        assert all(sentence in text for sentence in result.verdict.sentences)


@pytest.mark.parametrize(("rows", "judged"), [(30, True), (31, False)])
def test_both_sides_of_a_judged_group_have_enough_rows(rows: int, judged: bool) -> None:
    result = testsgd.audit(by_causes, few(), CAUSES, stability=0, replicates=99, min_rows=rows)
    texts = set(result.groups["text"])
    assert ("gender = x" in texts) == judged
    # The other side of the same division.
    assert ("gender in {f, m}" in texts) == judged
    assert result.groups[["n_in", "n_out"]].min().min() >= rows
