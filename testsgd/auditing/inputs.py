"""From what a user gives for an audit, or saved of one, to a model, its rows and the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings
from testsgd.auditing.parameters import DRAWS, PAPER_SETTINGS, AuditParameters
from testsgd.auditing.report.summary import AuditSummary
from testsgd.auditing.result import AuditResult
from testsgd.data import (
    DatasetSpecification,
    Specification,
    Table,
    TextSpecification,
    as_pandas,
    find_table,
    is_lazy,
)
from testsgd.errors import (
    DataError,
    ExpressionError,
    ModelError,
    ParameterError,
    ResultError,
)
from testsgd.models import ExternalModel, LoadedModel, Model, load_model
from testsgd.parameters import parameters_of

if TYPE_CHECKING:
    import pandas as pd


def find_model_and_table(
    model: Any,
    data: Any,
    specification: DatasetSpecification,
    *,
    favourable_given: bool,
    threshold: float,
    limit: int | None,
    seed: int,
    trust_pickle: bool = False,
) -> tuple[LoadedModel[Model], Table]:
    """Load a model of rows and its rows; if both fail, raise the error about the rows.

    Parameters
    ----------
    model : object
        As for :func:`testsgd.models.load_model`.
    data : object
        As for :func:`testsgd.data.find_table`.
    specification : DatasetSpecification
        The data set.
    favourable_given : bool
        True if the user named the favourable label for this audit.
    threshold : float
        Scores of the favourable label above it count as favourable.
    limit : int or None
        Size of a random sample of the rows; None for all.
    seed : int
        The seed of the sample.
    trust_pickle : bool
        Whether files may be read that run code when they are.

    Returns
    -------
    loaded : LoadedModel
        The model.
    table : Table
        The rows, with the columns that the model takes besides the described ones.

    Raises
    ------
    ModelError
        If the model cannot be loaded, and the rows can.
    ParameterError
        If the threshold is not in [0, 1), `limit` is below 1 or `seed` below 0.
    DataError, DownloadError
        As for :func:`testsgd.data.find_table`.

    Examples
    --------
    >>> from testsgd.data import load_specification
    >>> loaded, table = find_model_and_table(
    ...     None,
    ...     None,
    ...     load_specification("demo"),
    ...     favourable_given=False,
    ...     threshold=0.5,
    ...     limit=100,
    ...     seed=0,
    ... )
    >>> len(table), int(loaded.model.decisions(table.frame).sum()) > 0
    (100, True)
    """
    try:
        loaded = load_model(
            model,
            specification,
            favourable_given=favourable_given,
            threshold=threshold,
            trust_pickle=trust_pickle,
        )
    except ModelError:
        find_table(data, specification, limit=limit, seed=seed)
        raise
    return loaded, find_table(data, specification, limit=limit, seed=seed, passed=loaded.passed)


def check_model_first(model: Any, data: Any, call: str) -> None:
    """Raise a ParameterError if rows stand where the model belongs, or a model where rows do.

    Parameters
    ----------
    model, data : object
        As a user gave them.
    call : str
        The call as it should be.

    Raises
    ------
    ParameterError
        If the model is a table, a list, a series or an array, or the data can be called or have
        ``predict``.

    Examples
    --------
    >>> check_model_first(len, ["a text"], "audit(model, texts)")
    >>> check_model_first(["a text"], len, "audit(model, texts)")
    Traceback (most recent call last):
        ...
    testsgd.errors.ParameterError: model: a list is no model, and a builtin_function_or_method ...
    """
    if as_pandas(model) is not None or is_lazy(model):
        what = f"a {type(model).__name__} is no model"
    elif callable(data) or callable(getattr(data, "predict", None)):
        what = f"a {type(data).__name__} is no data"
        if not isinstance(model, (str, Path, type(None))) and not callable(model):
            what = f"a {type(model).__name__} is no model, and {what}"
    elif _holds_answers(model):
        raise _refused(
            "model",
            f"a {type(model).__name__} is no model that can be asked",
            f"the model comes first: {call}; of predictions that exist, call "
            "testsgd.audit_predictions(y_pred, y, sensitive_features=...)",
        )
    else:
        return
    raise _refused("model", what, f"the model comes first: {call}")


def _holds_answers(model: Any) -> bool:
    """Return whether what is given as a model is a list, a series or an array."""
    if callable(model) or hasattr(model, "predict"):
        return False
    is_array = hasattr(model, "dtype") or hasattr(model, "to_pylist")
    return is_array or isinstance(model, (list, tuple))


def audit_parameters(
    parameters: Mapping[str, Any], specification: Specification
) -> AuditParameters:
    """Check an audit's parameters, and fill in what the description says of them."""
    chosen = dict(parameters)
    if chosen.get("as_paper") is True:
        chosen = _as_paper(chosen, specification)
    defaults = specification.audit
    # A user's bound on the rows of a group takes the place of both of the description's.
    bounded = any(chosen.get(name) is not None for name in ("theta", "min_rows"))
    for name in ("estimand",) if bounded else ("estimand", "theta", "min_rows"):
        if chosen.get(name) is None:
            chosen[name] = None if defaults is None else getattr(defaults, name)
    if chosen["estimand"] is None:
        del chosen["estimand"]
    if isinstance(chosen.get("nondeterministic"), bool):
        chosen["nondeterministic"] = DRAWS if chosen["nondeterministic"] else None
    for name in ("condition_on", "within"):
        chosen[name] = _features(chosen.get(name), specification, where=name)
    if isinstance(specification, TextSpecification) and chosen.get("theta_side") == "inside":
        what = f"{specification.name!r} has texts, nearly all of which are outside of a group"
        raise _refused("theta_side", what, "leave it out")
    chosen["groups"] = _expressions(chosen.get("groups"), specification)
    return parameters_of(AuditParameters, chosen, where="audit")


