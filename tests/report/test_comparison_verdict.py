"""What a comparison says first."""

from __future__ import annotations

from typing import Any

from comparison_documents import finding, method, near, settings, several_methods, side

from testsgd.comparison import ComparisonVerdict
from testsgd.comparison.report.summary import MethodSummary
from testsgd.comparison.report.verdict import comparison_verdict, smallest_share


def verdict(methods: list[dict[str, Any]]) -> ComparisonVerdict:
    parts = [MethodSummary.model_validate(one) for one in methods]
    return comparison_verdict(parts, settings(methods), label="yes")


def one(only: bool, name: str) -> dict[str, Any]:
    nearest = [near(name, 1, 0.1 if only else 0.9)]
    return finding(1, "a", 0.1, side(10, 0.3, 0.5), only=only, nearest=nearest)


def test_several_methods() -> None:
    said = verdict(several_methods())

    assert said.headline == (
        "1 of the 2 first groups of the audit was found by no other; "
        "1 of the 2 findings of 2 other methods was found by no other."
    )
    assert said.sentences[0].startswith(
        "The audit's first group, race = White and gender = Male, with 55.3% of the rows, gets "
        "“yes” 22.0 points more often"
    )
    assert said.sentences[1] == (
        "In the population, with 95% confidence for all groups at once, its score's difference is "
        "+25.0 to +33.0 points, which leaves out zero."
    )
    assert said.sentences[2].endswith(
        "GerryFair's auditor found the widest difference: +27.0 points for weighted sum above 0.02."
    )
    assert said.sentences[3].startswith("Of 2 findings of other methods 1 is among all groups")
    assert (
        "Changing only the sensitive features changes the decision for 27.8%" in said.sentences[4]
    )
    assert said.sentences[-1] == "Not run here: DivExplorer; why is said below."
    assert said.exit_code == 0


def test_no_other_method_has_the_widest_if_an_unlisted_group_of_the_audit_is_wider() -> None:
    methods = several_methods()
    for widest, named in ((0.26, True), (0.27, False), (0.28, False)):
        methods[0]["widest"] = widest
        assert ("the widest difference" in " ".join(verdict(methods).sentences)) is named


def test_the_smallest_share_of_rows_is_written_with_three_digits() -> None:
    methods = several_methods()
    chosen = settings(methods)
    for theta, written in ((0.05, "5%"), (50 / 1200, "4.17%"), (0.001, "0.1%")):
        assert smallest_share(chosen.model_copy(update={"theta": theta})) == written


def test_an_interval_with_both_signs_is_nothing_sure() -> None:
    methods = several_methods()[:1]
    methods[0]["findings"][0]["confidence_interval"] = (-0.1, 0.3)

    assert verdict(methods).sentences[1].endswith("points, which includes zero.")


def test_where_all_found_the_same() -> None:
    methods = [method("testsgd", one(False, "themis")), method("themis", one(False, "testsgd"))]

    assert verdict(methods).headline == (
        "The first group of the audit was found by another method too; "
        "the finding of 1 other method was found by another method too."
    )


def test_without_other_groups_there_is_nothing_to_compare() -> None:
    methods = several_methods()
    assert "no other method found groups" in verdict([methods[0], methods[-1]]).headline
    assert "no other method found groups" in verdict(methods[:1]).headline


def test_without_groups_of_the_audit() -> None:
    said = verdict([method("testsgd"), method("themis", one(True, "testsgd"))])

    assert said.headline == (
        "The audit found no group; the finding of 1 other method was found by no other."
    )
    assert said.sentences[0] == "The audit found no group that it could judge."
    # Who alone found something, as nothing else is there, is not said to have found nothing.
    alone = verdict([method("testsgd"), method("themis", one(True, "testsgd") | {"only": None})])
    assert alone.headline.startswith("The audit found no group, so there is nothing to compare")


def test_the_speed_of_both_searches() -> None:
    own = method("testsgd", one(True, "divexplorer"), groups=2_000, groups_per_second=500_000.0)
    other = method("divexplorer", one(True, "testsgd"), groups=50, groups_per_second=100.0)

    assert verdict([own, other]).sentences[-1] == (
        "Given the decisions, the audit's search examines 2,000 groups in 0.004 s and DivExplorer "
        "50 groups in 0.5 s: per second 5,000 times as many."
    )
