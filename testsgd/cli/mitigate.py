"""``testsgd mitigate``: retrain a model with samples that counter its discrimination."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.errors import ModelError
from testsgd.mitigation.parameters import MitigationParameters

if TYPE_CHECKING:
    from testsgd.mitigation import MitigationResult, MitigationSummary

JOURNAL_FILE = "journal.json"


def _check_writable(folders: list[Path], samples: Path | None) -> None:
    """Raise an error now if something could not be written later, after all the work."""
    if samples is not None:
        from testsgd.mitigation.samples import check_samples_file

        check_samples_file(samples)
        folders = [*folders, samples.parent]
    for folder in folders:
        console.check_writable(folder)


@options.with_options(MitigationParameters)
def mitigate(
    dataset: options.DatasetArgument,
    data: options.DataOption = None,
    model: options.ModelOption = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="RESULT.json",
            help="The result of the audit that named the groups; it must be of this model and "
            "these rows or texts. (default: those that are not held out are audited first)",
        ),
    ] = None,
    compare: Annotated[
        str,
        typer.Option(
            help="What else to try on the same data: all, none, or some of "
            "retraining,reweighing,exponentiated-gradient."
        ),
    ] = "all",
    terms: options.TermsOption = None,
    limit: options.LimitOption = None,
    jobs: options.JobsOption = None,
    favorable: options.FavourableOption = None,
    threshold: options.ThresholdOption = 0.5,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the samples too, to a .parquet or .csv file. A model that cannot be "
            "retrained here gets its samples so."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from where the same command was interrupted.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: reports/NAME-mitigated)")
    ] = None,
    model_out: Annotated[
        Path | None,
        typer.Option(help="Folder for the new model. (default: models/NAME-mitigated)"),
    ] = None,
    formats: options.FormatOption = "html,md,json",
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Retrain a model with samples that counter its discrimination, and compare before and after.

    Samples of the group, or of everybody else, with the label that counters the difference are
    added to the training data, more and more of them. Of the retrained models the one with the
    smallest difference is kept, as long as it is accurate enough. Held-out data are looked at once,
    at the end; then everything is audited again. The verdict is about the model that is written.

    Exit codes: 0 the difference fell, on held-out data, by more than chance and within the accuracy
    budget, 1 it did not (the report says why), 2 bad input, 3 too few data to tell.
    """
    from testsgd.data import load_specification
    from testsgd.mitigation import MitigationResult, counter_samples, write_samples
    from testsgd.mitigation import mitigate as run

    wanted = options.listed(formats)
    MitigationResult.check_formats(wanted)
    specification = load_specification(dataset)
    name = f"{specification.name}-mitigated"
    reports, new_model = out or Path("reports") / name, model_out or Path("models") / name
    journal = reports / JOURNAL_FILE
    _check_writable([reports, new_model], export)
    chosen: dict[str, Any] = {
        "audit": audit,
        "favourable": favorable,
        "threshold": threshold,
        "terms": terms,
        "limit": limit,
        "jobs": jobs,
        **parameters,
    }
    try:
        with console.progress_bar(quiet) as progress:
            result = run(
                model,
                data,
                specification,
                compare=compare,
                journal=journal,
                resume=resume,
                writable=True,
                progress=progress,
                **chosen,
            )
    except KeyboardInterrupt:
        if not journal.is_file():
            raise
        raise console.Interruption(
            f"interrupted; what was done is in {journal}, and the same command with "
            "--resume goes on from there"
        ) from None
    except ModelError as error:
        if export is None:
            raise
        # A model that cannot be retrained here still has samples. If what is wrong is something
        # else, they cannot be made either, and this says so again.
        frame = counter_samples(model, data, specification, **chosen)
        write_samples(frame, export)
        if not quiet:
            console.print_line(f"The model was not retrained: {error.what}.")
            console.print_line(f"{len(frame):,} samples to retrain it with. Written: {export}")
        return console.DONE
    # The reports come last, because they speak of the rest.
    written = []
    if export is not None:
        write_samples(result.samples, export)
        written.append(export)
    written += [*result.write_model(new_model), *result.write(reports, wanted)]
    journal.unlink(missing_ok=True)
    if not quiet:
        _print_result(result, written, verbose)
    return result.verdict.exit_code


def _print_result(result: MitigationResult, written: list[Path], verbose: bool) -> None:
    from testsgd.mitigation.report.tables import targets_table

    summary = result.summary
    console.print_block(targets_table(summary))
    console.print_verdict(summary.verdict)
    console.print_line(_accuracy(summary))
    console.print_files(written, summary.seconds if verbose else None)
    if summary.retrained is None:
        console.print_line("No model was written: the original one is kept.")


def _accuracy(summary: MitigationSummary) -> str:
    kept = next((run for run in summary.runs if run.run == summary.chosen_run), None)
    after = summary.accuracy_before if kept is None else kept.accuracy
    return (
        f"Accuracy on {summary.split.held_out:,} held-out {summary.data.kind}: "
        f"{summary.accuracy_before:.2%} before, {after:.2%} after."
    )
