"""The judge of candidates: accuracy by labels and by probabilities, and who is too one-sided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters
from testsgd.data import Table, specification_from_mapping
from testsgd.mitigation.candidate_evaluation import Evaluator
from testsgd.mitigation.data_splits import DataSplit
from testsgd.mitigation.table_splits import TableMaterial
from testsgd.mitigation.targets import Target
from testsgd.models import Model, Split, load_model
from testsgd.rules import RuleSet, ValueRule

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "people"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            # No step leads anywhere else, so that the figures can be worked out by hand.
            "place": {"type": "categorical", "values": ["here"]},
            "number": {"type": "integer", "range": [0, 99], "sensitive": True},
        },
    }
)
WOMEN = Target(1, 0, RuleSet((ValueRule("gender", ("f",)),)), "less", 0.4)
# Twenty rows to train on, ten to validate, ten held out.
ROWS, TRAINING, VALIDATION = 40, 20, 10
LABELS = np.arange(ROWS) % 2 == 0
CHANCES = np.where(LABELS, 0.7, 0.2) + np.arange(ROWS) / 400


class KnownChances(TableMaterial):
    """Rows whose probabilities are known."""

    known = True

    def probabilities(self) -> NDArray[np.float64] | None:
        return np.where(np.arange(ROWS) < 30, CHANCES, np.nan) if self.known else None


def material(*, known: bool = True) -> KnownChances:
    frame = pd.DataFrame(
        {
            "gender": pd.Categorical(["f" if row % 4 < 2 else "m" for row in range(ROWS)]),
            "place": pd.Categorical(["here"] * ROWS),
            "number": np.arange(ROWS),
        }
    )
    rows = np.arange(ROWS)
    split = DataSplit(Split(rows[:TRAINING], rows[TRAINING:30], rows[30:]), "by hand")
    found = KnownChances(
        Table(SPECIFICATION, frame, None), LABELS, split, (WOMEN,), AuditParameters(theta=0.05)
    )
    found.known = known
    return found


def model(likes: Callable[[int], bool]) -> Model:
    """Give a model that decides by the row's number."""

    def function(frame: pd.DataFrame) -> Any:
        return np.array(["yes" if likes(number) else "no" for number in frame["number"]])

    return load_model(function, SPECIFICATION).model


def right(number: int) -> bool:
    return bool(LABELS[number])


def wrong_at(*numbers: int) -> Model:
    return model(lambda number: right(number) != (number in numbers))


# One of ten validation rows is worth 10 points.
@pytest.mark.parametrize(("budget", "few"), [(9.99, True), (10.0, False), (0.0, True)])
def test_labels_are_few_if_one_is_worth_more_than_the_budget(budget: float, few: bool) -> None:
    assert Evaluator(wrong_at(), material(), budget).by_probabilities is few
    assert not Evaluator(wrong_at(), material(known=False), budget).by_probabilities


def test_labels_of_validation_rows_and_chances_of_training_rows_count() -> None:
    evaluator = Evaluator(wrong_at(21), material(), 10.0)
    # To be wrong at 0 to 3 in place of right, of twenty training rows.
    wrong = sum(abs(2 * chance - 1) for chance in CHANCES[:4]) / 20
    for candidate, lost in (
        (wrong_at(21), 0.0),
        (wrong_at(21, 25, 28), 0.2),
        (wrong_at(), 0.0),
        (wrong_at(21, 0, 1, 2, 3, 35, 36), wrong),
    ):
        assert evaluator(candidate)[0] == pytest.approx(100 * lost)


def test_where_no_chances_are_known_the_training_rows_labels_count() -> None:
    evaluator = Evaluator(wrong_at(21), material(known=False), 0.5)
    assert evaluator(wrong_at(21, 25))[0] == pytest.approx(10.0)
    assert evaluator(wrong_at(21, 0, 1, 2, 35))[0] == pytest.approx(15.0)
    assert evaluator(wrong_at())[0] == pytest.approx(0.0)


