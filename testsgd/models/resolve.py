"""From what a user names to a model: a catalogue name, a file, a function or an estimator."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from testsgd.data import (
    DatasetSpecification,
    Specification,
    TextSpecification,
    bundled_folder,
    catalogue,
)
from testsgd.errors import ModelError, ParameterError
from testsgd.io import sha256_of_file
from testsgd.models import blackbox
from testsgd.models.blackbox import CallableModel, Model
from testsgd.models.external import ExternalModel
from testsgd.models.file_models import FileModel, NumbersModel, check_has_classes
from testsgd.models.files import MODEL_FILE, Labels, card_of
from testsgd.models.network import NetworkModel, network_labels, read_network
from testsgd.models.pickled_files import PICKLES
from testsgd.models.sources import (
    MODEL_FILES,
    NETWORK_FILE,
    PLUGINS,
    adapted,
    name_of_model,
    open_model,
)
from testsgd.plugins import plugin_names

if TYPE_CHECKING:
    from testsgd.models.text.blackbox import TextModel

M = TypeVar("M", covariant=True)


@dataclass(frozen=True)
class LoadedModel(Generic[M]):
    """A model with its origin, its card and, for a model of rows, its columns.

    :func:`load_model` and :func:`load_text_model` return it.
    """

    model: M  # The black box.
    file_sha256: str | None = None  # Of the file it was read from.
    card: dict[str, Any] = field(default_factory=dict)  # Its model card, if it has one.
    # What it was made of: the path of a network's file, or else the function or the estimator
    # itself.
    origin: Any = None
    not_given: tuple[str, ...] = ()  # Of a model of rows: the features that it is not given.
    # Of a model of rows: the columns that it needs and the description does not have.
    passed: tuple[str, ...] = ()


def load_model(
    source: Any,
    specification: DatasetSpecification,
    *,
    favourable_given: bool = False,
    threshold: float = 0.5,
    trust_pickle: bool = False,
) -> LoadedModel[Model]:
    """Return a model of rows, found by its name, address or file, or made of a given object.

    Parameters
    ----------
    source : str, path-like, callable, estimator or None
        ``None``: the network trained for the data set, ``models/<name>/model.keras`` in the working
        folder or, if there is none, the one that is shipped with testsgd. A name of the catalogue:
        the network shipped under that name. A ``.keras`` file written by ``testsgd train``, or by
        Keras. A ``.skops`` file with an estimator.
        The address of an HTTP endpoint, as :class:`EndpointModel` asks it. ``cmd:`` and a command,
        as :class:`CommandModel` runs it. A folder that MLflow wrote a model to.
        ``package.module:callable``: a function from a data frame, or from named columns, to labels
        or scores. From Python also the function itself, or an object with a ``predict`` method such
        as a scikit-learn estimator, or a module of PyTorch. A model with ``feature_names_in_`` says
        by it what it takes.
    specification : DatasetSpecification
        The data set, with the favourable label.
    favourable_given : bool
        True if the user named the favourable label for this audit.
    threshold : float
        Scores of the favourable label above it count as favourable.
    trust_pickle : bool
        Whether pickled files and folders of MLflow may be read, which runs the code that is in
        them.

    Returns
    -------
    LoadedModel

    Raises
    ------
    ModelError
        If there is no such model, it cannot be loaded, or it takes what the description says it
        must not.
    ParameterError
        If the threshold is not in [0, 1).
    """
    withheld = len(specification.inputs) < len(specification.features)

    def function(called: Callable[..., Any], origin: Any, **options: Any) -> CallableModel:
        columns = blackbox.named_columns(origin, specification.features)
        width = blackbox.positional_width(origin)
        called = called if width is None else blackbox.CountedColumns(called, width)
        if columns is None and called is origin:
            columns = blackbox.parameter_columns(called, specification.inputs)
            called = blackbox.ColumnFunction(called, columns) if columns else called
        model_columns = columns or (specification.inputs if withheld else None)
        return CallableModel(called, columns=model_columns, **options)

    loaded: LoadedModel[NetworkModel | CallableModel] = _load(
        source, specification, read_network, function, favourable_given, threshold, trust_pickle
    )
    model = loaded.model
    columns = model.columns or specification.inputs
    not_given, passed = blackbox.compare_columns(columns, specification, model=model.name)
    # A network of testsgd's own belongs to the description that it was trained with.
    passed = passed if isinstance(model, CallableModel) else ()
    return replace(loaded, not_given=not_given, passed=passed)


def load_text_model(
    source: Any,
    specification: TextSpecification,
    *,
    favourable_given: bool = False,
    threshold: float = 0.5,
    trust_pickle: bool = False,
) -> LoadedModel[TextModel]:
    """Return a model of texts, found by its name, address or file, or made of a given object.

    Parameters
    ----------
    source : str, path-like, callable, estimator or None
        As for :func:`load_model`, but a function takes a list of strings.
    specification : TextSpecification
        The data set, with the favourable label.
    favourable_given, threshold, trust_pickle
        As for :func:`load_model`.

    Returns
    -------
    LoadedModel

    Raises
    ------
    ModelError, ParameterError
        As for :func:`load_model`.

    Examples
    --------
    >>> specification = TextSpecification.model_validate({
    ...     "dataset": {"name": "comments"},
    ...     "text": {"column": "comment"},
    ...     "label": {"column": "toxic", "favourable": "yes", "values": ["no", "yes"]},
    ... })
    >>> def shouts(texts):
    ...     return ["yes" if text.isupper() else "no" for text in texts]
    >>> load_text_model(shouts, specification).model.decisions(["Hello", "HELLO"]).tolist()
    [False, True]
    """
    # Imported here: with a model of rows nothing of texts is loaded.
    from testsgd.models.text.blackbox import CallableTextModel
    from testsgd.models.text.network import read_text_network

    def function(called: Callable[..., Any], _: Any, **options: Any) -> TextModel:
        return CallableTextModel(called, **options)

    return _load(
        source,
        specification,
        read_text_network,
        function,
        favourable_given,
        threshold,
        trust_pickle,
    )


def _load(
    source: Any,
    specification: Specification,
    read: Callable[..., M],
    function: Callable[..., M],
    favourable_given: bool,
    threshold: float,
    trust_pickle: bool,
) -> LoadedModel[M]:
    """Return a model of rows or texts.

    `read`: from the path of a network's file to the network. `function`: from a callable and the
    object that it is of to a model.
    """
    if not isinstance(threshold, Real) or not 0 <= threshold < 1:
        raise ParameterError(
            f"{threshold} is not at least 0 and below 1",
            where="threshold",
            remedy="give a score such as 0.5",
        )
    label = specification.label
    data_set = specification.name
    takes = "a list of strings" if isinstance(specification, TextSpecification) else "a data frame"

    def from_network(path: Path, name: str) -> LoadedModel[M]:
        model = read(path, favourable=label.favourable, name=name, threshold=threshold)
        return LoadedModel(model, sha256_of_file(path), card_of(path), origin=path)

    def from_object(target: Any, name: str) -> LoadedModel[M]:
        check_has_classes(target, name)
        called, kind = _callable(target, takes)
        model = function(
            called,
            target,
            name=name,
            kind=kind,
            label=label,
            favourable_given=favourable_given,
            threshold=threshold,
        )
        return LoadedModel(model, origin=target)

    if source is None:
        trained = trained_network(data_set)
        if trained is None:
            raise ModelError(
                f"there is no trained model for {data_set!r}",
                where="model",
                remedy=f"name one with --model, train one with {training_command(specification)}, "
                "or audit a column of predictions of rows with `testsgd audit --predictions`",
            )
        return from_network(*trained)
    if not isinstance(source, (str, Path)):
        model = adapted(source)
        return from_object(model, name_of_model(model))
    text = str(source)
    path = Path(source)
    opened = open_model(source, trust_pickle=trust_pickle)
    if opened is not None:
        loaded = from_object(opened.model, opened.name)
        if (file := opened.file) is None:
            return loaded
        return replace(loaded, file_sha256=sha256_of_file(file), card=card_of(file))
    check_model_name(text)
    if text.endswith(NETWORK_FILE):
        return from_network(path, path.parent.name or text)
    return from_network(_shipped(text), text)


def check_model_name(source: str | Path) -> None:
    """Check what a user names as a model, if it is no address, command, file or object.

    Parameters
    ----------
    source : str or path-like
        What :func:`open_model` returns None for.

    Raises
    ------
    ModelError
        If it is neither a network's file nor a name of the catalogue.

    Examples
    --------
    >>> check_model_name("demo")
    >>> check_model_name("nothing")
    Traceback (most recent call last):
    ...
    testsgd.errors.ModelError: model: there is no model 'nothing'; give a name of the catalogue, ...
    """
    text = str(source)
    if text.endswith(NETWORK_FILE) or _shipped(text).is_file():
        return
    added = [f".{name}" for name in plugin_names(PLUGINS)]
    endings = [NETWORK_FILE, *MODEL_FILES, *PICKLES, *added]
    kinds = (
        f"a name of the catalogue, a {', '.join(endings[:-1])} or {endings[-1]} file, a folder of "
        "MLflow, the address of an HTTP endpoint, cmd: and a command, or package.module:callable"
    )
    library = _LIBRARIES.get(Path(text).suffix.lower())
    raise unknown_model(text, kinds, library=library)


# What reads files that testsgd does not read itself.
_LIBRARIES = {".pt": "torch", ".pth": "torch", ".h5": "Keras", ".hdf5": "Keras"}


def unknown_model(text: str, kinds: str, *, library: str | None = None) -> ModelError:
    """Return the error of a model that is not found, or is a file or a folder of an unknown kind.

    Parameters
    ----------
    text : str
        What the user named.
    kinds : str
        The kinds of models that are read, in words.
    library : str, optional
        What reads such a file; its object can be given in place of the file.

    Returns
    -------
    ModelError
        With the path as ``path`` of its details, if there is such a file or folder.

    Examples
    --------
    >>> unknown_model("nothing", "a .keras file").what
    "there is no model 'nothing'"
    """
    remedy = f"give {kinds}"
    if not os.path.exists(text):
        return ModelError(f"there is no model {text!r}", where="model", remedy=remedy)
    what = f"{text!r} is a file of an unknown kind"
    if os.path.isdir(text):
        what = f"there is no model of MLflow in the folder {text!r}"
        network = Path(text) / MODEL_FILE
        if network.is_file():
            what = f"{text!r} is the folder of a network"
            remedy = f"give the network itself: {shlex.quote(str(network))}"
    elif library is not None:
        remedy = (
            f"load it with {library} and give the model from Python, or as "
            f"package.module:callable; or {remedy}"
        )
    return ModelError(what, where="model", remedy=remedy, path=text)


def labels_of_network(source: str | Path) -> Labels:
    """Return the labels of a network of testsgd's own, by its file or its name of the catalogue.

    Parameters
    ----------
    source : str or path-like
        As :func:`check_model_name` takes it.

    Returns
    -------
    Labels

    Raises
    ------
    ModelError
        If what stands beside the network cannot be read, or is of texts.

    Examples
    --------
    >>> labels_of_network("demo")
    Labels(positive='yes', negative='no')
    """
    text = str(source)
    return network_labels(Path(source) if text.endswith(NETWORK_FILE) else _shipped(text))


def _shipped(name: str) -> Path:
    """Return where the network of a name of the catalogue is, if there is one."""
    return bundled_folder("models") / name / MODEL_FILE


def training_command(specification: Specification) -> str:
    """Return the command that trains the network of a data set.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> training_command(load_specification("demo"))
    '`testsgd train demo`'
    """
    if specification.file is not None:
        return f"`testsgd train {shlex.quote(str(specification.file))}`"
    if specification.name in catalogue():
        return f"`testsgd train {specification.name}`"
    return "`testsgd train` and the path of the description's .toml file"


def trained_network(data_set: str) -> tuple[Path, str] | None:
    """Return the network trained for a data set, and its name; one of the user's comes first.

    One that takes the place of another that is shipped goes by its file, so that no report leaves
    open which of the two it is of.
    """
    own = Path("models") / data_set / MODEL_FILE
    shipped = _shipped(data_set)
    if own.is_file():
        shadows = shipped.is_file() and sha256_of_file(own) != sha256_of_file(shipped)
        return own, str(own) if shadows else data_set
    return (shipped, data_set) if shipped.is_file() else None


def _callable(source: Any, takes: str) -> tuple[Callable[..., Any], str]:
    """Return what is asked of an object, and what the object is, in words."""
    if isinstance(source, ExternalModel):
        return source.predict, source.kind
    if blackbox.is_keras_model(source):
        return blackbox.KerasFunction(source), f"Keras model {type(source).__name__}"
    if isinstance(source, FileModel | NumbersModel) and source.name is None:
        return source.predict, "model of a file"
    predict = getattr(source, "predict", None)
    if callable(predict):
        return predict, f"estimator {name_of_model(source)}"
    if callable(source):
        return source, "function"
    raise ModelError(
        f"a {type(source).__name__} is no model",
        where="model",
        remedy=f"give a function from {takes} to labels or scores, or an object with predict",
    )
