"""Notes on the meaning of a certification's numbers."""

from __future__ import annotations

from testsgd.certification.report.summary import CertificationSummary
from testsgd.certification.report.wording import changing
from testsgd.report.blocks import Note
from testsgd.report.formatting import capital, share


def certification_notes(summary: CertificationSummary) -> tuple[Note, ...]:
    """Explain the numbers of a certification, in the order in which a reader needs them."""
    return (
        Note("People in the domain", _people(summary)),
        Note(
            "Fair and unfair",
            "The network is fair to a person if the decision stays the same for every protected "
            "value that is compared, and unfair if two of them give different decisions. "
            f"{capital(changing(summary.domain).rstrip(','))}, and nothing else, is what is tried. "
            "That other inputs may go along with the protected one is not looked at.",
        ),
        Note("Proved", _proved(summary)),
        Note(
            "Undecided",
            "Nothing is proved of these people, one way or the other. They are not unfair cases: "
            "most of the time most of them turn out to be fair. More time makes this part smaller.",
        ),
        *_estimated(summary),
        Note(
            "How shares are rounded",
            "A share that is proved is rounded down, never up. What is written as undecided is "
            "what is then left of 100%, so it is rounded up and the three shares add up to 100%. "
            "Where nothing is undecided, the two others may add up to a little less. Intervals of "
            "estimates are rounded outwards. The exact numbers are in the JSON document.",
        ),
        Note(
            "Regions",
            "Boxes of the domain that hold unfairness, proved or possible, the most first; of what "
            "is undecided in a box as much counts as is unfair among the samples in it. All "
            "conditions of a region hold at once; an input that is not named takes any value. "
            "Parts that hold no unfairness are not listed, and a region may hold fair people too: "
            "see its shares.",
        ),
        *_counterexamples(summary),
        Note(
            "Time",
            "The time is that of the search alone. Loading the search, drawing the samples and "
            "describing the regions come on top, mostly a few seconds. A search that went on "
            "from a checkpoint counts the time of the earlier runs too.",
        ),
        Note(
            "What a certificate does not show",
            "Equal decisions for people who differ only in the protected inputs say nothing about "
            "how often groups get a decision: an audit of groups does. Nor does a share of the "
            "domain say how many of the people who really come are concerned, for a domain holds "
            "combinations that hardly ever occur.",
        ),
    )


def _people(summary: CertificationSummary) -> str:
    domain = summary.domain
    text = (
        "A person is one combination of values of all inputs that are not protected, within the "
        "ranges below, whether somebody like that exists or not. "
    )
    if domain.weight == "data":
        return text + (
            "Each counts by how often the values of each input occur in the data, as if the inputs "
            "were independent of each other."
        )
    if domain.weight == "given":
        return text + (
            "Each counts by the weights that the domain gives of the values of each input, as if "
            "the inputs were independent of each other."
        )
    return text + (
        "Each counts the same"
        + ("." if domain.points is not None else ", and of real inputs the length of an interval.")
    )


def _proved(summary: CertificationSummary) -> str:
    end = f"rounding of its {summary.network.precision} arithmetic is allowed for"
    if summary.method == "enumerated":
        return (
            "Every person of the domain was tried with every protected value that is compared; "
            f"nobody is left out. Where the sums are near to the turning point, {end}: people whom "
            "another machine's rounding might decide otherwise are counted and named."
        )
    return (
        "The domain is cut into boxes. For a box, bounds on the network's sums hold for every "
        "person in it at once, and so they prove the decisions of all of them, or of a part that "
        f"is counted. The bounds hold for the weights in the model's file, and {end}. No share "
        "that is proved rests on samples."
    )


def _estimated(summary: CertificationSummary) -> tuple[Note, ...]:
    found = summary.estimated
    if found is None:
        return ()
    return (
        Note(
            "Estimated by sampling",
            "Points are drawn at random from the boxes that are left, in proportion to how they "
            "count; those in the undecided part are its samples. The network is run on each with "
            "every protected value. The interval is that of "
            f"Clopper and Pearson: of many such intervals {share(found.confidence)} or more hold "
            "the true share. The interval for the whole domain has that confidence too: it is "
            "from all draws in the boxes that are left, and stays within what is proved. Both are "
            "set apart from what is proved, and no gate is judged by them.",
        ),
    )


def _counterexamples(summary: CertificationSummary) -> tuple[Note, ...]:
    if not summary.counterexamples:
        return ()
    turning = summary.network.decision_threshold
    where = "" if turning is None else f" It turns at a sum of {turning:.4g}."
    return (
        Note(
            "Counterexamples",
            "The rows of a case differ in the protected inputs only, and yet the network decides "
            "differently; the sum is what the last layer computes, and what the decision goes by."
            f"{where} A case that is marked as proved lies in a part that is proved unfair; the "
            "others were found by running the network.",
        ),
    )
