"""Every mistake of a mitigation is one line that says what to do, exit code 2, nothing written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import command_line
import pandas as pd
import pytest
import refittable_models

from testsgd.mitigation.journal import Journal

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
module = refittable_models.module

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]

QUICK = ["--runs", "1", "--steps", "1", "--compare", "none", "--format", "json"]


@pytest.fixture
def refuses(fails: Fails, module: str) -> Fails:
    """Ask for a mitigation that cannot be; give the one line."""

    def run(*options: str | Path, model: str = "logistic", data: str = "people.csv") -> str:
        defaults = ("--data", data, "--model", f"{module}:{model}", *QUICK)
        others = command_line.beside(options, *defaults)
        return fails("mitigate", "demo", "--method", "samples", *others, *options)

    return run


@pytest.fixture
def audit(testsgd: Run, module: str) -> str:
    """The result of an audit of the logistic regression."""
    base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
    few = ("--replicates", "99", "--stability", "5")
    testsgd("audit", "demo", *base, *few, "--out", "audit")
    return "audit/result.json"


@pytest.mark.skops
def test_a_group_that_is_not_in_the_audit(refuses: Fails, audit: str) -> None:
    pytest.importorskip("skops")
    message = refuses("--audit", audit, "--group", "100000")
    assert "there is no group of rank 100000; the audit ranked" in message
    assert "group: 0 is not at least 1" in refuses("--group", "0")


@pytest.mark.skops
@pytest.mark.parametrize("asked", [(), ("--group", "1"), ("--all-above", "0.1")])
def test_too_few_rows_for_any_group_are_not_enough_evidence(
    testsgd: Run, folder: Path, module: str, asked: tuple[str, ...]
) -> None:
    """Of 80 rows that are audited no two sides can have 50; this is no mistake of usage."""
    pytest.importorskip("skops")
    options = ("--data", "people.csv", "--model", f"{module}:logistic", "--limit", "100")
    before = set(folder.rglob("*"))
    finished = testsgd("mitigate", "demo", "--method", "samples", *QUICK, *options, *asked)
    assert (finished.code, finished.out) == (3, "")
    assert finished.err.count("\n") == 1
    assert {"80", "50"} <= set(re.findall(r"\d+", finished.err))
    # There is no such option.
    assert "min_rows" not in finished.err
    assert not {path for path in set(folder.rglob("*")) - before if path.is_file()}


@pytest.mark.skops
def test_too_few_held_out_rows_are_not_enough_evidence(testsgd: Run, module: str) -> None:
    pytest.importorskip("skops")
    options = ("--data", "people.csv", "--model", f"{module}:logistic", "--limit", "140")
    finished = testsgd("mitigate", "demo", "--method", "samples", *QUICK, *options)
    assert finished.code == 3
    assert finished.err.count("\n") == 1


@pytest.mark.skops
def test_no_group_above_a_score(refuses: Fails) -> None:
    pytest.importorskip("skops")
    assert "no group's score is above 0.9" in refuses("--all-above", "0.9")
    assert "all_above" in refuses("--all-above", "1.5")


@pytest.mark.skops
def test_the_audit_of_another_model(refuses: Fails, audit: str) -> None:
    pytest.importorskip("skops")
    message = refuses("--audit", audit, model="another")
    assert "the audit is of another model" in message
    assert "fingerprint" in message
    assert message == refuses("--audit", audit, "--export", "samples.csv", model="another")


def test_the_audit_of_other_data(refuses: Fails, audit: str, folder: Path) -> None:
    pd.read_csv(folder / "people.csv").iloc[:-1].to_csv(folder / "fewer.csv", index=False)
    message = refuses("--audit", audit, data="fewer.csv")
    assert "the audit is of other data: 1,500 rows" in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "there is no such file"),
        (b"", "not valid JSON"),
        (b"\xff\0", "cannot be read as text"),
        (b"{}", "the schema is None"),
        (b'{"schema": "testsgd.mitigation/2"}', "'testsgd.mitigation/2', not 'testsgd.audit/2'"),
    ],
)
def test_what_is_no_audit(
    refuses: Fails, folder: Path, content: bytes | None, expected: str
) -> None:
    if content is not None:
        (folder / "r.json").write_bytes(content)
    message = refuses("--audit", "r.json")
    assert expected in message
    assert "r.json" in message


def test_an_audit_that_was_changed(refuses: Fails, audit: str, folder: Path) -> None:
    document = json.loads((folder / audit).read_text(encoding="utf-8"))
    changed = document | {"groups": "none"}
    (folder / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
    assert "groups" in refuses("--audit", "changed.json")


def test_data_without_labels(refuses: Fails, folder: Path) -> None:
    people = pd.read_csv(folder / "people.csv")
    people.drop(columns="granted").to_csv(folder / "unlabelled.csv", index=False)
    message = refuses(data="unlabelled.csv")
    assert "the label column 'granted' is missing" in message
    assert "unlabelled.csv" in message


def test_data_of_which_some_have_no_label(refuses: Fails, folder: Path) -> None:
    people = pd.read_csv(folder / "people.csv")
    people["granted"] = people["granted"].astype(object)
    people.loc[[3, 5], "granted"] = None
    people.to_csv(folder / "partly.csv", index=False)
    assert "granted" in refuses(data="partly.csv")


def test_a_model_that_cannot_be_refitted(refuses: Fails) -> None:
    message = refuses(model="black_box")
    assert "cannot be refitted" in message
    assert "--export" in message


@pytest.mark.skops
def test_a_model_that_raises_when_it_is_refitted(refuses: Fails, testsgd: Run) -> None:
    pytest.importorskip("skops")
    message = refuses(model="stubborn")
    assert "out of order" in message
    assert "--export" in message


def test_a_black_box_still_gets_its_samples(testsgd: Run, folder: Path, module: str) -> None:
    base = ("--data", "people.csv", "--model", f"{module}:black_box")
    finished = testsgd(
        "mitigate", "demo", "--method", "samples", *base, "--export", "samples.csv", "--group", "3"
    )
    assert (finished.code, finished.err) == (0, "")
    assert "The model was not retrained: " in finished.out
    samples = pd.read_csv(folder / "samples.csv")
    assert len(samples) > 0
    assert {"granted", "seed_row", "change", "why", "group", "side"} < set(samples.columns)
    assert not (folder / "reports").exists()
    assert not (folder / "models").exists()


@pytest.mark.skops
@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--max-accuracy-drop", "-1", "max_accuracy_drop: -1.0 is not between 0 and 100"),
        ("--runs", "0", "runs: 0 is not at least 1"),
        ("--steps", "0", "steps: 0 is not at least 1"),
        ("--fewest-samples", "0", "fewest_samples"),
        ("--largest-share", "0", "largest_share"),
        ("--largest-share", "1.5", "largest_share"),
        ("--samples", "any", "samples: 'any' is not known; choose one of auto, counter, odds"),
        ("--side", "left", "side: 'left' is not known; choose one of auto, group, rest, both"),
        ("--fallback", "some", "fallback: 'some' is not known; choose one of nearest, none"),
        ("--max-draws", "0", "max_draws"),
        ("--seed", "-1", "seed"),
        ("--jobs", "0", "jobs"),
        ("--limit", "0", "limit"),
        ("--threshold", "2", "threshold"),
        ("--compare", "everything", "the method 'everything' is unknown"),
        ("--favourable", "perhaps", "'perhaps'"),
        ("--terms", "mine.toml", "sensitive terms are for texts"),
        ("--data", "gone.csv", "no such file"),
        ("--model", "nonsense", "there is no model 'nonsense'"),
    ],
)
def test_an_option_out_of_range(refuses: Fails, option: str, value: str, expected: str) -> None:
    pytest.importorskip("skops")
    assert expected in refuses(option, value)


@pytest.mark.slow
@pytest.mark.skops
def test_a_journal_of_something_else(refuses: Fails, folder: Path) -> None:
    pytest.importorskip("skops")
    (folder / "out").mkdir()
    journal = folder / "out" / "journal.json"
    journal.write_text("{}", encoding="utf-8")
    assert "no journal of a mitigation" in refuses("--resume", "--out", "out")
    journal.unlink()
    Journal(journal, {"data": "else"}, resume=False).keep("figure", 1)
    message = refuses("--resume", "--out", "out")
    assert "other data, another model or other settings" in message
    assert "without --resume" in message
