"""A result: its tables, its files, and the way back from JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd import AuditResult
from testsgd.data import generate_demo
from testsgd.errors import ConfigurationError, ParameterError, ResultError

RANKED = ["rank", "text", "support", "n_in", "n_out", "rate_in", "rate_out", "difference"]
MEASURED = ["score", "margin", "ci_low", "ci_high"]
RATES = ["rate_in", "rate_out", "difference", "ci_low", "ci_high"]
OTHER = ["estimand", *(f"other_{name}" for name in RATES)]
COLUMNS = [
    *RANKED,
    *MEASURED,
    *OTHER,
    "lower_confidence_bound",
    "q_value",
    "exact",
    "samples_in",
    "samples_out",
    "decided",
    "distinct",
]


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return testsgd.audit(None, generate_demo(rows=3000, seed=1), "demo", top=30)


@pytest.fixture(scope="module")
def read_back(result: AuditResult) -> AuditResult:
    return AuditResult.from_json(result.to_json())


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_groups_are_a_table_of_all_of_them(result: AuditResult) -> None:
    groups = result.groups
    assert list(groups.columns) == COLUMNS
    assert len(groups) == result.summary.counts.groups > 30
    assert groups["rank"].tolist() == list(range(1, len(groups) + 1))
    assert groups["lower_confidence_bound"].round(12).is_monotonic_decreasing
    alike = groups[groups["lower_confidence_bound"] == 0]
    assert alike["score"].round(12).is_monotonic_decreasing
    by_score = testsgd.audit(
        None, generate_demo(rows=3000, seed=1), "demo", rank_by="score", guarantee="per-group"
    ).groups
    assert by_score["score"].round(12).is_monotonic_decreasing


def test_the_distinct_groups_are_the_few_that_explain_the_rates(result: AuditResult) -> None:
    distinct = result.distinct
    assert distinct["distinct"].all()
    assert distinct["rank"].iloc[0] == 1
    assert 1 < len(distinct) < len(result.groups)


def test_a_result_read_back_is_the_same(result: AuditResult, read_back: AuditResult) -> None:
    assert read_back.summary == result.summary
    assert read_back.findings is None
    assert read_back.verdict == result.verdict
    assert read_back.to_json() == result.to_json()
    assert read_back.to_html() == result.to_html()
    assert read_back.to_markdown() == result.to_markdown()
    assert repr(read_back) == repr(result)


def test_the_groups_of_a_result_read_back_are_the_top_ones(
    result: AuditResult, read_back: AuditResult
) -> None:
    kept = read_back.groups
    assert list(kept.columns) == COLUMNS
    assert kept["rank"].tolist()[:30] == list(range(1, 31))
    same = result.groups[result.groups["rank"].isin(kept["rank"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, same, check_dtype=False)
    assert read_back.distinct["text"].tolist() == result.distinct["text"].tolist()


def test_a_result_without_groups_has_empty_tables() -> None:
    people = generate_demo(rows=200, seed=1)
    empty = testsgd.audit(None, people, "demo", theta=0.999)
    for one in (empty, AuditResult.from_json(empty.to_json())):
        assert list(one.groups.columns) == list(one.distinct.columns) == COLUMNS
        assert len(one.groups) == len(one.distinct) == 0
        assert one.verdict.exit_code == 3


def test_a_result_is_read_from_a_path(result: AuditResult, tmp_path: Path) -> None:
    path = result.write(tmp_path, ["json"])[0]
    for source in (path, str(path)):
        assert AuditResult.from_json(source).summary == result.summary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no such file|cannot be read"),
        ("{", "not valid JSON"),
        ("{}", "the schema is None"),
        ('{"schema": "testsgd.audit/3"}', r"'testsgd\.audit/3', not 'testsgd\.audit/2'"),
        ('{"schema": "testsgd.audit/2"}', "Field required"),
        ("missing.json", "no such file"),
        ("x" * 5000, "cannot be read as text"),
    ],
)
def test_what_is_no_result_is_named(text: str, message: str) -> None:
    with pytest.raises(ResultError, match=message):
        AuditResult.from_json(text)


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    for content in (b"\xff\xfe\x00", b"", b"[1]", b"null", b'"text"'):
        path.write_bytes(content)
        with pytest.raises(ResultError, match=r"result\.json"):
            AuditResult.from_json(path)
    with pytest.raises(ResultError, match="cannot be read"):
        AuditResult.from_json(tmp_path)


def test_a_changed_result_is_noticed(result: AuditResult) -> None:
    document: dict[str, Any] = json.loads(result.to_json())
    for change in ({"extra": 1}, {"mode": "guessed"}, {"overall_rate": float("nan")}):
        with pytest.raises(ResultError):
            AuditResult.from_json(json.dumps(document | change))


def test_every_format_is_written(result: AuditResult, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "new" / "folder"
    written = result.write(folder, ["html", "md", "json", "csv"])
    assert [path.name for path in written] == [
        "report.html",
        "report.md",
        "result.json",
        "groups.csv",
    ]
    assert files(folder) == sorted(path.name for path in written)
    assert (folder / "report.html").read_text(encoding="utf-8") == result.to_html()
    assert (folder / "report.md").read_text(encoding="utf-8") == result.to_markdown()
    assert (folder / "result.json").read_text(encoding="utf-8") == result.to_json()


@pytest.mark.parametrize("formats", [["html", "pdf"], ["HTML"], ["json", ""]])
def test_an_unknown_format_writes_nothing(
    result: AuditResult, tmp_path: Path, formats: list[str]
) -> None:
    with pytest.raises(
        ParameterError, match="is unknown; choose from html, md, json, csv, parquet"
    ):
        result.write(tmp_path / "out", formats)
    assert files(tmp_path / "out") == []


@pytest.mark.parametrize("item", ["csv", "parquet"])
def test_a_result_read_back_does_not_hold_all_groups(
    read_back: AuditResult, tmp_path: Path, item: str
) -> None:
    with pytest.raises(ParameterError, match="holds all groups"):
        read_back.write(tmp_path / "out", ["html", item])
    assert files(tmp_path / "out") == []


@pytest.mark.parametrize("renderer", ["to_html", "to_markdown", "to_json"])
def test_a_renderer_that_fails_leaves_nothing_half_written(
    result: AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renderer: str
) -> None:
    result.write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(self: AuditResult) -> str:
        raise RuntimeError("the renderer broke")

    monkeypatch.setattr(AuditResult, renderer, fail)
    with pytest.raises(RuntimeError, match="the renderer broke"):
        result.write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_written_to_is_named(result: AuditResult, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot write there"):
        result.write(tmp_path / "file" / "out")
