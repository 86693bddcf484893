"""The audit of rows: from a table and a model to ranked groups, which may be held out."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.conditional import check_other_features
from testsgd.auditing.findings import AuditHoldout, Findings, InSearch, TableFindings
from testsgd.auditing.metrics import by_metric
from testsgd.auditing.named_groups import (
    check_named_groups,
    check_no_search,
    named_rule_sets,
    with_named_groups,
)
from testsgd.auditing.outcome import Clock, RowAudit, limit_batches
from testsgd.auditing.own_effect import check_ranking, has_own_effects
from testsgd.auditing.parameters import PAPER_SETTINGS, ROW_QUERIES, AuditParameters, Mode
from testsgd.auditing.rows import audit_rows, exact_queries
from testsgd.auditing.slices import features_within
from testsgd.data import Table, copied_rows
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS, CheckedFunction, LoadedModel, Model, PredictionColumn
from testsgd.progress import Progress, about
from testsgd.rules import default_depth, named_axes, sensitive_axes

if TYPE_CHECKING:
    from testsgd.data.text import Texts

# What the phases of an audit with a holdout are about.
SEARCHED = "to find groups"
HELD_OUT = "held out"

# Labels beside the features; no user's column is called so.
_LABELS = "(labels)"

SomeFindings = TypeVar("SomeFindings", bound=Findings)
Data = TypeVar("Data", Table, "Texts")


def run_audit(
    model: LoadedModel[Model],
    table: Table,
    parameters: AuditParameters,
    *,
    progress: Progress | None = None,
    own_effects: bool = True,
) -> TableFindings:
    """Audit a model on the rows of a table.

    The model is asked about the rows and their neighbours, all of them or draws. Every frequent
    group gets its selection rates inside and outside, and a confidence interval for their
    difference; if groups are named, just these do. Groups are ranked, and the rules that explain
    the differences of groups that were searched are selected. With a
    holdout, groups are found on one part of the rows and estimated on the other.

    Parameters
    ----------
    model : LoadedModel
        The model; of predictions that exist none is asked.
    table : Table
        The rows, with their description.
    parameters : AuditParameters
        What is searched, how rates are found, and what the intervals hold for.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.
    own_effects : bool
        Whether to ask for the sensitive features' own effects, if queries are left for them.

    Returns
    -------
    TableFindings
        The groups with their rates; with a holdout those found in the search, estimated on the rows
        held out.

    Raises
    ------
    ModelError
        If the model raises an error or returns something unusable.
    ParameterError
        If exact mode was asked for and takes more queries than allowed, or what the parameters ask
        for cannot be had of this model or these rows.

    Notes
    -----
    See Zhang et al., TestSGD, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from testsgd.auditing import model_and_rows
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 100, "income": range(200)})
    >>> def grant(frame):
    ...     return np.where(frame["income"] > 100 + 50 * (frame["sex"] == "f"), "yes", "no")
    >>> _, model, table = model_and_rows(
    ...     grant,
    ...     people,
    ...     None,
    ...     sensitive_features=["sex"],
    ...     favourable=None,
    ...     threshold=0.5,
    ...     features=None,
    ...     trust_pickle=False,
    ...     name="people",
    ... )
    >>> findings = run_audit(model, table, AuditParameters())
    >>> findings.mode, findings.rule_set(findings.first).text
    ('exact', 'sex = f')
    """
    check_other_features(parameters.condition_on, table.specification)
    limit_batches(model.model, parameters.batch_size)
    if parameters.groups:
        check_no_search(parameters)
        # What is wrong about a group is said before the model is asked.
        check_named_groups(parameters.groups, table)
    table = with_units_joined(table, copies=parameters.equal_rows == "one")
    budget = parameters.budget(ROW_QUERIES)
    # Some rows may have been asked about to learn what the columns are.
    before = table.asked_before(model.model)
    allowed = max(0, budget - before)
    model, table = by_metric(parameters.metric, model, table, progress, allowed=allowed)
    clock = Clock(progress)
    if isinstance(model.model, PredictionColumn):
        _check_predictions(parameters)
        needed = 0
        exact = True
    else:
        tried = table.answered_by(model.model)[:PROBE_ROWS]
        needed = exact_queries(table, parameters) + int((tried < 0).sum())
        needed += again_queries(model, table)
        exact = fits_exactly(needed + before, parameters.mode, budget)
    parameters = replace(parameters, within=features_within(parameters.within, table.specification))
    _check_answers_of_rows(parameters, table, exact=exact)
    deeper = parameters.max_features is None
    with clock.phase("rows"):
        groups = named_rule_sets(parameters.groups, table)
        axes = (
            named_axes(table, groups)
            if groups
            else sensitive_axes(
                table,
                bins=parameters.bins,
                whole_limits=not parameters.as_paper,
                min_rows=parameters.fewest_rows(len(table)),
            )
        )
    if groups:
        parameters = replace(parameters, max_features=max(len(group.rules) for group in groups))
    elif parameters.max_features is None:
        parameters = replace(parameters, max_features=default_depth(axes))
    audit = RowAudit(
        model=model,
        table=table,
        axes=axes,
        parameters=replace(parameters, max_queries=allowed),
        exact=exact,
        clock=clock,
        progress=progress,
        own_effects=own_effects,
        deeper=deeper,
    )
    if groups:
        with clock.phase("rows"):
            audit = with_named_groups(audit, groups)
    if parameters.rank_by == "counterfactual":
        check_ranking(audit, left=allowed - needed)
        if not has_own_effects(audit):
            audit = _ranked_by_differences(audit)
    if parameters.holdout is None:
        findings = audit_rows(audit)
    else:
        findings = audit_held_out(audit, parameters.holdout)
    return replace(
        findings,
        queries=findings.queries + before,
        parameters=replace(findings.parameters, max_queries=budget),
    )


def _ranked_by_differences(audit: RowAudit) -> RowAudit:
    """Return an audit whose groups are ranked by differences, as no own effect tells them apart."""
    note = (
        "the model is given no sensitive feature, so that all own effects are 0: groups are ranked "
        "by the lower confidence bounds of their differences"
    )
    return replace(
        audit,
        parameters=replace(audit.parameters, rank_by="lower-bound"),
        table=replace(audit.table, notes=(*audit.table.notes, note)),
    )


def with_units_joined(table: Table, *, copies: bool) -> Table:
    """Return a table with the units of its rows, or without if each row is one.

    `copies`: copies of rows are one unit, unless the table says what the units are.
    """
    if table.clusters is not None:
        repeated = len(np.unique(table.clusters)) < len(table)
        return table if repeated else replace(table, clusters=None)
    if not copies:
        return table
    columns = table.frame
    if table.labels is not None:
        columns = columns.assign(**{_LABELS: table.labels})
    clusters = copied_rows(columns)
    return table if clusters is None else replace(table, clusters=clusters)


def _check_answers_of_rows(parameters: AuditParameters, table: Table, *, exact: bool) -> None:
    """Raise a ParameterError for parameters that need an answer about each independent row."""
    asked = {
        "condition_on": (parameters.condition_on, "a conditional score"),
        "within": (parameters.within, "a search within slices"),
    }
    for name, (features, what) in asked.items():
        if features and not exact:
            raise ParameterError(
                f"{what} needs an answer for every row, and this audit draws samples",
                where=name,
                remedy="use --mode exact, allow more queries, or audit fewer rows with --limit",
            )
        if features and table.clusters is not None:
            units = table.specification.data
            independent = (
                "count each (--equal-rows each)"
                if units is None
                else f"leave the cluster {units.cluster!r} out if the rows are of different people"
            )
            raise ParameterError(
                f"{what} takes rows for independent, and here rows repeat one person",
                where=name,
                remedy=f"leave it out, bring one row a person, or {independent}",
            )


# What predictions can have in place of the paper's settings.
_OF_PREDICTIONS = {"estimand": "observed", "mode": "exact"}


def _check_predictions(parameters: AuditParameters) -> None:
    """Raise a ParameterError for parameters that need a model, where there are predictions."""
    needs_model = {
        "estimand": parameters.estimand == "neighbourhood",
        "mode": parameters.mode == "sampled",
        "nondeterministic": parameters.nondeterministic is not None,
    }
    by_paper = [name for name in _OF_PREDICTIONS if parameters.as_paper and needs_model[name]]
    if by_paper:
        asked = " and ".join(f"{name} = {PAPER_SETTINGS[name]!r}" for name in by_paper)
        instead = " and ".join(f"{name} = {_OF_PREDICTIONS[name]!r}" for name in by_paper)
        raise ParameterError(
            f"as_paper (--as-paper) stands for {asked}, which needs a model that can be asked, and "
            "these are predictions",
            where="as_paper",
            remedy=f"give {instead} beside it, or the model",
            name="as_paper",
        )
    for name, is_asked in needs_model.items():
        if is_asked:
            raise ParameterError(
                f"{name} = {getattr(parameters, name)!r} needs a model that can be asked, and "
                "these are predictions",
                where=name,
                remedy="leave it out, or give the model",
                name=name,
            )


def again_queries(model: LoadedModel[Any], data: Sized) -> int:
    """Return the queries of asking again about the first; testsgd's own networks are not asked."""
    return min(PROBE_ROWS, len(data)) if isinstance(model.model, CheckedFunction) else 0


