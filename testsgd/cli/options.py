"""The arguments and options that several commands have, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DatasetArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME_OR_SPEC",
        help="A data set of the catalogue, or the TOML file that describes yours.",
    ),
]

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="A file of rows or texts, in place of the data set's own."),
]

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A catalogue name, a .keras or .skops file, or package.module:callable; "
        "by default the network trained for the data set.",
    ),
]

TermsOption = Annotated[
    Path | None,
    typer.Option(help="For texts: a TOML file of sensitive terms, in place of the paper's."),
]

LimitOption = Annotated[
    int | None, typer.Option(help="Take a random sample of so many rows or texts.")
]

SeedOption = Annotated[int, typer.Option(help="Same seed, same result.")]

JobsOption = Annotated[
    int | None, typer.Option(help="Threads; changes no result. (default: what is there)")
]

FavourableOption = Annotated[
    str | None,
    typer.Option("--favorable", "--favourable", help="The label whose rate is compared."),
]

ThresholdOption = Annotated[
    float, typer.Option(help="A score above it counts as the favourable label.")
]

QuietOption = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]

# Of commands that measure how long each step takes.
VerboseTimingsOption = Annotated[
    bool, typer.Option("--verbose", help="Print timings too; show internal errors whole.")
]

VerboseOption = Annotated[bool, typer.Option("--verbose", help="Show internal errors whole.")]


def listed(text: str) -> list[str]:
    """Split what a user lists with commas."""
    return [item.strip() for item in text.split(",") if item.strip()]
