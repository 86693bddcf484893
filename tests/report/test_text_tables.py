"""CSV, Parquet and data frames of an audit of texts hold what the terms change by themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from furnished_rooms import audit

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.report.frames import (
    COUNTERFACTUAL_COLUMNS,
    GROUP_COLUMNS,
    groups_frame,
    summary_frame,
)

COLUMNS = [*GROUP_COLUMNS, *COUNTERFACTUAL_COLUMNS]


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(top=7)


def frame_of(result: AuditResult) -> pd.DataFrame:
    assert result.findings is not None
    return groups_frame(result.findings)


def test_the_frame_and_the_summary_agree(result: AuditResult) -> None:
    frame = frame_of(result)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == result.summary.counts.groups > 7
    rows = frame.set_index("rank")
    for group in result.summary.groups:
        found = group.counterfactual
        assert found is not None
        row = rows.loc[group.rank]
        assert row["text"] == group.text
        assert row["counterfactual_effect"] == pytest.approx(found.difference)
        assert (
            row["counterfactual_ci_low"],
            row["counterfactual_ci_high"],
        ) == found.confidence_interval


def test_files_hold_the_frame(result: AuditResult, tmp_path: Path) -> None:
    result.write(tmp_path, ["csv"])
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "groups.csv").astype({"text": object}),
        frame_of(result).astype({"text": object}),
    )


@pytest.mark.parquet
def test_parquet_holds_the_frame(result: AuditResult, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    result.write(tmp_path, ["parquet"])
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "groups.parquet").astype({"text": object}),
        frame_of(result).astype({"text": object}),
    )


def test_nothing_compared_is_nan() -> None:
    sampled = {"mode": "sampled", "sampling": "independent", "min_samples": 50, "error_margin": 0.3}
    frame = frame_of(audit(**sampled))
    assert len(frame) > 0
    assert np.isnan(frame[list(COUNTERFACTUAL_COLUMNS)].to_numpy()).all()


def test_no_groups_leave_the_columns() -> None:
    empty = audit(theta=0.9)
    assert list(frame_of(empty).columns) == COLUMNS
    assert list(summary_frame(empty.summary).columns) == COLUMNS


def test_a_summary_read_back_gives_its_groups(result: AuditResult) -> None:
    again = summary_frame(AuditResult.document.read(result.to_json()))
    whole = frame_of(result).set_index("rank")
    assert list(again.columns) == COLUMNS
    expected = whole.loc[again["rank"]].reset_index()
    pd.testing.assert_frame_equal(
        again.astype({"text": object}), expected[COLUMNS].astype({"text": object})
    )


def test_tables_have_no_such_columns() -> None:
    rows = testsgd.audit(None, None, "demo", theta=0.3, replicates=99, stability=5)
    assert list(frame_of(rows).columns) == list(GROUP_COLUMNS)
    pd.testing.assert_frame_equal(
        summary_frame(rows.summary).astype({"text": object}),
        frame_of(rows).iloc[: len(rows.summary.groups)].astype({"text": object}),
    )
