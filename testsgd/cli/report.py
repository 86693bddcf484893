"""``testsgd report``: render a saved result again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli import console, options


def report(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT.json",
            help="The JSON result of an audit, a mitigation, a comparison, a certification, of a "
            "monitor, of a shield's synthesis or simulation, or of outputs of a generative model.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: the result's own)")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="Which reports: html,md,json. (default: html,md)"),
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Render the reports of a saved result, without computing anything again.

    Exit codes: those of the result's verdict, and 2 bad input.
    """
    from testsgd.report.kinds import read_result

    loaded = read_result(result)
    written = loaded.write(out or result.parent, options.listed(formats, "html,md"))
    if not quiet:
        console.print_line(loaded.verdict.headline)
        console.print_files(written)
    return loaded.exit_code
