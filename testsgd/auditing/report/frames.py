"""Groups as one table, for CSV and Parquet files, for data frames, and for the summary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing.findings import Findings
from testsgd.auditing.report.kinds import are_of_texts
from testsgd.auditing.report.summary import FEWEST_SHOWN, AuditSummary
from testsgd.io import (
    atomic_path,
    csv_of,
    import_pyarrow,
    write_stream,
)
from testsgd.scoring import lower_confidence_bound

# What the other estimand says, NaN where it was not estimated.
_OTHER = ("rate_in", "rate_out", "difference", "ci_low", "ci_high")

GROUP_COLUMNS = (
    *("rank", "text", "support", "n_in", "n_out", "rate_in", "rate_out", "difference", "score"),
    *("margin", "ci_low", "ci_high", "estimand"),
    *(f"other_{name}" for name in _OTHER),
    *("lower_confidence_bound", "q_value", "exact", "samples_in", "samples_out"),
    *("decided", "distinct"),
)

# What the estimates call as the columns do.
_OF_ESTIMATES = (
    *("rate_in", "rate_out", "difference", "score", "margin"),
    *("exact", "samples_in", "samples_out", "decided"),
)
# For texts only: the counterfactual effect, NaN where it was not compared.
COUNTERFACTUAL_COLUMNS = tuple(f"counterfactual_{name}" for name in ("effect", "ci_low", "ci_high"))

# Groups turned into rows at once.
_CHUNK = 200_000


def groups_frame(findings: Findings, *, limit: int | None = None) -> pd.DataFrame:
    """List groups by rank; with the counterfactual columns for texts."""
    return pd.concat(list(_frames(findings, limit)), ignore_index=True)


def summary_frame(summary: AuditSummary) -> pd.DataFrame:
    """List the groups that a summary holds, by rank, with the columns of :func:`groups_frame`."""
    columns = [*GROUP_COLUMNS, *COUNTERFACTUAL_COLUMNS * (summary.data.kind == "texts")]
    rows = []
    for group in summary.groups:
        row = dict(group) | _with_ends(group.confidence_interval)
        row["estimand"] = summary.parameters.estimand
        if other := group.other:
            of_other = dict(other) | _with_ends(other.confidence_interval)
            row |= {f"other_{name}": of_other[name] for name in _OTHER}
        effect = group.counterfactual
        if effect:
            values = (effect.difference, *effect.confidence_interval)
            row |= dict(zip(COUNTERFACTUAL_COLUMNS, values, strict=True))
        rows.append({name: np.nan if row.get(name) is None else row[name] for name in columns})
    return pd.DataFrame(rows, columns=columns)


def _with_ends(interval: tuple[float, float] | None) -> dict[str, float | None]:
    return dict(zip(("ci_low", "ci_high"), interval or (None, None), strict=True))


def write_csv(findings: Findings, target: Path) -> None:
    """Write all groups to a CSV file, piece by piece."""

    def write(stream: TextIO) -> None:
        for index, frame in enumerate(_frames(findings)):
            stream.write(csv_of(frame, header=index == 0))

    write_stream(target, write)


def write_parquet(findings: Findings, target: Path) -> None:
    """Write all groups to a Parquet file, piece by piece; needs the extra ``parquet``."""
    pa, pq = import_pyarrow()
    with atomic_path(target) as temporary:
        writer = None
        try:
            for frame in _frames(findings):
                batch = pa.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pq.ParquetWriter(temporary, batch.schema)
                writer.write_table(batch)
        finally:
            if writer is not None:
                writer.close()


def _frames(findings: Findings, limit: int | None = None) -> Iterator[pd.DataFrame]:
    """Return the ranking in pieces; always at least one, so that the columns are there."""
    ranking = findings.ranking[:limit]
    for start in range(0, max(len(ranking), 1), _CHUNK):
        groups = ranking[start : start + _CHUNK]
        frame = frame_of(findings, groups, np.arange(start + 1, start + 1 + len(groups)))
        yield frame.assign(**_counterfactual(findings, groups))


def frame_of(findings: Findings, groups: NDArray[np.intp], ranks: NDArray[np.intp]) -> pd.DataFrame:
    """Return the columns :data:`GROUP_COLUMNS` of some groups, in their order.

    Parameters
    ----------
    findings : Findings
    groups, ranks : array of int, shape (n,)
        Indices of groups, and the ranks that are shown for them.

    Returns
    -------
    data frame, n rows
    """
    estimates = findings.estimates.take(groups)
    low, high = findings.confidence_intervals(groups)
    bounds = lower_confidence_bound(low, high)
    q_values = findings.guarantee.q_values
    unknown = np.full(len(groups), np.nan)
    of_others: tuple[Any, ...] = (unknown,) * len(_OTHER)
    if findings.others:
        [second] = findings.others
        other = second.estimates.take(groups)
        ends = second.guarantee.confidence_intervals(second.estimates, groups)
        of_others = (other.rate_in, other.rate_out, other.difference, *ends)
        if second.estimand == "observed" and are_of_texts(findings):
            # Groups of terms are judged over texts that terms are put into; few may have the terms.
            few = np.minimum(other.rows_in, other.rows_out) < FEWEST_SHOWN
            of_others = tuple(np.where(few, np.nan, values) for values in of_others)
    columns = {
        **{name: getattr(estimates, name) for name in _OF_ESTIMATES},
        "rank": ranks,
        "text": findings.group_texts(groups),
        "support": estimates.rows_in / findings.rows,
        "n_in": estimates.rows_in,
        "n_out": estimates.rows_out,
        "ci_low": low,
        "ci_high": high,
        "estimand": findings.parameters.estimand,
        **{f"other_{name}": values for name, values in zip(_OTHER, of_others, strict=True)},
        "lower_confidence_bound": np.where(estimates.decided, bounds, np.nan),
        "q_value": unknown if q_values is None else q_values[groups],
        "distinct": np.isin(groups, np.array(findings.distinct, dtype=np.intp)),
    }
    return pd.DataFrame(columns, columns=list(GROUP_COLUMNS))


def _counterfactual(findings: Findings, groups: NDArray[np.intp]) -> dict[str, Any]:
    """Return the columns that only texts have."""
    if not are_of_texts(findings):
        return {}
    effects = findings.counterfactual
    if effects is None:
        return dict.fromkeys(COUNTERFACTUAL_COLUMNS, np.full(len(groups), np.nan))
    compared = effects.seeds[groups] > 0
    values = (effects.difference, effects.low, effects.high)
    return {
        name: np.where(compared, value[groups], np.nan)
        for name, value in zip(COUNTERFACTUAL_COLUMNS, values, strict=True)
    }
