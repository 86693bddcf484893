"""From a path, an address or a dotted name to the object of a model, of rows or of texts."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from testsgd.errors import ModelError
from testsgd.models.blackbox import is_booster, is_catboost, is_keras_model
from testsgd.models.command import COMMAND_PREFIX, command_of
from testsgd.models.external import ExternalModel, is_url
from testsgd.models.file_models import FileModel, NumbersModel
from testsgd.models.files import is_own_network, read_keras_model
from testsgd.models.mlflow_models import (
    MLflowModel,
    is_mlflow_folder,
    is_mlflow_model,
    read_mlflow,
)
from testsgd.models.pickled_files import PICKLES, read_pickle
from testsgd.models.skops_files import read_skops
from testsgd.models.torch_modules import TorchModel, is_torch_module
from testsgd.plugins import load_plugin

# How the names of files of Keras end, and so of networks of testsgd's own.
NETWORK_FILE = ".keras"

# The group of entry points by which other packages add types of model files.
PLUGINS = "testsgd.models"


def _read_booster(path: Path) -> FileModel | NumbersModel:
    """Return the model in a file of ONNX, or of a library of boosters."""
    # Imported here: most models are in no such file.
    from testsgd.models.booster_files import BOOSTER_FILES

    return BOOSTER_FILES[path.suffix](path)


# Other types of model files: what reads a function, an estimator or a Keras model from the path.
# A new one is a reader in a module of its own, and a line here.
MODEL_FILES: dict[str, Callable[[Path], Any]] = {
    ".skops": read_skops,
    ".onnx": _read_booster,
    ".json": _read_booster,
    ".ubj": _read_booster,
    ".txt": _read_booster,
    ".cbm": _read_booster,
}


@dataclass(frozen=True)
class OpenedModel:
    """The object that a text or a path stands for, as :func:`open_model` returns it."""

    model: Any  # A function, an estimator, a Keras model or an ExternalModel.
    name: str  # What to call it in a report.
    file: Path | None = None  # The file that it was read from.


def open_model(source: str | Path, *, trust_pickle: bool) -> OpenedModel | None:
    """Return what an address, a command, a path or ``package.module:callable`` stands for.

    Parameters
    ----------
    source : str or path-like
        What the user wrote.
    trust_pickle : bool
        Whether what runs code when it is read may be read.

    Returns
    -------
    OpenedModel or None
        None if it is none of these: a network of testsgd's own, or a name of the catalogue.

    Raises
    ------
    ModelError
        If it cannot be read or imported, or is not trusted.

    Examples
    --------
    >>> open_model("math:sqrt", trust_pickle=False).model(4)
    2.0
    """
    text = str(source)
    path = Path(source)
    if is_url(text):
        # Imported here: most models need no network, nor a database of kept answers.
        from testsgd.models.endpoint import EndpointModel

        return _external(EndpointModel(text))
    if text.startswith(COMMAND_PREFIX):
        return _external(command_of(text))
    if text.endswith(NETWORK_FILE):
        if is_own_network(path):
            return None
        return OpenedModel(read_keras_model(path), name=path.parent.name or text, file=path)
    if is_mlflow_folder(path):
        return _external(read_mlflow(path, trusted=trust_pickle))
    if is_model_file(path):
        model = read_model_file(path, trust_pickle=trust_pickle)
        return OpenedModel(adapted(model), name=path.parent.name or text, file=path)
    if ":" in text:
        return OpenedModel(adapted(import_object(text)), name=text)
    return None


def adapted(source: Any) -> Any:
    """Return what can be asked of an object of another library; other objects as they are.

    Parameters
    ----------
    source : object
        A model: a module of PyTorch, a model of MLflow, a booster of XGBoost or LightGBM, a
        ``catboost.CatBoost``, or anything else.

    Returns
    -------
    object
        For these an object with a ``predict`` method; else `source` itself, such as a
        function, an estimator or a Keras model.

    Examples
    --------
    >>> adapted(len) is len
    True
    """
    # A Keras model on top of PyTorch is a module, too.
    if is_torch_module(source) and not is_keras_model(source):
        return TorchModel(source)
    if is_mlflow_model(source):
        return MLflowModel(source, name=type(source).__name__)
    if is_booster(source, "xgboost") or is_booster(source, "lightgbm") or is_catboost(source):
        # Imported here: most models are none of these.
        from testsgd.models.booster_files import booster_model

        return _named(booster_model(source), source)
    return source


def name_of_model(model: Any) -> str:
    """Return what to call a model that is given as an object, or was made of one.

    Parameters
    ----------
    model : Any
        A function, an estimator, or what :func:`adapted` returns.

    Returns
    -------
    str
        The name that it has of its own, that of the function, or that of its type.

    Examples
    --------
    >>> name_of_model(len), name_of_model(object())
    ('len', 'object')
    """
    if isinstance(model, ExternalModel):
        return model.name
    if isinstance(model, FileModel | NumbersModel) and model.name is not None:
        return model.name
    return str(getattr(model, "__qualname__", None) or type(model).__name__)


def _named(model: FileModel | NumbersModel, source: Any) -> FileModel | NumbersModel:
    """Return a model that is called like the type of the object that it was made of."""
    model.name = type(source).__name__
    if isinstance(model, FileModel) and model.numbers is not None:
        model.numbers.name = model.name
    return model


def _external(model: ExternalModel) -> OpenedModel:
    return OpenedModel(model, name=model.name)


def is_model_file(path: Path) -> bool:
    """Return whether a path names a file of a model, other than a network of testsgd's own."""
    return path.suffix in PICKLES or _reader_of(path) is not None


