"""Which groups an audit compared, in words: of a search, of rows held out, or named ones."""

from __future__ import annotations

from testsgd.auditing.report.summary import AuditSummary
from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.auditing.report.wording import binned_features, described_by
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


def judged_size(summary: AuditSummary) -> str:
    """Write how large judged groups are, and by how many features they are described."""
    words = vocabulary(summary)
    depth = described_by(
        summary.parameters.depth,
        possible_features(summary),
        words.features,
        binned=binned_features(summary.data),
    )
    return f"of at least {plural(summary.unjudged.fewest, words.one, words.many)}{depth}"


def judged_groups(summary: AuditSummary) -> str:
    """Write which groups a gate passed for."""
    if summary.parameters.groups:
        return _named_groups(summary)
    holdout = summary.holdout
    if holdout is not None:
        if holdout.largest_unestimated is None and holdout.smallest_unestimated_ratio is None:
            return _estimated_groups(summary)
        others = f"all others that were searched, {judged_size(summary)}".rstrip(",")
        return f"{_estimated_groups(summary)} and {others}"
    return f"every group {judged_size(summary)}".rstrip(",")


def compared_alone(summary: AuditSummary) -> str | None:
    """Name the groups that were compared if these are not all of a search; None if they are."""
    if summary.parameters.groups:
        return _named_groups(summary)
    return None if summary.holdout is None else _estimated_groups(summary)


def _named_groups(summary: AuditSummary) -> str:
    named = summary.counts.groups
    return "the named group" if named == 1 else f"the {count(named)} named groups"


def _estimated_groups(summary: AuditSummary) -> str:
    """Name the groups that were found by the search and estimated on what was held out."""
    estimated = summary.counts.groups
    many = vocabulary(summary).many
    groups = "the one group" if estimated == 1 else f"the {count(estimated)} groups"
    return f"{groups} estimated on {many} held out"


def possible_features(summary: AuditSummary) -> int:
    """Return how many sensitive features, or categories of terms, there are."""
    if summary.terms is not None:
        return len(summary.terms.categories)
    return sum(feature.sensitive for feature in summary.data.features)
