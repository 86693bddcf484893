"""An interrupted mitigation leaves nothing broken, and goes on to the same result."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import command_line
import pandas as pd
import pytest
import refittable_models

from testsgd.data import generate_demo
from testsgd.mitigation.search import CURVE_BUDGETS
from testsgd.models.refitting.estimators import EstimatorRefitter
from testsgd.models.skops_files import read_skops

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
module = refittable_models.module

Run = Callable[..., command_line.Finished]

pytestmark = pytest.mark.skops

RUNS = 2

# What the few people of these tests say of a model is left open here.
JUDGED = {0, 1, 3}
SETTINGS = ["--runs", str(RUNS), "--steps", "2", "--samples", "counter", "--compare", "none"]
SETTINGS += ["--max-accuracy-drop", "5", "--format", "json"]


@pytest.fixture
def mitigate(testsgd: Run, module: str, folder: Path) -> Run:
    pytest.importorskip("skops")
    # How long it takes goes by the rows; what is done and what is left does not.
    generate_demo(rows=600, seed=4).to_csv(folder / "people.csv", index=False)

    def run(*options: str | Path) -> command_line.Finished:
        defaults = ("--data", "people.csv", "--model", f"{module}:logistic", *SETTINGS)
        others = command_line.beside(options, *defaults)
        return testsgd("mitigate", "demo", "--method", "samples", *others, *options)

    return run


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """How often models were fitted, and before which time somebody presses Ctrl-C."""
    state: dict[str, Any] = {"count": 0, "stop_at": None}
    refit = EstimatorRefitter.refit

    def counted(self: EstimatorRefitter, *arguments: Any, **options: Any) -> Iterator[Any]:
        state["count"] += 1
        if state["count"] == state["stop_at"]:
            raise KeyboardInterrupt
        yield from refit(self, *arguments, **options)

    monkeypatch.setattr(EstimatorRefitter, "refit", counted)
    return state


def lasting(path: Path) -> dict[str, Any]:
    """Read a result without what changes from one time to the next."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for run in document["runs"]:
        del run["seconds"]
    del document["created"], document["seconds"]
    return document


def scores(folder: Path) -> list[float]:
    """Ask the model that was written about all rows; its file holds addresses of memory too."""
    fitted = read_skops(folder / "model.skops")
    people = pd.read_csv("people.csv").drop(columns="granted")
    found: list[float] = fitted.predict_proba(people)[:, 1].tolist()
    return found


@pytest.mark.slow
def test_it_goes_on_to_the_same_result(mitigate: Run, folder: Path, fits: dict[str, Any]) -> None:
    # With nothing to resume from, everything is done.
    assert mitigate("--out", "whole", "--model-out", "whole-model", "--resume").code in JUDGED
    whole = fits["count"]

    # Without --resume nothing is taken from a journal that is there: the next one that is
    # interrupted at the same fit has come no further.
    fits["count"], fits["stop_at"] = 0, round(0.25 * whole) + 1
    assert mitigate("--out", "parts", "--model-out", "parts-model").code == 130
    journals = [(folder / "parts/journal.json").read_bytes()]

    for share in (0.25, 0.75):
        done = round(share * whole)
        assert 0 < done < whole
        fits["count"], fits["stop_at"] = 0, done + 1
        stopped = mitigate("--out", "parts", "--model-out", "parts-model")
        assert (stopped.code, stopped.out) == (130, "")
        assert "parts/journal.json" in stopped.err
        assert stopped.err.endswith("with --resume goes on from there\n")
        assert [path.name for path in (folder / "parts").iterdir()] == ["journal.json"]
        assert not (folder / "parts-model").exists()
        journals.append((folder / "parts/journal.json").read_bytes())

        fits["count"], fits["stop_at"] = 0, None
        resumed = mitigate("--out", "parts", "--model-out", "parts-model", "--resume")
        assert (resumed.code in JUDGED, resumed.err) == (True, "")
        assert lasting(folder / "parts/result.json") == lasting(folder / "whole/result.json")
        assert scores(folder / "parts-model") == scores(folder / "whole-model")
        # What was done is not done again, but for the chosen model of each run, and those that
        # stand for other budgets in the run that is kept.
        assert whole - done <= fits["count"] <= whole - done + RUNS + len(CURVE_BUDGETS)
        assert not (folder / "parts/journal.json").exists()
        for name in ("parts", "parts-model"):
            shutil.rmtree(folder / name)
    assert journals[1] == journals[0]


@pytest.mark.slow
def test_with_other_settings_there_is_nothing_to_go_on_from(
    mitigate: Run, folder: Path, fits: dict[str, Any]
) -> None:
    # The first fit is that of the model that the candidates are compared with.
    fits["stop_at"] = 3
    assert mitigate().code == 130
    other = mitigate("--resume", "--seed", "5")
    assert (other.code, other.out) == (2, "")
    assert "other data, another model or other settings" in other.err
    assert (folder / "reports/demo-mitigated/journal.json").is_file()


@pytest.mark.slow
def test_a_model_that_is_half_written_is_not_seen(
    mitigate: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mitigate("--runs", "1").code in JUDGED
    target = folder / "models/demo-mitigated"
    before = (target / "model.skops").read_bytes()

    def stopped(estimator: Any, file: Any, **options: Any) -> None:
        Path(file).write_bytes(b"half of a mod")
        raise KeyboardInterrupt

    monkeypatch.setattr("skops.io.dump", stopped)
    finished = mitigate("--runs", "1", "--seed", "3")
    assert (finished.code, finished.out) == (130, "")
    assert (target / "model.skops").read_bytes() == before
    assert not [path for path in folder.rglob("*") if ".part" in path.name]
