"""The audit of rows: from rows and a model to ranked groups."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import replace
from typing import Any

from testsgd.auditing.clock import Clock
from testsgd.auditing.conditional import check_condition
from testsgd.auditing.findings import TableFindings
from testsgd.auditing.holdout import audit_held_out
from testsgd.auditing.outcome import Progress as PhaseProgress
from testsgd.auditing.parameters import ROW_QUERIES, AuditParameters, Mode
from testsgd.auditing.rows import RowAudit, audit_rows, exact_queries
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS, CheckedFunction, LoadedModel, Model
from testsgd.rules import sensitive_axes

# A phase's name, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]


def run_audit(
    model: LoadedModel[Model],
    table: Table,
    parameters: AuditParameters,
    *,
    progress: Progress | None = None,
) -> TableFindings:
    """Audit a model.

    Parameters
    ----------
    model : LoadedModel
        The black box, from :func:`testsgd.models.load_model`.
    table : Table
        The rows, from :func:`testsgd.data.load_table` or :func:`testsgd.data.check_table`.
    parameters : AuditParameters
        What to do.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    TableFindings

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If exact mode was asked for and takes more queries than allowed.

    References
    ----------
    Zhang et al., TestSGD, section 4.
    """
    if parameters.rank_by == "counterfactual":
        raise ParameterError(
            f"a table has no {parameters.rank_by} differences",
            where="rank_by",
            remedy="rank a table's groups by score",
        )
    check_condition(parameters.condition_on, table.specification)
    clock = Clock()
    allowed = parameters.budget(ROW_QUERIES)
    needed = exact_queries(table, parameters) + min(PROBE_ROWS, len(table))
    needed += again_queries(model, table)
    exact = fits_exactly(needed, parameters.mode, allowed)
    if parameters.condition_on and not exact:
        raise ParameterError(
            "a conditional score needs an answer for every row, and this audit draws samples",
            where="condition_on",
            remedy="use --mode exact, allow more queries, or audit fewer rows with --limit",
        )
    if parameters.condition_on and table.clusters is not None:
        raise ParameterError(
            "a conditional score takes rows for independent, and here rows repeat one person",
            where="condition_on",
            remedy="leave it out, or bring one row a person",
        )
    with clock.phase("rows"):
        axes = sensitive_axes(table, bins=parameters.bins)
    audit = RowAudit(
        model=model,
        table=table,
        axes=axes,
        parameters=replace(parameters, max_queries=allowed),
        exact=exact,
    )
    told = named("asking the model", progress)
    if parameters.holdout is None:
        return audit_rows(audit, clock, told)
    return audit_held_out(audit, parameters.holdout, clock, told)


def again_queries(model: LoadedModel[Any], data: Sized) -> int:
    """Return the queries that it takes to ask about the first rows or texts again.

    A network of testsgd's own is not asked again; see :mod:`testsgd.models.repeating`.
    """
    return min(PROBE_ROWS, len(data)) if isinstance(model.model, CheckedFunction) else 0


def fits_exactly(queries: int, mode: Mode, allowed: int) -> bool:
    """Say whether an audit is exact: not if samples were asked for or the budget is too small.

    Raises
    ------
    ParameterError
        If exact mode was asked for and takes more queries than allowed.
    """
    if mode == "sampled":
        return False
    fits = queries <= allowed
    if mode == "exact" and not fits:
        raise ParameterError(
            f"an exact audit takes up to {queries:,} queries, {allowed:,} are allowed",
            where="max_queries",
            remedy=f"give --max-queries {queries}, or --mode sampled",
        )
    return fits


def named(phase: str, progress: Progress | None) -> PhaseProgress | None:
    """Turn a user's progress into that of one phase."""
    if progress is None:
        return None
    return lambda done, total: progress(phase, done, total)
