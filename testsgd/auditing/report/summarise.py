"""From findings to the summary document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.findings import Estimated, Findings, TableFindings
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.repeated_runs import SeedRuns
from testsgd.auditing.report import summary as document
from testsgd.auditing.report.base_rates import BaseRates, base_rates_of_look, group_base_rates
from testsgd.auditing.report.composition import ValueCounts, composition
from testsgd.auditing.report.error_rates import error_rate_summaries
from testsgd.auditing.report.frames import frame_of
from testsgd.auditing.report.further_looks import (
    conditional_summary,
    deeper_summary,
    finer_summary,
    within_summary,
)
from testsgd.auditing.report.gate import GateMeasure
from testsgd.auditing.report.kinds import are_of_texts
from testsgd.auditing.report.leading import leading_look
from testsgd.auditing.report.own_effects import own_effect_summaries
from testsgd.auditing.report.ratio_gate import RatioMeasure
from testsgd.auditing.report.runs import runs_summary
from testsgd.auditing.report.subject import (
    charts,
    counterfactual_summary,
    data_summary,
    rules_alone,
)
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.verdict import PENDING, verdict
from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.auditing.report.wording import DISAGREEMENT, disagree
from testsgd.models import CallableModel, CheckedFunction, PredictionColumn
from testsgd.models.blackbox import may_have_encoders
from testsgd.report.formatting import count, series
from testsgd.report.summaries import RuleSummary, package_versions, present_moment
from testsgd.rules import Rule
from testsgd.scoring import lower_confidence_bound

_PACKAGES = ("numpy", "pandas", "scikit-learn", "statsmodels", "joblib")
_TEXT_PACKAGES = ("nltk", "mlxtend")

# For how many of the first groups, ranked and distinct, each rule is looked at alone.
_EXPLAINED = 10
# Near-duplicates that are named, and features whose move changes the first group's difference.
_EXAMPLES = 3
_MOVED = 3
# Bounds that are less apart than this are equal but for rounding.
_ROUNDING = 1e-9


def summarise(
    findings: Findings, *, snippets: int = 0, runs: SeedRuns | None = None
) -> AuditSummary:
    """Return what an audit found as one document, from which every view is rendered.

    Parameters
    ----------
    findings : Findings
        What the audit found, of rows or of texts.
    snippets : int
        Places of the texts to show of each sensitive term, at most; 0 if the texts are not to be
        shown. Rows are never shown.
    runs : SeedRuns, optional
        What runs with several seeds say of the first groups.

    Returns
    -------
    AuditSummary
        The document, with the verdict and the data of the charts.
    """
    data = data_summary(findings)
    drawn = charts(findings)
    parameters = replace(findings.parameters, rank_by=findings.parameters.ranked_by)
    ranks = {int(group): rank for rank, group in enumerate(findings.ranking, start=1)}
    groups = _groups(findings, ranks)
    estimands = _estimands(findings, ranks)
    terms = None
    if are_of_texts(findings):
        # Imported here: the report of a table loads nothing of texts.
        from testsgd.auditing.report.terms import describe_terms

        terms = describe_terms(findings, drawn.features, snippets=snippets)
    decided = int(findings.estimates.decided.sum())
    holdout = findings.holdout
    # Groups are judged where they are searched.
    searched = findings.rows if holdout is None else holdout.searched
    without_verdict = AuditSummary.of(
        findings,
        created=present_moment(),
        sampling=None if findings.mode == "exact" else parameters.sampling,
        versions=package_versions(packages(findings)),
        model_queries=findings.queries,
        runs=runs_summary(findings, runs),
        own_effects_unknown=(
            findings.own_effects_unknown if isinstance(findings, TableFindings) else ""
        ),
        verdict=PENDING,
        data=data,
        parameters=parameters,
        counts=document.Counts.of(
            findings.rule_sets,
            groups=len(findings.rule_sets),
            decided=decided,
            undecided_frequent=len(findings.rule_sets) - decided,
            undecided_small=len(findings.small),
        ),
        groups=groups,
        terms=terms,
        undecided=_undecided(findings, words_for(data.kind)),
        estimands=estimands,
        moved=_moved_features(findings, groups),
        rules=_rules(findings, ranks),
        unjudged=document.UnjudgedSummary.of(
            findings.unjudged,
            fewest=parameters.fewest_rows(searched),
            share=findings.unjudged.rows / max(1, searched),
            max_dilution=None if are_of_texts(findings) else parameters.max_dilution,
        ),
        guarantee=_guarantee(findings, ranks),
        error_rates=error_rate_summaries(findings),
        holdout=holdout,
        deeper=deeper_summary(findings) if isinstance(findings, TableFindings) else None,
        finer=finer_summary(findings.finer) if isinstance(findings, TableFindings) else None,
        within=within_summary(findings) if isinstance(findings, TableFindings) else None,
        conditional=(
            conditional_summary(findings) if isinstance(findings, TableFindings) else None
        ),
        stability_samples=findings.stability_samples,
        overall_rate=_known(findings.overall_rate),
        model=model_summary(findings),
        charts=drawn,
    )
    # The gate looks at both estimands, or at the counterfactual effects of terms.
    measures = [
        GateMeasure(
            f"{item.estimand} difference", item.largest, item.largest_bound, item.largest_allowed
        )
        for item in estimands
    ]
    if are_of_texts(findings):
        from testsgd.auditing.report.text_measures import text_measures

        measures = text_measures(findings, measures)
    if parameters.ranked_by == "counterfactual" and isinstance(findings, TableFindings):
        # Beside the differences: those that come through other features would pass unseen.
        measures.append(_own_effect_measure(findings))
    measures += _beside_the_search(without_verdict)
    if holdout is not None and holdout.largest_unestimated is not None:
        measures.append(GateMeasure.of_unestimated(holdout.largest_unestimated))
    ratios = [
        RatioMeasure(
            f"{item.estimand} ratio",
            item.smallest_ratio,
            item.smallest_ratio_bound,
            item.smallest_ratio_allowed,
        )
        for item in estimands
    ]
    if holdout is not None and holdout.smallest_unestimated_ratio is not None:
        ratios.append(RatioMeasure.of_unestimated(holdout.smallest_unestimated_ratio))
    judged = verdict(
        without_verdict,
        measures,
        ratios,
        consists_of=_consists_of(findings, without_verdict),
        base_rates_of_look=_base_rates_of_look(findings, without_verdict),
    )
    return without_verdict.model_copy(update={"verdict": judged})


def _consists_of(findings: Findings, known: AuditSummary) -> tuple[ValueCounts, ...]:
    """Return of which values the group of the headline consists; nothing of texts."""
    decided = [group for group in known.groups if group.decided]
    if not decided or not isinstance(findings, TableFindings):
        return ()
    return composition(leading_look(known, decided[0]) or decided[0], findings.table)


def _base_rates_of_look(findings: Findings, known: AuditSummary) -> BaseRates | None:
    """Return the base rates of the headline's group, if that is of a look beyond the search."""
    decided = [group for group in known.groups if group.decided]
    if not decided or not isinstance(findings, TableFindings):
        return None
    return base_rates_of_look(leading_look(known, decided[0]), findings)


