"""People whom a model treats alike: their decisions depend on nothing that is sensitive."""

import numpy as np
import pandas as pd

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.data import DatasetSpecification, check_table
from testsgd.models import load_model

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "null"},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "land": {"type": "categorical", "values": ["a", "b", "c", "d"], "sensitive": True},
            "age": {"type": "integer", "range": [0, 59], "bins": 6, "sensitive": True},
            # Far apart, so that a step of one changes no decision but those at the limit.
            "points": {"type": "integer", "range": [0, 100000]},
        },
        "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
    }
)


def people(rows: int, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng([seed, 77])
    return pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], rows, p=[0.3, 0.7]),
            "land": generator.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "age": generator.integers(0, 60, rows),
            "points": generator.integers(0, 100_001, rows),
        }
    )


def decides(share: float):
    """A model that gives the favourable label to a share of all people."""

    def decide(frame: pd.DataFrame) -> np.ndarray:
        return np.where(frame["points"] < share * 100_000, "yes", "no")

    return decide


def audited(rows: int, seed: int, share: float = 0.3, **settings) -> TableFindings:
    table = check_table(people(rows, seed), SPECIFICATION)
    model = load_model(decides(share), SPECIFICATION)
    # A bound that lets many small groups in, so that chance has many chances.
    plain = {"replicates": 199, "stability": 0, "seed": seed, "jobs": 1, "theta": 0.05}
    return run_audit(model, table, AuditParameters(**(plain | settings)))
