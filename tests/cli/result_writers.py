"""Run commands that write results, one after the other, in the working folder of a new process.

Called with the kind of commands, the number of processors and the folder of the examples.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import biased_comments
import certifiable_networks
import comment_texts
import refittable_models

from testsgd.data import generate_demo

SHIELD = """name = "loans"
[fairness]
property = "demographic_parity"
bound = "1/4"
[groups]
names = ["a", "b"]
[horizon]
length = 10
"""


Commands = Mapping[str, tuple[str, ...]]


def _results(jobs: str, examples: Path) -> Commands:
    """Return commands that write no model by their names; later ones use files of earlier ones."""
    audit = ("audit", "demo", "--limit", "400", "--jobs", jobs)
    texts = ("audit", "comments.toml", "--data", "comments.csv", "--model", "forum:judge")
    shield = ("shield", "simulate", "shield.npz", "--runs", "50")
    monitors = examples / "monitors"
    generative = examples / "generative"
    views = ("--format", "html,md,json")
    return {
        "audit": (*audit, "--format", "html,md,json,csv", "--out", "exact"),
        "sampled": (*audit, "--mode", "sampled", "--out", "sampled", *views),
        "texts": (*texts, "--jobs", jobs, "--format", "html,md,json,csv", "--out", "texts"),
        "sampled texts": (
            *(*texts, "--mode", "sampled", "--min-samples", "50", "--error-margin", "0.2"),
            *("--jobs", jobs, "--out", "sampled-texts", *views),
        ),
        "report": ("report", "exact/result.json", "--out", "again", *views),
        "certify": (
            *("certify", "lender.nnet", "--domain", "ranges.toml", "--samples", "200"),
            *("--jobs", jobs, "--format", "html,md,json,csv,junit", "--out", "certified"),
        ),
        "certify until enough is decided": (
            *("certify", "wide.nnet", "--domain", "wide.toml", "--undecided", "0.1"),
            *("--time-limit", "0", "--samples", "300", "--protected", "x3", "--compare", "0,1000"),
            *("--jobs", jobs, "--format", "html,md,json,csv", "--out", "certified-wide"),
        ),
        "synthesize": (
            *("shield", "synthesize", "shield.toml", "--shield", "shield.npz"),
            *("--jobs", jobs, "--out", "shield", *views),
        ),
        "simulate": (*shield, "--jobs", jobs, "--out", "simulated", *views),
        "monitor": (
            *("monitor", "run", f"{monitors}/loans-demographic-parity.toml", "--state", "state"),
            *("--events", f"{monitors}/loans-decisions.csv", "--out", "monitored", *views),
        ),
        "simulated monitor": (
            *("monitor", "simulate", f"{monitors}/loans-demographic-parity.toml", "--runs", "6"),
            *("--days", "3", "--out", "simulated-monitor", *views),
        ),
        "generative": (
            *("generative", "assess", f"{generative}/outputs.jsonl"),
            *("--spec", f"{generative}/people.toml", "--out", "assessed", *views),
        ),
        "compare": (
            *("compare", "demo", "--limit", "400", "--methods", "testsgd,themis"),
            *("--jobs", jobs, "--out", "compared", *views),
        ),
    }


def _mitigations(jobs: str) -> Commands:
    """Return commands that write a model, by their names, which are those of its folders too."""
    lenient = ("--max-accuracy-drop", "20", "--max-balanced-drop", "50", "--jobs", jobs)
    own = ("--data", "people.csv", "--model", "loan_models:logistic")
    few_samples = ("--method", "samples", "--samples", "counter", "--runs", "1", "--steps", "1")
    network = ("mitigate", "demo", "--limit", "600", *lenient)
    return {
        "play": ("mitigate", "demo", *own, *lenient, "--method", "play", "--max-features", "1"),
        "samples": (
            *("mitigate", "demo", *own, *lenient, *few_samples, "--compare", "retraining"),
            *("--export", "samples.csv"),
        ),
        "texts": (
            *("mitigate", "comments.toml", *lenient, *few_samples, "--compare", "none"),
            *("--data", "comments.csv", "--model", "comment_model:filter"),
            *("--largest-share", "0.3", "--export", "texts.csv"),
        ),
        "network-samples": (*network, *few_samples, "--compare", "none"),
        "network-penalty": (*network, "--method", "penalty", "--max-features", "1"),
    }


RESULTS, MITIGATIONS = "results", "mitigations"
MODELS = "models"


def command_lines(kind: str, jobs: str, examples: Path) -> Commands:
    """Return the commands of a kind by their names."""
    if kind == RESULTS:
        return _results(jobs, examples)
    return {
        name: (*line, "--out", name, "--model-out", f"{MODELS}/{name}")
        for name, line in _mitigations(jobs).items()
    }


def _write_inputs(kind: str) -> None:
    """Write what the commands of a kind read into the working folder."""
    if kind == RESULTS:
        Path("shield.toml").write_text(SHIELD, encoding="utf-8")
        certifiable_networks.write_lender(Path())
        # A domain that cannot be enumerated, so that bounds are proved.
        ranges = certifiable_networks.RANGES.replace("integer", "real", 1)
        Path("ranges.toml").write_text(ranges, encoding="utf-8")
        # Sums of many products of many sizes, whose last bits depend on the order of the additions.
        wide = certifiable_networks.wide(5, 4, scale=1e-3, seed=6)
        text = certifiable_networks.nnet_text(wide, [0.0] * 4, [1000.0] * 4)
        Path("wide.nnet").write_text(text, encoding="utf-8")
        kinds = {"x0": "real", "x1": "real", "x2": "real", "x3": "integer"}
        lines = [f"[inputs.{name}]\n{kind} = [0, 1000]" for name, kind in kinds.items()]
        Path("wide.toml").write_text("\n".join(lines), encoding="utf-8")
        comment_texts.write_files(Path())
    else:
        generate_demo(rows=600, seed=4).to_csv("people.csv", index=False)
        Path("loan_models.py").write_text(refittable_models.MODULE, encoding="utf-8")
        biased_comments.write_files(Path(), count=500)


def _shorten_mitigations() -> None:
    """Let mitigations play few rounds with few strengths, and soften labels by a few trees."""
    from testsgd.mitigation import cross_validation, table_splits
    from testsgd.mitigation.frontiers import playing

    playing._ROUNDS = 2
    playing._FOLDS = 2
    playing.STRENGTHS = playing.STRENGTHS[::3]
    cross_validation.REPEATS = 1
    table_splits.FOLDS = 2
    table_splits._STEPS = 20


def main(kind: str, jobs: str, examples: Path) -> int:
    """Run all commands; return the first code of one that was not done, or 0."""
    from testsgd.cli.main import _run

    _write_inputs(kind)
    if kind == MITIGATIONS:
        _shorten_mitigations()
    for line in command_lines(kind, jobs, examples).values():
        code = _run([*line, "--reproducible", "--quiet"])
        # Whether a gate fails or a monitor raises an alert is not the question.
        if code not in (0, 1, 3):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
