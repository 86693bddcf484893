"""The files of a network, read and written: ``.keras``, its preprocessing and its model card.

A ``.keras`` file is a zip archive with the layers' configuration as JSON and the weights in an HDF5
file, so a network is read without TensorFlow, and nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import math
import platform
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd._version import __version__
from testsgd.errors import ConfigurationError, ModelError, TestSGDError
from testsgd.io import (
    TooLargeError,
    check_archive,
    check_compression,
    check_file_memory,
    check_no_input,
    files_together,
    is_reproducible,
    kind_of_file,
    loads_json,
    member_of,
    read_member,
    read_text,
    sha256_of_file,
    why_no_file,
    with_members,
    without_dates,
    write_text,
)
from testsgd.models.declared_weights import (
    check_declared_weights,
    check_stored_weights,
    count_by_keras,
    declared_weights,
)

MODEL_FILE = "model.keras"
PREPROCESSING_FILE = "preprocessing.json"
CARD_FILE = "card.json"
THRESHOLDS_FILE = "thresholds.json"
# In a card: which file it is about, and the sha256 of that.
_CARD_MODEL = "model file"
_CARD_HASH = "model sha256"
# In a card: the sha256 of each other file that was written with the model, by its name.
_CARD_BESIDE = "sha256 of files beside"
# What a card has only if a mitigation wrote it.
_OF_MITIGATIONS = ("verdict", "mitigated by")

_FORMATS = {"testsgd.preprocessing/1": "tables", "testsgd.text-preprocessing/1": "texts"}

# Members of a ``.keras`` file.
_CONFIGURATION = "config.json"
_WEIGHTS = "model.weights.h5"
_MOST_CONFIGURATION = 16 * 2**20

Read = TypeVar("Read")


@dataclass(frozen=True)
class Labels:
    """What a network's output means: the probability of `positive`; the rest is `negative`."""

    positive: str
    negative: str


def write_preprocessing(
    folder: Path, subject: str, labels: Labels, document: Mapping[str, Any]
) -> None:
    """Write how rows or texts become inputs, and what the output means, beside the network."""
    name = next(name for name, of in _FORMATS.items() if of == subject)
    output = {"positive_label": labels.positive, "negative_label": labels.negative}
    whole = {"format": name, "output": output, **document}
    text = json.dumps(whole, indent=1) + "\n"
    write_text(Path(folder) / PREPROCESSING_FILE, text)


def read_preprocessing(
    path: Path, subject: str, *, favourable: str | None, read: Callable[[dict[str, Any]], Read]
) -> tuple[Labels, Read]:
    """Read what :func:`write_preprocessing` wrote beside a network.

    `favourable`: the label whose rate is compared; the network must know it, if it is given.
    `read`: makes
    something of the document; an OSError, ValueError, KeyError or TypeError that it raises
    is reported as a document that cannot be read.
    """
    path = Path(path)
    if (reason := why_no_file(path)) is not None:
        raise ModelError(reason, where=str(path), remedy="check the path")
    file = path.parent / PREPROCESSING_FILE
    try:
        document = loads_json(read_text(file))
        described = _FORMATS[document["format"]]
        output = document["output"]
        labels = Labels(str(output["positive_label"]), str(output["negative_label"]))
        content = read(document) if described == subject else None
    except FileNotFoundError as error:
        raise ModelError(
            f"the file {PREPROCESSING_FILE} is missing beside the network",
            where=str(path),
            remedy="give a network that `testsgd train` wrote, or a function "
            "(package.module:callable) that does its own preprocessing",
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the preprocessing cannot be read", where=str(file), remedy="train the model anew"
        ) from error
    if content is None:
        raise ModelError(
            f"the network is of {described}, the data set of {subject}",
            where=str(path),
            remedy="audit it with the data set it was trained on",
        )
    if favourable not in (None, labels.positive, labels.negative):
        raise ModelError(
            f"the network knows the labels {labels.positive!r} and {labels.negative!r}, "
            f"not {favourable!r}",
            where=str(path),
            remedy="choose one of them as the favourable label, or train anew",
        )
    return labels, content


