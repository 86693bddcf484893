"""Audits of a file of rows: of a column of predictions, or of a model by metrics."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from testsgd.auditing import (
    AuditResult,
    audit_undescribed,
    check_columns,
    check_not_sensitive,
    no_sensitive_feature,
    with_known_cells,
)
from testsgd.data import (
    Label,
    TextSpecification,
    category_text,
    find_table,
    read_frame,
    resolve_specification,
    with_numbers,
)
from testsgd.data.cell_texts import renamed
from testsgd.data.cells import missing_column
from testsgd.data.classes import (
    LABELS_BESIDE,
    LABELS_LEFT_OUT,
    OTHER_COLUMN,
    classes_of_file,
)
from testsgd.errors import DataError, ParameterError
from testsgd.metrics.call import (
    ONLY_FOR_METRICS,
    audit_predictions,
    is_of_metrics,
)
from testsgd.metrics.counting import (
    ROWS,
    WEIGHT,
    WEIGHT_SQUARED,
    Bins,
    marked_edges,
    upper_limits,
)
from testsgd.metrics.elsewhere import audit_counts
from testsgd.metrics.given_predictions import are_numbers
from testsgd.metrics.models import (
    audit_model_by_metrics,
    classes_are_joined,
    compares_classes,
)
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.shared_steps import (
    WITHOUT_METRICS,
    check_rows_are_units,
    rows_are_no_units,
)
from testsgd.progress import Progress, shown_progress
from testsgd.rules import bin_edges

# Of people with this many expected pairs of equal rows hardly ever all rows are different.
_FEWEST_EQUAL_PAIRS = 5

# Keywords that make an audit one of metrics.
_OF_METRICS = frozenset({"metrics", "rule", *ONLY_FOR_METRICS})

# Called with the class of the result and the name of the data, before all the work.
Before: TypeAlias = Callable[[type[AuditResult] | type[MetricsResult], str], None]

# What a column is called that says how many rows each line is.
_NAMES_OF_COUNTS = frozenset(
    {
        ROWS,
        "cnt",
        "count",
        "counts",
        "freq",
        "frequency",
        "n",
        "n_rows",
        "num",
        "number",
        "people",
        "persons",
        "row_count",
        "size",
        "total",
    }
)


def audit_file_of_predictions(
    path: Path | str,
    *,
    predictions: str,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    before: Before | None = None,
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
    encoding : str, optional
        As for :func:`testsgd.data.read_frame`.
    before : callable, optional
        It is called with the class of the result and the name of the data before the audit.
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
    frame = read_frame(Path(path), encoding=encoding)
    check_columns(frame, named, sensitive_features)
    if not sensitive_features:
        raise no_sensitive_feature(frame, named)
    check_not_sensitive(named, sensitive_features)
    named_columns = [column for column in named.values() if column is not None]
    _check_not_counted(frame, str(path), {*named_columns, *sensitive_features})
    # Amounts may be written with a currency, or with separators of thousands.
    values, _ = with_numbers(frame[named_columns])
    where = f"{path}, column {predictions!r}"
    with classes_of_file(where, instead=LABELS_BESIDE if label is None else OTHER_COLUMN):
        return _audited(
            values[predictions],
            None if label is None else values[label],
            before=before,
            sensitive_features=frame[list(sensitive_features)],
            other_features=frame.drop(columns=named_columns),
            sample_weight=None if weights is None else values[weights],
            name=Path(path).name.partition(".")[0],
            **options,
        )


def _audited(
    y_pred: Any, y_true: Any, *, before: Before | None, name: str, **options: Any
) -> AuditResult | MetricsResult:
    if before is not None:
        before(MetricsResult if is_of_metrics(y_pred, y_true, options) else AuditResult, name)
    return audit_predictions(y_pred, y_true, name=name, **options)


def audit_described_predictions(
    description: Any,
    data: Any = None,
    *,
    predictions: str,
    weights: str | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    before: Before | None = None,
    **options: Any,
) -> AuditResult | MetricsResult:
    """Audit a column of predictions in rows that a description says how to read.

    Parameters
    ----------
    description : DatasetSpecification, mapping, str or path-like
        As for :func:`testsgd.audit`. Its label is the true label, unless that is the column of
        predictions itself.
    data : path-like, optional
        A file of rows; if not given, those of the description.
    predictions : str
        The column with predictions.
    weights : str, optional
        The column with weights.
    before : callable, optional
        It is called with the class of the result and the name of the data before the audit.
    favourable, outcome, **options
        Those of :func:`testsgd.audit_predictions`; by default as the description has them.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    ParameterError
        If the description is of texts, or a column is a sensitive feature, or the description names
        a cluster and the audit is one of metrics.
    TestSGDError
        As for :func:`testsgd.audit_predictions`.
    """
    specification = resolve_specification(description, favourable=favourable, outcome=outcome)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            "predictions in a column are of rows, and the description is of texts",
            where="predictions",
            remedy="give the model with --model",
        )
    label = specification.label
    columns = {"predictions": predictions, "weights": weights}
    check_not_sensitive(columns, list(specification.sensitive))
    if weights in (predictions, label.column):
        raise ParameterError(
            f"the column {weights!r} is the label or the predictions, and cannot be weights too",
            where="weights",
            remedy="name another column",
            column=weights,
        )
    known = {label.column, *specification.features}
    passed = [name for name in columns.values() if name is not None and name not in known]
    # No model is asked, and predictions are compared with labels as the file writes both.
    table = find_table(data, specification, limit=None, seed=0, passed=passed, typed=False)
    of_label = predictions == label.column
    predicted = table.labels if of_label else table.frame[predictions]
    if predicted is None:
        raise missing_column(predictions, table.frame.columns, "the data")
    if label.map and not _are_scores(predicted, label):
        # As the labels of the file are renamed, so are the predictions.
        if options.get("threshold") is not None and _are_favourable_ones(predicted, label):
            options["threshold"] = None
        texts = predicted.map(category_text, na_action="ignore")
        if not set(label.map).isdisjoint(texts.dropna().unique()):
            predicted = renamed(texts, label.map)
    if label.together and compares_classes(options.get("metrics"), label):
        raise classes_are_joined(label)
    others = [name for name in specification.insensitive if name not in columns.values()]
    if outcome is None and label.outcome_given:
        outcome = label.outcome
    clusters = None
    if specification.data is not None:
        clusters = pd.Series(table.clusters, name=specification.data.cluster)
    return _audited(
        predicted,
        None if of_label else table.labels,
        before=before,
        sensitive_features=table.frame[list(specification.sensitive)],
        other_features=table.frame[others] if others else None,
        sample_weight=None if weights is None else table.frame[weights],
        clusters=clusters,
        favourable=label.favourable,
        outcome=outcome,
        features={
            name: feature.model_dump(
                exclude={"column", "map", "sensitive", "input"}, exclude_unset=True
            )
            for name, feature in specification.features.items()
            if name in (*specification.sensitive, *others)
        },
        name=specification.name,
        **options,
    )


def _are_scores(predicted: pd.Series[Any], label: Label) -> bool:
    """Return whether predictions are scores or numbers, though some may be called like a label."""
    if not are_numbers(predicted):
        return False
    known = {*(label.map or {}), *(label.values or [])}
    return not known.issuperset(map(category_text, predicted.dropna().unique()))


def _are_favourable_ones(predicted: pd.Series[Any], label: Label) -> bool:
    """Return whether predictions are scores of 0.0 and 1.0, and 1 is renamed to the favourable one.

    Any threshold leaves them as they are.
    """
    names = label.map or {}
    is_favourable = names.get("1") == label.favourable
    are_floats = pd.api.types.is_float_dtype(predicted.dtype)
    return is_favourable and are_floats and bool(predicted.dropna().isin([0, 1]).all())


def audit_described_counts(
    description: Any,
    counts: pd.DataFrame,
    *,
    predictions: str,
    sensitive_features: Sequence[str] = (),
    rows: str = ROWS,
    label: str | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    **options: Any,
) -> MetricsResult:
    """Audit counted rows, as the query of ``testsgd cells-sql`` of the same description gives them.

    Parameters
    ----------
    description : DatasetSpecification, mapping, str or path-like
        As for :func:`testsgd.audit`.
    counts, predictions, rows
        As for :func:`audit_counts`.
    sensitive_features : sequence of str, optional
        By default those of the description.
    label : str, optional
        The column with the true labels; by default the label of the description, if it was counted.
    favourable, outcome, **options
        Those of :func:`audit_counts`; by default as the description has them.

    Returns
    -------
    MetricsResult

    Raises
    ------
    DataError
        If a number is no lower edge of a bin of the description, and no column says the bins.
    ParameterError
        If the description is of texts, or names a cluster.
    TestSGDError
        As for :func:`audit_counts`.

    Examples
    --------
    >>> description = {
    ...     "dataset": {"name": "loans"},
    ...     "label": {"column": "repaid", "values": ["no", "yes"], "favourable": "yes"},
    ...     "features": {
    ...         "age": {"type": "integer", "range": [18, 89], "edges": [18, 30, 90],
    ...                 "sensitive": True}},
    ... }
    >>> counts = pd.DataFrame({
    ...     "age": [18, 18, 30, 30], "granted": ["no", "yes"] * 2, "rows": [600, 400, 500, 500]})
    >>> result = audit_described_counts(description, counts, predictions="granted")
    >>> result.groups["text"].iloc[0], result.groups["effect"].iloc[0].round(6).item()
    ('age < 30', -0.1)
    """
    specification = resolve_specification(description, favourable=favourable, outcome=outcome)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            "counted rows are of a table, and the description is of texts",
            where="description",
            remedy="name a description of a table",
        )
    check_rows_are_units(specification, what="counts of rows", remedy="audit the rows themselves")
    declared = specification.label
    sensitive = list(sensitive_features or specification.sensitive)
    if label is None and declared.column in counts and declared.column != predictions:
        label = declared.column
    if outcome is None and declared.outcome_given:
        outcome = declared.outcome
    check_columns(counts, {"predictions": predictions, "rows": rows, "label": label}, sensitive)
    features = {}
    for name in set(sensitive).intersection(specification.features, counts.columns):
        feature = specification.features[name]
        if feature.continuous and marked_edges(counts, name) is None:
            bins = Bins(column=name, edges=bin_edges(feature))
            _check_lower_edges(counts[name], bins)
            features[name] = bins.described
    return audit_counts(
        counts,
        predictions=predictions,
        sensitive_features=sensitive,
        rows=rows,
        label=label,
        favourable=declared.favourable,
        outcome=outcome,
        features=features,
        **options,
    )


def _check_lower_edges(numbers: pd.Series[Any], bins: Bins) -> None:
    """Refuse a column of counted rows that was cut at other edges than those of the description."""
    known = pd.to_numeric(numbers, errors="coerce")[numbers.notna()]
    others = known[~known.isin(bins.edges[:-1])]
    if len(others):
        edges = ", ".join(f"{edge:g}" for edge in bins.edges)
        raise DataError(
            f"{others.iloc[0]!s} is no lower edge of the description's bins ({edges})",
            where=f"column {bins.column!r}",
            remedy=f"count the rows with cells-sql of this description, with its column "
            f"{upper_limits(bins.column)!r}",
            column=bins.column,
        )


def _check_not_counted(frame: pd.DataFrame, file: str, used: Collection[str]) -> None:
    """Refuse a table of counted rows, as a query of GROUP BY gives it, each line for one person.

    A column that the user names is used for something else.
    """
    for column in frame.columns.difference(list(used)):
        if str(column).casefold() in _NAMES_OF_COUNTS and _are_counts(frame, column):
            option = "--cells" if column == ROWS else f"--counts {shlex.quote(column)}"
            raise ParameterError(
                f"this looks like a table of counted rows: the column {column!r} says how many "
                "each line is, and no two lines have the same other values",
                where=file,
                remedy=f"add {option}, or rename the column if each line is one person",
                column=column,
            )


def _are_counts(frame: pd.DataFrame, column: str) -> bool:
    """Return whether a column counts combinations of the others, each of which occurs once.

    A column of such a name is not enough: the others must be such that people would share their
    values, had they been drawn with the shares that each column has.
    """
    # Where the upper edges of bins are, the lower ones say it all.
    names = map(str, frame.columns)
    limits = [upper_limits(name) for name in names if marked_edges(frame, name) is not None]
    keys = frame.drop(columns=[column, WEIGHT, WEIGHT_SQUARED, *limits], errors="ignore")
    if keys.empty or keys.duplicated().any():
        return False
    counts = frame[column]
    if not pd.api.types.is_numeric_dtype(counts.dtype) or pd.api.types.is_bool_dtype(counts.dtype):
        return False
    if not ((counts > 0) & (counts % 1 == 0)).all() or not (counts > 1).any():
        return False
    shares = [keys[name].value_counts(normalize=True, dropna=False) for name in keys]
    pairs = len(keys) * (len(keys) - 1) / 2
    expected_equal = pairs * math.prod(float((share**2).sum()) for share in shares)
    every_combination = len(keys) == math.prod(len(share) for share in shares)
    return expected_equal > _FEWEST_EQUAL_PAIRS or (every_combination and len(shares) > 1)


def audit_file_of_model(
    path: Path | str,
    *,
    model: Any,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    outcome: str | None = None,
    threshold: float | None = None,
    progress: Progress | bool | None = None,
    before: Before | None = None,
    **options: Any,
) -> AuditResult | MetricsResult:
    """Audit a model about the rows of a file, by its selection rates or by metrics.

    It is an audit of metrics if these or what is for them are among the options, if there are
    weights, and if the labels are numbers, as those of a regression.

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
    encoding : str, optional
        As for :func:`testsgd.data.read_frame`.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given the label whose rate is compared; for selection rates.
    threshold : float, optional
        A score or number above it counts as favourable.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    before : callable, optional
        It is called with the class of the result and the name of the data before the audit.
    **options
        Those of :func:`testsgd.audit` or of :func:`testsgd.audit_model_by_metrics`.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    ParameterError
        If a column is not in the file.
    TestSGDError
        As for :func:`testsgd.audit` and :func:`testsgd.audit_model_by_metrics`.
    """
    frame = read_frame(Path(path), encoding=encoding)
    columns = {"label": label, "weights": weights}
    check_columns(frame, columns, sensitive_features)
    if not sensitive_features:
        raise no_sensitive_feature(frame, columns)
    answers = [column for column in columns.values() if column is not None]
    labels = None if label is None else frame[label]
    name = Path(path).name.partition(".")[0]
    by_metrics = weights is not None or not options.keys().isdisjoint(ONLY_FOR_METRICS)
    of_numbers = labels is not None and are_numbers(labels) and options.get("favourable") is None
    if before is not None:
        before(MetricsResult if by_metrics or of_numbers else AuditResult, name)
    clusters = options.get("clusters")
    if (by_metrics or of_numbers) and clusters is not None:
        remedy = WITHOUT_METRICS if by_metrics else "name a label of classes in place of numbers"
        raise rows_are_no_units(str(clusters), remedy=remedy)
    frame, model = with_known_cells(
        frame,
        Path(path),
        model,
        answers=answers,
        encoding=encoding,
        trust_pickle=options.get("trust_pickle", False),
    )
    rows = frame.drop(columns=answers)
    with classes_of_file(f"{path}, column {label!r}", instead=LABELS_LEFT_OUT):
        if by_metrics or of_numbers:
            return audit_model_by_metrics(
                model,
                rows,
                labels,
                sensitive_features=sensitive_features,
                sample_weight=None if weights is None else frame[weights],
                outcome=outcome,
                threshold=threshold,
                name=name,
                progress=progress,
                **options,
            )
        with shown_progress(progress) as report_progress:
            return audit_undescribed(
                model,
                rows,
                labels,
                sensitive_features=sensitive_features,
                outcome=outcome,
                threshold=0.5 if threshold is None else threshold,
                name=name,
                progress=report_progress,
                **options,
            )
