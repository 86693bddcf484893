"""``testsgd audit``: find the groups that a model treats differently."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.auditing.parameters import AuditParameters
from testsgd.cli import console, options
from testsgd.cli.asked_audit import AskedAudit, check_no_options_of, run_asked
from testsgd.cli.default_folders import default_folder
from testsgd.errors import ConfigurationError, ParameterError
from testsgd.io import check_replaceable
from testsgd.metrics.parameters import MetricParameters
from testsgd.parameters import declared_parameters

if TYPE_CHECKING:
    from testsgd.auditing import ImpactRatios
    from testsgd.metrics import MetricsResult
    from testsgd.models import EndpointModel

_IMPACT_RATIOS = "impact-ratios.csv"


@options.with_options(
    AuditParameters,
    but=["nondeterministic"],
    notes=dict.fromkeys(
        declared_parameters(AuditParameters).keys() - declared_parameters(MetricParameters),
        "Not for --metrics.",
    ),
)
def audit(
    context: typer.Context,
    dataset: options.AuditedArgument,
    data: options.DataOption = None,
    model: options.ModelOption = None,
    trust_pickle: options.TrustPickleOption = False,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Of an HTTP endpoint: a file that keeps its answers, so that a run that broke "
            "off asks nothing twice."
        ),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option(help="Of rows: the column with the predictions, or decisions."),
    ] = None,
    sensitive: options.SensitiveOption = None,
    label: options.LabelOption = None,
    encoding: options.EncodingOption = None,
    weights: Annotated[
        str | None, typer.Option(help="Of a file of rows: the column with weights of the rows.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Of a file of rows: the column that says whom a row is about. Rows of one person "
            "are one unit in every interval. Not for --metrics."
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            help="Of a file of counted rows: the column that says how many rows each line is.",
        ),
    ] = None,
    cells: Annotated[
        bool,
        typer.Option(
            "--cells",
            help="The file, or that beside a description, is a table of counted rows, as cells-sql "
            "gives it: the same as --counts rows.",
        ),
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Of rows: several metrics with commas, such as selection_rate,equalized_odds; see "
            "the docs for all.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="Of --metrics: what groups are compared with: rest, overall, best, or a group "
            "such as 'sex = Male'.",
        ),
    ] = None,
    measure: Annotated[str | None, typer.Option(help="Of --metrics: difference or ratio.")] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="Of rows: four-fifths, the rule by its name, with its gate."),
    ] = None,
    fail_below: Annotated[
        float | None,
        typer.Option(help="The gate of --measure ratio, such as 0.8."),
    ] = None,
    impact_ratios: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a file of --predictions: the columns with sex and race, with a comma. Writes "
            "the table of impact ratios that New York City's Local Law 144 asks for."
        ),
    ] = None,
    terms: options.TermsOption = None,
    snippets: Annotated[
        int, typer.Option(help="For texts: examples of each term in the report; 0 shows no text.")
    ] = 0,
    limit: options.LimitOption = None,
    favorable: options.FavourableOption = None,
    outcome: options.OutcomeOption = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="A score above it counts as the favourable label. (default: 0.5)"),
    ] = None,
    nondeterministic: Annotated[
        bool,
        typer.Option(
            "--nondeterministic",
            help="Take means over several answers of a model that answers differently each time.",
        ),
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            help="How many answers to each question, for --nondeterministic. (default: 5)"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: reports/NAME)")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="Which reports: html,md,json; of an audit without metrics csv,parquet, too. "
            "(default: html,md,json)",
        ),
    ] = None,
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Find the groups that a model treats differently from everybody else, and write a report.

    A file of rows needs no description: `testsgd audit people.csv --predictions approved
    --sensitive sex,age`. What its columns are is guessed, and shown in the report.

    Exit codes: 0 done, 1 the gate --fail-above was exceeded, 2 bad input, 3 not enough evidence.
    """
    from testsgd.auditing import AuditResult
    from testsgd.data import check_no_other_file, is_rows_file

    address = dataset[0]
    several = len(dataset) > 1
    described = None
    if cells or counts is not None:
        described, address, data = _described_counts(dataset, data)
        several = several and described is None
    if several:
        _check_one_table(dataset, cells=cells or counts is not None)
    else:
        check_no_other_file(address)
        _check_is_there(address)
    if data is not None and is_rows_file(Path(address)):
        raise ParameterError(
            f"--data {data} is given beside {address}, which has rows itself",
            where="--data",
            remedy="leave it out, or name the description of its rows in place of that file",
            name="data",
        )
    favourable = options.one_or_several(favorable)
    wanted = options.listed(formats, options.FORMATS)
    AuditResult.check_formats(wanted)
    if out is not None:
        console.check_writable(out)

    def check(kind: type[AuditResult] | type[MetricsResult], name: str) -> None:
        """Refuse a folder, before all the work, that the result could not be written into."""
        folder = out or default_folder("reports", name)
        console.check_reports_writable(folder, kind, wanted, data_name=name)
        if impact_ratios is not None:
            check_replaceable(folder / _IMPACT_RATIOS)

    if cells and counts is None:
        from testsgd.metrics.counting import ROWS

        counts = ROWS
    if parameters["as_paper"]:
        # An option at its default does not win against the paper's setting, one that is given does.
        parameters = options.given_on_the_command_line(context, parameters)
    draws_of_each = nondeterministic if draws is None else draws
    table = None
    if impact_ratios is not None:
        counted = counts is not None or data is not None or model is not None
        if predictions is None or counted or not is_rows_file(Path(address)):
            check_no_options_of(
                "a file of rows with --predictions", {"impact_ratios": impact_ratios}
            )
        if weights is not None:
            raise ParameterError(
                "impact ratios count applicants, and have no weights",
                where="--impact-ratios",
                remedy="leave out --weights, or --impact-ratios",
                name="impact_ratios",
            )
        if limit is not None:
            raise ParameterError(
                "impact ratios are of all applicants, and not of a sample",
                where="--impact-ratios",
                remedy="leave out --limit, or --impact-ratios",
                name="impact_ratios",
            )
        assert predictions is not None
        table = _impact_ratios(
            Path(address),
            predictions,
            impact_ratios,
            favourable,
            encoding=encoding,
            rows=parameters.get("rows"),
        )
    asked: Any = model if answers is None else _endpoint(model, answers)
    with console.progress_bar(quiet) as progress:
        of_metrics = {
            "metrics": options.listed(metrics) if metrics else None,
            "weights": weights,
            "reference": reference,
            "measure": measure,
            "rule": rule,
            "fail_below": fail_below,
        }
        asked = AskedAudit(
            address=address,
            files=tuple(dataset) if several else (),
            data=data,
            counts=counts,
            counted_description=described,
            model=model if answers is None else _endpoint(model, answers),
            trust_pickle=trust_pickle,
            predictions=predictions,
            sensitive=tuple(options.listed(sensitive)),
            label=label,
            encoding=encoding,
            weights=weights,
            cluster=cluster,
            favourable=favourable,
            outcome=outcome,
            threshold=threshold,
            limit=limit,
            terms=terms,
            snippets=snippets,
            nondeterministic=draws_of_each,
            of_metrics=of_metrics,
            parameters=parameters,
            needs_all_rows=impact_ratios is not None,
        )
        result = run_asked(asked, before=check, progress=progress)
    folder = out or default_folder("reports", result.summary.data.name)
    written = result.write(folder, wanted)
    if table is not None:
        written.append(folder / _IMPACT_RATIOS)
        table.to_csv(written[-1])
    if not quiet:
        from testsgd.cli.printed_audits import print_audit, print_metrics

        if isinstance(result, AuditResult):
            print_audit(result, written, verbose=verbose)
        else:
            print_metrics(result, written, verbose=verbose)
    return result.verdict.exit_code


