"""``testsgd bench``: how good the audit is where the truth is known."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from testsgd.cli.console import (
    DONE,
    USAGE_ERROR,
    Column,
    check_writable,
    print_error,
    print_line,
    print_table,
    progress_bar,
)
from testsgd.cli.options import (
    DataOption,
    EncodingOption,
    FavourableOption,
    JobsOption,
    LabelOption,
    ModelOption,
    QuietOption,
    SensitiveOption,
    TrustPickleOption,
    VerboseOption,
    listed,
    one_or_several,
    processors,
    with_options,
)
from testsgd.errors import (
    DataError,
    DownloadError,
    MissingExtraError,
    ModelError,
    ParameterError,
)
from testsgd.truth.parameters import RunParameters

if TYPE_CHECKING:
    from testsgd.truth import Measure, ThetaRow, TruthSettings, TruthTable

T = TypeVar("T")

app = typer.Typer(name="bench", help="Measure the audit itself.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure the audit itself."""


@app.command("truth")
@with_options(RunParameters, only=["baseline_runs", "time_limit", "seed"])
def truth(
    populations: Annotated[
        list[str] | None,
        typer.Option(help="Populations, with commas. (default: all six, unless worlds are named)"),
    ] = None,
    worlds: Annotated[
        list[str] | None,
        typer.Option(
            help="Worlds that are hard for the verdict, with commas, or all; some have a size of "
            "their own. (default: none)"
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            help="People in a run, with commas. (default: 1000,10000,100000, and for populations "
            "1000000)"
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            help="Runs up to 10,000 people; above, fewer, so that they take as long. Of worlds, at "
            "every size. (default: 1000; if worlds are named, 200)"
        ),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Which other methods, with commas. (default: all five)")
    ] = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for truth.json and truth.md, written as it goes.")
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **parameters: Any,
) -> int:
    """Audit generated people whose true differences are known, many times.

    Measures how often the planted group is found, how often there is a false discovery where there
    is no difference, and the coverage of each kind of confidence interval; and the same of other
    methods. Of worlds: how often the default verdict is a false all-clear or a false alarm.

    Exit codes: 0 done, 2 bad input.
    """
    from testsgd.baselines import METHODS
    from testsgd.truth import (
        EVERY_WORLD,
        POPULATIONS,
        SIZES,
        WORLD_SIZES,
        TruthSettings,
        run_truth,
        truth_tables,
    )

    hard = EVERY_WORLD if listed(worlds) == ["all"] else tuple(listed(worlds))
    others = () if hard else POPULATIONS
    settings = TruthSettings(
        populations=others if populations is None else tuple(listed(populations)),
        worlds=hard,
        sizes=(WORLD_SIZES if hard else SIZES)
        if sizes is None
        else tuple(_number(text, int, "--sizes", "1000") for text in listed(sizes)),
        runs=(200 if hard else 1_000) if runs is None else runs,
        methods=METHODS if methods is None else tuple(listed(methods)),
        jobs=processors(jobs),
        **parameters,
    )
    _check_writable(out, "truth.json", "truth.md")
    command = _command(settings)
    started = time.perf_counter()
    measures: list[Measure] = []
    with progress_bar(quiet) as progress:
        for part in run_truth(settings, progress=progress):
            measures += part.measures
            if out is not None:
                _write(out, measures, settings, command, time.perf_counter() - started)
    if not quiet:
        _print_tables(truth_tables(measures, intervals=False))
        print_line(f"{command}: {time.perf_counter() - started:.0f} s")
        if out is not None:
            print_line(f"Written: {out}")
    return DONE


