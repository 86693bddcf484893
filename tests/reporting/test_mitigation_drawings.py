"""The drawings of a mitigation: everything stands where its number says, within the drawing."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitigation_documents import (
    MITIGATIONS,
    as_mitigation,
    few_held_out_document,
    no_candidate_document,
    one_target_document,
    rates,
    several_targets_document,
)

from testsgd.report.formatting import MINUS
from testsgd.reporting.mitigation import MitigationSummary, drawings


@pytest.fixture(params=MITIGATIONS)
def summary(request: pytest.FixtureRequest) -> MitigationSummary:
    return as_mitigation(MITIGATIONS[request.param]())


def _at(low: float, high: float, value: float) -> float:
    return 100 * (value - low) / (high - low)


def test_a_gap_joins_the_two_rates() -> None:
    summary = as_mitigation(one_target_document())
    scale = drawings.gap_scale(summary.targets)
    everywhere, held_out = drawings.gap_rows(summary.targets[0], scale, "rows", kept=True)
    before, after = everywhere.gaps
    assert (everywhere.label, held_out.label) == ("All rows", "Held-out rows")
    assert [before.label, after.label] == ["Before", "After"]
    assert before.inside == pytest.approx(_at(scale.low, scale.high, 0.4204), abs=0.051)
    assert before.outside == pytest.approx(_at(scale.low, scale.high, 0.1261), abs=0.051)
    assert before.start == before.outside
    assert before.start + before.width == pytest.approx(before.inside, abs=0.11)
    assert (before.left, before.right, before.value) == ("12.6%", "42.0%", "+29.4 points")
    assert after.width < before.width
    assert everywhere.remark == held_out.remark == ""


def test_the_lower_rate_is_written_at_the_left_whichever_side_it_is_of() -> None:
    summary = as_mitigation(several_targets_document())
    women = summary.targets[1]
    gap = drawings.gap_rows(women, drawings.gap_scale(summary.targets), "rows", kept=True)[0].gaps[
        0
    ]
    assert (gap.left, gap.right, gap.side) == ("8.1%", "26.3%", "less")
    assert gap.start == gap.inside < gap.outside


def test_without_a_retrained_model_there_is_no_after() -> None:
    summary = as_mitigation(no_candidate_document())
    scale = drawings.gap_scale(summary.targets)
    for rows in drawings.gap_rows(summary.targets[0], scale, "rows", kept=False):
        assert [gap.label for gap in rows.gaps] == ["Original model"]


def test_few_held_out_rows_and_empty_sides_are_remarked_upon() -> None:
    document = few_held_out_document()
    summary = as_mitigation(document)
    scale = drawings.gap_scale(summary.targets)
    assert "too few" in drawings.gap_rows(summary.targets[0], scale, "rows", kept=True)[1].remark
    for key in ("held_out_before", "held_out_after"):
        document["targets"][0][key] = rates(0, 200, 0.0, 0.5)
    held_out = drawings.gap_rows(as_mitigation(document).targets[0], scale, "rows", kept=True)[1]
    assert held_out.gaps == ()
    assert held_out.remark


def test_everything_lies_within_the_drawing(summary: MitigationSummary) -> None:
    scale = drawings.gap_scale(summary.targets)
    places = []
    for target in summary.targets:
        for rows in drawings.gap_rows(target, scale, "rows", kept=True):
            places += [at for gap in rows.gaps for at in (gap.inside, gap.outside)]
    groups = [*summary.all_rows.worst, *summary.all_rows.risen, *summary.targets]
    shift_scale = drawings.shift_scale(groups)
    for shift in drawings.shifts(groups, shift_scale):
        places += [shift.start, shift.start + shift.width, shift.after.start]
        places += [shift.after.start + shift.after.width]
    chart = drawings.trade_off(summary)
    assert chart is not None
    places += [at for one in (*chart.points, *chart.chosen) for at in (one.x, one.y)]
    places += [chart.budget]
    assert min(places) >= -0.1
    assert max(places) <= 100.1


def test_a_shift_goes_from_before_to_after() -> None:
    summary = as_mitigation(one_target_document())
    scale = drawings.shift_scale(summary.targets)
    (shift,) = drawings.shifts(summary.targets, scale)
    target = summary.targets[0]
    assert shift.before == pytest.approx(_at(scale.low, scale.high, 0.2943), abs=0.051)
    assert shift.after.at == pytest.approx(_at(scale.low, scale.high, 0.0808), abs=0.051)
    assert target.after.interval is not None
    low, high = (_at(scale.low, scale.high, end) for end in target.after.interval)
    assert shift.after.start == pytest.approx(low, abs=0.051)
    assert shift.after.start + shift.after.width == pytest.approx(high, abs=0.11)
    assert scale.low < 0 < scale.high


def test_the_chart_has_every_candidate_once(summary: MitigationSummary) -> None:
    chart = drawings.trade_off(summary)
    assert chart is not None
    assert len(chart.points) + len(chart.chosen) + chart.beyond == len(summary.candidates)
    assert len(chart.chosen) == sum(one.chosen for one in summary.candidates)
    for point in chart.points:
        # A position is rounded to a tenth of a per cent.
        assert point.x <= chart.budget + 0.1 if point.allowed else point.x >= chart.budget - 0.1
    assert all(mark.x <= chart.budget + 0.1 for mark in chart.chosen)


def test_points_know_the_kind_of_their_samples(summary: MitigationSummary) -> None:
    chart = drawings.trade_off(summary)
    assert chart is not None
    listed = [one.kind for one in summary.candidates if not one.chosen]
    found = Counter(point.kind for point in chart.points)
    assert found <= Counter(listed)
    assert found.total() + chart.beyond == len(listed)
    assert set(chart.kinds) == set(found)
    order = ("none", "counter", "odds", "shifted", "anchored")
    assert list(chart.kinds) == sorted(chart.kinds, key=order.index)


def test_a_chosen_point_tells_its_kind_and_weight() -> None:
    document = one_target_document()
    for one in document["candidates"]:
        if one["chosen"]:
            one |= {"kind": "odds", "weight": 2.5, "samples": 690}
    chart = drawings.trade_off(as_mitigation(document))
    assert chart is not None
    for mark in chart.chosen:
        assert "690 samples of the kind odds, weight 2.5" in mark.title


def test_the_original_model_loses_nothing() -> None:
    summary = as_mitigation(one_target_document())
    chart = drawings.trade_off(summary)
    assert chart is not None
    assert chart.origin is not None
    zero = next(tick.at for tick in chart.x_scale.ticks if tick.label == "0")
    assert chart.origin.x == zero
    before = 100 * (1 - summary.targets[0].choice_before / chart.y_scale.high)
    assert chart.origin.y == pytest.approx(before, abs=0.051)
    document = one_target_document()
    document["targets"][0]["choice_before"] = None
    without = drawings.trade_off(as_mitigation(document))
    assert without is not None
    assert without.origin is None
    assert len(without.chosen) == 3


def test_points_of_accuracy_are_no_per_cent() -> None:
    document = one_target_document()
    document["candidates"][-1] |= {"accuracy_drop": 0.97, "allowed": False, "chosen": False}
    chart = drawings.trade_off(as_mitigation(document))
    assert chart is not None
    labels = [tick.label for tick in chart.x_scale.ticks]
    assert labels[0].startswith(MINUS)
    assert labels[-1] == "1"
    assert not any("%" in label or "-" in label for label in labels)


def test_a_candidate_far_away_does_not_squeeze_the_others() -> None:
    document = one_target_document()
    document["candidates"].append(
        document["candidates"][1] | {"accuracy_drop": 35.0, "allowed": False}
    )
    chart = drawings.trade_off(as_mitigation(document))
    assert chart is not None
    assert chart.beyond == 1
    assert chart.x_scale.high < 0.02


def test_without_any_score_there_is_no_chart() -> None:
    document = one_target_document()
    document["candidates"] = [one | {"scores": [None]} for one in document["candidates"]]
    assert drawings.trade_off(as_mitigation(document)) is None


@given(
    st.lists(
        st.tuples(
            st.floats(-20, 60, allow_nan=False), st.floats(0, 1, allow_nan=False), st.booleans()
        ),
        min_size=1,
        max_size=12,
    ),
    st.floats(0, 5, allow_nan=False),
)
def test_any_candidates_can_be_drawn(found: list[tuple[float, float, bool]], limit: float) -> None:
    document = one_target_document()
    document["settings"]["max_accuracy_drop"] = limit
    document["candidates"] = [
        {
            "run": 1, "step": 1, "stage": "epoch 1", "kind": "odds", "weight": 1.0, "samples": 50,
            "accuracy_drop": drop, "scores": [score], "allowed": drop <= limit,
            "chosen": chosen and drop <= limit,
        }
        for drop, score, chosen in found
    ]  # fmt: skip
    chart = drawings.trade_off(as_mitigation(document))
    assert chart is not None
    assert len(chart.points) + len(chart.chosen) + chart.beyond == len(found)
    assert len(chart.chosen) == sum(chosen and drop <= limit for drop, _, chosen in found)
    for one in (*chart.points, *chart.chosen):
        assert 0 <= one.x <= 100
        assert 0 <= one.y <= 100
