"""``testsgd audit``: find the groups that a model treats differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testsgd.cli.console import Column, points, print_line, print_table, progress_bar
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

if TYPE_CHECKING:
    from testsgd.auditing import AuditResult, GroupSummary


def audit(
    dataset: DatasetArgument,
    data: DataOption = None,
    model: ModelOption = None,
    theta: Annotated[
        float | None,
        typer.Option(
            help="Support threshold: smallest share of the rows on each side of a judged group. "
            "(default: the description's, or none)"
        ),
    ] = None,
    min_rows: Annotated[
        int | None,
        typer.Option(
            help="Fewest rows on each side of a judged group. (default: 50, or 1 with --theta)"
        ),
    ] = None,
    estimand: Annotated[
        str | None,
        typer.Option(
            help="Which selection rates are ranked: observed (of the rows as they are), or "
            "neighbourhood (the paper's, over perturbed rows); the gate looks at both. (default: "
            "the description's, or observed)"
        ),
    ] = None,
    error_margin: Annotated[
        float, typer.Option(help="Sample until the margin of a score is no larger.")
    ] = 0.05,
    min_samples: Annotated[
        int, typer.Option(help="Draw more samples than this on each side first.")
    ] = 1000,
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence of the intervals, and of each side's sampling margin; both sides hold "
            "with its square."
        ),
    ] = 0.95,
    guarantee: Annotated[
        str,
        typer.Option(
            help="What the intervals hold for: per-group (one at a time), simultaneous (all "
            "groups), or fdr (the groups found)."
        ),
    ] = "simultaneous",
    replicates: Annotated[
        int, typer.Option(help="Bootstrap samples behind a simultaneous guarantee.")
    ] = 1000,
    interval: Annotated[
        str,
        typer.Option(
            help="The margin that sampling stops at: anytime, wald (the paper's), or auto (wald "
            "with independent sampling)."
        ),
    ] = "auto",
    holdout: Annotated[
        float | None,
        typer.Option(help="Share of the rows to hold out: groups are found on the others."),
    ] = None,
    stability: Annotated[
        int | None,
        typer.Option(
            help="Bootstrap samples to look for the explaining rules in; 0 for none. (default: "
            "200, if that is quick)"
        ),
    ] = None,
    condition_on: Annotated[
        str | None,
        typer.Option(
            help="For rows: features, with commas, whose mix is made the same on both sides for a "
            "second comparison."
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(help="exact (predict every neighbour), sampled, or auto (exact if it fits)."),
    ] = "auto",
    sampling: Annotated[
        str, typer.Option(help="pooled, or independent (the paper's algorithm to the letter).")
    ] = "pooled",
    max_queries: Annotated[
        int | None,
        typer.Option(
            help="Most rows or texts to ask the model about. (default: 20 million rows, or "
            "1 million texts)"
        ),
    ] = None,
    max_features: Annotated[int, typer.Option(help="Most rules in a rule set.")] = 3,
    bins: Annotated[
        int | None,
        typer.Option(help="Equal intervals of each continuous sensitive feature."),
    ] = None,
    terms: TermsOption = None,
    snippets: Annotated[
        int, typer.Option(help="For texts: examples of each term in the report; 0 shows no text.")
    ] = 3,
    limit: LimitOption = None,
    rank_by: Annotated[
        str,
        typer.Option(
            help="lower-bound (the lower confidence bound of the difference), score (the paper's), "
            "counterfactual (the effect of the terms of texts), or auto: counterfactual for texts, "
            "else lower-bound."
        ),
    ] = "auto",
    top: Annotated[int, typer.Option(help="How many groups the reports hold.")] = 100,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    favorable: FavourableOption = None,
    threshold: ThresholdOption = 0.5,
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
    fail_above: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 if a difference is larger by more than chance explains, with 3 if "
            "chance may explain it; --guarantee says how that is told."
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            help="Exit with 3 if too many people could not be judged; see --max-unjudged."
        ),
    ] = False,
    max_unjudged: Annotated[
        float,
        typer.Option(
            help="With --strict: the share of the people who may be only in combinations of "
            "sensitive values that could not be judged."
        ),
    ] = 0.01,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the reports. (default: reports/NAME)")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Which reports: html,md,json,csv,parquet.")
    ] = "html,md,json",
    quiet: QuietOption = False,
    verbose: VerboseTimingsOption = False,
) -> int:
    """Find the groups that a model treats differently from everybody else, and write a report.

    Exit codes: 0 done, 1 the gate --fail-above was exceeded, 2 bad input, 3 not enough evidence.
    """
    given = dict(locals())
    from testsgd.auditing import AuditParameters, AuditResult
    from testsgd.auditing import audit as run

    parameters = {name: given[name] for name in AuditParameters.__dataclass_fields__ & given.keys()}
    parameters["nondeterministic"] = nondeterministic if draws is None else draws
    wanted = listed(formats)
    AuditResult.check_formats(wanted)
    with progress_bar(quiet) as progress:
        result = run(
            model,
            data,
            dataset,
            favourable=favorable,
            threshold=threshold,
            terms=terms,
            snippets=snippets,
            limit=limit,
            progress=progress,
            **parameters,
        )
    written = result.write(out or Path("reports") / result.summary.data.name, wanted)
    if not quiet:
        _print_result(result, written, verbose)
    return result.verdict.exit_code


def _print_result(result: AuditResult, written: list[Path], verbose: bool) -> None:
    from testsgd.auditing.report.wording import findings

    summary = result.summary
    first = findings(summary)
    if first:
        _print_groups(result, first)
    print_line(summary.verdict.headline)
    for sentence in summary.verdict.sentences:
        print_line(sentence)
    counts = summary.counts
    print_line(
        f"{counts.candidates:,} rule sets, {counts.frequent:,} frequent, {counts.groups:,} groups; "
        f"{summary.model_queries:,} model queries, {summary.mode}."
    )
    if verbose:
        for phase, seconds in summary.seconds.items():
            print_line(f"  {phase}: {seconds:.3f} s")
    for path in written:
        print_line(f"Written: {path}")


def _print_groups(result: AuditResult, groups: list[GroupSummary]) -> None:
    summary = result.summary
    other = "observed" if summary.parameters.estimand == "neighbourhood" else "neighbourhood"
    by_terms = summary.parameters.rank_by == "counterfactual"
    columns = [
        Column("rank", numeric=True),
        Column("from others" if by_terms else "difference", numeric=True),
        Column("in", numeric=True),
        Column("out", numeric=True),
        Column(summary.data.kind, numeric=True),
        Column("group"),
        Column(other, numeric=True),
        Column("population", numeric=True, only_if_wide=True),
        Column("lower bound", numeric=True, only_if_wide=True),
    ]
    if summary.mode == "sampled":
        columns.insert(2, Column("margin", numeric=True))
    with_terms = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    terms_at = 1 if by_terms else 2
    if with_terms:
        columns.insert(terms_at, Column("terms alone", numeric=True))
    rows = []
    for group in groups:
        low, high = group.interval
        row = [
            str(group.rank),
            points(group.difference),
            f"{group.rate_in:.1%}",
            f"{group.rate_out:.1%}",
            f"{group.n_in:,}",
            group.text,
            _other_points(group),
            f"{points(low)} to {points(high)}",
            "" if group.assured is None else f"{100 * group.assured:.1f}",
        ]
        if summary.mode == "sampled":
            row.insert(2, f"{group.margin * 100:.1f}")
        if with_terms:
            own = group.counterfactual
            row.insert(terms_at, points(own.difference) if own else "")
        rows.append(row)
    print_table(
        f"{summary.data.title}: difference in the rate of “{summary.data.label.favourable}”, "
        f"in points ({summary.parameters.estimand} rates)",
        columns,
        rows,
    )


def _other_points(group: GroupSummary) -> str:
    other = None if group.other is None else group.other.difference
    return "" if other is None else points(other)
