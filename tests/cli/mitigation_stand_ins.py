"""A mitigation that takes no time: its summary is made up, its model is a line of text."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.mitigation import MitigationResult, MitigationSummary, MitigationVerdict

GROUP = "gender = female and race = Black"
HEADLINE = "The difference went from 20.0 to 4.0 points."
SENTENCES = ["Something about held-out rows.", "Something about other groups."]
SAMPLES = pd.DataFrame({"age": [41, 43], "granted": ["yes", "yes"], "seed_row": [3, 5]})

_RULES = [{"feature": "gender", "values": ["female"], "text": "gender = female"}]


def _rates(difference: float) -> dict[str, Any]:
    return {
        "n_in": 500,
        "n_out": 1500,
        "rate_in": 0.5 + difference,
        "rate_out": 0.5,
        "difference": difference,
        "score": abs(difference),
        "confidence_interval": (difference - 0.01, difference + 0.01),
    }


def _spread(mean: float, apart: float) -> dict[str, float]:
    return {"mean": mean, "lowest": mean - apart, "highest": mean + apart}


def _model(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "function",
        "output": "labels",
        "threshold": None,
        "fingerprint": "0" * 64,
    }


def summary(status: str = "mitigated", *, runs: int = 3) -> MitigationSummary:
    """Make up a summary with an outcome in one word; the figures do not depend on it."""
    kept = status != "no_candidate"
    change = {
        "rows": 2000,
        "groups": 90,
        "worst_before": 0.2,
        "worst_after": 0.08,
        "worst": [],
        "increased": [],
        "increased_count": 0,
    }
    return MitigationSummary.model_validate(
        {
            "created": "2026-01-02T03:04:05Z",
            "settings": {
                "group": 1,
                "all_above": None,
                "max_accuracy_drop": 0.5,
                "runs": runs,
                "steps": 6,
                "fewest_samples": 50,
                "largest_share": 0.1,
                "samples": "auto",
                "side": "auto",
                "fallback": "nearest",
                "max_draws": 1000,
                "from_scratch": False,
                "soften": True,
                "seed": 0,
            },
            "versions": {"testsgd": "0"},
            "data": {
                "name": "demo",
                "title": "Loan applications",
                "description": "",
                "licence": "",
                "citation": "",
                "source": "generated",
                "fingerprint": "1" * 64,
                "rows": 2000,
                "label": {"column": "granted", "favourable": "yes", "meaning": ""},
                "features": [],
            },
            "split": {
                "training": 1400,
                "validation": 200,
                "held_out": 400,
                "evaluated_by": "labels",
                "source": "drawn with seed 0",
            },
            "original": _model("mine"),
            "retrained": _model("mine") if kept else None,
            "refitted_as": "an estimator, fitted anew",
            "chosen_run": 1 if kept else None,
            "accuracy_before": 0.875,
            "accuracy_after": _spread(0.87, 0.005 if runs > 1 else 0),
            "accuracy_drop": _spread(0.5, 0.5),
            "balanced_before": 0.8,
            "balanced_after": _spread(0.8, 0),
            "favourable_before": 0.6,
            "favourable_after": _spread(0.62, 0),
            "targets": [
                {
                    "rank": 1,
                    "rules": _RULES,
                    "text": GROUP,
                    "direction": "less",
                    "before": _rates(-0.2),
                    "after": _rates(-0.04),
                    "held_out_before": _rates(-0.21),
                    "held_out_after": _rates(-0.0001),
                    "samples": [],
                }
            ],
            "ranges": [
                {"score": _spread(0.04, 0.01), "held_out_score": _spread(0.05, 0.01), "factor": 5.0}
            ],
            "runs": [
                {
                    "run": run,
                    "seed": run,
                    "kind": "odds" if kept else None,
                    "weight": 1.0 if kept else None,
                    "samples": 50 if kept else None,
                    "validation_drop": 0.1,
                    "accuracy": 0.87,
                    "accuracy_drop": 0.5,
                    "scores": [0.04],
                    "held_out_scores": [0.05],
                    "worst": 0.08,
                    "increased": 0,
                    "seconds": 1.5,
                }
                for run in range(1, runs + 1)
            ],
            "candidates": [],
            "all_rows": change,
            "held_out": change,
            "least_increase": 0.02,
            "comparisons": [],
            "verdict": MitigationVerdict.model_validate(
                {
                    "status": status,
                    "exit_code": int(status != "mitigated"),
                    "headline": HEADLINE,
                    "sentences": SENTENCES,
                }
            ),
            "seconds": {"retraining": 4.5},
        }
    )


@dataclass
class Outcome:
    """What stands in for an outcome: it writes a line of text."""

    kept: bool = True
    samples: pd.DataFrame = field(default_factory=SAMPLES.copy)

    def write_model(self, folder: Path, about: dict[str, Any]) -> list[Path]:
        if not self.kept:
            return []
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.txt").write_text("a model", encoding="utf-8")
        return [folder / "model.txt"]


def result(status: str = "mitigated", *, runs: int = 3) -> MitigationResult:
    """Make up a result."""
    outcome: Any = Outcome(kept=status != "no_candidate")
    return MitigationResult(summary(status, runs=runs), outcome)
