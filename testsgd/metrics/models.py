"""An audit of a model by metrics: it is asked about all rows, and its predictions are compared."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import (
    IS_DECISION,
    IS_LABEL,
    check_model_first,
    check_no_answers,
    check_same_order,
    check_sensitive_differ,
    column_of,
    columns_of_decisions,
    columns_of_values,
    find_model_and_table,
    model_and_rows,
    names_for_model,
    note_on_rows,
    positions_with,
    predictions_of_model,
    rows_of,
    values_of,
    with_sensitive,
)
from testsgd.auditing.report.summary import UnknownCategories
from testsgd.data import (
    Label,
    Table,
    TextSpecification,
    category_text,
    check_count,
    check_row_order,
    drawn_positions,
    resolve_specification,
)
from testsgd.data.cells import missing_column
from testsgd.data.classes import classes_of, favourable_class, guess_among
from testsgd.data.missing_texts import with_texts_of_categories, without_missing_texts
from testsgd.errors import ModelError, ParameterError
from testsgd.io import sha256_of_file
from testsgd.metrics.asking import answered, asks_for_scores
from testsgd.metrics.definitions import (
    Floats,
    asks_for_numbers,
    needs_favourable,
    resolve_metrics,
)
from testsgd.metrics.given_predictions import are_numbers, read_predictions
from testsgd.metrics.options import MetricOptions
from testsgd.metrics.parameters import MetricParameters
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.report.summary import AskedModel, MetricsVerdict
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.shared_steps import (
    WITHOUT_METRICS,
    Wanted,
    audited,
    check_rows_are_units,
    settings_of,
    table_of,
    with_rule,
)
from testsgd.models import (
    CallableModel,
    CheckedFunction,
    Model,
    OpenedModel,
    adapted,
    as_numbers,
    has_probabilities,
    is_of_numbers,
    name_of_model,
    open_model,
)
from testsgd.models.answers import DEFAULT_THRESHOLD, no_answer, no_scores
from testsgd.models.blackbox import (
    check_column_count,
    may_have_encoders,
    named_columns,
    positional_width,
)
from testsgd.parameters import show_parameters
from testsgd.progress import Counter, Progress, named, shown_progress
from testsgd.sampling import BATCH_ROWS


@show_parameters(MetricParameters)
def audit_model_by_metrics(
    model: Any,
    data: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    metrics: Wanted | None = None,
    sample_weight: Any = None,
    rule: Literal["four-fifths"] | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    trust_pickle: bool = False,
    name: str = "data",
    progress: Progress | bool | None = None,
    **parameters: Unpack[MetricOptions],
) -> MetricsResult:
    """Ask a model about rows, and compare metrics of its predictions over all groups.

    A model of numbers, such as a regression, is compared by its means and errors, and with a
    threshold by the share above it.

    Parameters
    ----------
    model : callable, estimator, str or path-like
        As for :func:`testsgd.audit`.
    data : data frame, n rows
        What the model takes.
    y : array-like, shape (n,), optional
        The true labels, or numbers where the model predicts numbers.
    sensitive_features : sequence of str, or data frame of n rows
        Names of columns, or columns that the model does not take.
    metrics : str, callable, or a sequence of these, optional
        As for :func:`testsgd.audit_metrics`. For those of scores a classifier is asked for the
        probability of the favourable label.
    sample_weight : array-like, shape (n,), optional
        Weights of the rows.
    rule : {"four-fifths"}, optional
        As for :func:`testsgd.audit_metrics`.
    favourable : object, optional
        The class whose rate is compared; if not given, 1, True, "yes" or the like.
    outcome : {"benefit", "harm", "neither"}, optional
        As for :func:`testsgd.audit_predictions`.
    threshold : float, optional
        A score or number above it counts as favourable; 0.5 for scores if not given.
    features : mapping of str to mapping, optional
        Parts of the description of features, in place of what is guessed.
    limit : int, optional
        Ask about a random sample of this size, chosen by ``seed``.
    trust_pickle : bool
        As for :func:`testsgd.audit`.
    name : str
        What the data are called in the report.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **parameters
        Those of :class:`testsgd.metrics.MetricParameters`, such as ``reference`` or ``measure``.

    Returns
    -------
    MetricsResult

    Raises
    ------
    TestSGDError
        As for :func:`testsgd.audit` and :func:`testsgd.audit_metrics`.

    Examples
    --------
    A regression, and how far its salaries are from the true ones:

    >>> people = pd.DataFrame({"sex": ["f", "m"] * 500, "years": np.arange(1000) % 40})
    >>> salary = 30.5 + people["years"]
    >>> def predict(rows):
    ...     return 30.5 + rows["years"] - 2.0 * (rows["sex"] == "f")
    >>> result = audit_model_by_metrics(
    ...     predict, people, salary, sensitive_features=["sex"], metrics="mean_error")
    >>> result.groups["text"].iloc[0], result.groups["effect"].iloc[0].item()
    ('sex = f', -2.0)
    """
    started = time.perf_counter()
    check_model_first(model, data, "audit_model_by_metrics(model, rows, ...)")
    for beside, where in ((y, "y"), (sample_weight, "sample_weight")):
        check_row_order(beside, where=where, of_model=True)
    check_same_order({"data": data, "y": y, "sample_weight": sample_weight})
    y = None if y is None else column_of(y, "y")
    if y is not None or sample_weight is not None or not isinstance(sensitive_features, Sequence):
        check_row_order(data, where="data", of_model=True)
    given = rows_of(data)
    check_count("limit", limit, 1)
    rows, sensitive = with_sensitive(given, sensitive_features)
    inputs = len(given.columns)
    # A column of numbers and the text "missing" is one of numbers, for the model, too.
    rows = with_texts_of_categories(rows, without_missing_texts(rows)[0]).reset_index(drop=True)
    given = rows.iloc[:, :inputs]
    for column in sensitive:
        if column not in rows:
            raise missing_column(column, rows.columns, "the data")
    check_no_answers(rows[list(sensitive)], {"y": y, "sample_weight": sample_weight})
    settings = settings_of(parameters, rule=rule, outcome=outcome)
    expression = settings.rows
    satisfying = np.arange(len(rows))
    if expression is not None:
        satisfying = positions_with(expression, rows)
        check_sensitive_differ(rows.iloc[satisfying], list(sensitive), expression)
    # The model is asked about no others.
    chosen = satisfying
    if limit is not None:
        chosen = satisfying[drawn_positions(len(satisfying), limit, settings.seed)]
    rows = rows.iloc[chosen].reset_index(drop=True)
    labels = None if y is None else _chosen(y, chosen, where="y", rows=len(given))
    weights = sample_weight
    if sample_weight is not None:
        weights = _chosen(sample_weight, chosen, where="sample_weight", rows=len(given))
    opened = None
    called = None
    if isinstance(model, OpenedModel):
        # It was opened to read the rows.
        opened = model
        called = opened.name
    elif isinstance(model, (str, Path)):
        opened = open_model(model, trust_pickle=trust_pickle)
        if opened is not None:
            called = opened.name if opened.file is None else str(model)
    asked = adapted(model if opened is None else opened.model)
    with shown_progress(progress) as reporter:
        answers = _ask(
            asked,
            given.iloc[chosen].reset_index(drop=True),
            labels,
            sensitive_features=rows[list(sensitive)] if len(rows.columns) > inputs else sensitive,
            metrics=metrics,
            favourable=favourable,
            threshold=threshold,
            features=features,
            trust_pickle=trust_pickle,
            name=name,
            called=called,
            counter=Counter(named("asking about rows", reporter), len(rows)),
            given_names=names_for_model(model, data),
        )
        read = read_predictions(
            answers.predictions,
            answers.labels,
            rows=len(rows),
            sample_weight=weights,
            favourable=answers.favourable,
            threshold=threshold,
            as_numbers=asks_for_numbers(metrics),
            as_scores=answers.are_scores,
            scores=answers.scores,
            with_favourable=answers.with_favourable,
        )
        table = table_of(
            rows[list(sensitive)],
            other_features=rows,
            features=features,
            name=name,
            answers=_answer_columns(rows, labels, read, others=answers.others, but=sensitive),
        )
        notes = [item for item in (read.guess, read.codes, *answers.notes) if item is not None]
        if expression is not None:
            notes.append(note_on_rows(expression, chosen=len(satisfying), rows=len(given)))
        if len(chosen) < len(satisfying):
            notes.append(
                f"a sample of {len(chosen):,} of the {len(satisfying):,} rows, drawn with seed "
                f"{settings.seed}"
            )
            table = replace(table, sampled_from=len(satisfying))
        result = audited(
            replace(table, notes=(*table.notes, *notes)),
            read,
            settings,
            metrics=with_rule(metrics, rule),
            label=str(getattr(y, "name", None) or "prediction"),
            started=started,
            outcome=outcome,
            progress=reporter,
        )
    file = None if opened is None else opened.file
    return _of_model(
        result,
        name=answers.called,
        file_sha256=None if file is None else sha256_of_file(file),
        queries=answers.queries,
        together=answers.together,
        others=answers.others,
        unknown=_unknown_categories(asked, given.iloc[chosen]),
    )


@show_parameters(MetricParameters)
def audit_described_by_metrics(
    model: Any = None,
    data: Any = None,
    spec: Any = None,
    *,
    metrics: Wanted | None = None,
    rule: Literal["four-fifths"] | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    threshold: float | None = None,
    limit: int | None = None,
    trust_pickle: bool = False,
    progress: Progress | bool | None = None,
    **parameters: Unpack[MetricOptions],
) -> MetricsResult:
    """Ask a model about rows with a description, and compare metrics of its decisions.

    Parameters
    ----------
    model, data, spec, limit, trust_pickle, progress
        As for :func:`testsgd.audit` of rows with a description.
    metrics, rule
        As for :func:`testsgd.audit_model_by_metrics`.
    favourable : object, or list of these, optional
        The label whose rate is compared, in place of the description's.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given that label, in place of the description's.
    threshold : float, optional
        A score above it counts as favourable; 0.5 if not given.
    **parameters
        Those of :class:`testsgd.metrics.MetricParameters`, such as ``reference`` or ``measure``.

    Returns
    -------
    MetricsResult

    Raises
    ------
    TestSGDError
        As for :func:`testsgd.audit` and :func:`testsgd.audit_metrics`; also if the description is
        of texts, or names a cluster.

    Examples
    --------
    >>> result = audit_described_by_metrics(spec="demo", metrics="selection_rate,accuracy")
    >>> [metric.name for metric in result.summary.metrics]
    ['selection_rate', 'accuracy']
    """
    started = time.perf_counter()
    specification = resolve_specification(spec, favourable=favourable, outcome=outcome)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} has texts, and metrics are of rows",
            where="metrics",
            remedy="leave them out",
        )
    check_rows_are_units(specification, remedy=WITHOUT_METRICS)
    if specification.label.outcome_given:
        outcome = specification.label.outcome
    settings = settings_of(parameters, rule=rule, outcome=outcome)
    check_count("limit", limit, 1)
    loaded, table = find_model_and_table(
        model,
        data,
        specification,
        favourable_given=favourable is not None,
        threshold=DEFAULT_THRESHOLD if threshold is None else threshold,
        limit=None if settings.rows is not None else limit,
        seed=settings.seed,
        trust_pickle=trust_pickle,
    )
    if isinstance(loaded.model, CheckedFunction):
        # Its scores are cut here: it may give labels, and probabilities beside them.
        loaded = replace(loaded, model=loaded.model.with_threshold(DEFAULT_THRESHOLD))
    if settings.rows is not None:
        chosen = positions_with(settings.rows, table.frame)
        note = note_on_rows(settings.rows, chosen=len(chosen), rows=len(table))
        table = replace(table.take(chosen), notes=(*table.notes, note))
        table = table.limited(limit, settings.seed)
    label = specification.label
    with shown_progress(progress) as reporter:
        counter = Counter(named("asking about rows", reporter), len(table))
        with_classes = compares_classes(metrics, label)
        if with_classes and label.together:
            raise classes_are_joined(label)
        asked = answered(
            loaded.model,
            table,
            counter,
            metrics=metrics,
            threshold=threshold,
            classes=with_classes,
        )
        if threshold is not None and not asked.are_scores and loaded.model.threshold is None:
            raise no_scores(threshold)
        classes = None
        if with_classes and table.labels is not None and loaded.model.output == "labels":
            classes = table.labels
        if (unknown := _note_on_unknown(loaded.model)) is not None:
            table = replace(table, notes=(*table.notes, unknown))
        result = audited(
            table,
            read_predictions(
                asked.predictions,
                None if table.labels is None else _true_classes(table, loaded.model, classes),
                rows=len(table),
                favourable=label.favourable,
                threshold=threshold if asked.are_scores else None,
                as_scores=asked.are_scores,
                scores=asked.scores,
            ),
            settings,
            metrics=with_rule(metrics, rule),
            label=label.column,
            started=started,
            outcome=outcome,
            progress=reporter,
        )
    return _of_model(
        result,
        name=loaded.model.name,
        file_sha256=loaded.file_sha256,
        queries=asked.queries,
        together=label.together,
        others=_other_labels(loaded.model, label),
        unknown=_unknown_categories(
            loaded.origin,
            table.frame,
            loaded.model.columns if isinstance(loaded.model, CallableModel) else None,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """What a model says of rows, with their labels in the same words."""

    predictions: pd.Series[Any]  # Classes, scores or numbers; shape (n,).
    are_scores: bool = False  # They are scores, whatever their values; else the values show it.
    scores: Floats | None = None  # The scores beside classes, shape (n,).
    queries: int  # How many rows it was asked about.
    labels: pd.Series[Any] | None
    favourable: Any  # The class whose rate is compared, as far as it is known.
    with_favourable: bool = True  # Whether there must be one.
    together: tuple[str, ...] = ()  # The classes that it is made of, if they are several.
    # All other classes; None: those of the predictions and labels.
    others: tuple[str, ...] | None = None
    notes: tuple[str | None, ...] = ()  # What is to be said of these answers.
    called: str  # The model's name.


def _ask(
    model: Any,
    rows: pd.DataFrame,
    labels: pd.Series[Any] | None,
    *,
    sensitive_features: Any,
    metrics: Wanted | None,
    favourable: Any,
    threshold: float | None,
    features: Mapping[str, Mapping[str, Any]] | None,
    trust_pickle: bool,
    name: str,
    called: str | None,
    counter: Counter,
    given_names: Mapping[str, Any],
) -> _Answers:
    """Ask a model about all rows; the parameters are those of :func:`audit_model_by_metrics`.

    `called`: what to call a model that was opened; None for one that is given.
    """
    is_about_numbers = _is_about_numbers(metrics, labels)
    if is_about_numbers:
        model = as_numbers(model)
    with_scores = threshold is not None or asks_for_scores(metrics)
    of_file = with_scores and not is_about_numbers and has_probabilities(model)
    if not of_file and _is_taken_as_it_is(model, labels, is_about_numbers=is_about_numbers):
        width = positional_width(model)
        if width is not None:
            check_column_count(rows, width=width, taker="the model")
        predictions = predictions_of_model(
            model,
            rows,
            named_columns(model, rows.columns) or tuple(rows.columns),
            batch_size=BATCH_ROWS,
            counter=counter,
            given_names=given_names,
        )
        if (missing := predictions.isna().to_numpy()).any():
            what, remedy = no_answer(int(np.flatnonzero(missing)[0]))
            raise ModelError(what, where="model", remedy=remedy)
        return _Answers(
            predictions=predictions,
            queries=len(rows),
            labels=labels,
            favourable=favourable,
            called=called or name_of_model(model),
        )
    any_class = None
    if favourable is None and threshold is None and labels is not None:
        any_class = _any_class(metrics, labels)
    _, loaded, table = model_and_rows(
        model,
        rows,
        labels,
        sensitive_features=sensitive_features,
        favourable=favourable if any_class is None else any_class,
        threshold=DEFAULT_THRESHOLD,
        features=features,
        trust_pickle=trust_pickle,
        name=name,
        called=called,
        varied=False,
        given_names=given_names,
    )
    label = table.specification.label
    with_classes = compares_classes(metrics, label)
    asked = answered(
        loaded.model,
        table,
        counter,
        metrics=metrics,
        threshold=threshold,
        classes=with_classes,
    )
    if threshold is not None and not asked.are_scores:
        raise no_scores(threshold)
    if any_class is not None and labels is not None and loaded.model.output != "labels":
        # Scores are of a certain class.
        favourable_class(classes_of(labels), None)
    classes = None
    if with_classes and labels is not None and loaded.model.output == "labels":
        classes = labels.map(category_text, na_action="ignore")
    return _Answers(
        predictions=asked.predictions,
        are_scores=asked.are_scores,
        scores=asked.scores,
        queries=asked.queries,
        labels=None if labels is None else _true_classes(table, loaded.model, classes),
        favourable=None if any_class is not None else _favourable(label, classes),
        with_favourable=any_class is None,
        together=label.together,
        others=None if any_class is not None else _other_labels(loaded.model, label),
        notes=(guess_among(table.notes), _note_on_unknown(loaded.model)),
        called=loaded.model.name,
    )


def _any_class(metrics: Wanted | None, labels: pd.Series[Any]) -> str | None:
    """Return a class to ask a model for, if no metric is about a favourable one.

    Only of more than two classes, which are compared themselves.
    """
    if needs_favourable(metrics):
        return None
    classes = classes_of(labels)
    return classes[0] if len(classes) > 2 else None


def _favourable(label: Label, classes: pd.Series[Any] | None) -> str | list[str]:
    """Return the favourable class, or several if the `classes` are compared themselves."""
    return list(label.together) if classes is not None and label.together else label.favourable


def _answer_columns(
    rows: pd.DataFrame,
    labels: pd.Series[Any] | None,
    read: Predictions,
    *,
    others: Sequence[str] | None,
    but: Sequence[str],
) -> dict[str, str]:
    """Return the columns of rows that hold the true labels or the decisions, and which of the two.

    `others`: the labels that are not favourable, if they are known; `but`: the sensitive features.
    """
    decided: Sequence[str] = ()
    if read.decisions is not None and read.favourable_labels:
        decided = columns_of_decisions(
            rows,
            read.decisions,
            favourable=read.favourable_labels,
            others=read.other_labels if others is None else others,
            but=but,
        )
    elif read.decisions is not None:
        decided = columns_of_values(rows, pd.Series(read.given), but=but)
    of_labels = columns_of_values(rows, labels, but=but)
    return dict.fromkeys(decided, IS_DECISION) | dict.fromkeys(of_labels, IS_LABEL)


def _of_model(
    result: MetricsResult,
    *,
    name: str,
    file_sha256: str | None,
    queries: int,
    together: tuple[str, ...],
    others: tuple[str, ...] | None,
    unknown: list[UnknownCategories],
) -> MetricsResult:
    """Return the result of an audit of predictions as one of the model that was asked for them.

    `together` are the classes that the favourable one is made of, if they are several; `others`
    take the place of the other classes; `unknown` are cells that its encoders were not fitted to.
    """
    model = AskedModel(
        name=name, file_sha256=file_sha256, queries=queries, unknown_categories=unknown
    )
    label = result.summary.data.label
    if together:
        label = label.model_copy(update={"together": list(together)})
    if others is not None:
        label = label.model_copy(update={"others": list(others)})
    data = result.summary.data.model_copy(update={"predictions_given": False, "label": label})
    verdict = _with_unknown_categories(result.summary.verdict, unknown)
    summary = result.summary.model_copy(update={"model": model, "data": data, "verdict": verdict})
    return MetricsResult(summary, result.findings, joined_by=result.joined_by)


def _chosen(values: Any, chosen: NDArray[np.intp], *, where: str, rows: int) -> pd.Series[Any]:
    """Return the labels or weights of the chosen rows."""
    return values_of(values, where, rows=rows).iloc[chosen].reset_index(drop=True)


def _is_taken_as_it_is(
    model: Any, labels: pd.Series[Any] | None, *, is_about_numbers: bool
) -> bool:
    """Return whether a model's predictions say themselves what they are.

    If not they are read as the favourable class of the labels, or another. `is_about_numbers`:
    whether a metric is of numbers, so that they are no classes.
    """
    if isinstance(model, (str, Path)) or _has_classes(model):
        return False
    return labels is None or is_of_numbers(model) or are_numbers(labels) or is_about_numbers


def _has_classes(model: Any) -> bool:
    """Return whether a model says which labels it predicts; a regression of CatBoost says none."""
    classes = getattr(model, "classes_", None)
    return classes is not None and (not hasattr(classes, "__len__") or len(classes) > 0)


def _is_about_numbers(metrics: Wanted | None, labels: pd.Series[Any] | None) -> bool:
    """Return whether a metric is of numbers, or the true labels are numbers."""
    return asks_for_numbers(metrics) or (labels is not None and are_numbers(labels))


def compares_classes(metrics: Wanted | None, label: Label) -> bool:
    """Return whether a metric compares the classes themselves, and these are more than two.

    Examples
    --------
    >>> label = Label(column="paid", favourable="yes", values=["no", "yes", "later"])
    >>> compares_classes("accuracy", label), compares_classes("selection_rate", label)
    (True, False)
    """
    if metrics is None or len(label.others) + max(1, len(label.together)) <= 2:
        return False
    return any(item.of_classes for item in resolve_metrics(metrics))


def classes_are_joined(label: Label) -> ParameterError:
    """Return the error of a metric of classes where a description reads several as one."""
    return ParameterError(
        "accuracy compares the classes themselves, and "
        f"{', '.join(label.together)} are read as one",
        where="metrics",
        remedy="name one favourable label, or other metrics",
    )


def _other_labels(model: Model, label: Label) -> tuple[str, ...]:
    """Return the labels of the data and of a model that are not favourable."""
    unknown = model.unknown if isinstance(model, CheckedFunction) else ()
    return tuple(dict.fromkeys((*label.others, *unknown)))


def _note_on_unknown(model: Model) -> str | None:
    """Return the note on labels that a model gave and the data do not have; None without any."""
    unknown = model.unknown if isinstance(model, CheckedFunction) else ()
    if not unknown:
        return None
    listed = ", ".join(unknown[:8])
    return f"predictions that are no true label, each a class of its own: {listed}"


def _unknown_categories(
    model: Any, rows: pd.DataFrame, columns: Sequence[str] | None = None
) -> list[UnknownCategories]:
    """Return the cells that a model's encoders were not fitted to; none if it has no encoders."""
    if not may_have_encoders(model):
        return []
    # Imported here: most models have no encoder that can be read.
    from testsgd.auditing.report.unknown_categories import unknown_categories

    return unknown_categories(model, rows, columns)


