"""What a description says of an audit is taken, unless the user says otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import load_specification

ROWS = pd.DataFrame({"g": ["a"] * 12 + ["b"] * 30 + ["c"] * 158, "income": np.arange(200) % 100})
QUICK: dict[str, Any] = {"guarantee": "per-group", "stability": 0}


def described(**audit: Any) -> dict[str, Any]:
    return {
        "dataset": {"name": "described"},
        "label": {"column": "y", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "g": {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True},
            "income": {"type": "integer", "range": [0, 100]},
        },
        **({"audit": audit} if audit else {}),
    }


def rich(frame: pd.DataFrame) -> Any:
    return np.where(frame["income"] > 50, "yes", "no")


def bounds(description: dict[str, Any], **given: Any) -> tuple[str, Any, Any, int]:
    """Audit; give the estimand, what was asked for, and the smallest side of any judged group."""
    result = testsgd.audit(rich, ROWS, description, **QUICK, **given)
    used, groups = result.summary.parameters, result.groups
    smallest = int(groups[["n_in", "n_out"]].to_numpy().min()) if len(groups) else 0
    return used.estimand, used.theta, used.min_rows, smallest


DESCRIPTION = described(estimand="neighbourhood", theta=0.05, min_rows=13)


@pytest.mark.parametrize(
    ("description", "given", "expected"),
    [
        # Sides of 12, 30, 42, 158, 170 and 188 people are possible.
        (described(), {}, ("observed", None, None, 0)),
        (described(), {"min_rows": 42}, ("observed", None, 42, 42)),
        (described(theta=0.05), {}, ("observed", 0.05, None, 12)),
        (described(min_rows=13), {}, ("observed", None, 13, 30)),
        (DESCRIPTION, {}, ("neighbourhood", 0.05, 13, 30)),
        # The user's bound takes the place of both of the description's.
        (DESCRIPTION, {"min_rows": 12}, ("neighbourhood", None, 12, 12)),
        (DESCRIPTION, {"theta": 0.06}, ("neighbourhood", 0.06, None, 12)),
        (DESCRIPTION, {"theta": 0.061}, ("neighbourhood", 0.061, None, 30)),
        (DESCRIPTION, {"theta": 0.01, "min_rows": 40}, ("neighbourhood", 0.01, 40, 42)),
        (DESCRIPTION, {"estimand": "observed"}, ("observed", 0.05, 13, 30)),
        (DESCRIPTION, {"estimand": None, "theta": None}, ("neighbourhood", 0.05, 13, 30)),
        (DESCRIPTION, {"min_rows": None, "theta": 0.06}, ("neighbourhood", 0.06, None, 12)),
    ],
)
def test_the_description_decides_unless_the_user_does(
    description: dict[str, Any], given: dict[str, Any], expected: tuple[str, Any, Any, int]
) -> None:
    # Of 12, 30 and 158 people nobody but c against the rest has 50 on both sides: 42 have not.
    assert bounds(description, **given) == expected


@pytest.mark.parametrize("name", ["census", "bank", "credit", "compas", "crime", "law"])
def test_the_papers_data_sets_are_audited_as_in_the_paper(name: str) -> None:
    audit = load_specification(name).audit
    assert audit is not None
    assert (audit.estimand, audit.theta, audit.min_rows) == ("neighbourhood", 0.05, None)
