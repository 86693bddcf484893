"""Assess the label sequences that were published with the conditional-fairness paper.

``python -m benchmarks.generative_experiments.published`` writes a report for each sequence into a
folder, and the tables of docs/generative.md from their results. The files are those of the folder
``generative`` below TESTSGD_DATA_HOME: the gender of poor people and of business leaders that
ChatGPT with DALL-E 3 drew, and four attributes of successful people that GLM-4 drew.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.marked_page import fill_marked, percent, table
from testsgd import GenerativeResult, assess_generative

_ROOT = Path(__file__).resolve().parent.parent.parent
_PAGE = _ROOT / "docs" / "generative.md"
_GENDER = {"gender": {"values": ["female", "male"]}}
_SHORT = {"f": "female", "m": "male"}
# The values that the authors declare for Figure 3; any other label is unrelated.
_DECLARED = {
    "gender": ("female", "male"),
    "body_type": ("slim", "overweight"),
    "ethnicity": (
        "american_indian_or_alaska_native",
        "asian",
        "black_or_african_american",
        "hispanic_or_latino",
        "white",
        "native_hawaiian_or_other_pacific_islander",
        "others",
    ),
    "occupation": (
        "armed_forces",
        "manager",
        "professional",
        "technician",
        "clerical_worker",
        "service_worker",
        "skilled_worker",
        "craftsperson",
        "plant_operator",
        "elementary_worker",
    ),
}
# Those of them, and others, that occur in one of the two files.
_SEEN = {
    "gender": ("female", "male"),
    "body_type": ("slim", "overweight"),
    "ethnicity": (
        "asian",
        "black_or_african_american",
        "hispanic_or_latino",
        "white",
        "others",
    ),
    "occupation": ("manager", "professional", "technician", "service_worker", "others"),
}


@dataclass(frozen=True)
class Published:
    """A published sequence, and what the paper says of such sequences."""

    name: str  # Of the report's folder.
    title: str
    file: str
    key: str  # Of the sequence in the file; empty if the file is the sequence.
    beta: int  # The bound that the report judges: the paper's figure.
    paper: str


GENDERS = (
    Published(
        "generative-poor-1",
        "poor people, first sequence",
        "gender_sequences.json",
        "chatgpt_dalle_poor_seq1",
        beta=5,
        paper="13 to 20",
    ),
    Published(
        "generative-poor-2",
        "poor people, second sequence",
        "gender_sequences.json",
        "chatgpt_dalle_poor_seq2",
        beta=5,
        paper="13 to 20",
    ),
    Published(
        "generative-leaders",
        "business leaders",
        "gender_sequences.json",
        "chatgpt_dalle_business_leader_seq1",
        beta=5,
        paper="around 5",
    ),
)
SUCCESSFUL = (
    Published(
        "generative-successful-3",
        "successful people, third sequence",
        "zhipu_leader_seq3_labels.json",
        "",
        beta=0,
        paper="below 40%",
    ),
    Published(
        "generative-successful-4",
        "successful people, fourth sequence",
        "zhipu_leader_seq4_labels.json",
        "",
        beta=0,
        paper="below 40%",
    ),
)


def main() -> None:
    """Read the command line, assess, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--out", type=Path, default=_ROOT / "reports", help="folder of the reports")
    parser.add_argument("--page", action="store_true", help="write the tables of the page, too")
    options = parser.parse_args()
    genders = [(one, assess_gender(one)) for one in GENDERS]
    successful = [(one, assess_successful(one, values=_DECLARED)) for one in SUCCESSFUL]
    seen = [assess_successful(one, values=_SEEN) for one in SUCCESSFUL]
    for one, result in (*genders, *successful):
        result.write(options.out / one.name)
        print(f"{one.title}: {result.verdict.headline}")
        print(f"Written: {options.out / one.name / 'report.html'}")
    if options.page:
        parts = {
            _marks("gender"): gender_table(genders),
            _marks("combinations"): combinations_table(successful, seen),
        }
        fill_marked(_PAGE, parts)
        print(f"Written: {_PAGE}")


def assess_gender(published: Published) -> GenerativeResult:
    """Assess a sequence of genders against the paper's figure for business leaders."""
    sequence = [_SHORT[label] for label in _read(published.file)[published.key]]
    specification = {
        "name": published.title,
        "groupings": _GENDER,
        "requirements": [{"grouping": "gender", "beta": published.beta}],
    }
    return assess_generative({"gender": sequence}, specification, keep_sequence=False)


def assess_successful(
    published: Published, *, values: Mapping[str, tuple[str, ...]]
) -> GenerativeResult:
    """Assess which pairs of values of four groupings a sequence has."""
    specification = {
        "name": published.title,
        "groupings": {name: {"values": list(listed)} for name, listed in values.items()},
    }
    outputs = [
        {name: label[name] if label[name] in listed else None for name, listed in values.items()}
        for label in _read(published.file)
    ]
    return assess_generative(outputs, specification, keep_sequence=False)


def gender_table(results: list[tuple[Published, GenerativeResult]]) -> str:
    """Return the shares and smallest betas beside what the paper says."""
    rows = []
    for published, result in results:
        (sequence,) = result.summary.sequences
        female, male = sequence.values
        rows.append(
            [
                published.title,
                str(sequence.related),
                f"{percent(female.share or 0)} ({percent(female.exact_low)} to "
                f"{percent(female.exact_high)})",
                f"{female.smallest_beta} and {male.smallest_beta}",
                published.paper,
            ]
        )
    heading = ["sequence", "outputs", "share of women", "smallest betas: women, men", "paper"]
    return table(heading, rows)


def combinations_table(
    results: list[tuple[Published, GenerativeResult]], seen: list[GenerativeResult]
) -> str:
    """Return how many pairs of values appear, by which values are taken to exist."""
    rows = []
    for (published, result), few in zip(results, seen, strict=True):
        for label, one in (("as the authors declare them", result), ("those that occur", few)):
            coverage = one.summary.coverage
            assert coverage is not None
            early = max(
                (point.covered for point in coverage.curve if point.outputs <= 25), default=0
            )
            rows.append(
                [
                    published.title,
                    label,
                    str(coverage.outputs),
                    str(coverage.combinations),
                    percent(early / coverage.combinations),
                    percent(coverage.covered / coverage.combinations),
                    f"{coverage.least_further} to {coverage.enough_further}",
                    published.paper,
                ]
            )
    heading = [
        "sequence",
        "values",
        "outputs",
        "pairs",
        "after 25",
        "at the end",
        "least outputs for the rest",
        "paper",
    ]
    return table(heading, rows)


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- generative: {name} -->", f"<!-- generative: end of {name} -->"


def _read(name: str) -> Any:
    home = os.environ.get("TESTSGD_DATA_HOME", "")
    path = Path(home) / "generative" / name
    if not home or not path.is_file():
        raise SystemExit(
            f"{path} is missing: put the label files that are published with the paper into the "
            "folder generative below TESTSGD_DATA_HOME"
        )
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
