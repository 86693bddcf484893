"""People as they are, and their neighbours: both rates of every group, and the gate over both."""

from __future__ import annotations

from typing import Any

import few_groups
import numpy as np
import pandas as pd
import pytest
from null_people import SPECIFICATION as PEOPLE
from null_people import people

import testsgd
from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.run import split_rows
from testsgd.data import check_table, specification_from_mapping
from testsgd.models import load_model

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "jobs": 1}


def specification(features: dict[str, Any]) -> dict[str, Any]:
    label = {"column": "y", "favourable": "yes", "values": ["no", "yes"]}
    return {"dataset": {"name": "t"}, "label": label, "features": features}


GENDER = {"type": "categorical", "values": ["f", "m"], "sensitive": True}
PROXY = {"g": GENDER, "b": {"type": "integer", "range": [0, 1]}}
HALVES = pd.DataFrame({"g": ["f", "m"] * 500, "b": [0, 1] * 500})


def by_proxy(frame: pd.DataFrame) -> Any:
    return np.where(frame["b"] == 1, "yes", "no")


@pytest.mark.parametrize("sampled", [{}, {"mode": "sampled", "max_queries": 50_000}])
def test_a_binary_proxy_is_a_difference_of_100_points_to_the_rows_and_of_none_to_their_neighbours(
    sampled: dict[str, Any],
) -> None:
    result = testsgd.audit(
        by_proxy, HALVES, specification(PROXY), fail_above=0.2, **sampled, **QUICK
    )
    first = result.groups.iloc[0]
    assert abs(first["difference"]) == 1
    # Half of the neighbours are the rows themselves, and the other half are turned round.
    if not sampled:
        assert first["other_difference"] == 0
    assert first["other_ci_low"] <= 0 <= first["other_ci_high"]
    assert first["ci_low"] <= first["difference"] <= first["ci_high"]
    assert result.verdict.exit_code == 1


def turned_round(frame: pd.DataFrame) -> Any:
    """Decide by a proxy in the middle of its range only: by the neighbours, hardly by the rows."""
    return np.where((frame["g"] == "f") & (frame["b"] == 50), "no", "yes")


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
@pytest.mark.parametrize("proxy", [True, False])
def test_either_estimand_alone_fails_the_gate(estimand: str, proxy: bool) -> None:
    # Incomes one below and one above the only one that is refused: nobody is refused as they are.
    near = pd.DataFrame({"g": ["f", "m"] * 500, "b": [49, 49, 51, 51] * 250})
    wide = {"g": GENDER, "b": {"type": "integer", "range": [0, 100]}}
    model, frame, features = (by_proxy, HALVES, PROXY) if proxy else (turned_round, near, wide)
    result = testsgd.audit(
        model, frame, specification(features), estimand=estimand, fail_above=0.2, **QUICK
    )
    sizes = {"observed": float(proxy), "neighbourhood": 0.5 * (not proxy)}
    other = "neighbourhood" if estimand == "observed" else "observed"
    row = result.groups.set_index("text").loc["g = f"]
    assert row["difference"] == pytest.approx(-sizes[estimand], abs=1e-12)
    assert row["other_difference"] == pytest.approx(-sizes[other], abs=1e-12)
    assert result.verdict.status == "gate_failed"
    assert result.verdict.exit_code == 1


