"""What a report says of groups that the user named, which were compared without a search."""

from __future__ import annotations

from testsgd.auditing.report.summary import AuditSummary
from testsgd.report.formatting import count, plural, series, share
from testsgd.report.summaries import brief_group

# A description of a group is cut short in a sentence.
_LONGEST = 120
# Groups without enough rows that a sentence lists.
_LISTED = 5


def named_sentences(summary: AuditSummary) -> list[str]:
    """Write which groups were named, that nothing was searched, and what intervals hold for."""
    counts = summary.counts
    guarantee = summary.guarantee
    confidence = share(guarantee.confidence)
    sentences = []
    if counts.groups == 1:
        sentences.append(
            "This group was named, not searched for: its interval is at "
            f"{confidence} by itself, and nothing is said about any other group."
        )
    elif counts.groups:
        hold = {
            "per-group": f"each interval is at {confidence} by itself",
            "simultaneous": f"the intervals hold for all of them at once at {confidence}",
            "fdr": "the discoveries are among them",
        }[guarantee.kind]
        sentences.append(
            f"These {count(counts.groups)} groups were named, not searched for: {hold}, and "
            "nothing is said about any other group."
        )
    return [*sentences, *too_small_sentences(summary)]


def too_small_sentences(summary: AuditSummary) -> list[str]:
    """Write which named groups have too few rows on a side; nothing if none has."""
    small = summary.counts.undecided_small
    if not summary.parameters.groups or not small:
        return []
    fewest = plural(summary.unjudged.fewest, "row")
    # Groups that no sample was drawn of come before those with few rows.
    too_small = summary.undecided[-small:][:_LISTED]
    of_all = f"of {count(summary.data.rows)}"
    listed = [
        f"{brief_group(group, _LONGEST)} ({plural(group.n_in, 'row')} {of_all})"
        for group in too_small
    ]
    more = [f"{count(small - len(listed))} more"] if small > len(listed) else []
    number = "One named group has" if small == 1 else f"{count(small)} named groups have"
    return [f"{number} fewer than {fewest} inside or outside: {series([*listed, *more])}."]


def not_judged_sentences(summary: AuditSummary) -> list[str]:
    """Write that a gate concludes nothing as named groups were not judged; nothing if all were."""
    counts = summary.counts
    if not summary.parameters.groups:
        return []
    missing = counts.undecided_small + counts.undecided_frequent
    if not missing or not counts.decided:
        return []
    of_all = f"{plural(missing, 'named group')} of {count(counts.candidates)}"
    return [f"Not enough evidence: {of_all} could not be judged."]
