"""A few hundred rows with two sensitive features, a model of them, and findings made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters
from testsgd.baselines import BaselineFinding, BaselineResult, Figure, Subject, subject_of
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.models import LoadedModel, Model, load_model

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "loans", "title": "Loans", "licence": "CC0"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "age": {"type": "integer", "range": [20, 60], "bins": 4, "sensitive": True},
            "income": {"type": "integer", "range": [0, 9]},
        },
    }
)


def people(rows: int = 400, seed: int = 5) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "gender": generator.choice(["f", "m"], rows, p=[0.4, 0.6]),
            "age": generator.integers(20, 60, rows),
            "income": generator.integers(0, 10, rows),
        }
    )


def strict_with_young_women(frame: pd.DataFrame) -> NDArray[np.str_]:
    young_women = (frame["gender"] == "f") & (frame["age"] < 40)
    needed = np.where(young_women, 8, 4)
    return np.where(frame["income"].to_numpy() >= needed, "yes", "no")


def loaded() -> LoadedModel[Model]:
    return load_model(strict_with_young_women, SPECIFICATION)


def table(rows: int = 400) -> Table:
    return check_table(people(rows), SPECIFICATION)


def parameters(**chosen: Any) -> AuditParameters:
    return AuditParameters(**{"theta": 0.05, "replicates": 50, "stability": 0, **chosen})


def subject(rows: int = 400) -> Subject:
    return subject_of(table(rows), loaded().model, theta=0.05)


def finding(
    rows: Any, other: Any = None, *, text: str = "a group", value: float = 0.5
) -> BaselineFinding:
    return BaselineFinding(
        text=text,
        value=value,
        rows=None if rows is None else np.asarray(rows, dtype=bool),
        rows_other=None if other is None else np.asarray(other, dtype=bool),
    )


def result(method: str, *findings: BaselineFinding, **more: Any) -> BaselineResult:
    settings: dict[str, Any] = {
        "title": method.capitalize(),
        "measure": f"what {method} measures",
        "figures": (Figure("score", 0.25, "share of the rows"),),
        "groups": 12,
        "queries": 3_000,
        "seconds": 0.5,
    }
    return BaselineResult(method=method, findings=findings, **{**settings, **more})
