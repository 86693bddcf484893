"""An audit of a model or a file without a description: what the columns are is guessed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing.answer_columns import (
    IS_DECISION,
    IS_LABEL,
    check_no_answers,
    columns_of_values,
    decided_columns,
    spread_positions,
)
from testsgd.auditing.column_uses import check_columns, no_sensitive_feature
from testsgd.auditing.given_rows import (
    names_for_model,
    rows_of,
    with_known_cells,
    with_sensitive,
)
from testsgd.auditing.inputs import audit_parameters, check_asked_anew, chosen_rows
from testsgd.auditing.options import AuditOptions
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.predictions import audit_decisions, with_units
from testsgd.auditing.repeated_runs import audit_with_seeds, check_runs
from testsgd.auditing.report.summarise import summarise
from testsgd.auditing.result import AuditResult
from testsgd.auditing.run import run_audit
from testsgd.auditing.values import check_same_order, column_of, keys_of_units, values_of
from testsgd.data import (
    Table,
    category_text,
    check_row_order,
    check_table,
    infer_specification,
    read_frame,
)
from testsgd.data.cells import missing_column, shown_columns
from testsgd.data.classes import (
    LABELS_BESIDE,
    LABELS_LEFT_OUT,
    OTHER_COLUMN,
    classes_of_file,
)
from testsgd.data.missing_texts import with_texts_of_categories, without_missing_texts
from testsgd.data.table import EarlierAnswers
from testsgd.errors import ModelError, ParameterError, TestSGDError
from testsgd.io import sha256_of_file
from testsgd.models import (
    PROBE_ROWS,
    CallableModel,
    LoadedModel,
    Model,
    OpenedModel,
    adapted,
    check_has_classes,
    load_model,
    name_of_model,
    open_model,
)
from testsgd.models.answers import array_of_answers, no_answer, unfit_answers
from testsgd.models.blackbox import (
    ColumnFunction,
    KerasFunction,
    is_keras_model,
    named_columns,
    parameter_columns,
)
from testsgd.models.failures import listed_columns, model_failure
from testsgd.models.resolve import check_model_name, labels_of_network
from testsgd.parameters import show_parameters
from testsgd.progress import Counter, Progress

_LABEL = "label"


@show_parameters(AuditParameters)
def audit_undescribed(
    model: Any,
    data: Any,
    labels: Any = None,
    *,
    sensitive_features: Any,
    favourable: Any = None,
    outcome: str | None = None,
    threshold: float = 0.5,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    clusters: Any = None,
    trust_pickle: bool = False,
    name: str = "data",
    progress: Progress | None = None,
    **parameters: Unpack[AuditOptions],
) -> AuditResult:
    """Find the groups that a model treats differently, in rows without a description.

    Parameters
    ----------
    model : callable, estimator, str or path-like
        As for :func:`testsgd.audit`. One that does not name its columns gets all of `data`.
    data : data frame
        What the model takes; of a lazy frame of Polars or a relation of DuckDB the rows are
        fetched, if no labels stand beside them.
    labels : array-like, shape (n,), optional
        The true labels. Without them the classes are those that the model knows or says.
    sensitive_features : sequence of str, or data frame of n rows
        Names of columns, or columns that the model does not take.
    favourable : object, or list of these, optional
        The class whose rate is compared, or several together; if not given, 1, True, "yes" or the
        like.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given the label whose rate is compared; if not given it is
        taken for a benefit, and the report says so. The side that is worse off is named first.
    threshold : float
        A score above it counts as favourable.
    features : mapping of str to mapping, optional
        Parts of the description of features, in place of what is guessed.
    limit : int, optional
        Audit a random sample of this size, chosen by ``seed``.
    clusters : str or array-like, shape (n,), optional
        As for :func:`testsgd.audit`.
    trust_pickle : bool
        As for :func:`testsgd.audit`.
    name : str
        What the data are called in the report.
    progress : callable, optional
        As for :func:`testsgd.audit`.
    **parameters
        Those of :class:`testsgd.auditing.AuditParameters`.

    Returns
    -------
    AuditResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 100, "income": range(200)})
    >>> def grant(frame):
    ...     return np.where(frame["income"] > 100 + 50 * (frame["sex"] == "f"), "yes", "no")
    >>> result = audit_undescribed(grant, people, sensitive_features=["sex"])
    >>> result.distinct["text"].iloc[0]
    'sex = f'
    """
    asked, loaded, table = model_and_rows(
        model,
        data,
        labels,
        sensitive_features=sensitive_features,
        favourable=favourable,
        outcome=outcome,
        threshold=threshold,
        features=features,
        clusters=clusters,
        trust_pickle=trust_pickle,
        name=name,
        # What is wrong with these is said with the other parameters.
        batch_size=None if (size := parameters.get("batch_size")) is None else max(1, size),
        max_queries=most if isinstance(most := parameters.get("max_queries"), int) else None,
    )
    settings = audit_parameters(parameters, table.specification)
    check_asked_anew(asked, settings)
    table = chosen_rows(table, settings)
    table = table.limited(limit, settings.seed)
    check_runs(settings, rows=len(table))
    findings, runs = audit_with_seeds(
        lambda chosen, shown: run_audit(loaded, table, chosen, progress=shown), settings, progress
    )
    return AuditResult(summarise(findings, runs=runs), findings)


def model_and_rows(
    model: Any,
    rows: Any,
    labels: Any,
    *,
    sensitive_features: Any,
    favourable: Any,
    threshold: float,
    features: Mapping[str, Mapping[str, Any]] | None,
    trust_pickle: bool,
    name: str,
    outcome: str | None = None,
    clusters: Any = None,
    batch_size: int | None = None,
    max_queries: int | None = None,
    called: str | None = None,
    varied: bool = True,
    given_names: Mapping[str, Any] | None = None,
) -> tuple[Any, LoadedModel[Model], Table]:
    """Return what is asked, as a model, and its rows, with a description guessed from both.

    The parameters are those of :func:`audit_undescribed`, and so are the errors. `max_queries` is
    the budget of the audit, of which this is a part; None for any. `called` is what
    to call a model that was opened before; `varied`: whether features will be, so that the model is
    asked which of them are its own decisions; `given_names`: as :func:`names_for_model` returns
    them, if not those of `rows`.

    Returns
    -------
    asked : object
        The model that was given or opened, as it is asked for classes.
    loaded : LoadedModel
        The same as an audit asks it.
    table : Table
        The rows, with the sensitive features, the description, and what the model was asked.
    """
    if model is None:
        raise ParameterError(
            "there is no model: None is given",
            where="model",
            remedy="give a function of the rows, an estimator, or the path of a model's file; of "
            "predictions that exist, call audit_predictions(y_pred, y, sensitive_features=...)",
        )
    _check_row_orders(rows, labels=labels, sensitive_features=sensitive_features, clusters=clusters)
    labels = None if labels is None else column_of(labels, "y")
    given_rows = rows_of(rows)
    if given_names is None:
        given_names = names_for_model(model, rows)
    named = _named_model(model, called=called, trust_pickle=trust_pickle)
    model = named.model
    frame, sensitive = with_sensitive(given_rows, sensitive_features)
    keys = keys_of_units(clusters, frame, sensitive=sensitive)
    inputs = named_columns(model, given_rows.columns) or ()
    if isinstance(clusters, str) and clusters not in inputs:
        # It says whom a row is about, and nothing about them.
        frame = frame.drop(columns=clusters)
        given_rows = given_rows.drop(columns=clusters)
    inputs = inputs or tuple(given_rows.columns)
    read, emptied = without_missing_texts(frame)
    # A column of numbers and this text is one of numbers, for a model, too.
    frame = with_texts_of_categories(frame, read)
    given_rows = frame.iloc[:, : given_rows.shape[1]]
    name_of_label = _name_of_label(labels, frame)
    answer_columns: dict[str, str] = {}
    first = None
    if labels is not None:
        known = values_of(labels, "y", rows=len(frame))
        known.index = frame.index
        check_no_answers(frame[[item for item in sensitive if item in frame]], {"y": labels})
        answer_columns = dict.fromkeys(columns_of_values(frame, known, but=sensitive), IS_LABEL)
    else:
        known, first = _classes(model, given_rows, inputs, batch_size, max_queries, given_names)
        _check_several_classes(known, rows=len(frame), fitted=first is None)

    def described(answers: Mapping[str, str]) -> tuple[LoadedModel[Model], Table]:
        """Return the model and its rows; `answers` are columns that are no features."""
        guessed = infer_specification(
            frame,
            sensitive=sensitive,
            label=name_of_label,
            labels=known,
            name=name,
            favourable=favourable,
            outcome=outcome,
            inputs=inputs,
            features=features,
            answers=answers,
            emptied=emptied,
            has_units=keys is not None,
        )
        specification = guessed.specification
        # Where there are true labels, they say which labels there are.
        loaded = load_model(
            model,
            specification,
            favourable_given=favourable is not None and labels is None,
            threshold=threshold,
        )
        if named.called is not None:
            loaded.model.name = named.called
        if isinstance(loaded.model, CallableModel):
            loaded.model.given_names = given_names
        if named.file is not None:
            loaded = replace(loaded, file_sha256=sha256_of_file(named.file))
        if isinstance(loaded.model, CallableModel) and named_columns(model) is None:
            # It says nothing of its columns, so it gets those that it was given with.
            loaded.model.columns = loaded.model.columns or inputs
            passed = tuple(item for item in inputs if item not in specification.features)
            loaded = replace(loaded, passed=passed)
        rows_and_labels = frame
        if labels is not None:
            rows_and_labels = frame.assign(**{name_of_label: known})
        table = check_table(rows_and_labels, specification, source=name, passed=loaded.passed)
        table = replace(table, notes=guessed.notes, inferred=guessed.columns)
        return loaded, with_units(table, keys)

    loaded, table = described(answer_columns)
    answers = np.full(len(table), -1, dtype=np.int8)
    asked = 0
    if first is not None:
        asked = len(first.positions)
        answers[first.positions] = first.decisions(loaded.model, table)
    decided: tuple[str, ...] = ()
    # What a model names is what it was trained with: one such column may decide by itself.
    if varied and named_columns(model, given_rows.columns) is None:
        decided, further = decided_columns(loaded.model, table, answers, batch_size, max_queries)
        asked += further
    if decided:
        once_more, table = described({**answer_columns, **dict.fromkeys(decided, IS_DECISION)})
        # The model that was asked knows already what its answers are.
        loaded = replace(once_more, model=loaded.model)
    earlier = EarlierAnswers(loaded.model, answers, asked)
    return model, loaded, replace(table, earlier=earlier)


def _check_row_orders(rows: Any, *, labels: Any, sensitive_features: Any, clusters: Any) -> None:
    """Refuse rows without an order, or in another one, beside what is given for each row."""
    beside = {"y": labels, "clusters": None if isinstance(clusters, str) else clusters}
    given = {name: values for name, values in beside.items() if values is not None}
    has_columns = not isinstance(sensitive_features, (str, Sequence))
    if given or has_columns:
        check_row_order(rows, where="data", of_model=True)
    for name, values in given.items():
        check_row_order(values, where=name, of_model=True)
        check_same_order({"data": rows, name: values})


@dataclass(frozen=True)
class _NamedModel:
    """A model as it is asked, and what it is called."""

    model: Any
    called: str | None  # None if it was given as an object.
    file: Path | None  # The one that it was read from.


def _named_model(model: Any, *, called: str | None, trust_pickle: bool) -> _NamedModel:
    """Return a model that is given, or opened by its name, if it has classes.

    `called`: what to call one that is given as an object.
    """
    file = None
    if isinstance(model, OpenedModel):
        # It was opened to read the rows.
        called = model.name
        file = model.file
        model = model.model
    elif isinstance(model, (str, Path)):
        called = str(model)
        opened = open_model(model, trust_pickle=trust_pickle)
        if opened is None:
            check_model_name(model)
        else:
            model = opened.model
            file = opened.file
            called = called if file is not None else opened.name
    model = adapted(model)
    check_has_classes(model, called or name_of_model(model))
    return _NamedModel(model, called, file)


def _name_of_label(labels: pd.Series[Any] | None, frame: pd.DataFrame) -> str:
    """Return what to call the label beside the columns of a frame."""
    name = str(getattr(labels, "name", None) or _LABEL)
    if name not in frame:
        return name
    # What is computed from a column keeps its name.
    return f"{_LABEL} of {name}" if _LABEL in frame else _LABEL


@dataclass(frozen=True)
class _FirstAnswers:
    """What a model predicted of rows before it was known which classes there are."""

    positions: NDArray[np.intp]  # Of the rows; shape (m,).
    rows: pd.DataFrame  # What it was given.
    predictions: NDArray[Any]  # Shape (m,).

    def decisions(self, model: Model, table: Table) -> NDArray[np.int8]:
        """Return its decisions about the rows of a table, shape (m,); -1 where these are others."""
        if isinstance(model, CallableModel):
            rows = table.frame.iloc[self.positions]
            given = model.given(rows).reset_index(drop=True)
            # The cells of a checked table may have other types.
            if given.equals(self.rows.reset_index(drop=True)):
                return model.decisions_of(self.predictions, rows).astype(np.int8)
        return np.full(len(self.positions), -1, dtype=np.int8)


def audit_file(
    path: Path | str,
    *,
    sensitive_features: Sequence[str],
    predictions: str | None = None,
    model: Any = None,
    label: str | None = None,
    encoding: str | None = None,
    trust_pickle: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> AuditResult:
    """Audit a file of rows without a description: its predictions, or a model's.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    sensitive_features : sequence of str
        Names of columns.
    predictions : str, optional
        The column with predictions.
    model : callable, estimator, str or path-like, optional
        A model, in place of predictions.
    label : str, optional
        The column with the true labels.
    encoding : str, optional
        As for :func:`testsgd.data.read_frame`.
    trust_pickle : bool
        Whether a pickled file may be read as the model, which runs the code that is in it.
    progress : callable, optional
        As for :func:`testsgd.audit`.
    **options
        Those of :func:`audit_decisions` or of :func:`audit_undescribed`.

    Returns
    -------
    AuditResult

    Raises
    ------
    ParameterError
        If there are neither predictions nor a model, or both, or a column is not in the file.
    TestSGDError
        As for :func:`testsgd.audit`.
    """
    frame = read_frame(Path(path), encoding=encoding)
    if (predictions is None) == (model is None):
        both = (
            "both predictions and a model are"
            if model is not None
            else "no predictions and no model are"
        )
        columns = shown_columns(frame.columns)
        raise ParameterError(
            f"{both} given",
            where=str(path),
            remedy=f"name the column of the predictions, or a model; the columns are {columns}",
        )
    # Of a model's rows the sensitive features are checked with all other columns.
    known = sensitive_features if predictions is not None else ()
    named = {"predictions": predictions, "label": label}
    check_columns(frame, named, known)
    if not sensitive_features:
        raise no_sensitive_feature(frame, named)
    answers = [item for item in (predictions, label) if item is not None]
    if predictions is None:
        frame, model = with_known_cells(
            frame,
            Path(path),
            model,
            answers=answers,
            encoding=encoding,
            trust_pickle=trust_pickle,
        )
    name = Path(path).name.partition(".")[0]
    labels = None if label is None else frame[label]
    features = frame.drop(columns=answers)
    if predictions is None:
        with classes_of_file(f"{path}, column {label!r}", instead=LABELS_LEFT_OUT):
            return audit_undescribed(
                model,
                features,
                labels,
                sensitive_features=sensitive_features,
                trust_pickle=trust_pickle,
                name=name,
                progress=progress,
                **options,
            )
    instead = LABELS_BESIDE if label is None else OTHER_COLUMN
    with classes_of_file(f"{path}, column {predictions!r}", instead=instead):
        return audit_decisions(
            frame[predictions],
            labels,
            sensitive_features=features[list(sensitive_features)],
            other_features=features,
            name=name,
            progress=progress,
            **options,
        )


def _classes(
    model: Any,
    rows: pd.DataFrame,
    inputs: Sequence[str],
    batch_size: int | None,
    max_queries: int | None,
    given_names: Mapping[str, Any],
) -> tuple[pd.Series[Any], _FirstAnswers | None]:
    """Return the classes that a model lists or predicts; `no` and `yes` if it gives scores.

    A text is the name of a network of testsgd's own, which knows its labels. The second is what the
    model answered, if it had to be asked.
    """
    if isinstance(model, (str, Path)):
        labels = labels_of_network(model)
        return pd.Series([labels.negative, labels.positive]), None
    known = getattr(model, "classes_", None)
    if known is not None:
        return pd.Series(list(np.ravel(known))), None
    positions = spread_positions(len(rows), len(rows), max_queries)
    chosen = rows.iloc[positions]
    predictions = predictions_of_model(
        model, chosen, inputs, batch_size=batch_size, given_names=given_names
    )
    if (missing := predictions.isna().to_numpy()).any():
        what, remedy = no_answer(int(positions[np.flatnonzero(missing)[0]]))
        raise ModelError(what, where="model", remedy=remedy)
    first = _FirstAnswers(positions, chosen[list(inputs)], predictions.to_numpy())
    is_score = pd.api.types.is_float_dtype(predictions.dtype)
    return pd.Series(["no", "yes"] if is_score else list(predictions)), first


def _check_several_classes(answers: pd.Series[Any], *, rows: int, fitted: bool) -> None:
    """Raise an error if what a model answered about some of the rows, or all, is of one class.

    `fitted`: they are no answers, but the classes that it was fitted to.
    """
    if answers.nunique() != 1:
        return
    if fitted:
        raise ParameterError(
            f"the model was fitted to one class only: {category_text(answers.iloc[0])!r}",
            where="model",
            remedy="give one that was fitted to rows of several",
        )
    asked = len(answers)
    of_rows = f"{asked:,} of the {rows:,} rows" if asked < rows else f"all {rows:,} rows"
    enough = rows + min(PROBE_ROWS, rows)
    instead = (
        f"allow {enough:,} queries, enough for all rows (--max-queries, max_queries=)"
        if asked < rows
        else "give rows about which it answers otherwise"
    )
    raise ParameterError(
        f"the model answered {category_text(answers.iloc[0])!r} about {of_rows}, and without "
        "labels its answers say which classes there are",
        where="model",
        remedy=f"{instead}, or give true labels that have several classes (--label, y)",
    )


def predictions_of_model(
    model: Any,
    rows: pd.DataFrame,
    inputs: Sequence[str],
    *,
    batch_size: int | None = None,
    counter: Counter | None = None,
    given_names: Mapping[str, Any] | None = None,
) -> pd.Series[Any]:
    """Return what a model predicts of rows, as it is: classes, scores or numbers.

    Parameters
    ----------
    model : callable or object with ``predict``
        As :func:`testsgd.models.adapted` returns it.
    rows : data frame, n rows
        With the columns that the model takes.
    inputs : sequence of str
        The names of these columns, in the model's order.
    batch_size : int, optional
        The most rows in one call; all at once if not given.
    counter : Counter, optional
        It counts the rows that were asked about.
    given_names : mapping of str to object, optional
        As :func:`names_for_model` returns them.

    Returns
    -------
    pandas.Series, shape (n,)

    Raises
    ------
    ParameterError
        If it is not a callable and has no ``predict``, or a column is missing.
    ModelError
        If it raises an error.

    Examples
    --------
    >>> people = pd.DataFrame({"years": [2, 5]})
    >>> predictions_of_model(lambda frame: 1000 * frame["years"], people, ["years"]).tolist()
    [2000, 5000]
    """
    called = model.predict if hasattr(model, "predict") else model
    if is_keras_model(model):
        called = KerasFunction(model)
    if not callable(called):
        raise ModelError(
            f"a {type(model).__name__} is no model",
            where="model",
            remedy="give a function of the rows, or an object with predict",
        )
    for column in inputs:
        if column not in rows:
            raise missing_column(column, rows.columns, "the data", for_model=True)
    if columns := parameter_columns(called, inputs):
        called = ColumnFunction(called, columns)
    size = batch_size or len(rows)
    predicted = []
    try:
        for start in range(0, len(rows), size):
            batch = rows[list(inputs)].iloc[start : start + size]
            with contextlib.nullcontext() if counter is None else counter.asking(len(batch)):
                returned = called(batch.rename(columns=given_names or {}).copy())
                answers = array_of_answers(returned)
            if answers.size == len(batch):
                answers = answers.ravel()
            misfit = unfit_answers(answers, asked=len(batch))
            if misfit is not None:
                what, remedy = misfit
                raise ModelError(what, where="model", remedy=remedy)
            predicted.append(answers)
        return pd.Series(np.concatenate(predicted))
    except TestSGDError:
        raise
    except Exception as error:
        raise model_failure(
            error,
            where="model",
            takes=f"a data frame with the columns {listed_columns(inputs)}",
            columns=inputs,
        ) from error
