"""What is behind a group's difference, in words: its rules, other features, like with like."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.auditing.report.summary import AuditSummary, ContrastSummary, GroupSummary
from testsgd.auditing.report.uncertainty import assured_points
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.wording import by_terms
from testsgd.report.formatting import (
    MINUS,
    count,
    interval,
    percent,
    plural,
    points,
    series,
    shorten,
    size_points,
)

# A rule may list many values.
_TEXT_LIMIT = 160


# In standard deviations; less is no lead.
_LEAST_CONTRAST = 0.1


@dataclass(frozen=True)
class Contrast:
    """A feature in which a group differs, as texts."""

    feature: str
    inside: str
    outside: str
    deviations: str


def trust_facts(group: GroupSummary, summary: AuditSummary, words: Words) -> list[tuple[str, str]]:
    """List what is known of how far a group's difference can be trusted.

    Names and texts; what is not known is left out.
    """
    facts = []
    if group.assured is not None:
        least = f"at least {assured_points(group)}" if group.assured else "nothing"
        # An effect of terms has an interval of its own.
        facts.append((f"Lower bound{', from other texts' * by_terms(summary)}", least))
    if group.q_value is not None:
        facts.append(("q-value", q_text(group.q_value)))
    if group.stability is not None:
        facts.append(("Stability", stability_phrase(group.stability, summary.stability_samples)))
    if group.found is not None:
        found = group.found
        facts.append(
            (
                "Where it was found",
                f"rank {count(found.rank)}, score {size_points(found.score)}, "
                f"{plural(found.n_in, words.one)}",
            )
        )
    return facts


def stability_phrase(stability: float, samples: int) -> str:
    """Write how often a rule is selected again.

    >>> stability_phrase(0.935, 200)
    'selected again in 187 of 200 bootstrap samples'
    """
    return (
        f"selected again in {count(round(stability * samples))} of {count(samples)} bootstrap "
        "samples"
    )


def q_text(q_value: float | None) -> str:
    """Write a q-value.

    >>> q_text(0.0312), q_text(1e-9)
    ('0.031', '<0.001')
    """
    if q_value is None:
        return ""
    return "<0.001" if q_value < 0.001 else f"{q_value:.3f}"


def simplest_sentence(group: GroupSummary, words: Words) -> str:
    """Write which of a group's rules would do; empty if there is nothing to choose from."""
    simplest = group.explanation.simplest if group.explanation else None
    if simplest is None or len(group.rules) < 2:
        return ""
    if len(simplest.rules) == len(group.rules):
        return f"No {words.rule} can be left out: without it less than 90% would remain."
    return (
        f"Simpler, with at least 90% of the difference: {shorten(simplest.text, _TEXT_LIMIT)}, "
        f"{points(simplest.difference)}."
    )


def conditional_sentence(group: GroupSummary) -> str:
    """Write what remains of a group's difference like with like; empty if it is not known."""
    explanation = group.explanation
    found = None if explanation is None else explanation.conditional
    if found is None:
        return ""
    covered = (
        ""
        if found.covered == 1
        else f" {percent(found.covered)} of the group have somebody like them."
    )
    return (
        f"Compared with others of the same mix of {series(found.features)}: "
        f"{points(found.difference)}, interval {interval(found.interval)}.{covered}"
    )


def contrasts(group: GroupSummary) -> list[Contrast]:
    """Write the features in which a group differs most from the rest."""
    found = group.explanation.contrasts if group.explanation else []
    return [_contrast(one) for one in found if abs(one.standardised) >= _LEAST_CONTRAST]


def no_contrasts(group: GroupSummary) -> str:
    """Write that a group differs in no other feature worth naming; empty if it does."""
    if group.explanation is None or not group.explanation.contrasts or contrasts(group):
        return ""
    return (
        "In no other feature does it differ by as much as a tenth of a standard deviation, in the "
        "mean or in the share of a value."
    )


def _contrast(found: ContrastSummary) -> Contrast:
    sign = MINUS if found.standardised < 0 else "+"
    deviations = f"{sign}{abs(found.standardised):.2f}"
    if found.value is None:
        ends = (_mean(found.inside), _mean(found.outside))
        return Contrast(f"{found.feature}, mean", *ends, deviations)
    shares = (percent(found.inside), percent(found.outside))
    return Contrast(f"{found.feature} = {found.value}", *shares, deviations)


def _mean(value: float) -> str:
    """Write a mean with three digits at least, and no more decimals than they need.

    >>> _mean(38.217), _mean(12345.6), _mean(0.0), _mean(-0.01234) == MINUS + "0.0123"
    ('38.2', '12,346', '0', True)
    """
    sign = MINUS if value < 0 else ""
    size = abs(value)
    return sign + (f"{size:,.0f}" if size >= 100 else f"{size:.3g}")
