"""Numbers with a sign are of the group less its complement, whichever side a headline names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_documents import as_summary, census_document
from page_outline import Outline

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.report.layout import audit_layout
from testsgd.auditing.report.leading import leading_look
from testsgd.auditing.report.wording import ranked_by
from testsgd.report.blocks import KeyFigures
from testsgd.report.formatting import MINUS, count, percent, points

ROWS = 6000


# How the name of the figure ends that is of one group.
TILE = "'s difference"


def people(*, seed: int) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Return people of whom those of one race are less often said 1, and made-up labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "race": rng.choice(["White", "Black", "Asian"], ROWS, p=[0.08, 0.6, 0.32]),
            "age": rng.integers(18, 80, ROWS),
        }
    )
    frame["said"] = (rng.random(ROWS) < np.where(frame["race"] == "White", 0.3, 0.6)).astype(int)
    return frame, pd.Series((rng.random(ROWS) < 0.5).astype(int))


def of_predictions(**options: Any) -> AuditResult:
    frame, labels = people(seed=4)
    sensitive = frame[["sex", "race", "age"]]
    return testsgd.audit_predictions(
        frame["said"], labels, sensitive_features=sensitive, replicates=99, **options
    )


def of_finer_cuts() -> AuditResult:
    """Return an audit whose headline is about one year of age, whose people are never said 0."""
    frame, _ = people(seed=5)
    said = (np.random.default_rng(6).random(ROWS) < 0.5) | (frame["age"] == 50)
    return testsgd.audit_predictions(
        said.astype(int), sensitive_features=frame[["age"]], replicates=99, min_rows=30
    )


def of_slices() -> AuditResult:
    """Return an audit whose headline is about women within one town, said 1 more often."""
    frame, _ = people(seed=7)
    rng = np.random.default_rng(8)
    frame["town"] = rng.choice(["North", "South", "West"], ROWS)
    women = (frame["sex"] == "f") & (frame["town"] == "North")
    men = (frame["sex"] == "m") & (frame["town"] == "South")
    said = rng.random(ROWS) < np.where(women | men, 0.9, 0.4)
    return testsgd.audit_predictions(
        said.astype(int),
        sensitive_features=frame[["sex"]],
        other_features=frame[["town"]],
        within="town",
        replicates=99,
    )


AUDITS = {
    "benefit": lambda: of_predictions(outcome="benefit"),
    "harm": lambda: of_predictions(outcome="harm"),
    "neither": lambda: of_predictions(outcome="neither"),
    "named": lambda: of_predictions(groups=["race in {Black, Asian}"]),
    "named harm": lambda: of_predictions(groups=["race = White and sex = f"], outcome="harm"),
    "finer cut": of_finer_cuts,
    "sampled": lambda: testsgd.audit(
        None,
        None,
        "demo",
        mode="sampled",
        estimand="neighbourhood",
        groups=["gender = female and age < 30"],
        guarantee="per-group",
        error_margin=0.1,
    ),
}
TURNED = {"harm", "named", "named harm", "finer cut", "sampled"}


@pytest.fixture(scope="module", params=AUDITS, ids=lambda name: name.replace(" ", "-"))
def audited(request: pytest.FixtureRequest) -> tuple[str, AuditResult]:
    return request.param, AUDITS[request.param]()


def of_headline(result: AuditResult) -> Any:
    """Return the group that the headline is about."""
    summary = result.summary
    top = next(group for group in summary.groups if group.decided)
    return leading_look(summary, top) or top


def test_every_view_has_one_sign(audited: tuple[str, AuditResult]) -> None:
    name, result = audited
    group = of_headline(result)
    known = points(group.rate_in - group.rate_out)
    [figures] = [
        part for part in audit_layout(result.summary).opening if isinstance(part, KeyFigures)
    ]
    [top] = [figure for figure in figures.figures if figure.name.endswith(TILE)]
    assert top.value == known
    assert group.text in " ".join(top.about)
    other = points(group.rate_out - group.rate_in)
    page = Outline(result.to_html()).text
    assert known in page
    assert group.text in page
    # The other sign would be that of the complement.
    for view in (page, result.to_markdown(), result._repr_html_(), str(result.verdict.sentences)):
        assert other not in view
    told = " ".join(result.verdict.sentences)
    assert (known in told and group.text in told) or name not in TURNED


def test_the_group_is_that_of_the_rules(audited: tuple[str, AuditResult]) -> None:
    _, result = audited
    group = of_headline(result)
    top = next(one for one in result.summary.groups if one.decided)
    told = " ".join(result.verdict.sentences)
    sizes = {int(n.replace(",", "")) for n in re.findall(r"([\d,]+) rows in the group", told)}
    assert sizes <= {group.n_in, top.n_in}
    assert sizes
    assert f"{count(top.n_out)} in its complement" in told
    # The ends of the interval are those of the list.
    low, high = (f"{100 * end:+.1f}" for end in top.confidence_interval)
    assert f"{low} to {high}" in told.replace(MINUS, "-")


def test_who_is_worse_off_leads_where_the_complement_is(
    audited: tuple[str, AuditResult],
) -> None:
    name, result = audited
    group = of_headline(result)
    first, second = re.findall(r"\d+\.\d%", result.verdict.headline)[:2]
    rates = (percent(group.rate_in), percent(group.rate_out))
    assert (first, second) == (rates[::-1] if name in TURNED else rates)


def test_no_row_is_left_out_where_no_number_is_missing(
    audited: tuple[str, AuditResult],
) -> None:
    name, result = audited
    if name != "sampled":
        assert all(not feature.missing for feature in result.summary.data.features)
        assert "known" not in " ".join(result.verdict.sentences)


def test_a_slice_has_the_sign_of_its_group() -> None:
    result = of_slices()
    group = of_headline(result)
    assert group.slice.startswith("town")
    told = " ".join([*result.verdict.sentences])
    low, high = (f"{100 * end:+.1f}" for end in group.confidence_interval)
    assert f"{low} to {high}" in told.replace(MINUS, "-")
    assert f"{count(group.n_in)} rows in the group, {count(group.n_out)} " in told
    figures = result.to_markdown().split(f"{TILE} |")[1]
    assert points(group.difference) in figures


@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
def test_the_top_difference_has_the_sign_of_the_list(outcome: str) -> None:
    document = census_document()
    document["data"]["label"]["outcome"] = outcome
    summary = as_summary(document)
    expected = points(summary.groups[0].difference)
    [figures] = [part for part in audit_layout(summary).opening if isinstance(part, KeyFigures)]
    assert [figure.value for figure in figures.figures if figure.name.endswith(TILE)] == [expected]
    for view in (AuditResult.document.to_html, AuditResult.document.to_markdown):
        assert expected in view(summary)


@pytest.mark.parametrize("complete", [True, False])
def test_a_page_says_how_many_groups_its_ranking_has(complete: bool) -> None:
    document = census_document()
    listed = len(document["groups"])
    document["counts"]["groups"] = listed if complete else 3541
    page = Outline(AuditResult.document.to_html(as_summary(document))).text
    assert ("ull ranking" in page) == complete
    assert (f"{listed} of 3,541" in page) != complete


@pytest.mark.parametrize("view", ["page", "notebook"])
def test_a_list_with_a_larger_difference_behind_the_first_says_its_order(view: str) -> None:
    document = census_document()
    document["parameters"]["rank_by"] = "lower-bound"
    summary = as_summary(document)
    result = AuditResult(summary)
    text = Outline(result.to_html()).text if view == "page" else result._repr_html_()
    assert ranked_by(summary) in text.partition("Largest differences")[2].partition("</table")[0]
    # The figure of one group is not said to be the largest of all.
    [figures] = [part for part in audit_layout(summary).opening if isinstance(part, KeyFigures)]
    [tile] = [figure for figure in figures.figures if figure.name.endswith(TILE)]
    assert not {"top", "largest", "worst"} & set(tile.name.lower().split())


@pytest.mark.parametrize("outcome", ["benefit", "harm"])
def test_a_headline_about_all_others_has_those_who_are_worse_off_beside_it(outcome: str) -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({
        "sex": rng.choice(["f", "m"], ROWS),
        "race": rng.choice(["White", "Black", "Asian"], ROWS),
    })  # fmt: skip
    first = (frame["sex"] == "m") & (frame["race"] == "White")
    rate = np.where(first, 0.8, np.where(frame["sex"] == "m", 0.45, 0.35))
    said = rng.random(ROWS) < (rate if outcome == "benefit" else 1 - rate)

    def audited(**options: Any) -> AuditResult:
        return testsgd.audit_predictions(
            said.astype(int), sensitive_features=frame, replicates=99, **options
        )

    result = audited(outcome=outcome)
    assert "men" not in result.verdict.headline.split(" than ")[0]
    [sentence] = [one for one in result.verdict.sentences if "women" in one]
    apart = []
    for group in result.summary.groups:
        inside = group.mask(frame)
        difference = said[inside].mean() - said[~inside].mean()
        if group.distinct and (difference < 0) == (outcome == "benefit"):
            apart.append(f"{100 * abs(difference):.1f} points")
    assert all(size in sentence for size in apart[:2])
    assert len(apart) > 1
    # From the other side the group itself is worse off, so nothing is to be added.
    turned = audited(outcome="harm" if outcome == "benefit" else "benefit")
    assert turned.verdict.headline.startswith("Men")
    assert not any("women" in one for one in turned.verdict.sentences)
