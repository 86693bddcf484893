"""The sensitive features' own effect against plain loops over rows and cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from plain_audit import GENDERS, HOUSINGS, SPECIFICATION, Row, as_model, frame_of
from scipy.stats import binom

import testsgd
from testsgd.auditing.findings import TableFindings
from testsgd.auditing.own_effect import Donors, OwnEffects, Responses
from testsgd.auditing.report.own_effects import own_effect_sentence
from testsgd.data import DatasetSpecification, check_table
from testsgd.errors import ParameterError
from testsgd.scoring import Clusters

QUICK: dict[str, Any] = {"replicates": 19, "stability": 0, "min_rows": 1}
SENSITIVE = ("gender", "age", "member")

PEOPLE: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "region": {"type": "categorical", "values": ["east", "west"], "sensitive": True},
        "merit": {"type": "integer", "range": [0, 99]},
    },
}


def rows_of_chance(number: int, seed: int = 0) -> list[Row]:
    generator = np.random.default_rng(seed)
    return [
        {
            "gender": GENDERS[generator.integers(3)],
            "open_loans": int(generator.integers(4)),
            # Somebody whose age is not known is in a cell, and in no interval.
            "age": None if place % 9 == 0 else int(generator.integers(9)),
            "housing": HOUSINGS[generator.integers(3)],
            "member": bool(generator.integers(2)),
        }
        for place in range(number)
    ]


def decide(row: Row) -> bool:
    age = -1 if row["age"] is None else row["age"]
    points = 3 * GENDERS.index(row["gender"]) + age + 2 * row["open_loans"]
    return bool((points + 4 * row["member"] + HOUSINGS.index(row["housing"])) % 7 < 3)


def cell_of(row: Row) -> tuple[Any, ...]:
    age = row["age"]
    return (row["gender"], None if age is None else min(int(age) // 2, 3), row["member"])


def people(number: int, seed: int, *, proxy: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    gender = generator.choice(["female", "male"], number)
    merit = generator.integers(0, 100, number)
    return pd.DataFrame(
        {
            "gender": gender,
            "region": generator.choice(["east", "west"], number),
            "merit": np.where(gender == "male", 99 - merit // 2, merit // 2) if proxy else merit,
        }
    )


def by_merit(frame: pd.DataFrame) -> Any:
    return np.where(frame["merit"] >= 50, "yes", "no")


def by_gender(frame: pd.DataFrame) -> Any:
    return np.where(frame["gender"] == "male", "yes", "no")


def by_both(frame: pd.DataFrame) -> Any:
    return np.where(frame["merit"] + 20 * (frame["gender"] == "male") >= 50, "yes", "no")


def findings_of(model: Any, frame: pd.DataFrame, **chosen: Any) -> TableFindings:
    found = testsgd.audit(model, frame, PEOPLE, **(QUICK | chosen)).findings
    assert isinstance(found, TableFindings)
    return found


def known(findings: TableFindings) -> OwnEffects:
    assert findings.own_effects is not None
    return findings.own_effects


def expected_effects(
    rows: list[Row], findings: TableFindings, decides: Callable[[Row], bool]
) -> list[float]:
    """Compute each group's own effect by loops over rows, cells and the people of each cell."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(cell_of(row), []).append(row)
    rate = {
        cell: np.mean(
            [
                decides(row | {name: one[name] for name in SENSITIVE})
                for row in rows
                for one in those
            ]
        )
        for cell, those in cells.items()
    }
    groups = np.arange(len(findings.rule_sets))
    members = findings.rule_sets.members(groups, findings.contingency)
    no_age = np.array([row["age"] is None for row in rows])
    rates = np.array([rate[cell_of(row)] for row in rows])
    expected = []
    for group, inside in enumerate(members[:, findings.contingency.cell_of_row]):
        text = findings.rule_set(group).text
        by_age = "age" in text and "age = missing" not in text
        outside = ~inside & ~(by_age & no_age)
        expected.append(float(rates[inside].mean() - rates[outside].mean()))
    return expected


