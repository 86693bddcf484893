"""``testsgd train``: train the paper's network for a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli.console import DONE, print_line, progress_bar


def train(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="NAME_OR_SPEC",
            help="A data set of the catalogue, or the TOML file that describes yours.",
        ),
    ],
    data: Annotated[
        Path | None, typer.Option("--data", help="Rows to train on, in place of the own ones.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes the split and the training.")] = 0,
    epochs: Annotated[int, typer.Option(help="Most passes over the training rows.")] = 30,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the network. (default: models/NAME)")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show internal errors whole.")] = False,
) -> int:
    """Train the six-layer network of the TestSGD paper and write it with a model card."""
    from testsgd.data import load_specification, load_table
    from testsgd.models import check_training, train_network

    check_training(seed=seed, epochs=epochs)
    specification = load_specification(dataset)
    table = load_table(specification, file=data, seed=seed)
    folder = out or Path("models") / specification.name
    with progress_bar(quiet) as progress:
        show = progress
        report = train_network(
            table,
            folder,
            seed=seed,
            epochs=epochs,
            progress=None if show is None else lambda done, most: show("training", done, most),
        )
    if not quiet:
        paper = (
            f" (the paper's Table 3: {report.paper_accuracy:.2%})" if report.paper_accuracy else ""
        )
        print_line(
            f"{specification.name}: accuracy {report.train_accuracy:.2%} on the training rows, "
            f"{report.test_accuracy:.2%} on the test rows{paper}; always saying the commonest "
            f"label gives {report.majority_share:.2%}."
        )
        print_line(f"{report.epochs} epochs in {report.seconds:.1f} s.")
        print_line(f"Written: {folder}")
    return DONE
