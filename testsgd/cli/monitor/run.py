"""``testsgd monitor run``: events from the standard input or a file, alerts as they come."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli.console import print_line
from testsgd.cli.folders import check_writable
from testsgd.cli.monitor.ending import Ending
from testsgd.cli.options import QuietOption, VerboseOption, listed

if TYPE_CHECKING:
    from testsgd.errors import TestSGDError
    from testsgd.results import MonitorResult


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
    state: Annotated[
        Path | None,
        typer.Option(
            help="A file to go on from, if it is there; at the end the state is written to it."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json.")
    ] = "html,md,json",
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Watch over decisions as they come, and print each alert at once, a JSON object a line.

    An event is an object such as {"id": "a7", "group": "female", "decision": 1}; its true label may
    come later, {"id": "a7", "label": 1}. An event that is wrong is answered by {"error": ...} and
    changes nothing. At the end, or when it is interrupted, the outcome is said on the standard
    error. Exit codes: 0 no alert, 1 an alert was raised, ever, 2 bad input, 3 not enough evidence.
    """
    from testsgd import api, results
    from testsgd.api.event_sources import event_source, json_lines

    wanted = listed(formats)
    results.check_document_formats(wanted)
    for folder in (out, None if state is None else state.parent):
        if folder is not None:
            check_writable(folder)
    watched = api.load_monitor(specification).specification
    source = json_lines("", sys.stdin.buffer) if events is None else event_source(events, watched)
    ending = Ending()
    with ending.noticed():
        result = api.monitor(
            watched,
            dataclasses.replace(source, items=ending.until(source.items)),
            state=state,
            on_alert=lambda alert: _print(alert.to_dict(), ending),
            on_error=lambda error, number: _print(_refusal(error, number), ending),
        )
    written = [] if out is None else result.write(out, wanted)
    if not quiet:
        _print_result(result, written)
    return result.exit_code


def _refusal(error: TestSGDError, number: int) -> dict[str, Any]:
    told = " ".join(str(error).split())
    return {"error": told, "kind": type(error).__name__, "line": number}


def _print(told: dict[str, Any], ending: Ending) -> None:
    """Print an answer at once; if nobody reads them any more, the stream is at its end."""
    try:
        print_line(json.dumps(told, allow_nan=False))
        sys.stdout.flush()
    except BrokenPipeError:
        ending.wanted = True
        # Python would try again at its exit, and fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_result(result: MonitorResult, written: list[Path]) -> None:
    for told in (
        result.verdict.headline,
        *result.verdict.sentences,
        *(f"Written: {path}" for path in written),
    ):
        typer.echo(told, err=True)