def test_effects_of_values_are_those_of_plain_loops() -> None:
    def decides(row: Row) -> bool:
        return decide(row | {"age": None})

    rows = rows_of_chance(70)
    result = testsgd.audit(as_model(decides), frame_of(rows), SPECIFICATION, top=10_000, **QUICK)
    findings = result.findings
    assert isinstance(findings, TableFindings)
    effects = known(findings)
    assert effects.queries == len({cell_of(row) for row in rows}) * len(rows)
    assert len(findings.rule_sets) > 50
    assert effects.effects == pytest.approx(expected_effects(rows, findings, decides), abs=1e-12)
    # The document says the same of the groups that it holds.
    for summary in result.summary.groups:
        group = int(findings.ranking[summary.rank - 1])
        assert summary.own_effect is not None
        assert summary.own_effect.difference == effects.effects[group]
        assert summary.own_effect.observed_difference == summary.difference


@pytest.mark.slow
def test_effects_of_numbers_are_on_average_those_of_plain_loops() -> None:
    """Each row is given the number of one of a cell's people, another one in another order."""
    rows = rows_of_chance(50)
    drawn = []
    for seed in range(25):
        order = np.random.default_rng(seed).permutation(len(rows))
        rows = [rows[place] for place in order]
        findings = testsgd.audit(as_model(decide), frame_of(rows), SPECIFICATION, **QUICK).findings
        assert isinstance(findings, TableFindings)
        drawn.append(known(findings).effects)
    expected = np.array(expected_effects(rows, findings, decide))
    errors = np.std(drawn, axis=0, ddof=1) / np.sqrt(len(drawn))
    assert errors.max() > 0
    # Some hundred groups at once, and 24 degrees of freedom.
    assert (np.abs(np.mean(drawn, axis=0) - expected) <= 6 * errors + 1e-12).all()


@pytest.mark.parametrize("cut", range(36, 42))
def test_a_cut_within_a_bin_is_seen(cut: int) -> None:
    """A model that goes by the age alone, wherever it cuts, has all of the difference itself."""
    generator = np.random.default_rng(cut)
    frame = pd.DataFrame(
        {
            "age": generator.integers(18, 80, 2_000),
            "income": generator.normal(50, 10, 2_000).round(1),
        }
    )
    result = testsgd.audit(
        lambda rows: (rows["age"] != cut).to_numpy(),
        frame,
        sensitive_features=["age"],
        groups=["36 <= age < 42"],
        features={"age": {"type": "integer", "range": [18, 79], "edges": [18, 36, 42, 80]}},
        **QUICK,
    )
    (group,) = result.summary.groups
    assert group.difference < -0.1
    assert group.own_effect is not None
    low, high = group.own_effect.confidence_interval
    assert low <= group.difference <= high
    assert high < 0


@pytest.mark.slow
def test_intervals_hold_the_effect_of_all_values_of_a_bin() -> None:
    """Even where a bin's values are answered differently; 95% intervals of 60 sets of rows."""
    held = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {"age": generator.integers(0, 40, 300), "income": generator.integers(0, 100, 300)}
        )
        result = testsgd.audit(
            lambda rows: ((rows["age"] % 3 == 0) & (rows["income"] >= 30)).to_numpy(),
            frame,
            sensitive_features=["age"],
            groups=["age < 20"],
            features={"age": {"type": "integer", "range": [0, 39], "edges": [0, 20, 40]}},
            guarantee="per-group",
            **QUICK,
        )
        (group,) = result.summary.groups
        young = frame["age"] < 20
        shares = (frame["age"] % 3 == 0).groupby(young).mean()
        # Of all people seven in ten have the income.
        truth = 0.7 * (shares[True] - shares[False])
        assert group.own_effect is not None
        low, high = group.own_effect.confidence_interval
        held += low <= truth <= high
    assert held >= binom.ppf(0.001, 60, 0.95)


def test_the_standard_error_is_that_of_the_rows_means() -> None:
    findings = findings_of(by_both, people(200, 1))
    effects = known(findings)
    weights = effects.weights(np.arange(len(findings.rule_sets)))
    frame = people(200, 1)
    decided = []
    _, sources = np.unique(findings.contingency.cell_of_row, return_index=True)
    for source in sources:
        changed = frame.assign(gender=frame["gender"].iloc[source])
        decided.append(by_both(changed) == "yes")
    rows = findings.contingency.tally()
    assert effects.responses is not None
    errors = effects.responses.standard_errors(weights)
    for group in range(len(findings.rule_sets)):
        inside = findings.rule_sets.members(np.array([group]), findings.contingency)[0]
        mixture = inside * rows / rows[inside].sum() - ~inside * rows / rows[~inside].sum()
        means = mixture @ np.array(decided, dtype=float)
        assert means.mean() == pytest.approx(effects.effects[group], abs=1e-12)
        squares = ((means - means.mean()) ** 2).sum() + 2
        assert errors[group] == pytest.approx(np.sqrt(squares / 199 / 200), rel=1e-9)


