"""Notes on how far findings can be trusted, and on what is said to be behind them."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import count, number, series, share, z_value
from testsgd.reporting.summary import AuditSummary, GuaranteeSummary


def searching_notes(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    """Explain what searching many groups does to the numbers, and what is done about it.

    Parameters
    ----------
    summary : AuditSummary
        The audit.
    many : str
        What its data are called.

    Returns
    -------
    tuple of Note
    """
    return (_many_groups(summary, many), *_finding_again(summary, many))


def behind_notes(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    """Explain what is said to be behind the first groups' differences, as far as anything is."""
    found = [group.explanation for group in summary.groups if group.explanation is not None]
    notes = []
    if any(len(one.shares) > 1 for one in found):
        notes.append(
            Note(
                "What each rule adds",
                "How much the difference changes when the rule joins those before it, on average "
                "over all orders in which the rules may come (Shapley value). What the rules add "
                "makes up the whole difference. A simpler description leaves rules out and keeps "
                "at least 90% of it.",
            )
        )
    if any(one.contrasts for one in found):
        notes.append(
            Note(
                "Leads, not causes",
                "Features that are not sensitive and in which the group differs most from all "
                f"other {many}, in standard deviations. They are places to look at. That the model "
                "uses them, or that they justify the difference, does not follow.",
            )
        )
    conditional = next((one.conditional for one in found if one.conditional is not None), None)
    if conditional is not None:
        notes.append(
            Note(
                "Like with like",
                f"The group is compared with others of the same mix of "
                f"{series(conditional.features)}: the {many} outside are weighed so that each "
                "combination of these features is as frequent as in the group. Members like whom "
                "there is nobody outside are left out. Whether these features are a fair reason is "
                "for you to judge.",
            )
        )
    return tuple(notes)


def interval_confidence(summary: AuditSummary) -> str:
    """Give the confidence of a population interval, or leave it to another note; follows "says"."""
    guarantee = summary.guarantee
    if guarantee is None or guarantee.kind == "per-group":
        return f", with a confidence of {number(summary.parameters.confidence)},"
    return ""


def _many_groups(summary: AuditSummary, many: str) -> Note:
    guarantee = summary.guarantee
    text = (
        f"{count(summary.counts.groups)} groups were compared and the list begins with the "
        "largest differences. A group at the top is there partly by luck, so its difference is "
        "likely to be somewhat smaller in other data. "
    )
    if summary.holdout is not None:
        text = (
            f"{count(summary.holdout.groups)} groups were compared in one part of the {many}, and "
            "only the first one and the explaining rules estimated on the other part. "
        )
    if guarantee is None or guarantee.kind == "per-group":
        text += "Every interval is meant for one group; they do not hold for all groups at once. "
        if guarantee is not None:
            error = share(1 - guarantee.confidence)
            text += f"Of many such intervals about {error} miss, and the first groups' most often. "
    elif guarantee.kind == "simultaneous":
        text += _simultaneous(guarantee, many)
    else:
        text += _false_discovery(guarantee)
    if any(group.counterfactual for group in summary.groups):
        if guarantee is not None and guarantee.kind == "simultaneous":
            text += "Those of the terms alone hold at once as well (Bonferroni). "
        else:
            text += "The intervals of the terms alone are meant for one group at a time. "
    if summary.holdout is None:
        text += (
            f"{many.capitalize()} that played no part in this audit are the way to confirm a "
            "finding."
        )
    return Note("Searching many groups", text.rstrip())


def _simultaneous(guarantee: GuaranteeSummary, many: str) -> str:
    confidence = number(guarantee.confidence)
    text = (
        f"The intervals allow for that: with a confidence of {confidence} those of all "
        f"{count(guarantee.groups)} groups hold at once, the first groups' too. "
    )
    if guarantee.critical is not None:
        text += (
            f"So each has the error rate of {guarantee.critical:.2f} standard errors, in place of "
            f"{z_value(guarantee.confidence)} for a single group. "
        )
    if guarantee.method in ("max-statistic", "mixed"):
        text += (
            "How wide they must be is seen from how far the most deviant of all groups strays in "
            f"{count(guarantee.replicates)} bootstrap samples of the {many}. "
        )
    if guarantee.method == "mixed":
        text += (
            "Groups that got samples of their own share half of the error equally (Bonferroni). "
        )
    if guarantee.method == "bonferroni":
        text += "The error is shared equally by all groups (Bonferroni). "
    return (
        f"{text}The lower bound of a difference is its smallest size within the interval. A "
        "difference is more than chance explains if the interval does not reach zero. "
    )


def _false_discovery(guarantee: GuaranteeSummary) -> str:
    error = share(1 - guarantee.confidence)
    return (
        "The q-value of a group says what share of false finds to expect if all groups that differ "
        "as clearly are taken for found (Benjamini and Yekutieli, for any dependence). Groups with "
        f"a q-value of at most {number(1 - guarantee.confidence)} are found. The intervals are "
        f"meant for the groups found: at most {error} of these are expected to miss. The lower "
        "bound of a difference is its smallest size within the interval. "
    )


def _finding_again(summary: AuditSummary, many: str) -> tuple[Note, ...]:
    notes = []
    holdout = summary.holdout
    if holdout is not None:
        notes.append(
            Note(
                "Held-out rows" if many == "rows" else "Held-out texts",
                f"Groups were searched in {count(holdout.searched)} {many} chosen at random. All "
                f"rates, differences and intervals are from the {count(holdout.estimated)} others, "
                "so luck in the search is no part of them.",
            )
        )
    if summary.stability_samples:
        notes.append(
            Note(
                "Stability",
                f"The {many} were drawn anew, with replacement, {count(summary.stability_samples)} "
                "times, and each time the search was done again. It is counted how often the "
                "rule, or a near-duplicate, is selected again. A rule that was selected by luck "
                "comes back seldom.",
            )
        )
    return tuple(notes)
