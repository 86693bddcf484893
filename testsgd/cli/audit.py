"""``testsgd audit``: find the groups that a model treats differently."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.auditing.parameters import AuditParameters
from testsgd.cli import console, options
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
    from testsgd.auditing import audit as run
    from testsgd.data import check_no_other_file, is_rows_file
    from testsgd.metrics import has_many_rows, is_elsewhere

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
            _check_no_columns("a file of rows with --predictions", impact_ratios=impact_ratios)
        if weights is not None:
            raise ParameterError(
                "impact ratios count applicants, and have no weights",
                where="--impact-ratios",
                remedy="leave out --weights, or --impact-ratios",
                name="impact_ratios",
            )
        assert predictions is not None
        table = _impact_ratios(
            Path(address), predictions, impact_ratios, favourable, encoding=encoding
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
        chosen = _given({**of_metrics, **parameters, "nondeterministic": draws_of_each})
        if cluster is not None:
            chosen["clusters"] = cluster
        elsewhere = several or is_elsewhere(address)
        _check_no_folder(address)
        of_counts = {"counts": counts}
        of_rows_file = data is None and is_rows_file(Path(address))
        if of_rows_file and predictions is not None and not elsewhere:
            asked_for = (model, counts, limit, encoding, impact_ratios)
            if all(option is None for option in asked_for) and _can_be_counted(chosen):
                elsewhere = has_many_rows(address)
        of_described = not elsewhere and not of_rows_file
        if of_described:
            _check_no_columns(
                "a file of rows that has no description",
                sensitive=sensitive,
                label=label,
                encoding=encoding,
                cluster=cluster,
                weights=None if predictions is not None else weights,
                **of_counts,
            )
            if predictions is not None and model is not None:
                raise ParameterError(
                    "both predictions and a model are given",
                    where="--predictions",
                    remedy="give one of them",
                    name="predictions",
                )
        result: AuditResult | MetricsResult
        if elsewhere or (of_rows_file and counts is not None):
            result = _audit_counted(
                dataset if several else address,
                counts=counts,
                encoding=encoding,
                predictions=predictions,
                sensitive=options.listed(sensitive),
                label=label,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                description=described,
                of_rows={"limit": limit, "model": model, "data": data, "cluster": cluster},
                before=check,
                chosen=chosen,
            )
        elif of_rows_file and predictions is not None and model is None:
            # Imported where it is called: most audits need no module of metrics.
            from testsgd.metrics import audit_file_of_predictions

            result = audit_file_of_predictions(
                address,
                predictions=predictions,
                sensitive_features=options.listed(sensitive),
                label=label,
                encoding=encoding,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                limit=limit,
                progress=progress or False,
                before=check,
                **chosen,
            )
        elif of_rows_file and model is not None and predictions is None:
            from testsgd.metrics import audit_file_of_model

            result = audit_file_of_model(
                address,
                model=asked,
                sensitive_features=options.listed(sensitive),
                label=label,
                encoding=encoding,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                trust_pickle=trust_pickle,
                limit=limit,
                progress=progress or False,
                before=check,
                **chosen,
            )
        elif of_rows_file:
            from testsgd.auditing import audit_file

            # There are neither predictions nor a model, or both, which is refused.
            result = audit_file(
                address,
                sensitive_features=options.listed(sensitive),
                predictions=predictions,
                model=asked,
                label=label,
                encoding=encoding,
            )
        elif predictions is not None:
            from testsgd.metrics import audit_described_predictions

            result = audit_described_predictions(
                address,
                data,
                predictions=predictions,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                limit=limit,
                progress=progress or False,
                before=check,
                **chosen,
            )
        elif any(value is not None for value in of_metrics.values()):
            from testsgd.data import resolve_specification
            from testsgd.metrics import MetricsResult, audit_described_by_metrics

            check(MetricsResult, resolve_specification(address).name)
            result = audit_described_by_metrics(
                asked,
                data,
                address,
                favourable=favourable,
                outcome=outcome,
                threshold=threshold,
                limit=limit,
                trust_pickle=trust_pickle,
                progress=progress or False,
                **chosen,
            )
        else:
            from testsgd.data import resolve_specification

            check(AuditResult, resolve_specification(address).name)
            result = run(
                asked,
                data,
                address,
                favourable=favourable,
                outcome=outcome,
                threshold=0.5 if threshold is None else threshold,
                terms=terms,
                snippets=snippets,
                limit=limit,
                trust_pickle=trust_pickle,
                progress=progress or False,
                nondeterministic=draws_of_each,
                **parameters,
            )
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


def _check_no_folder(dataset: str) -> None:
    """Refuse a folder of files, which may be of anything."""
    from testsgd.data import catalogue

    if Path(dataset).is_dir() and dataset not in catalogue():
        raise ParameterError(
            f"{dataset} is a folder",
            where="data set",
            remedy=f"give a file, or several such as {dataset.rstrip('/')}/*.parquet",
            name=dataset,
        )


def _impact_ratios(
    path: Path, predictions: str, columns: list[str], favourable: Any, *, encoding: str | None
) -> ImpactRatios:
    """Compute the table of impact ratios of all rows of a file."""
    from testsgd.auditing import check_columns, impact_ratios
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
    return impact_ratios(
        frame[predictions], sex=frame[named[0]], race=frame[named[1]], favourable=favourable
    )


def _given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are not left at their defaults, or with --as-paper all given."""
    if parameters.get("as_paper"):
        # They are those of the command line, and a default wins against the paper's setting, too.
        return {name: value for name, value in parameters.items() if value is not None}
    defaults = {name: item.default for name, item in declared_parameters(AuditParameters).items()}
    return {
        name: value
        for name, value in parameters.items()
        if value is not None and value is not False and value != defaults.get(name)
    }


