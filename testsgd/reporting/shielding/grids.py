"""The tables of a shield's reports: the same cells in every view."""

from __future__ import annotations

from testsgd.report.formatting import NOTHING, count, number, percent
from testsgd.reporting.bias_words import bias_text
from testsgd.reporting.grid import Column, Grid, Row
from testsgd.reporting.shielding.parts import InputsSummary
from testsgd.reporting.shielding.phrases import (
    cost_text,
)
from testsgd.reporting.shielding.simulation_summary import SideSummary, SimulationSummary
from testsgd.reporting.shielding.verdict import loss_text

ABOVE, EVER_ABOVE = "Above the threshold", "Above at the end of some period"

_DECISIONS = {1: "accept", 0: "reject"}


def inputs_grid(inputs: InputsSummary) -> Grid:
    """List the distribution that the shield expects."""
    labelled = any(row.label_probability is not None for row in inputs.rows)
    columns = (
        Column("Group", "name"),
        Column("Recommendation"),
        Column("Cost of a change", "number"),
        Column("Probability", "number"),
        *((Column("True label 1", "number"),) if labelled else ()),
    )
    rows = tuple(
        Row(
            (
                row.group,
                _DECISIONS[row.recommendation],
                number(row.cost),
                percent(row.probability),
                *((percent(row.label_probability),) if labelled else ()),
            )
        )
        for row in inputs.rows
    )
    return Grid("The distribution that the shield expects", columns, rows)


def sides_grid(summary: SimulationSummary) -> Grid:
    """Compare the runs without the shield and with it."""
    runs = summary.settings.runs
    columns = (
        Column("", "name"),
        Column(ABOVE if summary.settings.periods == 1 else EVER_ABOVE, "strong"),
        Column("95% interval", "number"),
        Column("Median bias", "number"),
        Column("Bias of 95% up to", "number"),
        Column("Largest bias", "number"),
        *((Column("Correct decisions", "number"),) if summary.utility else ()),
    )
    correct = summary.utility
    return Grid(
        "The runs without the shield and with it",
        columns,
        (
            _side("Without the shield", summary.without, runs,
                  None if correct is None else correct.accuracy_without),
            _side("With it", summary.shielded, runs,
                  None if correct is None else correct.accuracy_shielded, emphasis=True),
        ),
    )  # fmt: skip


def _side(
    name: str,
    side: SideSummary,
    runs: int,
    accuracy: float | None,
    *,
    emphasis: bool = False,
) -> Row:
    return Row(
        (
            name,
            f"{percent(side.above / runs)} ({count(side.above)})",
            f"{percent(side.above_low)} to {percent(side.above_high)}",
            bias_text(side.median),
            bias_text(side.high),
            bias_text(side.largest),
            *(() if accuracy is None else (percent(accuracy),)),
        ),
        emphasis=emphasis,
    )


def cost_grid(summary: SimulationSummary) -> Grid:
    """List what the shield changed, what that cost and how many decisions became wrong by it."""
    columns = (
        Column("Of a run", "name"),
        Column("Mean", "strong"),
        Column("5% of runs below", "number"),
        Column("5% of runs above", "number"),
    )
    rows = [
        Row((name, cost_text(one.mean), cost_text(one.low), cost_text(one.high)))
        for name, one in (
            ("Changed decisions", summary.interventions),
            ("Cost of the changes", summary.cost),
        )
    ]
    if summary.utility is not None:
        loss = summary.utility.loss
        texts = (loss_text(one) for one in (loss.mean, loss.low, loss.high))
        rows.append(Row(("Loss of accuracy, points", *texts)))
    return Grid("Changes, their cost and the loss of accuracy", columns, tuple(rows))


def periods_grid(summary: SimulationSummary) -> Grid:
    """List the ends of the periods; whether an assumption held only where one is needed."""
    runs = summary.settings.runs
    assumed = any(one.assumed is not None for one in summary.periods)
    columns = (
        Column("Period", "name"),
        Column("Above, without", "number"),
        Column("Above, with the shield", "strong"),
        *((Column("Assumption held", "number"), Column("Then fair", "number")) if assumed else ()),
        Column("Median bias, without", "number"),
        Column("Median bias, with", "number"),
        Column("Changed", "number"),
        Column("Cost", "number"),
    )
    rows = []
    for one in summary.periods:
        held: tuple[str, ...] = ()
        if assumed:
            fair = percent((one.assumed_fair or 0) / one.assumed) if one.assumed else NOTHING
            held = (percent((one.assumed or 0) / runs), fair)
        rows.append(
            Row(
                (
                    count(one.period),
                    percent(one.above_without / runs),
                    percent(one.above_shielded / runs),
                    *held,
                    bias_text(one.median_without),
                    bias_text(one.median_shielded),
                    cost_text(one.interventions),
                    cost_text(one.cost),
                )
            )
        )
    return Grid("The end of each period, over all runs", columns, tuple(rows))
