"""What a training gave: the report, and the model card beside the network."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
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
    named = {key.replace("_", " "): value for key, value in figures.items()}
    _write(folder, {**about, **named}, ("tensorflow", "keras"))


def write_retrained_card(
    folder: Path,
    original: Mapping[str, Any],
    about: Mapping[str, Any],
    *,
    packages: Sequence[str] = (),
) -> None:
    """Write the card of a model that was trained again.

    Parameters
    ----------
    folder : path-like
        Where the model is written.
    original : mapping
        The original's card. What it says of the data, the split and the network still holds and is
        kept; the figures of its training are left out.
    about : mapping
        What is told of the new training; comes before the same entries of the original.
    packages : sequence of str
        What the model was trained with, besides numpy and pandas.
    """
    kept = {key: value for key, value in original.items() if key not in _FIGURES}
    _write(folder, {**kept, **about}, packages)


# What a card says of one training only.
_FIGURES = frozenset(
    ("train accuracy", "test accuracy", "balanced accuracy", "epochs", "seconds", "versions")
)


def _write(folder: Path, entries: Mapping[str, Any], packages: Sequence[str]) -> None:
    versions = [
        ("testsgd", __version__),
        *((name, version(name)) for name in packages),
        ("numpy", np.__version__),
        ("pandas", pd.__version__),
        ("python", platform.python_version()),
    ]
    card = {**entries, "versions": ", ".join(f"{name} {found}" for name, found in versions)}
    write_text(Path(folder) / CARD_FILE, json.dumps(card, indent=1) + "\n")
