"""What an estimator's ``fit`` is given: rows, labels and weights, checked as scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from testsgd.data.cells import as_pandas, check_distinct_names


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check the form of X; what it holds is for the estimator inside to judge."""
    frame = None if isinstance(X, np.ndarray | list | tuple) else as_pandas(X, where="X")
    if frame is None:
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    check_distinct_names(frame.columns, where="X")
    validate_data(estimator, frame, reset=reset, skip_check_array=True)
    if len(frame) == 0 or len(frame.columns) == 0:
        raise ValueError(f"X has {len(frame)} rows and {len(frame.columns)} columns")
    return frame


def checked_labels(X: Any, y: Any) -> NDArray[Any]:
    """Return y as an array of labels, one for each row of X."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    elif pd.isna(labels).any():
        raise ValueError("Input y contains NaN.")
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    return labels


def two_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that occur, sorted; an error if there are more than two."""
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass."
        )
    return classes


def checked_weights(X: Any, given: Any) -> NDArray[np.float64] | None:
    """Return the rows' weights as an array; None if none are given."""
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (len(X),):
        raise ValueError(f"sample_weight has the shape {weights.shape}, X has {len(X)} rows")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight holds weights that are negative or not finite")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def two_class_tags(tags: Any, inside: Any) -> Any:
    """Return the tags of a classifier of two labels around another, whose input tags it has."""
    tags.classifier_tags.multi_class = False
    tags.input_tags.sparse = False
    for name in ("allow_nan", "categorical", "string", "positive_only"):
        setattr(tags.input_tags, name, getattr(inside.input_tags, name))
    return tags
