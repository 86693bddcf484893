"""The worked example of the FairQuant paper, its network and its boxes written down by hand."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of

from testsgd.certification import CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import Prover, build_problem

_NUMBER = NumberColumns(np.ones(1), np.zeros(1))

NETWORK = FeedForward(
    "worked example", "made up",
    (
        DenseLayer(np.array([[2.0, -0.2], [0.5, 0.7], [1.2, 0.4]]), np.zeros(2), "relu"),
        DenseLayer(np.array([[0.2], [-1.0]]), np.zeros(1), "linear"),
    ),
    tuple(InputColumns(name, _NUMBER) for name in ("i1", "i2", "i3")),
    Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
)  # fmt: skip

DOMAIN = Domain(
    "worked example",
    (IntegerInput("i1", 1, 5), IntegerInput("i2", 0, 1), IntegerInput("i3", 0, 5)),
    ("i2",),
    ((0.0,), (1.0,)),
)


@pytest.mark.parametrize("compiled", [False, True])
def test_forty_per_cent_after_one_split_and_sixty_after_two(compiled: bool) -> None:
    problem = build_problem(NETWORK, DOMAIN)
    # First i1 is split into 1..3 and 4..5, then the open half into 1..2 and 3.
    lo = np.array([[1.0, 0.0], [1.0, 0.0], [4.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    hi = np.array([[5.0, 5.0], [3.0, 5.0], [5.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    with Prover(problem, compiled=compiled) as prover:
        analysed = prover.analyse(lo, hi, bins=48)
    shares = problem.axes.shares(lo, hi)
    certified = shares * (analysed.status == 1)
    assert certified[0] == 0
    assert certified[1:3].sum() == pytest.approx(0.4)
    assert certified[[2, 3, 4]].sum() == pytest.approx(0.6)
    # Counting half-spaces finds more in the open ones, never more than there is.
    truth = truth_of(NETWORK, DOMAIN)
    assert analysed.fair[0] <= truth.share(truth.surely_fair)
    assert analysed.unfair[0] <= truth.share(truth.surely_unfair)


def test_in_the_end_everybody_is_decided() -> None:
    truth = truth_of(NETWORK, DOMAIN)
    outcome = certify_network(NETWORK, DOMAIN, CertificationParameters())
    assert outcome.points == 30
    assert outcome.shares.certified == pytest.approx(truth.share(truth.fair))
    assert outcome.shares.falsified == pytest.approx(1 - truth.share(truth.fair))
