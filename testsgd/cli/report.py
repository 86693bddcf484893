"""``testsgd report``: render a saved result again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli.console import print_line


def report(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.json", help="The JSON result of an audit.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: the result's own)")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json.")
    ] = "html,md",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show internal errors whole.")] = False,
) -> int:
    """Render the reports of a saved result, without computing anything again.

    The exit code is that of the result's verdict.
    """
    from testsgd.results import AuditResult, check_formats

    wanted = [item.strip() for item in formats.split(",") if item.strip()]
    check_formats(wanted)
    loaded = AuditResult.from_json(result)
    written = loaded.write(out or result.parent, wanted)
    if not quiet:
        print_line(loaded.verdict.headline)
        for path in written:
            print_line(f"Written: {path}")
    return loaded.verdict.exit_code
