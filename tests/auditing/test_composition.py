"""The sentence after a headline says of which values the group mostly consists."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing.report.composition import ValueCounts, composition_sentences


def people(counts: dict[str, tuple[int, float]]) -> pd.DataFrame:
    """People of some towns, so many of each, with the share that is predicted 1."""
    towns = [town for town, (rows, _) in counts.items() for _ in range(rows)]
    said = np.concatenate(
        [np.arange(rows) < round(share * rows) for rows, share in counts.values()]
    )
    return pd.DataFrame({"town": towns, "said": said.astype(int)})


def test_the_first_sentence_says_who_the_group_mostly_is() -> None:
    rows = people({"Ash": (450, 0.98), "Birch": (3, 1), "Cedar": (4, 1), "Elm": (600, 0.4)})
    result = testsgd.audit_predictions(
        rows["said"], sensitive_features=rows[["town"]], groups=["town in {Ash, Birch, Cedar}"]
    )
    first = result.verdict.sentences[0]
    assert {"457", "450", "Ash"} <= set(re.findall(r"\w+", first))
    assert not re.findall(r"\b[34]\b", first)


@pytest.mark.parametrize(
    ("counts", "named", "hidden"),
    [
        ({"A": 450, "B": 3, "C": 2}, ["455", "450", "A"], ["B", "C"]),
        ({"A": 450, "B": 3}, ["453", "A"], ["450", "3"]),
        ({"A": 450, "B": 30}, ["480", "450"], ["B"]),
        ({"A": 450, "B": 0}, ["450", "A"], ["B"]),
        ({"A": 20, "B": 30}, ["50"], ["20", "30"]),
        ({"A": 90, "B": 300, "C": 20}, ["410", "90", "300"], ["20"]),
    ],
)
def test_counts_below_five_cannot_be_computed(
    counts: dict[str, int], named: list[str], hidden: list[str]
) -> None:
    [sentence] = composition_sentences([ValueCounts("race", counts)], 50, "rows")
    words = set(re.findall(r"\w+", sentence))
    assert set(named) <= words
    assert not set(hidden) & words


def test_values_that_are_all_frequent_need_no_sentence() -> None:
    assert composition_sentences([ValueCounts("race", {"A": 90, "B": 50})], 50, "rows") == []