def _with_unknown_categories(
    verdict: MetricsVerdict, unknown: Sequence[UnknownCategories]
) -> MetricsVerdict:
    """Return a verdict that begins with the cells that encoders were not fitted to."""
    if not unknown:
        return verdict
    from testsgd.auditing.report.unknown_categories import unknown_category_sentences

    sentences = [*unknown_category_sentences(unknown), *verdict.sentences]
    return verdict.model_copy(update={"sentences": sentences})


def _true_classes(table: Table, model: Model, classes: pd.Series[Any] | None) -> pd.Series[Any]:
    """Return the true labels as the favourable class and all others; missing ones stay so.

    If the `classes` themselves are compared, they are these, with those that a model has and the
    data have not.
    """
    if classes is not None:
        unknown = model.unknown if isinstance(model, CheckedFunction) else ()
        listed = classes.dtype.categories if isinstance(classes.dtype, pd.CategoricalDtype) else ()
        known = dict.fromkeys([*classes.dropna().unique(), *listed, *unknown])
        return pd.Series(pd.Categorical(classes, categories=list(known)), index=classes.index)
    labels = table.labels
    assert labels is not None
    favourable = table.specification.label.favourable
    decided = (labels == favourable).map({True: favourable, False: f"not {favourable}"})
    return decided.where(labels.notna())
