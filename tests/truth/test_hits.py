"""What counts as having found a planted group, on cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from testsgd.truth import Hits
from testsgd.truth.runs import find_hits, jaccard, same_groups

PEOPLE = np.arange(100)
PLANTED = PEOPLE < 20


def test_jaccard_by_hand() -> None:
    assert jaccard(PEOPLE < 20, PEOPLE < 10) == 0.5
    assert jaccard(PEOPLE < 0, PEOPLE < 0) == 0
    cells = np.array([True, False, True]), np.array([False, True, True])
    assert jaccard(*cells, np.array([5, 1, 4])) == 0.4


@pytest.mark.parametrize(("found", "hit"), [(16, True), (15, False), (25, True), (26, False)])
def test_a_hit_shares_80_percent_of_the_people_in_either(found: int, hit: bool) -> None:
    assert find_hits([[found > PEOPLE]], [PLANTED]).first is hit


def test_the_rest_of_the_people_says_the_same() -> None:
    assert find_hits([[PEOPLE >= 20]], [PLANTED]) == Hits(True, True, True)
    assert find_hits([[PEOPLE >= 16]], [PLANTED]).first
    # It must be the rest that matches: two large groups always have much in common.
    assert not find_hits([[PEOPLE >= 15]], [PLANTED]).first
    assert not find_hits([[PEOPLE < 79]], [PLANTED]).first


def test_all_planted_groups_must_be_among_the_first_five() -> None:
    other = PEOPLE >= 90
    noise = [[person == PEOPLE] for person in (30, 40, 50, 60)]
    assert find_hits([[PLANTED], *noise[:3], [other]], [PLANTED, other]) == Hits(True, True, True)
    assert not find_hits([[PLANTED], *noise, [other]], [PLANTED, other]).among_first
    assert find_hits([*noise, [other]], [other]).among_first
    assert not find_hits([*noise, [other]], [other]).first


def test_a_small_part_of_a_planted_group_lies_inside_it() -> None:
    assert find_hits([[PEOPLE < 5]], [PLANTED]) == Hits(False, False, True)
    assert find_hits([[(PEOPLE >= 16) & (PEOPLE < 21)]], [PLANTED]).inside
    assert not find_hits([[(PEOPLE >= 17) & (PEOPLE < 21)]], [PLANTED]).inside


def test_either_of_a_pair_may_be_the_planted_one() -> None:
    assert find_hits([[PEOPLE >= 50, PLANTED]], [PLANTED]).first


def test_nothing_found_is_no_hit() -> None:
    assert find_hits([], [PLANTED]) == Hits(False, False, False)
    nobody = np.zeros(100, dtype=bool)
    assert find_hits([[nobody]], [PLANTED]) == Hits(False, False, False)


def test_the_same_groups_are_the_same_people_or_the_rest_of_them_in_any_order() -> None:
    other = PEOPLE >= 90
    assert same_groups([PLANTED, other], [other, PLANTED])
    assert same_groups([~other, PLANTED], [PLANTED, other])
    assert not same_groups([PLANTED], [PLANTED, other])
    assert not same_groups([PLANTED, other], [PLANTED])
    assert not same_groups([PEOPLE < 21], [PLANTED])
    assert same_groups([], [])
