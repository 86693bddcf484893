"""What the report of an assessment draws: shares, waiting times, and combinations that appear."""

from __future__ import annotations

from testsgd.generative.report.summary import CoverageSummary, SequenceSummary
from testsgd.report import charts
from testsgd.report.blocks import Figure
from testsgd.report.charts import Mark, Plane, StripRow, Strips
from testsgd.report.formatting import count, percent, plural
from testsgd.report.scales import count_scale, linear_scale

# Flags of more outputs that were asked for would cover the drawing.
_MOST_FLAGS = 60
_WAITING_HEIGHT = 12.0
_COVERAGE_HEIGHT = 12.0


def shares_figure(sequence: SequenceSummary, earlier: SequenceSummary | None) -> Figure | None:
    """Draw the share of each value with its intervals, and where it was before."""
    if not sequence.related:
        return None
    before = {} if earlier is None else {value.name: value.share for value in earlier.values}
    rows = []
    for value in sequence.values:
        assert value.share is not None  # there are related outputs
        marks = [
            Mark(
                value.share,
                interval=(value.low, value.high),
                margin=(value.exact_low, value.exact_high),
            )
        ]
        was = before.get(value.name)
        if was is not None:
            marks.append(Mark(was, shape="was"))
        rows.append(
            StripRow(
                label=value.name,
                value=percent(value.share),
                title=f"{value.name}: {percent(value.share)} of {sequence.related} outputs, "
                f"interval {percent(value.low)} to {percent(value.high)}",
                marks=tuple(marks),
                line=None if was is None else (was, value.share),
                side="more",
            )
        )
    highest = max(value.high for value in sequence.values)
    scale = linear_scale(0.0, min(highest, 1.0), count=5)
    caption = (
        "Dot: the share among the related outputs. Thick band: exact interval for this number of "
        "outputs. Thin line: interval that holds for every number of outputs at once."
    )
    if before:
        caption += " Hollow dot: the share before."
    drawn = Strips((("", tuple(rows)),), scale, zero=False)
    return Figure(f"Shares: {sequence.name}", (drawn,), caption)


def waiting_times(sequence: list[int], number: int) -> list[int]:
    """Return for each output how many outputs ago a value came, 0 where it comes.

    Examples
    --------
    >>> waiting_times([1, 1, 2, -1, 1, 1], 2)
    [1, 2, 0, 1, 2, 3]
    """
    waited = 0
    times = []
    for label in sequence:
        waited = 0 if abs(label) == number else waited + 1
        times.append(waited)
    return times


def waiting_figure(sequence: SequenceSummary) -> Figure | None:
    """Draw how many outputs ago each value came, with the number that is asked for."""
    if len(sequence.sequence) < 2:
        return None
    first = sequence.related - len(sequence.sequence) + 1
    rarest = min(sequence.values, key=lambda value: value.count).name
    lines = []
    highest = 1
    for number, value in enumerate(sequence.values, start=1):
        times = waiting_times(sequence.sequence, number)
        highest = max(highest, *times)
        points = tuple((first + index, float(time)) for index, time in enumerate(times))
        is_rarest = value.name == rarest
        name = value.name if is_rarest else ""
        lines.append(charts.Line(points, "less" if is_rarest else "soft", name))
    lines.sort(key=lambda line: line.tone != "soft")
    betas = sorted({value.beta for value in sequence.values if value.beta is not None})
    thresholds = tuple(charts.Threshold(beta, f"at most {count(beta)}") for beta in betas)
    asked = [first + index for index, label in enumerate(sequence.sequence) if label < 0]
    flags = tuple(charts.Flag(at) for at in asked) if len(asked) <= _MOST_FLAGS else ()
    upwards = linear_scale(
        0.0, 1.05 * max([highest, *betas]), count=4, write=lambda value: count(round(value))
    )
    plane = Plane(
        title=f"Outputs since each value came, over {plural(len(sequence.sequence), 'output')}",
        across=count_scale(first, first + len(sequence.sequence) - 1),
        upwards=upwards,
        name="Outputs since the value came",
        below="Related outputs",
        flags=flags,
        lines=tuple(lines),
        thresholds=thresholds,
        height=_WAITING_HEIGHT,
    )
    caption = f"Orange: “{rarest}”, the rarest value; grey: the others."
    if betas:
        caption += " Dashed: the number of outputs within which a value must come again."
    if flags:
        caption += " Upright lines: outputs for which a value was asked."
    return Figure(f"Waiting times: {sequence.name}", (plane,), caption)


def coverage_figure(coverage: CoverageSummary) -> Figure | None:
    """Draw how many combinations had appeared after each output."""
    if coverage.outputs < 2 or not coverage.combinations:
        return None
    points = [(0.0, 0.0)]
    reached = 0.0
    for point in coverage.curve:
        points.append((float(point.outputs), reached))
        reached = point.covered / coverage.combinations
        points.append((float(point.outputs), reached))
    name = percent(reached)
    plane = Plane(
        title=f"Combinations that had appeared: {name} at the end",
        across=count_scale(0, coverage.outputs),
        upwards=linear_scale(0.0, 1.0, count=4),
        name="Combinations that had appeared, per cent",
        below="Outputs",
        lines=(charts.Line(tuple(points), "more", name),),
        height=_COVERAGE_HEIGHT,
    )
    caption = "It rises where an output brings a combination of values that none before it had."
    return Figure("Combinations over the outputs", (plane,), caption)
