"""``testsgd shield synthesize``: from a specification to a shield."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testsgd.cli.console import DONE, print_line
from testsgd.cli.folders import check_writable
from testsgd.cli.options import QuietOption, VerboseOption, listed
from testsgd.cli.shield.options import (
    LengthOption,
    ProcessorsOption,
    ThresholdOption,
    byte_count,
    changes_of,
)

if TYPE_CHECKING:
    from testsgd.api import ShieldPlan


def synthesize(
    specification: Annotated[
        Path,
        typer.Argument(metavar="SPEC.toml", help="What is to be kept: the TOML file that says so."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the shield. (default: NAME.npz)"),
    ] = None,
    threshold: ThresholdOption = None,
    length: LengthOption = None,
    storage: Annotated[
        str,
        typer.Option(
            help="Store the decisions whole, or find them again by windows, which takes less "
            "memory; auto: whole up to a gibibyte."
        ),
    ] = "auto",
    memory_limit: Annotated[
        str,
        typer.Option(help="Refuse a synthesis that is predicted to need more memory."),
    ] = "8GB",
    jobs: ProcessorsOption = 1,
    report: Annotated[
        Path | None, typer.Option(help="Also write a report of the synthesis into this folder.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json.")
    ] = "html,md,json",
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Find the shield that keeps a bound at the least expected cost.

    The memory that the synthesis needs is said before it begins. If there is no such shield, the
    smallest threshold that can be kept is named, and the exit code is 2.
    """
    from testsgd import api, results

    limit = byte_count(memory_limit, "--memory-limit")
    wanted = listed(formats)
    results.check_document_formats(wanted)
    # Of a specification that is wrong, the errors come first.
    target = out or Path(f"{specification.stem}.npz")
    check_writable(target.parent)
    if report is not None:
        check_writable(report)

    def announce(plan: ShieldPlan) -> None:
        from testsgd.reporting.shielding.phrases import bytes_text

        if not quiet:
            print_line(f"Memory that is needed: about {bytes_text(plan.predicted_bytes)}")

    result = api.synthesis_result(
        specification,
        out=target,
        storage=storage,  # type: ignore[arg-type]  # checked there
        jobs=jobs,
        memory_limit=limit,
        announce=announce,
        **changes_of(threshold, length),
    )
    written = [target] if report is None else [target, *result.write(report, wanted)]
    if not quiet:
        print_line(result.verdict.headline)
        for sentence in result.verdict.sentences:
            print_line(sentence)
        for path in written:
            print_line(f"Written: {path}")
    return DONE
