"""``testsgd mitigate``: retrain a model with samples that counter its discrimination."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli.console import (
    DONE,
    Interruption,
    print_block,
    print_line,
    progress_bar,
)
from testsgd.cli.folders import check_writable
from testsgd.cli.options import (
    DataOption,
    DatasetArgument,
    FavourableOption,
    JobsOption,
    LimitOption,
    ModelOption,
    QuietOption,
    SeedOption,
    TermsOption,
    ThresholdOption,
    VerboseTimingsOption,
    listed,
)
from testsgd.errors import ModelError, ParameterError

if TYPE_CHECKING:
    from testsgd.mitigation import MitigationResult, MitigationSummary

JOURNAL_FILE = "journal.json"


@dataclass(frozen=True)
class _Files:
    """Where everything is written."""

    reports: Path
    model: Path
    samples: Path | None

    @property
    def journal(self) -> Path:
        return self.reports / JOURNAL_FILE

    def check(self) -> None:
        """Raise an error now if something could not be written later, after all the work."""
        folders = [self.reports, self.model]
        if self.samples is not None:
            from testsgd.mitigation.samples import check_samples_file

            check_samples_file(self.samples)
            folders.append(self.samples.parent)
        for folder in folders:
            check_writable(folder)


def mitigate(
    dataset: DatasetArgument,
    data: DataOption = None,
    model: ModelOption = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="RESULT.json",
            help="The result of the audit that named the groups; it must be of this model and "
            "these rows or texts. (default: those that are not held out are audited first)",
        ),
    ] = None,
    group: Annotated[
        int | None,
        typer.Option(
            help="Rank of the group in the audit. (default: the first with at least 30 held-out "
            "rows or texts on both sides)"
        ),
    ] = None,
    all_above: Annotated[
        float | None,
        typer.Option(
            help="In place of --group: all distinct groups with a larger score, with a shared "
            "number of samples; exit with 1 if one of them stays above."
        ),
    ] = None,
    max_accuracy_drop: Annotated[
        float,
        typer.Option(
            help="Most points of accuracy that a retrained model may lose on training, validation "
            "and held-out data. If each candidate loses more, the original model is kept."
        ),
    ] = 0.5,
    max_balanced_drop: Annotated[
        float,
        typer.Option(
            help="Most points of balanced accuracy, the mean over both labels, that it may lose."
        ),
    ] = 2.0,
    runs: Annotated[
        int, typer.Option(help="Do everything so often, each time with another seed.")
    ] = 3,
    steps: Annotated[
        int, typer.Option(help="How many numbers of samples to try, growing geometrically.")
    ] = 6,
    fewest_samples: Annotated[int, typer.Option(help="Samples added in the first step.")] = 50,
    largest_share: Annotated[
        float,
        typer.Option(help="Samples added in the last step, as a share of the training data."),
    ] = 0.1,
    samples: Annotated[
        str,
        typer.Option(
            help="Which samples to add: counter (those that the model gives the label wanted, as "
            "in the paper), odds (drawn by the chance that it does), shifted (as they come, what "
            "the model says of all moved by one step), anchored (all; those nearest to the "
            "decision boundary relabelled), or auto (one kind after the other)."
        ),
    ] = "auto",
    side: Annotated[
        str,
        typer.Option(
            help="Whose samples to add: group, rest, both, or auto (the smaller side's, if it has "
            "less than a tenth of the training data, or else both)."
        ),
    ] = "auto",
    fallback: Annotated[
        str,
        typer.Option(
            help="Where the model gives too few samples the label that is wanted: nearest "
            "(relabel those nearest to its decision boundary) or none (add fewer)."
        ),
    ] = "nearest",
    max_draws: Annotated[
        int, typer.Option(help="Most samples to draw for a side of a group in a run.")
    ] = 1_000_000,
    from_scratch: Annotated[
        bool,
        typer.Option(
            "--from-scratch", help="Retrain from new weights, not from those of the model."
        ),
    ] = False,
    hard_labels: Annotated[
        bool,
        typer.Option(
            "--hard-labels",
            help="Networks learn the training data's labels as they are, not softened to "
            "probabilities, which leaves less accuracy to spend.",
        ),
    ] = False,
    compare: Annotated[
        str,
        typer.Option(
            help="What else to try on the same data: all, none, or some of "
            "retraining,reweighing,exponentiated-gradient."
        ),
    ] = "all",
    terms: TermsOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    favorable: FavourableOption = None,
    threshold: ThresholdOption = 0.5,
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
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json.")
    ] = "html,md,json",
    quiet: QuietOption = False,
    verbose: VerboseTimingsOption = False,
) -> int:
    """Retrain a model with samples that counter its discrimination, and compare before and after.

    Samples of the group, or of everybody else, with the label that counters the difference are
    added to the training data, more and more of them. Of the retrained models the one with the
    smallest difference is kept, as long as it is accurate enough. Held-out data are looked at once,
    at the end; then everything is audited again. The verdict is about the model that is written.

    Exit codes, by held-out data: 0 the difference fell, by more than chance and within the accuracy
    budget, 1 it did not (the report says why), 2 bad input, 3 too few data to tell.
    """
    if group is not None and all_above is not None:
        raise ParameterError(
            "--group and --all-above exclude each other", where="--group", remedy="give one of them"
        )
    from testsgd.data import load_specification
    from testsgd.mitigation import MitigationResult, counter_samples, write_samples
    from testsgd.mitigation import mitigate as run

    wanted = listed(formats)
    MitigationResult.check_formats(wanted)
    specification = load_specification(dataset)
    name = f"{specification.name}-mitigated"
    files = _Files(out or Path("reports") / name, model_out or Path("models") / name, export)
    files.check()
    options: dict[str, Any] = {
        "audit": audit,
        "group": group,
        "all_above": all_above,
        "favourable": favorable,
        "threshold": threshold,
        "terms": terms,
        "limit": limit,
        "jobs": jobs,
        "samples": samples,
        "side": side,
        "fallback": fallback,
        "max_draws": max_draws,
        "runs": runs,
        "steps": steps,
        "fewest_samples": fewest_samples,
        "largest_share": largest_share,
        "max_accuracy_drop": max_accuracy_drop,
        "max_balanced_drop": max_balanced_drop,
        "from_scratch": from_scratch,
        "soften": not hard_labels,
        "seed": seed,
    }
    try:
        with progress_bar(quiet) as progress:
            result = run(
                model,
                data,
                specification,
                compare=compare,
                journal=files.journal,
                resume=resume,
                writable=True,
                progress=progress,
                **options,
            )
    except KeyboardInterrupt:
        if not files.journal.is_file():
            raise
        raise Interruption(
            f"interrupted; what was done is in {files.journal}, and the same command with "
            "--resume goes on from there"
        ) from None
    except ModelError as error:
        if files.samples is None:
            raise
        # A model that cannot be retrained here still has samples. If what is wrong is something
        # else, they cannot be made either, and this says so again.
        frame = counter_samples(model, data, specification, **options)
        write_samples(frame, files.samples)
        if not quiet:
            print_line(f"The model was not retrained: {error.what}.")
            print_line(f"{len(frame):,} samples to retrain it with. Written: {files.samples}")
        return DONE
    written = _write(result, files, wanted)
    files.journal.unlink(missing_ok=True)
    if not quiet:
        _print_result(result, written, verbose)
    return result.verdict.exit_code


def _write(result: MitigationResult, files: _Files, formats: list[str]) -> list[Path]:
    """Write everything; the reports last, because they speak of the rest."""
    from testsgd.mitigation import write_samples

    written = []
    if files.samples is not None:
        write_samples(result.samples, files.samples)
        written.append(files.samples)
    written += result.write_model(files.model)
    return [*written, *result.write(files.reports, formats)]


def _print_result(result: MitigationResult, written: list[Path], verbose: bool) -> None:
    from testsgd.mitigation.report.tables import targets_table

    summary = result.summary
    print_block(targets_table(summary))
    print_line(summary.verdict.headline)
    for sentence in summary.verdict.sentences:
        print_line(sentence)
    print_line(_accuracy(summary))
    if verbose:
        for phase, seconds in summary.seconds.items():
            print_line(f"  {phase}: {seconds:.3f} s")
    for path in written:
        print_line(f"Written: {path}")
    if summary.retrained is None:
        print_line("No model was written: the original one is kept.")


def _accuracy(summary: MitigationSummary) -> str:
    kept = next((run for run in summary.runs if run.run == summary.kept_run), None)
    after = summary.accuracy_before if kept is None else kept.accuracy
    return (
        f"Accuracy on {summary.split.held_out:,} held-out {summary.data.kind}: "
        f"{summary.accuracy_before:.2%} before, {after:.2%} after."
    )
