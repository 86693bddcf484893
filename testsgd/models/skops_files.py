"""Fitted estimators on disk: ``.skops`` files, which are read without running what is in them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from testsgd._files import atomic_path
from testsgd.errors import MissingExtraError, ModelError
from testsgd.models.skops_trees import TREE_TYPES, check_trees

SKOPS_FILE = "model.skops"

# What scikit-learn's estimators hold besides what skops trusts: classes written in Python that
# compute and do nothing else, and trees, which are looked over.
_TRUSTED = TREE_TYPES | {
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
}


def check_skops() -> None:
    """Raise a :class:`MissingExtraError` if skops is not installed."""
    _skops()


def write_skops(estimator: Any, target: Path) -> None:
    """Write a fitted estimator, whole or not at all.

    Raises
    ------
    MissingExtraError
        If skops is not installed.
    ModelError
        If the estimator holds something that skops cannot write.
    """
    skops = _skops()
    with atomic_path(target) as temporary:
        try:
            skops.dump(estimator, temporary, compression=zipfile.ZIP_DEFLATED)
        except Exception as error:
            raise ModelError(
                f"the {type(estimator).__name__} cannot be written: {error}",
                where=str(target),
                remedy="take out what is not of scikit-learn, numpy or Python itself",
            ) from error


def read_skops(path: Path) -> Any:
    """Read an estimator; types that neither skops nor testsgd knows are never trusted.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        As it was written.

    Raises
    ------
    MissingExtraError
        If skops is not installed.
    ModelError
        If there is no such file, it is damaged, or holds types that are not trusted.
    """
    skops = _skops()
    path = Path(path)
    if not path.is_file():
        raise ModelError("there is no such file", where=str(path), remedy="check the path")
    try:
        found = set(skops.get_untrusted_types(file=path))
        unknown = sorted(found - _TRUSTED)
        estimator = None if unknown else skops.load(path, trusted=sorted(found))
        check_trees(estimator)
    except Exception as error:
        # Whatever the parsers raise at bytes that are damaged.
        raise ModelError(
            f"this is not a .skops file that can be read ({error})",
            where=str(path),
            remedy="give a file that skops.io.dump wrote, with the same versions installed",
        ) from error
    if unknown:
        raise ModelError(
            f"the file holds types that are not trusted: {', '.join(unknown)}",
            where=str(path),
            remedy="load it in a module of your own and give package.module:estimator",
        )
    return estimator


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise MissingExtraError(
            "skops", extra="skops", purpose="reading or writing a fitted estimator"
        ) from error
    return skops.io