def _beside_the_search(known: AuditSummary) -> list[GateMeasure]:
    """Return what the gate looks at besides the groups over all rows."""
    within = known.within
    conditional = known.conditional
    measures = []
    looks = {"by more features": known.deeper, "by finer cuts": known.finer}
    for name, look in looks.items():
        if look is not None and look.lower_confidence_bound > 0:
            bound = look.lower_confidence_bound
            measures.append(GateMeasure.of_look(f"observed difference {name}", bound))
    if within is not None:
        measures.append(
            GateMeasure(
                "observed difference within slices",
                within.largest,
                within.largest_bound,
                within.largest_allowed,
            )
        )
    if conditional is not None:
        measures.append(
            GateMeasure(
                f"difference at equal {series(conditional.features)}",
                conditional.largest,
                conditional.largest_bound,
                conditional.largest_allowed,
            )
        )
    return measures


def _own_effect_measure(findings: TableFindings) -> GateMeasure:
    """Return the largest own effect of the sensitive features, and its lower confidence bound."""
    name = "own effect of the sensitive features"
    known = findings.own_effects
    if known is None:
        return GateMeasure(name, None, None)
    judged = findings.estimates.decided & ~np.isnan(known.effects)
    if not judged.any():
        return GateMeasure(name, None, None)
    bound = None
    errors = findings.guarantee.errors
    if findings.guarantee.kind == "fdr":
        # Which of them are discoveries is known of the differences only.
        errors = np.full(len(judged), (1 - findings.guarantee.confidence) / len(judged))
    if findings.guarantee.kind != "per-group":
        bound = float(known.lower_bounds(errors)[judged].max())
    return GateMeasure(name, float(np.abs(known.effects[judged]).max()), bound)


