"""From what a user names to a network."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from testsgd._files import sha256_of_file
from testsgd.certification.network.assemble import assemble, number_inputs
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    FeedForward,
    InputColumns,
    NumberColumns,
    Step,
)
from testsgd.certification.network.keras_files import (
    is_keras_object,
    read_keras_file,
    read_keras_object,
)
from testsgd.certification.network.nnet_files import read_nnet_file
from testsgd.certification.network.onnx_graph import read_onnx_file
from testsgd.certification.network.parts import ReadNetwork, numbers, unit_roundoff
from testsgd.certification.network.sklearn_models import is_sklearn_model, read_sklearn_model
from testsgd.data import DatasetSpecification, bundled_folder
from testsgd.errors import ModelError, ParameterError
from testsgd.models.encoding import CategoryEncoding, Encoding, FeatureEncoding
from testsgd.models.files import MODEL_FILE, PREPROCESSING_FILE, read_preprocessing
from testsgd.models.resolve import import_object, trained_network
from testsgd.models.skops_files import read_skops


def has_preprocessing(path: Path) -> bool:
    """Return whether a network's preprocessing lies beside it."""
    return (path.parent / PREPROCESSING_FILE).is_file()


def read_own_network(
    path: Path, *, name: str, threshold: float | None, favourable: str | None, file_sha256: str
) -> FeedForward:
    """Read a network of rows that ``testsgd train`` wrote.

    `threshold`: scores of the favourable label above it count as favourable; `favourable`: the
    label that the threshold is about; by default the one whose probability the network gives.
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


_READERS = {
    ".h5": read_keras_file,
    ".hdf5": read_keras_file,
    ".keras": read_keras_file,
    ".onnx": read_onnx_file,
    ".nnet": read_nnet_file,
}
_REMEDY = (
    "give a .keras, .h5, .onnx, .skops or .nnet file, a name of the catalogue, or a Keras or "
    "scikit-learn model"
)


def find_network(
    source: Any,
    *,
    name: str | None = None,
    threshold: float | None = None,
    specification: DatasetSpecification | None = None,
    categories: Mapping[str, Sequence[int]] | None = None,
    favourable: str | None = None,
) -> FeedForward:
    """Read a network of any format.

    Nothing in a file is run or unpickled, and TensorFlow is not loaded.

    Parameters
    ----------
    source : str, path-like, estimator, Keras model or None
        A ``.keras``, ``.h5``, ``.onnx``, ``.skops`` or ``.nnet`` file. A name of the catalogue: the
        network shipped under that name. ``package.module:object`` or an object: a Keras model, or a
        scikit-learn MLPClassifier or linear classifier, perhaps in a pipeline. ``None``: the
        network trained for the data set of `specification`.
    name : str, optional
        What to call it; by default the file's name.
    threshold : float, optional
        Label 1 if the model's output is above it. By default as the model's users decide: 0.5 for a
        probability, 0 for a plain sum. With several classes the largest output decides.
    specification : DatasetSpecification, optional
        The data set; its favourable label is the default of `favourable`.
    categories : mapping of str to sequence of int, optional
        Names of groups of 0/1 columns, and the positions of their columns, in order of the values.
        Each group becomes one input that is a category.
    favourable : str, optional
        Which label the threshold is about, for networks that ``testsgd train`` wrote.

    Returns
    -------
    FeedForward

    Raises
    ------
    ModelError
        If there is no such model, it is no network, or a layer cannot be certified.
    ParameterError
        If the threshold or the categories do not go with the network.
    MissingExtraError
        If a package that reads the format is not installed.

    Examples
    --------
    >>> network = find_network("demo")
    >>> network.kind, [given.name for given in network.inputs][:3]
    ('network of testsgd', ['gender', 'race', 'age'])
    """
    if favourable is None and specification is not None:
        favourable = specification.label.favourable
    if source is None and specification is not None:
        trained = trained_network(specification.name)
        if trained is None:
            raise ModelError(
                f"there is no trained model for {specification.name!r}",
                where="model",
                remedy=f"train one with `testsgd train {specification.name}`, or name one",
            )
        source, called = trained
        name = name or called
    if isinstance(source, (str, Path)):
        path = _file(str(source))
        if path is None:
            return _of_object(
                import_object(str(source)), name or str(source), threshold, categories
            )
        with _naming(path):
            return _of_file(path, name, threshold, categories, favourable)
    return _of_object(source, name or type(source).__name__, threshold, categories)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Return in which file a layer is that cannot be certified."""
    try:
        yield
    except ModelError as error:
        if str(path) in error.where:
            raise
        where = f"{path}, {error.where}" if error.where else str(path)
        raise ModelError(error.what, where=where, remedy=error.remedy, **error.details) from error


def _of_file(
    path: Path,
    name: str | None,
    threshold: float | None,
    categories: Mapping[str, Sequence[int]] | None,
    favourable: str | None,
) -> FeedForward:
    digest = sha256_of_file(path)
    called = name or (path.parent.name if path.name == MODEL_FILE else path.stem) or str(path)
    suffix = path.suffix.lower()
    if suffix == ".skops":
        return _of_estimator(read_skops(path), called, threshold, categories, digest)
    if suffix == ".keras" and has_preprocessing(path):
        _no_groups(categories)
        return read_own_network(
            path, name=called, threshold=threshold, favourable=favourable, file_sha256=digest
        )
    return _of_columns(_READERS[suffix](path), called, threshold, categories, digest)


def _file(text: str) -> Path | None:
    """Find the file that is named; None if a Python object is."""
    path = Path(text)
    if path.suffix.lower() in (*_READERS, ".skops"):
        if not path.is_file():
            raise ModelError("there is no such file", where=text, remedy="check the path")
        return path
    bundled = bundled_folder("models") / text / MODEL_FILE
    if bundled.is_file():
        return bundled
    if ":" in text:
        return None
    raise ModelError(f"there is no model {text!r}", where="model", remedy=_REMEDY)


def _of_object(
    source: Any, name: str, threshold: float | None, categories: Mapping[str, Sequence[int]] | None
) -> FeedForward:
    if is_keras_object(source):
        return _of_columns(read_keras_object(source), name, threshold, categories, None)
    return _of_estimator(source, name, threshold, categories, None)


def _of_estimator(
    source: Any,
    name: str,
    threshold: float | None,
    categories: Mapping[str, Sequence[int]] | None,
    digest: str | None,
) -> FeedForward:
    if not is_sklearn_model(source):
        what = "function" if callable(source) else type(source).__name__
        raise ModelError(
            f"a {what} is no network that can be certified", where="model", remedy=_REMEDY
        )
    return read_sklearn_model(
        source, name=name, threshold=threshold, categories=categories, file_sha256=digest
    )


def _of_columns(
    read: ReadNetwork,
    name: str,
    threshold: float | None,
    categories: Mapping[str, Sequence[int]] | None,
    digest: str | None,
) -> FeedForward:
    inputs = number_inputs([f"x{n}" for n in range(read.width)])
    return assemble(
        read, inputs, name=name, threshold=threshold, categories=categories, file_sha256=digest
    )


def _no_groups(categories: Mapping[str, Sequence[int]] | None) -> None:
    if categories:
        raise ParameterError(
            f"{next(iter(categories))!r} is given by columns, but the network knows its categories",
            where="categories",
            remedy="leave out the columns",
        )
