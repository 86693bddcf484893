"""``testsgd shield simulate``: runs without a shield and with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testsgd.cli.console import print_block, print_line
from testsgd.cli.folders import check_writable
from testsgd.cli.options import QuietOption, SeedOption, VerboseOption, listed
from testsgd.cli.shield.options import (
    LengthOption,
    ProcessorsOption,
    ThresholdOption,
    changes_of,
)

if TYPE_CHECKING:
    from testsgd.results import SimulationResult


def simulate(
    shield: Annotated[
        Path,
        typer.Argument(
            metavar="SHIELD",
            help="A shield (.npz), or the TOML file of a specification to synthesise one for.",
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of people to draw from. (default: the distribution that the shield "
            "expects)"
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Sequences of people.")] = 1000,
    periods: Annotated[
        int | None,
        typer.Option(help="Periods of a run. (default: those of the specification, or 1)"),
    ] = None,
    threshold: ThresholdOption = None,
    length: LengthOption = None,
    max_above: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 if more than this share of the runs is above the threshold with "
            "the shield."
        ),
    ] = None,
    seed: SeedOption = 0,
    jobs: ProcessorsOption = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the reports. (default: reports/NAME-shield)"),
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json.")
    ] = "html,md,json",
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Simulate runs without a shield and with it: bias, changes, cost and accuracy.

    Exit codes: 0 done, 1 a run broke a bound that is guaranteed or more runs than --max-above are
    above the threshold, 2 bad input.
    """
    from testsgd import api, results

    wanted = listed(formats)
    results.check_document_formats(wanted)
    folder = out or Path("reports") / f"{shield.stem}-shield"
    check_writable(folder)
    result = api.simulate_shield(
        shield,
        log,
        runs=runs,
        periods=periods,
        random_state=seed,
        jobs=jobs,
        max_above=max_above,
        **changes_of(threshold, length),
    )
    written = result.write(folder, wanted)
    if not quiet:
        _print_result(result, written)
    return result.exit_code


def _print_result(result: SimulationResult, written: list[Path]) -> None:
    from testsgd.reporting.shielding.layout import period_table, sides_table

    summary = result.summary
    print_block(sides_table(summary))
    if len(summary.periods) > 1:
        print_block(period_table(summary))
    print_line(summary.verdict.headline)
    for sentence in summary.verdict.sentences:
        print_line(sentence)
    for path in written:
        print_line(f"Written: {path}")