def packages(findings: Findings) -> tuple[str, ...]:
    """Return the packages whose versions matter for an audit."""
    return _PACKAGES + (_TEXT_PACKAGES if are_of_texts(findings) else ())


def rule_summary(rule: Rule) -> RuleSummary:
    """Write a rule as a part of the document."""
    return RuleSummary.model_validate(rule.to_json())


def model_summary(findings: Findings) -> document.ModelSummary:
    """Describe the model that was audited."""
    loaded = findings.model
    model = loaded.model
    if isinstance(model, PredictionColumn) and model.model is not None:
        # What is counted of a metric are answers of a model.
        model = model.model
    reading: dict[str, Any] = {}
    if isinstance(model, CheckedFunction):
        reading = {
            "read_as": model.read_as,
            "other_labels": model.others,
            "unknown_labels": model.unknown,
        }
    elif isinstance(model, PredictionColumn):
        reading = {"other_labels": model.others}
    return document.ModelSummary.of(
        model,
        unknown_categories=_unknown_categories(findings),
        fingerprint=findings.model_fingerprint,
        accuracy=findings.accuracy,
        changing=findings.changing,
        file_sha256=loaded.file_sha256,
        card={
            key: f"{value:.4g}" if isinstance(value, float) else str(value)
            for key, value in loaded.card.items()
            if not isinstance(value, dict)
        },
        not_given=loaded.not_given,
        passed_through=loaded.passed,
        **reading,
    )


def _unknown_categories(findings: Findings) -> list[document.UnknownCategories]:
    """Describe the cells that encoders of the model were not fitted to, if these can be read."""
    loaded = findings.model
    if not isinstance(findings, TableFindings) or not may_have_encoders(loaded.origin):
        return []
    # Imported here: most models have no encoder that can be read.
    from testsgd.auditing.report.unknown_categories import unknown_categories

    given = loaded.model.columns if isinstance(loaded.model, CallableModel) else None
    return unknown_categories(loaded.origin, findings.table.frame, given)


def _groups(findings: Findings, ranks: dict[int, int]) -> list[GroupSummary]:
    """Describe the top of the ranking, distinct and explaining groups, and the surest group."""
    top = findings.ranking[: findings.parameters.top].tolist()
    chosen = {
        *top,
        *findings.distinct,
        *findings.explaining,
        _surest_group(findings.guarantee, ranks),
    }
    groups = np.array(sorted(chosen & ranks.keys(), key=ranks.__getitem__), dtype=np.intp)
    explained = {*findings.highlights[:_EXPLAINED], *findings.ranking[:_EXPLAINED].tolist()}
    estimates = findings.estimates.take(groups)
    of_rows = isinstance(findings, TableFindings)
    ratios = np.array(estimates.population_ratio_at(findings.guarantee.errors[groups])).T
    unknown = findings.unknown.tolist() if are_of_texts(findings) else []
    rows = frame_of(findings, groups, np.array([ranks[group] for group in groups.tolist()]))
    base_in, base_out = group_base_rates(findings, groups)
    own_effects = own_effect_summaries(findings, groups)
    combined = [
        group
        for group in groups.tolist()
        if group in explained and len(findings.rule_set(group).rules) > 1
    ]
    alone = rules_alone(findings, combined)
    described = []
    for index, row in enumerate(rows.to_dict("records")):
        group = int(groups[index])
        low, high = ratios[index, 1:].tolist()
        known = {name: _known(row[name]) for name in GroupSummary.model_fields if name in row}
        described.append(
            GroupSummary.of(
                rules=[rule_summary(rule) for rule in findings.rule_set(group).rules],
                effective_sample_size_in=_at(estimates.effective_sample_size_in, index),
                effective_sample_size_out=_at(estimates.effective_sample_size_out, index),
                base_rate_in=_known(base_in[index]),
                base_rate_out=_known(base_out[index]),
                margin_method="wilson" if estimates.wilson[index] else estimates.margin_kind,
                confidence_interval=(row["ci_low"], row["ci_high"]),
                ratio=float(ratios[index, 0]) if of_rows else None,
                ratio_interval=(low, high) if of_rows else None,
                other=_other_rates(findings, group, row),
                rules_alone=alone.get(group, []),
                counterfactual=counterfactual_summary(findings, group),
                own_effect=own_effects[index],
                unknown_to_model=bool(unknown and unknown[group]),
                stability=findings.stability.get(group),
                in_search=findings.in_search.get(group),
                explanation=findings.explanations.get(group),
                **known,
            )
        )
    return described


