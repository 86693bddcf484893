"""``testsgd compare``: what several methods find on one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.auditing.parameters import AuditParameters
from testsgd.baselines import METHODS
from testsgd.cli import console, options
from testsgd.cli.default_folders import default_folder

if TYPE_CHECKING:
    from testsgd.comparison import ComparisonResult


@options.with_options(
    AuditParameters, only=["theta", "max_features", "bins", "rows", "seed", "jobs"]
)
def compare(
    dataset: options.DatasetArgument,
    data: options.DataOption = None,
    model: options.ModelOption = None,
    trust_pickle: options.TrustPickleOption = False,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Which methods beside the audit: all, or some of {','.join(METHODS)}. (default: "
            "all)"
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds that each method beside the audit may take.")
    ] = 600,
    limit: options.LimitOption = None,
    favorable: options.FavourableOption = None,
    threshold: options.ThresholdOption = 0.5,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the reports. (default: reports/NAME-comparison)"),
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Run the audit and other published methods on one model, and show what each finds.

    Every group that a method names is measured with one yardstick, and looked for among the
    findings of the others. Methods that are not installed are listed with what to install.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.comparison import ComparisonResult
    from testsgd.comparison import compare as run

    wanted = options.listed(formats, options.FORMATS)
    ComparisonResult.check_formats(wanted)
    if out is not None:
        console.check_reports_writable(out, ComparisonResult, wanted)
    with console.progress_bar(quiet) as progress:
        result = run(
            model,
            data,
            dataset,
            methods=",".join(options.listed(methods, "all")),
            time_limit=time_limit,
            favourable=options.one_or_several(favorable),
            threshold=threshold,
            limit=limit,
            trust_pickle=trust_pickle,
            progress=progress or False,
            **parameters,
        )
    name = f"{result.summary.data.name}-comparison"
    written = result.write(out or default_folder("reports", name), wanted)
    if not quiet:
        _print_result(result, written, verbose)
    return result.verdict.exit_code


def _print_result(result: ComparisonResult, written: list[Path], verbose: bool) -> None:
    _print_methods(result)
    console.print_verdict(result.verdict)
    for method in result.summary.methods:
        if method.note:
            console.print_line(f"{method.title}: {method.note}")
    console.print_files(written, result.summary.seconds if verbose else None)


def _print_methods(result: ComparisonResult) -> None:
    """Print the table of all methods."""
    summary = result.summary
    columns = [
        console.Column("method"),
        console.Column("its measure", numeric=True),
        console.Column("difference", numeric=True),
        console.Column("share", numeric=True),
        console.Column("alone", numeric=True, only_if_wide=True),
        console.Column("seconds", numeric=True),
        console.Column("queries", numeric=True, only_if_wide=True),
        console.Column("its first finding"),
    ]
    rows = []
    for method in summary.methods:
        best = method.findings[0] if method.findings else None
        side = best.side if best else None
        known = side is not None and side.difference is not None
        rows.append(
            [
                method.title,
                f"{best.value:.3g}" if best else "",
                console.points(side.difference or 0.0) if side is not None and known else "",
                f"{side.share:.1%}" if side is not None else "",
                f"{method.only} of {method.compared}" if method.compared else "",
                f"{method.seconds:.1f}" if method.available else "not run",
                f"{method.queries:,}" if method.available else "",
                _short(best.text) if best else "",
            ]
        )
    console.print_table(
        f"{summary.data.title}: difference in the rate of “{summary.data.label.favourable}”, in "
        "points, of each method's first finding",
        columns,
        rows,
    )


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
