"""Networks from files, names of the catalogue and objects."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from testsgd.certification.network.assemble import assemble
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    FeedForward,
    InputColumns,
    NumberColumns,
    Step,
)
from testsgd.certification.network.keras_networks import (
    is_keras,
    read_keras_file,
    read_keras_object,
)
from testsgd.certification.network.nnet_files import read_nnet_file
from testsgd.certification.network.onnx_files import read_onnx_file
from testsgd.certification.network.parts import ReadNetwork, numbers, unit_roundoff
from testsgd.certification.network.sklearn_models import is_sklearn_model, read_sklearn_model
from testsgd.data import DatasetSpecification, bundled_folder
from testsgd.errors import ModelError, ParameterError, TestSGDError
from testsgd.io import TrialError, loads_json, read_text, sha256_of_file, why_no_file
from testsgd.models.encoding import CategoryEncoding, Encoding, FeatureEncoding
from testsgd.models.files import MODEL_FILE, PREPROCESSING_FILE, card_of, read_preprocessing
from testsgd.models.resolve import trained_network, training_command, unknown_model
from testsgd.models.skops_files import read_skops
from testsgd.models.sources import import_object


def _read_own_network(path: Path, threshold: float | None, favourable: str | None) -> ReadNetwork:
    """Read a network of rows that ``testsgd train`` wrote.

    The threshold is about the score of `favourable`, by default the label that the network scores.
    """
    described = path.parent / PREPROCESSING_FILE
    card_of(path)
    try:
        positive = loads_json(read_text(described))["output"]["positive_label"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the preprocessing cannot be read", where=str(described), remedy="train the model anew"
        ) from error
    favourable = favourable or str(positive)
    labels, encoding = read_preprocessing(
        path,
        "tables",
        favourable=favourable,
        read=lambda document: Encoding.from_json(document["features"]),
    )
    read = _read_file(path)
    if read.width != encoding.width:
        raise ModelError(
            f"the network takes {read.width} inputs, its preprocessing gives {encoding.width}",
            where=str(path),
            remedy="keep the .keras file beside the preprocessing.json it was written with",
        )
    score = 0.5 if threshold is None else threshold
    return replace(
        read,
        kind="network of testsgd",
        inputs=tuple(_input(feature) for feature in encoding.features),
        # The network gives the positive label's score; that of the other is one minus it.
        threshold=score if favourable == labels.positive else 1 - score,
        labels=(labels.negative, labels.positive),
    )


def _input(feature: FeatureEncoding) -> InputColumns:
    if isinstance(feature, CategoryEncoding):
        size = len(feature.values)
        return InputColumns(feature.name, CategoryColumns(np.eye(size, size + 1), feature.values))
    where = f"preprocessing of {feature.name!r}"
    mean, scale = numbers(where, [feature.mean, feature.scale])
    if scale == 0:
        raise ModelError("the scale is 0", where=where, remedy="train the model anew")
    # The model subtracts and divides, here there are two divisions; the second column, which marks
    # missing values, is 0 without error.
    relative_error = 5 * unit_roundoff("float64")
    is_value = np.array([1.0, 0.0])
    columns = NumberColumns(
        multiplier=is_value / scale,
        constant=-mean * is_value / scale,
        relative_error=relative_error,
        absolute_error=relative_error * np.abs(mean / scale) * is_value,
        steps=(
            Step("subtract", np.array([mean, 0.0])),
            Step("divide", np.array([scale, 1.0])),
            Step("multiply", is_value),
        ),
    )
    return InputColumns(feature.name, columns)


_WHOLE = "give a whole model that Keras saved as .keras or .h5, not weights only"
# Of each kind of file its reader, and what to say of one that is damaged.
_READERS: Mapping[str, tuple[Callable[[Path], ReadNetwork], str, str]] = {
    **dict.fromkeys((".h5", ".hdf5", ".keras"), (read_keras_file, "Keras network", _WHOLE)),
    ".onnx": (read_onnx_file, "ONNX network", "give a sound .onnx file"),
    ".nnet": (read_nnet_file, ".nnet file", "give a sound file"),
}
_KINDS = (
    "a .keras, .h5, .onnx, .skops or .nnet file, a name of the catalogue, or a Keras or "
    "scikit-learn model"
)


def find_network(
    source: Any,
    *,
    threshold: float | None = None,
    specification: DatasetSpecification | None = None,
    categories: Mapping[str, Sequence[int]] | None = None,
) -> FeedForward:
    """Return a network of any format as arrays.

    Nothing in a file is run or unpickled, and TensorFlow is not loaded.

    Parameters
    ----------
    source : str, path-like, object or None
        A ``.keras``, ``.h5``, ``.onnx``, ``.skops`` or ``.nnet`` file; a name of the catalogue for
        the network shipped under it; a Keras model, or a scikit-learn MLPClassifier or linear
        classifier, perhaps in a pipeline; ``package.module:object`` for one of these objects; None
        for the network trained for the data set of `specification`.
    threshold : float, optional
        Label 1 is decided if the output is above it; by default 0.5 for a probability, 0 for a
        plain sum. An output that is bounded otherwise, such as a tanh, has no default. Of a network
        of ``testsgd train`` it is about the score of the label that is favourable in the data set.
    specification : DatasetSpecification, optional
        The data set's description.
    categories : mapping of str to sequence of int, optional
        Groups of 0/1 columns of the model, by their positions; each becomes one input.

    Returns
    -------
    FeedForward
        The network, with the encoding of its inputs and its decision.

    Raises
    ------
    ModelError
        If there is no such model, it cannot be read, or it is no network that can be certified.
    ParameterError
        If `categories` are given for a network of ``testsgd train``, which has its own; if no
        `threshold` is given for an output without a default.
    MissingExtraError
        If an ``.onnx`` file is read without the package onnx.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0, 1], [9, 0], [1, 0], [8, 1]], [0, 1, 0, 1])
    >>> network = find_network(model)
    >>> network.width, network.outputs, network.decision.labels
    (2, 1, ('0', '1'))
    """
    favourable = None if specification is None else specification.label.favourable
    name = None
    if source is None and specification is not None:
        trained = trained_network(specification.name)
        if trained is None:
            raise ModelError(
                f"there is no trained model for {specification.name!r}",
                where="model",
                remedy=f"train one with {training_command(specification)}, or name one",
            )
        source, name = trained
    path = None
    if isinstance(source, (str, Path)):
        path = _file(str(source))
        if path is None:
            name, source = str(source), import_object(str(source))
    if path is None:
        read = _read_object(source, threshold)
        return assemble(read, name=name or type(source).__name__, categories=categories)
    name = name or (path.parent.name if path.name == MODEL_FILE else path.stem) or str(path)
    with _naming(path):
        suffix = path.suffix.lower()
        if suffix == ".skops":
            read = _read_object(read_skops(path), threshold)
        elif suffix == ".keras" and (path.parent / PREPROCESSING_FILE).is_file():
            if categories:
                raise ParameterError(
                    f"{next(iter(categories))!r} is given by columns, but the network knows its "
                    "categories",
                    where="categories",
                    remedy="leave out the columns",
                )
            read = _read_own_network(path, threshold, favourable)
        else:
            read = replace(_read_file(path), threshold=threshold)
        digest = sha256_of_file(path)
        return assemble(read, name=name, categories=categories, file_sha256=digest)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the file to the errors about layers that cannot be certified."""
    try:
        yield
    except ModelError as error:
        if str(path) in error.where:
            raise
        where = f"{path}, {error.where}" if error.where else str(path)
        raise ModelError(error.what, where=where, remedy=error.remedy, **error.details) from error


