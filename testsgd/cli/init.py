"""``testsgd init``: write down what the columns of a file are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli import console, options


def init(
    file: Annotated[
        Path, typer.Argument(help="A file of rows: CSV, TSV, JSON Lines, Parquet or Feather.")
    ],
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="The sensitive features, with commas or one by one. (default: by their names)"
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="The column of the labels. (default: the last one with two values)"),
    ] = None,
    favorable: options.FavourableOption = None,
    encoding: options.EncodingOption = None,
) -> int:
    """Print a description of a file of rows as TOML: what was guessed, with a comment a line.

    Keep it with `testsgd init people.csv > people.toml`, correct it, and audit with
    `testsgd audit people.toml --data people.csv`.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.data import describe_file

    text = describe_file(
        file,
        sensitive=options.listed(sensitive),
        label=label,
        favourable=options.one_or_several(favorable),
        encoding=encoding,
    )
    console.print_line(text.removesuffix("\n"))
    return console.DONE
