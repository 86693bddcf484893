"""What each command prints and writes, to be compared before and after a change of the code.

``python -m benchmarks.frozen_outputs FOLDER [CASE ...]`` renders every committed result again (the
case ``reports``) and runs small cases of every command, or the named ones only; ``diff -r`` of two
such folders shows what a change has changed. Times, versions and addresses in memory, which differ
from run to run, are taken out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_EXAMPLES = _ROOT / "examples"
_WIDE = {"COLUMNS": "100", "TERMINAL_WIDTH": "100"}

# What differs from run to run, and what is written in its place.
_CHANGING = (
    (re.compile(r'("(?:created|python|platform|machine)": )"[^"]*"'), r'\1"-"'),
    (re.compile(r'("[\w ,]*(?:seconds|per_second|second)[\w ]*": )[\d.e+-]+'), r"\g<1>0"),
    (re.compile(r'("seconds": \{)[^}]*(\})'), r"\1\2"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: UTC|Z|\+00:00)?"), "-"),
    (re.compile(r"\d[\d,.]*(?: ms| µs| s|s|/s)\b"), "- s"),
    (re.compile(r"at 0x[0-9a-f]+"), "at 0x"),
)

_SHIELD = "loans-demographic-parity"
_MONITORS = _EXAMPLES / "monitors"
_SHIELDS = _EXAMPLES / "shields"

# Each a folder of its own: the lines are run in it, one after the other.
CASES: dict[str, tuple[str, ...]] = {
    "help": (
        *(
            f"testsgd {command} --help"
            for command in (
                "",
                "audit",
                "mitigate",
                "compare",
                "certify",
                "train",
                "report",
                "shield",
                "shield synthesize",
                "shield run",
                "shield simulate",
                "shield serve",
                "monitor",
                "monitor run",
                "data",
                "data list",
                "data describe",
                "data terms",
                "data fetch",
                "data schema",
                "bench",
                "bench truth",
                "bench theta",
            )
        ),
    ),
    "audit": (
        "testsgd audit demo --out exact --format html,md,json,csv",
        "testsgd audit demo --mode sampled --estimand neighbourhood --out sampled --format json,md",
        "testsgd audit demo --guarantee fdr --rank-by score --out fdr --format json,md",
        "testsgd audit demo --guarantee per-group --holdout 0.5 --out holdout --format json,md",
        "testsgd audit demo --condition-on income --fail-above 0.1 --out gate --format json,md",
        "testsgd audit demo --fail-above 0.1 --strict --max-unjudged 0 --out strict --format json",
        "testsgd audit nothing",
        "testsgd audit demo --theta 2",
    ),
    "audit-texts": (
        f"testsgd audit {_EXAMPLES}/comments.toml --data comments.csv --model comment_filter:score "
        "--out texts --format html,md,json,csv",
        f"testsgd audit {_EXAMPLES}/comments.toml --data comments.csv --model comment_filter:score "
        "--rank-by score --mode sampled --out sampled --format json,md",
    ),
    "mitigate": (
        "testsgd mitigate demo --method samples --runs 1 --steps 2 --out mitigated "
        "--model-out model --format html,md,json",
    ),
    "compare": (
        "testsgd compare demo --methods testsgd,themis,gerryfair,individual --out compared "
        "--format html,md,json",
    ),
    "certify": (
        "testsgd certify compas --protected race --undecided 0.05 --jobs 1 --out certified "
        "--format html,md,json,csv,junit",
    ),
    "shield": (
        f"testsgd shield synthesize {_SHIELDS}/{_SHIELD}.toml --shield loans.npz --out report "
        "--format html,md,json",
        f"testsgd shield run loans.npz < {_SHIELDS}/loans-events.jsonl",
        "testsgd shield simulate loans.npz --runs 100 --out simulated --format html,md,json",
    ),
    "monitor": (
        f"testsgd monitor run {_MONITORS}/{_SHIELD}.toml --events {_MONITORS}/loans-decisions.csv "
        "--out report --format html,md,json --state state",
    ),
    "data": (
        "testsgd data list",
        "testsgd data describe census",
        "testsgd data describe wiki",
        "testsgd data terms",
        "testsgd data schema",
    ),
    "bench": (
        "testsgd bench truth --populations band --sizes 500 --runs 3 --baseline-runs 0 --out truth",
        "testsgd bench truth --worlds no-difference --sizes 500 --runs 3 --out worlds",
    ),
}


def main(folder: Path, names: list[str]) -> None:
    """Write the outputs of some cases, or of all, below a folder."""
    committed = sorted((_ROOT / "reports").glob("*/result.json"))
    for path in committed if not names or "reports" in names else ():
        lines = (f"testsgd report {path} --out . --format html,md,json",)
        _run(folder / "reports" / path.parent.name, lines)
    chosen = [case for case in CASES.items() if not names or case[0] in names]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda case: _run(folder / case[0], case[1]), chosen))


def _run(folder: Path, lines: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_comments(folder)
    environment = {**os.environ, **_WIDE, "PYTHONPATH": f"{_ROOT}:{_EXAMPLES}"}
    for number, line in enumerate(lines):
        command = line.replace("testsgd ", f"{sys.executable} -m testsgd ", 1)
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
        )
        told = f"$ {line}\n{done.stdout}{done.stderr}exit {done.returncode}\n"
        (folder / f"console-{number:02}.txt").write_text(told, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.suffix in (".txt", ".json", ".md", ".html", ".csv", ".xml") and path.is_file():
            text = path.read_text(encoding="utf-8").replace(str(_ROOT), "ROOT")
            for pattern, instead in _CHANGING:
                text = pattern.sub(instead, text)
            path.write_text(text, encoding="utf-8")
        elif path.is_file():
            path.unlink()


def _write_comments(folder: Path) -> None:
    """Write made-up comments for the audits of texts."""
    if folder.name != "audit-texts":
        return
    who = ["A gay man", "An old muslim", "A young catholic", "A black woman", "Somebody", "A jew"]
    what = ["came late", "is stupid", "sang well", "shouted at us", "was kind", "left early"]
    lines = [f"{person} {act} on day {day}." for day in range(20) for person in who for act in what]
    (folder / "comments.csv").write_text("comment\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
