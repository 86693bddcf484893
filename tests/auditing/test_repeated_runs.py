"""An audit over several seeds says what audits with each of these seeds say by themselves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import testsgd
from testsgd.auditing import AuditResult, audit_decisions
from testsgd.auditing.report.layout import audit_layout
from testsgd.data import generate_demo
from testsgd.errors import ParameterError
from testsgd.report.blocks import Table

PEOPLE = generate_demo(rows=900, seed=3)[["gender", "race", "income"]]
SEEDS = [4, 5, 6]
OVERLAP = 0.8
FOLLOWED = 10
SAMPLED: dict[str, Any] = {
    "mode": "sampled",
    "estimand": "neighbourhood",
    "min_samples": 60,
    "error_margin": 0.2,
    "replicates": 99,
    "stability": 0,
    "guarantee": "per-group",
}
DESCRIPTION: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "race": {
            "type": "categorical",
            "values": ["White", "Black", "Hispanic", "Asian"],
            "sensitive": True,
        },
        "income": {"type": "integer", "range": [0, 300]},
    },
}


def grant(frame: pd.DataFrame) -> NDArray[np.str_]:
    """Women and Black people need a larger income."""
    needed = 38 + 8 * (frame["gender"] == "female") + 6 * (frame["race"] == "Black")
    return np.where(frame["income"] > needed, "yes", "no")


def audit(**options: Any) -> AuditResult:
    return testsgd.audit(grant, PEOPLE, DESCRIPTION, **{**SAMPLED, "seed": SEEDS[0], **options})


def first_distinct(result: AuditResult) -> list[int]:
    """Choose one by one by rank who is no near copy, by counting rows; return the ranks."""
    chosen: dict[int, NDArray[np.bool_]] = {}
    for row in result.groups.itertuples():
        rows = result.mask(row.rank, PEOPLE)
        if row.decided and all(jaccard(rows, other) < OVERLAP for other in chosen.values()):
            chosen[row.rank] = rows
        if len(chosen) == FOLLOWED:
            break
    return list(chosen)


def jaccard(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    return float((one & other).sum() / (one | other).sum())


SCHEMES = {
    "pooled": {},
    "ranked by score": {"rank_by": "score"},
    "one group after another": {"sampling": "independent", "interval": "wald", "rank_by": "score"},
}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_each_figure_is_that_of_an_audit_with_its_seed_alone(scheme: dict[str, Any]) -> None:
    alone = [audit(seed=seed, **scheme) for seed in SEEDS]
    together = audit(runs=len(SEEDS), **scheme).summary.runs
    assert together is not None
    assert together.seeds == SEEDS
    assert together.model_queries == [result.summary.model_queries for result in alone]
    followed = first_distinct(alone[0])
    by_rank = alone[0].groups.set_index("rank")
    assert [group.text for group in together.groups] == by_rank.loc[followed, "text"].tolist()
    assert len(followed) > 2
    tables = [result.groups.set_index("text") for result in alone]
    firsts = [[result.mask(rank, PEOPLE) for rank in first_distinct(result)] for result in alone]
    for group, rank in zip(together.groups, followed, strict=True):
        differences = [float(table.loc[group.text, "difference"]) for table in tables]
        assert len(set(differences)) > 1
        assert group.differences == pytest.approx(differences)
        assert group.ranks == [int(table.loc[group.text, "rank"]) for table in tables]
        for known, over in ((differences, group.difference), (np.abs(differences), group.score)):
            assert over is not None
            assert over.mean == pytest.approx(sum(known) / len(known))
            assert (over.lowest, over.highest) == pytest.approx((min(known), max(known)))
        rows = alone[0].mask(rank, PEOPLE)
        assert group.found == sum(
            any(jaccard(rows, other) >= OVERLAP for other in first) for first in firsts
        )


def test_all_else_is_the_audit_of_the_seed_itself() -> None:
    left_out = {"runs", "parameters", "created", "seconds"}
    several = audit(runs=2).summary.model_dump(exclude=left_out)
    assert several == audit().summary.model_dump(exclude=left_out)
    assert audit().summary.runs is None


def test_texts_are_followed_by_the_effect_that_they_are_ranked_by() -> None:
    generator = np.random.default_rng(0)
    who = np.array(["young", "old", "gay", "straight", "Christian", "Muslim"])
    what = np.array(["fine", "sad", "good", "bad"])
    texts = [
        f"A {who[generator.integers(6)]} person and a {what[generator.integers(4)]} day, {number}."
        for number in range(800)
    ]

    def judge(given: list[str]) -> list[str]:
        bad = [("old" in text or "Muslim" in text) and "sad" in text for text in given]
        return ["bad" if here else "good" for here in bad]

    description = {
        "dataset": {"name": "mine"},
        "text": {},
        "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    }
    options: dict[str, Any] = {
        "mode": "sampled", "max_queries": 3000, "min_samples": 20, "error_margin": 0.5,
        "min_rows": 20, "max_features": 1, "guarantee": "per-group",
    }  # fmt: skip
    alone = [testsgd.audit(judge, texts, description, seed=seed, **options) for seed in (0, 1)]
    runs = testsgd.audit(judge, texts, description, runs=2, **options).summary.runs
    assert runs is not None
    assert any(len(set(group.differences)) > 1 for group in runs.groups)
    for group in runs.groups:
        tables = [result.groups.set_index("text") for result in alone]
        effects = [float(table.loc[group.text, "counterfactual_effect"]) for table in tables]
        assert group.differences == pytest.approx(effects)
        assert group.ranks == [int(table.loc[group.text, "rank"]) for table in tables]


def test_named_groups_are_followed_and_not_looked_for() -> None:
    named = ["gender = female", "race = Black"]
    runs = audit(runs=2, groups=named).summary.runs
    assert runs is not None
    assert {group.text for group in runs.groups} == set(named)
    alone = [audit(seed=seed, groups=named).groups.set_index("text") for seed in SEEDS[:2]]
    for group in runs.groups:
        assert group.found is None
        assert group.differences == pytest.approx(
            [float(table.loc[group.text, "difference"]) for table in alone]
        )


def test_rows_without_a_description_are_followed_too() -> None:
    options = {**SAMPLED, "sensitive_features": ["gender", "race"], "favourable": "yes"}
    runs = testsgd.audit(grant, PEOPLE, **options, runs=2).summary.runs
    alone = [testsgd.audit(grant, PEOPLE, **options, seed=seed).groups for seed in (0, 1)]
    assert runs is not None
    for group in runs.groups:
        assert group.differences == pytest.approx(
            [float(table.set_index("text").loc[group.text, "difference"]) for table in alone]
        )


@pytest.mark.parametrize(
    "options",
    [
        {"runs": 0},
        {"runs": 2.5},
        {"runs": 1001, "mode": "sampled"},
        {"runs": 100_000_000, "mode": "sampled"},
        {"runs": 2, "mode": "exact"},
        {"runs": 2, "mode": "auto"},
        {"runs": 2, "holdout": 0.5},
        {"runs": 2, "estimand": "observed"},
    ],
    ids=str,
)
def test_what_gives_equal_numbers_or_is_no_number_of_runs_is_refused(
    options: dict[str, Any],
) -> None:
    with pytest.raises(ParameterError) as caught:
        audit(**options)
    assert caught.value.where == "runs"
    assert "\n" not in str(caught.value)


def test_observed_rates_of_a_part_of_the_rows_differ_between_runs() -> None:
    runs = audit(
        runs=2, estimand="observed", max_queries=len(PEOPLE) + 100, error_margin=0.3
    ).summary.runs
    assert runs is not None
    first, second = runs.groups[0].differences
    assert first != second


def test_predictions_and_comparisons_are_of_one_run() -> None:
    with pytest.raises(ParameterError) as caught:
        audit_decisions(grant(PEOPLE), sensitive_features=PEOPLE[["gender"]], runs=2)
    assert caught.value.where == "runs"
    with pytest.raises(ParameterError) as caught:
        testsgd.compare(grant, PEOPLE, DESCRIPTION, runs=2)
    assert caught.value.where == "runs"


def test_a_result_is_read_back_also_one_of_an_earlier_version() -> None:
    result = audit(runs=2)
    document = json.loads(result.to_json())
    assert AuditResult.from_json(json.dumps(document)).summary.runs == result.summary.runs
    del document["runs"]
    del document["parameters"]["runs"]
    earlier = AuditResult.from_json(json.dumps(document)).summary
    assert earlier.runs is None
    assert earlier.parameters.runs == 1


def test_a_report_has_a_row_for_each_group_if_there_were_several_runs() -> None:
    several = audit(runs=2).summary
    assert several.runs is not None
    [section] = [part for part in audit_layout(several).sections if part.key == "runs"]
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    assert len(table.rows) == len(several.runs.groups)
    [section] = [part for part in audit_layout(audit().summary).sections if part.key == "runs"]
    assert section.blocks == ()
