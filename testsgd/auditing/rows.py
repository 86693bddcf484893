"""The steps of an audit of rows, from sensitive cells to ranked groups with their guarantee."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

import joblib
import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.estimates import means_over_draws
from testsgd.auditing.exact import audit_exactly
from testsgd.auditing.explaining import Explanation, explain_groups
from testsgd.auditing.false_discovery import false_discovery
from testsgd.auditing.findings import TableFindings
from testsgd.auditing.guarantee import Guarantee, bonferroni, per_group
from testsgd.auditing.independent import sample_independent
from testsgd.auditing.order import order_groups
from testsgd.auditing.outcome import Outcome, Progress, Search
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.pooled import sample_pooled
from testsgd.auditing.simultaneous import simultaneous
from testsgd.auditing.stability import affordable, group_stability
from testsgd.data import Table
from testsgd.models import PROBE_ROWS, LoadedModel, Model, Repetition, ask_again
from testsgd.rules import (
    Axis,
    Contingency,
    FrequentRuleSets,
    lay_out,
    mine,
    small_groups,
)
from testsgd.sampling import neighbourhood_size
from testsgd.scoring import block_of, member_overlaps

# The first distinct groups are looked for in bootstrap samples, and explained.
LOOKED_AT = 10


@dataclass(frozen=True, kw_only=True)
class RowAudit:
    """What is to be audited, and how.

    Attributes
    ----------
    model : LoadedModel
        The black box.
    table : Table
        The rows.
    axes : tuple of Axis
        Their sensitive features.
    parameters : AuditParameters
        What to do; ``max_queries`` is given.
    exact : bool
        Ask about all neighbours.
    given : FrequentRuleSets or None
        Groups to look at instead of searching for frequent ones.
    """

    model: LoadedModel[Model]
    table: Table
    axes: tuple[Axis, ...]
    parameters: AuditParameters
    exact: bool
    given: FrequentRuleSets | None = None

    @property
    def min_count(self) -> int:
        """Fewest rows of a frequent group."""
        return max(1, math.ceil(self.parameters.theta * len(self.table) - 1e-9))

    @property
    def jobs(self) -> int:
        """Threads that may ask the model at once."""
        processors = int(joblib.cpu_count()) if self.model.model.thread_safe else 1
        return self.parameters.jobs or processors


def audit_rows(audit: RowAudit, clock: Clock, progress: Progress | None) -> TableFindings:
    """Audit a model on some rows.

    Parameters
    ----------
    audit : RowAudit
        What, and how.
    clock : Clock
        Takes down how long each phase takes.
    progress : callable or None
        Called with the rows done and their number.

    Returns
    -------
    TableFindings
    """
    table, parameters = audit.table, audit.parameters
    allowed = parameters.budget(0)
    with clock.phase("rows"):
        contingency = lay_out(table, audit.axes)
    with clock.phase("model check"):
        fingerprint, again, probed = _probe(audit, _probe_rows(table, allowed))
    outcome = _find_rates(
        audit.model.model,
        table,
        contingency,
        parameters,
        _search(audit, contingency),
        exact=audit.exact,
        min_count=_fewest_rows(audit, contingency),
        budget=max(0, allowed - probed),
        jobs=audit.jobs,
        clock=clock,
        progress=progress,
    )
    with clock.phase("guarantee"):
        guarantee = _guarantee(audit, contingency, outcome)
    with clock.phase("ranking"):
        ranking, distinct = order_groups(
            outcome.estimates,
            outcome.estimates.score,
            outcome.rule_sets.rule_counts(),
            member_overlaps(
                lambda groups: outcome.rule_sets.members(groups, contingency), contingency.tally()
            ),
            parameters,
            first_by=guarantee.assured_sizes if parameters.rank_by == "assured" else None,
            block=block_of(contingency.cells),
        )
        small = small_groups(
            contingency, min_count=audit.min_count, max_features=parameters.max_features
        )
    with clock.phase("explanations"):
        explanations = _explanations(audit, contingency, outcome, guarantee, distinct)
    with clock.phase("stability"):
        stability, samples = _stability(audit, contingency, outcome, distinct)
    return TableFindings(
        table=table,
        model=audit.model,
        parameters=parameters,
        mode="exact" if audit.exact else "sampled",
        contingency=contingency,
        rule_sets=outcome.rule_sets,
        estimates=outcome.estimates,
        ranking=ranking,
        distinct=distinct,
        small=tuple(small),
        cell_samples=outcome.cell_samples,
        cell_favourable=outcome.cell_favourable,
        row_favourable=outcome.row_favourable,
        neighbourhood=neighbourhood_size(table) * len(table),
        queries=outcome.queries + probed,
        changing=again.differing,
        model_fingerprint=fingerprint,
        accuracy=outcome.accuracy,
        guarantee=guarantee,
        explanations=explanations,
        stability=stability,
        stability_samples=samples,
        seconds=clock.seconds,
    )


def _search(audit: RowAudit, contingency: Contingency) -> Search:
    """Search for frequent groups, or sum over the given ones."""
    given = audit.given
    if given is not None:
        return lambda quantities: given.over(contingency, quantities)
    return lambda quantities: mine(
        contingency,
        quantities,
        min_count=audit.min_count,
        max_features=audit.parameters.max_features,
    )


def _fewest_rows(audit: RowAudit, contingency: Contingency) -> int:
    """Give how few rows a group has at least, which says how many samples to begin with."""
    if audit.given is None:
        return audit.min_count
    sizes = audit.given.over(contingency, contingency.tally()[None]).sums[0]
    return max(1, int(sizes.min(initial=len(audit.table))))


def _guarantee(audit: RowAudit, contingency: Contingency, outcome: Outcome) -> Guarantee:
    """Choose among the three kinds of guarantee."""
    parameters, estimates = audit.parameters, outcome.estimates
    if parameters.guarantee == "per-group":
        return per_group(estimates, parameters.confidence)
    if parameters.guarantee == "fdr":
        return false_discovery(estimates, parameters.confidence)
    if audit.given is not None:
        return bonferroni(estimates, parameters.confidence)
    shared = int(outcome.cell_samples.sum())
    return simultaneous(
        estimates,
        contingency,
        outcome.cell_samples,
        outcome.cell_favourable,
        estimates.samples_in + estimates.samples_out != shared,
        parameters,
        min_count=audit.min_count,
        # The bootstrap asks no model.
        jobs=parameters.jobs or int(joblib.cpu_count()),
    )


def _explanations(
    audit: RowAudit,
    contingency: Contingency,
    outcome: Outcome,
    guarantee: Guarantee,
    distinct: tuple[int, ...],
) -> dict[int, Explanation]:
    """Explain the first distinct groups."""
    groups = distinct[:LOOKED_AT]
    # Independent sampling has no samples that say what each rule does.
    if not groups or not outcome.cell_samples.any():
        return {}
    answers = neighbourhood_size(audit.table) * audit.parameters.draws
    explained = explain_groups(
        audit.table,
        contingency,
        [outcome.rule_sets.rule_set(group) for group in groups],
        outcome.cell_samples,
        outcome.cell_favourable,
        outcome.row_favourable,
        answers,
        condition_on=audit.parameters.condition_on,
        error=float(guarantee.errors[list(groups)].min()),
    )
    return dict(zip(groups, explained, strict=True))


def _stability(
    audit: RowAudit, contingency: Contingency, outcome: Outcome, distinct: tuple[int, ...]
) -> tuple[dict[int, float], int]:
    """Look for the first distinct groups in bootstrap samples; give how many samples too."""
    parameters, found = audit.parameters, outcome.row_favourable
    samples = parameters.stability
    if samples is None:
        samples = affordable(outcome.rule_sets.candidates, contingency.cells)
    if found is None or audit.given is not None or not samples or not distinct:
        return {}, 0
    stability = group_stability(
        contingency,
        found,
        neighbourhood_size(audit.table) * parameters.draws,
        outcome.rule_sets,
        distinct[:LOOKED_AT],
        min_count=audit.min_count,
        max_features=parameters.max_features,
        overlap=parameters.overlap,
        samples=samples,
        seed=parameters.seed,
    )
    return stability, samples


def _probe_rows(table: Table, allowed: int) -> int:
    """Give the rows to try the model on: they count as queries, so they leave room for others."""
    return min(PROBE_ROWS, len(table), allowed // 2)


def _probe(audit: RowAudit, rows: int) -> tuple[str, Repetition, int]:
    """Try the model on the first rows, twice; give its fingerprint and the queries it took.

    It shows early what is wrong, whether the answers can be relied on, and how to recognise it.
    """
    table, model = audit.table, audit.model.model
    decisions = model.decisions(table.frame.iloc[:rows])
    left = audit.parameters.budget(0) - rows
    # An exact audit was found to fit with this; else something is left for the samples.
    most = left // 2
    if audit.exact:
        most = max(rows, left - exact_queries(table, audit.parameters))
    again = ask_again(
        model,
        lambda places: table.frame.iloc[places],
        decisions,
        most=most,
        at_random=audit.parameters.nondeterministic is not None,
    )
    fingerprint = hashlib.sha256(np.packbits(decisions).tobytes()).hexdigest()
    return fingerprint, again, rows + again.asked


def exact_queries(table: Table, parameters: AuditParameters) -> int:
    """Return the queries of an exact audit, once the model was tried: rows and neighbours."""
    return (neighbourhood_size(table) + 1) * len(table) * parameters.draws


def _find_rates(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    search: Search,
    *,
    exact: bool,
    min_count: int,
    budget: int,
    jobs: int,
    clock: Clock,
    progress: Progress | None,
) -> Outcome:
    """Choose among the three ways of finding the groups' rates."""
    if exact:
        outcome = audit_exactly(
            model,
            table,
            contingency,
            search,
            jobs=jobs,
            draws=parameters.draws,
            clock=clock,
            progress=progress,
        )
        if parameters.draws == 1:
            return outcome
        estimates = means_over_draws(outcome.estimates, parameters.confidence)
        return replace(outcome, estimates=estimates)
    with clock.phase("sampling"):
        if parameters.sampling == "pooled":
            return sample_pooled(
                model,
                table,
                contingency,
                parameters,
                search,
                min_count=min_count,
                budget=budget,
                progress=progress,
            )
        return sample_independent(
            model,
            table,
            contingency,
            parameters,
            search,
            budget=budget,
            jobs=jobs,
            progress=progress,
        )
