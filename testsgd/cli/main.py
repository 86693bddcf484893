"""The command line's entry: finds the commands, turns errors into one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from testsgd._version import __version__
from testsgd.cli.console import (
    INTERNAL_ERROR,
    INTERRUPTED,
    TERMINATED,
    TOO_FEW_DATA,
    UNREAD,
    USAGE_ERROR,
    Interruption,
    print_error,
    print_note,
)
from testsgd.cli.inputs import keep_inputs
from testsgd.cli.signals import Termination
from testsgd.errors import TestSGDError, TooFewDataError
from testsgd.io import (
    NO_ROOM,
    discard_output,
    file_memory,
    open_streams,
    remove_unfinished,
    replacing_any_file,
    reproducible_files,
)

# Objects made between two collections of garbage, and younger collections before an older one. What
# a command makes it needs to its end, so collecting as often as Python does finds little: it was a
# twentieth of the time of a small audit.
_COLLECTED_AFTER = (50_000, 20, 20)

# What to do in place of an option that a command does not have, and others have.
_INSTEAD = {
    ("testsgd compare", "--sensitive"): "write a description of the columns with testsgd init "
    "people.csv --sensitive sex > people.toml, and give people.toml in place of people.csv"
}
# A number of hundreds of digits in a message of typer's, and how it begins.
_LONG_NUMBER = re.compile(r"(\d{20})\d{20,}")
# Characters that are shown of a file's name that is too long, and of a warning.
_MOST_OF_A_NAME = 200
_MOST_OF_A_WARNING = 300
# Warnings that are shown of one command, each once.
_MOST_WARNINGS = 20

# Each command is a module of this package, imported when it is called. So what the list of them
# shows, the first paragraph of a command's own help, stands here.
COMMANDS = {
    "audit": "Find the groups that a model treats differently from everybody else, and write a "
    "report.",
    "init": "Print a description of a file of rows as TOML: what was guessed, with a comment a "
    "line.",
    "cells-sql": "Print the query that counts the rows of a warehouse, for those who may only send "
    "SQL.",
    "mitigate": "Find a model that treats groups more alike, and say what that costs and who pays.",
    "compare": "Run the audit and other published methods on one model, and show what each finds.",
    "certify": "Prove for which share of all people in a domain a network is individually fair.",
    "certify-ask": "Show whether a network is fair to given people, and who is treated otherwise.",
    "train": "Train the TestSGD paper's network for rows or for texts and write it with a model "
    "card.",
    "report": "Render the reports of a saved result, without computing anything again.",
    "shield": "Keep a bound on the bias of a sequence of decisions, at the least expected cost.",
    "monitor": "Watch over a stream of decisions, and say when groups are treated differently.",
    "generative": "Assess and enforce which groups a generative model shows, and how often.",
    "data": "List, describe and fetch data sets.",
    "bench": "Measure the audit itself.",
}


def load_command(name: str) -> Any:
    """Return a command with its options, or a group of commands."""
    module_name = name.replace("-", "_")
    module = import_module(f"testsgd.cli.{module_name}")
    parent = typer.Typer(add_completion=False)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name)
    else:
        parent.command(name)(getattr(module, module_name))
    command = typer.main.get_group(parent).commands[name]
    _add_file_options(command)
    return command


def _add_file_options(command: Any) -> None:
    """Give a command, or those of a group, the options that are about any file, and checks."""
    from testsgd.cli.options import check_given_once, check_numbers

    for inner in getattr(command, "commands", {}).values():
        _add_file_options(inner)
    if not hasattr(command, "commands"):
        holder = typer.Typer(add_completion=False)
        holder.command()(_file_options)
        named = typer.main.get_command(holder).params
        command.params += [option for option in named if not option.expose_value]
        keep_inputs(command)
        check_numbers(command)
        check_given_once(command)


def _replace_any_file(wanted: bool) -> None:
    if wanted:
        _entered.enter_context(replacing_any_file())


def _limit_file_memory(size: str | None) -> None:
    if size is not None:
        from testsgd.cli.options import byte_count

        _entered.enter_context(file_memory(byte_count(size, "--max-file-memory")))


def _leave_out_times(wanted: bool) -> None:
    if wanted:
        _entered.enter_context(reproducible_files())


def _file_options(
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace files that testsgd did not write, and those of another kind that it "
            "wrote, too.",
            callback=_replace_any_file,
            expose_value=False,
        ),
    ] = False,
    max_file_memory: Annotated[
        str | None,
        typer.Option(
            help="Refuse a file whose contents need more memory. (default: 4GiB)",
            callback=_limit_file_memory,
            expose_value=False,
        ),
    ] = None,
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible",
            help="Leave times out of the files, so that equal runs write equal bytes.",
            callback=_leave_out_times,
            expose_value=False,
        ),
    ] = False,
) -> None:
    """Hold the options that every command has; they act as soon as they are read."""


# What these options change ends with the command.
_entered = contextlib.ExitStack()


# No model is called so: `testsgd certify ask MODEL` is `testsgd certify-ask MODEL`.
_IN_TWO_WORDS = {("certify", "ask"): "certify-ask"}


def _in_one_word(arguments: list[str]) -> list[str]:
    """Return arguments with the name of a command that may be written in two words as one."""
    joined = _IN_TWO_WORDS.get((arguments[0], arguments[1])) if len(arguments) > 1 else None
    return arguments if joined is None else [joined, *arguments[2:]]


def _escape_help(command: Any) -> None:
    """Make square brackets in the help of a command, and of those of a group, plain text.

    Else they are marks of a style, and are not shown.
    """
    for part in (command, *command.params):
        help_text = getattr(part, "help", None)
        if help_text and "[" in help_text:
            from rich.markup import escape

            part.help = escape(help_text)
    for inner in getattr(command, "commands", {}).values():
        _escape_help(inner)


# Calls of one process have the same commands: to read the declarations of all their options again
# would take longer than to find most mistakes.
@cache
def _called_command(name: str) -> Any:
    """Return a command as it is called: its help can be shown."""
    command = load_command(name)
    _escape_help(command)
    return command


class _LazyGroup(TyperGroup):
    """The commands by their names and first words, each replaced by itself when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, _in_one_word(args))
        return name, _called_command(str(name)), rest