def read_layers(
    path: Path,
    read: Callable[[list[dict[str, Any]], Callable[[str], list[NDArray[np.float32]]]], Read],
    *,
    kind: str,
) -> Read:
    """Read the layers of a ``.keras`` file.

    `read`: makes a network of the layers' configurations, each with its class under ``"class"``,
    and of a function from a key of the file of weights, such as ``"dense/vars"``, to the arrays
    there. It raises :class:`WrongLayersError` if the layers are not those it knows, and anything
    else if they do not fit together. `kind`: the layers that `read` knows, in words.
    """
    import h5py

    try:
        configuration = loads_json(read_member(path, _CONFIGURATION, at_most=_MOST_CONFIGURATION))
        layers = _configured_layers(configuration)
        declared = declared_weights(configuration)
        check_declared_weights(path, declared, _WEIGHTS)
        packed = read_member(path, _WEIGHTS)
        weights = io.BytesIO(packed)
        with h5py.File(weights, "r") as file:
            check_stored_weights(path, declared, file)
            stored = file["layers"]

            def arrays(key: str) -> list[NDArray[np.float32]]:
                group = stored[key]
                stored_arrays = [group[str(n)] for n in range(len(group))]
                size = sum(array.size for array in stored_arrays) * 4
                check_file_memory(size, path)
                check_compression(size, len(packed), path)
                values = [np.asarray(array, dtype=np.float32) for array in stored_arrays]
                if not all(np.isfinite(array).all() for array in values):
                    raise ValueError("not a number")
                return values

            return read(layers, arrays)
    except WrongLayersError as error:
        raise ModelError(
            f"the network is not {kind}",
            where=str(path),
            remedy="audit it as a function, package.module:callable",
        ) from error
    except TooLargeError as error:
        raise ModelError(
            f"the network is not read ({error.strerror})",
            where=str(path),
            remedy="give a network that `testsgd train` wrote, or package.module:callable",
        ) from error
    except Exception as error:
        # Whatever three parsers raise at bytes that are damaged.
        raise ModelError(
            "this is not a .keras file that testsgd wrote",
            where=str(path),
            remedy="give a network that `testsgd train` wrote, or package.module:callable",
        ) from error


# Where what may stand in the configuration of a network comes from. Keras imports whatever module a
# file names, so others are refused.
_KERAS_PARTS = re.compile(
    r"keras|keras\.(src\.)?(activations|constraints|dtype_policies|engine|initializers|layers|losses"
    r"|models|ops|optimizers|regularizers)(\.\w+)*"
)
# Layers that hold code, or read other files.
_RUNNING_CLASSES = frozenset(
    {"FlaxLayer", "JaxLayer", "Lambda", "TFSMLayer", "TorchModuleWrapper", "__lambda__"}
)


def is_own_network(path: Path) -> bool:
    """Return whether beside a ``.keras`` file is what ``testsgd train`` writes with it.

    Examples
    --------
    >>> is_own_network(Path("no such folder") / "mine.keras")
    False
    """
    return any((path.parent / name).is_file() for name in (PREPROCESSING_FILE, CARD_FILE))


def read_keras_model(path: Path) -> Any:
    """Return the Keras model of a file that its ``save`` wrote, read by Keras itself.

    Parameters
    ----------
    path : pathlib.Path
        A ``.keras`` file. Nothing that is in it is run.

    Returns
    -------
    keras.Model

    Raises
    ------
    ModelError
        If it cannot be read, unpacks to too much, or holds code or classes that are not of Keras.
    MissingExtraError
        If Keras is not installed.

    Examples
    --------
    >>> read_keras_model(Path("no such file.keras"))
    Traceback (most recent call last):
        ...
    testsgd.errors.ModelError: no such file.keras: there is no such file; check the path
    """
    if (reason := why_no_file(path)) is not None:
        raise ModelError(reason, where=str(path), remedy="check the path")
    instead = "load it with Keras and give the model from Python, or as package.module:callable"
    try:
        _check_keras_file(path)
        keras = _keras_for(path)
        with warnings.catch_warnings():
            # Keras warns of what it leaves out, such as the state of an optimiser.
            warnings.simplefilter("ignore")
            network = keras.saving.load_model(path, compile=False, safe_mode=True)
            _compile_as_saved(network, path)
            return network
    except TestSGDError:
        raise
    except _ForeignPartError as error:
        raise ModelError(
            f"the network holds {error}, which is not read from a file, as it may run code",
            where=str(path),
            remedy=instead,
        ) from error
    except TooLargeError as error:
        raise ModelError(
            f"the network is not read ({error.strerror})", where=str(path), remedy=instead
        ) from error
    except Exception as error:
        # Whatever the parsers and Keras raise at bytes that are damaged.
        raise ModelError(
            "this .keras file cannot be read", where=str(path), remedy=f"save it anew, or {instead}"
        ) from error


class _ForeignPartError(Exception):
    """A configuration names what is not of Keras, or holds code."""


