"""The summary of an audit as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.report import scales
from testsgd.reporting import (
    explanations,
    geometry,
    heat,
    particulars,
    scatter,
    steps,
    wording,
)
from testsgd.reporting.estimand_sentences import explaining_lines, unjudged_sentences
from testsgd.reporting.pages import page_environment
from testsgd.reporting.summary import AuditSummary, GroupSummary, RuleAlone
from testsgd.reporting.vocabulary import vocabulary
from testsgd.reporting.words import Words

# A long list of groups that nothing is known about helps nobody; the JSON document has them all.
UNDECIDED_SHOWN = 200
OPEN_HEAT_MAPS = 3
OPEN_ROWS = 20


@dataclass(frozen=True)
class _Part:
    """One rule of a group on its own, with its dot if there is a difference to draw."""

    alone: RuleAlone
    dot: geometry.Whisker | None


@dataclass(frozen=True)
class _Finding:
    """A top group with what is drawn of it."""

    group: GroupSummary
    whisker: geometry.Whisker
    own: geometry.Whisker | None
    parts: tuple[_Part, ...]
    steps: tuple[steps.Step, ...]


@dataclass(frozen=True)
class _HeatMaps:
    """All heat maps of a report, with the shades that they share."""

    tables: tuple[heat.HeatTable, ...]
    keys: tuple[heat.HeatKey, ...]


def render_html(summary: AuditSummary) -> str:
    """Write an audit as a self-contained HTML document.

    Parameters
    ----------
    summary : AuditSummary
        The audit; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The document. It works offline, contains no script and asks for no other file.
    """
    top, words = wording.findings(summary), vocabulary(summary)
    scale = geometry.difference_scale(top)
    sides = [rate for group in top for rate in (group.rate_in, group.rate_out)]
    sides += [group.counterfactual.rate_other for group in top if group.counterfactual]
    cells = geometry.feature_rates(summary.charts.features)
    heat_maps = _heat_maps(summary, words)
    return (
        page_environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            words=words,
            data=summary.data,
            model=summary.model,
            label=summary.data.label,
            findings=[_finding(group, scale) for group in top],
            undecided=[group for group in summary.groups if not group.decided],
            too_small=summary.undecided[:UNDECIDED_SHOWN],
            scale=scale,
            side_scale=scales.rate_scale(sides),
            cell_scale=scales.rate_scale([*cells, summary.overall_rate]),
            scatter=scatter.scatter_plot(summary, top),
            heat_maps=heat_maps.tables,
            heat_keys=heat_maps.keys,
            remarks=_remarks(summary),
            rule_lines=explaining_lines(summary),
            findings_intro=wording.findings_intro(summary),
            unjudged=unjudged_sentences(summary.unjudged, words),
            share_scale=scales.linear_scale(0.0, 1.0, count=4),
            open_heat_maps=OPEN_HEAT_MAPS,
            open_rows=OPEN_ROWS,
            particulars=particulars.particulars(summary),
            notes=explanations.meaning_notes(summary),
            STATUS_NAMES=wording.STATUS_NAMES,
            FEW_ROWS=heat.FEW_ROWS,
        )
    )


def _finding(group: GroupSummary, scale: scales.Scale) -> _Finding:
    parts = tuple(
        _Part(part, None if part.difference is None else geometry.dot(part.difference, scale))
        for part in group.rules_alone
    )
    found = group.counterfactual
    own = None if found is None else geometry.counterfactual_whisker(found, scale)
    return _Finding(group, geometry.whisker(group, scale), own, parts, steps.steps(group, scale))


def _heat_maps(summary: AuditSummary, words: Words) -> _HeatMaps:
    """Choose the shades: rows from the overall rate, texts from the mean of each map.

    All cells of a map of texts come from the same texts. Their distance from the overall rate is
    for the most part that of these texts, whatever terms they have.
    """
    maps = summary.charts.heat_maps
    if words.kind == "texts":
        centres = [heat.mean_rate(one) for one in maps]
        steps = [heat.heat_step([one], at) for one, at in zip(maps, centres, strict=True)]
        step = max(steps, default=heat.heat_step([], 0.0))
    else:
        # Without an overall rate no cell has a rate either, so nothing is shaded from this one.
        centres = [summary.overall_rate or 0.0] * len(maps)
        step = heat.heat_step(maps, summary.overall_rate or 0.0)
    tables = tuple(
        heat.heat_table(one, at, step, words.one) for one, at in zip(maps, centres, strict=True)
    )
    return _HeatMaps(tables, heat.heat_keys(step))


def _remarks(summary: AuditSummary) -> dict[tuple[str, str], str]:
    """Give for each category and text of a rule what is doubtful about its term."""
    categories = summary.terms.categories if summary.terms is not None else []
    return {
        (category.name, term.term): wording.doubts(term)
        for category in categories
        for term in category.terms
    }
