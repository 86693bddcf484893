"""Subjects for the tests of baselines: rows in which a column says what the model decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from testsgd.baselines import Subject, subject_of
from testsgd.data import check_table, specification_from_mapping
from testsgd.models import load_model


def scripted(
    columns: dict[str, Sequence[Any]],
    decisions: Sequence[Any],
    *,
    bins: dict[str, tuple[float, ...]] | None = None,
    theta: float = 0.05,
    max_features: int = 3,
    seed: int = 0,
) -> Subject:
    """Build a subject: features with `bins` are numbers, the others categories."""
    features: dict[str, Any] = {}
    for name, values in columns.items():
        if name in (bins or {}):
            edges = list((bins or {})[name])
            features[name] = {
                "type": "decimal", "range": [edges[0], edges[-1]], "edges": edges, "sensitive": True
            }  # fmt: skip
        else:
            known = sorted({value for value in values if value is not None})
            features[name] = {"type": "categorical", "values": known, "sensitive": True}
    features["decision"] = {"type": "integer", "range": [0, 1]}
    specification = specification_from_mapping(
        {
            "dataset": {"name": "scripted"},
            "label": {"column": "outcome", "favourable": 1, "values": [0, 1]},
            "features": features,
        }
    )
    frame = pd.DataFrame({**columns, "decision": np.asarray(decisions, dtype=np.int64)})
    model = load_model(lambda rows: rows["decision"].to_numpy(), specification).model
    table = check_table(frame, specification)
    return subject_of(table, model, theta=theta, max_features=max_features, seed=seed)
