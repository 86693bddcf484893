"""The groups shown first are different people: a walk down the ranking, by memberships of rows."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.different_people import different_people

QUICK: dict[str, Any] = {"stability": 0, "guarantee": "per-group", "min_rows": 1, "top": 100_000}


@st.composite
def people(draw: st.DrawFn) -> pd.DataFrame:
    """Draw a small table with repeated rows, some of unknown age."""
    rows = draw(st.integers(12, 60))
    source = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    age = source.integers(0, 6, rows).astype(float)
    if draw(st.booleans()):
        age[source.random(rows) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows, p=[0.3, 0.7]),
            "land": source.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
            "age": age,
        }
    )


def audited(frame: pd.DataFrame, said: Any, **options: Any) -> AuditResult:
    return testsgd.audit_predictions(said, sensitive_features=frame, **{**QUICK, **options})


def sides(result: AuditResult, frame: pd.DataFrame) -> dict[str, tuple[Any, Any]]:
    """Give the rows of each group and of its complement, by the group's text."""
    found = {}
    for group in result.summary.groups:
        inside = np.asarray(group.mask(frame))
        known = np.ones(len(frame), dtype=bool)
        for rule in group.rules:
            if (rule.low, rule.high) != (None, None):
                known &= frame[rule.feature].notna().to_numpy()
        found[group.text] = (inside, known & ~inside)
    return found


def apart(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Return whether two groups share at most half of the smaller, and are no complements."""
    both, here = int((one[0] & other[0]).sum()), int((one[0] & other[1]).sum())
    there, neither = int((one[1] & other[0]).sum()), int((one[1] & other[1]).sum())
    smaller = both + min(here, there)
    if smaller and Fraction(both, smaller) > Fraction(1, 2):
        return False
    # Without rounding: phi is less than -1/2 if the numerator is negative and its square is more
    # than a quarter of the product under the root.
    spread = (both + here) * (there + neither) * (both + there) * (here + neither)
    numerator = both * neither - here * there
    return numerator >= 0 or 4 * numerator**2 <= spread


def walk(order: list[str], of: dict[str, tuple[Any, Any]], limit: int) -> list[str]:
    """Take groups one after the other, each compared with all before; the first in any case."""
    taken: list[str] = []
    for text in order[:]:
        inside, outside = of[text]
        if taken and inside.sum() > outside.sum():
            continue
        before = [
            of[one] if of[one][0].sum() <= of[one][1].sum() else of[one][::-1] for one in taken
        ]
        if len(taken) < limit and all(apart((inside, outside), one) for one in before):
            taken.append(text)
    return taken


@settings(max_examples=15, deadline=None)
@given(people(), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_a_walk_of_any_order_is_that_by_memberships(
    frame: pd.DataFrame, seed: int, limit: int
) -> None:
    # A column of one value is no sensitive feature.
    assume((frame.nunique() > 1).all())
    source = np.random.default_rng(seed)
    result = audited(frame, source.integers(0, 2, len(frame)))
    findings = result.findings
    assert findings is not None
    of = sides(result, frame)
    order = source.permutation(len(findings.rule_sets))
    texts = [findings.rule_set(int(group)).text for group in order]
    order = order[[text in of for text in texts]]
    texts = [text for text in texts if text in of]
    taken = different_people(order, findings.rule_sets, findings.contingency, limit=limit)
    assert [findings.rule_set(group).text for group in taken] == walk(texts, of, limit)


def many(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    source = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], 4000),
            "land": source.choice(["a", "b", "c"], 4000, p=[0.6, 0.3, 0.1]),
            "age": source.integers(18, 80, 4000),
        }
    )
    rate = 0.6 - 0.3 * ((frame["sex"] == "f") & (frame["age"] > 50)) - 0.2 * (frame["land"] == "c")
    return frame, source.random(4000) < rate.to_numpy()


@pytest.mark.parametrize("guarantee", ["simultaneous", "fdr"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_view_shows_the_walk_over_significant_groups(guarantee: str, seed: int) -> None:
    frame, said = many(seed)
    result = audited(frame, said.astype(int), guarantee=guarantee, replicates=99, min_rows=50)
    groups = result.summary.groups
    if guarantee == "fdr":
        significant = [group for group in groups if (group.q_value or 0.0) <= 0.05]
    else:
        significant = [group for group in groups if group.lower_confidence_bound]
    order = dict.fromkeys([groups[0].text, *(group.text for group in significant)])
    expected = walk(list(order), sides(result, frame), 6)
    assert len(expected) > 1
    assert [group.text for group in groups if group.distinct] == expected
    assert result.distinct["text"].tolist() == expected
    # Each view has a line with the rank of each of these, and no others, in its first table.
    ranks = [str(group.rank) for group in groups if group.distinct]
    table = result.to_markdown().split("| Rank |")[1].split("\n\n")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ranks
    for page in (result.to_html(), result._repr_html_()):
        rows = page.split('aria-label="First groups"')[1].split("</table>")[0].split("<tr")[2:]
        assert [re.findall(r">(\d+)</td>", row)[0] for row in rows] == ranks


def test_without_a_significant_group_the_first_one_is_shown() -> None:
    frame, _ = many(3)
    said = np.random.default_rng(4).random(len(frame)) < 0.5
    result = audited(frame, said.astype(int), guarantee="simultaneous", replicates=99, min_rows=50)
    assert result.summary.guarantee.significant == 0
    assert [group.rank for group in result.summary.groups if group.distinct] == [1]
