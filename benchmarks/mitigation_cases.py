"""How long mitigations took: from the results of `make retrain-NAME` in reports/."""

from __future__ import annotations

from pathlib import Path

from testsgd.mitigation import MitigationResult

Row = list[str]

_ROOT = Path(__file__).resolve().parent.parent
_NAMES = ("census", "bank", "credit", "compas", "crime", "law", "wiki", "imdb", "tweets")


def mitigations() -> list[Row]:
    """Read the times that the committed results were made in."""
    rows = []
    for name in _NAMES:
        file = _ROOT / "reports" / f"{name}-mitigated" / "result.json"
        if not file.is_file():
            continue
        summary = MitigationResult.from_json(file).summary
        seconds = summary.seconds
        rows.append(
            [
                name,
                f"{summary.split.training:,}",
                f"{len(summary.candidates):,}",
                f"{seconds['cross-validation']:.0f} s" if "cross-validation" in seconds else "",
                f"{seconds['retraining']:.0f} s",
                f"{seconds['audits after']:.0f} s",
                f"{seconds.get('other methods', 0):.0f} s",
            ]
        )
    return rows