app = typer.Typer(
    name="testsgd",
    cls=_LazyGroup,
    help="Find, measure and prove group discrimination in machine-learning models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _name, _help in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


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
    """Run the command line, by default on the process's arguments, and leave with its exit code."""
    if arguments is None:
        # The process is this command's own.
        gc.set_threshold(*_COLLECTED_AFTER)
    open_streams()
    # On a full disk the error is said, and not beside it that joblib could not begin.
    warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a quotation mark is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    termination = Termination()
    with termination.noticed():
        code = _cleaned_up(arguments)
    sys.exit(TERMINATED if code == INTERRUPTED and termination.is_wanted else code)


@contextlib.contextmanager
def _warnings_in_one_line() -> Iterator[list[str]]:
    """Collect what libraries, and a user's model, warn of: each once, in a line without source."""
    collected: list[str] = []

    def collect(message: Warning | str, *_: Any, **__: Any) -> None:
        words = " ".join(str(message).split())
        shown = words if len(words) <= _MOST_OF_A_WARNING else f"{words[:_MOST_OF_A_WARNING]}…"
        if shown not in collected and len(collected) < _MOST_WARNINGS:
            collected.append(shown)

    before = warnings.showwarning
    warnings.showwarning = collect
    try:
        yield collected
    finally:
        warnings.showwarning = before


def _cleaned_up(arguments: list[str] | None) -> int:
    """Run the command line, leave no temporary file at any interruption, and return its code."""
    try:
        code = _run(arguments)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError as error:
        code = _unwritten(error)
    except KeyboardInterrupt:
        # Outside the command itself, or a second one while it answered the first.
        code = INTERRUPTED
    finally:
        remove_unfinished()
    return code


def _unwritten(error: OSError) -> int:
    """Return the exit code where the output could not be written, and say why if it was not read.

    What is left of it goes nowhere: else Python would try again at its exit, and fail.
    """
    discard_output(sys.stdout)
    if isinstance(error, BrokenPipeError):
        discard_output(sys.stderr)
        return UNREAD
    print_error(f"the output cannot be written ({error.strerror}); make room, or print elsewhere")
    return USAGE_ERROR


def _unusable_name(error: Exception) -> str | None:
    """Return what is wrong with a name that no file can have; None for other errors."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        name = str(error.filename)
        shown = name if len(name) <= _MOST_OF_A_NAME else f"{name[:_MOST_OF_A_NAME]}…"
        return f"{shown}: the name is too long for a file"
    # So Python says it of every path with a zero character in it.
    if isinstance(error, ValueError) and str(error).startswith("embedded null"):
        return "the name of a file holds a zero character (U+0000)"
    return None


def _can_be_temporary() -> bool:
    """Return whether some folder can be written to for temporary files."""
    import tempfile

    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        return False
    return True


def _command_of(arguments: list[str]) -> str:
    """Return the command that arguments name, without its own arguments.

    An error of typer does not always know it: not if an option lacks its value.
    """
    names = ["testsgd"]
    arguments = _in_one_word(arguments)
    if arguments and arguments[0] in COMMANDS:
        names.append(arguments[0])
        # Of a group of commands the second word is one.
        parts = getattr(_called_command(arguments[0]), "commands", {})
        names += [word for word in arguments[1:2] if word in parts]
    return " ".join(names)


@cache
def _all_commands() -> Any:
    """Return the group of all commands."""
    return typer.main.get_command(app)


def _run(arguments: list[str] | None) -> int:
    """Run the command line and return its exit code; errors of a user are one line."""
    with _entered, _warnings_in_one_line() as warned:
        try:
            code = _outcome(arguments)
        except TestSGDError as error:
            print_error(str(error))
            return TOO_FEW_DATA if isinstance(error, TooFewDataError) else USAGE_ERROR
    # A mistake is one line: what was warned of before it is left out.
    if code != USAGE_ERROR:
        for message in warned:
            print_note(f"note: {message}")
    return code


def _outcome(arguments: list[str] | None) -> int:
    """Run the command line and return its exit code; raises the errors of testsgd's family."""
    try:
        outcome = _all_commands()(arguments, standalone_mode=False)
    except TestSGDError:
        raise
    except SystemExit as left:
        # Typer leaves so, with 1, if its output is read no further.
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        return UNREAD
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
            if message := _LONG_NUMBER.sub(r"\1…", error.format_message()):
                words = sys.argv[1:] if arguments is None else arguments
                command = _command_of(words)
                option = str(getattr(error, "option_name", None))
                remedy = _INSTEAD.get((command, option), f"see {command} --help")
                print_error(f"{message.rstrip('.')}; {remedy}")
            return USAGE_ERROR
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return _unwritten(error)
        if (unusable := _unusable_name(error)) is not None:
            print_error(f"{unusable}; give a shorter name, of letters that names can have")
            return USAGE_ERROR
        if isinstance(error, FileNotFoundError) and not _can_be_temporary():
            print_error(f"{error.strerror}; make room, or name another folder in TMPDIR")
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
