"""The audit: from rows and a model to ranked groups."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace

import joblib
import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.exact import audit_exactly
from testsgd.auditing.findings import TableFindings
from testsgd.auditing.independent import sample_independent
from testsgd.auditing.order import order_groups
from testsgd.auditing.outcome import Outcome
from testsgd.auditing.outcome import Progress as PhaseProgress
from testsgd.auditing.parameters import ROW_QUERIES, AuditParameters, Mode
from testsgd.auditing.pooled import sample_pooled
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS, LoadedModel, Model
from testsgd.rules import (
    Contingency,
    lay_out,
    sensitive_axes,
    small_groups,
)
from testsgd.sampling import neighbourhood_size
from testsgd.scoring import block_of, member_overlaps

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
    if parameters.rank_by != "score":
        raise ParameterError(
            f"a table has no {parameters.rank_by} differences",
            where="rank_by",
            remedy="rank a table's groups by score",
        )
    clock = Clock()
    allowed = parameters.budget(ROW_QUERIES)
    parameters = replace(parameters, max_queries=allowed)
    with clock.phase("rows"):
        axes = sensitive_axes(table, bins=parameters.bins)
        contingency = lay_out(table, axes)
        min_count = max(1, math.ceil(parameters.theta * len(table) - 1e-9))
    with clock.phase("model check"):
        fingerprint, probed = _probe(model, table, _probe_rows(table, allowed))
    needed = (neighbourhood_size(table) + 1) * len(table) + min(PROBE_ROWS, len(table))
    exact = fits_exactly(needed, parameters.mode, allowed)
    outcome = _find_rates(
        model.model,
        table,
        contingency,
        parameters,
        exact=exact,
        min_count=min_count,
        budget=max(0, allowed - probed),
        clock=clock,
        progress=named("asking the model", progress),
    )
    with clock.phase("ranking"):
        ranking, distinct = order_groups(
            outcome.estimates,
            outcome.estimates.score,
            outcome.rule_sets.rule_counts(),
            member_overlaps(
                lambda groups: outcome.rule_sets.members(groups, contingency), contingency.tally()
            ),
            parameters,
            block=block_of(contingency.cells),
        )
        small = small_groups(contingency, min_count=min_count, max_features=parameters.max_features)
    return TableFindings(
        table=table,
        model=model,
        parameters=parameters,
        mode="exact" if exact else "sampled",
        contingency=contingency,
        rule_sets=outcome.rule_sets,
        estimates=outcome.estimates,
        ranking=ranking,
        distinct=distinct,
        small=tuple(small),
        cell_samples=outcome.cell_samples,
        cell_favourable=outcome.cell_favourable,
        neighbourhood=neighbourhood_size(table) * len(table),
        queries=outcome.queries + probed,
        model_fingerprint=fingerprint,
        accuracy=outcome.accuracy,
        seconds=clock.seconds,
    )


def _probe_rows(table: Table, allowed: int) -> int:
    """Give the rows to try the model on: they count as queries, so they leave room for others."""
    return min(PROBE_ROWS, len(table), allowed // 2)


def _probe(model: LoadedModel[Model], table: Table, rows: int) -> tuple[str, int]:
    """Try the model on the first rows: it shows early what is wrong, and how to recognise it."""
    frame = table.frame.iloc[:rows]
    decisions = model.model.decisions(frame)
    return hashlib.sha256(np.packbits(decisions).tobytes()).hexdigest(), len(frame)


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


def _find_rates(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    *,
    exact: bool,
    min_count: int,
    budget: int,
    clock: Clock,
    progress: PhaseProgress | None,
) -> Outcome:
    """Choose among the three ways of finding the groups' rates."""
    jobs = parameters.jobs or (int(joblib.cpu_count()) if model.thread_safe else 1)
    if exact:
        return audit_exactly(
            model,
            table,
            contingency,
            parameters,
            min_count=min_count,
            jobs=jobs,
            clock=clock,
            progress=progress,
        )
    with clock.phase("sampling"):
        if parameters.sampling == "pooled":
            return sample_pooled(
                model,
                table,
                contingency,
                parameters,
                min_count=min_count,
                budget=budget,
                progress=progress,
            )
        return sample_independent(
            model,
            table,
            contingency,
            parameters,
            min_count=min_count,
            budget=budget,
            jobs=jobs,
            progress=progress,
        )


def named(phase: str, progress: Progress | None) -> PhaseProgress | None:
    """Turn a user's progress into that of one phase."""
    if progress is None:
        return None
    return lambda done, total: progress(phase, done, total)
