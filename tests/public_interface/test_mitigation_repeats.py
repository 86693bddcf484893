"""Rows and texts that are one unit are held out once, and only where none of them was learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loan_regression import PEOPLE, QUICK, fitted
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import testsgd
from testsgd.data import catalogue, load_specification

COPIES = 3


@pytest.fixture(scope="module")
def applications() -> pd.DataFrame:
    """Loan applications, each person's three times."""
    persons = np.repeat(np.arange(len(PEOPLE)), COPIES)
    return PEOPLE.iloc[persons].assign(person=persons).reset_index(drop=True)


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loans") / "loans.toml"
    given = catalogue()["demo"].read_text(encoding="utf-8")
    path.write_text(f'{given}\n[data]\ncluster = "person"\n', encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_person_is_in_one_part_and_held_out_once(
    applications: pd.DataFrame, description: Path
) -> None:
    result = testsgd.mitigate(fitted(), applications, load_specification(description), **QUICK)
    assert result.outcome is not None
    parts, split = result.outcome.material.split.parts, result.summary.split
    persons = [
        applications["person"].to_numpy()[part]
        for part in (parts.train, parts.validation, parts.test)
    ]
    for place, part in enumerate(persons):
        assert not np.isin(part, np.concatenate(persons[place + 1 :] or [[]])).any()
    training, validation, held_out = persons
    for part in (training, validation):
        assert (np.unique(part, return_counts=True)[1] == COPIES).all()
    assert len(np.unique(held_out)) == len(held_out) == split.held_out
    assert split.repeats == (COPIES - 1) * split.held_out
    rows = split.training + split.validation + split.held_out + split.repeats
    assert rows == len(applications)


WORDS = ["waited", "sang", "slept", "wrote", "read", "stood", "paid", "ran", "spoke", "left"]


def test_a_text_is_held_out_if_nothing_like_it_is_in_another_part() -> None:
    random = np.random.default_rng(3)
    people = ["an old catholic", "a young muslim", "a catholic", "an elderly atheist"]
    texts = [
        f"Number {number}: {random.choice(people)} {' and '.join(random.choice(WORDS, 6))}."
        for number in range(500)
    ]
    # The same but for the term, and for blanks: one unit with the first hundred.
    twins = [f" {text} ".replace("catholic", "muslim") for text in texts[:100]]
    frame = pd.DataFrame({"comment": [*texts, *twins]})
    frame["verdict"] = np.where(random.random(len(frame)) < 0.5, "rude", "fine")
    description = {
        "dataset": {"name": "comments"},
        "text": {"column": "comment"},
        "label": {"column": "verdict", "favourable": "fine", "values": ["rude", "fine"]},
    }
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        frame["comment"], frame["verdict"]
    )
    result = testsgd.mitigate(model, frame, description, **QUICK, group=1)
    assert result.outcome is not None
    parts = result.outcome.material.split.parts
    unit = np.concatenate([np.arange(500), np.arange(100)])
    held_out = unit[parts.test]
    assert len(np.unique(held_out)) == len(held_out)
    assert not np.isin(held_out, unit[parts.seen]).any()
    repeats = len(frame) - len(parts.test) - len(parts.seen)
    assert repeats == result.summary.split.repeats > 0
