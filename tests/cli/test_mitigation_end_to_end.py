"""``testsgd mitigate`` as a user runs it, with a model that is really retrained."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pandas as pd
import pytest
import refittable_models

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails
module = refittable_models.module

Run = Callable[..., command_line.Finished]

QUICK = ["--runs", "1", "--steps", "2", "--compare", "none", "--samples", "counter"]
# Few bootstrap samples: a mitigation takes none of what follows from them.
FEW = ("--replicates", "99", "--stability", "5")


@pytest.fixture
def mitigate(testsgd: Run, module: str) -> Run:
    """Mitigate the logistic regression, quickly."""
    pytest.importorskip("skops")

    def run(*options: str | Path) -> command_line.Finished:
        base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
        return testsgd("mitigate", "demo", *base, *QUICK, *options)

    return run


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def group_of(audit: dict[str, Any], text: str) -> dict[str, Any]:
    (found,) = [group for group in audit["groups"] if group["text"] == text]
    return found


@pytest.mark.skops
def test_the_report_says_what_audits_of_both_models_find(
    mitigate: Run, testsgd: Run, folder: Path, module: str
) -> None:
    finished = mitigate("--max-accuracy-drop", "3")
    assert (finished.code, finished.err) == (0, "")
    found = document(folder / "reports/demo-mitigated/result.json")
    assert found["verdict"]["headline"] in finished.out
    (target,) = found["targets"]

    # Two audits by themselves, one of them of the file that was written.
    base = ("audit", "demo", "--data", "people.csv", "--format", "json", "--top", "100000")
    testsgd(*base, *FEW, "--model", f"{module}:logistic", "--out", "before")
    testsgd(*base, *FEW, "--model", "models/demo-mitigated/model.skops", "--out", "after")
    for when in ("before", "after"):
        audit = document(folder / when / "result.json")
        group = group_of(audit, target["text"])
        for key in ("n_in", "n_out", "rate_in", "rate_out", "score"):
            assert target[when][key] == pytest.approx(group[key], abs=1e-12), (when, key)
    before = document(folder / "before/result.json")
    assert before["groups"][0]["text"] == target["text"]
    assert target["after"]["score"] < target["before"]["score"]


@pytest.mark.skops
def test_an_audit_that_is_there_already_gives_the_same(
    mitigate: Run, testsgd: Run, folder: Path, module: str
) -> None:
    base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
    testsgd("audit", "demo", *base, *FEW)
    assert mitigate("--group", "2", "--out", "one").code in {0, 1}
    assert mitigate("--group", "2", "--out", "two", "--audit", "reports/demo/result.json").code in {
        0,
        1,
    }
    one, two = (document(folder / name / "result.json") for name in ("one", "two"))
    audit = document(folder / "reports/demo/result.json")
    assert one["targets"][0]["text"] == audit["groups"][1]["text"]
    for key in ("targets", "candidates", "verdict", "all_rows", "held_out", "split"):
        assert one[key] == two[key], key


@pytest.mark.skops
def test_what_is_exported_is_what_was_added(mitigate: Run, folder: Path) -> None:
    assert mitigate("--max-accuracy-drop", "3", "--export", "samples.csv").code == 0
    found = document(folder / "reports/demo-mitigated/result.json")
    samples = pd.read_csv(folder / "samples.csv")
    chosen = next(item for item in found["candidates"] if item["chosen"])
    assert len(samples) == chosen["samples"] > 0
    (target,) = found["targets"]
    assert set(samples["group"]) == {target["text"]}
    # Whoever gets less of the label in the data's own words gets samples with it.
    helped = "yes" if target["direction"] == "less" else "no"
    other = {"yes": "no", "no": "yes"}[helped]
    expected = samples["side"].map({"group": helped, "rest": other})
    assert (samples["granted"] == expected).all()


@pytest.mark.skops
def test_where_every_candidate_loses_too_much_the_original_is_kept(
    testsgd: Run, folder: Path, module: str
) -> None:
    pytest.importorskip("skops")
    base = ("--data", "people.csv", "--model", f"{module}:brittle")
    finished = testsgd("mitigate", "demo", *base, *QUICK)
    assert (finished.code, finished.err) == (1, "")
    found = document(folder / "reports/demo-mitigated/result.json")
    assert found["verdict"]["status"] == "no_candidate"
    assert found["retrained"] is None
    assert all(candidate["accuracy_drop"] > 0.5 for candidate in found["candidates"])
    (target,) = found["targets"]
    assert target["after"] == target["before"]
    assert found["accuracy_drop"] == {"mean": 0, "lowest": 0, "highest": 0}
    assert "the original model stays" in finished.out
    assert not (folder / "models").exists()


@pytest.mark.skops
def test_a_journal_is_removed_when_all_is_done(mitigate: Run, folder: Path) -> None:
    mitigate()
    assert [path.name for path in (folder / "reports/demo-mitigated").iterdir()] == ["result.json"]


@pytest.mark.skops
def test_all_groups_above_a_score(mitigate: Run, testsgd: Run, folder: Path, module: str) -> None:
    base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
    testsgd("audit", "demo", *base, *FEW)
    audit = document(folder / "reports/demo/result.json")
    scores = [group["score"] for group in audit["groups"] if group["distinct"]]
    threshold = (scores[2] + scores[3]) / 2
    finished = mitigate("--all-above", str(threshold), "--max-accuracy-drop", "3")
    found = document(folder / "reports/demo-mitigated/result.json")
    assert [target["before"]["score"] for target in found["targets"]] == pytest.approx(scores[:3])
    above = any(spread["score"]["mean"] > threshold for spread in found["spreads"])
    assert finished.code == int(above)


def test_the_demos_network_is_retrained_and_read_back(testsgd: Run, folder: Path) -> None:
    finished = testsgd("mitigate", "demo", "--limit", "3000", *QUICK, "--max-accuracy-drop", "5")
    assert finished.err == ""
    found = document(folder / "reports/demo-mitigated/result.json")
    assert finished.code == found["verdict"]["exit_code"]
    written = {path.name for path in (folder / "models/demo-mitigated").iterdir()}
    assert written == {"model.keras", "preprocessing.json", "card.json"}
    testsgd(
        *("audit", "demo", "--limit", "3000", "--top", "100000", "--out", "after", *FEW),
        *("--model", "models/demo-mitigated/model.keras"),
    )
    (target,) = found["targets"]
    group = group_of(document(folder / "after/result.json"), target["text"])
    for key in ("n_in", "n_out", "rate_in", "rate_out", "score"):
        assert target["after"][key] == pytest.approx(group[key], abs=1e-12), key