def _keras_for(path: Path) -> Any:
    """Import Keras to read a file."""
    # Imported here: training needs this module.
    from testsgd.models.training import quiet_keras

    return quiet_keras(f"reading {path.name}")


def _compile_as_saved(network: Any, path: Path) -> None:
    """Compile a network with the loss and the optimiser of its file, if both are parts of Keras.

    Another one is left as it is: it can be asked, but not trained again.
    """
    configuration = loads_json(read_member(path, _CONFIGURATION, at_most=_MOST_CONFIGURATION))
    saved = configuration.get("compile_config") or {}
    training = {name: saved[name] for name in ("optimizer", "loss") if saved.get(name)}
    try:
        _check_parts(training)
    except _ForeignPartError:
        return
    if len(training) < 2:
        return
    # Whatever Keras raises at the settings of another version.
    with suppress(Exception):
        network.compile_from_config(training)


def _check_keras_file(path: Path) -> None:
    """Check the sizes of a ``.keras`` file, and that it names parts of Keras only."""
    import h5py

    check_archive(path)
    configuration = loads_json(read_member(path, _CONFIGURATION, at_most=_MOST_CONFIGURATION))
    _check_parts(configuration)
    declared = declared_weights(configuration)
    if declared is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            declared = count_by_keras(configuration, _keras_for(path))
    check_declared_weights(path, declared, _WEIGHTS)
    packed = read_member(path, _WEIGHTS)
    with h5py.File(io.BytesIO(packed), "r") as file:
        check_stored_weights(path, declared, file)
        sizes: list[int] = []
        file.visititems(lambda _, stored: sizes.append(getattr(stored, "nbytes", 0)))
    check_file_memory(sum(sizes), path)
    check_compression(sum(sizes), len(packed), path)


def _check_parts(configuration: Any) -> None:
    if isinstance(configuration, list):
        for item in configuration:
            _check_parts(item)
    if not isinstance(configuration, dict):
        return
    name, module = configuration.get("class_name"), configuration.get("module")
    if name in _RUNNING_CLASSES or (module and not _KERAS_PARTS.fullmatch(str(module))):
        raise _ForeignPartError(f"{module}.{name}" if module else name)
    # A layer of words that names a file in place of its words.
    if isinstance(configuration.get("vocabulary"), str):
        raise _ForeignPartError("the name of another file")
    for key, item in configuration.items():
        # How it was trained is not read.
        if key != "compile_config":
            _check_parts(item)


def _configured_layers(configuration: Any) -> list[dict[str, Any]]:
    """Return what is set in each layer but the input, with its class under ``"class"``."""
    layers = configuration["config"]["layers"]
    if configuration["class_name"] != "Sequential":
        raise WrongLayersError
    layers = [{"class": layer["class_name"], **layer["config"]} for layer in layers]
    return [layer for layer in layers if layer["class"] != "InputLayer"]


class WrongLayersError(Exception):
    """The layers are sound but not those that can be computed here."""


def read_card(folder: Path) -> dict[str, Any]:
    """Return the model card beside a network, as ``testsgd train`` writes it.

    Parameters
    ----------
    folder : pathlib.Path
        The folder of the network's file.

    Returns
    -------
    dict
        The entries of ``card.json``; empty if there is no such file, or if it holds no JSON object.

    Raises
    ------
    ModelError
        If the file cannot be read or is no JSON.

    Examples
    --------
    >>> read_card(Path("no such folder"))
    {}
    """
    path = folder / CARD_FILE
    if not path.is_file():
        return {}
    try:
        card = loads_json(read_text(path))
    except (OSError, ValueError) as error:
        raise ModelError(
            "the model card is not valid JSON", where=str(path), remedy="train the model anew"
        ) from error
    return card if isinstance(card, dict) else {}


def card_of(model: Path) -> dict[str, Any]:
    """Return the card of a model's file, after a check that the two belong together.

    A model, how rows become its inputs, and its card are several files. If a training was ended
    between writing the one and the other, a new model stands beside the card of the old one, and
    its figures would be taken for the new model's.

    Parameters
    ----------
    model : pathlib.Path
        The model's file.

    Returns
    -------
    dict
        The entries of ``card.json`` beside it; empty if there is none, or if it is of another file
        of the folder.

    Raises
    ------
    ModelError
        If the card is of a file of that name with other contents, or was written with other files
        beside the model, or cannot be read.
    """
    card = read_card(model.parent)
    if card.get(_CARD_MODEL, model.name) != model.name:
        return {}
    beside = card.get(_CARD_BESIDE)
    hashes = beside if isinstance(beside, dict) else {}
    for name in sorted(hashes):
        _check_hash(model.parent / Path(name).name, hashes[name])
    if _CARD_HASH in card:
        _check_hash(model, card[_CARD_HASH])
    return card


