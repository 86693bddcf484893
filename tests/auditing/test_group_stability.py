"""How often groups are found again: against whole audits of tables drawn row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.stability import affordable, group_stability
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.models import load_model
from testsgd.rules import RuleSet, mine
from testsgd.sampling import explore_neighbourhood

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "stable"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m", "x"], "sensitive": True},
            "age": {"type": "integer", "range": [0, 5], "bins": 3, "sensitive": True},
            "income": {"type": "integer", "range": [0, 20]},
        },
    }
)
PARAMETERS = AuditParameters(
    equal_rows="each",
    estimand="neighbourhood",
    rank_by="score",
    theta=0.06,
    overlap=0.7,
    jobs=1,
    guarantee="per-group",
    stability=0,
)


def people(seed: int, rows: int = 150) -> Table:
    """Rows of which few are of gender x, so that some samples have none of some cells."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["f", "m", "x"], rows, p=[0.55, 0.35, 0.1]),
            "age": generator.integers(0, 6, rows),
            "income": generator.integers(0, 21, rows),
        }
    )
    return check_table(frame, SPECIFICATION)


def decide(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Scores that depend on income, and a little on gender and age."""
    income = frame["income"].to_numpy() + 3 * (frame["gender"] == "m") + frame["age"] / 2
    return np.asarray(income > 12, dtype=np.float64)


MODEL = load_model(decide, SPECIFICATION)


# In place of the quantile of each audit, so that audits of samples select rules as the search does.
CRITICAL = 1.0


@pytest.fixture(autouse=True)
def one_quantile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guarantee, "simultaneous_critical_value", CRITICAL)


def audit(table: Table) -> TableFindings:
    """The whole audit."""
    return run_audit(MODEL, table, PARAMETERS)


def stability(
    found: TableFindings, samples: int, function: Any = decide, **options: Any
) -> dict[int, float]:
    """The stability of an audit's explaining rules."""
    model = load_model(function, SPECIFICATION).model
    neighbourhood = explore_neighbourhood(model, found.table)
    given: dict[str, Any] = {
        "min_count": int(np.ceil(PARAMETERS.theta * len(found.table))),
        "max_features": 3,
        "overlap": PARAMETERS.overlap,
        "critical": CRITICAL,
        "seed": 0,
    }
    return group_stability(
        found.contingency,
        neighbourhood.favourable,
        neighbourhood.size,
        found.rule_sets,
        found.explaining,
        samples=samples,
        **given | options,
    )


def alike(one: RuleSet, other: RuleSet, table: Table) -> bool:
    """Whether two groups, or one and everybody outside the other, are one finding on these rows."""
    inside, inside_other = one.matches(table), other.matches(table)

    def shared(side: NDArray[np.bool_], other_side: NDArray[np.bool_]) -> float:
        return float((side & other_side).sum() / (side | other_side).sum())

    opposite = min(shared(~inside, inside_other), shared(inside, ~inside_other))
    return max(shared(inside, inside_other), opposite) >= PARAMETERS.overlap


def returned(found: TableFindings, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Audit other rows from scratch; say which of the explaining rules are found again."""
    again = audit(found.table.take(rows))
    first = [again.rule_set(group) for group in again.explaining[:10]]
    return np.array(
        [
            any(alike(found.rule_set(group), other, found.table) for other in first)
            for group in found.explaining[:10]
        ]
    )


def same_samples(found: TableFindings, samples: int) -> list[NDArray[np.intp]]:
    """Rows in the numbers that the documented stream gives each kind of row."""
    favourable = explore_neighbourhood(MODEL.model, found.table).favourable.tolist()
    kinds = list(zip(found.contingency.cell_of_row.tolist(), favourable, strict=True))
    listed = sorted(set(kinds))
    counts = np.array([kinds.count(kind) for kind in listed])
    generator = np.random.default_rng(0)
    return [
        np.repeat(
            [kinds.index(kind) for kind in listed],
            generator.multinomial(len(kinds), counts / len(kinds)),
        )
        for _ in range(samples)
    ]


# Of fewer rows, a sample has nobody in some cells, and rule sets are equal that were not before.
@pytest.mark.parametrize(("seed", "rows"), [(0, 150), (10, 60), (1, 40)])
def test_the_shares_are_those_of_whole_audits_of_the_same_samples(seed: int, rows: int) -> None:
    found = audit(people(seed, rows))
    samples = 20
    again = np.array([returned(found, sample) for sample in same_samples(found, samples)])
    shares = stability(found, samples)
    assert list(shares) == list(found.explaining[:10])
    assert list(shares.values()) == pytest.approx(again.mean(axis=0).tolist())
    # The case would be too easy if all of them always came back.
    assert 0 < again.mean() < 1


def test_the_shares_are_those_of_rows_drawn_by_themselves() -> None:
    found = audit(people(7))
    generator = np.random.default_rng(1)
    size, drawn = len(found.table), 40
    again = np.array([returned(found, generator.integers(0, size, size)) for _ in range(drawn)])
    samples = 600
    shares = np.array(list(stability(found, samples).values()))
    # Fisher's exact test of two shares, at most ten times.
    tail = 0.001 / len(shares)
    seen = again.sum(axis=0)
    both = np.rint(shares * samples).astype(int) + seen
    low, high = (
        stats.hypergeom.ppf(part, samples + drawn, both, drawn) for part in (tail, 1 - tail)
    )
    assert np.all((low <= seen) & (seen <= high))


def test_the_same_seed_gives_the_same_shares() -> None:
    found = audit(people(2))
    assert stability(found, 40) == stability(found, 40)
    assert stability(found, 40) != stability(found, 40, seed=1)


def test_a_plain_difference_always_comes_back_and_a_lucky_one_does_not() -> None:
    def by_gender(frame: pd.DataFrame) -> NDArray[np.float64]:
        bonus = 5 * (frame["gender"] == "m")
        return np.asarray(frame["income"] + bonus > 12, dtype=np.float64)

    found = run_audit(load_model(by_gender, SPECIFICATION), people(0, rows=3000), PARAMETERS)
    shares = stability(found, 50, by_gender)
    assert shares[found.explaining[0]] == 1.0
    # Without any discrimination the first group is the luckiest.
    lucky = np.random.default_rng(3).integers(0, 2, 3000)
    contingency = found.contingency
    groups = mine(
        contingency, np.vstack([contingency.tally(), contingency.tally(lucky)]),
        min_count=180, max_features=2,
    )  # fmt: skip
    rows, favourable = groups.sums
    gaps = np.abs(favourable / rows - (lucky.sum() - favourable) / (3000 - rows))
    first = int(np.argmax(gaps))
    luck = group_stability(
        contingency, lucky, 1, groups, [first],
        min_count=180, max_features=2, overlap=0.8, critical=3.0, samples=200, seed=0,
    )  # fmt: skip
    assert list(luck) == [first]
    assert luck[first] < 1


def test_nothing_to_look_for_or_no_samples_gives_nothing() -> None:
    found = audit(people(1))
    assert stability(found, 0) == {}
    # No group is as large: none is found, in no sample.
    none = stability(found, 5, min_count=len(found.table))
    assert none == dict.fromkeys(found.explaining[:10], 0.0)
    unknown = group_stability(
        found.contingency, np.zeros(150, dtype=np.int64), 1, found.rule_sets, (),
        min_count=5, max_features=2, overlap=0.8, critical=3.0, samples=5, seed=0,
    )  # fmt: skip
    assert unknown == {}


def test_samples_are_taken_as_long_as_they_are_quick() -> None:
    assert affordable(5_000, 80) == 200
    assert affordable(19_027_440, 1_823) == 0
    by_size = [affordable(10**size, 100) for size in range(9)]
    assert by_size == sorted(by_size, reverse=True)
    assert all(samples == 0 or samples >= 50 for samples in by_size)
