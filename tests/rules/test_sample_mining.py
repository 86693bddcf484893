"""Samples mined together: the same groups as each mined by itself, without its empty cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.rules import Axis, CategoryAxis, Contingency, IntervalAxis, SampleMining, mine

Counts = NDArray[np.int64]

AXES = (
    CategoryAxis("gender", ("f", "m", "x"), (0, 1, 2)),
    IntervalAxis("age", (0.0, 1.0, 2.0, 3.0, 4.0)),
    CategoryAxis("race", ("a", "b"), (0, 1)),
)


# The last of the four ages stands for those that are missing.
WITH_MISSING = (AXES[0], IntervalAxis("age", (0.0, 1.0, 2.0, 3.0), has_missing=True), AXES[2])


def drawn(seed: int, axes: tuple[Axis, ...] = AXES) -> tuple[Contingency, list[Counts]]:
    """Return a table with some combinations missing, and samples of its rows, some without more."""
    source = np.random.default_rng(seed)
    every = np.stack(np.meshgrid(range(3), range(4), range(2), indexing="ij"), -1).reshape(-1, 3)
    coordinates = every[source.random(len(every)) < 0.8].astype(np.int16)
    rows = source.integers(1, 6, len(coordinates))
    contingency = Contingency(
        axes, coordinates, np.repeat(np.arange(len(coordinates), dtype=np.int32), rows)
    )
    samples = []
    for _ in range(6):
        sizes = source.poisson(rows)
        samples.append(np.vstack([sizes, source.binomial(sizes, 0.4)]).astype(np.int64))
    samples.append(np.vstack([rows, rows // 2]).astype(np.int64))
    return contingency, samples


@pytest.mark.parametrize("axes", [AXES, WITH_MISSING], ids=["known", "some-missing"])
@pytest.mark.parametrize("seed", range(20))
def test_groups_and_sums_are_those_of_each_sample_alone(seed: int, axes: tuple[Axis, ...]) -> None:
    contingency, samples = drawn(seed, axes)
    least = 1 + seed % 5
    mining = SampleMining(contingency, max_features=3)
    found = mining.mine(samples, min_count=least, min_outside=least)
    for sample, groups in zip(samples, found, strict=True):
        present = sample[0] > 0
        alone = mine(
            replace(contingency, coordinates=contingency.coordinates[present]),
            sample[:, present],
            min_count=least,
            min_outside=least,
            max_features=3,
        )
        together = mining.rule_sets.take(groups.places)
        assert np.array_equal(together.subset, alone.subset)
        assert np.array_equal(together.position, alone.position)
        assert np.array_equal(groups.sums, alone.sums)


def test_some_samples_have_empty_cells_and_some_have_none() -> None:
    samples = drawn(0)[1]
    assert {bool(sample[0].all()) for sample in samples} == {False, True}


def test_no_group_is_frequent_in_a_sample() -> None:
    contingency, samples = drawn(0)
    mining = SampleMining(contingency, max_features=2)
    for groups in mining.mine(samples, min_count=10_000, min_outside=1):
        assert len(groups.places) == 0
        assert groups.sums.shape == (2, 0)
