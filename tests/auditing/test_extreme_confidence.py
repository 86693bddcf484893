"""A guarantee of nearly 100%: it holds for all groups, and takes no million bootstrap samples."""

import itertools

import numpy as np
import pytest
from null_people import SPECIFICATION, decides, people

from testsgd.auditing import AuditParameters, run_audit
from testsgd.data import check_table
from testsgd.models import load_model


def audited(confidence: float):
    parameters = AuditParameters(confidence=confidence, replicates=200, stability=0)
    table = check_table(people(500, 0), SPECIFICATION)
    return run_audit(load_model(decides(0.4), SPECIFICATION), table, parameters)


@pytest.mark.parametrize(
    ("confidence", "method", "replicates"),
    [
        (0.95, "max-statistic", 200),
        (0.999, "max-statistic", 1000),
        (0.9999999, "bonferroni", 0),
        (1 - 1e-12, "bonferroni", 0),
    ],
)
def test_the_bootstrap_gives_way_to_bonferroni(
    confidence: float, method: str, replicates: int
) -> None:
    guarantee = audited(confidence).guarantee
    assert guarantee.method == method
    assert guarantee.groups == len(guarantee.errors)
    assert abs(guarantee.replicates - replicates) <= 1
    assert guarantee.errors.max() <= (1 - confidence) * (1 + 1e-9)


def test_the_higher_the_confidence_the_wider_the_intervals() -> None:
    found = [audited(confidence) for confidence in (0.95, 0.999, 1 - 1e-12)]
    every = np.arange(len(found[0].rule_sets))
    ends = [one.guarantee.confidence_intervals(one.estimates, every) for one in found]
    for (low, high), (lower, higher) in itertools.pairwise(ends):
        assert (lower <= low).all()
        assert (high <= higher).all()
        assert np.isfinite(lower).all()