def fits_exactly(queries: int, mode: Mode, allowed: int) -> bool:
    """Return whether an audit is exact: not if samples are asked for or queries do not suffice."""
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


def audit_held_out(audit: RowAudit, share: float) -> TableFindings:
    """Find groups on one part of the rows and estimate them on the other."""
    searched, kept = split_rows(audit.table, share, audit.parameters.seed)
    search_parameters = replace(audit.parameters, guarantee="per-group", condition_on=(), within=())
    of_search = about(audit.progress, SEARCHED)
    search = replace(
        audit,
        parameters=search_parameters,
        progress=of_search,
        clock=audit.clock.reporting_to(of_search),
    )
    search_findings = audit_rows(_of_part(search, searched))
    chosen = np.array(search_findings.highlights, dtype=np.intp)
    given = search_findings.rule_sets.take(chosen)
    of_held_out = about(audit.progress, HELD_OUT)
    estimation = replace(
        audit, given=given, progress=of_held_out, clock=audit.clock.reporting_to(of_held_out)
    )
    estimated = audit_rows(_of_part(estimation, kept))
    return held_out(search_findings, estimated, audit.parameters, share)


def held_out(
    searched: SomeFindings, estimated: SomeFindings, parameters: AuditParameters, share: float
) -> SomeFindings:
    """Return the findings of the rows kept, groups numbered in the order of the search."""
    # Imported here: most audits have no holdout.
    from testsgd.auditing.unestimated import largest_unestimated, smallest_unestimated_ratio

    gated = parameters.fail_above is not None
    gated_by_ratio = parameters.fail_below_ratio is not None
    ranks = {int(group): rank for rank, group in enumerate(searched.ranking, start=1)}
    number = {group: index for index, group in enumerate(searched.highlights)}
    return replace(
        estimated,
        parameters=parameters,
        queries=searched.queries + estimated.queries,
        neighbourhood=searched.neighbourhood + estimated.neighbourhood,
        rules=tuple(
            replace(rule, group=number[rule.group], near_duplicates=()) for rule in searched.rules
        ),
        # Groups of rows were told apart by the rows kept.
        distinct=estimated.distinct or tuple(number[group] for group in searched.distinct),
        unjudged=searched.unjudged,
        stability={number[group]: times for group, times in searched.stability.items()},
        stability_samples=searched.stability_samples,
        holdout=AuditHoldout(
            share=share,
            searched=searched.rows,
            estimated=estimated.rows,
            groups=len(searched.rule_sets),
            missing=int((~estimated.estimates.sampled).sum()),
            largest_unestimated=largest_unestimated(searched, estimated) if gated else None,
            smallest_unestimated_ratio=(
                smallest_unestimated_ratio(searched, estimated) if gated_by_ratio else None
            ),
        ),
        in_search={
            index: InSearch(
                rank=ranks[group],
                score=float(searched.estimates.score[group]),
                n_in=int(searched.estimates.rows_in[group]),
            )
            for group, index in number.items()
        },
    )