def _at(rows: NDArray[np.float64] | None, index: int) -> float | None:
    """Return the number of rows (groups,) at an index; None if there are none."""
    return None if rows is None else float(rows[index])


def _known(value: Any) -> Any:
    """Return a value, None if it is NaN."""
    return None if value != value else value


def _undecided(findings: Findings, words: Words) -> list[document.UndecidedGroup]:
    """List groups that are too small to judge, and those that got no sample on one side."""
    fewest = findings.parameters.fewest_rows(findings.rows)
    too_few = f"fewer than {count(fewest)} {words.many}"
    # Of named groups some are too large: few rows are outside.
    too_few_outside = f"{too_few} outside"
    estimates = findings.estimates
    groups = []
    for group in np.flatnonzero(~estimates.sampled).tolist():
        why = "no samples" if estimates.rows_out[group] else words.nothing_outside
        groups.append((findings.rule_set(group), int(estimates.rows_in[group]), why))
    groups += [
        (small.rule_set, small.count, too_few if small.count < fewest else too_few_outside)
        for small in findings.small
    ]
    return [
        document.UndecidedGroup(
            text=rule_set.text,
            rules=[rule_summary(rule) for rule in rule_set.rules],
            n_in=rows,
            support=rows / findings.rows,
            reason=reason,
        )
        for rule_set, rows, reason in groups[: findings.parameters.top]
    ]


def _guarantee(findings: Findings, ranks: dict[int, int]) -> document.GuaranteeSummary:
    """Return what the confidence intervals hold for."""
    guarantee = findings.guarantee
    by_q_values = guarantee.q_values is not None
    largest = _surest_group(guarantee, ranks)
    return document.GuaranteeSummary.of(
        guarantee,
        # Discoveries are those of the q-values; an interval may fall on the other side.
        significant=len(guarantee.discoveries) if by_q_values else guarantee.significant,
        significant_complete=guarantee.significant_complete or by_q_values,
        significant_terms=findings.significant_terms,
        largest_bound_rank=None if largest is None else ranks.get(largest),
    )


def _surest_group(guarantee: Guarantee, ranks: dict[int, int]) -> int | None:
    """Return the group with the largest lower bound, of equal ones that which is ranked first.

    A group and its complement have the same bound but for rounding.
    """
    largest = guarantee.largest_bound_group
    if largest is None:
        return None
    bounds = guarantee.lower_bounds
    equal = np.flatnonzero(np.abs(bounds - bounds[largest]) <= _ROUNDING).tolist()
    ranked = [group for group in equal if group in ranks]
    return min(ranked, key=ranks.__getitem__, default=largest)


def _other_rates(
    findings: Findings, group: int, row: dict[Hashable, Any]
) -> document.EstimandRates | None:
    """Return a group's rates by the other estimand; None if it was not estimated."""
    if not findings.others:
        return None
    [other] = findings.others
    low, high = row["other_ci_low"], row["other_ci_high"]
    decided = bool(other.estimates.decided[group])
    margin = float(other.estimates.margin[group])
    return document.EstimandRates(
        estimand=other.estimand,
        rate_in=_known(row["other_rate_in"]),
        rate_out=_known(row["other_rate_out"]),
        difference=_known(row["other_difference"]),
        confidence_interval=None if np.isnan(low) else (low, high),
        margin=margin if np.isfinite(margin) else None,
        decided=decided,
        lower_confidence_bound=float(lower_confidence_bound(low, high)) if decided else None,
    )


