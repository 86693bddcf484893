"""What the numbers of an audit mean, in words; ``notes.md.j2`` has the words."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from testsgd.auditing.report.summary import AuditSummary
from testsgd.report import formatting
from testsgd.report.blocks import Note

_FILTERS = ("count", "number", "percent", "plural", "series", "share", "size_points", "z_value")


def meaning_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit, in the order in which a reader needs them."""
    explanations = [group.explanation for group in summary.groups if group.explanation is not None]
    categories = summary.terms.categories if summary.terms is not None else []
    text = _template().render(
        dict(summary),
        anytime=any(group.margin_method == "anytime" for group in summary.groups),
        ambiguous=[
            f"“{term.term}”" for category in categories for term in category.terms if term.ambiguous
        ],
        explanations=explanations,
        several_rules=any(len(item.shapley_values) > 1 for item in explanations),
    )
    notes = []
    for note in f"\n{text}".split("\n## ")[1:]:
        term, *lines = note.split("\n")
        notes.append(Note(term, " ".join(line for line in lines if line)))
    return tuple(notes)


def limits(summary: AuditSummary) -> tuple[str, ...]:
    """Return what does not follow from an audit, in a few sentences."""
    of_texts = summary.data.kind == "texts"
    one = "text" if of_texts else "person"
    many = "texts" if of_texts else "rows"
    sentences = limits_of_differences(one, many)
    if any(group.base_rate_in is not None for group in summary.groups):
        sentences.append(
            "Base rates are those of the labels in the file, which may carry the same "
            "discrimination."
        )
    return tuple(sentences)


def limits_of_differences(one: str, many: str) -> list[str]:
    """Return what does not follow from any audit of differences of what the words name."""
    return [
        "A difference is not its cause: what goes with a group may explain it, and says nothing "
        "about whether it is right.",
        f"Nothing follows for groups that could not be judged, and nothing for a single {one}.",
        f"Intervals hold for the population that the {many} are a random sample of.",
    ]


@lru_cache
def _template() -> Template:
    # What a page shows of the notes is escaped there.
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # No value, such as a label, begins a note.
        finalize=lambda value: value.replace("\n", " ") if isinstance(value, str) else value,
    )
    environment.filters |= {name: getattr(formatting, name) for name in _FILTERS}
    return environment.get_template("notes.md.j2")
