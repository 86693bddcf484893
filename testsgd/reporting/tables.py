"""All groups as one table, for CSV and Parquet files and for data frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from testsgd._files import atomic_path, write_stream
from testsgd.auditing import Findings
from testsgd.errors import MissingExtraError

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
    "exact",
    "samples_in",
    "samples_out",
    "decided",
    "distinct",
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
        With the columns :data:`GROUP_COLUMNS`.
    """
    count = len(findings.ranking) if limit is None else min(limit, len(findings.ranking))
    return pd.concat(list(_frames(findings, count)), ignore_index=True)


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


def import_pyarrow() -> tuple[Any, Any]:
    """Import what writes Parquet, or say which extra brings it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", extra="parquet", purpose="writing Parquet") from error
    return pyarrow, pyarrow.parquet


def _frames(findings: Findings, count: int) -> Iterator[pd.DataFrame]:
    """Give the ranking in pieces; always at least one, so that the columns are there."""
    distinct = np.array(findings.distinct, dtype=np.intp)
    for start in range(0, max(count, 1), _CHUNK):
        groups = findings.ranking[start : min(start + _CHUNK, count)]
        estimates = findings.estimates.take(groups)
        low, high = estimates.population_interval(findings.parameters.confidence)
        yield pd.DataFrame(
            {
                "rank": np.arange(start + 1, start + 1 + len(groups)),
                "text": findings.rule_sets.texts(groups),
                "support": estimates.rows_in / len(findings.table),
                "n_in": estimates.rows_in,
                "n_out": estimates.rows_out,
                "rate_in": estimates.rate_in,
                "rate_out": estimates.rate_out,
                "difference": estimates.difference,
                "score": estimates.score,
                "margin": estimates.margin,
                "interval_low": low,
                "interval_high": high,
                "exact": estimates.exact,
                "samples_in": estimates.samples_in,
                "samples_out": estimates.samples_out,
                "decided": estimates.decided,
                "distinct": np.isin(groups, distinct),
            }
        )
