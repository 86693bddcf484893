"""The support threshold on the inside of a group only, as the paper has it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing import TableFindings
from testsgd.data import specification_from_mapping

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "sided"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "region": {"type": "categorical", "values": ["A", "B", "C"], "sensitive": True},
            "income": {"type": "integer", "range": [0, 100]},
        },
    }
)
# Of C there are four.
ROWS = {"A": 500, "B": 300, "C": 4}


def people() -> pd.DataFrame:
    regions = np.repeat(list(ROWS), list(ROWS.values()))
    income = np.random.default_rng(0).integers(1, 100, len(regions))
    return pd.DataFrame({"region": regions, "income": income})


def decide(frame: pd.DataFrame) -> Any:
    return np.where((frame["income"] > 40) & (frame["region"] != "C"), 0.9, 0.1)


def audited(**options: Any) -> testsgd.AuditResult:
    return testsgd.audit(decide, people(), SPECIFICATION, theta=0.05, **options)


def wanted(*, both: bool) -> dict[int, int]:
    """Return the sizes inside and outside of all groups that are large enough."""
    total = sum(ROWS.values())
    sizes = [
        sum(ROWS[region] for region in chosen)
        for count in (1, 2)
        for chosen in itertools.combinations(ROWS, count)
    ]
    least = 0.05 * total
    return {
        size: total - size
        for size in sizes
        if size >= least and (not both or total - size >= least)
    }


@pytest.mark.parametrize("side", ["both", "inside"])
def test_groups_are_those_with_enough_rows_on_these_sides(side: Any) -> None:
    summary = audited(theta_side=side).summary
    found = {group.n_in: group.n_out for group in summary.groups}
    assert found == wanted(both=side == "both")
    assert 800 in found or side == "both"


def test_hardly_anybody_outside_is_said_and_widens_the_interval() -> None:
    result = audited(theta_side="inside", rank_by="score")
    first = result.summary.groups[0]
    assert (first.n_in, first.n_out, first.rate_out) == (800, 4, 0.0)
    assert any("4 rows" in sentence for sentence in result.verdict.sentences)
    assert result.summary.guarantee.method == "mixed"
    low, high = first.confidence_interval
    assert high - low > 0.3
    assert "inside, and 1 outside" in result.to_markdown()


def test_the_bootstrap_is_used_where_enough_people_are_outside() -> None:
    for side in ("both", "inside"):
        generator = np.random.default_rng(3)
        frame = pd.DataFrame({"a": generator.choice(list("uvwxyz"), 6000)})
        granted = (generator.random(6000) < 0.5).astype(int)
        found = testsgd.audit_predictions(
            granted, sensitive_features=frame, theta=0.05, theta_side=side
        ).summary
        assert found.guarantee.method == "max-statistic"
        # The same groups, as no rule set has fewer than 5% outside.
        assert found.counts.groups == 31 * 2


def test_groups_with_few_people_outside_get_bonferronis_share_and_others_the_rest() -> None:
    found = audited(theta_side="inside").findings
    assert isinstance(found, TableFindings)
    errors, few = found.guarantee.errors, found.estimates.rows_out < 0.05 * sum(ROWS.values())
    assert errors[few] == pytest.approx(0.05 / len(errors))
    assert few.any()
    # The bootstrap's is never less than Bonferroni's. Two groups are nearly each other's
    # complement, so it is about that of a single one, but for the chance of 1,000 samples.
    others = errors[~few]
    assert len(set(others)) == 1
    rest = 0.05 * (1 - few.sum() / len(errors))
    assert rest / len(others) <= others[0] <= 1.5 * rest


@pytest.mark.parametrize("seed", range(3))
def test_false_alarms_are_rare_with_few_people_outside(seed: int) -> None:
    generator = np.random.default_rng([5, seed])
    runs, alarms = 60, 0
    for _ in range(runs):
        shares = [0.45, 0.3, 0.24, 0.01]
        frame = pd.DataFrame({"a": generator.choice(list("uvwx"), 500, p=shares)})
        granted = (generator.random(500) < 0.5).astype(int)
        found = testsgd.audit_predictions(
            granted, sensitive_features=frame, theta=0.05, theta_side="inside", replicates=99
        ).summary
        alarms += bool(found.guarantee.significant)
    assert alarms <= binom.ppf(0.9999, runs, 0.05)


def test_a_named_group_needs_no_more_outside() -> None:
    named = "region in {A, B}"
    assert audited(groups=named).verdict.exit_code == 3
    assert audited(groups=named, theta_side="inside").verdict.exit_code == 0


def test_the_papers_settings_have_it() -> None:
    assert audited(as_paper=True).summary.parameters.theta_side == "inside"
    assert audited(as_paper=True, theta_side="both").summary.parameters.theta_side == "both"
