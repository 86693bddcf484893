"""Particulars of a certification: network, domain, settings and run, as facts with names."""

from __future__ import annotations

from testsgd.report.formatting import count, either, moment, number, seconds, series, share
from testsgd.reporting.certification.phrases import compared_text, layers_text, people_number
from testsgd.reporting.certification.summary import CertificationSummary
from testsgd.reporting.particulars import Section, section

_STOPPED = {
    "done": "nothing was left to do",
    "time": "the time limit was reached",
    "undecided": "little enough was undecided",
    "interrupted": "it was interrupted",
}
_METHODS = {
    "enumerated": "every person was tried",
    "bounded": "bounds were proved on boxes of people",
}
_WEIGHTS = {
    "volume": "every point alike; of real inputs, length",
    "data": "weighted by the data's own distribution of each input",
}


def certification_particulars(summary: CertificationSummary) -> tuple[Section, ...]:
    """List the particulars of the network, the domain, the settings and the run.

    Parameters
    ----------
    summary : CertificationSummary
        The certification.

    Returns
    -------
    tuple of Section
    """
    network, domain, asked = summary.network, summary.domain, summary.settings
    threshold = network.decision == "threshold"
    return (
        section(
            "Network",
            ("Name", network.name),
            ("Kind", network.kind),
            ("Layers", layers_text(network.columns, network.layers)),
            ("Runs in", network.precision),
            ("Decides", "by a threshold" if threshold else "for the largest sum"),
            ("Decisions", either(network.labels)),
            (
                "The decision turns at a sum of",
                "" if network.turning_sum is None else number(network.turning_sum),
            ),
            ("File (sha256)", network.file_sha256 or ""),
        ),
        section(
            "Domain",
            ("Name", domain.name),
            (
                "People: combinations of the free inputs",
                people_number(domain.points),
            ),
            ("How they count", _WEIGHTS[domain.weight]),
            ("Protected", series(domain.protected)),
            ("Compared", compared_text(domain)),
        ),
        section(
            "Settings",
            ("Time limit", "none" if asked.time is None else seconds(asked.time)),
            ("Stop at undecided", "" if asked.undecided is None else share(asked.undecided)),
            ("Policy: unfair at most", _limit(asked.max_unfair)),
            ("Policy: proved fair at least", _limit(asked.min_certified)),
            ("Samples of the undecided part", count(asked.samples)),
            ("Confidence of the estimate", number(asked.confidence)),
            ("Jobs", count(asked.jobs)),
            ("Seed", str(asked.random_state)),
        ),
        section(
            "Run",
            ("Written", moment(summary.created)),
            ("Method", _METHODS[summary.method]),
            ("Ended because", _STOPPED[summary.stopped]),
            (
                "Boxes looked at" if summary.method == "bounded" else "People tried",
                count(summary.boxes) if summary.boxes else "",
            ),
            ("Boxes left undecided", count(summary.open_boxes) if summary.open_boxes else ""),
            ("People within rounding of the turning point", _some(summary.within_rounding)),
            ("Time of the search", seconds(summary.seconds)),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def _limit(limit: float | None) -> str:
    return "no such policy" if limit is None else share(limit)


def _some(points: int) -> str:
    return count(points) if points else ""
