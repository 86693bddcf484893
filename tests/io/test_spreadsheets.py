"""No cell of a report's table is a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import testsgd
from testsgd.auditing.local_law_144 import impact_ratios
from testsgd.errors import printable
from testsgd.io import csv_of, table_file, without_formulas
from testsgd.mitigation.samples import write_samples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(st.lists(TEXTS | st.sampled_from(["=1", "+1", "-1", "@a", "\t=1"]), min_size=1, max_size=5))
def test_no_text_begins_as_a_formula(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": texts, "rate": -1.5})
    before = frame.copy()
    safe = without_formulas(frame)
    for text, cell in zip(texts, safe["text"], strict=True):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        assert cell in (text, f"'{text}")
    assert (safe["rate"] == -1.5).all()
    pd.testing.assert_frame_equal(frame, before)


def test_the_groups_of_an_audit() -> None:
    people = testsgd.generate_demo(seed=1, rows=600)
    people["@cmd"] = people["gender"]
    result = testsgd.audit_predictions(
        people["granted"], sensitive_features=people[["@cmd", "race"]]
    )
    with tempfile.TemporaryDirectory() as folder:
        [path] = result.write(folder, ["csv"])
        written = pd.read_csv(io.StringIO(path.read_text()))
    texts = written["text"].tolist()
    assert any(text.startswith("'@cmd") for text in texts)
    assert not any(text.startswith(BEGINNINGS) for text in texts)


BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")
ESCAPE = chr(27)
HOSTILE = ["=1+1", "+1", "-cmd", "@sum", "\t=1", f"{ESCAPE}[31m", f"{ESCAPE}=1", "plain"]


def check_cells(text: str) -> list[list[str]]:
    """Return the rows of CSV text, after a check that none can do anything."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    for cell in (cell for row in rows for cell in row):
        try:
            float(cell)
        except ValueError:
            assert not cell.startswith(BEGINNINGS), cell
        assert printable(cell) == cell
    return rows


@given(st.lists(TEXTS | st.sampled_from(HOSTILE), min_size=1, max_size=5), TEXTS)
def test_csv_of_any_texts(texts: list[str], name: str) -> None:
    frame = pd.DataFrame({"text": texts, "rate": -1.5}, index=pd.Index(texts))
    frame.columns = pd.Index([name, name])
    rows = check_cells(csv_of(frame, index_label="row"))
    assert len(rows) == len(texts) + 1
    assert all(row[2] == "-1.5" for row in rows[1:])
    assert [row[0] for row in rows[1:]] == [row[1] for row in rows[1:]]


def test_categories_of_pandas() -> None:
    rows = check_cells(csv_of(pd.DataFrame({"=a": pd.Categorical(HOSTILE)})))
    assert rows[-1] == ["plain"]


def test_tables_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "boxes.csv"
    with table_file(path) as add:
        add(pd.DataFrame({"=box": HOSTILE}))
        add(pd.DataFrame({"=box": HOSTILE}))
    assert len(check_cells(path.read_text())) == 2 * len(HOSTILE) + 1


def test_impact_ratios(tmp_path: Path) -> None:
    path = tmp_path / "impact-ratios.csv"
    many = HOSTILE * 2
    impact_ratios([0, 1] * len(HOSTILE), sex=many, race=many, left_out_below=0).to_csv(path)
    assert len(check_cells(path.read_text())) > len(HOSTILE)


def test_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    write_samples(pd.DataFrame({"=job": HOSTILE, "age": -1.5}), path)
    rows = check_cells(path.read_text())
    assert len(rows) == len(HOSTILE) + 1
    assert rows[-1] == ["plain", "-1.5"]
