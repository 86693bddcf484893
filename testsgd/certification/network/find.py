"""From what a user names to a network."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testsgd._files import sha256_of_file
from testsgd.certification.network.assemble import assemble, number_inputs
from testsgd.certification.network.feedforward import FeedForward
from testsgd.certification.network.keras_files import read_keras_file
from testsgd.certification.network.keras_models import is_keras_object, read_keras_object
from testsgd.certification.network.nnet_files import read_nnet_file
from testsgd.certification.network.onnx_files import read_onnx_file
from testsgd.certification.network.parts import ReadNetwork
from testsgd.certification.network.sklearn_models import is_sklearn_model, read_sklearn_model
from testsgd.certification.network.testsgd_networks import has_preprocessing, read_own_network
from testsgd.data import DatasetSpecification, bundled_folder
from testsgd.errors import ModelError, ParameterError
from testsgd.models.files import MODEL_FILE
from testsgd.models.resolve import import_object
from testsgd.models.skops_files import read_skops

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
        source = _trained(specification.name)
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
    """Say in which file a layer is that cannot be certified."""
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
            path,
            name=called,
            threshold=threshold,
            favourable=favourable,
            file_sha256=digest,
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


def _trained(data_set: str) -> Path:
    """Find the network trained for a data set: one of the user's own comes first."""
    for folder in (Path("models"), bundled_folder("models")):
        path = folder / data_set / MODEL_FILE
        if path.is_file():
            return path
    raise ModelError(
        f"there is no trained model for {data_set!r}",
        where="model",
        remedy=f"train one with `testsgd train {data_set}`, or name one",
    )


def _of_object(
    source: Any,
    name: str,
    threshold: float | None,
    categories: Mapping[str, Sequence[int]] | None,
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
        read,
        inputs,
        name=name,
        threshold=threshold,
        categories=categories,
        file_sha256=digest,
    )


def _no_groups(categories: Mapping[str, Sequence[int]] | None) -> None:
    if categories:
        raise ParameterError(
            f"{next(iter(categories))!r} is given by columns, but the network knows its categories",
            where="categories",
            remedy="leave out the columns",
        )
