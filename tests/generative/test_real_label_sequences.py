"""The label sequences published with the paper, beside what the paper says of them."""

from __future__ import annotations

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sequence_formulas import value_bounded

from testsgd.generative.coverage import combination_coverage, covering_plan, outputs_needed_at_least
from testsgd.generative.sequences import frequencies, frequency_bound, smallest_betas

pytestmark = pytest.mark.real_data

# The values that the authors declare for Figure 3, in their order; any other label is unrelated.
DECLARED = {
    "gender": ["female", "male"],
    "body_type": ["slim", "overweight"],
    "ethnicity": [
        "american_indian_or_alaska_native",
        "asian",
        "black_or_african_american",
        "hispanic_or_latino",
        "white",
        "native_hawaiian_or_other_pacific_islander",
        "others",
    ],
    "occupation": [
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
    ],
}
ZHIPU = ["zhipu_leader_seq3_labels.json", "zhipu_leader_seq4_labels.json"]


def published(name: str) -> Any:
    path = Path(os.environ.get("TESTSGD_DATA_HOME", ".")) / "generative" / name
    if not path.exists():
        if os.environ.get("TESTSGD_REQUIRE_REAL_DATA"):
            pytest.fail(f"{path} is absent")
        pytest.skip(f"the real data are absent: {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def table(rows: list[dict[str, str]], declared: dict[str, list[str]]) -> NDArray[np.int64]:
    codes = {
        name: {value: code for code, value in enumerate(values, start=1)}
        for name, values in declared.items()
    }
    return np.array([[codes[name].get(row[name], 0) for name in declared] for row in rows])


def pairs_seen(rows: list[dict[str, str]], declared: dict[str, list[str]]) -> int:
    """Count pairs as sets of words, without codes."""
    return sum(
        len({(row[x], row[y]) for row in rows if row[x] in declared[x] and row[y] in declared[y]})
        for x, y in combinations(declared, 2)
    )


def test_the_smallest_bounds_are_those_the_formula_gives() -> None:
    smallest = {}
    for name, words in published("gender_sequences.json").items():
        labels = [{"f": 1, "m": 2}[word] for word in words]
        found = smallest_betas(labels, values=2)
        for value, beta in enumerate(found.betas.tolist(), start=1):
            assert value_bounded(labels, value, beta)
            assert not value_bounded(labels, value, beta - 1)
        shares = frequencies(labels, values=2).shares
        allowed = frequency_bound(found.betas) + 2 / len(labels)
        assert shares.max() - shares.min() <= allowed
        assert found.long_enough
        smallest[name] = found.betas.tolist()
    # The paper: women among poor people between 13 and 20, leaders about 5.
    assert smallest == {
        "chatgpt_dalle_poor_seq1": [14, 2],
        "chatgpt_dalle_poor_seq2": [13, 3],
        "chatgpt_dalle_business_leader_seq1": [3, 4],
    }


@pytest.mark.parametrize("name", ZHIPU)
def test_pairs_covered_are_below_four_tenths_with_the_authors_values(name: str) -> None:
    rows = published(name)
    sizes = [len(values) for values in DECLARED.values()]
    found = combination_coverage(table(rows, DECLARED), sizes=sizes)
    assert found.total == 142
    assert found.curve.tolist() == [
        pairs_seen(rows[:seen], DECLARED) for seen in range(1, len(rows) + 1)
    ]
    assert found.share < 0.4
    plan = covering_plan(found)
    assert outputs_needed_at_least(found) <= len(plan)
    after = np.concatenate([table(rows, DECLARED), plan])
    assert combination_coverage(after, sizes=sizes).holds


@pytest.mark.parametrize("name", ZHIPU)
def test_the_same_outputs_cover_more_of_the_values_that_were_seen(name: str) -> None:
    rows = published(name)
    seen = {grouping: sorted({row[grouping] for row in rows} - {""}) for grouping in DECLARED}
    found = combination_coverage(table(rows, seen), sizes=[len(values) for values in seen.values()])
    assert found.covered == pairs_seen(rows, seen)
    assert found.share > 0.4
