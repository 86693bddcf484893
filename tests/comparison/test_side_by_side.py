"""Findings measured with one yardstick and looked for among those of the others."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_rows import finding, loaded, parameters, people, result, table
from made_up_rows import strict_with_young_women as decide
from made_up_rows import subject as made_up_subject

from testsgd.auditing import TableFindings, run_audit
from testsgd.baselines import Subject
from testsgd.comparison.matching import similarity
from testsgd.comparison.run import side_by_side
from testsgd.comparison.testsgd_method import audit_as_method

FRAME = people()
WOMEN = (FRAME["gender"] == "f").to_numpy()
YOUNG = (FRAME["age"] < 40).to_numpy()
YOUNG_WOMEN = WOMEN & YOUNG
POOR = (FRAME["income"] < 2).to_numpy()
GRANTED = decide(FRAME) == "yes"


@pytest.fixture(scope="module")
def audit() -> TableFindings:
    return run_audit(loaded(), table(), parameters())


@pytest.fixture(scope="module")
def subject() -> Subject:
    return made_up_subject()


def test_the_yardstick_is_the_rate_of_decisions(audit: TableFindings, subject: Subject) -> None:
    given = result("themis", finding(YOUNG_WOMEN, ~WOMEN))
    (compared,) = side_by_side([given], subject, audit)
    side, other = compared.findings[0].side, compared.findings[0].other_side

    assert side is not None
    assert other is not None
    assert (side.n_in, side.n_out) == (YOUNG_WOMEN.sum(), 400 - YOUNG_WOMEN.sum())
    assert side.rate_in == GRANTED[YOUNG_WOMEN].mean()
    assert side.rate_out == GRANTED[~YOUNG_WOMEN].mean()
    assert other.difference == GRANTED[~WOMEN].mean() - GRANTED[WOMEN].mean()
    assert other.share == (~WOMEN).mean()


def test_the_planted_group_is_the_audits_first_and_its_rows_are_those_of_its_rules(
    audit: TableFindings, subject: Subject
) -> None:
    own = audit_as_method(audit, seconds=1.0)

    np.testing.assert_array_equal(own.findings[0].rows, YOUNG_WOMEN)
    for group, found in zip(audit.distinct, own.findings, strict=True):
        np.testing.assert_array_equal(found.rows, audit.rule_set(group).matches(audit.table))
    (compared,) = side_by_side([own], subject, audit)
    first = compared.findings[0]
    assert first.confidence_interval is not None
    assert first.confidence_interval[0] < first.confidence_interval[1] < 0
    assert first.in_audit is None
    sizes = []
    for place in range(len(audit.rule_sets)):
        rows = audit.rule_set(place).matches(audit.table)
        sizes.append(abs(GRANTED[rows].mean() - GRANTED[~rows].mean()))
    assert compared.widest == pytest.approx(max(sizes))


def test_what_the_others_found_and_what_they_did_not(
    audit: TableFindings, subject: Subject
) -> None:
    nearly = YOUNG_WOMEN.copy()
    nearly[np.flatnonzero(nearly)[:3]] = False
    ones = result("themis", finding(YOUNG_WOMEN), finding(POOR))
    others = result("gerryfair", finding(POOR[::-1]), finding(nearly))
    first, second = side_by_side([ones, others], subject, audit)

    assert [found.only for found in first.findings] == [False, True]
    assert [found.only for found in second.findings] == [True, False]
    nearest = first.findings[0].nearest
    assert [(near.method, near.rank) for near in nearest] == [("gerryfair", 2)]
    assert nearest[0].similarity == pytest.approx(nearly.sum() / YOUNG_WOMEN.sum())


def test_near_copies_of_a_method_are_one_finding(audit: TableFindings, subject: Subject) -> None:
    nearly = WOMEN.copy()
    nearly[np.flatnonzero(nearly)[:3]] = False
    given = result("gerryfair", finding(WOMEN), finding(nearly), finding(~WOMEN), finding(YOUNG))
    (compared,) = side_by_side([given], subject, audit)

    assert [found.rank for found in compared.findings] == [1, 4]
    assert compared.distinct == 2
    assert [found.only for found in compared.findings] == [None, None]


def test_pairs_are_copies_only_if_both_groups_are(audit: TableFindings, subject: Subject) -> None:
    given = result("themis", finding(WOMEN, YOUNG), finding(WOMEN, POOR), finding(WOMEN, YOUNG))
    (compared,) = side_by_side([given], subject, audit)

    assert [found.rank for found in compared.findings] == [1, 2]


def test_people_picked_by_their_decisions_are_no_group(
    audit: TableFindings, subject: Subject
) -> None:
    one = result("individual", finding(GRANTED, text="all sensitive features", value=0.2))
    other = result("themis", finding(GRANTED))
    first, second = side_by_side([one, other], subject, audit)

    assert first.findings[0].side is None
    assert first.findings[0].only is None
    # There is nothing to compare with: the other method found no group.
    assert second.findings[0].only is None
    assert second.findings[0].nearest[0].rank is None


@pytest.mark.parametrize("rows", [WOMEN, YOUNG_WOMEN, POOR, WOMEN & POOR], ids=str)
def test_the_nearest_group_of_the_audit_by_going_through_all(
    rows: np.ndarray, audit: TableFindings, subject: Subject
) -> None:
    (compared,) = side_by_side([result("themis", finding(rows))], subject, audit)
    known = compared.findings[0].in_audit

    overlaps = []
    for group in range(len(audit.rule_sets)):
        members = audit.rule_set(group).matches(audit.table)
        overlaps.append(similarity([members], [rows]))
    assert known is not None
    assert known.similarity == pytest.approx(max(overlaps))
    assert known.rank is not None
    group = audit.ranking[known.rank - 1]
    assert known.text == audit.rule_set(group).text
    assert overlaps[group] == pytest.approx(max(overlaps))


def test_of_a_pair_the_group_that_the_audit_knows_better_is_named(
    audit: TableFindings, subject: Subject
) -> None:
    nobody = np.zeros(len(WOMEN), dtype=bool)
    given = result("themis", finding(POOR, YOUNG_WOMEN), finding(nobody, WOMEN), finding(nobody))
    (compared,) = side_by_side([given], subject, audit)
    first, second, third = (found.in_audit for found in compared.findings)

    assert first is not None
    assert second is not None
    assert (first.similarity, first.rank) == (1.0, 1)
    assert second.text in ("gender = f", "gender = m")
    assert third is None


def test_more_findings_than_are_looked_up_at_once(audit: TableFindings, subject: Subject) -> None:
    groups = [audit.rule_set(group).matches(audit.table) for group in audit.ranking[:9]]
    given = result("themis", *(finding(one, other) for one in groups[:5] for other in groups[5:9]))
    (compared,) = side_by_side([given], subject, audit)

    assert len(compared.findings) == 10
    assert all(found.in_audit and found.in_audit.similarity == 1 for found in compared.findings)
