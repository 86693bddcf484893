"""Numbers that may stand for a missing value: it is said, and how to declare them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data.column_notes import column_notes_among
from testsgd.data.description_text import describe_file
from testsgd.data.missing_codes import missing_codes

ROWS = 600


def people(code: int = -999) -> pd.DataFrame:
    """Return rows in which the age of one in 20 is a code."""
    source = np.random.default_rng(3)
    age = source.integers(18, 78, ROWS)
    age[::20] = code
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "age": age,
            "approved": source.choice(["no", "yes"], ROWS),
        }
    )


def found_in(numbers: list[float], times: Any = None) -> dict[float, int]:
    found = missing_codes(pd.Series(numbers), times)
    return {} if found is None else dict(found.rows)


AGES: list[float] = list(range(18, 80))


@pytest.mark.parametrize("code", [-1, -9, -99, -999, -9999, 999, 9999, 99999, 999999])
def test_a_number_that_repeats_far_from_all_others_may_be_a_code(code: float) -> None:
    is_far = code not in (-1, -9)
    assert found_in([*AGES, *[code] * 5]) == ({code: 5} if is_far else {})
    assert found_in([*AGES, *[code] * 4]) == {}


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        pytest.param([*AGES, *[-999.0] * 5, *[9999.0] * 6], {-999: 5, 9999: 6}, id="both ends"),
        pytest.param([*AGES, *[-99.0] * 5, *[-999.0] * 6], {-999: 6, -99: 5}, id="one end"),
        pytest.param([0, 1, 0, 1, *[9.0] * 5], {9: 5}, id="codes of classes"),
        pytest.param([0.5, 1.5, None, *[-9.0] * 5], {-9: 5}, id="decimals and missing cells"),
        pytest.param([0.0, 1.0, *[-1.0] * 9], {}, id="as far as the others"),
        pytest.param([*range(19), *[99.0] * 5, *range(80, 99)], {}, id="99 is an age"),
        pytest.param([*range(90), *[-1.0] * 5], {}, id="-1 beside 0"),
        pytest.param([1.0] * 9 + [-1.0] * 9, {}, id="two numbers"),
        pytest.param([*AGES, *[-998.0] * 5], {}, id="no usual code"),
        pytest.param([-5000.0, *[-999.0] * 5, *AGES], {}, id="not at an end"),
        pytest.param([None, None], {}, id="no number"),
    ],
)
def test_other_numbers_are_no_codes(numbers: list[float], codes: dict[float, int]) -> None:
    assert found_in(numbers) == codes


def test_a_row_may_stand_for_many() -> None:
    times = np.ones(len(AGES) + 1, dtype=np.int64)
    times[-1] = 7
    assert found_in([*AGES, -99], times) == {-99: 7}


def notes(frame: pd.DataFrame, **options: Any) -> list[str]:
    result = testsgd.audit_predictions(
        frame["approved"], sensitive_features=frame[["sex", "age"]], stability=0, **options
    )
    return column_notes_among(result.summary.data.notes)


def test_a_report_says_so_and_nothing_else_changes() -> None:
    frame = people()
    [said] = notes(frame)
    assert said.startswith("age is -999 in 5.0% of the rows")
    assert notes(frame, features={"age": {"range": [-999, 79]}}) == []
    frame["age"] = frame["age"].where(frame["age"] > 0)
    assert notes(frame) == []


def test_a_column_that_is_no_input_is_not_spoken_of() -> None:
    frame = people().assign(pay=people(99999)["age"])
    other = {"other_features": frame[["pay"]]}
    assert "pay" in notes(frame, **other)[0]
    result = testsgd.audit_metrics(frame["approved"], sensitive_features=frame[["sex"]])
    assert column_notes_among(result.summary.data.notes) == []


@pytest.mark.parametrize("sensitive", [["sex", "age"], ["sex"]])
@pytest.mark.parametrize("code", [-999, 999])
def test_what_a_comment_of_a_description_says_can_be_done(
    tmp_path: Path, sensitive: list[str], code: int
) -> None:
    people(code).to_csv(tmp_path / "people.csv", index=False)
    text = describe_file(tmp_path / "people.csv", sensitive=sensitive, label="approved")
    [comment] = [line for line in text.splitlines() if line.startswith("#") and "far from" in line]
    [added] = re.findall(r'add (".*?"), as', comment)
    [keys] = re.findall(r"write (range = .*?\](?: and bins = \d+)?)", comment)
    lines = text.replace("missing = [", f"missing = [{added}, ").splitlines()
    start = lines.index("[features.age]")
    kept = [line for line in lines[start:] if not line.startswith(("range", "edges"))]
    lines = [*lines[:start], kept[0], *keys.split(" and "), *kept[1:]]
    text = "\n".join(lines) + "\n"
    assert tomllib.loads(text)["features"]["age"]["range"] == [18, 77]
    (tmp_path / "people.toml").write_text(text, encoding="utf-8")
    table = testsgd.load_table(testsgd.load_specification(tmp_path / "people.toml"))
    assert table.missing["age"] == ROWS / 20


def test_a_code_among_codes_is_left_out_of_values(tmp_path: Path) -> None:
    frame = people()
    frame["sex"] = np.where(np.arange(ROWS) % 20, frame["sex"] == "f", 9).astype(int)
    frame.to_csv(tmp_path / "people.csv", index=False)
    text = describe_file(tmp_path / "people.csv", sensitive=["sex"], label="approved")
    [comment] = [line for line in text.splitlines() if line.startswith("# 9 in")]
    assert "out of values" in comment
    text = text.replace("missing = [", 'missing = ["9", ')
    text = text.replace('values = ["0", "1", "9"]', 'values = ["0", "1"]')
    (tmp_path / "people.toml").write_text(text, encoding="utf-8")
    table = testsgd.load_table(testsgd.load_specification(tmp_path / "people.toml"))
    assert table.missing["sex"] == ROWS / 20


def test_true_values_of_a_regression_may_be_codes() -> None:
    source = np.random.default_rng(6)
    sex = source.choice(["f", "m"], ROWS)
    true = source.normal(3000, 200, ROWS).round()
    predicted = true + source.normal(0, 50, ROWS)
    true[::20] = -999

    def said(truth: Any) -> list[str]:
        result = testsgd.audit_metrics(
            predicted,
            pd.Series(truth, name="pay"),
            sensitive_features=pd.DataFrame({"sex": sex}),
            metrics=["mean_error"],
        )
        return column_notes_among(result.summary.data.notes)

    [note] = said(true)
    assert note.startswith("pay is -999 in 5.0% of the rows")
    assert said(np.where(true == -999, np.nan, true)) == []
