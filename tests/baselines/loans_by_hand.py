"""A tiny table of loans, models of a line each, and a network with weights set by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from testsgd.baselines import Subject, subject_of
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.models import Encoding, Layer, NetworkModel, load_model
from testsgd.models.encoding import CategoryEncoding, NumberEncoding
from testsgd.models.files import Labels, SigmoidOutput

GENDERS = ["female", "male"]
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "loans"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": GENDERS, "sensitive": True},
            "income": {"type": "integer", "range": [0, 3]},
            "age": {"type": "integer", "range": [0, 99], "edges": [0, 40, 100], "sensitive": True},
            "debt": {"type": "decimal", "range": [0, 1]},
            "home": {"type": "categorical", "values": ["none", "rent", "own"]},
        },
    }
)


def people(rows: int = 200, seed: int = 0) -> pd.DataFrame:
    """People whose features are drawn independently."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "gender": generator.choice(GENDERS, rows),
            "income": generator.integers(0, 4, rows),
            "age": generator.integers(0, 100, rows),
            "debt": generator.random(rows).round(2),
            "home": generator.choice(["none", "rent", "own"], rows),
        }
    )


def subject(
    decide: Callable[[pd.DataFrame], Any], frame: pd.DataFrame | None = None, seed: int = 0
) -> Subject:
    """Set a function that gives booleans before the table of people."""
    table = check_table(people() if frame is None else frame, SPECIFICATION)

    def granted(rows: pd.DataFrame) -> Any:
        return np.where(np.asarray(decide(rows), dtype=bool), "yes", "no")

    model = load_model(granted, SPECIFICATION).model
    return subject_of(table, model, theta=0.05, seed=seed)


def network(female: float) -> NetworkModel:
    """Give a network that adds up income, debt and home, and a little for women.

    The sum is 2 income + 4 (1 - debt) + home + female - 8, where home is 0, 1 or 2; three
    hidden units each carry a part of it, all of them positive, so that nothing is cut off.
    """
    encoding = Encoding(
        (
            CategoryEncoding("gender", ("female", "male")),
            NumberEncoding("income", 0.0, 1.0),
            NumberEncoding("age", 50.0, 25.0),
            NumberEncoding("debt", 0.0, 1.0),
            CategoryEncoding("home", ("none", "rent", "own")),
        )
    )
    first = np.zeros((encoding.width, 3), dtype=np.float32)
    first[0, 0] = female
    first[encoding.offset("income"), 0] = 2.0
    first[encoding.offset("debt"), 1] = -4.0
    first[encoding.offset("home") + 1, 2] = 1.0
    first[encoding.offset("home") + 2, 2] = 2.0
    bias = np.array([0.0, 4.0, 0.0], dtype=np.float32)
    last = np.ones((3, 1), dtype=np.float32)
    return NetworkModel(
        (
            Layer(first, bias, "relu"),
            Layer(last, np.array([-8], dtype=np.float32), "sigmoid"),
        ),
        encoding,
        sigmoid=SigmoidOutput(Labels("yes", "no"), "yes", 0.5),
        name="made up",
    )


def network_subject(model: NetworkModel, rows: int = 200, seed: int = 0) -> Subject:
    """Set a network before the table of people."""
    table = check_table(people(rows), SPECIFICATION)
    return subject_of(table, model, theta=0.05, seed=seed)


SHARES = [f"share_{place}" for place in range(8)]
SHARES_SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "shares"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": GENDERS, "sensitive": True},
            **{name: {"type": "decimal", "range": [0, 1]} for name in SHARES},
        },
    }
)


def narrow_network(female: float) -> NetworkModel:
    """Give a network whose sum is that of eight shares, weighted 1 to 8, less its mean of 18.

    Women have a little more, so their gender matters in a band that is so wide.
    """
    encoding = Encoding(
        (
            CategoryEncoding("gender", ("female", "male")),
            *(NumberEncoding(name, 0.0, 1.0) for name in SHARES),
        )
    )
    first = np.zeros((encoding.width, 2), dtype=np.float32)
    first[0, 0] = female
    for place, name in enumerate(SHARES):
        first[encoding.offset(name), place % 2] = place + 1
    layers = (
        Layer(first, np.zeros(2, dtype=np.float32), "relu"),
        Layer(np.ones((2, 1), dtype=np.float32), np.array([-18], dtype=np.float32), "sigmoid"),
    )
    sigmoid = SigmoidOutput(Labels("yes", "no"), "yes", 0.5)
    return NetworkModel(layers, encoding, sigmoid=sigmoid, name="narrow")


def narrow_table(rows: int = 300) -> Table:
    """Rows drawn uniformly, for :func:`narrow_network`."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.random((rows, len(SHARES))).round(2), columns=SHARES)
    return check_table(frame.assign(gender=generator.choice(GENDERS, rows)), SHARES_SPECIFICATION)
