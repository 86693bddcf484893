"""``testsgd mitigate``: a model that treats groups more alike, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.cli import console, options
from testsgd.cli.default_folders import default_folder
from testsgd.errors import ModelError, ParameterError
from testsgd.io import check_replaceable, moved_together
from testsgd.mitigation.frontiers.parameters import FrontierParameters
from testsgd.mitigation.journal import check_journal, remove_journal
from testsgd.mitigation.parameters import MitigationParameters
from testsgd.parameters import declared_parameters

if TYPE_CHECKING:
    from testsgd.mitigation import FrontierResult, MitigationResult, MitigationSummary

METHODS = ("auto", "play", "penalty", "thresholds", "ensemble", "samples")
# Parameters of a frontier that samples have not; the method is an option of the command.
OF_FRONTIERS = [
    "min_share",
    "max_features",
    "blind",
    "no_rate_lowered",
    "confidence",
    "objective",
]

JOURNAL_FILE = "journal.json"


def _check_writable(
    reports: Path,
    model: Path,
    samples: Path | None,
    result: type[FrontierResult | MitigationResult],
    formats: Sequence[str],
    *,
    resume: bool,
) -> None:
    """Raise an error now if something could not be written later, after all the work."""
    check_journal(reports / JOURNAL_FILE, resume=resume)
    if samples is not None:
        from testsgd.mitigation.samples import check_samples_file

        check_samples_file(samples)
        console.check_writable(samples.parent)
        check_replaceable(samples)
    console.check_reports_writable(reports, result, formats)
    console.check_model_writable(model)


@options.with_options(FrontierParameters, only=OF_FRONTIERS)
@options.with_options(MitigationParameters, but=["max_balanced_drop"])
def mitigate(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="NAME_OR_SPEC",
            help="A data set of the catalogue, the TOML file that describes yours, or your file of "
            "rows itself.",
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="|".join(METHODS),
            help="How: play (refits with weights against the groups that are worst), penalty "
            "(networks, trained on against the worst difference), thresholds (one for each "
            "combination of sensitive values), samples (the paper's: counter-labelled samples for "
            "one target; of texts too), or auto (of rows what the model allows, in this order; of "
            "texts, or where a target is named, samples).",
        ),
    ] = "auto",
    data: options.DataOption = None,
    model: options.ModelOption = None,
    trust_pickle: options.TrustPickleOption = False,
    sensitive: options.SensitiveOption = None,
    label: options.LabelOption = None,
    encoding: options.EncodingOption = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit",
            metavar="RESULT.json",
            help="Of samples: the result of the audit that named the groups; it must be of this "
            "model and these rows or texts. (default: those that are not held out are audited "
            "first)",
        ),
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            help="Of samples: what else to try on the same data (default: all): all, none, or some "
            "of retraining,reweighing,exponentiated-gradient."
        ),
    ] = None,
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
        bool,
        typer.Option("--resume", help="Go on from where the same command was interrupted."),
    ] = False,
    max_balanced_drop: Annotated[
        float | None,
        typer.Option(
            help="Most percentage points of balanced accuracy, the mean over both labels, that may "
            "be lost. (default: 2 by samples, 5 by other methods)"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: reports/NAME-mitigated)")
    ] = None,
    model_out: Annotated[
        Path | None,
        typer.Option(help="Folder for the new model. (default: models/NAME-mitigated)"),
    ] = None,
    formats: options.FormatOption = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Find a model that treats groups more alike, and say what that costs and who pays.

    Of rows, a frontier is found: the worst difference of all groups against accuracy. The point
    that the budget --max-accuracy-drop chooses is written, and judged on rows held out. By samples,
    training data with labels that counter the difference of a target are added, as in the paper.

    A file of rows needs no description: `testsgd mitigate people.csv --model pipe.joblib
    --trust-pickle --sensitive sex,race --label income`.

    Exit codes: 0 the difference fell, on held-out data, by more than chance and within the accuracy
    budget, and no group pays, 1 it did not (the report says why), 2 bad input, 3 too few data to
    tell.
    """
    from testsgd.data import is_rows_file, load_specification

    if method not in METHODS:
        raise ParameterError(
            f"there is no method {method!r}",
            where="--method",
            remedy=f"write one of {', '.join(METHODS)}",
            name="method",
        )
    of_samples = {"audit": audit, "export": export, "terms": terms, **_only_of_samples(parameters)}
    favourable = options.one_or_several(favorable)
    others = ",".join(options.listed(compare, "all"))
    if others != "all":
        of_samples["compare"] = others
    named = [name for name, value in of_samples.items() if value is not None]
    rows_file = is_rows_file(Path(dataset)) and data is None
    specification = None if rows_file else load_specification(dataset)
    texts = specification is not None and not hasattr(specification, "features")
    if method == "auto" and (texts or named):
        method = "samples"
    if max_balanced_drop is not None:
        parameters = {**parameters, "max_balanced_drop": max_balanced_drop}
    if method == "samples":
        _check_no_frontier(parameters)
        _check_described(rows_file, sensitive=sensitive, label=label, encoding=encoding)
        assert specification is not None
        return _mitigate_by_samples(
            specification,
            data=data,
            model=model,
            trust_pickle=trust_pickle,
            audit=audit,
            compare=others,
            terms=terms,
            limit=limit,
            jobs=jobs,
            favourable=favourable,
            threshold=threshold,
            export=export,
            resume=resume,
            out=out,
            model_out=model_out,
            formats=formats,
            quiet=quiet,
            verbose=verbose,
            parameters={
                name: value for name, value in parameters.items() if name not in OF_FRONTIERS
            },
        )
    if named:
        raise ParameterError(
            f"--{named[0].replace('_', '-')} is for samples, and the method is {method}",
            where=f"--{named[0].replace('_', '-')}",
            remedy="leave it out, or write --method samples",
            name=named[0],
        )
    of_frontier = declared_parameters(FrontierParameters)
    chosen = {name: value for name, value in parameters.items() if name in of_frontier}
    return _find_frontier(
        Path(dataset) if rows_file else specification,
        data=data,
        model=model,
        sensitive=options.listed(sensitive),
        label=label,
        encoding=encoding,
        trust_pickle=trust_pickle,
        limit=limit,
        favourable=favourable,
        threshold=threshold,
        resume=resume,
        out=out,
        model_out=model_out,
        formats=formats,
        quiet=quiet,
        verbose=verbose,
        parameters={"method": method, "jobs": jobs, **chosen},
    )