def test_the_larger_of_two_estimates_counts() -> None:
    evaluator = Evaluator(wrong_at(21), material(), 0.5)
    for candidate, by_labels, expected in (
        # Wrong at 4, whose label is the favourable one with the chance 0.7 + 0.01; it is trained
        # on, so that labels say nothing.
        (wrong_at(21, 4), 0.0, (0.71 - 0.29) / 30),
        # Wrong at 25, a validation row with the chance 0.2 + 0.0625.
        (wrong_at(21, 25), 0.1, (0.7375 - 0.2625) / 30),
        # Right at 21 in place of wrong, chance 0.2525: both gain, by labels more.
        (wrong_at(), -0.1, -(0.7475 - 0.2525) / 30),
        # Right at 21, wrong at 4 and 6.
        (wrong_at(4, 6), -0.1, (0.42 + (0.715 - 0.285) - (0.7475 - 0.2525)) / 30),
    ):
        assert evaluator(candidate)[0] == pytest.approx(100 * max(by_labels, expected))


def test_what_is_lost_is_lost_beside_the_reference() -> None:
    reference = wrong_at(0, 1, 21, 22, 23)
    evaluator = Evaluator(wrong_at(), material(known=False), 0.5, reference=reference)
    # Two of ten validation rows are gained, and two of twenty training rows.
    assert evaluator(wrong_at(24))[0] == pytest.approx(-10.0)
    # The scores before are those of the original all the same.
    assert evaluator.before.score == pytest.approx([0.0])


@pytest.mark.parametrize(
    ("likes", "refused"),
    [
        (lambda number: True, True),
        (lambda number: False, True),
        (lambda number: number == 20, True),
        # Of five decisions either way on the validation rows three are more than half.
        (lambda number: right(number) and number not in (26, 28), False),
        (lambda number: right(number) or number in (27, 29), False),
        (lambda number: right(number) and number not in (24, 26, 28), True),
        # Of fifteen that are not held out eight are more than half.
        (lambda number: right(number) and not 0 <= number < 14, False),
        (lambda number: right(number) and not 0 <= number < 16, True),
        # As often as before, but right less than half as often: for others than those who should.
        (lambda number: right(number) is (number >= 16), True),
    ],
)
def test_who_decides_or_is_right_one_way_less_than_half_as_often_is_refused(
    likes: Callable[[int], bool], refused: bool
) -> None:
    evaluator = Evaluator(wrong_at(), material(), 0.5)
    assert evaluator.refuses(model(likes)) is refused
    assert not evaluator.refuses(wrong_at())


def test_balanced_accuracy_has_a_budget_of_its_own() -> None:
    # Both wrong rows have the favourable label: of five on the validation rows, 40 points of half.
    for budget, refused in ((20.0, False), (19.9, True)):
        evaluator = Evaluator(wrong_at(), material(known=False), 100, max_balanced_drop=budget)
        assert evaluator.refuses(wrong_at(20, 22)) is refused


def test_half_as_often_is_enough() -> None:
    """Four of ten before, two of ten now."""
    evaluator = Evaluator(model(lambda number: number in (20, 21, 22, 23)), material(), 0.5)
    assert not evaluator.refuses(model(lambda number: number in (28, 29)))
    assert evaluator.refuses(model(lambda number: number == 28))


def test_scores_are_those_of_all_rows_but_the_held_out() -> None:
    evaluator = Evaluator(wrong_at(), material(), 0.5)
    # Of 30 rows 16 are women's. One in two of each gender has the label.
    assert evaluator.before.score == pytest.approx([0.0])
    # Two women's labels go, 0 and 20, and a man's comes, 3.
    _, (score,) = evaluator(wrong_at(0, 20, 3))
    assert score == pytest.approx(abs(6 / 16 - 8 / 14))


@pytest.mark.parametrize("known", [True, False])
def test_held_out_rows_play_no_part(known: bool) -> None:
    evaluator = Evaluator(wrong_at(2), material(known=known), 0.5)
    assert evaluator(wrong_at(7, *range(30, 40))) == evaluator(wrong_at(7))
    other = Evaluator(wrong_at(2, 31, 39), material(known=known), 0.5)
    assert other(wrong_at(7)) == evaluator(wrong_at(7))
