"""The policy of a certification, against the truth it must hold for; and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from certification_documents import bounded, domain, enumerated, gated, several_classes, weighted
from hypothesis import given
from hypothesis import strategies as st

from testsgd.certification import summarise_certification
from testsgd.certification.domain import IntegerInput
from testsgd.certification.outcome import Remainder, Shares
from testsgd.certification.parameters import CertificationParameters

GRID = st.integers(0, 1000)


@given(GRID, GRID, GRID, GRID)
def test_a_policy_passes_and_fails_only_if_every_possible_truth_agrees(
    one: int, other: int, most: int, least: int
) -> None:
    """All truths that the proof leaves open are tried, in thousandths of the domain."""
    certified = min(one, other)
    falsified = 1000 - max(one, other)
    undecided = 1000 - certified - falsified
    found = bounded(shares=Shares(certified / 1000, falsified / 1000, undecided / 1000))
    summary = gated(found, fail_above=most / 1000, fail_below=least / 1000)
    truths = range(falsified, falsified + undecided + 1)
    kept = {
        "fail_above": {unfair <= most for unfair in truths},
        "fail_below": {1000 - unfair >= least for unfair in truths},
    }
    wanted = {
        name: "passed" if all(answers) else "not_enough_evidence" if any(answers) else "failed"
        for name, answers in kept.items()
    }

    assert {rule.name: rule.outcome for rule in summary.verdict.rules} == wanted
    code = 1 if "failed" in wanted.values() else 3 if len(set(wanted.values())) > 1 else 0
    if set(wanted.values()) == {"not_enough_evidence"}:
        code = 3
    assert summary.verdict.exit_code == code


def test_nothing_fails_because_the_shares_were_rounded() -> None:
    # Together these are 1 - 2e-16, and nothing is proved unfair.
    shares = Shares(0.3, 0.0, 0.7 - 2e-16)
    assert shares.certified + shares.undecided < 1
    summary = gated(bounded(shares=shares), fail_below=1.0)
    assert summary.verdict.exit_code == 3


def test_without_a_policy_the_exit_code_is_0() -> None:
    verdict = summarise_certification(bounded(shares=Shares(0.0, 1.0, 0.0))).verdict
    assert (verdict.status, verdict.exit_code, verdict.rules) == ("reported", 0, [])


def test_an_estimate_decides_no_policy() -> None:
    """Samples say that far more is unfair than allowed, or far less; neither is a proof."""
    for remainder in (
        Remainder(10_000, 10_000, (0.9996, 1.0), 0.95, 0.5, (0.4998, 0.5)),
        Remainder(10_000, 0, (0.0, 0.0004), 0.95, 0.0, (0.0, 0.0002)),
    ):
        found = bounded(shares=Shares(0.5, 0.0, 0.5), remainder=remainder)
        assert gated(found, fail_above=0.1).verdict.exit_code == 3


def test_the_headline_can_be_quoted() -> None:
    assert summarise_certification(bounded()).verdict.headline == (
        "For at least 94.2% of all people in the domain, changing race alone provably does not "
        "change the decision; for at least 0.8% it provably does; 5.0% remain undecided."
    )
    assert summarise_certification(enumerated()).verdict.headline == (
        "For 607 of the 624 people in the domain (97.27%), changing race alone provably does not "
        "change the decision; for the other 17 it provably does."
    )
    assert summarise_certification(several_classes()).verdict.headline == (
        "For at least 70.0% of all people in the domain, changing race alone provably does not "
        "change the decision; running the model found 1 person for whom it does; 30.0% remain "
        "undecided."
    )
    without = summarise_certification(replace(several_classes(), counterexamples=()))
    assert "for no part of it is it proved that it does" in without.verdict.headline


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (Shares(1.0, 0.0, 0.0), "For all people in the domain, changing race alone provably does"),
        (Shares(0.0, 1.0, 0.0), "changing race alone provably changes the decision."),
        (Shares(0.0, 0.0, 1.0), "is proved for no part of the domain yet; running the model found"),
        (Shares(0.0, 0.25, 0.75), "For at least 25.0% of all people in the domain"),
    ],
)
def test_headlines_of_the_ends(shares: Shares, said: str) -> None:
    assert said in summarise_certification(bounded(shares=shares)).verdict.headline


def test_what_is_compared_is_named_if_it_is_not_everything() -> None:
    headline = summarise_certification(weighted()).verdict.headline
    assert "weighted as in the data" in headline
    assert "changing only job and race between clerk with Amber and farmer with Crimson" in headline
    ends = domain(
        inputs=(IntegerInput("age", 0, 8),), protected=("age",), protected_values=((0.0,), (8.0,))
    )
    few = summarise_certification(bounded(domain=ends, counterexamples=(), regions=()))
    assert "changing age alone between 0 and 8 provably" in few.verdict.headline


def test_people_within_rounding_are_part_of_the_quotable_sentence() -> None:
    verdict = summarise_certification(enumerated(within_rounding=2)).verdict
    assert verdict.headline.endswith(
        "; 2 of all are decided by rounding that may differ elsewhere."
    )
    assert any("2 people are so near" in told for told in verdict.sentences)


def test_estimates_are_named_apart_and_absent_without_samples() -> None:
    told = " ".join(summarise_certification(bounded()).verdict.sentences)
    # The interval for the domain is from draws of its own.
    assert "Estimated by sampling, not proved" in told
    assert "1.05% to 1.17% of all people" in told
    assert "Of 10,000 samples of the undecided part it changes for 512." in told
    nothing = summarise_certification(bounded(remainder=None))
    assert nothing.estimated is None
    assert "Estimated" not in " ".join(nothing.verdict.sentences)


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        ("time", "stopped at its time limit"),
        ("undecided", "as soon as at most 5% was undecided"),
        ("interrupted", "was interrupted"),
        ("done", "ended by itself"),
    ],
)
def test_it_says_why_it_ended(stopped: str, said: str) -> None:
    found = bounded(stopped=stopped, parameters=CertificationParameters(undecided=0.05))
    assert said in summarise_certification(found).verdict.sentences[-1]