def _can_be_counted(chosen: Mapping[str, Any]) -> bool:
    """Return whether an audit with these options can be one of rows that are counted, not read."""
    from testsgd.metrics import MetricParameters

    # What takes the rows themselves.
    of_rows = {"rows", "holdout", "condition_on"}
    known = {*declared_parameters(MetricParameters), "weights", "metrics", "rule"}
    return chosen.keys() <= known - of_rows


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


def _audit_counted(
    source: str | list[str],
    *,
    counts: str | None,
    encoding: str | None,
    predictions: str | None,
    sensitive: list[str],
    label: str | None,
    favourable: Any,
    outcome: str | None,
    threshold: float | None,
    description: str | None,
    of_rows: Mapping[str, Any],
    before: Callable[[type[MetricsResult], str], None],
    chosen: dict[str, Any],
) -> MetricsResult:
    """Audit rows that are counted or summed where they are, or were counted before.

    `description` is that of rows counted before, if there is one. `of_rows` are the values of
    options that need the rows themselves, and are refused.
    """
    from testsgd.data import read_frame, resolve_specification
    from testsgd.metrics import (
        MetricsResult,
        audit_counts,
        audit_described_counts,
        audit_rows_elsewhere,
        open_elsewhere,
    )

    for name, given in (("predictions", predictions), ("sensitive", sensitive or description)):
        if not given:
            raise ParameterError(
                f"rows are counted by their {name}, and no column is named",
                where=f"--{name}",
                remedy=f"name the columns with --{name}",
                name=name,
            )
    assert predictions is not None
    for name, value in of_rows.items():
        if value is not None:
            raise ParameterError(
                f"--{name} {value} needs the rows themselves, and these are counted where they "
                "are, all of them, or were counted before",
                where=f"--{name}",
                remedy="leave it out, or give a file of the rows",
                name=name,
            )
    if "rows" in chosen:
        raise ParameterError(
            "rows that are counted where they are cannot be chosen by an expression",
            where="--rows",
            remedy="leave it out, and count only these rows (WHERE in the query, or a view)",
            name="rows",
        )
    weights = chosen.pop("weights", None)
    if counts is None:
        _check_no_columns("a file of rows that is read as text", encoding=encoding)
        name = "data"
        if isinstance(source, str):
            file = Path(source.partition("?")[0]).name
            name = file.partition(".")[0].strip("*?[]-_") or name
        before(MetricsResult, name)
        return audit_rows_elsewhere(
            open_elsewhere(
                source, columns=[predictions, *sensitive, *filter(None, [label, weights])]
            ),
            predictions=predictions,
            sensitive_features=sensitive,
            label=label,
            weights=weights,
            favourable=favourable,
            outcome=outcome,
            threshold=threshold,
            name=name,
            **chosen,
        )
    if threshold is not None:
        from testsgd.models.answers import no_scores_given

        raise no_scores_given(threshold)
    assert isinstance(source, str)
    name = Path(source).name.partition(".")[0]
    if description is not None:
        name = resolve_specification(description).name
    before(MetricsResult, name)
    compare: Callable[..., MetricsResult] = audit_counts
    if description is not None:
        compare = partial(audit_described_counts, description)
    return compare(
        read_frame(Path(source), encoding=encoding),
        predictions=predictions,
        sensitive_features=sensitive,
        rows=counts,
        label=label,
        weight=weights,
        weight_squared=None if weights is None else f"{weights}_squared",
        favourable=favourable,
        outcome=outcome,
        name=name,
        **chosen,
    )


def _check_no_columns(where: str, **columns: Any) -> None:
    """Refuse what is for other data than those that are audited."""
    for name, column in columns.items():
        if column is not None:
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(
                f"{option} is for {where}",
                where=option,
                remedy="give the file in place of the name, or leave the option out",
                name=name,
            )
