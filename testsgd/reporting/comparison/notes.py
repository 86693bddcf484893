"""What the numbers of a comparison mean, and what they do not."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import share
from testsgd.reporting.comparison.phrases import HOLDS_FOR, nearness
from testsgd.reporting.comparison.summary import ComparisonSummary

ABOUT = {
    "testsgd": "All rule sets over the sensitive features that hold for enough rows; each group "
    "is compared with everybody else, over the rows and small changes of what is not sensitive.",
    "themis": "All combinations of sensitive values on generated rows; the two with the highest "
    "and the lowest rate are compared with each other. Galhotra, Brun and Meliou, 2017.",
    "gerryfair": "Groups given by a linear threshold over the sensitive features, found by "
    "regression; the rate in a group is compared with that of everybody, and the difference "
    "weighted by the group's share. Kearns, Neel, Roth and Wu, 2018.",
    "divexplorer": "All frequent combinations of one value a feature; the rate in a group is "
    "compared with that of everybody. Pastor, de Alfaro and Baralis, 2021.",
    "bias-scan": "Multi-dimensional subset scan: the subset of values of each feature whose "
    "outcomes fit what is expected least. Zhang and Neill, 2016.",
    "individual": "People, not groups: how often a decision changes if only sensitive features "
    "of a person do. Galhotra et al., 2017; Zhang et al., 2020.",
}


def comparison_notes(summary: ComparisonSummary) -> tuple[Note, ...]:
    """Explain the numbers of a comparison, in the order in which a reader needs them."""
    label, settings = summary.data.label.favourable, summary.settings
    near, copies = nearness(settings.near), nearness(settings.copies)
    return (
        Note(
            "One yardstick",
            f"Each method has a measure of its own, and these do not compare. So for every group "
            f"that a method names, the report counts how often the model decides “{label}” in the "
            "group and outside, on the rows as they are. The difference is the first rate minus "
            "the second, in percentage points. Groups of few rows have large differences easily: "
            "look at the share of rows beside it.",
        ),
        Note(
            "Intervals",
            "Only the audit says what of its differences chance may explain: its intervals hold, "
            f"with {share(settings.confidence)} confidence, {HOLDS_FOR[settings.guarantee]}. They "
            "are of the difference behind the score, over rows and small changes of them. Of what "
            "the other methods found some is chance, the more the fewer rows a group has.",
        ),
        Note(
            "The same finding",
            f"Two findings are near by Jaccard's index of their rows: those in both groups as a "
            f"share of those in either. From {near} on one is the other's too. Of groups with more "
            "than half of the rows those outside must be as near, for any two of them share most "
            "rows. A group and everybody else are one division of the rows, and count as the "
            "same. Of a pair the better one of its groups counts. Of one method, findings from "
            f"{copies} on are one.",
        ),
        Note(
            "Found by it only",
            "No finding of another method is that near, among its first 20. The other method may "
            "have ranked the group lower, or look for groups of another kind: threshold functions "
            "mix features in ways that no rule says, and Themis looks at the smallest groups "
            "there are. That a method found something alone does not make it important.",
        ),
        Note(
            "In the audit",
            "The nearest of all groups that the audit judged, whatever its rank. Groups with "
            f"less than {share(settings.theta)} of the rows are not judged by the audit, because "
            "too little is known of them.",
        ),
        Note(
            "Time and queries",
            "Wall-clock time on one machine, each method alone. Queries are rows that a method "
            "asked the model about beside the rows as they are, whose decisions all were given. "
            "The audit's time includes asking about all small changes of all rows, its guarantee "
            "and its explanations. Groups a second are those examined by the time taken; for the "
            "audit by that of its search alone, given the decisions as the others are.",
        ),
        *(
            Note(f"Method: {method.title}", ABOUT[method.method])
            for method in summary.methods
            if method.method in ABOUT
        ),
    )
