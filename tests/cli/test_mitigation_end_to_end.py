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
LENIENT = ["--max-accuracy-drop", "5", "--max-balanced-drop", "20"]
# Few bootstrap samples: a mitigation takes none of what follows from them.
FEW = ("--replicates", "99", "--stability", "5")


@pytest.fixture
def mitigate(testsgd: Run, module: str) -> Run:
    """Mitigate the logistic regression, quickly."""
    pytest.importorskip("skops")

    def run(*options: str | Path) -> command_line.Finished:
        base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
        return testsgd("mitigate", "demo", "--method", "samples", *base, *QUICK, *options)

    return run


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def group_of(audit: dict[str, Any], text: str) -> dict[str, Any]:
    (found,) = [group for group in audit["groups"] if group["text"] == text]
    return found


@pytest.mark.slow
@pytest.mark.skops
def test_the_report_says_what_audits_of_both_models_find(
    mitigate: Run, testsgd: Run, folder: Path, module: str
) -> None:
    finished = mitigate("--max-accuracy-drop", "3")
    # The journal is removed when all is done.
    assert [path.name for path in (folder / "reports/demo-mitigated").iterdir()] == ["result.json"]
    found = document(folder / "reports/demo-mitigated/result.json")
    assert (finished.code, finished.err) == (found["verdict"]["exit_code"], "")
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
    # The card of the model says what the verdict is.
    card = document(folder / "models/demo-mitigated/card.json")
    assert card["headline"] == found["verdict"]["headline"]
    assert card["verdict"] == found["verdict"]["status"]
    part = found["written"]["held_out"]
    assert card["held-out accuracy"] == pytest.approx(part["accuracy"]["after"])
    assert card["held-out accuracy change"] == pytest.approx(part["accuracy"]["change"])


@pytest.mark.slow
@pytest.mark.skops
def test_an_audit_that_is_there_already_names_the_group(
    mitigate: Run, testsgd: Run, folder: Path, module: str
) -> None:
    base = ("--data", "people.csv", "--model", f"{module}:logistic", "--format", "json")
    # Which group is named is no matter of how many people there are.
    fewer = ("--limit", "600")
    testsgd("audit", "demo", *base, *FEW, *fewer)
    assert mitigate("--group", "2", "--out", "one", *fewer).code in {0, 1, 3}
    named = ("--group", "2", "--audit", "reports/demo/result.json")
    assert mitigate("--out", "two", *named, *fewer).code in {0, 1, 3}
    one, two = (document(folder / name / "result.json") for name in ("one", "two"))
    audit = document(folder / "reports/demo/result.json")
    assert two["targets"][0]["text"] == audit["groups"][1]["text"]
    # That audit was of all people; without it those held out have no part in naming the group.
    assert (one["split"]["unseen"], two["split"]["unseen"]) == (True, False)
    assert one["split"] | {"unseen": False} == two["split"]


@pytest.mark.slow
@pytest.mark.skops
def test_what_is_exported_is_what_was_added(mitigate: Run, folder: Path) -> None:
    assert mitigate("--max-accuracy-drop", "3", "--export", "samples.csv").code in {0, 1, 3}
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


@pytest.mark.slow
@pytest.mark.skops
def test_where_every_candidate_loses_too_much_the_original_is_kept(
    testsgd: Run, folder: Path, module: str
) -> None:
    pytest.importorskip("skops")
    base = ("--data", "people.csv", "--model", f"{module}:brittle")
    finished = testsgd("mitigate", "demo", "--method", "samples", *base, *QUICK)
    assert (finished.code, finished.err) == (1, "")
    found = document(folder / "reports/demo-mitigated/result.json")
    assert found["verdict"]["status"] == "no_candidate"
    assert found["retrained"] is None
    assert not any(candidate["allowed"] for candidate in found["candidates"])
    (target,) = found["targets"]
    assert target["after"] == target["before"]
    assert found["accuracy_drop"] == {"mean": 0, "lowest": 0, "highest": 0}
    assert "the original model stays" in finished.out
    assert not (folder / "models").exists()


@pytest.mark.slow
def test_all_groups_above_a_score(testsgd: Run, folder: Path) -> None:
    few = ("demo", "--limit", "3000", "--format", "json")
    testsgd("audit", *few, *FEW)
    audit = document(folder / "reports/demo/result.json")
    scores = [group["score"] for group in audit["groups"] if group["distinct"]]
    assert scores
    threshold = 0.9 * min(scores)
    named = ("--all-above", str(threshold), "--audit", "reports/demo/result.json")
    finished = testsgd("mitigate", *few, "--method", "samples", *QUICK, *named, *LENIENT)
    found = document(folder / "reports/demo-mitigated/result.json")
    before = [target["before"]["score"] for target in found["targets"]]
    assert sorted(before) == pytest.approx(sorted(scores))
    above = [target["held_out_after"]["score"] > threshold for target in found["targets"]]
    assert finished.code == found["verdict"]["exit_code"]
    assert not (any(above) and finished.code == 0)


@pytest.mark.slow
def test_the_demos_network_is_retrained_and_read_back(testsgd: Run, folder: Path) -> None:
    finished = testsgd(
        "mitigate", "demo", "--method", "samples", "--limit", "3000", *QUICK, *LENIENT
    )
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
