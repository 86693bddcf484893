"""CSV and Parquet hold all groups, with the figures of the data frame."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

import testsgd
from testsgd import AuditResult
from testsgd.auditing.report import frames as tables
from testsgd.auditing.report.frames import GROUP_COLUMNS, groups_frame, write_csv
from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=1500, seed=8)


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return testsgd.audit(None, PEOPLE, "demo", top=5, replicates=99, stability=5)


def read_parquet(path: Path) -> pd.DataFrame:
    pytest.importorskip("pyarrow")
    return pd.read_parquet(path)


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one.astype({"text": object}), other.astype({"text": object}))


def test_csv_holds_all_groups(result: AuditResult, tmp_path: Path) -> None:
    result.write(tmp_path, ["csv"])
    found = pd.read_csv(tmp_path / "groups.csv")
    assert len(found) == result.summary.counts.groups > 5
    same(found, result.groups)
    # Every digit is there, which not every version of pandas reads back.
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as stream:
        differences = [float(row["difference"]) for row in csv.DictReader(stream)]
    assert differences == result.groups["difference"].tolist()


@pytest.mark.parquet
def test_parquet_holds_all_groups(result: AuditResult, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    result.write(tmp_path, ["parquet"])
    same(read_parquet(tmp_path / "groups.parquet"), result.groups)


@pytest.mark.parquet
def test_many_pieces_make_one_file(
    result: AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    whole = result.groups
    monkeypatch.setattr(tables, "_CHUNK", 7)
    same(result.groups, whole)
    result.write(tmp_path, ["csv", "parquet"])
    same(pd.read_csv(tmp_path / "groups.csv"), whole)
    same(read_parquet(tmp_path / "groups.parquet"), whole)


@pytest.mark.parquet
def test_no_groups_leave_the_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    empty = testsgd.audit(None, PEOPLE, "demo", theta=0.999)
    empty.write(tmp_path, ["csv", "parquet"])
    for found in (
        empty.groups,
        pd.read_csv(tmp_path / "groups.csv"),
        read_parquet(tmp_path / "groups.parquet"),
    ):
        assert tuple(found.columns) == GROUP_COLUMNS
        assert len(found) == 0


def test_the_table_and_the_summary_agree(result: AuditResult) -> None:
    rows = result.groups.set_index("rank")
    for group in result.summary.groups:
        row = rows.loc[group.rank]
        for name in GROUP_COLUMNS:
            if name in type(group).model_fields and name not in ("rank", "q_value"):
                assert row[name] == getattr(group, name)
        assert row["estimand"] == result.summary.parameters.estimand == "observed"
        assert group.other is not None
        for name in ("rate_in", "rate_out", "difference"):
            assert row[f"other_{name}"] == getattr(group.other, name)
        assert (row["other_ci_low"], row["other_ci_high"]) == group.other.confidence_interval
        assert group.q_value is None
        assert pd.isna(row["q_value"])
        assert (row["ci_low"], row["ci_high"]) == group.confidence_interval


@pytest.mark.parametrize("limit", [0, 1, 6, 10**9])
def test_a_limit_keeps_the_first(result: AuditResult, limit: int) -> None:
    assert result.findings is not None
    same(groups_frame(result.findings, limit=limit), result.groups.iloc[:limit])


def test_texts_with_commas_and_quotes_come_back(tmp_path: Path) -> None:
    values = ['a, "b"', "c\nd", "é; f"]
    specification = {
        "dataset": {"name": "odd"},
        "label": {"column": "y", "favourable": "1", "values": [0, 1]},
        "features": {"odd": {"type": "categorical", "values": values, "sensitive": True}},
    }
    people = pd.DataFrame({"odd": values * 60})
    result = testsgd.audit(lambda frame: frame["odd"].str.len() % 2, people, specification)
    assert result.findings is not None
    assert len(result.groups) > 0
    write_csv(result.findings, tmp_path / "groups.csv")
    same(pd.read_csv(tmp_path / "groups.csv"), result.groups)
