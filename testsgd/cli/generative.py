"""``testsgd generative``: assess outputs of a generative model, and enforce that groups appear."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testsgd.cli import console, options

if TYPE_CHECKING:
    from testsgd.generative import GenerativeResult

SpecificationOption = Annotated[
    Path,
    typer.Option(
        "--spec", help="The TOML file that says which groups there are and what must hold."
    ),
]

BeforeOption = Annotated[
    Path | None,
    typer.Option(help="An earlier result.json, which the report shows beside this one."),
]


def assess(
    outputs: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUTS",
            help="The outputs in their order: .jsonl with an object a line, .json or .csv.",
        ),
    ],
    spec: SpecificationOption,
    before: BeforeOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: none are written)")
    ] = None,
    formats: options.FormatOption = "html,md,json",
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Assess outputs that you have: which groups appear, how often, and how far apart.

    An output is an object such as {"prompt": "The nurse was tired, so", "output": " she slept."};
    where its groups are known already, they are keys: {"gender": "female"}. Exit codes: 0 every
    requirement is kept, 1 one is broken, 2 bad input, 3 not enough outputs to judge.
    """
    from testsgd.generative import GenerativeResult, assess_generative

    wanted = options.listed(formats)
    GenerativeResult.check_formats(wanted)
    if out is not None:
        console.check_writable(out)
    return _finish(assess_generative(outputs, spec, before=before), out, wanted, quiet=quiet)


def _finish(result: GenerativeResult, out: Path | None, formats: list[str], *, quiet: bool) -> int:
    """Write the reports, print the verdict, and return the exit code."""
    written = [] if out is None else result.write(out, formats)
    if not quiet:
        console.print_verdict(result.verdict)
        console.print_files(written)
    return result.exit_code


app = typer.Typer(name="generative", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Assess and enforce which groups a generative model shows, and how often."""


app.command("assess")(assess)
