"""``testsgd train``: train the paper's network for a data set, of rows or of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testsgd.cli import console, options
from testsgd.cli.default_folders import default_folder


def train(
    dataset: options.DatasetArgument,
    data: options.DataOption = None,
    seed: options.SeedOption = 0,
    epochs: Annotated[
        int | None,
        typer.Option(
            help="Most passes over the training data. (default: 30 for rows, fewer for texts)"
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on a random sample of so many rows or texts.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the network. (default: models/NAME)")
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseOption = False,
) -> int:
    """Train the TestSGD paper's network for rows or for texts and write it with a model card.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.data import TextSpecification, load_specification, load_table, load_texts
    from testsgd.models import TrainingReport, check_training, train_network, train_text_network
    from testsgd.models.text.training import EPOCHS as TEXT_EPOCHS
    from testsgd.models.training import EPOCHS as ROW_EPOCHS
    from testsgd.progress import named

    check_training(seed=seed, epochs=1 if epochs is None else epochs)
    specification = load_specification(dataset)
    folder = out or default_folder("models", specification.name)
    console.check_model_writable(folder)
    report: TrainingReport
    with console.progress_bar(quiet) as progress:
        of_training = named("training", progress) or False
        if progress is not None:
            progress("reading the data and loading Keras", 0, 1)
        if isinstance(specification, TextSpecification):
            texts = load_texts(specification, file=data, training=True)
            texts = texts.limited(limit, seed)
            report = train_text_network(
                texts,
                folder,
                seed=seed,
                epochs=TEXT_EPOCHS if epochs is None else epochs,
                progress=of_training,
            )
        else:
            table = load_table(specification, file=data, seed=seed)
            table = table.limited(limit, seed)
            report = train_network(
                table,
                folder,
                seed=seed,
                epochs=ROW_EPOCHS if epochs is None else epochs,
                progress=of_training,
            )
    if not quiet:
        what = "texts" if isinstance(specification, TextSpecification) else "rows"
        paper = (
            f" (the paper's Table 3: {report.paper_accuracy:.2%})" if report.paper_accuracy else ""
        )
        console.print_line(
            f"{specification.name}: accuracy {report.train_accuracy:.2%} on the training {what}, "
            f"{report.test_accuracy:.2%} on the test {what}{paper}; always saying the commonest "
            f"label gives {report.majority_share:.2%}."
        )
        console.print_line(f"{report.epochs} epochs in {report.seconds:.1f} s.")
        console.print_line(f"Written: {folder}")
    return console.DONE
