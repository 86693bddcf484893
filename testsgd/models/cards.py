"""What a training gave: the report, and the model card beside the network."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd._files import write_text
from testsgd._version import __version__
from testsgd.models.files import CARD_FILE


@dataclass(frozen=True)
class TrainingReport:
    """What a training gave.

    Attributes
    ----------
    folder : str
        Where the network was written.
    train_accuracy, test_accuracy : float
        Share of rows or texts labelled as in the file; those for the test were seen by nothing in
        the training.
    majority_share : float
        What always saying the commonest label would reach on the test.
    paper_accuracy : float or None
        The paper's Table 3.
    epochs : int
        Passes over the training data.
    seconds : float
        Wall-clock time of the training itself.
    """

    folder: str
    train_accuracy: float
    test_accuracy: float
    majority_share: float
    paper_accuracy: float | None
    epochs: int
    seconds: float


def write_card(folder: Path, about: Mapping[str, Any], report: TrainingReport) -> None:
    """Write a model card: what is told of the data and the network, the figures, the versions."""
    figures = asdict(report)
    del figures["folder"]
    card = {
        **about,
        **{key.replace("_", " "): value for key, value in figures.items()},
        "versions": ", ".join(f"{name} {installed}" for name, installed in _versions()),
    }
    write_text(folder / CARD_FILE, json.dumps(card, indent=1) + "\n")


def _versions() -> list[tuple[str, str]]:
    return [
        ("testsgd", __version__),
        ("tensorflow", version("tensorflow")),
        ("keras", version("keras")),
        ("numpy", np.__version__),
        ("pandas", pd.__version__),
        ("python", platform.python_version()),
    ]
