"""The command line's entry: collects the commands, turns errors into one line and an exit code."""

from __future__ import annotations

import io
import sys
from typing import Annotated, NoReturn

import typer

from testsgd._version import __version__
from testsgd.cli import (
    audit,
    bench,
    certify,
    compare,
    data,
    mitigate,
    monitor,
    report,
    shield,
    train,
)
from testsgd.cli.console import (
    INTERNAL_ERROR,
    INTERRUPTED,
    USAGE_ERROR,
    Interruption,
    print_error,
)
from testsgd.errors import TestSGDError

app = typer.Typer(
    name="testsgd",
    help="Find, measure and prove group discrimination in machine-learning models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command(name="audit")(audit.audit)
app.command(name="mitigate")(mitigate.mitigate)
app.command(name="compare")(compare.compare)
app.command(name="certify")(certify.certify)
app.command(name="train")(train.train)
app.command(name="report")(report.report)
app.add_typer(shield.app, name="shield")
app.add_typer(monitor.app, name="monitor")
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"testsgd {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Find, measure and prove group discrimination in machine-learning models.

    Exit codes: 0 done, 1 a gate failed, a monitor raised an alert or a mitigation did not help,
    2 bad input or usage, 3 not enough evidence to judge.
    """


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    Parameters
    ----------
    arguments : list of str, optional
        In place of those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a quotation mark is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        outcome = app(arguments, standalone_mode=False)
    except TestSGDError as error:
        print_error(str(error))
        return USAGE_ERROR
    except Interruption as interruption:
        print_error(str(interruption))
        return INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        print_error("interrupted")
        return INTERRUPTED
    except Exception as error:
        # Typer's own mistakes of usage carry their message and code; which class they are of
        # depends on typer's version.
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):
            # Without a message it was the help that was asked for, and printed.
            if message := error.format_message():
                print_error(f"{message.rstrip('.')}; see testsgd --help")
            return USAGE_ERROR
        if "--verbose" in (sys.argv if arguments is None else arguments):
            raise
        print_error(
            f"internal error: {type(error).__name__}: {error}; please report it, with the output "
            "of the same command under --verbose"
        )
        return INTERNAL_ERROR
    if outcome == INTERRUPTED:
        # So some versions of typer answer an interruption themselves.
        print_error("interrupted")
    return outcome if isinstance(outcome, int) else 0