def _check_hash(file: Path, digest: Any) -> None:
    if file.is_file() and sha256_of_file(file) == digest:
        return
    what = "model" if file.name.startswith("model.") else "file"
    raise ModelError(
        f"the {what} is not the one that {CARD_FILE} beside it is about",
        where=str(file),
        remedy=f"write the model again, or remove {CARD_FILE} if you replaced the {what}",
    )


def mitigated_files(folder: Path) -> list[Path]:
    """List the files in a folder that an earlier mitigation wrote there, the card first.

    Parameters
    ----------
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        The model's card and the files that it is about, if it is of a mitigation and testsgd wrote
        it, and thresholds; none that was changed since.

    Examples
    --------
    >>> mitigated_files(Path("no such folder"))
    []
    """
    names = [THRESHOLDS_FILE]
    try:
        card = read_card(folder)
    except ModelError:
        card = {}
    if any(key in card for key in _OF_MITIGATIONS):
        beside = card.get(_CARD_BESIDE)
        others = sorted(beside) if isinstance(beside, dict) else []
        names = [CARD_FILE, str(card.get(_CARD_MODEL, MODEL_FILE)), *others, THRESHOLDS_FILE]
    # A card that was changed by hand may name files elsewhere.
    found = dict.fromkeys(folder / Path(name).name for name in names)
    return [file for file in found if file.is_file() and _is_of_model(file)]


def _is_of_model(file: Path) -> bool:
    kind = kind_of_file(file)
    return kind is not None and kind.startswith("model ")


def _outdated(folder: Path, original: str | None) -> list[str]:
    """Return the names of an earlier mitigation's files, which another one's would stand beside."""
    files = mitigated_files(folder)
    for file in files:
        # The model that is mitigated may be there; its card is about it.
        if file.name == THRESHOLDS_FILE:
            continue
        try:
            check_no_input(file)
        except ConfigurationError:
            is_read = True
        else:
            is_read = original is not None and sha256_of_file(file) == original
        if is_read:
            return [one.name for one in files if one.name == THRESHOLDS_FILE]
    return [file.name for file in files]


@contextmanager
def model_folder(folder: Path, *, original: str | None = None) -> Iterator[Path]:
    """Yield a temporary folder for the files of a model; they are moved to `folder` at the end.

    The card comes last and holds the hashes of all: after a process was killed while
    it moved them, a reader of the folder sees that they do not belong together.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files belong. It is made if it is not there. Files of an earlier mitigation in it
        that are not written again are removed: they would be taken for the new model's.
    original : str, optional
        The sha256 of the file of the model that is mitigated. If that is in `folder`, it stays.

    Yields
    ------
    pathlib.Path
        The folder to write the model, its card and further files to. If there is a card, it has the
        hash of the model when the block ends; those of the further files are added to it then.

    Raises
    ------
    ConfigurationError
        As :func:`testsgd.io.files_together`.
    """
    outdated = _outdated(folder, original)
    with files_together(folder, last=CARD_FILE, replaces=outdated) as staging:
        yield staging
        card = read_card(staging)
        if card:
            beside = {
                file.name: sha256_of_file(file)
                for file in sorted(staging.iterdir())
                if file.name not in (CARD_FILE, card.get(_CARD_MODEL))
            }
            if beside:
                _write_card(staging, {**card, _CARD_BESIDE: beside})


