"""The result of a mitigation: its views, its samples, its model, and the way back from JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loan_regression import PEOPLE, QUICK, fitted

import testsgd
from testsgd import AuditResult, MitigationResult
from testsgd.errors import ConfigurationError, ParameterError, ResultError
from testsgd.report.kinds import read_result


@pytest.fixture(scope="module")
def result() -> MitigationResult:
    return testsgd.mitigate(fitted(), PEOPLE, "demo", **QUICK)


@pytest.fixture(scope="module")
def read_back(result: MitigationResult) -> MitigationResult:
    return MitigationResult.from_json(result.to_json())


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
def test_a_result_read_back_is_the_same(
    result: MitigationResult, read_back: MitigationResult
) -> None:
    assert read_back.summary == result.summary
    assert read_back.outcome is None
    assert result.outcome is not None
    assert read_back.verdict == result.verdict
    assert read_back.to_json() == result.to_json()
    assert read_back.to_html() == result.to_html()
    assert read_back.to_markdown() == result.to_markdown()
    assert repr(read_back) == repr(result)
    assert result.verdict.headline in repr(result)


def test_a_result_is_read_from_a_path(result: MitigationResult, tmp_path: Path) -> None:
    path = result.write(tmp_path, ["json"])[0]
    for source in (path, str(path)):
        assert MitigationResult.from_json(source).summary == result.summary


def test_the_samples_are_those_of_the_model_that_was_kept(result: MitigationResult) -> None:
    samples = result.samples
    chosen = next(item for item in result.summary.candidates if item.chosen)
    assert len(samples) == chosen.samples > 0
    assert list(samples.columns[: len(PEOPLE.columns)]) == list(PEOPLE.columns)
    assert samples["seed_row"].between(0, len(PEOPLE) - 1).all()


@pytest.mark.skops
def test_the_model_is_written_and_can_be_audited(result: MitigationResult, tmp_path: Path) -> None:
    pytest.importorskip("skops")
    written = result.write_model(str(tmp_path / "a" / "new" / "folder"))
    assert sorted(path.name for path in written) == ["card.json", "model.skops"]
    (model,) = [path for path in written if path.suffix == ".skops"]
    few = {"stability": 0, "replicates": 99, "top": 100_000}
    after = testsgd.audit(model, PEOPLE, "demo", **few).groups.set_index("text")
    (target,) = result.summary.targets
    assert after.loc[target.text, "score"] == pytest.approx(target.after.score)


def test_a_result_read_back_has_no_samples_and_no_model(
    read_back: MitigationResult, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match="a saved result holds no samples"):
        _ = read_back.samples
    with pytest.raises(ParameterError, match=r"holds no model.*run the mitigation again"):
        read_back.write_model(tmp_path / "out")
    assert files(tmp_path) == []


def test_every_format_is_written(result: MitigationResult, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "new" / "folder"
    written = result.write(folder)
    assert [path.name for path in written] == ["report.html", "report.md", "result.json"]
    assert files(folder) == sorted(path.name for path in written)
    assert (folder / "report.html").read_text(encoding="utf-8") == result.to_html()
    assert (folder / "report.md").read_text(encoding="utf-8") == result.to_markdown()
    assert (folder / "result.json").read_text(encoding="utf-8") == result.to_json()


@pytest.mark.parametrize("formats", [["html", "csv"], ["parquet"], ["HTML"], ["json", ""]])
def test_an_unknown_format_writes_nothing(
    result: MitigationResult, tmp_path: Path, formats: list[str]
) -> None:
    with pytest.raises(ParameterError, match=r"is unknown; choose from html, md, json$"):
        result.write(tmp_path / "out", formats)
    assert files(tmp_path / "out") == []


@pytest.mark.parametrize("renderer", ["to_html", "to_markdown", "to_json"])
def test_a_renderer_that_fails_leaves_nothing_half_written(
    result: MitigationResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renderer: str
) -> None:
    result.write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(self: MitigationResult) -> str:
        raise RuntimeError("the renderer broke")

    monkeypatch.setattr(MitigationResult, renderer, fail)
    with pytest.raises(RuntimeError, match="the renderer broke"):
        result.write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_written_to_is_named(
    result: MitigationResult, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot write there"):
        result.write(tmp_path / "file" / "out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no such file|cannot be read"),
        ("{", "not valid JSON"),
        ("{}", "the schema is None"),
        ('{"schema": "testsgd.audit/2"}', r"'testsgd\.audit/2', not 'testsgd\.mitigation/2'"),
        ('{"schema": "testsgd.mitigation/2"}', "Field required"),
        ("missing.json", "no such file"),
    ],
)
def test_what_is_no_mitigation_is_named(text: str, message: str) -> None:
    with pytest.raises(ResultError, match=message):
        MitigationResult.from_json(text)


def test_a_changed_result_is_noticed(result: MitigationResult) -> None:
    document: dict[str, Any] = json.loads(result.to_json())
    for change in ({"extra": 1}, {"targets": "none"}, {"accuracy_before": float("nan")}):
        with pytest.raises(ResultError):
            MitigationResult.from_json(json.dumps(document | change))


def test_either_kind_of_result_is_read_by_what_it_says(
    result: MitigationResult, tmp_path: Path
) -> None:
    audit = testsgd.audit(None, PEOPLE, "demo", stability=0, replicates=99)
    for given in (audit, result):
        path = given.write(tmp_path / type(given).__name__, ["json"])[0]
        for source in (given.to_json(), path, str(path)):
            found = read_result(source)
            assert type(found) is type(given)
            assert found.summary == given.summary
    assert isinstance(audit, AuditResult)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("{}", r"the schema is None, neither 'testsgd\.audit/2' nor 'testsgd\.mitigation/2'"),
        ('{"schema": "testsgd.mitigation/9"}', r"'testsgd\.mitigation/9', neither"),
        ('{"schema": ["testsgd.audit/2"]}', "neither"),
        ('{"schema": "testsgd.audit/2"}', "Field required"),
        ("missing.json", "no such file"),
    ],
)
def test_what_is_no_result_at_all_is_named(text: str, message: str) -> None:
    with pytest.raises(ResultError, match=message):
        read_result(text)
