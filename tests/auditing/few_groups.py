"""A small data set of few groups, and models that cost nothing, for audits by the hundred."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.data import check_table, specification_from_mapping
from testsgd.models import load_model

Model = Callable[[pd.DataFrame], Any]

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "few"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": [0, 1, 2], "sensitive": True},
            "income": {"type": "integer", "range": [0, 100]},
        },
    }
)
_BONUS = np.array([0.0, 0.2, -0.2])


def people(rows: int, genders: int = 3) -> pd.DataFrame:
    """Two or three genders in unequal shares, and incomes over the whole of their range."""
    generator = np.random.default_rng(0)
    shares = np.array([5, 3, 2][:genders])
    return pd.DataFrame(
        {
            "gender": generator.choice(genders, rows, p=shares / shares.sum()),
            "income": generator.integers(0, 101, rows),
        }
    )


def by_income(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Scores that depend on income and gender; about a third lie above one half."""
    bonus = _BONUS[frame["gender"].to_numpy()]
    return np.clip(0.7 * frame["income"].to_numpy() / 100 + bonus, 0, 1)


def seldom(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Scores of which but a few in a hundred lie above one half, all of them of gender 1."""
    chosen = (frame["income"].to_numpy() > 95) & (frame["gender"].to_numpy() == 1)
    return np.where(chosen, 0.9, 0.1)


def findings(model: Model, frame: pd.DataFrame, **parameters: Any) -> TableFindings:
    """Audit as in the paper, without a summary, and without a bootstrap, which is quicker."""
    paper = {"estimand": "neighbourhood", "theta": 0.05, "rank_by": "score"}
    chosen = AuditParameters(
        **{"guarantee": "per-group", "stability": 0, **paper, **parameters}  # type: ignore[arg-type]
    )
    return run_audit(load_model(model, SPECIFICATION), check_table(frame, SPECIFICATION), chosen)


def by_text(found: TableFindings) -> dict[str, dict[str, float]]:
    """Give each group's figures by its text."""
    estimates = found.estimates
    return {
        found.rule_set(group).text: {
            "difference": float(estimates.difference[group]),
            "margin": float(estimates.margin[group]),
            "samples_in": int(estimates.samples_in[group]),
            "samples_out": int(estimates.samples_out[group]),
            "favourable_in": int(estimates.favourable_in[group]),
            "favourable_out": int(estimates.favourable_out[group]),
            "decided": bool(estimates.decided[group]),
        }
        for group in range(len(found.rule_sets))
    }
