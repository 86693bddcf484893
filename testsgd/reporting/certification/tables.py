"""Regions and counterexamples of a certification as data frames, and the regions as CSV."""

from __future__ import annotations

import pandas as pd

from testsgd.reporting.certification.summary import CertificationSummary

REGION_COLUMNS = (
    "region",
    "share",
    "proved_fair",
    "proved_unfair",
    "undecided",
    "estimated_unfair_of_samples",
)


def regions_frame(summary: CertificationSummary) -> pd.DataFrame:
    """List the regions as a data frame.

    Parameters
    ----------
    summary : CertificationSummary
        The certification.

    Returns
    -------
    pandas.DataFrame
        With the columns :data:`REGION_COLUMNS`. The shares are of the domain; the last column is an
        estimate, and NaN where no sample fell.
    """
    rows = [
        (
            region.text,
            region.share,
            region.certified,
            region.falsified,
            region.undecided,
            float("nan") if region.unfair_estimate is None else region.unfair_estimate,
        )
        for region in summary.regions
    ]
    return pd.DataFrame(rows, columns=list(REGION_COLUMNS))


def counterexamples_frame(summary: CertificationSummary) -> pd.DataFrame:
    """List the counterexamples as a data frame, a row each person.

    Parameters
    ----------
    summary : CertificationSummary
        The certification.

    Returns
    -------
    pandas.DataFrame
        ``case`` numbers the counterexamples and ``proved`` says whether a proof covers them; then
        come the inputs, in the network's order, and ``decision``. The rows of a case differ in the
        protected inputs only.
    """
    domain = summary.domain
    names = [one.name for one in domain.inputs]
    rows = []
    for case, example in enumerate(summary.counterexamples, start=1):
        for answer in example.answers:
            own = dict(zip(domain.protected, answer.protected, strict=True))
            values = [own[name] if name in own else example.person[name] for name in names]
            rows.append([case, example.proved, *values, answer.decision])
    frame = pd.DataFrame(rows, columns=range(len(names) + 3))
    # Set afterwards: an input may be called as one of these columns.
    frame.columns = pd.Index(["case", "proved", *names, "decision"])
    return frame


def render_certification_csv(summary: CertificationSummary) -> str:
    """Write the regions as CSV text, one a line."""
    text: str = regions_frame(summary).to_csv(index=False, lineterminator="\n")
    return text