def split_rows(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Split rows at random; both parts keep their order, and a note says which part it is."""
    inside = part_of_rows(table, share, seed)
    remedy = "" if table.clusters is None else "give another share, or bring rows of more people"
    return two_parts(table, inside, share, seed, remedy)


def part_of_rows(table: Table, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which rows are held out, drawn at random.

    Rows of one person stay together, so the share is only as near as that allows.
    """
    rows = len(table)
    source = np.random.default_rng([seed, 6])
    if table.clusters is None:
        inside = np.zeros(rows, dtype=bool)
        inside[source.permutation(rows)[: round(share * rows)]] = True
        return inside
    # Whole people, each as likely as the others however many rows they have, and as many as come
    # nearest to the share of the rows.
    distinct, person = np.unique(table.clusters, return_inverse=True)
    people = source.permutation(len(distinct))
    sizes = np.cumsum(np.bincount(person)[people])
    held_out = int(np.argmin(np.abs(np.concatenate([[0], sizes]) - share * rows)))
    return np.isin(person, people[:held_out])


def _of_part(audit: RowAudit, part: Table) -> RowAudit:
    """Return the audit of a part of the rows, with its part of the queries."""
    queries = part_of_queries(audit.allowed, part, audit.table)
    return replace(audit, table=part, parameters=replace(audit.parameters, max_queries=queries))


def part_of_queries(allowed: int, part: Sized, whole: Sized) -> int:
    """Return the queries that may be spent on a part of the data."""
    return max(2, allowed * len(part) // len(whole))


def two_parts(
    data: Data, inside: NDArray[np.bool_], share: float, seed: int, remedy: str = ""
) -> tuple[Data, Data]:
    """Return the data to search and those to estimate on, which have a note of the split."""
    many = "rows" if isinstance(data, Table) else "texts"
    if inside.all() or not inside.any():
        raise ParameterError(
            f"{share:g} of {len(data):,} {many} leaves one part without {many}",
            where="holdout",
            remedy=remedy or f"give a share such as 0.5, or bring more {many}",
        )
    searched: Data = data.take(np.flatnonzero(~inside))
    kept: Data = data.take(np.flatnonzero(inside))
    note = (
        f"groups were found on {len(searched):,} {many} and estimated on {len(kept):,} others, "
        f"split at random with seed {seed}"
    )
    return searched, replace(kept, notes=(*kept.notes, note))
