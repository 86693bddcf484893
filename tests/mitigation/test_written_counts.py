"""What is counted of two models on the same rows: against masks, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from testsgd.mitigation.candidate_evaluation import DecisionCounts

ROWS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=60)


def counted(rows: list[tuple[bool, bool, bool]]) -> DecisionCounts:
    before, after, labels = np.array(rows, dtype=bool).reshape(-1, 3).T
    return DecisionCounts.of(before, after, labels)


@given(ROWS)
def test_counts_are_those_of_confusion_matrices(rows: list[tuple[bool, bool, bool]]) -> None:
    counts = counted(rows)
    before, after, labels = np.array(rows, dtype=bool).T
    for decided, true, false, right in (
        (before, counts.true_positives_before, counts.false_positives_before, counts.right_before),
        (after, counts.true_positives_after, counts.false_positives_after, counts.right_after),
    ):
        (tn, fp), (fn, tp) = confusion_matrix(labels, decided, labels=[False, True])
        assert (true, false, right) == (tp, fp, tp + tn)
        assert counts.negatives == tn + fp
        assert counts.positives == tp + fn
    right = (before == labels, after == labels)
    assert counts.mended == (right[1] & ~right[0]).sum()
    assert counts.broken == (right[0] & ~right[1]).sum()
    assert counts.gained == (after & ~before).sum()
    assert counts.lost == (before & ~after).sum()
    assert counts.accuracy_drop == pytest.approx(100 * (right[0].mean() - right[1].mean()))
    if 0 < labels.sum() < len(labels):
        first, second = (balanced_accuracy_score(labels, one) for one in (before, after))
        assert counts.balanced_drop == pytest.approx(100 * (first - second))


@given(ROWS, ROWS)
def test_parts_add_up(
    rows: list[tuple[bool, bool, bool]], others: list[tuple[bool, bool, bool]]
) -> None:
    assert counted(rows) + counted(others) == counted(rows + others)


def law(refused: int, rightly: int) -> DecisionCounts:
    """Of 4,482 held-out people 234 do not pass; the original refuses 52, 24 of them rightly."""
    labels = np.arange(4_482) >= 234
    before, after = np.ones((2, 4_482), dtype=bool)
    before[:24] = before[234:262] = False
    after[:rightly] = after[234 : 234 + refused - rightly] = False
    return DecisionCounts.of(before, after, labels)


@pytest.mark.parametrize(
    ("refused", "rightly", "one_sided"),
    [(13, 7, True), (52, 24, False), (26, 12, False), (25, 12, True), (40, 11, True), (0, 0, True)],
)
def test_refusals_that_go_wholesale_are_one_sided(
    refused: int, rightly: int, one_sided: bool
) -> None:
    assert law(refused, rightly).one_sided is one_sided
