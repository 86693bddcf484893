"""What a frontier's verdict says, and the exit code that follows, for every outcome."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.mitigation import FrontierResult, FrontierSummary, frontier_verdict
from testsgd.mitigation.frontiers.report.layout import frontier_layout, key_figures, points_table
from testsgd.mitigation.frontiers.report.summary import PointSummary, WorstOfGroups
from testsgd.mitigation.parameters import LEAST_HELD_OUT
from testsgd.report.blocks import KeyFigure
from testsgd.report.formatting import NOTHING, interval, points, size, size_points


@pytest.fixture(scope="module")
def summary() -> FrontierSummary:
    """A frontier by thresholds, which takes no refits."""
    source = np.random.default_rng(1)
    rows = 3_000
    people = pd.DataFrame(
        {"woman": source.integers(0, 2, rows), "points": source.normal(size=rows)}
    )
    chance = people["points"] - 0.8 * people["woman"] + source.logistic(0, 0.4, rows)
    labels = pd.Series(np.where(chance > 0, "yes", "no"), name="granted")
    model = LogisticRegression().fit(people, labels)
    return testsgd.fair_frontier(
        model, people, labels, sensitive_features=["woman"], method="thresholds"
    ).summary


def changed(summary: FrontierSummary, **of_point: Any) -> FrontierSummary:
    """Return a summary whose chosen point has another accuracy, or another worst difference."""
    assert summary.chosen is not None
    usual = {
        "drop": 0.001,
        "drop_interval": (-0.004, 0.006),
        "balanced_drop": 0.0,
        "balanced_drop_interval": (-0.01, 0.01),
    }
    given = {name: value for name, value in of_point.items() if name in usual}
    points = list(summary.points)
    point = points[summary.chosen]
    points[summary.chosen] = point.model_copy(
        update={
            "accuracy": point.accuracy.model_copy(update=usual | given),
            "worst": point.worst.model_copy(update={"difference": of_point.get("worst", 0.01)}),
        }
    )
    others = {"points": points, "worst_change": (-0.1, -0.05), "effects": None}
    of_summary = {*others, "chosen", "too_few_rows"}
    own = {name: value for name, value in of_point.items() if name in of_summary}
    return summary.model_copy(update=others | own)


@pytest.mark.parametrize(
    ("change", "status", "exit_code"),
    [
        ({}, "fairer", 0),
        ({"chosen": None}, "no_point", 1),
        ({"chosen": None, "too_few_rows": True}, "no_group", 3),
        ({"drop": 0.02, "drop_interval": (0.006, 0.034)}, "accuracy_lost", 1),
        ({"drop": 0.0057, "drop_interval": (-0.01, 0.022)}, "accuracy_unclear", 3),
        (
            {"balanced_drop": 0.08, "balanced_drop_interval": (0.06, 0.1)},
            "accuracy_lost",
            1,
        ),
        (
            {"balanced_drop": 0.06, "balanced_drop_interval": (0.04, 0.08)},
            "accuracy_unclear",
            3,
        ),
        ({"worst_change": (-0.02, 0.01)}, "not_certain", 3),
        ({"worst_change": (0.01, 0.03), "worst": 0.5}, "rose", 1),
    ],
)
def test_every_outcome_has_its_status_and_exit_code(
    summary: FrontierSummary, change: dict[str, Any], status: str, exit_code: int
) -> None:
    verdict = frontier_verdict(changed(summary, **change))
    assert (verdict.status, verdict.exit_code) == (status, exit_code)
    assert verdict.headline.endswith(".")
    for word in verdict.headline.split():
        assert f"{word} {word} {word}" not in verdict.headline
    result = FrontierResult(changed(summary, **change).model_copy(update={"verdict": verdict}))
    assert verdict.headline in result.to_markdown()


def test_a_few_rows_do_not_turn_success_into_failure(summary: FrontierSummary) -> None:
    """Five right decisions more or less decide between success and too few rows, never failure."""
    rows = summary.split.held_out
    codes = set()
    for more in range(-5, 6):
        drop = 0.005 + more / rows
        interval = (drop - 0.01, drop + 0.01)
        document = changed(summary, drop=drop, drop_interval=interval)
        codes.add(frontier_verdict(document).exit_code)
    assert codes == {0, 3}


def without_groups(
    summary: FrontierSummary, *, held_out: int, min_share: float = 0.05
) -> FrontierSummary:
    """Return a summary of held-out rows among which no group was compared."""
    nothing = WorstOfGroups(difference=0.0, rate="", group="")
    split = summary.split.model_copy(update={"seen": 4 * held_out, "held_out": held_out})
    document = summary.model_copy(
        update={
            "groups": 0,
            "worst_before": nothing,
            "worst_change": None,
            "points": [point.model_copy(update={"worst": nothing}) for point in summary.points],
            "split": split,
            "settings": replace(summary.settings, min_share=min_share),
            "effects": None,
            "paying": [],
        }
    )
    return document.model_copy(update={"verdict": frontier_verdict(document)})


@pytest.mark.parametrize("written", [True, False])
def test_without_groups_nothing_is_concluded(summary: FrontierSummary, written: bool) -> None:
    document = without_groups(summary, held_out=20)
    if not written:
        document = document.model_copy(update={"chosen": None})
    assert document.verdict.exit_code == 3
    assert key_figures(document).figures[0].value == NOTHING
    for row in points_table(document).rows:
        assert row.cells[1] == row.cells[-1] == NOTHING
    # Not even in sentences: of no group a size was measured.
    assert size_points(0.0) not in " ".join(
        [document.verdict.headline, *document.verdict.sentences]
    )
    assert frontier_layout(document).sections[0].blocks == (points_table(document),)


@pytest.mark.parametrize(
    ("held_out", "min_share", "needed", "share_helps"),
    [
        (20, 0.05, "300", False),
        # 30 rows are 5% of 600: below that a smaller share changes nothing.
        (500, 0.05, "", False),
        (2_000, 0.05, "", True),
        (2_000, 0.01, "", False),
    ],
)
def test_without_groups_the_remedy_is_one_that_can_help(
    summary: FrontierSummary, held_out: int, min_share: float, needed: str, share_helps: bool
) -> None:
    headline = without_groups(summary, held_out=held_out, min_share=min_share).verdict.headline
    numbers = re.findall(r"\d[\d,]*", headline)
    assert str(LEAST_HELD_OUT) in numbers
    assert not needed or needed in numbers
    assert ("min_share" in headline) == share_helps


def test_of_an_expected_worst_no_sign_is_shown(summary: FrontierSummary) -> None:
    """No group is named beside it, so a sign could not be read."""

    def turned(point: PointSummary) -> PointSummary:
        expected = point.expected
        turned_round = {"worst_after": -expected.worst_after}
        return point.model_copy(update={"expected": expected.model_copy(update=turned_round)})

    other = summary.model_copy(update={"points": [turned(point) for point in summary.points]})
    assert points_table(other).rows == points_table(summary).rows


def paying_card(summary: FrontierSummary, **of_effects: int) -> KeyFigure:
    """Return the card on groups that pay, with other counts of what became of them."""
    assert summary.effects is not None
    nothing = {"exceeded_count": 0, "unclear_count": 0, "lossy_count": 0, "unclear_losses": 0}
    effects = summary.effects.model_copy(update=nothing | of_effects)
    return key_figures(summary.model_copy(update={"effects": effects})).figures[-1]


def test_the_card_on_who_pays_counts_what_chance_may_explain(summary: FrontierSummary) -> None:
    clear = paying_card(summary)
    unclear = paying_card(summary, unclear_count=372, unclear_losses=41)
    assert clear.value != unclear.value
    gaps, groups = (line for line in unclear.about if "chance" in line)
    assert "372" in gaps
    assert "41" in groups
    assert not any("chance" in line for line in clear.about)
    # What is certain is said first, and what chance may explain stays beside it.
    paid = paying_card(summary, exceeded_count=7, unclear_count=372)
    assert paid.value == paying_card(summary, exceeded_count=7).value
    assert paid.value not in {clear.value, unclear.value}
    assert any("372" in line and "7" in line for line in paid.about)


@pytest.mark.parametrize("after", [0.0, 0.002], ids=["equal", "larger"])
@pytest.mark.parametrize("drop", [0.001, 0.0057], ids=["within", "beyond"])
def test_what_is_not_smaller_is_no_improvement(
    summary: FrontierSummary, after: float, drop: float
) -> None:
    larger = changed(
        summary,
        worst=summary.worst_before.size + after,
        worst_change=(-0.027, 0.035),
        drop=drop,
        drop_interval=(-0.01, 0.022),
    )
    verdict = frontier_verdict(larger)
    result = FrontierResult(larger.model_copy(update={"verdict": verdict}))
    assert verdict.exit_code == 3
    assert verdict.headline.startswith("No improvement")
    assert interval((-0.027, 0.035)) in verdict.headline
    [worst, *_] = key_figures(result.summary).figures
    assert worst.standing == "bad"
    assert "no improvement" in " ".join(worst.about).lower()
    smaller = changed(summary, worst=0.0, worst_change=(-0.03, 0.01))
    assert "improvement" not in frontier_verdict(smaller).headline
    # What chance may explain is not in the colour of good news either.
    smaller = smaller.model_copy(update={"verdict": frontier_verdict(smaller)})
    assert key_figures(smaller).figures[0].standing == ""
    fairer = changed(summary)
    fairer = fairer.model_copy(update={"verdict": frontier_verdict(fairer)})
    assert key_figures(fairer).figures[0].standing == "good"


def test_a_growth_that_is_not_certain_is_no_good_news(summary: FrontierSummary) -> None:
    assert summary.effects is not None
    assert summary.effects.largest is not None
    grew = summary.effects.largest.model_copy(
        update={"before": 0.056, "after": 0.126, "low": -0.011, "rate": "false_positive_rate"}
    )
    effects = summary.effects.model_copy(update={"largest": grew, "exceeded": []})
    card = paying_card(summary.model_copy(update={"effects": effects}), unclear_count=1)
    assert card.standing == ""
    about = " ".join(card.about)
    for number in (size(0.056), size_points(0.126), points(-0.011)):
        assert number in about
        assert number in " ".join(
            frontier_verdict(summary.model_copy(update={"effects": effects})).sentences
        )
    assert paying_card(summary).standing == "good"