def _described_counts(files: list[str], data: Path | None) -> tuple[str | None, str, Path | None]:
    """Return the description of counted rows, if one is given, their file, and what --data is left.

    Both are given one after the other, or the counted rows as the description's --data.
    """
    from testsgd.data import is_rows_file

    first = files[0]
    if not _is_description(first):
        return None, first, data
    if len(files) == 2 and data is None and is_rows_file(Path(files[1])):
        return first, files[1], None
    if len(files) == 1 and data is not None and is_rows_file(data):
        return first, str(data), None
    if len(files) == 1 and data is None:
        raise ParameterError(
            f"{first!r} says what columns are, and has no counted rows itself",
            where="--cells or --counts",
            remedy="name their file after the description, as in "
            f"testsgd audit {shlex.quote(first)} counts.parquet --cells",
            name=first,
        )
    return None, first, data


def _check_one_table(files: list[str], *, cells: bool) -> None:
    """Refuse several data sets, but for files with rows of one table, as a shell lists them."""
    from testsgd.data import is_rows_file

    kinds = {"".join(Path(file).suffixes).lower() for file in files}
    if cells or len(kinds) > 1 or not all(is_rows_file(Path(file)) for file in files):
        remedy = "give one, or files of one kind, such as *.parquet; see testsgd audit --help"
        if len(files) == 2 and _is_description(files[0]) and is_rows_file(Path(files[1])):
            remedy = (
                f"give the rows with --data {shlex.quote(files[1])}, or add --cells if its lines "
                "are counted rows"
            )
        raise ConfigurationError(
            f"{len(files)} are given, and only rows of one table may be in several files",
            where=f"{files[0]!r} and {files[1]!r}",
            remedy=remedy,
            files=tuple(files),
        )