def _estimands(findings: Findings, ranks: dict[int, int]) -> list[document.EstimandSummary]:
    """Return what the audit found by each estimand, the one that groups are ranked by first."""
    first = Estimated(findings.parameters.estimand, findings.estimates, findings.guarantee)
    summaries = []
    of_rows = isinstance(findings, TableFindings)
    for estimated in (first, *findings.others):
        score = estimated.estimates.score
        guarantee = estimated.guarantee
        ratios = _smallest_ratios(findings, estimated) if of_rows else _SmallestRatios()
        decided = score[estimated.estimates.decided]
        # The gate takes single groups at their differences, discoveries at the largest of them.
        bound = {
            "per-group": None,
            "simultaneous": float(guarantee.largest_bound),
            "fdr": float(score[guarantee.discoveries].max(initial=0.0)),
        }[guarantee.kind]
        leading = _surest_group(guarantee, ranks)
        summaries.append(
            document.EstimandSummary(
                estimand=estimated.estimand,
                first="" if leading is None else findings.rule_set(leading).text,
                first_difference=(
                    None if leading is None else float(estimated.estimates.difference[leading])
                ),
                groups=len(decided),
                largest=float(decided.max()) if len(decided) else None,
                largest_bound=bound,
                largest_allowed=(
                    guarantee.largest_allowed if guarantee.kind == "simultaneous" else None
                ),
                guarantee=guarantee.kind,
                smallest_ratio=ratios.ratio,
                smallest_ratio_bound=ratios.bound,
                smallest_ratio_allowed=ratios.allowed,
            )
        )
    return summaries


@dataclass(frozen=True)
class _SmallestRatios:
    """The smallest ratio of two rates of any group, and the bounds that a gate by ratios uses."""

    ratio: float | None = None  # None if there are no decided groups of rows
    # The smallest upper confidence bound, or the smallest ratio of a discovery; None without a gate
    # by ratios, and for intervals of single groups
    bound: float | None = None
    # The smallest ratio that an interval allows; None without a gate, and unless intervals hold at
    # once
    allowed: float | None = None


def _smallest_ratios(findings: Findings, estimated: Estimated) -> _SmallestRatios:
    """Return the smallest ratio of rates, with its bounds only if there is a gate by ratios."""
    estimates = estimated.estimates
    guarantee = estimated.guarantee
    decided = np.flatnonzero(estimates.decided)
    if not len(decided):
        return _SmallestRatios()
    if findings.parameters.fail_below_ratio is None:
        # The intervals of all groups take their time.
        smaller, larger = np.sort([estimates.rate_in[decided], estimates.rate_out[decided]], axis=0)
        ratios = np.divide(smaller, larger, out=np.ones(len(decided)), where=larger > 0)
        return _SmallestRatios(ratio=float(ratios.min()))
    known = estimates.take(decided).population_ratio_at(guarantee.errors[decided])
    ratio, low, high = (values.clip(0.0, 1.0) for values in known)
    # Single groups are taken at their ratios, discoveries at the smallest of them.
    discovered = np.isin(decided, guarantee.discoveries)
    bound = {
        "per-group": None,
        "simultaneous": float(high.min()),
        "fdr": float(ratio[discovered].min(initial=1.0)),
    }[guarantee.kind]
    return _SmallestRatios(
        ratio=float(ratio.min()),
        bound=bound,
        allowed=float(low.min()) if guarantee.kind == "simultaneous" else None,
    )


def _moved_features(
    findings: Findings, groups: Sequence[GroupSummary]
) -> list[document.MovedFeature]:
    """Return which features' moves change the first group's difference, if estimands disagree."""
    first = findings.first
    if first is None or not isinstance(findings, TableFindings) or not disagree(groups[0]):
        return []
    top = groups[0]
    moved = findings.moved_differences(first)
    observed = top.difference
    if findings.parameters.estimand != "observed" and top.other is not None:
        observed = top.other.difference or 0.0
    order = sorted(moved, key=lambda name: -abs(moved[name] - observed))
    return [
        document.MovedFeature(feature=name, difference=moved[name])
        for name in order[:_MOVED]
        if abs(moved[name] - observed) > DISAGREEMENT / 2
    ]


def _rules(findings: Findings, ranks: dict[int, int]) -> list[document.ExplainingRuleSummary]:
    """Return the explaining rules, with the first of their near-duplicates."""
    return [
        document.ExplainingRuleSummary(
            rank=ranks[rule.group],
            text=findings.rule_set(rule.group).text,
            share=None if np.isnan(rule.share) else min(1.0, rule.share),
            near_duplicates=len(rule.near_duplicates),
            examples=[findings.rule_set(other).text for other in rule.near_duplicates[:_EXAMPLES]],
        )
        for rule in findings.rules
        if rule.group in ranks
    ]
