"""The text `missing`, as ``fillna("missing")`` writes it: a missing value where it is inferred."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import testsgd
from testsgd.data import check_table, infer_specification, table_fingerprint
from testsgd.data.missing_texts import without_missing_texts
from testsgd.errors import SpecificationError, TestSGDError

ROWS = 400


def people() -> pd.DataFrame:
    """Return rows in which cells of two columns are empty."""
    source = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "race": source.choice(["a", "b", "c"], ROWS),
            "age": source.integers(20, 70, ROWS).astype(float),
            "approved": source.choice(["no", "yes"], ROWS),
        }
    )
    frame.loc[::7, "race"] = None
    frame.loc[::9, "age"] = np.nan
    return frame


def filled() -> pd.DataFrame:
    frame = people()
    columns = ["race", "age"]
    return frame.assign(**frame[columns].astype(object).fillna("missing"))


def groups(result: Any) -> list[Any]:
    return list(result.groups[["text", "n_in", "rate_in"]].itertuples(index=False))


def test_columns_are_read_as_if_their_cells_were_empty() -> None:
    frame, columns = without_missing_texts(filled())
    assert columns == ("race", "age")
    np.testing.assert_array_equal(frame["age"], people()["age"])
    pd.testing.assert_series_equal(frame["race"].isna(), people()["race"].isna())
    categories = pd.DataFrame({"race": pd.Categorical(["a", "missing"], ordered=True)})
    assert without_missing_texts(categories)[0]["race"].tolist()[0] == "a"
    texts = pd.DataFrame({"race": pd.array(["a", "missing", None], dtype="string")})
    assert without_missing_texts(texts)[0]["race"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize("sensitive", [["sex"], ["sex", "race", "age"]])
def test_predictions_have_the_groups_of_empty_cells(sensitive: list[str]) -> None:
    results = [
        testsgd.audit_predictions(
            frame["approved"],
            sensitive_features=frame[sensitive],
            other_features=frame.drop(columns="approved"),
        )
        for frame in (filled(), people())
    ]
    assert groups(results[0]) == groups(results[1])
    notes = [" ".join(result.summary.data.notes) for result in results]
    assert "missing" in notes[0]
    assert "race" in notes[0]
    assert "race" not in notes[1]


@pytest.mark.parametrize("kind", ["texts", "categories", "polars"])
def test_a_model_has_the_groups_of_empty_cells_and_knows_its_category(kind: str) -> None:
    seen: set[Any] = set()

    def model(rows: pd.DataFrame) -> Any:
        seen.update(rows["race"].astype(object).unique())
        old = rows["age"].fillna(0) > 40
        return np.where(old | (rows["race"] == "a"), "yes", "no")

    def audited(frame: pd.DataFrame) -> Any:
        rows: Any = frame.drop(columns="approved")
        if kind == "categories":
            rows = rows.assign(race=rows["race"].astype("category"))
        if kind == "polars":
            pytest.importorskip("pyarrow")
            rows = pl.from_pandas(rows.assign(age=people()["age"]))
        return testsgd.audit(
            model, rows, frame["approved"], sensitive_features=["sex", "race"], seed=1
        )

    expected = audited(people())
    seen.clear()
    result = audited(filled())
    assert seen == {"a", "b", "c", "missing"}
    assert groups(result) == groups(expected)
    assert "race = missing" in set(result.groups["text"])


def test_members_of_a_group_are_found_in_the_rows_as_given() -> None:
    frame = filled()
    result = testsgd.audit_predictions(frame["approved"], sensitive_features=frame[["race", "age"]])
    texts = result.groups["text"].tolist()
    rank = texts.index("race = missing") + 1
    expected = (frame["race"] == "missing").to_numpy()
    np.testing.assert_array_equal(result.mask(rank, frame), expected)


def test_the_description_says_so() -> None:
    guessed = infer_specification(
        filled(), sensitive=["sex"], label="approved", labels=filled()["approved"]
    )
    assert "missing" in guessed.specification.parse.missing
    assert guessed.specification.features["race"].values == ["a", "b", "c"]
    assert any("race" in note and "age" in note for note in guessed.notes)
    table = check_table(filled().assign(age=people()["age"]), guessed.specification)
    plain = check_table(people(), guessed.specification)
    assert table.missing == plain.missing
    assert table_fingerprint(table) == table_fingerprint(plain)
    assert table.take(np.arange(10)).missing == plain.take(np.arange(10)).missing


def test_a_class_may_have_that_name() -> None:
    found = pd.Series(["found", "missing"] * (ROWS // 2), name="state")
    result = testsgd.audit_predictions(
        found, sensitive_features=people()[["race"]], favourable="found"
    )
    assert result.summary.data.rows == ROWS


def test_a_description_by_hand_must_not_list_it_and_has_none_by_itself() -> None:
    race: dict[str, Any] = {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True}
    described: dict[str, Any] = {
        "dataset": {"name": "people"},
        "label": {"column": "approved", "favourable": "yes"},
        "features": {"race": race},
    }
    rows = filled()
    with pytest.raises(TestSGDError, match="missing"):
        testsgd.audit(lambda frame: frame["race"] == "a", rows, described)
    race["values"] = ["a", "b", "c", "missing"]
    with pytest.raises(SpecificationError, match="missing"):
        testsgd.audit(lambda frame: frame["race"] == "a", rows, described)
