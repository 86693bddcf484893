"""``testsgd monitor``: events are watched, and specifications are made, tried out and exported."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.cli.default_folders import default_folder
from testsgd.cli.signals import Ending
from testsgd.cli.specifications import write_specifications
from testsgd.errors import ParameterError
from testsgd.io import discard_output, write_text
from testsgd.monitoring.simulation.parameters import MonitorSimulationParameters

if TYPE_CHECKING:
    from testsgd.errors import TestSGDError
    from testsgd.monitoring import DeadLetter, MonitorResult


def run(
    specification: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml", help="What is to be watched: the TOML file that says so."
        ),
    ],
    events: Annotated[
        Path | None,
        typer.Option(
            help="A file of events: .jsonl, one JSON object a line, or .csv with a header. "
            "(default: JSON lines on the standard input)"
        ),
    ] = None,
    groups: options.AuditedGroupsOption = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="A file to go on from, if it is there; at the end the state is written to it. "
            "No other process can use it meanwhile."
        ),
    ] = None,
    dead_letters: Annotated[
        Path | None,
        typer.Option(
            help="A file to which events are added that are not counted because of their time, a "
            "JSON object a line. (default: they are only counted and answered)"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Watch over decisions as they come, and print each alert at once, a JSON object a line.

    An event is an object such as {"id": "a7", "group": "female", "decision": 1}; its true label may
    come later, {"id": "a7", "label": 1}. An event that is wrong is answered by {"error": ...} and
    changes nothing. Where deadlines or windows need time, an event that is too late, too far ahead
    or in another unit of time is answered by {"dead_letter": ...} and is not counted. At the end,
    or when it is interrupted, the outcome is said on the standard error. Exit codes: 0 no alert, 1
    an alert was raised, ever, 2 bad input, 3 not enough evidence.
    """
    from testsgd.monitoring import MonitorResult, load_monitor, monitor_of_groups, monitored
    from testsgd.monitoring.event_sources import event_source, json_lines

    wanted = options.listed(formats, options.FORMATS)
    MonitorResult.check_formats(wanted)
    if out is not None:
        console.check_reports_writable(out, MonitorResult, wanted)
    for path in (state, dead_letters):
        if path is not None:
            console.check_writable(path.parent)
    watched = load_monitor(
        specification if groups is None else monitor_of_groups(specification, groups)
    ).specification
    source = (
        json_lines("", console.input_lines()) if events is None else event_source(events, watched)
    )
    ending = Ending()

    def answer_letter(letter: DeadLetter) -> None:
        entries = letter.to_dict()
        _print({key: entries[key] for key in entries if key != "event"}, ending)

    with (
        ending.noticed(),
        monitored(
            watched,
            dataclasses.replace(source, items=ending.until(source.items)),
            state=state,
            reports=out,
            on_alert=lambda alert: _print(alert.to_dict(), ending),
            on_error=lambda error, number: _print(_refusal(error, number), ending),
            on_dead_letter=answer_letter,
            dead_letters=dead_letters,
        ) as result,
    ):
        written = [] if out is None else result.write(out, wanted)
    if not quiet:
        _print_result(result, written)
    # Alerts after the last that was read were not seen: the code of a verdict would not say so.
    return console.UNREAD if ending.is_unread else result.exit_code


