"""Groups as one table, for CSV and Parquet files and for data frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd._files import atomic_path, import_pyarrow, write_stream
from testsgd.auditing.findings import Findings
from testsgd.auditing.report.summarise_parts import assured_sizes, q_values
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.text import TextFindings

GROUP_COLUMNS = (
    "rank",
    "text",
    "support",
    "n_in",
    "n_out",
    "rate_in",
    "rate_out",
    "difference",
    "score",
    "margin",
    "interval_low",
    "interval_high",
    "estimand",
    "other_rate_in",
    "other_rate_out",
    "other_difference",
    "other_interval_low",
    "other_interval_high",
    "assured",
    "q_value",
    "exact",
    "samples_in",
    "samples_out",
    "decided",
    "distinct",
)

# What the other estimand says, NaN where it was not estimated.
_OTHER = ("rate_in", "rate_out", "difference", "interval_low", "interval_high")

# Numbers that are not always known; NaN where they are not.
_PARTLY_KNOWN = ("assured", "q_value")

# For texts only: what the terms change by themselves, NaN where it was not compared.
COUNTERFACTUAL_COLUMNS = (
    "counterfactual",
    "counterfactual_low",
    "counterfactual_high",
)

# Groups turned into rows at once.
_CHUNK = 200_000


def groups_frame(findings: Findings, *, limit: int | None = None) -> pd.DataFrame:
    """List groups as a data frame, by rank.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    limit : int, optional
        At most so many groups.

    Returns
    -------
    pandas.DataFrame
        With the columns :data:`GROUP_COLUMNS`, for texts :data:`COUNTERFACTUAL_COLUMNS` too.
    """
    count = len(findings.ranking) if limit is None else min(limit, len(findings.ranking))
    return pd.concat(list(_frames(findings, count)), ignore_index=True)


def summary_frame(summary: AuditSummary) -> pd.DataFrame:
    """List the groups that a summary holds as a data frame, by rank.

    Parameters
    ----------
    summary : AuditSummary
        The audit.

    Returns
    -------
    pandas.DataFrame
        With the columns of :func:`groups_frame`.
    """
    columns = list(GROUP_COLUMNS)
    if summary.data.kind == "texts":
        columns += COUNTERFACTUAL_COLUMNS
    rows = []
    for group in summary.groups:
        row = {name: getattr(group, name) for name in columns if name in type(group).model_fields}
        row["interval_low"], row["interval_high"] = group.interval
        row["estimand"] = summary.parameters.estimand
        row |= _other_of(group)
        row |= {name: float("nan") for name in _PARTLY_KNOWN if row[name] is None}
        found = group.counterfactual
        values = (found.difference, *found.interval) if found else (float("nan"),) * 3
        rows.append(row | dict(zip(COUNTERFACTUAL_COLUMNS, values, strict=True)))
    return pd.DataFrame(rows, columns=columns)


def _other_of(group: GroupSummary) -> dict[str, float]:
    """Return what the other estimand says of a group, NaN where it is not known."""
    other = group.other
    values: tuple[float | None, ...] = (None,) * len(_OTHER)
    if other is not None:
        values = (
            other.rate_in,
            other.rate_out,
            other.difference,
            *(other.interval or (None, None)),
        )
    return {
        f"other_{name}": float("nan") if value is None else value
        for name, value in zip(_OTHER, values, strict=True)
    }


def write_csv(findings: Findings, target: Path) -> None:
    """Write all groups to a CSV file, piece by piece."""

    def write(stream: TextIO) -> None:
        for place, frame in enumerate(_frames(findings, len(findings.ranking))):
            frame.to_csv(stream, index=False, header=place == 0)

    write_stream(target, write)


def write_parquet(findings: Findings, target: Path) -> None:
    """Write all groups to a Parquet file, piece by piece; needs the extra ``parquet``."""
    pa, pq = import_pyarrow()
    with atomic_path(target) as temporary:
        writer = None
        try:
            for frame in _frames(findings, len(findings.ranking)):
                batch = pa.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pq.ParquetWriter(temporary, batch.schema)
                writer.write_table(batch)
        finally:
            if writer is not None:
                writer.close()


def _frames(findings: Findings, count: int) -> Iterator[pd.DataFrame]:
    """Return the ranking in pieces; always at least one, so that the columns are there."""
    distinct = np.array(findings.distinct, dtype=np.intp)
    for start in range(0, max(count, 1), _CHUNK):
        groups = findings.ranking[start : min(start + _CHUNK, count)]
        estimates = findings.estimates.take(groups)
        low, high = findings.intervals(groups)
        frame = pd.DataFrame(
            {
                "rank": np.arange(start + 1, start + 1 + len(groups)),
                "text": findings.group_texts(groups),
                "support": estimates.rows_in / findings.rows,
                "n_in": estimates.rows_in,
                "n_out": estimates.rows_out,
                "rate_in": estimates.rate_in,
                "rate_out": estimates.rate_out,
                "difference": estimates.difference,
                "score": estimates.score,
                "margin": estimates.margin,
                "interval_low": low,
                "interval_high": high,
                "estimand": findings.parameters.estimand,
                **_other_columns(findings, groups),
                "assured": assured_sizes(findings, groups, low, high),
                "q_value": q_values(findings, groups),
                "exact": estimates.exact,
                "samples_in": estimates.samples_in,
                "samples_out": estimates.samples_out,
                "decided": estimates.decided,
                "distinct": np.isin(groups, distinct),
            }
        )
        yield frame.assign(**_counterfactual(findings, groups))


def _other_columns(findings: Findings, groups: NDArray[np.intp]) -> dict[str, Any]:
    """Return the columns of the other estimand, NaN where it was not estimated."""
    if not findings.others:
        return {f"other_{name}": np.full(len(groups), np.nan) for name in _OTHER}
    estimates = findings.others[0].estimates.take(groups)
    low, high = findings.others[0].intervals(groups)
    values = (estimates.rate_in, estimates.rate_out, estimates.difference, low, high)
    return {f"other_{name}": value for name, value in zip(_OTHER, values, strict=True)}


def _counterfactual(findings: Findings, groups: NDArray[np.intp]) -> dict[str, Any]:
    """Return the columns that only texts have."""
    if not isinstance(findings, TextFindings):
        return {}
    found = findings.counterfactual
    if found is None:
        return dict.fromkeys(COUNTERFACTUAL_COLUMNS, np.full(len(groups), np.nan))
    compared = found.seeds[groups] > 0
    values = (found.difference, found.low, found.high)
    return {
        name: np.where(compared, value[groups], np.nan)
        for name, value in zip(COUNTERFACTUAL_COLUMNS, values, strict=True)
    }
