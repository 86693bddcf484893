"""The tables of a certification's report: the same cells in every view."""

from __future__ import annotations

from testsgd.report.formatting import NOTHING, count, percent
from testsgd.reporting.certification.figures import at_least, at_most
from testsgd.reporting.certification.phrases import part_of, sums_text, value_text
from testsgd.reporting.certification.summary import CertificationSummary, CounterexampleSummary
from testsgd.reporting.grid import Column, Grid, Row


def regions_grid(summary: CertificationSummary) -> Grid:
    """List the regions; the parts are shares of the region, only the first share is the domain's.

    The estimate stands in a column that says so, and appears only if samples were drawn.
    """
    sampled = any(region.unfair_estimate is not None for region in summary.regions)
    columns = (
        Column("", "number"),
        Column("Region", "name"),
        Column("Share of the domain", "number"),
        Column("Of it proved fair", "number"),
        Column("Of it proved unfair", "strong"),
        Column("Of it undecided", "number"),
        *((Column("Estimated: unfair, of samples in it", "number"),) if sampled else ()),
    )
    rows = []
    for place, region in enumerate(summary.regions, start=1):
        estimate = region.unfair_estimate
        rows.append(
            Row(
                (
                    count(place),
                    region.text,
                    percent(region.share),
                    at_least(part_of(region.certified, region)),
                    at_least(part_of(region.falsified, region)),
                    at_most(part_of(region.undecided, region)),
                    *((NOTHING if estimate is None else percent(estimate),) if sampled else ()),
                )
            )
        )
    return Grid("Regions where unfairness is proved or possible", columns, tuple(rows))


def counterexamples_grid(summary: CertificationSummary) -> Grid:
    """List counterexamples, a row each person; the rows of one differ only in what is protected."""
    protected, examples = summary.domain.protected, summary.counterexamples
    shared = list(examples[0].person) if examples else []
    columns = (
        Column("Case", "number"),
        *(Column(name, "name" if place == 0 else "text") for place, name in enumerate(protected)),
        Column("Decision"),
        Column("Sum" if summary.network.decision == "threshold" else "Sums", "number"),
        *(Column(name, "number" if _is_number(examples[0], name) else "text") for name in shared),
    )
    rows = []
    for place, example in enumerate(examples, start=1):
        decided = [answer.decision for answer in example.answers]
        for line, answer in enumerate(example.answers):
            person = [value_text(example.person[name]) for name in shared]
            note = "" if line else ("proved" if example.proved else "by running")
            rows.append(
                Row(
                    (
                        count(place),
                        *answer.protected,
                        answer.decision,
                        sums_text(answer),
                        *person,
                    ),
                    # The eye should find who is decided otherwise than the first.
                    emphasis=answer.decision != decided[0],
                    note=note,
                )
            )
        if example.left_out:
            rest = f"and {count(example.left_out)} more"
            blank = [""] * (len(columns) - 2)
            rows.append(Row((count(place), rest, *blank)))
    return Grid("Counterexamples", columns, tuple(rows))


def inputs_grid(summary: CertificationSummary) -> Grid:
    """List the inputs of the network and the values that each may take."""
    columns = (Column("Input", "name"), Column("Values"), Column("Role"))
    rows = tuple(
        Row((one.name, one.text, "protected, compared" if one.protected else "free"))
        for one in summary.domain.inputs
    )
    return Grid("Inputs of the domain", columns, rows)


def _is_number(example: CounterexampleSummary, name: str) -> bool:
    return not isinstance(example.person[name], str)
