"""Where the templates of pages are, and what all of them can use."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from testsgd.report import formatting
from testsgd.reporting import behind, certainty, wording

_TEMPLATES = Path(__file__).parent / "templates"


@lru_cache(maxsize=4)
def page_environment(*folders: Path) -> Environment:
    """Give the environment that templates are rendered in: what they print is escaped.

    Parameters
    ----------
    *folders : path-like
        Folders of templates besides the shared ones, looked into first.

    Returns
    -------
    jinja2.Environment
        With the wording of numbers as filters, one for all callers with the same folders.
    """
    environment = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for write in (
        behind.conditional_sentence,
        behind.contrasts,
        behind.no_contrasts,
        behind.q_text,
        behind.simplest_sentence,
        behind.trust_facts,
        certainty.examined,
        certainty.gate_rule,
        certainty.interval_scope,
        certainty.rows_figure,
        wording.apart,
        wording.compared,
        formatting.count,
        wording.doubts,
        formatting.interval,
        wording.mode_name,
        formatting.moment,
        formatting.number,
        formatting.percent,
        formatting.plural,
        formatting.points,
        wording.ranked_by,
        wording.remark,
        wording.sampling_margin,
        wording.other_rates,
        formatting.seconds,
        formatting.share,
        formatting.shorten,
        formatting.signed,
        formatting.size,
        formatting.size_points,
    ):
        environment.filters[write.__name__] = write
    return environment
