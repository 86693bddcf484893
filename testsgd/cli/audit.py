"""``testsgd audit``: find the groups that a model treats differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testsgd.auditing.parameters import AuditParameters
from testsgd.cli import console, options
from testsgd.errors import ParameterError

if TYPE_CHECKING:
    from testsgd.auditing import AuditResult, GroupSummary


@options.with_options(AuditParameters, but=["nondeterministic"])
def audit(
    dataset: options.DatasetArgument,
    data: options.DataOption = None,
    model: options.ModelOption = None,
    trust_pickle: Annotated[
        bool,
        typer.Option(
            "--trust-pickle",
            help="Read a pickled --model (.joblib, .pkl), which runs the code that is in it.",
        ),
    ] = False,
    predictions: Annotated[
        str | None,
        typer.Option(help="Of a file of rows: the column with the predictions, or decisions."),
    ] = None,
    sensitive: Annotated[
        str | None,
        typer.Option(help="Of a file of rows: the sensitive features, with commas."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Of a file of rows: the column with the true labels.")
    ] = None,
    terms: options.TermsOption = None,
    snippets: Annotated[
        int, typer.Option(help="For texts: examples of each term in the report; 0 shows no text.")
    ] = 3,
    limit: options.LimitOption = None,
    favorable: options.FavourableOption = None,
    threshold: options.ThresholdOption = 0.5,
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
        str, typer.Option("--format", help="Which reports: html,md,json,csv,parquet.")
    ] = "html,md,json",
    quiet: options.QuietOption = False,
    verbose: options.VerboseTimingsOption = False,
    **parameters: Any,
) -> int:
    """Find the groups that a model treats differently from everybody else, and write a report.

    A file of rows needs no description: `testsgd audit people.csv --predictions approved
    --sensitive sex,age`. What its columns are is guessed, and shown in the report.

    Exit codes: 0 done, 1 the gate --fail-above was exceeded, 2 bad input, 3 not enough evidence.
    """
    from testsgd.auditing import AuditResult, audit_file
    from testsgd.auditing import audit as run
    from testsgd.data import is_rows_file

    wanted = options.listed(formats)
    AuditResult.check_formats(wanted)
    draws_of_each = nondeterministic if draws is None else draws
    with console.progress_bar(quiet) as progress:
        if data is None and is_rows_file(Path(dataset)):
            only_models: dict[str, Any] = {}
            if model is not None:
                only_models = {"threshold": threshold, "trust_pickle": trust_pickle}
            result = audit_file(
                dataset,
                sensitive_features=options.listed(sensitive or ""),
                predictions=predictions,
                model=model,
                label=label,
                favourable=favorable,
                limit=limit,
                progress=progress,
                nondeterministic=draws_of_each,
                **only_models,
                **parameters,
            )
        else:
            _check_no_columns(predictions=predictions, sensitive=sensitive, label=label)
            result = run(
                model,
                data,
                dataset,
                favourable=favorable,
                threshold=threshold,
                terms=terms,
                snippets=snippets,
                limit=limit,
                trust_pickle=trust_pickle,
                progress=progress,
                nondeterministic=draws_of_each,
                **parameters,
            )
    written = result.write(out or Path("reports") / result.summary.data.name, wanted)
    if not quiet:
        _print_result(result, written, verbose)
    return result.verdict.exit_code


def _check_no_columns(**columns: str | None) -> None:
    """Refuse columns that are named where a description says what they are."""
    for name, column in columns.items():
        if column is not None:
            raise ParameterError(
                f"--{name} is for a file of rows that has no description",
                where=f"--{name}",
                remedy="give the file in place of the name, or leave the option out",
                name=name,
            )


def _print_result(result: AuditResult, written: list[Path], verbose: bool) -> None:
    from testsgd.auditing.report.wording import findings

    summary = result.summary
    first = findings(summary)
    if first:
        _print_groups(result, first)
    console.print_verdict(summary.verdict)
    counts = summary.counts
    asked = f"{summary.model_queries:,} model queries, {summary.mode}"
    if summary.data.predictions_given:
        asked = "no model was asked"
    console.print_line(
        f"{counts.candidates:,} rule sets, {counts.frequent:,} frequent, {counts.groups:,} groups; "
        f"{asked}."
    )
    console.print_files(written, summary.seconds if verbose else None)


def _print_groups(result: AuditResult, groups: list[GroupSummary]) -> None:
    summary = result.summary
    other = "observed" if summary.parameters.estimand == "neighbourhood" else "neighbourhood"
    texts = summary.data.kind == "texts"
    by_terms = summary.parameters.ranked_by == "counterfactual" and texts
    columns = [
        console.Column("rank", numeric=True),
        console.Column("from others" if by_terms else "difference", numeric=True),
        console.Column("rate", numeric=True),
        console.Column("complement", numeric=True),
        console.Column(summary.data.kind, numeric=True),
        console.Column("group"),
        console.Column("confidence interval", numeric=True, only_if_wide=True),
        console.Column("lower bound", numeric=True, only_if_wide=True),
    ]
    with_other = any(group.other is not None for group in groups)
    if with_other:
        columns.insert(-2, console.Column(other, numeric=True))
    if summary.mode == "sampled":
        columns.insert(2, console.Column("margin", numeric=True))
    with_terms = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    effect_at = 1 if by_terms else 2
    if with_terms:
        columns.insert(effect_at, console.Column("effect", numeric=True))
    with_own = any(group.own_effect for group in groups)
    if with_own:
        columns.append(console.Column("own effect", numeric=True, only_if_wide=True))
    rows = []
    for group in groups:
        low, high = group.confidence_interval
        bound = group.lower_confidence_bound
        row = [
            str(group.rank),
            console.points(group.difference),
            f"{group.rate_in:.1%}",
            f"{group.rate_out:.1%}",
            f"{group.n_in:,}",
            group.text,
            f"{console.points(low)} to {console.points(high)}",
            "" if bound is None else f"{100 * bound:.1f}",
        ]
        if with_other:
            row.insert(-2, _other_points(group))
        if summary.mode == "sampled":
            row.insert(2, f"{group.margin * 100:.1f}")
        if with_terms:
            effect = group.counterfactual
            row.insert(effect_at, console.points(effect.difference) if effect else "")
        if with_own:
            own = group.own_effect
            row.append(console.points(own.difference) if own else "")
        rows.append(row)
    console.print_table(
        f"{summary.data.title}: difference in the rate of “{summary.data.label.favourable}”, "
        f"in points ({summary.parameters.estimand} rates)",
        columns,
        rows,
    )


def _other_points(group: GroupSummary) -> str:
    other = None if group.other is None else group.other.difference
    return "" if other is None else console.points(other)