def test_donors_are_the_rows_of_a_tuple_by_their_numbers() -> None:
    rows = [
        {"gender": "male", "open_loans": 1, "age": age, "housing": "rent", "member": True}
        for age in (5, 4, 4, 0, 8, 6, 7)
    ]
    table = check_table(
        frame_of([*rows, rows[0] | {"gender": "other", "member": False}]),
        DatasetSpecification.model_validate(SPECIFICATION),
    )
    donors = Donors.of(table, np.array([0, 0, 0, 0, 0, 0, 0, 1]), ["gender", "age", "member"])
    at = donors.at(np.array([0, 0, 0, 1, 1]), np.array([0.0, 0.5, 0.999, 0.0, 0.999]))
    assert table.frame["age"].iloc[at].tolist() == [0, 5, 8, 5, 5]
    assert donors.counts.tolist() == [7, 1]


def test_features_that_the_model_is_not_given_have_no_effect() -> None:
    class Fitted:
        feature_names_in_ = np.array(["merit"], dtype=object)

        def predict(self, frame: pd.DataFrame) -> Any:
            assert list(frame.columns) == ["merit"]
            return by_merit(frame)

    findings = findings_of(Fitted(), people(400, 2, proxy=True))
    effects = known(findings)
    assert effects.not_given
    assert effects.queries == 0
    assert not effects.effects.any()
    assert findings.estimates.score.max() > 0.9
    low, high = effects.intervals(np.arange(2), np.array([0.05, 0.05]))
    assert not low.any()
    assert not high.any()


def test_a_ranking_by_effects_that_are_all_nothing_is_by_differences() -> None:
    """So that a gate on own effects goes on when the features are taken from the model."""

    class Fitted:
        feature_names_in_ = np.array(["merit"], dtype=object)

        def predict(self, frame: pd.DataFrame) -> Any:
            return by_merit(frame)

    frame = people(400, 2, proxy=True)
    by_effects, by_bounds = (
        testsgd.audit(Fitted(), frame, PEOPLE, rank_by=rank_by, **QUICK).summary
        for rank_by in ("counterfactual", "lower-bound")
    )
    assert by_effects.groups == by_bounds.groups
    assert by_effects.parameters.rank_by == "lower-bound"
    assert len(by_effects.data.notes) == len(by_bounds.data.notes) + 1


def test_a_proxy_is_no_own_effect() -> None:
    result = testsgd.audit(by_merit, people(400, 3, proxy=True), PEOPLE, **QUICK)
    first = result.summary.groups[0]
    assert first.own_effect is not None
    assert abs(first.difference) > 0.9
    assert first.own_effect.difference == 0
    assert not first.own_effect.not_given
    low, high = first.own_effect.confidence_interval
    assert -0.01 < low < 0 < high < 0.01
    assert "0.0 of " in own_effect_sentence(first.own_effect)


def test_all_of_a_difference_may_be_an_own_effect() -> None:
    findings = findings_of(by_gender, people(400, 4))
    assert known(findings).effects == pytest.approx(findings.estimates.difference, abs=1e-12)


@pytest.mark.parametrize("people_a_cluster", [1, 4])
def test_intervals_cover_the_effect_in_the_population(people_a_cluster: int) -> None:
    """Of many samples the true effect is in the interval as often as promised."""
    generator = np.random.default_rng(5)
    runs, size, covered = 400, 120, 0
    # Rows answer yes with the first tuple with a chance of 0.5, with the second of 0.3.
    weights = np.array([[1.0, -1.0]])
    for _ in range(runs):
        merit = np.repeat(generator.random(size), people_a_cluster)
        decisions = np.column_stack([merit < 0.5, merit < 0.3]).astype(np.uint8)
        clusters = None
        if people_a_cluster > 1:
            order = generator.permutation(len(merit))
            decisions = decisions[order]
            clusters = Clusters.of(np.repeat(np.arange(size), people_a_cluster)[order])
        responses = Responses.of(decisions, clusters)
        assert responses.units == size
        effect = weights[0] @ responses.favourable / responses.rows
        margin = 1.96 * responses.standard_errors(weights)[0]
        covered += abs(effect - 0.2) <= margin
    assert binom.cdf(covered, runs, 0.95) > 0.001
    assert binom.sf(covered - 1, runs, 0.99) > 0.001