def _only_of_samples(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that only samples have, those that are not left at their defaults."""
    of_frontier = declared_parameters(FrontierParameters)
    return {
        name: parameters[name]
        for name, declared in declared_parameters(MitigationParameters).items()
        if name not in of_frontier and parameters[name] != declared.default
    }


def _check_no_frontier(parameters: dict[str, Any]) -> None:
    """Refuse parameters of a frontier where samples are asked for."""
    declared = declared_parameters(FrontierParameters)
    for name in OF_FRONTIERS:
        if parameters[name] != declared[name].default:
            flag = f"--{name.replace('_', '-')}"
            raise ParameterError(
                f"{flag} is for a frontier over all groups, and the method is samples",
                where=flag,
                remedy="leave it out, or write another --method",
                name=name,
            )


def _check_described(rows_file: bool, **of_rows_file: Any) -> None:
    """Refuse samples of rows without a description, and options of such rows for other data."""
    if rows_file:
        raise ParameterError(
            "samples are made of rows that are described",
            where="--method",
            remedy="write a description with testsgd init, or leave --method out",
            name="method",
        )
    for name, value in of_rows_file.items():
        if value:
            flag = f"--{name.replace('_', '-')}"
            raise ParameterError(
                f"{flag} is for a file of rows that has no description",
                where=flag,
                remedy="leave it out",
                name=name,
            )


@contextmanager
def _resumable(journal: Path) -> Iterator[None]:
    """Raise how to go on, if the work is interrupted and a journal of it was kept."""
    try:
        yield
    except KeyboardInterrupt:
        if not journal.is_file():
            raise
        raise console.Interruption(
            f"interrupted; what was done is in {journal}, and the same command with "
            "--resume goes on from there"
        ) from None


def _find_frontier(
    subject: Any,
    *,
    data: Path | None,
    model: str | None,
    sensitive: list[str],
    label: str | None,
    encoding: str | None,
    trust_pickle: bool,
    limit: int | None,
    favourable: Any,
    threshold: float,
    resume: bool,
    out: Path | None,
    model_out: Path | None,
    formats: list[str] | None,
    quiet: bool,
    verbose: bool,
    parameters: dict[str, Any],
) -> int:
    """Find a frontier of a file of rows or of a data set that is described, and write it."""
    from testsgd.mitigation import FrontierResult, fair_frontier, frontier_of_file

    wanted = options.listed(formats, options.FORMATS)
    FrontierResult.check_formats(wanted)
    of_file = isinstance(subject, Path)
    if not of_file:
        _check_described(False, sensitive=sensitive, label=label, encoding=encoding)
    name = subject.name.partition(".")[0] if of_file else subject.name
    folder = f"{name}-mitigated"
    reports = out or default_folder("reports", folder)
    new_model = model_out or default_folder("models", folder)
    _check_writable(reports, new_model, None, FrontierResult, wanted, resume=resume)
    journal = reports / JOURNAL_FILE
    with _resumable(journal), console.progress_bar(quiet) as progress:
        if of_file:
            result = frontier_of_file(
                subject,
                model=model,
                sensitive_features=sensitive,
                label=label,
                encoding=encoding,
                favourable=favourable,
                threshold=threshold,
                limit=limit,
                trust_pickle=trust_pickle,
                writable=True,
                journal=journal,
                resume=resume,
                progress=progress or False,
                **parameters,
            )
        else:
            result = fair_frontier(
                model,
                data,
                subject,
                favourable=favourable,
                threshold=threshold,
                limit=limit,
                trust_pickle=trust_pickle,
                writable=True,
                journal=journal,
                resume=resume,
                progress=progress or False,
                **parameters,
            )
    with moved_together(new_model, reports):
        written = [*result.write_model(new_model), *result.write(reports, wanted)]
    remove_journal(journal)
    if not quiet:
        _print_frontier(result, written, new_model, verbose)
    return result.verdict.exit_code


def _print_frontier(
    result: FrontierResult, written: list[Path], new_model: Path, verbose: bool
) -> None:
    from testsgd.mitigation.frontiers.report.layout import points_table

    summary = result.summary
    if summary.points:
        console.print_block(points_table(summary))
    console.print_verdict(summary.verdict)
    console.print_files(written, summary.seconds if verbose else None)
    if summary.point is None:
        _print_nothing_written(new_model)


def _mitigate_by_samples(
    specification: Any,
    *,
    data: Path | None,
    model: str | None,
    trust_pickle: bool,
    audit: Path | None,
    compare: str,
    terms: Path | None,
    limit: int | None,
    jobs: int | None,
    favourable: Any,
    threshold: float,
    export: Path | None,
    resume: bool,
    out: Path | None,
    model_out: Path | None,
    formats: list[str] | None,
    quiet: bool,
    verbose: bool,
    parameters: dict[str, Any],
) -> int:
    """Retrain a model with samples that counter the difference of a target, and write it."""
    from testsgd.mitigation import MitigationResult, counter_samples, write_samples
    from testsgd.mitigation import mitigate as run

    wanted = options.listed(formats, options.FORMATS)
    MitigationResult.check_formats(wanted)
    name = f"{specification.name}-mitigated"
    reports = out or default_folder("reports", name)
    new_model = model_out or default_folder("models", name)
    journal = reports / JOURNAL_FILE
    _check_writable(reports, new_model, export, MitigationResult, wanted, resume=resume)
    try:
        with _resumable(journal), console.progress_bar(quiet) as progress:
            result = run(
                model,
                data,
                specification,
                audit=audit,
                favourable=favourable,
                threshold=threshold,
                trust_pickle=trust_pickle,
                terms=terms,
                limit=limit,
                jobs=jobs,
                compare=compare,
                journal=journal,
                resume=resume,
                writable=True,
                progress=progress or False,
                **parameters,
            )
    except ModelError as error:
        if export is None:
            raise
        # A model that cannot be retrained here still has samples. If what is wrong is something
        # else, they cannot be made either, and this says so again.
        with console.progress_bar(quiet) as progress:
            frame = counter_samples(
                model,
                data,
                specification,
                audit=audit,
                favourable=favourable,
                threshold=threshold,
                trust_pickle=trust_pickle,
                terms=terms,
                limit=limit,
                jobs=jobs,
                progress=progress or False,
                **parameters,
            )
        write_samples(frame, export)
        if not quiet:
            console.print_line(f"The model was not retrained: {error.what}.")
            console.print_line(f"{len(frame):,} samples to retrain it with. Written: {export}")
        return console.DONE
    # The reports come last, because they speak of the rest.
    written = []
    with moved_together(export, new_model, reports):
        if export is not None:
            write_samples(result.samples, export)
            written.append(export)
        written += [*result.write_model(new_model), *result.write(reports, wanted)]
    remove_journal(journal)
    if not quiet:
        _print_result(result, written, new_model, verbose)
    return result.verdict.exit_code


def _print_result(
    result: MitigationResult, written: list[Path], new_model: Path, verbose: bool
) -> None:
    from testsgd.mitigation.report.tables import targets_table

    summary = result.summary
    console.print_block(targets_table(summary))
    console.print_verdict(summary.verdict)
    console.print_line(_accuracy(summary))
    console.print_files(written, summary.seconds if verbose else None)
    if summary.retrained is None:
        _print_nothing_written(new_model)


def _print_nothing_written(new_model: Path) -> None:
    from testsgd.models import mitigated_files

    console.print_line("No model was written: the original one is kept.")
    if mitigated_files(new_model):
        console.print_line(
            f"The folder {new_model} still holds the model of an earlier run, which this result is "
            "not about."
        )


def _accuracy(summary: MitigationSummary) -> str:
    kept = next((run for run in summary.runs if run.run == summary.chosen_run), None)
    before, anew = summary.accuracy_before, summary.fitted_anew
    where = f"Accuracy on {summary.split.held_out:,} held-out {summary.data.kind}:"
    if anew is None:
        return (
            f"{where} {before:.2%} before, {before if kept is None else kept.accuracy:.2%} after."
        )
    # Of the one as given it may be too good, and of the one fitted anew it is not that of a file.
    after = "" if kept is None else f", {kept.accuracy:.2%} after"
    return (
        f"{where} {anew.accuracy_given:.2%} of the original as given, {before:.2%} of the original "
        f"fitted anew{after}."
    )
