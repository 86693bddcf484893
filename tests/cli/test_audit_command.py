"""``testsgd audit``: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import pytest

from testsgd.data import PLANTED_GROUP, generate_demo

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]

# Few bootstrap samples, where none of what is said follows from them.
QUICK = ("--replicates", "99", "--stability", "5")
UNSTABLE = ("--stability", "0")
# Where no page is looked at.
JSON = ("--format", "json")


def test_an_audit_prints_its_result_and_writes_three_reports(testsgd: Run, folder: Path) -> None:
    finished = testsgd("audit", "demo")
    assert (finished.code, finished.err) == (0, "")
    written = folder / "reports" / "demo"
    assert sorted(path.name for path in written.iterdir()) == [
        "report.html",
        "report.md",
        "result.json",
    ]
    result = json.loads((written / "result.json").read_text(encoding="utf-8"))
    assert result["verdict"]["headline"] in finished.out
    for sentence in result["verdict"]["sentences"]:
        assert sentence in finished.out
    assert PLANTED_GROUP in finished.out
    assert f"{result['model_queries']:,} model queries, exact" in finished.out
    for path in written.iterdir():
        assert str(path.relative_to(folder)) in finished.out


def test_quiet_prints_nothing_and_writes_all_the_same(testsgd: Run, folder: Path) -> None:
    finished = testsgd("audit", "demo", *QUICK, "--quiet", "--out", "here", "--format", "json,csv")
    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert sorted(path.name for path in (folder / "here").iterdir()) == [
        "groups.csv",
        "result.json",
    ]


def test_verbose_prints_timings(testsgd: Run) -> None:
    finished = testsgd("audit", "demo", *QUICK, *JSON, "--verbose")
    assert finished.code == 0
    assert "predictions" in finished.out


@pytest.mark.parametrize(("gate", "code"), [("0.2", 1), ("0.3", 0), ("0", 1), ("1", 0)])
def test_the_gate_decides_the_exit_code(testsgd: Run, folder: Path, gate: str, code: int) -> None:
    # The demo's largest score is between 0.25 and 0.26; of that 0.20 is sure.
    finished = testsgd("audit", "demo", *UNSTABLE, *JSON, "--fail-above", gate, "--out", "out")
    assert (finished.code, finished.err) == (code, "")
    assert ("The gate failed" if code else "The gate passed") in finished.out
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["verdict"]["exit_code"] == code
    assert (result["groups"][0]["score"] > float(gate)) == bool(code)


def test_features_to_be_alike_in_are_listed_with_commas(testsgd: Run, folder: Path) -> None:
    options = ("--condition-on", "income, debt_ratio", *QUICK, *JSON, "--out", "out")
    assert testsgd("audit", "demo", *options).code == 0
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["parameters"]["condition_on"] == ["income", "debt_ratio"]
    found = result["groups"][0]["explanation"]["conditional"]
    assert found["features"] == ["income", "debt_ratio"]


@pytest.mark.slow
def test_a_score_of_exactly_the_gate_passes(testsgd: Run, folder: Path) -> None:
    # The gate is the audit's own score, whatever that is and of however many rows.
    quick = ("audit", "demo", "--limit", "6000", *UNSTABLE, "--format", "json")
    testsgd(*quick, "--out", "out")
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    score, sure = result["groups"][0]["score"], result["groups"][0]["lower_confidence_bound"]

    def code(gate: float, *options: str) -> int:
        return int(testsgd(*quick, "--fail-above", repr(gate), *options).code)

    assert code(score) == 0
    assert code(score - 1e-12) == 3
    assert code(sure) == 3
    assert code(sure - 1e-12) == 1
    assert code(score - 1e-12, "--guarantee", "per-group") == 1


def test_a_gate_without_enough_evidence_says_so(testsgd: Run, folder: Path) -> None:
    finished = testsgd("audit", "demo", "--fail-above", "0.25", *UNSTABLE, "--out", "out")
    assert (finished.code, finished.err) == (3, "")
    assert "Not enough evidence for the gate" in finished.out
    assert (folder / "out" / "report.html").is_file()


def test_a_wide_terminal_shows_the_lower_bound(
    testsgd: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    wide = testsgd("audit", "demo", *UNSTABLE, *JSON, "--out", "out").out
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    heading = next(line for line in wide.splitlines() if "difference" in line and "rank" in line)
    assert heading.split()[-2:] == ["lower", "bound"]
    first = next(line for line in wide.splitlines() if PLANTED_GROUP in line)
    assert first.split()[-1] == f"{100 * result['groups'][0]['lower_confidence_bound']:.1f}"
    monkeypatch.setenv("COLUMNS", "100")
    narrow = testsgd("audit", "demo", *UNSTABLE, *JSON).out
    assert "lower bound" not in "".join(line for line in narrow.splitlines() if "rank" in line)


@pytest.mark.parametrize(
    "options",
    [
        ["--theta", "0.999"],
        ["--mode", "sampled", "--max-queries", "500"],
        ["--mode", "sampled", "--max-queries", "500", "--fail-above", "0"],
    ],
)
def test_too_little_evidence_is_code_three(testsgd: Run, folder: Path, options: list[str]) -> None:
    finished = testsgd("audit", "demo", *QUICK, *options)
    assert (finished.code, finished.err) == (3, "")
    assert "Not enough evidence" in finished.out
    assert (folder / "reports" / "demo" / "report.html").is_file()


@pytest.mark.slow
def test_sampled_mode_shows_the_margin(testsgd: Run) -> None:
    finished = testsgd("audit", "demo", "--mode", "sampled", "--error-margin", "0.08", *QUICK)
    assert finished.code == 0
    assert "margin" in finished.out
    assert "sampled." in finished.out


def test_several_runs_are_printed_and_written(testsgd: Run, folder: Path) -> None:
    options = ("--mode", "sampled", "--estimand", "neighbourhood", "--limit", "900", *UNSTABLE)
    scheme = ("--error-margin", "0.2", "--min-samples", "100", "--guarantee", "per-group")
    finished = testsgd("audit", "demo", *options, *scheme, "--runs", "3", "--seed", "7")
    assert (finished.code, finished.err) == (0, "")
    reports = folder / "reports" / "demo"
    runs = json.loads((reports / "result.json").read_text(encoding="utf-8"))["runs"]
    assert runs["seeds"] == [7, 8, 9]
    spread = runs["groups"][0]["difference"]
    markdown = (reports / "report.md").read_text(encoding="utf-8")
    for figure in spread.values():
        for view in (finished.out, markdown):
            assert f"{100 * figure:+.1f}".replace("-", "\N{MINUS SIGN}") in view


@pytest.mark.parametrize("option", [["--runs", "0"], ["--runs", "3"], ["--runs", "many"]])
def test_runs_that_make_no_difference_are_refused_in_one_line(
    testsgd: Run, fails: Callable[..., Any], option: list[str]
) -> None:
    assert "runs" in fails("audit", "demo", *option)


def test_rows_and_a_function_of_ones_own(
    testsgd: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"own_{folder.parent.name}"
    (folder / f"{name}.py").write_text(
        "def grant(frame):\n    return frame['gender'].map({'female': 0.4, 'male': 0.6})\n",
        encoding="utf-8",
    )
    generate_demo(rows=500, seed=9).to_csv(folder / "rows.csv", index=False)
    finished = testsgd(
        "audit",
        "demo",
        "--data",
        "rows.csv",
        "--model",
        f"{name}:grant",
        "--out",
        "out",
        "--format",
        "csv",
        "--fail-above",
        "0.9",
    )
    assert finished.code == 1
    with (folder / "out" / "groups.csv").open(encoding="utf-8", newline="") as stream:
        groups = {row["text"]: row for row in csv.DictReader(stream)}
    assert float(groups["gender = male"]["difference"]) == 1
    assert float(groups["gender = female"]["difference"]) == -1


def test_british_and_american_spelling(testsgd: Run, folder: Path) -> None:
    for spelling in ("--favorable", "--favourable"):
        words = ("audit", "demo", spelling, "no", "--out", spelling, *QUICK, *JSON)
        assert testsgd(*words).code == 0
    one, other = (
        json.loads((folder / spelling / "result.json").read_text(encoding="utf-8"))
        for spelling in ("--favorable", "--favourable")
    )
    assert one["groups"] == other["groups"]
    assert one["data"]["label"]["favourable"] == "no"


def test_options_reach_the_audit(testsgd: Run, folder: Path) -> None:
    options = {
        "theta": 0.1, "error_margin": 0.1, "min_samples": 300, "confidence": 0.9, "mode": "sampled",
        "sampling": "pooled", "max_queries": 90_000, "max_features": 2, "bins": 5, "top": 7,
        "seed": 3, "fail_above": 0.9, "guarantee": "fdr", "interval": "wald", "replicates": 50,
        "stability": 0, "holdout": 0.25,
    }  # fmt: skip
    arguments = [
        part
        for name, value in options.items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    assert testsgd("audit", "demo", *arguments, *JSON, "--jobs", "2").code == 0
    result = json.loads((folder / "reports/demo/result.json").read_text(encoding="utf-8"))
    for name, value in options.items():
        assert result["parameters"][name] == value


def test_rates_are_ranked_by_the_estimand_that_is_asked_for(testsgd: Run, folder: Path) -> None:
    for estimand, other in (("observed", "neighbourhood"), ("neighbourhood", "observed")):
        options = ("--estimand", estimand, "--min-rows", "300", "--out", estimand)
        assert testsgd("audit", "demo", *QUICK, *JSON, *options).code == 0
        result = json.loads((folder / estimand / "result.json").read_text(encoding="utf-8"))
        assert result["parameters"]["estimand"] == estimand
        assert [one["estimand"] for one in result["estimands"]] == [estimand, other]
        assert min(min(one["n_in"], one["n_out"]) for one in result["groups"]) >= 300
        assert result["unjudged"]["fewest"] == 300


def test_strictness_is_the_same_in_the_exit_code_and_the_document(
    testsgd: Run, folder: Path
) -> None:
    # A thousand rows a side leave many people of the demo unjudged.
    strict = ("--min-rows", "1000", "--strict")
    for options, code in (
        (strict, 3),
        ((*strict, "--max-unjudged", "1"), 0),
        ((*strict, "--fail-above", "0.1"), 1),
    ):
        finished = testsgd("audit", "demo", *QUICK, *JSON, *options, "--out", "strict")
        result = json.loads((folder / "strict" / "result.json").read_text(encoding="utf-8"))
        assert finished.code == result["verdict"]["exit_code"] == code
        assert result["unjudged"]["share"] > 0.01


def test_a_model_that_answers_at_random_needs_the_option(testsgd: Run, folder: Path) -> None:
    (folder / "chance.py").write_text(
        "import numpy as np\n\n"
        "GENERATOR = np.random.default_rng(0)\n\n\n"
        "def draw(people):\n"
        "    return GENERATOR.random(len(people))\n",
        encoding="utf-8",
    )
    generate_demo(rows=600, seed=1).to_csv(folder / "people.csv", index=False)
    chosen = ("--data", "people.csv", "--model", "chance:draw", *QUICK, *JSON)
    refused = testsgd("audit", "demo", *chosen)
    assert refused.code == 2
    assert len(refused.err.strip().splitlines()) == 1
    accepted = testsgd("audit", "demo", *chosen, "--nondeterministic", "--out", "chance")
    assert accepted.code == 0
    result = json.loads((folder / "chance" / "result.json").read_text(encoding="utf-8"))
    assert result["parameters"]["nondeterministic"] == 5
    assert result["model"]["changing"] > 0.3


def test_a_table_can_be_ranked_by_own_effects(testsgd: Run) -> None:
    finished = testsgd("audit", "demo", *QUICK, *JSON, "--rank-by", "counterfactual")
    assert finished.code == 0
    assert "own effect" in finished.out
