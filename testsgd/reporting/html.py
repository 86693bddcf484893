"""The summary of an audit as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from testsgd.reporting import explanations, geometry, heat, wording
from testsgd.reporting.summary import AuditSummary, GroupSummary, RuleAlone

# A long list of groups that nothing is known about helps nobody; the JSON document has them all.
UNDECIDED_SHOWN = 200
OPEN_HEAT_MAPS = 3
OPEN_ROWS = 20

_TEMPLATES = Path(__file__).parent / "templates"


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
    parts: tuple[_Part, ...]


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
    top = wording.findings(summary)
    scale = geometry.difference_scale(top)
    sides = [rate for group in top for rate in (group.rate_in, group.rate_out)]
    cells = geometry.feature_rates(summary.charts.features)
    # Without an overall rate no cell has a rate either, so nothing is shaded from this one.
    overall = summary.overall_rate or 0.0
    step = heat.heat_step(summary.charts.heat_maps, overall)
    heat_maps = [heat.heat_table(heat_map, overall, step) for heat_map in summary.charts.heat_maps]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            data=summary.data,
            model=summary.model,
            label=summary.data.label,
            findings=[_finding(group, scale) for group in top],
            undecided=[group for group in summary.groups if not group.decided],
            too_small=summary.undecided[:UNDECIDED_SHOWN],
            scale=scale,
            side_scale=geometry.rate_scale(sides),
            cell_scale=geometry.rate_scale([*cells, summary.overall_rate]),
            scatter=geometry.scatter_plot(summary, top),
            heat_maps=heat_maps,
            heat_keys=heat.heat_keys(step),
            open_heat_maps=OPEN_HEAT_MAPS,
            open_rows=OPEN_ROWS,
            particulars=explanations.particulars(summary),
            notes=explanations.meaning_notes(summary),
        )
    )


def _finding(group: GroupSummary, scale: geometry.Scale) -> _Finding:
    parts = tuple(
        _Part(part, None if part.difference is None else geometry.dot(part.difference, scale))
        for part in group.rules_alone
    )
    return _Finding(group, geometry.whisker(group, scale), parts)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for write in (
        wording.apart,
        wording.compared,
        wording.count,
        wording.interval,
        wording.mode_name,
        wording.moment,
        wording.number,
        wording.percent,
        wording.plural,
        wording.points,
        wording.remark,
        wording.rule_in_words,
        wording.sampling_margin,
        wording.share,
        wording.shorten,
        wording.signed,
        wording.size_points,
    ):
        environment.filters[write.__name__] = write
    environment.globals["STATUS_NAMES"] = wording.STATUS_NAMES
    environment.globals["FEW_ROWS"] = heat.FEW_ROWS
    return environment