def test_groups_may_be_ranked_by_own_effects() -> None:
    frame = people(600, 6, proxy=True)
    findings = findings_of(by_both, frame, rank_by="counterfactual")
    effects = known(findings)
    bounds = effects.lower_bounds(findings.guarantee.errors)
    assert bounds[findings.ranking[0]] == bounds.max() > 0
    assert np.all(np.diff(bounds[findings.ranking]) <= 0)
    result = testsgd.audit(by_both, frame, PEOPLE, rank_by="counterfactual", **QUICK)
    assert "own effect of the sensitive features" in result.to_markdown()


def test_the_gate_is_about_differences_whatever_ranks() -> None:
    """A proxy has no own effect; its difference is no less one."""
    frame = people(600, 7, proxy=True)
    statuses = {
        testsgd.audit(
            by_both, frame, PEOPLE, fail_above=0.3, rank_by=rank_by, **QUICK
        ).summary.verdict.status
        for rank_by in ("auto", "counterfactual")
    }
    assert statuses == {"gate_failed"}


def by_gender_against_merit(frame: pd.DataFrame) -> Any:
    """Women need less: what is given back to them hides in equal rates."""
    women = frame["gender"] == "female"
    return np.where(frame["merit"] >= np.where(women, 25, 75), "yes", "no")


def test_the_gate_of_a_ranking_by_own_effects_is_about_these_too() -> None:
    """Women have less merit, and the model makes up for it exactly: rates are alike."""
    frame = people(2000, 12)
    frame["merit"] = frame["merit"] // 2 + 50 * (frame["gender"] == "male")
    statuses = {}
    for rank_by in ("auto", "counterfactual"):
        result = testsgd.audit(
            by_gender_against_merit, frame, PEOPLE, fail_above=0.15, rank_by=rank_by, **QUICK
        )
        statuses[rank_by] = result.summary.verdict.status
    assert statuses["auto"] != "gate_failed"
    assert statuses["counterfactual"] == "gate_failed"


@pytest.mark.parametrize(
    ("model", "chosen", "why"),
    [
        (by_both, {"mode": "sampled"}, "draws samples"),
        (by_both, {"max_queries": 3_500}, "queries"),
        (by_both, {"nondeterministic": 2}, "answers differently"),
    ],
)
def test_a_ranking_that_cannot_be_is_refused_in_one_line(
    model: Any, chosen: dict[str, Any], why: str
) -> None:
    with pytest.raises(ParameterError, match=why) as caught:
        findings_of(model, people(600, 8), rank_by="counterfactual", **chosen)
    assert "\n" not in str(caught.value)
    findings = findings_of(model, people(600, 8), **chosen)
    assert findings.own_effects is None
    assert why in findings.own_effects_unknown


def test_the_full_table_is_asked_about_if_the_queries_that_are_left_are_enough() -> None:
    asked = []

    def model(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return by_both(frame)

    findings = findings_of(model, people(600, 9))
    assert findings.queries == sum(asked)
    assert known(findings).queries == 4 * 600
    enough = findings_of(by_both, people(600, 9), max_queries=findings.queries)
    assert enough.own_effects is not None
    short = findings_of(by_both, people(600, 9), max_queries=findings.queries - 1)
    assert short.own_effects is None
    assert short.queries < findings.queries


def test_threads_change_nothing() -> None:
    one, two = (findings_of(by_both, people(600, 10), jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(known(one).effects, known(two).effects)


def test_held_out_rows_have_own_effects() -> None:
    findings = findings_of(by_both, people(600, 11), holdout=0.5)
    assert len(known(findings).effects) == len(findings.rule_sets)


def test_the_demo_says_how_much_is_by_the_features_themselves() -> None:
    result = testsgd.audit(None, None, "demo", stability=0, replicates=19)
    first = result.summary.groups[0]
    assert first.own_effect is not None
    low, high = first.own_effect.confidence_interval
    assert low < first.own_effect.difference < high < -0.2
    sentence = own_effect_sentence(first.own_effect)
    assert "by the sensitive features themselves" in sentence
    assert sentence in result.to_markdown()
    assert "Own effect, points" in result.to_markdown()
