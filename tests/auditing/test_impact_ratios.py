"""The table of impact ratios that the rules of New York City's Local Law 144 ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import TestSGDError

SEX = pd.Series(["m"] * 500 + ["f"] * 490 + [None] * 10)
# One category of race has 1% of the applicants.
RACE = pd.Series((["a"] * 49 + ["b"] * 50 + ["rare"]) * 10)
SELECTED = pd.Series(np.random.default_rng(4).integers(0, 2, 1000))


def test_ratios_are_those_counted_by_hand() -> None:
    frame = testsgd.impact_ratios(SELECTED, sex=SEX, race=RACE).to_frame().set_index("category")
    rates = SELECTED.groupby(SEX).mean()
    for name in ("m", "f"):
        assert frame.loc[name, "selection_rate"] == pytest.approx(rates[name])
        assert frame.loc[name, "impact_ratio"] == pytest.approx(rates[name] / rates.max())
    both = SELECTED[(SEX == "m") & (RACE == "a")]
    assert frame.loc["m, a", "applicants"] == len(both)
    assert frame.loc["m, a", "selected"] == both.sum()


def test_small_categories_have_no_ratio_and_none_is_compared_with_them() -> None:
    selected = SELECTED.where(RACE != "rare", 1)
    table = testsgd.impact_ratios(selected, sex=SEX, race=RACE)
    of_race = {row.category: row for row in table.rows if row.by == "race"}
    assert of_race["rare"].left_out
    assert of_race["rare"].impact_ratio is None
    assert (of_race["rare"].applicants, of_race["rare"].selection_rate) == (10, 1)
    assert max(of_race[name].impact_ratio or 0 for name in "ab") == 1
    kept = testsgd.impact_ratios(selected, sex=SEX, race=RACE, left_out_below=0)
    assert all(row.impact_ratio is not None for row in kept.rows)


def test_those_of_unknown_category_are_counted(tmp_path: Path) -> None:
    table = testsgd.impact_ratios(SELECTED, sex=SEX, race=RACE)
    assert table.unknown == {"sex": 10, "race": 0, "sex and race": 10}
    table.to_csv(tmp_path / "table.csv")
    written = pd.read_csv(tmp_path / "table.csv")
    assert len(written) == len(table.rows) + 3
    assert all(f"| {row.category} |" in table.to_markdown() for row in table.rows)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(TestSGDError):
        testsgd.impact_ratios(SELECTED[:10], sex=SEX, race=RACE)
    with pytest.raises(TestSGDError):
        testsgd.impact_ratios(SELECTED.replace(1, None), sex=SEX, race=RACE)
    with pytest.raises(TestSGDError):
        testsgd.impact_ratios(SELECTED, sex=SEX, race=RACE, left_out_below=2)


@pytest.mark.parametrize("text", ["Unknown", " decline to state ", "Prefer not to say", "n/a"])
def test_texts_that_name_no_category_are_unknown(text: str) -> None:
    decided = [1, 0, 1, 1, 1, 1]
    sexes = ["f", "f", "m", "m", text, text]
    table = testsgd.impact_ratios(decided, sex=sexes, race=["a"] * 6)
    assert table.unknown == {"sex": 2, "race": 0, "sex and race": 2}
    ratios = {row.category: row.impact_ratio for row in table.rows if row.by == "sex"}
    assert ratios == {"f": 0.5, "m": 1.0}
    known = testsgd.impact_ratios(decided, sex=sexes, race=["a"] * 6, unknown=())
    assert known.unknown["sex"] == 0
