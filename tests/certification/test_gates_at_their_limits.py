"""Gates where a share is the limit itself: the outcome is that of fractions, without rounding."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.outcome import Certification, Shares
from testsgd.certification.parameters import CertificationParameters
from testsgd.certification.report.summarise import summarise_certification
from testsgd.certification.search_progress import shares_in_words


def _model(unfair: int) -> LogisticRegression:
    """Return a model that says yes to men with a skill below `unfair`, and no to women."""
    model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[-1.0, 1000.0]], [-1000 + unfair - 0.5]
    return model


def _domain(people: int, **skill: Any) -> dict[str, Any]:
    return {
        "inputs": {
            "skill": {"integer": [0, people - 1], **skill},
            "man": {"integer": [0, 1]},
        }
    }


def _certified(people: int, unfair: int, **given: Any) -> testsgd.CertificationResult:
    return testsgd.certify(_model(unfair), _domain(people), protected="man", jobs=1, **given)


def _unfair_people(people: int, unfair: int) -> int:
    """Count the unfair people by asking the model about each of them."""
    model, skills = _model(unfair), np.arange(people)
    man, woman = (model.predict(np.column_stack([skills, np.full(people, p)])) for p in (1, 0))
    return int((man != woman).sum())


def _below(limit: float) -> float:
    return math.nextafter(limit, 0)


@pytest.mark.parametrize("people", [3, 5, 6, 7, 10, 20, 49, 60])
def test_a_share_that_is_the_limit_is_allowed(people: int) -> None:
    for unfair in range(1, people):
        assert _unfair_people(people, unfair) == unfair
        share, rest = unfair / people, (people - unfair) / people
        result = _certified(people, unfair, fail_above=share, fail_below=rest)
        assert result.exit_code == 0, (unfair, result.verdict.rules)
        proved = result.summary.proved
        assert (proved.certified, proved.falsified, proved.undecided) == (rest, share, 0.0)
    # The next smaller float is another limit.
    assert _certified(people, 2, fail_above=_below(2 / people)).exit_code == 1
    assert _certified(people, 2, fail_below=math.nextafter((people - 2) / people, 1)).exit_code == 1


@pytest.mark.parametrize("people", [5, 10])
def test_of_bounded_boxes_too(people: int, tmp_path: Path) -> None:
    """A domain with a checkpoint is searched by boxes, also if it is small."""
    for unfair in range(1, people):
        result = _certified(
            people,
            unfair,
            fail_above=unfair / people,
            fail_below=(people - unfair) / people,
            checkpoint=tmp_path / f"{unfair}.checkpoint",
        )
        assert result.summary.method == "bounded"
        assert result.undecided == 0
        assert result.exit_code == 0, (unfair, result.verdict.rules)


def test_shares_of_people_are_written_as_they_are() -> None:
    verdict = _certified(5, 3, fail_above=0.5, fail_below=0.5).verdict
    assert "2 of the 5 people in the domain (40.00%)" in verdict.headline
    assert verdict.rules[0].sentence.endswith("failed. At least 60.00% are, provably.")
    assert verdict.rules[1].sentence.endswith("failed. At most 40.00% can be fair, provably.")
    assert "(50.00%)" in _certified(6, 3).verdict.headline
    assert "(90.00%)" in _certified(10, 1).verdict.headline
    regions = _certified(10, 3).summary.regions
    assert [(region.share, region.falsified) for region in regions] == [(0.3, 0.3)]


@pytest.mark.parametrize("unfair", [1, 3, 7, 9])
def test_boxes_are_written_so_too(unfair: int, tmp_path: Path) -> None:
    headline = _certified(10, unfair, checkpoint=tmp_path / "c.checkpoint").verdict.headline
    assert f"at least {100 - 10 * unfair}.00% of all people" in headline
    assert f"at least {10 * unfair}.00% it" in headline


def _rounded(people: int, fair: int, unfair: int) -> Certification:
    """Return what is certified if rounding decides about all but `fair` and `unfair` people."""
    rounded = people - fair - unfair
    model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    inputs = (IntegerInput("skill", 0, people - 1), IntegerInput("man", 0, 1))
    return Certification(
        network=testsgd.certification.find_network(model),
        domain=Domain("people", inputs, ("man",), ((0.0,), (1.0,))),
        parameters=CertificationParameters(),
        points=people,
        shares=Shares((people - unfair) / people, unfair / people, 0.0),
        stopped="done",
        method="enumerated",
        boxes=people,
        open_boxes=0,
        seconds=0.1,
        moments=(),
        remainder=None,
        counterexamples=(),
        regions=(),
        within_rounding=rounded,
        however_rounded=Shares(fair / people, unfair / people, rounded / people),
    )


def _code(certification: Certification, **gates: Any) -> int:
    asked = replace(certification, parameters=CertificationParameters(**gates))
    return summarise_certification(asked).verdict.exit_code


@pytest.mark.parametrize("people", [3, 6, 7, 11])
def test_what_holds_however_sums_are_rounded_is_counted_too(people: int) -> None:
    for fair, unfair in itertools.product(range(people), repeat=2):
        if fair + unfair >= people:
            continue
        found = _rounded(people, fair, unfair)
        most_unfair, most_fair = (people - fair) / people, (people - unfair) / people
        assert _code(found, fail_above=most_unfair) == 0
        assert _code(found, fail_above=_below(most_unfair)) == 3
        assert _code(found, fail_above=unfair / people) == 3
        assert _code(found, fail_below=fair / people) == 0
        assert _code(found, fail_below=most_fair) == 3
        if unfair:
            assert _code(found, fail_above=_below(unfair / people)) == 1
            assert _code(found, fail_below=math.nextafter(most_fair, 1)) == 1


@pytest.mark.parametrize("seed", range(10))
def test_weighted_shares_that_are_the_limit_up_to_rounding_are_allowed(seed: int) -> None:
    generator = np.random.default_rng(seed)
    people = int(generator.integers(3, 40))
    weights = generator.integers(1, 10, people).tolist()
    domain = _domain(people, weights={str(k): weight for k, weight in enumerate(weights)})
    for unfair in range(1, people):
        share = Fraction(sum(weights[:unfair]), sum(weights))
        for away, code in ((0.0, 0), (1e-9, 0), (-1e-9, 1)):
            result = testsgd.certify(
                _model(unfair),
                domain,
                protected="man",
                fail_above=float(share) + away,
                fail_below=float(1 - share) - away,
            )
            assert result.falsified == pytest.approx(float(share), rel=1e-14)
            assert result.certified == pytest.approx(float(1 - share), rel=1e-14)
            assert {rule.outcome for rule in result.verdict.rules} == {
                "failed" if code else "passed"
            }
            assert result.exit_code == code


def test_weighted_shares_are_written_as_they_are() -> None:
    for first in range(1, 10):
        weights = {"0": first, **{str(k): (10 - first) / 7 for k in range(1, 8)}}
        result = testsgd.certify(_model(1), _domain(8, weights=weights), protected="man")
        assert f"at least {10 * first}.00% it" in result.verdict.headline
        assert f"at least {100 - 10 * first}.00% of all" in result.verdict.headline


def test_one_person_of_almost_no_weight_still_breaks_a_gate_of_all() -> None:
    domain = _domain(2, weights={"0": 1, "1": 1e20})
    result = testsgd.certify(_model(1), domain, protected="man", fail_above=0.0, fail_below=1.0)
    assert {rule.outcome for rule in result.verdict.rules} == {"failed"}
    assert result.exit_code == 1


def test_progress_writes_hundredths_of_percents_as_they_are() -> None:
    for part in range(1, 10_000):
        texts = shares_in_words(Shares((10_000 - part) / 10_000, part / 10_000, 0.0))
        assert texts["falsified"] == f"{part / 100:.2f}%"
        assert texts["certified"] == f"{(10_000 - part) / 100:.2f}%"
