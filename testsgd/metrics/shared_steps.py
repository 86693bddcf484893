"""What the calls of an audit of metrics share: its settings, its table, and the audit itself."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, listed_features, with_other_features
from testsgd.auditing.report.subject import table_summary
from testsgd.auditing.report.summary import LabelSummary
from testsgd.data import (
    DatasetSpecification,
    Table,
    check_table,
    checked_outcome,
    infer_specification,
    joined,
    with_numbers,
)
from testsgd.data.column_notes import note_on_copies
from testsgd.data.copies import copied_rows
from testsgd.data.missing_texts import without_missing_texts
from testsgd.errors import ParameterError
from testsgd.metrics.definitions import (
    JOINT_METRICS,
    Masses,
    default_metrics,
    for_outcome,
    resolve_metrics,
)
from testsgd.metrics.parameters import BEST, MetricParameters
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.report.summarise import summarise_metrics
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.run import MetricRows, run_metrics
from testsgd.parameters import declared_parameters, parameters_of
from testsgd.progress import Progress
from testsgd.rules import notes_on_values

Wanted = Iterable[str | Masses] | str | Masses

# The column that stands for the predictions in the description; no user's column is called so.
_PREDICTION = "(prediction)"

FOUR_FIFTHS: Mapping[str, Any] = {"measure": "ratio", "reference": BEST, "fail_below": 0.8}
"""The parameters of the four-fifths rule: selection rates as ratios to that of the best group."""

WITHOUT_METRICS = "leave out --metrics and what is for it, and compare one rate (--metric)"
"""What to do where an audit cannot be one of metrics."""


def check_rows_are_units(
    specification: DatasetSpecification, *, what: str = "metrics", remedy: str
) -> None:
    """Refuse a description that names a cluster, where each row is taken for a unit.

    Parameters
    ----------
    specification : DatasetSpecification
        The description.
    what : str
        What takes each row for a unit.
    remedy : str
        What to do if rows of one cluster are one unit.

    Raises
    ------
    ParameterError
        If the description names a cluster.
    """
    if specification.data is not None:
        raise rows_are_no_units(
            specification.data.cluster, what=what, where="cluster under [data]", remedy=remedy
        )


def rows_are_no_units(
    key: str, *, what: str = "metrics", where: str = "clusters", remedy: str
) -> ParameterError:
    """Return the error that rows of one key are one unit, where each row is taken for a unit.

    Parameters
    ----------
    key : str
        The column that says which rows are one unit.
    what : str
        What takes each row for a unit.
    where : str
        The parameter that says so.
    remedy : str
        What to do if rows of one key are one unit.

    Returns
    -------
    ParameterError
    """
    return ParameterError(
        f"rows of one {key!r} are one unit, and {what} take each row for one",
        where=where,
        remedy=f"{remedy}, or leave the key out if each row is a unit",
        column=key,
    )


def with_rule(metrics: Wanted | None, rule: str | None) -> Wanted | None:
    """Return the metrics that a user names, or that of a rule if only this is named."""
    return "selection_rate" if rule is not None and metrics is None else metrics


def settings_of(
    parameters: Mapping[str, Any], *, rule: str | None, outcome: str | None = None
) -> MetricParameters:
    """Return the parameters that a user chose, with those of a rule by its name.

    `outcome` is what the label is for people; a :class:`ParameterError` is raised if the rule is
    not about such a label.
    """
    chosen = dict(parameters)
    if rule is not None:
        if rule != "four-fifths":
            raise ParameterError(
                f"there is no rule {rule!r}", where="rule", remedy="write four-fifths"
            )
        if checked_outcome(outcome) not in (None, "benefit"):
            raise ParameterError(
                f"the rule four-fifths is about benefits, and the outcome is {outcome}",
                where="rule",
                remedy="name the other label as favourable, or leave the rule out",
                name="rule",
            )
        for name, value in FOUR_FIFTHS.items():
            if chosen.get(name, value) != value:
                raise ParameterError(
                    f"the rule four-fifths has {name} = {value}, and {chosen[name]} is given",
                    where=name,
                    remedy="leave out one of them",
                    name=name,
                )
        chosen = {**FOUR_FIFTHS, **chosen}
    known = declared_parameters(MetricParameters)
    others = declared_parameters(AuditParameters).keys() - known
    for name in chosen:
        if name in others:
            raise ParameterError(
                f"there is no parameter {name!r}, which is for an audit of one rate",
                where="audit of metrics",
                remedy="leave it out, or audit one rate of classes, without metrics and weights; "
                f"here the parameters are {', '.join(sorted(known))}",
                name=name,
            )
    chosen["condition_on"] = listed_features(chosen.get("condition_on"), where="condition_on")
    return parameters_of(MetricParameters, chosen, where="audit of metrics")


def table_of(
    frame: pd.DataFrame,
    *,
    features: Mapping[str, Mapping[str, Any]] | None,
    name: str,
    other_features: Any = None,
    answers: Mapping[str, str] | None = None,
    times: NDArray[Any] | None = None,
) -> Table:
    """Return the sensitive features as a table, with what their columns were taken for.

    `answers`: other features that hold predictions or labels, and by what that was seen. `times`:
    how many rows each row stands for, one if not given.
    """
    sensitive = list(frame.columns)
    if other_features is not None:
        frame = with_other_features(frame, other_features)
    frame, emptied = without_missing_texts(frame)
    frame, examples = with_numbers(frame)
    guessed = infer_specification(
        frame,
        sensitive=sensitive,
        label=_PREDICTION,
        labels=pd.Series(["no", "yes"]),
        name=name,
        favourable="yes",
        features=features,
        examples=examples,
        answers=answers,
        emptied=emptied,
        times=times,
    )
    specification = guessed.specification
    table = check_table(joined(frame, specification), specification, source=name)
    return replace(table, notes=guessed.notes, inferred=guessed.columns)


def audited(
    table: Table,
    predictions: Predictions,
    settings: MetricParameters,
    *,
    metrics: Wanted | None,
    label: str,
    started: float,
    outcome: str | None = None,
    progress: Progress | None = None,
) -> MetricsResult:
    """Return the result of an audit of metrics of a table's rows.

    `started` is when the reading began, by ``time.perf_counter``; `outcome` what the label is for
    people, if that was said.
    """
    known_outcome = checked_outcome(outcome)
    read = time.perf_counter()
    wanted = metrics
    if wanted is None:
        labelled = predictions.labelled is not None
        wanted = default_metrics(
            predictions.kind, labelled=labelled, threshold=predictions.threshold
        )
    judged = tuple(for_outcome(metric, known_outcome) for metric in resolve_metrics(wanted))
    rows = MetricRows.of(table, predictions, judged, bins=settings.bins, min_rows=settings.min_rows)
    findings = run_metrics(rows, settings, progress=progress)
    finished = time.perf_counter()
    data = table_summary(
        table,
        predictions_given=True,
        label=LabelSummary(
            column=label,
            favourable=predictions.favourable,
            together=list(predictions.together),
            others=list(predictions.other_labels),
            meaning="",
            outcome=known_outcome or "benefit",
            outcome_given=known_outcome is not None,
        ),
        notes=[*notes_on_values(rows.axes), *_notes_on_copies(table, predictions)],
    )
    summary = summarise_metrics(
        findings,
        data.model_copy(update={"rows": int(findings.cells.rows.sum())}),
        predictions=predictions,
        joint=joint_names(wanted),
        seconds={
            "reading": round(read - started, 4),
            "comparing": round(finished - read, 4),
        },
    )
    # Only where the values were guessed, rows still have those that were joined.
    joined_by = table.specification if table.inferred else None
    return MetricsResult(summary, findings, joined_by=joined_by)


def _notes_on_copies(table: Table, predictions: Predictions) -> list[str]:
    """Return the note that rows are copies of others; nothing if none are, or it is not known."""
    # Sensitive features alone are equal for many people, and a counted row stands for many.
    if predictions.rows is not None or not table.specification.insensitive:
        return []
    numbers = copied_rows(table.frame)
    if numbers is None:
        return []
    return [note_on_copies(rows=len(table), different=int(numbers.max()) + 1)]


def joint_names(wanted: Wanted) -> list[str]:
    """Return the joint metrics among those that a user names."""
    if callable(wanted):
        return []
    names = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    return [
        name.strip() for name in names if isinstance(name, str) and name.strip() in JOINT_METRICS
    ]