def chosen_rows(table: Table, settings: AuditParameters) -> Table:
    """Return the rows of a table that are to be audited: those that an expression holds for.

    Parameters
    ----------
    table : Table
    settings : AuditParameters
        With the expression, or None for all rows.

    Returns
    -------
    Table
        A note says how many rows there were.

    Raises
    ------
    ParameterError
        If it is no expression, is about a column that is not there, or holds for no row.
    """
    if settings.rows is None:
        return table
    chosen = positions_with(settings.rows, table.frame)
    note = note_on_rows(settings.rows, chosen=len(chosen), rows=len(table))
    return replace(table.take(chosen), notes=(*table.notes, note))


def chosen_sample(table: Table, settings: AuditParameters, limit: int | None) -> Table:
    """Return the rows that an expression holds for, or a random sample of them.

    Parameters
    ----------
    table : Table
        All rows; if there is no expression, those that were drawn already.
    settings : AuditParameters
        With the expression, or None for all rows.
    limit : int, optional
        The size of the sample.

    Returns
    -------
    Table
    """
    if settings.rows is None:
        return table
    chosen = chosen_rows(table, settings)
    return chosen.limited(limit, settings.seed)


def positions_with(expression: str, frame: pd.DataFrame) -> NDArray[np.intp]:
    """Return the positions of the rows of a frame that an expression holds for.

    Parameters
    ----------
    expression : str
        A text of the grammar of :mod:`testsgd.expressions`.
    frame : data frame, n rows
        A column for each name in it.

    Returns
    -------
    numpy.ndarray of int
        The positions in ascending order, at least one.

    Raises
    ------
    ParameterError
        If it is no expression, is about a column that is not there, or holds for no row.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 40]})
    >>> positions_with("sex = f and age >= 30", people).tolist()
    [2]
    """
    # Most audits are of all rows.
    from testsgd.expressions import parse

    if not isinstance(expression, str):
        raise _refused("rows", f"{expression!r} is no text", "give one such as 'age >= 40'")
    try:
        mask = parse(expression).mask(frame)
    except ExpressionError as error:
        raise ParameterError(
            error.what, where=f"rows: {error.where}", remedy=error.remedy, **error.details
        ) from error
    chosen = np.flatnonzero(mask)
    if len(chosen) == 0:
        raise _refused("rows", f"no row satisfies {expression!r}", "choose others")
    return chosen


