"""What a report of a mitigation says of control effects: of terms against neutral words."""

from __future__ import annotations

from testsgd.auditing.report.vocabulary import words_for
from testsgd.mitigation.report.control_summary import (
    ControlChange,
    ControlChangesSummary,
    ControlFigure,
)
from testsgd.mitigation.report.phrases import FEW
from testsgd.mitigation.report.summary import MitigationSummary
from testsgd.report.blocks import Table
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    plural,
    points,
    series,
    signed,
    size,
)
from testsgd.report.listing import Listed, listing


def deciding_control(summary: MitigationSummary) -> ControlChange | None:
    """Return the control effect that the verdict goes by; None if it goes by the groups."""
    controls = summary.controls
    if controls is None or not controls.decides or not controls.targets:
        return None
    return controls.targets[0].held_out


def control_moved(change: ControlChange) -> str:
    """Write from where to where a control effect went on the held-out texts, as a clause."""
    start = f"on {plural(change.texts, 'held-out text')} the control effect of {change.text}"
    if change.after is None:
        return f"{start} stays at {_figure(change.before)} points"
    return (
        f"{start} went from {signed(change.before.difference)} to "
        f"{points(change.after.difference)}{_ends(change)}"
    )


def control_change_sentences(summary: MitigationSummary) -> list[str]:
    """Write the largest control effect before and after; nothing for rows."""
    controls = summary.controls
    if controls is None:
        return []
    first = controls.largest_before
    if first is None or controls.confidence is None:
        return [
            "What the terms change against neutral words is not known on held-out texts: too few "
            "of them mention a term, or the queries did not suffice."
        ]
    sentences = [_objective(controls), _largest(controls, first)]
    if controls.decides:
        sentences.append(
            "The verdict goes by the control effect, which is larger than what any terms change "
            "against one another."
        )
    return [sentence for sentence in sentences if sentence]


def control_table(summary: MitigationSummary) -> Table:
    """List the largest difference of any group and control effects, before and after."""
    controls, change = summary.controls, summary.held_out
    lines: list[tuple[str, ControlChange]] = []
    if controls is not None:
        for name, item in (
            ("Largest control effect before", controls.largest_before),
            ("Largest control effect after", controls.largest_after),
        ):
            if item is not None:
                lines.append((f"{name}: {item.text}", item))
        lines += [
            (f"Countered: {target.text}", target.held_out)
            for target in controls.targets
            if target.held_out is not None
        ]
    worst = (
        "Largest difference of any group",
        size(change.worst_before),
        NOTHING if summary.chosen_run is None else size(change.worst_after),
        NOTHING,
        count(change.rows),
    )
    cells = [worst, *(_cells(name, item) for name, item in lines)]
    return listing(
        "Groups and neutral words",
        cells,
        (
            Listed("Held-out texts", lambda line: line[0], "name"),
            Listed("Before", lambda line: line[1]),
            Listed("After", lambda line: line[2], "strong"),
            Listed("Change, points", lambda line: line[3]),
            Listed("Number", lambda line: line[4]),
        ),
    )


def _cells(name: str, change: ControlChange) -> tuple[str, str, str, str, str]:
    after = NOTHING if change.after is None else _figure(change.after)
    moved = NOTHING if change.change_interval is None else interval(change.change_interval)
    return name, _figure(change.before), after, moved, count(change.texts)


def control_too_few(summary: MitigationSummary) -> str:
    """Write that the control effect that decides cannot be judged."""
    controls = summary.controls
    name = controls.targets[0].text if controls is not None and controls.targets else "the terms"
    many = words_for(summary.data.kind).many
    return (
        f"What became of the control effect of {name} is not known: at least {FEW} held-out "
        f"{many} that mention such a term are needed."
    )


def _objective(controls: ControlChangesSummary) -> str:
    """Write which control effects were part of the objective."""
    if not controls.targets:
        return ""
    names = [target.text for target in controls.targets if target.samples]
    more = len(controls.targets) - len(names)
    besides = f", and {plural(more, 'effect')} of single terms" if more else ""
    return (
        "The original model has a significant effect of its own of terms against neutral words. "
        "The objective is the largest of the groups' differences and of "
        f"{plural(len(controls.targets), 'such control effect')}"
        f"{': ' + series(names) if names else ''}{besides}."
    )


def _largest(controls: ControlChangesSummary, first: ControlChange) -> str:
    """Write the largest control effect before, and the largest after."""
    after = controls.largest_after
    start = (
        f"Of {plural(controls.effects, 'control effect')} on held-out texts (each interval at "
        f"{100 * (controls.confidence or 0.0):.4g}%, so that all hold at once) the largest, of "
        f"{first.text}, "
    )
    if after is None or after.after is None:
        return f"{start}is {_figure(first.before)} points, and stays."
    last = "" if after.text == first.text else f", now of {after.text}"
    return f"{start}was {_figure(first.before)} and is {_figure(after.after)} points{last}."


def _figure(figure: ControlFigure) -> str:
    return f"{signed(figure.difference)} ({interval(figure.confidence_interval)})"


def _ends(change: ControlChange) -> str:
    if change.change_interval is None:
        return ""
    return f", a change of {interval(change.change_interval)} points"
