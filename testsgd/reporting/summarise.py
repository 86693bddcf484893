"""From findings to the summary document that every view is rendered from."""

from __future__ import annotations

import datetime
import platform
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

from testsgd._version import __version__
from testsgd.auditing import AuditParameters, Estimates, Findings
from testsgd.data import table_fingerprint
from testsgd.reporting.chart_numbers import charts
from testsgd.reporting.summary import (
    AuditSummary,
    Counts,
    DataSummary,
    FeatureSummary,
    GroupSummary,
    LabelSummary,
    ModelSummary,
    Parameters,
    RuleAlone,
    RuleSummary,
    UndecidedGroup,
)
from testsgd.reporting.verdict import verdict
from testsgd.reporting.wording import share
from testsgd.rules import Rule, RuleSet

_PACKAGES = ("numpy", "pandas", "scikit-learn", "statsmodels", "joblib")

# For how many of the first groups, ranked and distinct, each rule is looked at alone.
_EXPLAINED = 10


def summarise(findings: Findings) -> AuditSummary:
    """Write what an audit found as one document.

    Parameters
    ----------
    findings : Findings
        What the audit found.

    Returns
    -------
    AuditSummary
    """
    parameters = findings.parameters
    estimates = findings.estimates
    groups = _groups(findings)
    unsampled = np.flatnonzero(~estimates.sampled)
    decided = int(estimates.decided.sum())
    counts = Counts(
        candidates=findings.rule_sets.candidates,
        frequent=findings.rule_sets.frequent,
        groups=len(findings.rule_sets),
        decided=decided,
        undecided_frequent=len(findings.rule_sets) - decided,
        undecided_small=len(findings.small),
    )
    overall = findings.overall_rate
    return AuditSummary(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        mode=findings.mode,
        sampling=None if findings.mode == "exact" else parameters.sampling,
        parameters=_parameters(parameters),
        versions=_versions(),
        data=_data(findings),
        model=_model(findings),
        overall_rate=None if np.isnan(overall) else overall,
        counts=counts,
        neighbourhood=findings.neighbourhood,
        model_queries=findings.queries,
        seconds=findings.seconds,
        verdict=verdict(
            groups,
            top_score=findings.top_score,
            counts=counts,
            label=findings.table.specification.label.favourable,
            parameters=_parameters(parameters),
            rows=len(findings.table),
        ),
        groups=groups,
        undecided=_undecided(findings, unsampled),
        charts=charts(findings),
    )


def _groups(findings: Findings) -> list[GroupSummary]:
    """Describe the top of the ranking and the distinct groups below it."""
    place = {int(group): rank for rank, group in enumerate(findings.ranking, start=1)}
    top = {int(group) for group in findings.ranking[: findings.parameters.top]}
    chosen = sorted(top | set(findings.distinct), key=lambda group: place[group])
    explained = set(findings.distinct[:_EXPLAINED]) | {
        int(group) for group in findings.ranking[:_EXPLAINED]
    }
    estimates = findings.estimates.take(np.array(chosen, dtype=np.intp))
    low, high = estimates.population_interval(findings.parameters.confidence)
    return [
        _group(
            findings,
            group,
            rank=place[group],
            estimates=estimates,
            at=at,
            interval=(float(low[at]), float(high[at])),
            explain=group in explained,
        )
        for at, group in enumerate(chosen)
    ]


def _group(
    findings: Findings,
    group: int,
    *,
    rank: int,
    estimates: Estimates,
    at: int,
    interval: tuple[float, float],
    explain: bool,
) -> GroupSummary:
    rule_set = findings.rule_set(group)
    rows_in = int(estimates.rows_in[at])
    margin_method = "none" if estimates.exact else ("wilson" if estimates.wilson[at] else "wald")
    explain = explain and len(rule_set.rules) > 1
    return GroupSummary.model_validate(
        {
            "rank": rank,
            "rules": [_rule(rule) for rule in rule_set.rules],
            "text": rule_set.text,
            "support": rows_in / len(findings.table),
            "n_in": rows_in,
            "n_out": int(estimates.rows_out[at]),
            "rate_in": float(estimates.rate_in[at]),
            "rate_out": float(estimates.rate_out[at]),
            "difference": float(estimates.difference[at]),
            "score": float(estimates.score[at]),
            "margin": float(estimates.margin[at]),
            "margin_method": margin_method,
            "interval": interval,
            "exact": estimates.exact,
            "samples_in": int(estimates.samples_in[at]),
            "samples_out": int(estimates.samples_out[at]),
            "decided": bool(estimates.decided[at]),
            "distinct": group in findings.distinct,
            "rules_alone": _rules_alone(findings, rule_set) if explain else [],
        }
    )