def _is_description(name: str) -> bool:
    """Return whether it names a data set of the catalogue, or a file that describes one."""
    from testsgd.data import catalogue

    return name in catalogue() or Path(name).suffix == ".toml"


def _check_is_there(dataset: str) -> None:
    """Refuse what is written as the path of a file, and is neither one nor in the catalogue."""
    from testsgd.data import catalogue, is_rows_file
    from testsgd.metrics import is_elsewhere

    path = Path(dataset)
    # What reads rows says itself that there are none.
    if dataset in catalogue() or is_elsewhere(dataset) or is_rows_file(path):
        return
    is_path = bool(path.suffix) or "/" in dataset or os.sep in dataset
    if is_path and not os.path.lexists(path):
        raise ParameterError(
            "there is no such file, and no data set of the catalogue is called so",
            where=dataset,
            remedy="check the path, or choose a name that testsgd data list shows",
            name=dataset,
        )


def _impact_ratios(
    path: Path,
    predictions: str,
    columns: list[str],
    favourable: Any,
    *,
    encoding: str | None,
    rows: str | None,
) -> ImpactRatios:
    """Compute the table of impact ratios of a file's rows, or of those that `rows` is true of."""
    from testsgd.auditing import check_columns, impact_ratios, positions_with
    from testsgd.data import read_frame

    named = options.listed(columns)
    if len(named) != 2:
        raise ParameterError(
            f"impact ratios are by two columns, {len(named)} are named",
            where="--impact-ratios",
            remedy="name those of sex and of race, with a comma",
            name="impact_ratios",
        )
    frame = read_frame(path, encoding=encoding)
    check_columns(frame, {"predictions": predictions}, named)
    if rows is not None:
        frame = frame.iloc[positions_with(rows, frame)]
    return impact_ratios(
        frame[predictions], sex=frame[named[0]], race=frame[named[1]], favourable=favourable
    )


def _endpoint(model: str | None, answers: Path) -> EndpointModel:
    """Return the model at an address, its answers kept in a file."""
    from testsgd.models import EndpointModel

    if model is None or not model.startswith(("http://", "https://")):
        raise ParameterError(
            "answers are kept of a model that is an HTTP endpoint",
            where="--answers",
            remedy="give its address as --model, or leave the option out",
            name="answers",
        )
    return EndpointModel(model, cache=answers)
