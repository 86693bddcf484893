"""Softened labels: cross-fitted, so that no label has a part in its own row's probability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from testsgd.data import Table, specification_from_mapping
from testsgd.mitigation.table_splits import cross_fitted

TOWNS = ["north", "middle", "south"]
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "people"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "wage": {"type": "decimal", "range": [-9, 9]},
            "age": {"type": "integer", "range": [0, 99], "sensitive": True},
            "town": {"type": "categorical", "values": TOWNS},
        },
    }
)


def people(count: int, seed: int) -> tuple[Table, NDArray[np.float64], NDArray[np.bool_]]:
    """Rows with known probabilities of the favourable label, and labels drawn by them."""
    generator = np.random.default_rng(seed)
    wage, age = generator.normal(size=count), generator.integers(20, 80, count)
    town = generator.integers(0, 3, count)
    chances = 1 / (1 + np.exp(-(1.5 * wage + 0.03 * (age - 50) + np.array([-1, 0, 1])[town])))
    frame = pd.DataFrame({"wage": wage, "age": age, "town": pd.Categorical.from_codes(town, TOWNS)})
    table = Table(SPECIFICATION, frame, None)
    return table, chances, generator.random(count) < chances


def soft(
    table: Table, labels: NDArray[np.bool_], training: int, others: int = 0, seed: int = 0
) -> NDArray[np.float64]:
    """The first rows are trained on, the next are others, and the rest is held out."""
    places = np.arange(len(table))
    return cross_fitted(
        table, labels, places[:training], places[training : training + others], seed=seed
    )


def test_a_rows_own_label_has_no_part_in_its_probability() -> None:
    table, _, labels = people(400, seed=1)
    before = soft(table, labels, 400)
    for place in (0, 17, 111, 230, 399):
        flipped = labels.copy()
        flipped[place] = not flipped[place]
        after = soft(table, flipped, 400)
        assert after[place] == before[place]
        # It has one in those of the rows that other models are asked about.
        assert (after != before).mean() > 0.5


def test_labels_of_other_rows_have_no_part_either() -> None:
    table, _, labels = people(300, seed=2)
    before = soft(table, labels, 200, 60)
    flipped = labels.copy()
    flipped[200:] = ~flipped[200:]
    assert np.array_equal(soft(table, flipped, 200, 60), before, equal_nan=True)


def test_who_has_a_probability() -> None:
    table, _, labels = people(300, seed=3)
    found = soft(table, labels, 200, 60)
    assert found.shape == (300,)
    assert np.isnan(found[260:]).all()
    assert ((found[:260] > 0) & (found[:260] < 1)).all()
    assert np.isnan(soft(table, labels, 200)[200:]).all()


def test_the_same_seed_gives_the_same() -> None:
    table, _, labels = people(300, seed=4)
    first, again, other = (soft(table, labels, 300, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_they_are_nearer_to_the_truth_than_labels() -> None:
    table, chances, labels = people(3_000, seed=5)
    found = soft(table, labels, 2_400, 600)
    for part in (slice(0, 2_400), slice(2_400, 3_000)):
        by_labels = ((labels[part] - chances[part]) ** 2).mean()
        by_models = ((found[part] - chances[part]) ** 2).mean()
        # A third of what the best constant is off by, and far less than the labels.
        assert by_models < 0.1 * by_labels
        assert by_models < 0.33 * chances[part].var()


def test_of_labels_that_are_all_chance_nothing_is_learnt() -> None:
    """Who knows a row's own label would agree with it too often."""
    table, _, _ = people(1_500, seed=6)
    labels = np.random.default_rng(7).random(1_500) < 0.5
    found = soft(table, labels, 1_500)
    agreed = ((found > 0.5) == labels).mean()
    assert agreed < 0.5 + 4 * np.sqrt(0.25 / 1_500)


@pytest.mark.parametrize("favourable", [0, 1, 2, 199, 200])
def test_few_of_one_label(favourable: int) -> None:
    table, _, _ = people(200, seed=8)
    found = soft(table, np.arange(200) < favourable, 180, 20)
    assert ((found > 0) & (found < 1)).all()
    if favourable in (0, 200):
        assert ((found < 0.01) if favourable == 0 else (found > 0.99)).all()


def test_missing_cells_are_taken() -> None:
    table, _, labels = people(300, seed=9)
    frame = table.frame.copy()
    frame["wage"] = frame["wage"].mask(np.arange(300) % 3 == 0)
    frame["town"] = frame["town"].where(np.arange(300) % 4 > 0)
    frame["age"] = frame["age"].astype("Int64").mask(np.arange(300) % 5 == 0)
    missing = {name: int(frame[name].isna().sum()) for name in frame}
    assert np.isfinite(soft(Table(SPECIFICATION, frame, None, missing), labels, 300)).all()