def check_sensitive_differ(rows: pd.DataFrame, sensitive: Sequence[str], expression: str) -> None:
    """Check that the rows with an expression differ in each sensitive feature.

    Parameters
    ----------
    rows : data frame
        The rows that the expression holds for.
    sensitive : sequence of str
        Names of columns.
    expression : str

    Raises
    ------
    ParameterError
        If all rows have the same value of a feature, so that there is nothing to compare by it.

    Examples
    --------
    >>> import pandas as pd
    >>> women = pd.DataFrame({"sex": ["f", "f"], "age": [20, 30]})
    >>> check_sensitive_differ(women, ["age"], "sex = f")
    >>> check_sensitive_differ(women, ["sex", "age"], "sex = f")
    Traceback (most recent call last):
        ...
    testsgd.errors.ParameterError: rows: all rows with sex = f have the same sex: ...
    """
    for name in sensitive:
        if rows[name].nunique(dropna=False) == 1:
            raise ParameterError(
                f"all rows with {expression} have the same {name}: there is nothing to compare by "
                "it",
                where="rows",
                remedy=f"leave {name} out of the sensitive features, or choose other rows",
                feature=name,
            )


def note_on_rows(expression: str, *, chosen: int, rows: int) -> str:
    """Return the note on data of which only the rows with an expression are looked at.

    Parameters
    ----------
    expression : str
    chosen, rows : int
        How many rows it holds for, and how many there were.

    Returns
    -------
    str

    Examples
    --------
    >>> note_on_rows("age >= 30", chosen=12, rows=1000)
    'only rows with age >= 30: 12 of 1,000'
    """
    return f"only rows with {expression}: {chosen:,} of {rows:,}"


def check_all_rows(parameters: AuditParameters, why: str) -> None:
    """Raise a ParameterError if only some rows or groups are asked for where all are needed."""
    if parameters.rows is not None:
        raise _refused("rows", why, "leave it out, or give the rows alone")
    check_all_groups(parameters)


def check_all_groups(parameters: AuditParameters) -> None:
    """Raise a ParameterError if only some groups are asked for where all are needed."""
    if parameters.theta_side != "both":
        raise _refused(
            "theta_side",
            "groups with hardly anybody outside are for an audit, and this compares both sides",
            "give theta_side='both', or an audit with it",
        )
    if parameters.groups:
        raise _refused(
            "groups",
            "groups that are named are for an audit, and this needs a search of all groups",
            "leave it out, or give an audit without it",
        )


def _as_paper(chosen: Mapping[str, Any], specification: Specification) -> dict[str, Any]:
    """Return what a user chose, and the paper's settings where nothing was."""
    metric = chosen.get("metric", "selection_rate")
    if metric != "selection_rate":
        raise _refused(
            "as_paper",
            f"the paper compares selection rates, and metric is {metric!r}",
            "leave one of them out",
        )
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = dict(PAPER_SETTINGS)
    if isinstance(specification, TextSpecification):
        # Nearly every text is outside of a group.
        del settings["theta_side"]
    return {**settings, **given}


def _expressions(groups: Any, specification: Specification) -> tuple[str, ...]:
    """Return the expressions of the groups that a user names, one by one or as one text."""
    named = (groups,) if isinstance(groups, str) else groups or ()
    how = "give expressions such as ['sex = female', 'age < 30']"
    if not isinstance(named, (list, tuple)) or not all(isinstance(item, str) for item in named):
        raise _refused("groups", f"{groups!r} is no list of expressions", how)
    if named and isinstance(specification, TextSpecification):
        what = f"{specification.name!r} has texts, and groups are named by features of rows"
        raise _refused("groups", what, "leave it out")
    return tuple(named)


def _features(names: Any, specification: Specification, *, where: str) -> tuple[str, ...]:
    chosen = listed_features(names, where=where)
    if chosen and isinstance(specification, TextSpecification):
        what = f"{specification.name!r} has texts, and no features besides their terms"
        raise _refused(where, what, "leave it out")
    return chosen


def listed_features(names: Any, *, where: str) -> tuple[str, ...]:
    """Return the names of features that a user lists, with commas or one by one.

    Parameters
    ----------
    names : str, list or tuple of str, or None
        The names; None or nothing for no feature.
    where : str
        The parameter that an error names.

    Returns
    -------
    tuple of str
        The names without blanks around them, each once, in the order given.

    Raises
    ------
    ParameterError
        If it is no list of names, or a list of none but empty ones.

    Examples
    --------
    >>> listed_features("age, job, age", where="condition_on")
    ('age', 'job')
    """
    listed = names.split(",") if isinstance(names, str) else names or ()
    how = "give names of features, with commas or as a list"
    if not isinstance(listed, (list, tuple)) or not all(isinstance(name, str) for name in listed):
        raise _refused(where, f"{names!r} is no list of features", how)
    chosen = tuple(dict.fromkeys(name.strip() for name in listed if name.strip()))
    if listed and not chosen:
        raise _refused(where, "no feature is named", f"{how}, or leave it out")
    return chosen


