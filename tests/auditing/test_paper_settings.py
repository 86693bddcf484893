"""The paper's settings at once, and what is given beside them."""

from __future__ import annotations

from typing import Any

import few_groups
import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ParameterError

# Zhang et al., TestSGD, Table 2 (theta, sample_thr, error_thr, delta), section 4.3 and Algorithm 2.
TABLE = {"theta": 0.05, "min_samples": 1000, "error_margin": 0.05, "confidence": 0.95}
FURTHER = {
    "estimand": "neighbourhood",
    "mode": "sampled",
    "sampling": "independent",
    "interval": "wald",
    "rank_by": "score",
    "guarantee": "per-group",
}


def audited(**options: Any) -> testsgd.AuditResult:
    return testsgd.audit(
        few_groups.by_income, few_groups.people(600), few_groups.SPECIFICATION, **options
    )


def test_all_settings_are_taken_at_once_and_are_as_if_written_out() -> None:
    paper = audited(as_paper=True, seed=3)
    written_out = audited(**TABLE, **FURTHER, seed=3)
    chosen = paper.summary.parameters
    assert {name: getattr(chosen, name) for name in {**TABLE, **FURTHER}} == {**TABLE, **FURTHER}
    assert paper.summary.groups == written_out.summary.groups
    assert paper.summary.guarantee.critical_value is None
    assert paper.summary.mode == "sampled"
    for group in paper.summary.groups:
        assert min(group.samples_in, group.samples_out) > 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [("theta", 0.25), ("mode", "exact"), ("sampling", "pooled"), ("guarantee", "simultaneous")],
)
def test_what_is_given_wins(name: str, value: Any) -> None:
    chosen = audited(as_paper=True, **{name: value}).summary.parameters
    assert getattr(chosen, name) == value
    others = {key: item for key, item in {**TABLE, **FURTHER}.items() if key != name}
    assert {key: getattr(chosen, key) for key in others} == others


def test_another_metric_is_refused() -> None:
    with pytest.raises(ParameterError, match="metric"):
        audited(as_paper=True, metric="accuracy")


def test_a_named_group_is_sampled_as_algorithm_2_has_it() -> None:
    summary = audited(as_paper=True, groups="gender = 1").summary
    [group] = summary.groups
    assert (summary.parameters.sampling, group.text) == ("independent", "gender = 1")
    assert group.margin_method == "wald"
    assert group.margin <= 0.05


@pytest.mark.parametrize(("as_paper", "limit"), [(True, 37.5), (False, 38)])
def test_the_papers_limits_of_integers_are_not_rounded(as_paper: bool, limit: float) -> None:
    rows = pd.DataFrame({"age": [20, 30, 40, 55] * 50})
    result = testsgd.audit(
        lambda frame: np.where(frame["age"] > 35, "yes", "no"),
        rows,
        {
            "dataset": {"name": "ages"},
            "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
            "features": {"age": {"type": "integer", "range": [20, 55], "sensitive": True}},
        },
        as_paper=as_paper,
        bins=2,
        stability=0,
        replicates=99,
    )
    assert f"age < {limit:g}" in set(result.groups["text"])