def init(
    source: Annotated[
        Path,
        typer.Option("--from", metavar="result.json", help="The JSON result of an audit of rows."),
    ],
    groups: Annotated[
        int | None,
        typer.Option(
            help="How many groups at most; each has a monitor. (default: the first three distinct "
            "ones, or all that the audit's --group named)"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the specifications.")] = Path("monitors"),
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Write specifications of monitors that watch the groups that an audit found.

    Each compares one group with its complement, by expressions over the fields of the event. After
    an audit with --rows both are among these rows. The audit's metric is the selection rate, the
    true-positive rate or the false-positive rate. Simulations draw people as often as the audit
    counted them. What is to be filled in is said by comments. A file that is there already is
    changed with --force only.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.monitoring import monitors_from_audit

    texts = monitors_from_audit(source, groups=groups)
    write_specifications(texts, out, wanted=groups, quiet=quiet)
    return console.DONE


def export(
    specification: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml", help="What is watched: the TOML file that says so."),
    ],
    to: Annotated[str, typer.Option(metavar="rtlola", help="The language.")] = "rtlola",
    whole: Annotated[
        bool, typer.Option("--whole", help="Each event is a whole trial, and ids play no part.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="A file for the text. (default: it is printed)")
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Write what a monitor watches as a specification in RTLola, for a monitor of that language.

    Only what that says the same way is exported: alerts by the estimate, over all trials so far,
    with the deadline of labels or without. Anything else is an error that names the key.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.monitoring import monitor_to_rtlola

    if to != "rtlola":
        raise ParameterError(
            f"there is no export to {to!r}", where="--to", remedy="give rtlola", value=to
        )
    text = monitor_to_rtlola(specification, joined=not whole)
    if out is None:
        console.print_line(text.removesuffix("\n"))
        return console.DONE
    console.check_writable(out.parent)
    write_text(out, text)
    if not quiet:
        console.print_line(f"Written: {out}")
    return console.DONE


@options.with_options(MonitorSimulationParameters)
def simulate(
    specification: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC.toml", help="What would be watched: the TOML file that says so."
        ),
    ],
    bias: Annotated[
        list[str] | None,
        typer.Option(
            help="True biases, from 0 to 1, with commas between them. (default: 0,0.05,0.1,0.2, as "
            "far as there are such rates, and that of the specified rates)"
        ),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            help="A file of past events, .jsonl or .csv, whose people are drawn with replacement. "
            "(default: people are drawn by chances)"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the reports. (default: reports/NAME-monitor-simulated)"),
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
    **parameters: Any,
) -> int:
    """Simulate streams before a monitor goes live: false alarms, and how soon a bias is found.

    Each bias has many streams, of people who are independent of each other; the monitor is as it is
    specified. Shares of groups and rates are those of its table [simulation], if it has one, as
    testsgd monitor init writes it; options go before it. Exit codes: 0 done, 2 bad input.
    """
    from testsgd.monitoring import MonitorSimulationResult, simulate_monitor
    from testsgd.monitoring.simulation.report.layout import alarms_table

    wanted = options.listed(formats, options.FORMATS)
    MonitorSimulationResult.check_formats(wanted)
    folder = out or default_folder("reports", f"{specification.stem}-monitor-simulated")
    console.check_reports_writable(folder, MonitorSimulationResult, wanted)
    with console.progress_bar(quiet) as progress:
        result = simulate_monitor(
            specification,
            events,
            bias=None if bias is None else _biases(bias),
            progress=progress or False,
            **parameters,
        )
    written = result.write(folder, wanted)
    if not quiet:
        console.print_block(alarms_table(result.summary))
        console.print_verdict(result.verdict)
        console.print_files(written)
    return result.exit_code


def _biases(texts: list[str]) -> list[float]:
    text = ",".join(texts)
    try:
        return [float(part) for part in options.listed(texts)]
    except ValueError as error:
        raise ParameterError(
            f"{text!r} is no list of numbers",
            where="--bias",
            remedy="give numbers such as 0,0.05,0.1",
            value=text,
        ) from error


def _refusal(error: TestSGDError, number: int) -> dict[str, Any]:
    message = " ".join(str(error).split())
    return {"error": message, "kind": type(error).__name__, "line": number}


def _print(answer: dict[str, Any], ending: Ending) -> None:
    """Print an answer at once; the stream ends if the output has no reader any more."""
    try:
        console.print_line(json.dumps(answer, allow_nan=False))
        sys.stdout.flush()
    except BrokenPipeError:
        ending.wanted = ending.is_unread = True
        discard_output(sys.stdout)


def _print_result(result: MonitorResult, written: list[Path]) -> None:
    for line in (
        result.verdict.headline,
        *result.verdict.sentences,
        *(f"Written: {path}" for path in written),
    ):
        console.print_note(line)


app = typer.Typer(name="monitor", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Watch over a stream of decisions, and say when groups are treated differently."""


app.command("run")(run)
app.command("simulate")(simulate)
app.command("init")(init)
app.command("export")(export)