def _refused(name: str, what: str, remedy: str) -> ParameterError:
    return ParameterError(what, where=name, remedy=remedy, name=name)


def check_repeatable(parameters: AuditParameters, what: str) -> None:
    """Raise a :class:`ParameterError` if means are asked for where the answers must be the same."""
    if parameters.nondeterministic is not None:
        needs = f"{what} needs a model that answers the same when asked twice"
        raise _refused("nondeterministic", needs, "leave it out, or audit the model")


def check_no_ratio_gate(parameters: AuditParameters) -> None:
    """Raise a ParameterError if texts are given a gate by ratios, which is for rows."""
    if parameters.fail_below_ratio is not None:
        raise _refused(
            "fail_below_ratio", "a gate by ratios is for rows, not for texts", "use fail_above"
        )


def check_asked_anew(model: Any, parameters: AuditParameters) -> None:
    """Raise a ParameterError if means over answers are asked for, of a model that keeps answers."""
    if parameters.nondeterministic is None or not isinstance(model, ExternalModel):
        return
    if model.keeps_answers:
        raise _refused(
            "nondeterministic",
            "the model's answers are kept, so that each question has the same answer each time",
            "ask the model without keeping its answers",
        )


def read_audit(audit: AuditResult | str | Path | None) -> AuditSummary | None:
    """Read the audit that a user names; None if there is none."""
    if audit is None or isinstance(audit, AuditResult):
        return None if audit is None else audit.summary
    return AuditResult.from_json(Path(audit)).summary


def saved_parameters(summary: AuditSummary, *, jobs: int | None = None) -> AuditParameters:
    """Return the parameters that a saved audit was made with, without its gate."""
    if summary.parameters.metric != "selection_rate":
        raise _refused(
            "audit",
            f"the audit compares the {summary.parameters.metric}, and this needs selection rates",
            "give an audit of selection rates, or leave it out to make a new one",
        )
    check_all_rows(summary.parameters, "the audit is of some rows only, and this needs one of all")
    return replace(summary.parameters, fail_above=None, fail_below_ratio=None, jobs=jobs)


def check_same_data(summary: AuditSummary, fingerprint: str) -> None:
    """Raise a :class:`DataError` if an audit was of other data."""
    if summary.data.fingerprint != fingerprint:
        raise DataError(
            f"the audit is of other data: {summary.data.rows:,} {summary.data.kind} with the "
            f"fingerprint {summary.data.fingerprint[:12]}, these have {fingerprint[:12]}",
            where="audit",
            remedy="give the data that were audited, or leave the audit out to make a new one",
        )


def check_same_model(summary: AuditSummary, *, name: str, file_sha256: str | None) -> None:
    """Raise a :class:`ModelError` if an audit was of another file than the model's."""
    saved = summary.model.file_sha256
    if saved is not None and saved != file_sha256:
        raise _another_model(summary, name, saved, file_sha256 or "no file")


def check_same_audit(summary: AuditSummary, findings: Findings) -> None:
    """Raise an error if an audit that was made again is not the one that was saved."""
    name = findings.model.model.name
    fingerprint = findings.model_fingerprint
    if summary.model.fingerprint != fingerprint:
        raise _another_model(summary, name, summary.model.fingerprint, fingerprint)
    for group in summary.groups:
        [*same_rank] = findings.ranking[group.rank - 1 : group.rank].tolist()
        current = findings.rule_set(same_rank[0]).text if same_rank else "nobody"
        if current != group.text:
            raise ResultError(
                f"group {group.rank} of the audit is {group.text!r}, made again it is {current!r}",
                where="audit",
                remedy="audit the model again with this version of testsgd",
                rank=group.rank,
            )


def _another_model(summary: AuditSummary, name: str, saved: str, fingerprint: str) -> ModelError:
    """Return the error that an audit is of a model with another fingerprint."""
    return ModelError(
        f"the audit is of another model: of {summary.model.name!r} with the fingerprint "
        f"{saved[:12]}, this one has {fingerprint[:12]}",
        where=f"model {name!r}",
        remedy="give the model that was audited, or leave the audit out to make a new one",
        saved=saved,
        found=fingerprint,
    )
