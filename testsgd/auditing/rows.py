"""The steps of an audit of rows, from sensitive cells to ranked groups with their guarantee."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import joblib
import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import rule_selection
from testsgd.auditing.conditional import ConditionalSearch, search_conditional, strata_of
from testsgd.auditing.deeper import DeeperSearch, search_deeper
from testsgd.auditing.different_people import DISTINCT, different_people
from testsgd.auditing.drawn_own_effect import draw_own_effects
from testsgd.auditing.error_rates import find_error_rates
from testsgd.auditing.estimates import Floats, means_over_draws
from testsgd.auditing.exact import audit_exactly, audit_predictions_exactly
from testsgd.auditing.explaining import Explanation, explain_groups
from testsgd.auditing.findings import Estimated, TableFindings
from testsgd.auditing.finer import FinerSearch, search_finer
from testsgd.auditing.guarantee import (
    Guarantee,
    guarantee_of_kind,
    is_significant,
)
from testsgd.auditing.independent import sample_independent
from testsgd.auditing.max_statistic import simultaneous
from testsgd.auditing.outcome import (
    Answers,
    Outcome,
    RowAudit,
    accuracy_of,
    order_groups,
    with_independent_rows,
)
from testsgd.auditing.own_effect import ask_own_effects
from testsgd.auditing.parameters import AuditParameters, Estimand
from testsgd.auditing.pooled import sample_pooled
from testsgd.auditing.slices import SliceSearch, search_slices
from testsgd.auditing.stability import affordable, group_stability
from testsgd.data import Table
from testsgd.models import PROBE_ROWS, Repetition, ask_again, check_reading
from testsgd.rules import (
    FrequentRuleSets,
    SmallGroup,
    Unjudged,
    mine,
    small_groups,
    unjudged_rows,
)
from testsgd.sampling import decisions_about, neighbourhood_size
from testsgd.scoring import Clusters

# The number of first distinct groups that are looked for in bootstrap samples, and explained.
LOOKED_AT = 10


def audit_rows(audit: RowAudit) -> TableFindings:
    """Audit a model on the rows of a table and return what was found.

    The steps are: check the model, find the rates of all groups, compute what their intervals hold
    for, rank them, choose the rules that explain how rates differ, look further (at more features,
    finer cuts, slices, rows that are alike), and explain the first groups.
    """
    table = audit.table
    parameters = audit.parameters
    clock = audit.clock
    with clock.phase("rows"):
        contingency = audit.contingency
    with clock.phase("model check"):
        known = table.answered_by(audit.model.model)
        fingerprint, repetition, probed = _probe(audit, known)
    outcome = _find_rates(audit, max(0, audit.allowed - probed), known)
    answers: dict[Estimand, Answers] = {"observed": outcome.observed}
    if outcome.neighbourhood is not None:
        answers["neighbourhood"] = outcome.neighbourhood
    if table.clusters is not None:
        clusters = Clusters.of(table.clusters)
        answers = {
            estimand: with_independent_rows(known, outcome.rule_sets, contingency, clusters)
            for estimand, known in answers.items()
        }
    with clock.phase("guarantee"):
        estimated = [
            Estimated(estimand, known.estimates, _guarantee(audit, known, outcome.rule_sets))
            for estimand, known in answers.items()
        ]
    [first] = [item for item in estimated if item.estimand == parameters.estimand]
    ranked = answers[parameters.estimand]
    rule_sets = outcome.rule_sets
    guarantee = first.guarantee
    estimates = first.estimates
    with clock.phase("own effects"):
        left = audit.allowed - probed - outcome.queries
        own_effects, own_effects_unknown = ask_own_effects(audit, rule_sets, left=left)
    with clock.phase("ranking"):
        sizes = estimates.score
        harmed = estimates.difference < 0
        first_by = guarantee.lower_bounds if parameters.ranked_by == "lower-bound" else None
        then_by = None
        if parameters.ranked_by == "counterfactual" and own_effects is not None:
            sizes = np.abs(own_effects.effects)
            first_by = own_effects.lower_bounds(guarantee.errors)
            # Where no own effect is certain, groups would be in an order of chance.
            then_by = guarantee.lower_bounds
            harmed = np.where(first_by > 0, own_effects.effects < 0, harmed)
        ranking = order_groups(
            estimates,
            sizes,
            rule_sets.rule_counts(),
            first_by=first_by,
            harmed=harmed,
            then_by=then_by,
        )
        small, unjudged = _not_judged(audit, rule_sets)
    with clock.phase("rule selection"):
        rules = _explaining_rules(audit, ranked, rule_sets, ranking, guarantee)
        bounds = first_by if parameters.ranked_by == "counterfactual" else None
        distinct: tuple[int, ...] = ()
        if not parameters.groups:
            significant = is_significant(estimates, guarantee, bounds)
            order = ranking[estimates.decided[ranking]]
            # The first group is shown in any case.
            order = np.append(order[:1], order[1:][significant[order[1:]]])
            distinct = different_people(order, rule_sets, contingency, limit=DISTINCT)
    deeper = _more_features(audit, outcome.observed)
    finer = _finer_cuts(audit, outcome.observed)
    slices = _within_slices(audit, outcome.observed, rule_sets)
    conditional = _among_alike(audit, outcome.observed, rule_sets)
    favourable = outcome.observed.row_favourable
    accuracy = None
    if favourable is not None and table.labels is not None and not table.labels.isna().any():
        labels = table.labels.to_numpy() == table.specification.label.favourable
        accuracy = accuracy_of(labels, favourable, outcome.observed.row_samples)
    with clock.phase("error rates"):
        error_rates = find_error_rates(audit, rule_sets, outcome.observed)
    findings = TableFindings(
        table=table,
        model=audit.model,
        parameters=parameters,
        mode="exact" if audit.exact else "sampled",
        contingency=contingency,
        rule_sets=rule_sets,
        estimates=estimates,
        others=tuple(item for item in estimated if item is not first),
        ranking=ranking,
        rules=rules,
        distinct=distinct,
        small=small,
        unjudged=unjudged,
        cell_samples=ranked.cell_samples,
        cell_favourable=ranked.cell_favourable,
        row_samples=ranked.row_samples,
        row_favourable=ranked.row_favourable,
        by_feature=outcome.by_feature,
        own_effects=own_effects,
        own_effects_unknown=own_effects_unknown,
        deeper=deeper,
        finer=finer,
        slices=slices,
        conditional=conditional,
        neighbourhood=neighbourhood_size(table) * len(table) if audit.has_neighbours else 0,
        queries=outcome.queries + probed + (0 if own_effects is None else own_effects.queries),
        changing=repetition.differing,
        model_fingerprint=fingerprint,
        accuracy=accuracy,
        error_rates=error_rates,
        guarantee=guarantee,
        seconds=clock.seconds,
    )
    if own_effects is None:
        with clock.phase("own effects"):
            findings = _with_drawn_effects(audit, findings)
    with clock.phase("explanations"):
        explanations = _explanations(audit, findings)
    with clock.phase("stability"):
        stability, samples = _stability(audit, findings)
    return replace(
        findings, explanations=explanations, stability=stability, stability_samples=samples
    )


def _is_looked_at_again(audit: RowAudit, observed: Answers) -> bool:
    """Return whether all groups are searched for, with an answer about each independent row."""
    if audit.given is not None or audit.parameters.guarantee == "per-group":
        return False
    return observed.row_favourable is not None and audit.table.clusters is None


def _more_features(audit: RowAudit, observed: Answers) -> DeeperSearch | None:
    """Compare groups of more features than were searched; None if there are none."""
    parameters = audit.parameters
    more = sum(axis.rule_count > 0 for axis in audit.axes) > parameters.depth
    # Answers that are shares of a row are no bits.
    if (
        not audit.deeper
        or not more
        or observed.row_samples != 1
        or not _is_looked_at_again(audit, observed)
    ):
        return None
    assert observed.row_favourable is not None
    with audit.clock.phase("more features"):
        return search_deeper(
            audit.contingency,
            observed.row_favourable.astype(bool),
            searched=parameters.depth,
            min_rows=audit.min_count,
            confidence=parameters.confidence,
        )


def _finer_cuts(audit: RowAudit, observed: Answers) -> FinerSearch | None:
    """Compare groups by finer cuts of sensitive numbers; None if there are none."""
    parameters = audit.parameters
    if not _is_looked_at_again(audit, observed):
        return None
    assert observed.row_favourable is not None
    with audit.clock.phase("finer cuts"):
        return search_finer(
            audit.table,
            audit.axes,
            observed.row_favourable / observed.row_samples,
            min_rows=audit.min_count,
            confidence=parameters.confidence,
        )


def _within_slices(
    audit: RowAudit, observed: Answers, rule_sets: FrequentRuleSets
) -> SliceSearch | None:
    """Compare groups within slices of other features; None if that is not asked for."""
    parameters = audit.parameters
    if not parameters.within or observed.row_favourable is None:
        return None
    with audit.clock.phase("slices"):
        return search_slices(
            audit.table,
            audit.contingency,
            rule_sets,
            observed.row_favourable / observed.row_samples,
            features=parameters.within,
            min_rows=audit.min_count,
            confidence=parameters.confidence,
        )


def _among_alike(
    audit: RowAudit, observed: Answers, rule_sets: FrequentRuleSets
) -> ConditionalSearch | None:
    """Compare groups with others alike in chosen features; None if no feature is chosen."""
    parameters = audit.parameters
    if not parameters.condition_on or observed.row_favourable is None:
        return None
    with audit.clock.phase("conditional"):
        return search_conditional(
            strata_of(audit.table, parameters.condition_on),
            audit.contingency,
            rule_sets,
            observed.row_favourable,
            observed.row_samples,
            features=parameters.condition_on,
            min_rows=audit.min_count,
            confidence=parameters.confidence,
        )


def _not_judged(
    audit: RowAudit, rule_sets: FrequentRuleSets
) -> tuple[tuple[SmallGroup, ...], Unjudged]:
    """Return the groups that are too small to be judged, and who is in no judged group."""
    if audit.named:
        # Only the named groups were to be judged.
        return audit.too_small, Unjudged(combinations=0, unjudged=0, rows=0)
    depth = audit.parameters.depth
    small = small_groups(audit.contingency, min_count=audit.min_count, max_features=depth)
    unjudged = unjudged_rows(
        audit.contingency,
        _judged_groups(audit, rule_sets),
        min_count=audit.min_count,
        min_outside=audit.min_outside,
        max_features=depth,
        max_dilution=audit.parameters.max_dilution,
        table=audit.table,
    )
    return tuple(small), unjudged


def _judged_groups(audit: RowAudit, rule_sets: FrequentRuleSets) -> FrequentRuleSets:
    """Return the groups of a search; they are searched for where only given groups are audited."""
    if audit.given is None:
        return rule_sets
    return mine(
        audit.contingency,
        audit.contingency.tally()[None],
        min_count=audit.min_count,
        min_outside=audit.min_outside,
        max_features=audit.parameters.depth,
    )


def _guarantee(audit: RowAudit, answers: Answers, rule_sets: FrequentRuleSets) -> Guarantee:
    """Return the guarantee of the kind that is asked for."""
    parameters = audit.parameters
    estimates = answers.estimates
    # A single group needs no bootstrap: its interval holds together with itself.
    alone = audit.named and len(rule_sets) == 1
    # The bootstrap takes rows for independent.
    dependent = audit.given is not None or audit.table.clusters is not None
    if parameters.guarantee != "simultaneous" or dependent or alone:
        return guarantee_of_kind(parameters.guarantee, estimates, parameters.confidence)
    [shared] = rule_sets.totals(audit.contingency, answers.cell_samples[None])
    return simultaneous(
        estimates,
        audit.contingency,
        cell_samples=answers.cell_samples,
        cell_favourable=answers.cell_favourable,
        own_samples=estimates.samples_in + estimates.samples_out != shared,
        parameters=parameters,
        min_count=audit.min_count,
        # The bootstrap asks no model.
        jobs=parameters.jobs or int(joblib.cpu_count()),
    )


def _explaining_rules(
    audit: RowAudit,
    answers: Answers,
    rule_sets: FrequentRuleSets,
    ranking: NDArray[np.intp],
    guarantee: Guarantee,
) -> tuple[rule_selection.ExplainingRule, ...]:
    """Return the fewest rules that explain how rates differ; none if groups share no samples."""
    contingency = audit.contingency
    judged = ranking[answers.estimates.decided[ranking]]
    if not answers.cell_samples.any() or not len(judged) or audit.given is not None:
        return ()

    def group_sums(quantities: Floats) -> Floats:
        """Sum quantities (q, cells) over all groups, shape (q, groups)."""
        return rule_sets.sums_of(contingency, quantities)

    def totals(quantities: Floats) -> Floats:
        """Sum quantities (q, cells) over all groups and their complements, shape (q, groups)."""
        return rule_sets.totals(contingency, quantities)

    def members(group: int) -> NDArray[np.bool_]:
        """Return which cells are in a group, shape (cells,)."""
        inside: NDArray[np.bool_] = rule_sets.members(np.array([group]), contingency)[0]
        return inside

    rows = contingency.tally()
    overlap = audit.parameters.overlap
    rules = []
    for rule in rule_selection.select_rules(
        rule_selection.cell_table(
            rows, answers.cell_samples, answers.cell_favourable, answers.cell_independent
        ),
        group_sums,
        members,
        rule_sets.rule_counts(),
        judged,
        critical=guarantee.simultaneous_critical_value,
        left_out=rule_selection.LeftOut.of(rule_sets, contingency),
    ):
        inside = members(rule.group)
        near = rule_selection.near_duplicates(
            rule.group,
            member=inside,
            complement=rule_sets.complement_members(np.array([rule.group]), contingency)[0],
            rows=rows,
            group_sums=group_sums,
            totals=totals,
            order=judged,
            overlap=overlap,
        )
        rules.append(replace(rule, near_duplicates=near))
    return tuple(rules)


def _first_groups(audit: RowAudit, findings: TableFindings) -> tuple[int, ...]:
    """Return the groups that reports look at first: of given groups those with two sides."""
    if audit.given is not None:
        return tuple(np.flatnonzero(findings.estimates.decided).tolist())
    return findings.highlights


def _with_drawn_effects(audit: RowAudit, findings: TableFindings) -> TableFindings:
    """Estimate own effects from draws, of as many groups as the queries that are left allow."""
    drawn = draw_own_effects(
        audit,
        findings.rule_sets,
        _first_groups(audit, findings),
        left=audit.allowed - findings.queries,
    )
    if not drawn.of_group:
        return findings
    why = f"of groups other than the first {len(drawn.of_group)}: {findings.own_effects_unknown}"
    return replace(
        findings,
        drawn_effects=drawn.of_group,
        own_effects_unknown=why,
        queries=findings.queries + drawn.queries,
    )


def _explanations(audit: RowAudit, findings: TableFindings) -> dict[int, Explanation]:
    """Explain the groups that reports look at first."""
    groups = _first_groups(audit, findings)[:LOOKED_AT]
    # Independent sampling has no samples that say what each rule does.
    if not groups or not findings.cell_samples.any():
        return {}
    explained = explain_groups(
        findings.table,
        findings.contingency,
        [findings.rule_sets.rule_set(group) for group in groups],
        findings.cell_samples,
        findings.cell_favourable,
        # Differences that are left among people alike are of independent rows.
        findings.row_favourable if findings.table.clusters is None else None,
        findings.row_samples,
        condition_on=findings.parameters.condition_on,
        error=float(findings.guarantee.errors[list(groups)].min()),
    )
    return dict(zip(groups, explained, strict=True))


def _stability(audit: RowAudit, findings: TableFindings) -> tuple[dict[int, float], int]:
    """Look for the explaining rules in bootstrap samples; return how many samples too."""
    parameters = audit.parameters
    rules = findings.explaining
    samples = parameters.stability
    if samples is None:
        samples = affordable(findings.rule_sets.candidates, findings.contingency.cells)
    # The bootstrap draws rows, so it takes them for independent.
    dependent = findings.table.clusters is not None
    if findings.row_favourable is None or dependent or not samples or not rules:
        return {}, 0
    stability = group_stability(
        findings.contingency,
        findings.row_favourable,
        findings.row_samples,
        findings.rule_sets,
        rules[:LOOKED_AT],
        min_count=audit.min_count,
        min_outside=audit.min_outside,
        max_features=parameters.depth,
        overlap=parameters.overlap,
        critical=findings.guarantee.simultaneous_critical_value,
        samples=samples,
        seed=parameters.seed,
    )
    return stability, samples


def _probe(audit: RowAudit, known: NDArray[np.int8]) -> tuple[str, Repetition, int]:
    """Try the model on the first rows, twice; give its fingerprint, what differed, the queries.

    `known` are the answers about each row that there are already, and those found here are added.
    """
    table = audit.table
    model = audit.model.model
    if not audit.has_neighbours:
        existing = model.decisions(table.frame.iloc[:PROBE_ROWS])
        check_reading(model, existing, table.labels, table.specification.label)
        return _fingerprint(existing), Repetition(), 0
    # How many queries the first 1, 2, ... rows take.
    queries = np.cumsum(known[:PROBE_ROWS] < 0)
    rows = int(np.searchsorted(queries, audit.allowed // 2, side="right"))
    first = int(queries[rows - 1]) if rows else 0
    counter = audit.counter("trying the model", first)
    decisions = decisions_about(model, table, np.arange(rows), known, counter)
    check_reading(model, decisions, table.labels, table.specification.label)
    left = audit.allowed - first
    # An exact audit was found to fit with this; else something is left for the samples.
    most = left // 2
    if audit.exact:
        most = max(rows, left - exact_queries(table, audit.parameters))
    with audit.counter("asking about some rows again", rows).asking(rows):
        repetition = ask_again(
            model,
            lambda indices: table.frame.iloc[indices],
            decisions,
            most=most,
            at_random=audit.parameters.nondeterministic is not None,
        )
    return _fingerprint(decisions), repetition, first + repetition.asked


def _fingerprint(decisions: NDArray[np.bool_]) -> str:
    return hashlib.sha256(np.packbits(decisions).tobytes()).hexdigest()


def exact_queries(table: Table, parameters: AuditParameters) -> int:
    """Return the queries of an exact audit, once the model was tried: rows and neighbours."""
    return (neighbourhood_size(table) + 1) * len(table) * parameters.draws


def _find_rates(audit: RowAudit, budget: int, known: NDArray[np.int8]) -> Outcome:
    """Choose among the three ways of finding the groups' rates.

    `known` are the answers about each row that there are already.
    """
    parameters = audit.parameters
    if not audit.has_neighbours:
        return audit_predictions_exactly(audit)
    if audit.exact:
        outcome = audit_exactly(audit)
        if parameters.draws == 1 or outcome.neighbourhood is None:
            return outcome
        neighbourhood, observed = (
            replace(answers, estimates=means_over_draws(answers.estimates, parameters.confidence))
            for answers in (outcome.neighbourhood, outcome.observed)
        )
        return replace(outcome, neighbourhood=neighbourhood, observed=observed)
    with audit.clock.phase("sampling"):
        sample = sample_pooled if parameters.sampling == "pooled" else sample_independent
        return sample(audit, budget, known)
