"""``testsgd cells-sql``: the query that counts rows in a warehouse."""

from __future__ import annotations

from typing import Annotated

import typer

from testsgd.cli import console, options

_PREDICTIONS = "prediction"


def cells_sql(
    dataset: options.DatasetArgument,
    predictions: Annotated[
        str | None,
        typer.Option(
            help="The column with the predictions, or decisions. (default: prediction, which a "
            "comment before the query says)"
        ),
    ] = None,
    table: Annotated[str, typer.Option(help="The table of the rows.")] = "decisions",
    label: Annotated[
        str | None,
        typer.Option(help="The column with the true labels. (default: they are left out)"),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="The column with weights of the rows.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The predictions are scores: one above it counts as the favourable label. "
            "(default: they are classes)"
        ),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="How the query is written: duckdb, postgres or spark.")
    ] = "duckdb",
) -> int:
    """Print the query that counts the rows of a warehouse, for those who may only send SQL.

    Numbers are brought into the bins of the description; its names of columns and values, its
    missing values and its filters are those of the query. What the query gives is audited by
    `testsgd audit people.toml counts.parquet --cells --predictions COLUMN`.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.data import TextSpecification, load_specification
    from testsgd.errors import ParameterError
    from testsgd.metrics import described_counts_query

    specification = load_specification(dataset)
    if isinstance(specification, TextSpecification):
        raise ParameterError(
            f"{specification.name!r} has texts, and no rows to count",
            where="data set",
            remedy="name a description of a table",
        )
    query = described_counts_query(
        specification,
        table=table,
        predictions=predictions or _PREDICTIONS,
        label=label,
        weights=weights,
        threshold=threshold,
        dialect=dialect,
    )
    if predictions is None:
        # A comment in each of the dialects.
        console.print_line(f'-- predictions: column "{_PREDICTIONS}"; --predictions names another')
    console.print_line(query)
    return console.DONE
