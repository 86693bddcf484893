"""Exact mode against brute force: every group, every rate, nothing left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_audit import (
    GENDERS,
    HOUSINGS,
    SPECIFICATION,
    Row,
    as_model,
    frame_of,
    plain_audit,
)

import testsgd
from testsgd.errors import DataError

# As few bootstrap samples as there may be: groups and rates do not depend on them.
QUICK: dict[str, Any] = {"replicates": 19, "stability": 2}


def one_row(missing: bool) -> st.SearchStrategy[Row]:
    nothing = [None] if missing else []
    return st.fixed_dictionaries(
        {
            "gender": st.sampled_from([*GENDERS, *nothing]),
            "open_loans": st.sampled_from([*range(4), *nothing]),
            "age": st.sampled_from([*range(9), *nothing]),
            "housing": st.sampled_from([*HOUSINGS, *nothing]),
            "member": st.sampled_from([False, True, *nothing]),
        }
    )


def decide_by(seed: int, favoured: int) -> Any:
    """A decision that depends on every cell and looks like chance."""

    def decide(row: Row) -> bool:
        cells = [
            [*GENDERS, None].index(row["gender"]),
            -1 if row["open_loans"] is None else int(row["open_loans"]),
            -1 if row["age"] is None else int(row["age"]),
            [*HOUSINGS, None].index(row["housing"]),
            [False, True, None].index(row["member"]),
        ]
        mixed = seed
        for cell in cells:
            mixed = (mixed * 1_000_003 + cell + 7) % 2_147_483_647
        return mixed % 5 < favoured

    return decide


def all_sensitive_features_vary(rows: list[Row]) -> bool:
    ages = {row["age"] for row in rows} - {None}
    return len(ages) > 1 and all(
        len({row[feature] for row in rows}) > 1 for feature in ("gender", "member")
    )


tables = st.booleans().flatmap(lambda missing: st.lists(one_row(missing), min_size=4, max_size=24))


# How few rows a judged group may have on each side, and how that is asked for.
bounds: st.SearchStrategy[tuple[dict[str, Any], Callable[[int], int]]] = st.one_of(
    st.sampled_from([0.01, 0.1, 0.25, 0.5]).map(
        lambda share: ({"theta": share}, lambda rows: max(1, -(-rows * round(100 * share) // 100)))
    ),
    st.integers(1, 12).map(lambda fewest: ({"min_rows": fewest}, lambda rows: fewest)),
    st.just(({"theta": 0.25, "min_rows": 4}, lambda rows: max(4, -(-rows // 4)))),
)


@given(
    tables.filter(all_sensitive_features_vary),
    bounds,
    st.sampled_from(["observed", "neighbourhood"]),
    st.integers(0, 10**6),
    st.integers(0, 5),
)
@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_every_group_is_found_with_its_rates(
    rows: list[Row],
    bound: tuple[dict[str, Any], Callable[[int], int]],
    estimand: str,
    seed: int,
    favoured: int,
) -> None:
    decide = decide_by(seed, favoured)
    asked, fewest = bound
    expected = plain_audit(rows, decide, fewest(len(rows)))
    result = testsgd.audit(
        as_model(decide),
        frame_of(rows),
        SPECIFICATION,
        **asked,
        estimand=estimand,
        rank_by="score",
        mode="exact",
        top=10**6,
        **QUICK,
    )
    found = result.groups
    for group in found.itertuples():
        plain = expected[group.text]
        assert group.n_in == len(plain.members)
        assert group.n_out == len(plain.complement)
        assert group.support == pytest.approx(group.n_in / len(rows))
        rates = (plain.rate_in, plain.rate_out), (plain.observed_in, plain.observed_out)
        (rate_in, rate_out), other = rates if estimand == "neighbourhood" else rates[::-1]
        assert group.rate_in == pytest.approx(rate_in, abs=1e-12)
        assert group.rate_out == pytest.approx(rate_out, abs=1e-12)
        assert group.difference == pytest.approx(rate_in - rate_out, abs=1e-12)
        assert (group.other_rate_in, group.other_rate_out) == pytest.approx(other, abs=1e-12)
        assert group.other_difference == pytest.approx(other[0] - other[1], abs=1e-12)
        assert -1 <= group.other_ci_low <= group.other_difference
        assert group.other_difference <= group.other_ci_high <= 1
        assert group.score == abs(group.difference)
        assert (group.margin, group.exact, group.decided) == (0, True, True)
        answers = 4 if estimand == "neighbourhood" else 1
        assert (group.samples_in, group.samples_out) == (
            answers * group.n_in,
            answers * group.n_out,
        )
        assert -1 <= group.ci_low <= group.difference <= group.ci_high <= 1
    # Rule sets that select the same people, compared with the same others, are one group; none is
    # missing, none comes twice.
    sides = [(expected[text].members, expected[text].complement) for text in found["text"]]
    assert len(set(sides)) == len(sides)
    assert set(sides) == {(group.members, group.complement) for group in expected.values()}
    # Scores that differ by rounding alone are ties.
    assert found["score"].round(12).is_monotonic_decreasing
    assert found["rank"].tolist() == list(range(1, len(found) + 1))
    counts = result.summary.counts
    assert (counts.frequent, counts.groups) == (len(expected), len(found))
    assert counts.undecided_frequent == 0


def test_a_group_is_described_by_its_fewest_rules() -> None:
    # All women are members and no man is: three rule sets select just the women.
    rows = [
        {
            "gender": gender,
            "open_loans": 1,
            "age": age,
            "housing": "own",
            "member": gender != "male",
        }
        for gender in ("female", "male")
        for age in range(8)
    ]
    found = testsgd.audit(
        lambda frame: ["yes" if gender == "male" else "no" for gender in frame["gender"]],
        frame_of(rows),
        SPECIFICATION,
        theta=0.5,
        estimand="neighbourhood",
        **QUICK,
    ).groups
    assert sorted(found["text"]) == [
        "2 <= age < 6",
        "age < 4",
        "age >= 4",
        "gender = female",
        "gender = male",
    ]


def test_a_single_row_has_nobody_to_be_compared_with() -> None:
    row = {"gender": "female", "open_loans": 1, "age": 3, "housing": "own", "member": True}
    with pytest.raises(DataError, match="one value only"):
        testsgd.audit(lambda frame: ["yes"] * len(frame), frame_of([row]), SPECIFICATION)


def test_two_rows_are_enough_for_two_groups() -> None:
    rows = [
        {"gender": gender, "open_loans": 1, "age": age, "housing": "own", "member": member}
        for gender, age, member in (("female", 1, True), ("male", 7, False))
    ]
    result = testsgd.audit(
        lambda frame: frame["gender"].map({"female": 0.9, "male": 0.1}),
        frame_of(rows),
        SPECIFICATION,
        min_rows=1,
        **QUICK,
    )
    assert sorted(result.groups["difference"]) == [-1.0, 1.0]
    assert result.groups["n_in"].tolist() == result.groups["n_out"].tolist() == [1, 1]


def test_a_table_without_other_features_is_judged_by_the_rows_themselves() -> None:
    specification = SPECIFICATION | {
        "features": {
            name: feature
            for name, feature in SPECIFICATION["features"].items()
            if feature.get("sensitive")
        }
    }
    rows = [
        {"gender": gender, "age": age, "member": age % 3 == 0, "open_loans": 0, "housing": "own"}
        for gender in GENDERS
        for age in range(9)
    ]
    frame = frame_of(rows)[["gender", "age", "member"]]
    result = testsgd.audit(
        lambda people: people["age"] / 8, frame, specification, min_rows=10, **QUICK
    )
    row = result.groups.set_index("text").loc["age >= 4"]
    assert (row["rate_in"], row["rate_out"]) == (pytest.approx(4 / 5), 0)
    assert row["samples_in"] == row["n_in"] == 15
    # The rows are their only neighbours, so both estimands are one.
    for name in ("rate_in", "rate_out", "difference", "ci_low", "ci_high"):
        assert result.groups[name].tolist() == result.groups[f"other_{name}"].tolist()