class SigmoidOutput:
    """The output of a network with one sigmoid unit, read for the label that is compared.

    If `favourable` is not the positive label, it is decided wherever the positive one is not, its
    score being one minus the other's. `threshold`: scores of the favourable label above it, in
    [0, 1), count as favourable. `decision_threshold`: the output's sum, before the sigmoid, at
    which the decision turns; 0 is a score of one half.
    """

    def __init__(self, labels: Labels, favourable: str, threshold: float) -> None:
        self.labels = labels
        self.favourable = favourable
        self.threshold = threshold
        self._favours_positive = favourable == labels.positive
        odds = math.log(threshold) - math.log1p(-threshold) if threshold > 0 else -math.inf
        self.decision_threshold = odds if self._favours_positive else -odds

    def scores(self, sums: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return the probability of the favourable label from the output's sums; shape (n,)."""
        with np.errstate(over="ignore"):
            positive = 1.0 / (1.0 + np.exp(-sums.astype(np.float64)))
        return positive if self._favours_positive else 1.0 - positive

    def decide(self, sums: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Return a mask of the sums that decide for the favourable label; shape (n,)."""
        positive = sums > self.decision_threshold
        return positive if self._favours_positive else ~positive


_METADATA = "metadata.json"
_DATE = "date_saved"


class KerasArchive:
    """A ``.keras`` file of layers one after another, to be written again with other weights."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        layers = _configured_layers(loads_json(member_of(content, _CONFIGURATION)))
        self.layer_names = [layer["name"] for layer in layers]

    def with_arrays(self, arrays: Mapping[str, Sequence[NDArray[np.float32]]]) -> bytes:
        """Return the file's content with other arrays of the same shapes, by their keys in it."""
        weights = _with_arrays(member_of(self._content, _WEIGHTS), arrays)
        return with_members(self._content, {_WEIGHTS: weights})


def without_date(network: Path) -> None:
    """Leave out of a ``.keras`` file when it was saved, where files are to be reproducible."""
    if is_reproducible():
        without_dates(network, _without_date)


def _without_date(name: str, content: bytes) -> tuple[str, bytes]:
    if name == _METADATA:
        known = loads_json(content.decode())
        known.pop(_DATE, None)
        content = json.dumps(known).encode()
    return name, content


def _with_arrays(content: bytes, arrays: Mapping[str, Sequence[NDArray[np.float32]]]) -> bytes:
    """Return the content of a file of weights with other arrays under the given keys."""
    import h5py

    weights = io.BytesIO(content)
    with h5py.File(weights, "r+") as file:
        for key, values in arrays.items():
            group = file["layers"][key]
            for number, value in enumerate(values):
                if group[str(number)].shape != value.shape:
                    raise ValueError(key)
                group[str(number)][...] = value
    return weights.getvalue()


@dataclass(frozen=True)
class TrainingReport:
    """The figures of a training: accuracies, epochs and time.

    :func:`train_network` returns it, and writes it into the model card.
    """

    folder: str  # Where the network was written.
    # Share of rows or texts labelled as in the file; those for the test were seen by nothing in the
    # training.
    train_accuracy: float
    test_accuracy: float
    majority_share: float  # What always saying the commonest label would reach on the test.
    paper_accuracy: float | None  # The paper's Table 3.
    epochs: int  # Passes over the training data.
    seconds: float  # Wall-clock time of the training itself.


def write_card(folder: Path, about: Mapping[str, Any], report: TrainingReport) -> None:
    """Write a model card: the entries of `about`, the figures of the training, the versions.

    It is written last, as it holds the hash of the network.
    """
    figures = asdict(report)
    del figures["folder"]
    shown = {key.replace("_", " "): value for key, value in figures.items()}
    _write(folder, {**about, **shown}, ("tensorflow", "keras"), model_file=MODEL_FILE)


def write_retrained_card(
    folder: Path,
    original: Mapping[str, Any],
    about: Mapping[str, Any],
    *,
    packages: Sequence[str] = (),
    model_file: str = MODEL_FILE,
) -> None:
    """Write the card of a model that was trained again, after the model itself.

    What the `original` card says of the data, the split and the network still holds and is kept;
    the figures of its training are left out. `packages`: what the model was trained with, besides
    numpy and pandas. `model_file`: the name of its file in the folder.
    """
    kept = {key: value for key, value in original.items() if key not in _FIGURES}
    _write(folder, {**kept, **about}, packages, model_file=model_file)


# What a card says of one training only.
_FIGURES = frozenset(
    (
        "train accuracy",
        "test accuracy",
        "balanced accuracy",
        "epochs",
        "seconds",
        "versions",
        _CARD_MODEL,
        _CARD_HASH,
        _CARD_BESIDE,
    )
)


# What equal trainings do not have in common.
_OF_ONE_RUN = frozenset(("seconds",))


def _write(
    folder: Path, entries: Mapping[str, Any], packages: Sequence[str], *, model_file: str
) -> None:
    versions = [f"testsgd {__version__}"]
    versions += [f"{name} {version(name)}" for name in (*packages, "numpy", "pandas")]
    if is_reproducible():
        entries = {key: value for key, value in entries.items() if key not in _OF_ONE_RUN}
    card = {
        **entries,
        "versions": ", ".join([*versions, f"python {platform.python_version()}"]),
        _CARD_MODEL: model_file,
        _CARD_HASH: sha256_of_file(Path(folder) / model_file),
    }
    _write_card(folder, card)


def _write_card(folder: Path, card: Mapping[str, Any]) -> None:
    write_text(Path(folder) / CARD_FILE, json.dumps(card, indent=1) + "\n")
