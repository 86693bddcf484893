"""What is drawn of a certification."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.certification.report import wording
from testsgd.certification.report.summary import (
    CertificationSummary,
    EstimatedSummary,
    RegionSummary,
)
from testsgd.report.charts import Area, Mark, Plane, Segment, Stack, StripRow, Strips, stairs
from testsgd.report.formatting import capital, percent, share
from testsgd.report.formatting import seconds as duration
from testsgd.report.scales import duration_scale, linear_scale

_WHOLE = linear_scale(0.0, 1.0, count=2)


def proved_stack(summary: CertificationSummary) -> Stack:
    """Return the shares of the domain as one bar: fair from the left, unfair at the right end."""
    proved, texts, estimated = (
        summary.proved,
        wording.proved_texts(summary.proved),
        summary.estimated,
    )
    unfair_from = 1 - proved.falsified
    # Where nothing is undecided, rounding must not leave a part of it.
    fair_to = proved.certified if proved.undecided else unfair_from
    fair = wording.share_name("fair", summary)
    title = (
        f"{capital(fair)}: at least {texts.certified}; "
        f"{wording.share_name('unfair', summary)}: at least {texts.falsified}; "
        f"undecided: at most {texts.undecided}"
    )
    estimate = None
    if estimated is not None:
        ends = " to ".join(wording.between(*estimated.domain_confidence_interval))
        title += f"; unfair, estimated by sampling: {ends}"
        estimate = Segment(
            1 - estimated.domain_confidence_interval[1],
            1 - estimated.domain_confidence_interval[0],
            "pale",
            "unfair in all",
            ends,
            "estimated, not proved:",
        )
    return Stack(
        title,
        _WHOLE,
        (
            Segment(0.0, fair_to, "more", "fair", wording.bound(texts.certified, "≥")),
            Segment(fair_to, unfair_from, "open", "undecided", wording.bound(texts.undecided, "≤")),
            Segment(unfair_from, 1.0, "less", "unfair", wording.bound(texts.falsified, "≥")),
        ),
        name="Of the whole domain, as run here"
        if summary.within_rounding
        else "Proved, of the whole domain",
        estimate=estimate,
        side="less",
        zoom=None if estimated is None else (fair_to, unfair_from),
    )


def estimated_stack(summary: CertificationSummary, estimated: EstimatedSummary) -> Stack:
    """Return the undecided part alone as a bar, with the estimate from its samples."""
    low, high = wording.between(*estimated.confidence_interval)
    return Stack(
        f"Estimated unfair share of the undecided part: {low} to {high}, "
        f"{share(estimated.confidence)} confidence",
        _WHOLE,
        (Segment(0.0, 1.0, "open"), Segment(*estimated.confidence_interval, "pale")),
        name=f"{wording.estimate_title(summary)}: unfair share of the undecided part alone",
        mark=Mark(estimated.unfair / estimated.samples),
        side="less",
        axis=True,
    )


def region_strips(regions: Sequence[RegionSummary]) -> Strips:
    """Return what is unfair or undecided in each region, as shares of the domain."""
    highest = max(region.falsified + region.undecided for region in regions)
    return Strips(
        (("", tuple(_region_row(region) for region in regions)),),
        linear_scale(0.0, min(highest, 1.0), count=4),
        zero=False,
    )


def _region_row(region: RegionSummary) -> StripRow:
    unfair, undecided = region.falsified, region.undecided
    title = (
        f"of the domain, proved unfair: at least {wording.at_least(unfair, 2)}, undecided: at most "
        f"{wording.at_most(undecided, 2)}"
    )
    likely = unfair
    if region.unfair_estimate is not None:
        likely += undecided * region.unfair_estimate
        title += f", of which {percent(region.unfair_estimate)} is unfair by the samples in it"
    return StripRow(
        region.text,
        percent(region.share),
        title,
        units=tuple(rule.text for rule in region.rules),
        segments=(
            Segment(unfair, unfair + undecided, "open"),
            Segment(unfair, likely, "pale"),
            Segment(0.0, unfair, "less"),
        ),
    )


def shares_over_time(summary: CertificationSummary) -> Plane | None:
    """Return the proved shares over time as areas; None if fewer than three times differ.

    What is proved stays proved, so each share keeps its level until the next moment.
    """
    moments, texts = summary.moments, wording.proved_texts(summary.proved)
    times = {moment.seconds for moment in moments if moment.seconds > 0}
    if len(times) < 3:
        return None
    across = duration_scale(min(times), max(times))
    fair = [(moment.seconds, moment.certified) for moment in moments]
    unfair = [(moment.seconds, 1 - moment.falsified) for moment in moments]
    return Plane(
        f"Shares proved fair and unfair over time: {texts.certified} and {texts.falsified} after "
        f"{duration(summary.seconds)}",
        across,
        linear_scale(0.0, 1.0, count=5),
        name="Share of the domain, per cent",
        below="",
        areas=(
            Area(stairs([(across.low, 1.0), (across.high, 1.0)], ground=0.0), "open", solid=True),
            Area(stairs(fair, ground=0.0), "more", solid=True),
            Area(stairs(unfair, ground=1.0), "less", solid=True),
        ),
        height=16.0,
    )
