"""Our own six-layer networks: a ``.keras`` file with ``preprocessing.json`` beside it.

A number is standardised in float64, rounded to float32, and followed by a column that says whether
it is missing; a category is one column a value and one for missing. In a domain nothing is missing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from testsgd.certification.network.assemble import assemble
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    FeedForward,
    InputColumns,
    NumberColumns,
    Step,
)
from testsgd.certification.network.keras_files import read_keras_file
from testsgd.certification.network.parts import numbers, unit_roundoff
from testsgd.errors import ModelError
from testsgd.models.encoding import CategoryEncoding, Encoding, FeatureEncoding
from testsgd.models.files import PREPROCESSING_FILE, read_preprocessing


def has_preprocessing(path: Path) -> bool:
    """Say whether a network's preprocessing lies beside it."""
    return (path.parent / PREPROCESSING_FILE).is_file()


def read_own_network(
    path: Path,
    *,
    name: str,
    threshold: float | None,
    favourable: str | None,
    file_sha256: str,
) -> FeedForward:
    """Read a network of rows that ``testsgd train`` wrote.

    Parameters
    ----------
    path : path-like
        The ``.keras`` file.
    name : str
        What to call the network.
    threshold : float, optional
        Scores of the favourable label above it count as favourable.
    favourable : str, optional
        The label that the threshold is about; by default the one whose probability the network
        gives.
    file_sha256 : str
        Of the file.

    Returns
    -------
    FeedForward

    Raises
    ------
    ModelError
        If a file is damaged or of another kind of network.
    """
    if favourable is None:
        favourable = _positive_label(path.parent / PREPROCESSING_FILE)
    labels, encoding = read_preprocessing(
        path,
        "tables",
        favourable=favourable,
        read=lambda document: Encoding.from_json(document["features"]),
    )
    read = read_keras_file(path)
    if read.width != encoding.width:
        raise ModelError(
            f"the network takes {read.width} inputs, its preprocessing gives {encoding.width}",
            where=str(path),
            remedy="keep the .keras file beside the preprocessing.json it was written with",
        )
    score = 0.5 if threshold is None else threshold
    return assemble(
        replace(read, kind="network of testsgd"),
        [_input(feature) for feature in encoding.features],
        name=name,
        # The network gives the positive label's score; that of the other is one minus it.
        threshold=score if favourable == labels.positive else 1 - score,
        labels=(labels.negative, labels.positive),
        file_sha256=file_sha256,
    )


def _positive_label(place: Path) -> str:
    """Read which label the network's output is the probability of."""
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
        return str(document["output"]["positive_label"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the preprocessing cannot be read", where=str(place), remedy="train the model anew"
        ) from error


def _input(feature: FeatureEncoding) -> InputColumns:
    if isinstance(feature, CategoryEncoding):
        size = len(feature.values)
        return InputColumns(feature.name, CategoryColumns(np.eye(size, size + 1), feature.values))
    where = f"preprocessing of {feature.name!r}"
    mean, scale = numbers(where, [feature.mean, feature.scale])
    if scale == 0:
        raise ModelError("the scale is 0", where=where, remedy="train the model anew")
    # Subtraction and division there, two divisions here; the second column is 0 without error.
    share = 5 * unit_roundoff("float64")
    there = np.array([1.0, 0.0])
    columns = NumberColumns(
        there / scale,
        -mean * there / scale,
        share,
        share * np.abs(mean / scale) * there,
        (
            Step("subtract", np.array([mean, 0.0])),
            Step("divide", np.array([scale, 1.0])),
            Step("multiply", there),
        ),
    )
    return InputColumns(feature.name, columns)
