"""Audits of a file of rows: of a column of predictions, or of a model by metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from testsgd.auditing import (
    AuditResult,
    check_columns,
    model_and_rows,
    note_on_rows,
    positions_with,
)
from testsgd.data import check_count, read_frame
from testsgd.errors import ParameterError
from testsgd.metrics.call import audit_metrics, audit_predictions
from testsgd.metrics.counting import ROWS, WEIGHT, WEIGHT_SQUARED
from testsgd.metrics.report.summary import AskedModel
from testsgd.metrics.result import MetricsResult
from testsgd.progress import Counter, Progress, named, shown_progress
from testsgd.sampling import BATCH_ROWS

# People of whom so many pairs are expected to be equal hardly ever are all different.
_FEWEST_EQUAL_PAIRS = 5


def audit_file_of_predictions(
    path: Path | str,
    *,
    predictions: str,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    **options: Any,
) -> AuditResult | MetricsResult:
    """Audit a column of predictions in a file.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    predictions : str
        The column with predictions.
    sensitive_features : sequence of str
        Names of columns.
    label, weights : str, optional
        The columns with the true labels, and with weights.
    **options
        Those of :func:`testsgd.audit_predictions`.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    ParameterError
        If a column is not in the file, or it looks like a table of counted rows.
    TestSGDError
        As for :func:`testsgd.audit_predictions`.
    """
    named = {"predictions": predictions, "label": label, "weights": weights}
    frame = read_frame(Path(path))
    check_columns(frame, named, sensitive_features)
    named_columns = [column for column in named.values() if column is not None]
    if ROWS not in {*named_columns, *sensitive_features}:
        _check_not_counted(frame, str(path))
    return audit_predictions(
        frame[predictions],
        None if label is None else frame[label],
        sensitive_features=frame[list(sensitive_features)],
        other_features=frame.drop(columns=named_columns),
        sample_weight=None if weights is None else frame[weights],
        name=Path(path).name.partition(".")[0],
        **options,
    )


def _check_not_counted(frame: pd.DataFrame, file: str) -> None:
    """Refuse a table of counted rows, as a query of GROUP BY gives it, each line for one person."""
    if _are_counts(frame):
        raise ParameterError(
            f"this looks like a table of counted rows: the column {ROWS!r} says how many each line "
            "is, and no two lines have the same other values",
            where=file,
            remedy="add --cells, or rename the column if each line is one person",
            column=ROWS,
        )


def _are_counts(frame: pd.DataFrame) -> bool:
    """Return whether lines are counts of combinations, each of which occurs once.

    A column of that name is not enough: the others must be such that people would share their
    values, had they been drawn with the shares that each column has.
    """
    keys = frame.drop(columns=[ROWS, WEIGHT, WEIGHT_SQUARED], errors="ignore")
    if ROWS not in frame or keys.empty or keys.duplicated().any():
        return False
    counts = frame[ROWS]
    if not pd.api.types.is_numeric_dtype(counts.dtype) or pd.api.types.is_bool_dtype(counts.dtype):
        return False
    if not ((counts > 0) & (counts % 1 == 0)).all() or not (counts > 1).any():
        return False
    shares = [keys[name].value_counts(normalize=True, dropna=False) for name in keys]
    pairs = len(keys) * (len(keys) - 1) / 2
    expected_equal = pairs * math.prod(float((share**2).sum()) for share in shares)
    every_combination = len(keys) == math.prod(len(share) for share in shares)
    return expected_equal > _FEWEST_EQUAL_PAIRS or (every_combination and len(shares) > 1)


def audit_model_by_metrics(
    path: Path | str,
    *,
    model: Any,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    favourable: Any = None,
    threshold: float = 0.5,
    trust_pickle: bool = False,
    limit: int | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> MetricsResult:
    """Ask a model about the rows of a file, and compare metrics of its decisions.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    model : callable, estimator, str or path-like
        As for :func:`testsgd.audit`.
    sensitive_features : sequence of str
        Names of columns.
    label, weights : str, optional
        The columns with the true labels, and with weights of the rows.
    favourable : object, optional
        The class whose rate is compared; if not given, 1, True, "yes" or the like.
    threshold : float
        A score above it counts as favourable.
    trust_pickle : bool
        As for :func:`testsgd.audit`.
    limit : int, optional
        Ask about a random sample of this size, chosen by ``seed``.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **options
        Those of :func:`testsgd.audit_metrics`.

    Returns
    -------
    MetricsResult

    Raises
    ------
    ParameterError
        If a column is not in the file.
    TestSGDError
        As for :func:`testsgd.audit` and :func:`testsgd.audit_metrics`.
    """
    frame = read_frame(Path(path))
    columns = {"label": label, "weights": weights}
    check_columns(frame, columns, sensitive_features)
    if not sensitive_features:
        raise ParameterError(
            "no sensitive feature is named",
            where="sensitive",
            remedy=f"name some of the columns {', '.join(list(frame.columns)[:20])}",
        )
    rows = frame.drop(columns=[column for column in columns.values() if column is not None])
    name = Path(path).name.partition(".")[0]
    _, loaded, table = model_and_rows(
        model,
        rows,
        None if label is None else frame[label],
        sensitive_features=sensitive_features,
        favourable=favourable,
        threshold=threshold,
        features=options.get("features"),
        trust_pickle=trust_pickle,
        name=name,
    )
    check_count("limit", limit, 1)
    expression = options.get("rows")
    all_rows = len(table)
    satisfying = all_rows
    if expression is not None:
        # The model is asked about no others.
        chosen = positions_with(expression, rows)
        satisfying = len(chosen)
        table = table.take(chosen)
        frame = frame.iloc[chosen]
        rows = rows.iloc[chosen]
    if limit is not None:
        chosen = table.drawn(limit, options.get("seed", 0))
        table = table.take(chosen)
        frame = frame.iloc[chosen]
        rows = rows.iloc[chosen]
    known = table.specification.label
    decisions = np.zeros(len(table), dtype=bool)
    with shown_progress(progress) as reporter:
        counter = Counter(named("asking about rows", reporter), len(table))
        for start in range(0, len(table), BATCH_ROWS):
            part = table.frame.iloc[start : start + BATCH_ROWS]
            with counter.asking(len(part)):
                decisions[start : start + len(part)] = loaded.model.decisions(part)
    result = audit_metrics(
        _as_classes(pd.Series(decisions), known.favourable),
        None if label is None else _labels_as_classes(table.labels, known.favourable),
        sensitive_features=frame[list(sensitive_features)],
        other_features=rows,
        sample_weight=None if weights is None else frame[weights],
        favourable=known.favourable,
        name=name,
        progress=progress,
        **options,
    )
    asked = AskedModel(
        name=loaded.model.name, file_sha256=loaded.file_sha256, queries=len(decisions)
    )
    data = result.summary.data.model_copy(update={"predictions_given": False})
    if expression is not None:
        # The audit of metrics had only the rows that were asked about.
        note_of_audit = note_on_rows(expression, chosen=len(rows), rows=len(rows))
        note = note_on_rows(expression, chosen=satisfying, rows=all_rows)
        notes = [note if item == note_of_audit else item for item in data.notes]
        data = data.model_copy(update={"notes": notes})
    summary = result.summary.model_copy(update={"model": asked, "data": data})
    return MetricsResult(summary, result.findings, joined_by=result.joined_by)


def _as_classes(are_favourable: pd.Series[Any], favourable: str) -> pd.Series[Any]:
    """Return decisions as the favourable class and all others."""
    return are_favourable.map({True: favourable, False: f"not {favourable}"})


def _labels_as_classes(labels: pd.Series[Any] | None, favourable: str) -> pd.Series[Any]:
    """Return true labels as the favourable class and all others; missing ones stay so."""
    assert labels is not None
    classes = _as_classes(labels == favourable, favourable)
    return classes.where(labels.notna())