def _rule(rule: Rule) -> RuleSummary:
    return RuleSummary.model_validate(rule.to_json())


def _rules_alone(findings: Findings, rule_set: RuleSet) -> list[RuleAlone]:
    """Look at each rule by itself, or at none if there are too few samples in common.

    Independent sampling keeps none: every group is judged by draws of its own.
    """
    alone = [_rule_alone(findings, rule) for rule in rule_set.rules]
    known = [part for part in alone if part is not None]
    return known if len(known) == len(alone) else []


def _rule_alone(findings: Findings, rule: Rule) -> RuleAlone | None:
    """Look at one rule by itself, from the cells' samples."""
    inside = _cells_of(findings, rule)
    rows = findings.contingency.tally()
    samples, favourable = findings.cell_samples, findings.cell_favourable
    n_in = int(rows[inside].sum())
    asked_in, asked_out = int(samples[inside].sum()), int(samples[~inside].sum())
    if asked_in == 0:
        return None
    rate_in = float(favourable[inside].sum() / asked_in)
    rate_out = float(favourable[~inside].sum() / asked_out) if asked_out else None
    return RuleAlone(
        text=RuleSet((rule,)).text,
        n_in=n_in,
        rate_in=rate_in,
        rate_out=rate_out,
        difference=None if rate_out is None else rate_in - rate_out,
    )


def _cells_of(findings: Findings, rule: Rule) -> NDArray[np.bool_]:
    for place, axis in enumerate(findings.contingency.axes):
        if axis.feature == rule.feature:
            matching = next(index for index in range(axis.rule_count) if axis.rule(index) == rule)
            cells: NDArray[np.bool_] = axis.matrix[matching].astype(bool)
            return cells[findings.contingency.coordinates[:, place]]
    raise KeyError(rule.feature)


def _undecided(findings: Findings, unsampled: NDArray[np.intp]) -> list[UndecidedGroup]:
    """List groups that are too small to judge, and those that got no sample on one side."""
    rows = len(findings.table)
    too_few = f"less than {share(findings.parameters.theta)} of the rows"
    groups = [
        (findings.rule_set(int(group)), int(findings.estimates.rows_in[group]), "no samples")
        for group in unsampled
    ] + [(small.rule_set, small.count, too_few) for small in findings.small]
    return [
        UndecidedGroup(
            text=rule_set.text,
            rules=[_rule(rule) for rule in rule_set.rules],
            n_in=count,
            support=count / rows,
            reason=reason,
        )
        for rule_set, count, reason in groups[: findings.parameters.top]
    ]


def _parameters(parameters: AuditParameters) -> Parameters:
    # How many threads there were changes no result, so it is no part of one.
    return Parameters.model_validate(
        {
            item.name: getattr(parameters, item.name)
            for item in fields(parameters)
            if item.name != "jobs"
        }
    )


def _data(findings: Findings) -> DataSummary:
    specification = findings.table.specification
    identity, label = specification.dataset, specification.label
    notes = list(findings.table.notes)
    if findings.table.labels is None:
        notes.append(f"the data have no label column {label.column!r}; an audit needs none")
    return DataSummary(
        name=identity.name,
        title=identity.title or identity.name,
        description=identity.description,
        licence=identity.licence,
        citation=identity.citation,
        source=findings.table.source,
        fingerprint=table_fingerprint(findings.table),
        rows=len(findings.table),
        label=LabelSummary(column=label.column, favourable=label.favourable, meaning=label.meaning),
        features=[
            FeatureSummary(
                name=name,
                type=feature.type,
                sensitive=feature.sensitive,
                domain=feature.domain,
                missing=findings.table.missing[name],
            )
            for name, feature in specification.features.items()
        ],
        notes=notes,
    )


def _model(findings: Findings) -> ModelSummary:
    model = findings.model.model
    return ModelSummary(
        name=model.name,
        kind=model.kind,
        output=model.output,
        threshold=model.threshold,
        fingerprint=findings.model_fingerprint,
        file_sha256=findings.model.file_sha256,
        accuracy=findings.accuracy,
        card={key: _card_text(value) for key, value in findings.model.card.items()},
    )


def _card_text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _versions() -> dict[str, str]:
    versions = {"testsgd": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