def _read_file(path: Path) -> ReadNetwork:
    reader, kind, remedy = _READERS[path.suffix.lower()]
    try:
        return reader(path)
    except TestSGDError:
        raise
    except Exception as error:
        # Whatever the parsers raise at bytes that are damaged.
        reason = str(error) if isinstance(error, TrialError) else type(error).__name__
        raise ModelError(
            f"this is no {kind} that can be read ({reason})",
            where=str(path),
            remedy=remedy,
        ) from error


def _file(text: str) -> Path | None:
    """Return the file that a text names; None if it names a Python object."""
    path = Path(text)
    if path.suffix.lower() in (*_READERS, ".skops"):
        if (reason := why_no_file(path)) is not None:
            raise ModelError(reason, where=text, remedy="check the path")
        return path
    bundled = bundled_folder("models") / text / MODEL_FILE
    if bundled.is_file():
        return bundled
    if ":" in text:
        return None
    raise unknown_model(text, _KINDS)


def _read_object(source: Any, threshold: float | None) -> ReadNetwork:
    if is_keras(source):
        return replace(read_keras_object(source), threshold=threshold)
    if is_sklearn_model(source):
        return read_sklearn_model(source, threshold)
    what = "function" if callable(source) else type(source).__name__
    raise ModelError(
        f"a {what} is no network that can be certified", where="model", remedy=f"give {_KINDS}"
    )