def decides_by_all(frame: pd.DataFrame) -> Any:
    """Decisions that depend on every feature, and are neither rare nor common."""
    points = frame["points"].to_numpy() + 9_000 * (frame["land"] == "b").to_numpy()
    return np.where((points // 20_000 + frame["age"].to_numpy() // 20) % 3 == 0, "yes", "no")


def audited(model: Any, frame: pd.DataFrame, **parameters: Any) -> TableFindings:
    chosen = AuditParameters(**{**QUICK, "guarantee": "per-group", **parameters})
    return run_audit(load_model(model, PEOPLE), check_table(frame, PEOPLE), chosen)


def test_observed_rates_are_those_of_a_plain_grouping_of_the_decisions() -> None:
    frame = people(1500, 4)
    found = audited(decides_by_all, frame)
    decided = frame.assign(yes=decides_by_all(frame) == "yes")
    number = {found.rule_set(group).text: group for group in range(len(found.rule_sets))}
    for columns in (["sex"], ["land"], ["sex", "land"]):
        for values, part in decided.groupby(columns):
            if len(part) < 50 or len(frame) - len(part) < 50:
                continue
            pairs = zip(columns, values, strict=True)
            group = number[" and ".join(f"{name} = {value}" for name, value in pairs)]
            others = decided.drop(part.index)
            assert found.estimates.rows_in[group] == len(part)
            assert found.estimates.rate_in[group] == pytest.approx(part["yes"].mean())
            assert found.estimates.rate_out[group] == pytest.approx(others["yes"].mean())
    assert found.row_favourable is not None
    assert found.row_favourable.tolist() == decided["yes"].astype(int).tolist()
    assert found.overall_rate == pytest.approx(decided["yes"].mean())


def test_the_estimands_change_places_and_nothing_else() -> None:
    frame = people(900, 2)
    first = audited(decides_by_all, frame)
    second = audited(decides_by_all, frame, estimand="neighbourhood")
    assert first.others[0].estimand == "neighbourhood"
    for one, other in ((first, second), (second, first)):
        for name in ("favourable_in", "samples_in", "favourable_out", "samples_out", "rows_in"):
            expected = getattr(other.others[0].estimates, name)
            np.testing.assert_array_equal(getattr(one.estimates, name), expected)
    assert first.queries == second.queries


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_one_pass_over_the_rows_gives_a_sampled_audit_what_an_exact_one_finds(
    sampling: str,
) -> None:
    frame = few_groups.people(2000)
    exact = few_groups.findings(few_groups.by_income, frame, estimand="observed", mode="exact")
    asked = 0

    def counting(rows: pd.DataFrame) -> Any:
        nonlocal asked
        asked += len(rows)
        return few_groups.by_income(rows)

    drawn = few_groups.findings(
        counting,
        frame,
        estimand="observed",
        mode="sampled",
        sampling=sampling,
        min_samples=60,
        error_margin=0.2,
        max_queries=12_000,
    )
    assert drawn.queries == asked <= 12_000
    texts = [
        [found.rule_set(group).text for group in range(len(found.rule_sets))]
        for found in (exact, drawn)
    ]
    assert texts[0] == texts[1]
    for name in ("rows_in", "samples_in", "favourable_in", "samples_out", "favourable_out"):
        np.testing.assert_array_equal(
            getattr(drawn.estimates, name), getattr(exact.estimates, name)
        )
    assert drawn.estimates.exact
    assert drawn.estimates.difference.tolist() == exact.estimates.difference.tolist()


@pytest.mark.parametrize("budget", [2, 3, 11, 1999, 2500, 3999, 4000, 5001, 6000])
def test_below_twice_the_rows_a_part_of_them_is_asked_about_within_the_budget(budget: int) -> None:
    frame = few_groups.people(2000)
    asked = 0

    def counting(rows: pd.DataFrame) -> Any:
        nonlocal asked
        asked += len(rows)
        return few_groups.by_income(rows)

    found = few_groups.findings(
        counting, frame, estimand="observed", mode="sampled", max_queries=budget
    )
    assert found.queries == asked <= budget
    asked_about = int(found.cell_samples.sum())
    assert (found.row_favourable is not None) == (asked_about == len(frame))
    # Half of what two trials leave, each of 1,000 rows and of half of what is left at most.
    assert asked_about >= min(len(frame), max(budget // 8, (budget - 2000) // 2))
    decisions = few_groups.by_income(frame) > 0.5
    rows = found.contingency.tally()
    yes = found.contingency.tally(decisions.astype(np.int64))
    # Each row is asked about once at most, so a part holds no more of a kind than all rows do.
    assert (found.cell_samples <= rows).all()
    assert (found.cell_favourable <= yes).all()
    assert (found.cell_samples - found.cell_favourable <= rows - yes).all()


def test_a_few_of_the_rows_are_a_sample_of_them_without_bias() -> None:
    frame = few_groups.people(600)
    decisions = few_groups.by_income(frame) > 0.5
    women = (frame["gender"] == 1).to_numpy()
    rates = []
    for seed in range(30):
        found = few_groups.findings(
            few_groups.by_income,
            frame,
            estimand="observed",
            mode="sampled",
            max_queries=600,
            seed=seed,
        )
        text = [found.rule_set(group).text for group in range(len(found.rule_sets))]
        rates.append(found.estimates.rate_in[text.index("gender = 1")])
    truth = decisions[women].mean()
    # About 45 of 180 a seed: seven standard errors of the mean of 30.
    assert abs(np.mean(rates) - truth) < 7 * np.sqrt(truth * (1 - truth) / 45 / 30)


def test_a_group_of_1307_people_who_are_never_selected_is_found_by_default() -> None:
    generator = np.random.default_rng(16)
    size = 30_000
    frame = pd.DataFrame(
        {
            "race": generator.choice(["Black", "White"], size, p=[0.3, 0.7]),
            "gender": generator.choice(["female", "male"], size),
            "disabled": generator.choice(["no", "yes"], size, p=[0.7, 0.3]),
        }
    )
    unlucky = (
        (frame["race"] == "Black") & (frame["gender"] == "female") & (frame["disabled"] == "yes")
    )
    # Exactly so many, whatever was drawn; then a number that the model goes by.
    spare = np.flatnonzero(unlucky)[1307:]
    frame.loc[spare, "disabled"] = "no"
    frame["number"] = np.where(unlucky & (frame["disabled"] == "yes"), 0, np.arange(size) % 2 * 50)
    assert (
        len(np.flatnonzero(unlucky)) >= 1307 == int((unlucky & (frame["disabled"] == "yes")).sum())
    )
    features = {
        "race": {"type": "categorical", "values": ["Black", "White"], "sensitive": True},
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "disabled": {"type": "categorical", "values": ["no", "yes"], "sensitive": True},
        "number": {"type": "integer", "range": [0, 100]},
    }

    def decide(rows: pd.DataFrame) -> Any:
        return np.where(rows["number"] > 25, "yes", "no")

    result = testsgd.audit(decide, frame, specification(features), fail_above=0.3, **QUICK)
    first = result.groups.iloc[0]
    assert first["n_in"] == 1307
    assert first["rate_in"] == 0
    assert result.verdict.exit_code == 1
    # By the paper's bound it is not judged, nobody else is treated differently, and that is said.
    paper = testsgd.audit(
        decide, frame, specification(features), fail_above=0.3, theta=0.05, **QUICK
    )
    assert paper.verdict.exit_code == 0
    assert paper.summary.unjudged is not None
    assert paper.summary.unjudged.rows >= 1307
    strict = testsgd.audit(
        decide, frame, specification(features), fail_above=0.3, theta=0.05, strict=True, **QUICK
    )
    assert strict.verdict.exit_code == 3


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
def test_the_neighbourhood_difference_is_the_mean_of_those_of_its_moves(estimand: str) -> None:
    features = {
        "g": {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True},
        "points": {"type": "integer", "range": [0, 9]},
        "kind": {"type": "categorical", "values": ["x", "y", "z"]},
    }
    described = specification_from_mapping(specification(features))
    generator = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "g": generator.choice(["a", "b", "c"], 400),
            "points": generator.integers(0, 10, 400),
            "kind": generator.choice(["x", "y", "z"], 400),
        }
    )
    kinds = ["x", "y", "z"]

    def decide(rows: pd.DataFrame) -> Any:
        limit = rows["g"].map({"a": 2, "b": 4, "c": 7}) + 2 * rows["kind"].map(kinds.index)
        return np.where(rows["points"] >= limit, "yes", "no")

    def shifted(name: str, step: int) -> pd.DataFrame:
        if name == "points":
            return frame.assign(points=(frame["points"] + step).clip(0, 9))
        places = (frame["kind"].map(kinds.index) + step).clip(0, 2)
        return frame.assign(kind=places.map(kinds.__getitem__))

    model, table = load_model(decide, described), check_table(frame, described)
    found = run_audit(
        model, table, AuditParameters(estimand=estimand, guarantee="per-group", stability=0)
    )
    neighbourhood = found.estimates if estimand == "neighbourhood" else found.others[0].estimates
    assert len(found.rule_sets) == 6
    for group in range(6):
        inside = found.rule_set(group).matches(table)
        moved = found.moved_differences(group)
        assert list(moved) == ["points", "kind"]
        for name, difference in moved.items():
            answers = np.mean([decide(shifted(name, step)) == "yes" for step in (-1, 1)], axis=0)
            expected = answers[inside].mean() - answers[~inside].mean()
            assert difference == pytest.approx(expected, abs=1e-12)
        assert np.mean(list(moved.values())) == pytest.approx(neighbourhood.difference[group])
    drawn = run_audit(
        model, table, AuditParameters(mode="sampled", guarantee="per-group", stability=0)
    )
    assert drawn.moved_differences(0) == {}


def test_few_people_come_first_by_the_score_and_not_by_the_lower_bound() -> None:
    # Of 60 people 30 are selected, by a coin; of 4,000 women 45%, and of 4,000 men 25%.
    land = np.repeat(["x", "y", "y"], [60, 4000, 4000])
    gender = np.repeat(["f", "m", "f", "m"], [30, 30, 4000, 4000])
    selected = np.r_[np.tile([1, 1, 0], 20), np.arange(4000) % 20 < 9, np.arange(4000) % 4 < 1]
    frame = pd.DataFrame({"land": land, "gender": gender, "number": selected * 50})
    features = {
        "land": {"type": "categorical", "values": ["x", "y"], "sensitive": True},
        "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "number": {"type": "integer", "range": [0, 100]},
    }

    def decide(rows: pd.DataFrame) -> Any:
        return np.where(rows["number"] > 25, "yes", "no")

    first = {
        rank_by: testsgd.audit(
            decide, frame, specification(features), rank_by=rank_by, **QUICK
        ).groups.iloc[0]
        for rank_by in ("auto", "lower-bound", "score")
    }
    assert "land" in first["score"]["text"]
    assert first["auto"]["text"] == first["lower-bound"]["text"]
    # 4,000 or more on each side, in whatever words.
    assert min(first["auto"]["n_in"], first["auto"]["n_out"]) >= 4000
    bounds = {name: max(group["ci_low"], -group["ci_high"]) for name, group in first.items()}
    assert bounds["auto"] > bounds["score"]
    assert first["score"]["score"] > first["auto"]["score"]


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
def test_rules_found_on_one_part_are_those_of_an_audit_of_it(estimand: str) -> None:
    frame = people(3000, 8)

    def decide(rows: pd.DataFrame) -> Any:
        hard = (rows["sex"] == "f") & (rows["land"] == "b")
        return np.where(rows["points"] < np.where(hard, 20_000, 60_000), "yes", "no")

    given = {"estimand": estimand, "seed": 5, "stability": 20}
    found = audited(decide, frame, holdout=0.4, **given)
    searched, _ = split_rows(check_table(frame, PEOPLE), 0.4, 5)
    there = run_audit(
        load_model(decide, PEOPLE),
        searched,
        AuditParameters(**QUICK | given | {"guarantee": "per-group"}),
    )
    assert [found.rule_set(rule.group).text for rule in found.rules] == [
        there.rule_set(rule.group).text for rule in there.rules
    ]
    assert [rule.share for rule in found.rules] == [rule.share for rule in there.rules]
    assert found.rule_set(found.rules[0].group).text == "sex = f and land = b"
    assert list(found.stability.values()) == list(there.stability.values())
    assert set(found.stability) == set(found.explaining)
    # Its own difference is that of the part kept.
    assert found.estimates.rows_in.max() < found.rows < len(frame)


def test_what_restricts_a_headline_stands_in_it() -> None:
    whole = testsgd.audit(None, None, "demo", limit=20_000, **QUICK).verdict.headline
    assert "(" not in whole.replace("(", "", 2).replace("%)", "")
    part = testsgd.audit(None, None, "demo", limit=4000, theta=0.05, holdout=0.5, **QUICK)
    for restriction in ("4,000", "20,000", "2,000", "100 rows"):
        assert restriction in part.verdict.headline


def test_the_first_group_by_the_other_estimand_is_named() -> None:
    # Race decides by way of x, which a step of x takes away; sex and a number decide too.
    source, rows = np.random.default_rng(0), 6000
    race = source.choice(["a", "b"], rows)
    frame = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "race": race,
            "x": (race == "b").astype(int),
            "number": source.integers(0, 100, rows),
        }
    )
    features = {
        "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "race": {"type": "categorical", "values": ["a", "b"], "sensitive": True},
        "x": {"type": "integer", "range": [0, 1]},
        "number": {"type": "integer", "range": [0, 100]},
    }

    def decide(people: pd.DataFrame) -> Any:
        chosen = (people["x"] == 1) | ((people["sex"] == "f") & (people["number"] > 60))
        return np.where(chosen, "yes", "no")

    result = testsgd.audit(
        decide, frame, specification(features), estimand="neighbourhood", **QUICK
    )
    assert result.summary.groups[0].text == "sex = m and race = a"
    assert result.summary.estimands[1].first == "race = a"
    assert any("another group" in sentence for sentence in result.verdict.sentences)
