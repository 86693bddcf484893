"""From what a user names to a model: a catalogue name, a file, a function or an estimator."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

from testsgd._files import sha256_of_file
from testsgd.data import DatasetSpecification, bundled_folder
from testsgd.errors import ModelError, ParameterError
from testsgd.models.blackbox import CallableModel, Model
from testsgd.models.storage import MODEL_FILE, read_card, read_network


@dataclass(frozen=True)
class LoadedModel:
    """A model and what is known of where it came from.

    Attributes
    ----------
    model : Model
        The black box.
    file_sha256 : str or None
        Of the file it was read from.
    card : dict
        Its model card, if it has one.
    """

    model: Model
    file_sha256: str | None = None
    card: dict[str, Any] = field(default_factory=dict)


def load_model(
    source: Any,
    specification: DatasetSpecification,
    *,
    favourable_given: bool = False,
    threshold: float = 0.5,
) -> LoadedModel:
    """Find a model.

    Parameters
    ----------
    source : str, path-like, callable, estimator or None
        ``None``: the network trained for the data set, ``models/<name>/model.keras`` in the working
        folder or, if there is none, the one that is shipped with testsgd. A name of the catalogue:
        the network shipped under that name. A ``.keras`` file written by ``testsgd train``.
        ``package.module:callable``: a function from a data frame to labels or scores. From Python
        also the function itself, or an object with a ``predict`` method such as a scikit-learn
        estimator.
    specification : DatasetSpecification
        The data set, with the favourable label.
    favourable_given : bool
        True if the user named the favourable label for this audit.
    threshold : float
        Scores of the favourable label above it count as favourable.

    Returns
    -------
    LoadedModel

    Raises
    ------
    ModelError
        If there is no such model or it cannot be loaded.
    ParameterError
        If the threshold is not in [0, 1).
    """
    if not isinstance(threshold, Real) or not 0 <= threshold < 1:
        raise ParameterError(
            f"{threshold} is not at least 0 and below 1",
            where="threshold",
            remedy="give a score such as 0.5",
        )
    label = specification.label

    def wrap(function: Callable[..., Any], name: str, kind: str) -> LoadedModel:
        return LoadedModel(
            CallableModel(
                function,
                label=label,
                name=name,
                kind=kind,
                favourable_given=favourable_given,
                threshold=threshold,
            )
        )

    if source is None:
        return _trained(specification, threshold)
    if isinstance(source, (str, Path)):
        text = str(source)
        if text.endswith(".keras"):
            name = Path(text).parent.name or text
            return _network(Path(text), label.favourable, name, threshold)
        if ":" in text:
            function, kind = _import(text)
            return wrap(function, text, kind)
        bundled = bundled_folder("models") / text / MODEL_FILE
        if bundled.is_file():
            return _network(bundled, label.favourable, text, threshold)
        raise ModelError(
            f"there is no model {text!r}",
            where="model",
            remedy="give a name of the catalogue, a .keras file, or package.module:callable",
        )
    function, kind = _callable(source)
    return wrap(function, _name_of(source), kind)


def _trained(specification: DatasetSpecification, threshold: float) -> LoadedModel:
    name = specification.name
    here = Path("models") / name / MODEL_FILE
    shipped = bundled_folder("models") / name / MODEL_FILE
    for path in (here, shipped):
        if path.is_file():
            return _network(path, specification.label.favourable, name, threshold)
    raise ModelError(
        f"there is no trained model for {name!r}",
        where="model",
        remedy=f"train one with `testsgd train {name}`, or name one with --model",
    )


def _network(path: Path, favourable: str, name: str, threshold: float) -> LoadedModel:
    return LoadedModel(
        read_network(path, favourable=favourable, name=name, threshold=threshold),
        file_sha256=sha256_of_file(path),
        card=read_card(path.parent),
    )


def _import(text: str) -> tuple[Callable[..., Any], str]:
    module_name, _, attribute = text.partition(":")
    # As `python -m` does: the user's own modules stand in the working folder.
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    target: Any
    try:
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
    return _callable(target)


def _callable(source: Any) -> tuple[Callable[..., Any], str]:
    predict = getattr(source, "predict", None)
    if callable(predict):
        return predict, f"estimator {type(source).__name__}"
    if callable(source):
        return source, "function"
    raise ModelError(
        f"a {type(source).__name__} is no model",
        where="model",
        remedy="give a function from a data frame to labels or scores, or an object with predict",
    )


def _name_of(source: Any) -> str:
    name = getattr(source, "__qualname__", None) or type(source).__name__
    return str(name)
