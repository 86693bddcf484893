"""``testsgd mitigate`` on texts: a pipeline of scikit-learn, and reports without any text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pandas as pd
import pytest
from biased_comments import PLACES, write_files

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., command_line.Finished]
Fails = Callable[..., str]

LENIENT = ["--max-balanced-drop", "50"]


@pytest.fixture
def spec(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sys.modules.pop("comment_model", None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return write_files(folder)


@pytest.fixture
def mitigate(testsgd: Run, spec: Path) -> Run:
    def run(*options: str | Path, model: str = "filter") -> command_line.Finished:
        base = ("--data", "comments.csv", "--model", f"comment_model:{model}", "--compare", "none")
        return testsgd("mitigate", spec, *base, "--runs", "1", "--steps", "3", *options)

    return run


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
@pytest.mark.skops
def test_a_text_model_is_retrained_and_read_back(
    mitigate: Run, testsgd: Run, spec: Path, folder: Path
) -> None:
    pytest.importorskip("skops")
    finished = mitigate("--max-accuracy-drop", "10", "--largest-share", "0.3", *LENIENT)
    assert (finished.code in {0, 1, 3}, finished.err) == (True, "")
    assert "held-out texts" in finished.out
    assert "rows" not in finished.out
    found = document(folder / "reports/comments-mitigated/result.json")
    assert found["data"]["kind"] == "texts"
    (target,) = found["targets"]

    base = ("audit", spec, "--data", "comments.csv", "--format", "json", "--top", "10000")
    for when, model in (
        ("before", "comment_model:filter"),
        ("after", "models/comments-mitigated/model.skops"),
    ):
        assert testsgd(*base, "--model", model, "--out", when).code == 0
        audit = document(folder / when / "result.json")
        (group,) = [one for one in audit["groups"] if one["text"] == target["text"]]
        # An audit counts the texts that the terms are put into.
        for key in ("rate_in", "rate_out", "score"):
            assert target[when][key] == pytest.approx(group[key], abs=1e-12), (when, key)
    assert target["after"]["score"] < target["before"]["score"]


@pytest.mark.slow
@pytest.mark.skops
def test_no_report_shows_a_text(mitigate: Run, folder: Path) -> None:
    pytest.importorskip("skops")
    mitigate("--format", "html,md,json")
    written = folder / "reports/comments-mitigated"
    assert len(list(written.iterdir())) == 3
    for path in written.iterdir():
        content = path.read_text(encoding="utf-8")
        assert "how stupid" not in content
        assert not any(f"in the {place}" in content for place in PLACES), path.name


def test_the_samples_of_a_black_box_are_texts(mitigate: Run, folder: Path) -> None:
    finished = mitigate("--export", "samples.csv", model="black_box")
    assert (finished.code, finished.err) == (0, "")
    assert "The model was not retrained: " in finished.out
    samples = pd.read_csv(folder / "samples.csv", keep_default_na=False)
    assert len(samples) > 0
    texts = pd.read_csv(folder / "comments.csv")["comment"]
    for row in samples.head(50).itertuples():
        # A sample is about what its seed is about; only the people in it may be others.
        assert row.comment.split(": ")[0] == texts[row.seed_row].split(": ")[0]
        assert (row.comment == texts[row.seed_row]) == (row.change == "")


@pytest.mark.skops
def test_too_few_texts_are_not_enough_evidence_and_called_texts(mitigate: Run) -> None:
    pytest.importorskip("skops")
    finished = mitigate("--limit", "40")
    assert (finished.code, finished.out) == (3, "")
    assert finished.err.count("\n") == 1
    assert "texts" in finished.err
    assert "rows" not in finished.err


def test_texts_without_labels_are_bad_input(fails: Fails, spec: Path, folder: Path) -> None:
    comments = pd.read_csv(folder / "comments.csv")
    comments.drop(columns="verdict").to_csv(folder / "unlabelled.csv", index=False)
    base = ("--data", "unlabelled.csv", "--model", "comment_model:filter")
    assert "verdict" in fails("mitigate", spec, *base)
