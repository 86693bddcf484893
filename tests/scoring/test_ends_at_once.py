"""Ends of intervals are the same to the last bit, however many are computed at once."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from testsgd.scoring import clopper_pearson, confidence_sequence, exact_difference

SOURCE = np.random.default_rng(5)
SIZES = SOURCE.integers(1, 400, (2, 20))
SUCCESSES = np.rint(SIZES * SOURCE.random((2, 20)))


def test_confidence_sequences_of_several_confidences() -> None:
    confidences = SOURCE.choice([0.9, 0.99, 0.9999], 20)
    low, high = confidence_sequence(SUCCESSES[0], SIZES[0], confidences)
    for index, confidence in enumerate(confidences.tolist()):
        ends = confidence_sequence(SUCCESSES[0, index], SIZES[0, index], confidence)
        assert (low[index], high[index]) == ends


@pytest.mark.parametrize("groups", [1, 20])
def test_differences_at_all_angles(groups: int) -> None:
    successes, sizes = SUCCESSES[:, :groups], SIZES[:, :groups]
    inside, outside = (
        partial(clopper_pearson, of_side, size)
        for of_side, size in zip(successes, sizes, strict=True)
    )
    rates = successes / sizes
    errors = SOURCE.uniform(1e-6, 0.2, groups)
    one_by_one, at_once = (
        exact_difference(rates[0], inside, rates[1], outside, errors, at_once=at_once)
        for at_once in (False, True)
    )
    np.testing.assert_array_equal(at_once, one_by_one)