@app.command("theta")
def theta(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data sets of the catalogue, TOML files that describe yours, or files of rows. "
            "(default: the paper's eight)"
        ),
    ] = None,
    data: DataOption = None,
    model: ModelOption = None,
    trust_pickle: TrustPickleOption = False,
    predictions: Annotated[
        str | None,
        typer.Option(help="Of a file of rows: the column with the predictions, or decisions."),
    ] = None,
    sensitive: SensitiveOption = None,
    label: LabelOption = None,
    encoding: EncodingOption = None,
    favorable: FavourableOption = None,
    thetas: Annotated[
        list[str] | None,
        typer.Option(help="Support thresholds, with commas. (default: 0.01,0.05,0.1,0.2,0.5)"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for theta.json, written as it goes.")
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Audit data sets with several support thresholds, as the TestSGD paper does in its Table 6.

    Prints the number of frequent rule sets, the first score by the paper's ranking and by the lower
    confidence bound, and the seconds; with the threshold on a group and its complement and, for
    rows, on the group only. A data set without its files or its network is passed over.

    One's own data are given as for `testsgd audit`: a file of rows with --sensitive and
    --predictions or --model, or a description with --data and --model. Predictions have no
    neighbours, so their rates are those of the rows as they are.

    Exit codes: 0 done, 2 bad input or no data set that could be audited.
    """
    from testsgd.data import is_rows_file
    from testsgd.truth import (
        DATA_SETS,
        THETAS,
        study_data_set,
        study_own_data,
        theta_tables,
    )

    thresholds = (
        THETAS
        if thetas is None
        else [_number(text, float, "--thetas", "0.05") for text in listed(thetas)]
    )
    _check_writable(out, "theta.json")
    rows: list[ThetaRow] = []
    own = any(
        option is not None
        for option in (data, model, predictions, sensitive, label, encoding, favorable)
    )
    for name in names or DATA_SETS:
        if own or is_rows_file(Path(name)):
            with progress_bar(quiet) as progress:
                rows += study_own_data(
                    name,
                    thresholds,
                    data_file=data,
                    model=model,
                    trust_pickle=trust_pickle,
                    predictions=predictions,
                    sensitive_features=listed(sensitive),
                    label=label,
                    encoding=encoding,
                    favourable=one_or_several(favorable),
                    progress=progress,
                )
            _write_theta(out, rows)
            continue
        try:
            with progress_bar(quiet) as progress:
                rows += study_data_set(name, thresholds, progress=progress)
        except (DataError, DownloadError, MissingExtraError, ModelError) as error:
            print_error(f"{name} is passed over: {error}")
            continue
        _write_theta(out, rows)
    if not quiet:
        _print_tables(theta_tables(rows))
        if out is not None:
            print_line(f"Written: {out}")
    return DONE if rows else USAGE_ERROR


def _check_writable(folder: Path | None, *names: str) -> None:
    """Raise, before all the work, if files of these names cannot be written into a folder."""
    from testsgd.io import check_replaceable

    if folder is not None:
        check_writable(folder)
        for name in names:
            check_replaceable(folder / name)


def _write_theta(folder: Path | None, rows: Sequence[ThetaRow]) -> None:
    """Write the study of theta as far as it is done, if there is a folder for it."""
    from testsgd.io import is_reproducible, write_text
    from testsgd.truth import theta_document

    if folder is not None:
        document = theta_document(rows, times=not is_reproducible())
        write_text(folder / "theta.json", json.dumps(document, indent=1) + "\n")


def _print_tables(tables: Sequence[TruthTable]) -> None:
    for table in tables:
        columns = [
            # A long heading is broken into lines, which a column of numbers never is.
            Column(
                heading,
                numeric=index >= table.labels and " " not in heading,
                only_if_wide=heading in ("runs", "seconds") or heading.startswith("before"),
            )
            for index, heading in enumerate(table.headings)
        ]
        print_table(table.title, columns, table.cells)


def _number(text: str, kind: Callable[[str], T], where: str, example: str) -> T:
    try:
        return kind(text.replace("_", ""))
    except ValueError as error:
        raise ParameterError(
            f"{text!r} is no {'whole number' if kind is int else 'number'}",
            where=where,
            remedy=f"give numbers such as {example}",
        ) from error


def _command(settings: TruthSettings) -> str:
    """Return the command with these settings, without the number of processes."""
    from testsgd.truth import EVERY_WORLD

    worlds = "all" if settings.worlds == EVERY_WORLD else ",".join(settings.worlds)
    parts = ["testsgd bench truth"]
    parts += [f"--populations {','.join(settings.populations)}"] if settings.populations else []
    parts += [f"--worlds {worlds}"] if worlds else []
    parts += [f"--sizes {','.join(map(str, settings.sizes))}", f"--runs {settings.runs}"]
    if settings.populations:
        parts.append(f"--baseline-runs {settings.baseline_runs}")
        if settings.baseline_runs:
            parts.append(f"--methods {','.join(settings.methods)}")
            parts.append(f"--time-limit {settings.time_limit:g}")
    return " ".join([*parts, f"--seed {settings.seed}"])


def _document(measures: list[Measure], settings: TruthSettings) -> dict[str, Any]:
    from testsgd.io import is_reproducible
    from testsgd.truth import truth_document

    document = truth_document(measures, settings)
    if is_reproducible():
        del document["settings"]["jobs"]
    return document


def _write(
    folder: Path,
    measures: list[Measure],
    settings: TruthSettings,
    command: str,
    seconds: float,
) -> None:
    from testsgd.io import is_reproducible, write_text
    from testsgd.truth import truth_markdown

    if is_reproducible():
        measures = [measure for measure in measures if measure.name != "seconds"]
    document = json.dumps(_document(measures, settings), indent=1)
    write_text(folder / "truth.json", document + "\n")
    write_text(
        folder / "truth.md",
        truth_markdown(measures, settings, command, None if is_reproducible() else seconds),
    )