def read_model_file(path: Path, *, trust_pickle: bool) -> Any:
    """Return the function, estimator or Keras model that a file holds.

    Parameters
    ----------
    path : pathlib.Path
        A file of one of the types in ``MODEL_FILES`` or of an installed plug-in, or a pickled one
        (.joblib, .pkl, .pickle).
    trust_pickle : bool
        Whether a pickled file, or a .skops file with types that are not trusted, may be read, which
        runs the code that is in it.

    Returns
    -------
    object

    Raises
    ------
    ModelError
        If it cannot be read, or is pickled and not trusted.
    MissingExtraError
        If the package that reads files of this type is not installed.

    Examples
    --------
    >>> read_model_file(Path("pipe.joblib"), trust_pickle=True)
    Traceback (most recent call last):
    ...
    testsgd.errors.ModelError: model 'pipe.joblib': there is no such file; check the path
    """
    if path.suffix in PICKLES:
        return read_pickle(path, trusted=trust_pickle)
    if path.suffix == ".skops":
        return read_skops(path, trusted=trust_pickle)
    reader = _reader_of(path)
    assert reader is not None
    return reader(path)


def _reader_of(path: Path) -> Callable[[Path], Any] | None:
    """Return what reads a file of this type, if anything does."""
    reader = MODEL_FILES.get(path.suffix)
    if reader is None and path.suffix and ":" not in path.suffix:
        reader = load_plugin(PLUGINS, path.suffix.removeprefix("."))
    return reader


def import_object(text: str) -> Any:
    """Import what ``package.module:object`` names, from the working folder too.

    Parameters
    ----------
    text : str
        The module, a colon, and the name of the object in it.

    Returns
    -------
    object

    Raises
    ------
    ModelError
        If there is no such module or object, or importing it raises.

    Examples
    --------
    >>> import_object("math:pi")
    3.141592653589793
    """
    module_name, _, attribute = text.partition(":")
    target: Any
    try:
        with _working_folder_first():
            target = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"there is no module {error.name!r}",
            where=f"model {text!r}",
            remedy="give package.module:callable, importable from the working folder",
        ) from error
    except (Exception, SystemExit) as error:
        # SystemExit too: a module that leaves must not choose the exit code of the audit.
        raise ModelError(
            f"importing it raised {type(error).__name__}: {error}",
            where=f"model {text!r}",
            remedy="mend the module",
        ) from error
    try:
        for part in attribute.split("."):
            target = getattr(target, part)
    except AttributeError as error:
        raise ModelError(
            f"the module {module_name!r} has no {attribute!r}",
            where=f"model {text!r}",
            remedy="check the name after the colon",
        ) from error
    return target


@contextlib.contextmanager
def _working_folder_first() -> Iterator[None]:
    """Import from the working folder first, as `python -m` does, and afterwards last.

    Afterwards a module that the user's own imports when it is called is still found, but nothing in
    the folder stands before a package that is installed.
    """
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if (fallback := _FolderFinder(folder)) not in sys.meta_path:
            sys.meta_path.append(fallback)


@dataclass(frozen=True)
class _FolderFinder(MetaPathFinder):
    """Finds the modules of a folder."""

    folder: str

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the folder is; those of packages are found by their package."""
        return None if path else PathFinder.find_spec(name, [self.folder], target)
