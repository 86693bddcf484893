"""An audit of predictions or decisions that exist, without a model and without a description."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Unpack

import pandas as pd

from testsgd.auditing.answer_columns import (
    IS_LABEL,
    IS_PREDICTION,
    check_no_answers,
    columns_of_values,
)
from testsgd.auditing.inputs import (
    audit_parameters,
    check_sensitive_differ,
    note_on_rows,
    positions_with,
)
from testsgd.auditing.options import AuditOptions
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.repeated_runs import check_one_run
from testsgd.auditing.report.summarise import summarise
from testsgd.auditing.result import AuditResult
from testsgd.auditing.run import run_audit
from testsgd.auditing.values import (
    check_present,
    check_same_order,
    column_of,
    keys_of_units,
    other_length,
    series_of,
    values_of,
)
from testsgd.data import (
    Label,
    Table,
    as_pandas,
    booleans_as_numbers,
    category_text,
    check_row_order,
    check_table,
    infer_specification,
    joined,
    with_numbers,
)
from testsgd.data.cell_texts import renamed
from testsgd.data.cells import check_distinct_names, check_one_level
from testsgd.data.classes import check_known_classes, classes_together
from testsgd.data.missing_texts import without_missing_texts
from testsgd.data.sampling import cluster_numbers, note_on_missing_keys
from testsgd.data.schema import RowUnits
from testsgd.errors import DataError
from testsgd.models import LoadedModel, PredictionColumn
from testsgd.parameters import show_parameters
from testsgd.progress import Progress

# The column in which predictions stand beside the features; no user's column is called so.
_PREDICTION = "(prediction)"


@show_parameters(AuditParameters)
def audit_decisions(
    y_pred: Any,
    y_true: Any = None,
    *,
    sensitive_features: Any,
    other_features: Any = None,
    favourable: Any = None,
    outcome: str | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    clusters: Any = None,
    name: str = "data",
    progress: Progress | None = None,
    **parameters: Unpack[AuditOptions],
) -> AuditResult:
    """Find the groups whose predictions differ from those outside of them.

    No model is needed, and no description: what the sensitive features are is guessed from their
    values, and the report says how.

    Parameters
    ----------
    y_pred : array-like, shape (n,)
        The predictions, or the decisions, of each row: classes, not scores.
    y_true : array-like, shape (n,), optional
        The true labels, if they are known.
    sensitive_features : data frame, series or mapping of str to array-like, n rows
        A column a feature.
    other_features : data frame or mapping of str to array-like, n rows, optional
        Further columns. No rule is about them; the report says in which of them groups differ.
    favourable : object, or list of these, optional
        The class whose rate is compared, or several together; if not given, 1, True, "yes" or the
        like.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given the label whose rate is compared; if not given it is
        taken for a benefit, and the report says so. The side that is worse off is named first.
    features : mapping of str to mapping, optional
        Parts of the description of features, in place of what is guessed, such as
        ``{"age": {"edges": [18, 30, 50, 100]}}``; the keys are those of a description's
        ``[features.NAME]``.
    limit : int, optional
        Audit a random sample of this size, chosen by ``seed``.
    clusters : str or array-like, shape (n,), optional
        Whom each row is about: rows of one are one unit in every interval. A column by its name, or
        one value a row; the report calls them as a series is called.
    name : str
        What the data are called in the report.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.
    **parameters
        Those of :class:`testsgd.auditing.AuditParameters`, such as ``metric``, ``min_rows`` or
        ``fail_above``.

    Returns
    -------
    AuditResult
        The groups with their rates and confidence intervals, a verdict, and the report.

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["female", "male"] * 200, "age": list(range(20, 60)) * 10})
    >>> decided = ["no", "yes"] * 200
    >>> result = audit_decisions(decided, sensitive_features=people)
    >>> result.groups["text"].iloc[0], result.groups["rate_in"].iloc[0].item()
    ('sex = female', 0.0)

    With the true labels, how often those are granted who would repay:

    >>> repaid = ["no", "no", "yes", "yes"] * 100
    >>> result = audit_decisions(
    ...     decided, repaid, sensitive_features=people[["sex"]], metric="true_positive_rate")
    >>> result.summary.data.rows, result.verdict.headline[:39]
    (200, 'Women are predicted “yes” 100.0 points ')
    """
    check_same_order(
        {
            "sensitive_features": sensitive_features,
            "y_pred": y_pred,
            "y_true": y_true,
            "other_features": other_features,
            "clusters": clusters,
        }
    )
    y_pred = column_of(y_pred, "y_pred")
    y_true = None if y_true is None else column_of(y_true, "y_true")
    sensitive = frame_of(sensitive_features, "sensitive_features")
    check_no_answers(sensitive, {"y_pred": y_pred, "y_true": y_true})
    frame = sensitive
    if other_features is not None:
        frame = with_other_features(frame, other_features)
    predictions = values_of(y_pred, "y_pred", rows=len(frame))
    check_present(int(predictions.isna().sum()), where="y_pred")
    truth = None
    if y_true is not None:
        truth = values_of(y_true, "y_true", rows=len(frame))
        predictions, truth = booleans_as_numbers(predictions, truth)
    keys = keys_of_units(clusters, frame, sensitive=sensitive.columns)
    frame, emptied = without_missing_texts(frame)
    frame, examples = with_numbers(frame)
    label = _label_name(y_true, y_pred, frame)
    answers = answers_among(frame, y_pred, y_true, but=list(sensitive.columns))
    notes: tuple[str, ...] = ()
    expression = parameters.get("rows")
    if expression is not None:
        chosen = positions_with(expression, frame)
        notes = (note_on_rows(expression, chosen=len(chosen), rows=len(frame)),)
        # What the columns are is guessed from these rows alone.
        frame = frame.iloc[chosen].reset_index(drop=True)
        check_sensitive_differ(frame, list(sensitive.columns), expression)
        predictions = predictions.iloc[chosen].reset_index(drop=True)
        truth = None if truth is None else truth.iloc[chosen].reset_index(drop=True)
        keys = None if keys is None else keys.iloc[chosen]
    if isinstance(clusters, str):
        # It says whom a row is about, and nothing about them.
        frame = frame.drop(columns=clusters)
    if truth is not None:
        check_known_classes(predictions, truth)
    guessed = infer_specification(
        frame,
        sensitive=list(sensitive.columns),
        label=label,
        labels=_known_classes(predictions, truth, favourable),
        name=name,
        favourable=favourable,
        outcome=outcome,
        features=features,
        examples=examples,
        answers=answers,
        emptied=emptied,
        has_units=keys is not None,
    )
    specification = guessed.specification
    rows = joined(frame, specification).assign(**{_PREDICTION: predictions})
    table = check_table(rows, specification, source=name, passed=(_PREDICTION,))
    table = replace(table, notes=(*guessed.notes, *notes), inferred=guessed.columns)
    if truth is not None:
        table = replace(table, labels=_truth(truth, specification.label))
    table = with_units(table, keys)
    called = str(getattr(y_pred, "name", None) or "predictions")
    model = PredictionColumn(_PREDICTION, label=specification.label, name=called)
    settings = audit_parameters(parameters, specification)
    check_one_run(settings, "predictions that exist are all counted, and equal in each run")
    table = table.limited(limit, settings.seed)
    findings = run_audit(LoadedModel(model), table, settings, progress=progress)
    return AuditResult(summarise(findings), findings)


def with_units(table: Table, keys: pd.Series[Any] | None) -> Table:
    """Return a table in which rows of one key are one unit, and whose description says so.

    Parameters
    ----------
    table : Table, n rows
    keys : pandas.Series or None, shape (n,)
        Whom each row is about; a row without a key is a unit of its own. None leaves the table as
        it is.

    Returns
    -------
    Table
    """
    if keys is None:
        return table
    declared = RowUnits(cluster=str(keys.name or "clusters"))
    specification = table.specification.model_copy(update={"data": declared})
    table = replace(table, specification=specification, clusters=cluster_numbers(keys))
    if (note := note_on_missing_keys(keys, declared.cluster)) is not None:
        table = replace(table, notes=(*table.notes, note))
    return table


def answers_among(
    frame: pd.DataFrame,
    y_pred: pd.Series[Any],
    y_true: pd.Series[Any] | None,
    *,
    but: Collection[str],
) -> dict[str, str]:
    """Return the columns that hold the predictions or the true labels, and which of the two.

    Parameters
    ----------
    frame : data frame, n rows
        All columns.
    y_pred, y_true : pandas.Series or None, shape (n,)
        The predictions, and the true labels if they are known.
    but : collection of str
        The sensitive features, which are not looked at.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"], "paid": [0, 1]})
    >>> answers_among(people, people["paid"], None, but=["sex"])
    {'paid': 'equal to the predictions'}
    """
    return {
        **dict.fromkeys(columns_of_values(frame, y_true, but=but), IS_LABEL),
        **dict.fromkeys(columns_of_values(frame, y_pred, but=but), IS_PREDICTION),
    }


def _known_classes(
    predictions: pd.Series[Any], truth: pd.Series[Any] | None, favourable: Any
) -> pd.Series[Any]:
    """Return the predictions, with the true labels if these may have classes of importance.

    A favourable class may be a true label that was never predicted, and so may be one of two
    classes.
    """
    if truth is None:
        return predictions
    several = isinstance(favourable, (list, tuple, set, frozenset)) or "," in str(favourable)
    predicted = set(map(category_text, predictions.unique()))
    is_unseen = favourable is not None and category_text(favourable) not in predicted
    if several or is_unseen or len(predicted) < 2:
        return classes_together(predictions, truth)
    return predictions


def _truth(values: pd.Series[Any], label: Label) -> pd.Series[Any]:
    """Return true labels as texts; they may have classes that were never predicted."""
    texts: pd.Series[Any] = values.astype(object).map(category_text, na_action="ignore")
    texts = renamed(texts, dict.fromkeys(label.together, label.favourable))
    seen = set(texts.dropna())
    # That no row has the favourable label is possible, if the others are known.
    if label.favourable not in seen and not (seen and seen <= set(label.values or ())):
        raise DataError(
            f"the favourable label {label.favourable!r} is not among the true labels "
            f"{', '.join(sorted(seen)[:8]) or 'none'}",
            where="y_true",
            remedy="write the true labels as the predictions are written",
        )
    return texts


def frame_of(columns: Any, what: str) -> pd.DataFrame:
    """Return features that a user gives as a data frame with names of text.

    Parameters
    ----------
    columns : data frame, series or mapping of str to array-like, n rows
        The features. A series without a name is called "group".
    what : str
        The parameter that an error names.

    Returns
    -------
    data frame, n rows
        A column a feature; rows are numbered anew.

    Raises
    ------
    DataError
        If they are no columns with names, or with names of several levels, or a lazy frame or a
        relation, whose rows have no fixed order, or there are no rows, or two have one name.

    Examples
    --------
    >>> frame_of({"sex": ["f", "m"], "age": [30, 40]}, "sensitive_features").columns.tolist()
    ['sex', 'age']
    """
    check_row_order(columns, where=what)
    frame = as_pandas(columns, where=what)
    if frame is None and isinstance(columns, Mapping):
        # By their position: pandas would join them by what they have as an index.
        parts = {
            name: values if (part := series_of(values)) is None else part.reset_index(drop=True)
            for name, values in columns.items()
        }
        _check_one_length(parts, what)
        frame = as_pandas(pd.DataFrame(parts))
    if frame is None and (series := series_of(columns)) is not None:
        frame = pd.DataFrame({str(series.name or "group"): series})
    if frame is None:
        raise DataError(
            f"they are a {type(columns).__name__}, not columns with names",
            where=what,
            remedy="give a data frame, a series, or a mapping of names to columns",
        )
    if not len(frame.columns):
        raise DataError("there are no columns", where=what, remedy="name at least one")
    check_one_level(frame, where=what)
    if frame.empty:
        raise DataError("there are no rows", where=what, remedy="give a row for each prediction")
    named = frame.rename(columns=str).reset_index(drop=True)
    check_distinct_names(named.columns, where=what)
    return named


def _check_one_length(parts: Mapping[str, Any], what: str) -> None:
    """Refuse series of several lengths, of which pandas would fill up the shorter ones."""
    rows = None
    for name, part in parts.items():
        if isinstance(part, pd.Series):
            rows = len(part) if rows is None else rows
            if len(part) != rows:
                raise other_length(f"{what}[{name!r}]", len(part), rows)


def with_other_features(frame: pd.DataFrame, other_features: Any) -> pd.DataFrame:
    """Return sensitive features beside others that a user gives; columns of both stay once.

    Parameters
    ----------
    frame : data frame, n rows
        The sensitive features.
    other_features : data frame, series or mapping of str to array-like, n rows
        The other features; of a column of the same name that of `frame` stays.

    Returns
    -------
    data frame, n rows
        All columns, the sensitive features first.

    Raises
    ------
    DataError
        If the others are no columns with names, or have another number of rows.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"]})
    >>> with_other_features(people, {"sex": ["?", "?"], "income": [1, 2]}).values.tolist()
    [['f', 1], ['m', 2]]
    """
    others = frame_of(other_features, "other_features")
    if len(others) != len(frame):
        raise other_length("other_features", len(others), len(frame))
    return pd.concat([frame, others.drop(columns=frame.columns, errors="ignore")], axis=1)


def _label_name(y_true: Any, y_pred: Any, frame: pd.DataFrame) -> str:
    """Return what the label is called: as a given series is, unless a feature is called so."""
    for values in (y_true, y_pred):
        name = str(getattr(values, "name", None) or "")
        if name and name not in frame:
            return name
    return "prediction"
