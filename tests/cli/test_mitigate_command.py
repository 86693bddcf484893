"""``testsgd mitigate``: what it asks for, what it prints and writes, and its exit codes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import mitigation_stand_ins as stand_ins
import pandas as pd
import pytest

from testsgd.cli.mitigate import mitigate
from testsgd.errors import ModelError, ParameterError
from testsgd.mitigation import MitigationParameters

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the command asks for; the answer is made up."""
    seen: dict[str, Any] = {"status": "mitigated", "runs": 3}

    def answer(model: Any, data: Any, spec: Any, **options: Any) -> Any:
        seen.update(model=model, data=data, spec=spec, options=options)
        return stand_ins.result(seen["status"], runs=seen["runs"])

    monkeypatch.setattr("testsgd.mitigation.mitigate", answer)
    return seen


@pytest.fixture
def not_refittable(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A model that cannot be refitted; it still has samples."""
    seen: dict[str, Any] = {}

    def refuse(model: Any, data: Any, spec: Any, **options: Any) -> Any:
        raise ModelError("the model cannot be refitted", where="model 'mine'", remedy="or --export")

    def samples(model: Any, data: Any, spec: Any, **options: Any) -> pd.DataFrame:
        seen.update(model=model, data=data, spec=spec, options=options)
        return stand_ins.SAMPLES.copy()

    monkeypatch.setattr("testsgd.mitigation.mitigate", refuse)
    monkeypatch.setattr("testsgd.mitigation.counter_samples", samples)
    return seen


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_outcome_is_printed_and_written(
    testsgd: Run, folder: Path, asked: dict[str, Any]
) -> None:
    finished = testsgd("mitigate", "demo", "--method", "samples")
    assert (finished.code, finished.err) == (0, "")
    for shown in (stand_ins.HEADLINE, *stand_ins.SENTENCES, stand_ins.GROUP, "-20.0", "-4.0"):
        assert shown in finished.out
    assert "Accuracy on 400 held-out rows: 87.50% before, 87.00% after." in finished.out
    written = {
        "models/demo-mitigated/model.txt",
        "reports/demo-mitigated/report.html",
        "reports/demo-mitigated/report.md",
        "reports/demo-mitigated/result.json",
    }
    assert files(folder) == written
    assert {line[9:] for line in finished.out.splitlines() if "Written: " in line} == written


def test_of_one_run_there_is_no_spread(testsgd: Run, asked: dict[str, Any]) -> None:
    asked["runs"] = 1
    assert (
        "87.50% before, 87.00% after.\n" in testsgd("mitigate", "demo", "--method", "samples").out
    )


def test_a_difference_that_rounds_to_nothing_has_no_minus(
    testsgd: Run, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = testsgd("mitigate", "demo", "--method", "samples").out
    assert "-21.0" in shown
    assert "+0.0" in shown
    assert "-0.0" not in shown


def test_folders_formats_and_quiet(testsgd: Run, folder: Path, asked: dict[str, Any]) -> None:
    finished = testsgd(
        "mitigate",
        "demo",
        "--method",
        "samples",
        "--quiet",
        "--out",
        "here",
        "--model-out",
        "there",
        "--format",
        "json",
    )
    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert files(folder) == {"here/result.json", "there/model.txt"}
    assert asked["options"]["journal"] == Path("here/journal.json")


def test_verbose_prints_timings(testsgd: Run, asked: dict[str, Any]) -> None:
    assert (
        "  retraining: 4.500 s"
        in testsgd("mitigate", "demo", "--method", "samples", "--verbose").out
    )


@pytest.mark.parametrize(
    ("status", "code"),
    [("mitigated", 0), ("accuracy_lost", 1), ("above_threshold", 1), ("not_better", 1)],
)
def test_the_verdict_decides_the_exit_code(
    testsgd: Run, folder: Path, asked: dict[str, Any], status: str, code: int
) -> None:
    asked["status"] = status
    finished = testsgd("mitigate", "demo", "--method", "samples")
    assert (finished.code, finished.err) == (code, "")
    saved = json.loads((folder / "reports/demo-mitigated/result.json").read_text(encoding="utf-8"))
    assert saved["verdict"]["status"] == status
    assert (folder / "models/demo-mitigated/model.txt").is_file()


def test_where_the_original_is_kept_there_is_no_new_model(
    testsgd: Run, folder: Path, asked: dict[str, Any]
) -> None:
    asked["status"] = "no_candidate"
    finished = testsgd("mitigate", "demo", "--method", "samples")
    assert (finished.code, finished.err) == (1, "")
    assert "No model was written" in finished.out
    assert not (folder / "models").exists()
    assert (folder / "reports/demo-mitigated/report.html").is_file()


def test_defaults_are_those_of_the_parameters() -> None:
    signature = inspect.signature(mitigate).parameters
    parameters = MitigationParameters()
    # What a balanced accuracy may lose hangs on the method.
    for name in MitigationParameters.__dataclass_fields__.keys() - {"max_balanced_drop"}:
        assert signature[name].default == getattr(parameters, name), name


def test_options_reach_the_call(testsgd: Run, folder: Path, asked: dict[str, Any]) -> None:
    options = {
        "group": 3, "max_accuracy_drop": 1.5, "max_balanced_drop": 4.0, "max_side_effect": 0.1,
        "max_group_accuracy_drop": 3.0,
        "runs": 2, "steps": 4,
        "fewest_samples": 20, "largest_share": 0.2, "samples": "odds", "side": "both",
        "fallback": "none",
        "max_draws": 5000, "limit": 900, "seed": 7, "jobs": 2, "threshold": 0.4,
    }  # fmt: skip
    arguments = [
        part
        for name, value in options.items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    arguments += ["--from-scratch", "--no-soften", "--resume", "--favourable", "no"]
    arguments += ["--data", "rows.csv", "--terms", "t.toml", "--audit", "before/result.json"]
    arguments += ["--model", "mine:model", "--compare", "none"]
    assert testsgd("mitigate", "demo", "--method", "samples", *arguments).code == 0
    expected = {
        **options, "all_above": None, "from_scratch": True, "soften": False, "resume": True,
        "favourable": "no", "terms": Path("t.toml"), "audit": Path("before/result.json"),
        "compare": "none",
        "journal": Path("reports/demo-mitigated/journal.json"),
        "trust_pickle": False,
        "writable": True,
    }  # fmt: skip
    assert callable(asked["options"].pop("progress"))
    assert asked["options"] == expected
    assert (asked["model"], asked["data"]) == ("mine:model", Path("rows.csv"))
    assert asked["spec"].name == "demo"


def test_samples_are_exported_beside_the_model(
    testsgd: Run, folder: Path, asked: dict[str, Any]
) -> None:
    finished = testsgd("mitigate", "demo", "--method", "samples", "--export", "samples.csv")
    assert finished.code == 0
    assert "Written: samples.csv" in finished.out
    pd.testing.assert_frame_equal(pd.read_csv(folder / "samples.csv"), stand_ins.SAMPLES)
    assert (folder / "models/demo-mitigated/model.txt").is_file()


def test_a_model_that_cannot_be_refitted_gets_its_samples(
    testsgd: Run, folder: Path, not_refittable: dict[str, Any]
) -> None:
    finished = testsgd(
        "mitigate",
        "demo",
        "--method",
        "samples",
        "--export",
        "samples.csv",
        "--group",
        "2",
        "--seed",
        "5",
    )
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.startswith("The model was not retrained: the model cannot be refitted.\n")
    assert "Written: samples.csv" in finished.out
    assert files(folder) == {"samples.csv"}
    assert not_refittable["options"]["group"] == 2
    assert not_refittable["options"]["seed"] == 5
    pd.testing.assert_frame_equal(pd.read_csv(folder / "samples.csv"), stand_ins.SAMPLES)
    assert (
        testsgd("mitigate", "demo", "--method", "samples", "--export", "samples.csv", "--quiet").out
        == ""
    )


def test_without_export_it_is_bad_input(fails: Fails, not_refittable: dict[str, Any]) -> None:
    message = fails("mitigate", "demo", "--method", "samples")
    assert "cannot be refitted; or --export" in message
    assert not_refittable == {}


def test_a_group_and_all_groups_exclude_each_other(fails: Fails) -> None:
    message = fails("mitigate", "demo", "--method", "samples", "--group", "2", "--all-above", "0.1")
    assert "give one of the two" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "html,csv"], "the format 'csv' is unknown; choose from html, md, json"),
        (["--export", "samples.xlsx"], ".csv"),
        (["--group", "first"], "--group"),
        (["--nonsense"], "see testsgd mitigate --help"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_computed(
    fails: Fails, asked: dict[str, Any], arguments: list[str], message: str
) -> None:
    assert message in fails("mitigate", "demo", "--method", "samples", *arguments)
    assert "options" not in asked


@pytest.mark.parametrize("option", ["--out", "--model-out", "--export"])
def test_a_place_that_cannot_be_written_to_is_found_before_all_the_work(
    fails: Fails, folder: Path, asked: dict[str, Any], option: str
) -> None:
    (folder / "file").write_text("in the way", encoding="utf-8")
    assert "cannot write there" in fails(
        "mitigate", "demo", "--method", "samples", option, "file/below/samples.csv"
    )
    assert "options" not in asked


def test_mistakes_that_the_call_finds_are_one_line(
    fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **options: Any) -> Any:
        raise ParameterError("there is no group of rank 9", where="group", remedy="choose another")

    monkeypatch.setattr("testsgd.mitigation.mitigate", refuse)
    assert fails("mitigate", "demo", "--method", "samples") == (
        "testsgd: group: there is no group of rank 9; choose another\n"
    )


def test_an_interruption_says_how_to_go_on(
    testsgd: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, journal: Path, **options: Any) -> Any:
        journal.parent.mkdir(parents=True)
        journal.write_text("{}", encoding="utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr("testsgd.mitigation.mitigate", interrupted)
    finished = testsgd("mitigate", "demo", "--method", "samples")
    assert (finished.code, finished.out) == (130, "")
    assert finished.err == (
        "testsgd: interrupted; what was done is in reports/demo-mitigated/journal.json, and the "
        "same command with --resume goes on from there\n"
    )


def test_an_interruption_before_anything_was_done_has_nothing_to_go_on_from(
    testsgd: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("testsgd.mitigation.mitigate", interrupted)
    finished = testsgd("mitigate", "demo", "--method", "samples")
    assert (finished.code, finished.out, finished.err) == (130, "", "testsgd: interrupted\n")


@pytest.mark.parametrize("status", ["mitigated", "no_candidate"])
def test_report_renders_a_saved_mitigation_again(
    testsgd: Run, folder: Path, asked: dict[str, Any], status: str
) -> None:
    asked["status"] = status
    first = testsgd("mitigate", "demo", "--method", "samples", "--out", "one")
    again = testsgd("report", "one/result.json", "--out", "two", "--format", "html,md,json")
    assert (again.code, again.err) == (first.code, "")
    assert again.out.startswith(stand_ins.HEADLINE)
    for name in ("report.html", "report.md", "result.json"):
        assert (folder / "two" / name).read_bytes() == (folder / "one" / name).read_bytes()


def test_a_saved_mitigation_is_not_rendered_in_an_audits_formats(
    testsgd: Run, fails: Fails, asked: dict[str, Any]
) -> None:
    testsgd("mitigate", "demo", "--method", "samples", "--out", "one", "--format", "json")
    assert "the format 'csv' is unknown" in fails("report", "one/result.json", "--format", "csv")
