"""Ratios of selection rates beside their differences, and a gate by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditSummary
from testsgd.errors import ParameterError

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def two_sexes(men: tuple[int, int], women: tuple[int, int], **parameters: Any) -> AuditSummary:
    """Audit men and women of whom some are selected; pairs of selected and all."""
    sex = np.repeat(["m", "f"], [men[1], women[1]])
    selected = np.r_[np.arange(men[1]) < men[0], np.arange(women[1]) < women[0]].astype(int)
    settings = QUICK | parameters
    return testsgd.audit_predictions(
        selected, sensitive_features=pd.DataFrame({"sex": sex}), **settings
    ).summary


RARE = {"men": (150, 1000), "women": (0, 1000)}


def test_a_ratio_shows_what_a_difference_of_a_rare_label_hides() -> None:
    assert two_sexes(**RARE, fail_above=0.2).verdict.status == "gate_passed"
    by_ratio = two_sexes(**RARE, fail_below_ratio=0.8)
    assert by_ratio.verdict.status == "gate_failed"
    assert by_ratio.verdict.exit_code == 1
    first = by_ratio.groups[0]
    assert first.ratio == 0
    assert first.ratio_interval is not None
    low, high = first.ratio_interval
    assert low == 0
    assert 0 < high < 0.1


def test_a_ratio_is_of_the_smaller_rate_and_lies_within_its_interval() -> None:
    summary = two_sexes((300, 1000), (240, 1000))
    for group in summary.groups:
        assert group.ratio == pytest.approx(0.8)
        assert group.ratio_interval is not None
        low, high = group.ratio_interval
        assert low < 0.8 < high <= 1
    [observed] = summary.estimands
    assert observed.smallest_ratio == pytest.approx(0.8)


def test_a_wider_guarantee_gives_a_wider_interval_of_the_ratio() -> None:
    ends = []
    for confidence in (0.9, 0.99):
        first = two_sexes((300, 1000), (240, 1000), confidence=confidence).groups[0]
        assert first.ratio_interval is not None
        ends.append(first.ratio_interval)
    (low, high), (wide_low, wide_high) = ends
    assert wide_low < low
    assert wide_high > high


@pytest.mark.parametrize(
    ("men", "women", "strict", "status"),
    [
        ((500, 1000), (500, 1000), False, "gate_passed"),
        ((40, 80), (40, 80), False, "gate_passed"),
        # An interval still allows less than the limit.
        ((40, 80), (40, 80), True, "not_enough_evidence"),
        ((5000, 10000), (5000, 10000), True, "gate_passed"),
        # Below the limit, and maybe by chance.
        ((40, 80), (30, 80), False, "not_enough_evidence"),
        ((500, 1000), (300, 1000), False, "gate_failed"),
        # The smallest ratio there is, of a single person.
        ((1, 1000), (0, 1000), False, "not_enough_evidence"),
    ],
)
def test_the_gate_by_ratios_has_three_exits(
    men: tuple[int, int], women: tuple[int, int], strict: bool, status: str
) -> None:
    summary = two_sexes(men, women, fail_below_ratio=0.8, strict=strict)
    assert summary.verdict.status == status


@pytest.mark.parametrize("guarantee", ["per-group", "fdr"])
def test_the_gate_works_by_every_guarantee(guarantee: str) -> None:
    for women, status in (((0, 1000), "gate_failed"), ((150, 1000), "gate_passed")):
        summary = two_sexes((150, 1000), women, fail_below_ratio=0.8, guarantee=guarantee)
        assert summary.verdict.status == status


@pytest.mark.parametrize(
    ("fail_above", "fail_below_ratio", "status"),
    [
        (0.2, 0.8, "gate_failed"),
        (0.05, 0.001, "gate_failed"),
        (0.2, None, "gate_passed"),
        (0.14, None, "not_enough_evidence"),
        # By the ratio it fails, by the difference it is open.
        (0.14, 0.8, "gate_failed"),
    ],
)
def test_of_both_gates_the_worse_outcome_counts(
    fail_above: float, fail_below_ratio: float | None, status: str
) -> None:
    summary = two_sexes(**RARE, fail_above=fail_above, fail_below_ratio=fail_below_ratio)
    assert summary.verdict.status == status


def test_texts_have_no_gate_by_ratios() -> None:
    description = {
        "dataset": {"name": "mine"},
        "text": {},
        "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    }
    comments = ["An old film.", "A young cast."] * 50
    with pytest.raises(ParameterError, match="fail_below_ratio"):
        testsgd.audit(
            lambda texts: ["good"] * len(texts), comments, description, fail_below_ratio=0.8
        )
