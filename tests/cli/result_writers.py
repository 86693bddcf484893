"""Run commands that write results, one after the other, in the working folder of a new process.

Called with the number of processors and the folder of the examples.
"""

from __future__ import annotations

import sys
from pathlib import Path

import certifiable_networks

SHIELD = """name = "loans"
[fairness]
property = "demographic_parity"
bound = "1/4"
[groups]
names = ["a", "b"]
[horizon]
length = 10
"""


def command_lines(jobs: str, examples: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands by their names; later ones use files of earlier ones."""
    audit = ("audit", "demo", "--limit", "400", "--jobs", jobs)
    shield = ("shield", "simulate", "shield.npz", "--runs", "50")
    monitors = examples / "monitors"
    generative = examples / "generative"
    views = ("--format", "html,md,json")
    return {
        "audit": (*audit, "--format", "html,md,json,csv", "--out", "exact"),
        "sampled": (*audit, "--mode", "sampled", "--out", "sampled", *views),
        "report": ("report", "exact/result.json", "--out", "again", *views),
        "certify": (
            *("certify", "lender.nnet", "--domain", "ranges.toml", "--samples", "200"),
            *("--jobs", jobs, "--format", "html,md,json,csv,junit", "--out", "certified"),
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
        "generative": (
            *("generative", "assess", f"{generative}/outputs.jsonl"),
            *("--spec", f"{generative}/people.toml", "--out", "assessed", *views),
        ),
        "compare": (
            *("compare", "demo", "--limit", "400", "--methods", "testsgd,themis"),
            *("--jobs", jobs, "--out", "compared", *views),
        ),
    }


def main(jobs: str, examples: Path) -> int:
    """Run all commands; return the first code of one that was not done, or 0."""
    from testsgd.cli.main import _run

    Path("shield.toml").write_text(SHIELD)
    certifiable_networks.write_lender(Path())
    # A domain that cannot be enumerated, so that bounds are proved.
    Path("ranges.toml").write_text(certifiable_networks.RANGES.replace("integer", "real", 1))
    lines = command_lines(jobs, examples)
    for line in lines.values():
        code = _run([*line, "--reproducible", "--quiet"])
        # Whether a gate fails or a monitor raises an alert is not the question.
        if code not in (0, 1, 3):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
