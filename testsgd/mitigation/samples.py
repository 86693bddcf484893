"""Counter-labelled samples: drawn without repetition, asked about, kept or relabelled.

What is drawn, a neighbour of a row or a text with other terms, is the business of a
:class:`Source`. The order of the draws depends on the generator and on the source alone.
If more samples are asked for, the first ones stay the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Specification, TextSpecification, category_text
from testsgd.errors import DataError, ParameterError
from testsgd.io import atomic_path, csv_of, import_pyarrow, write_text
from testsgd.mitigation.parameters import Kind, Side
from testsgd.mitigation.targets import ControlTarget, Target
from testsgd.models.refitting import Inputs
from testsgd.models.refitting.protocol import joined_frames


@dataclass(frozen=True)
class SamplingReport:
    """The counts of draws and of samples by the way that they were found."""

    seeds: int  # Training rows or texts that samples can be made from.
    drawn: int  # Samples drawn; repetitions count.
    distinct: int  # Different ones among them.
    # Different ones that the original model gives the counter label. Some may not be among
    # the samples, for more were drawn at once than were still wanted.
    counter_labelled: int
    relabelled: int  # Samples that the original model labels otherwise.
    exhausted: bool  # True: all there is was drawn, or as much as was allowed.
    # How the relabelled ones were chosen: by the model's scores, or, as it tells labels only,
    # in the order drawn.
    nearness: Literal["score", "unknown"] = "score"


@dataclass(frozen=True, kw_only=True)
class _Labelled:
    """What samples are labelled with; arrays of shape (n,)."""

    relabelled: NDArray[np.bool_]  # True where the original model gives another label.
    # The share of the favourable label that is to be learnt: 1 or 0 by the label carried, or,
    # of shifted samples, what the original model's score became.
    targets: NDArray[np.float64]
    anchors: NDArray[np.bool_]  # True where the other label is kept, as the original model has it.
    report: SamplingReport  # How they were found.
    # Of anchored samples what the original model says of each; those that it labels otherwise
    # come first.
    scores: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True)
class Found(_Labelled):
    """The draws that became samples, in the order in which they should be added."""

    numbers: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class CounterSamples(_Labelled):
    """Samples of one side of one target, with the label that counters its discrimination.

    They are in the order in which they should be added: as drawn; but of the kind ``"counter"``
    those to which the original model gives that label come first, then the relabelled ones, nearest
    to the decision boundary first.
    """

    inputs: Inputs  # The samples, as the model takes them.
    favourable: bool  # Their label; True is the favourable one.
    # The row or text that each was made from, as its index in all of the data; shape (n,).
    seeds: NDArray[np.int64]
    # What was done to it, such as ``"hours: 40 to 41"`` or ``'"lesbian" to "gay"'``; empty if
    # nothing was; shape (n,).
    changes: NDArray[np.object_]
    side: Side  # Whose members they are.
    target: int  # The target's place among the targets.
    kind: Kind = "counter"  # How they were chosen.
    # How much each counts, where their seeds have weights; None: all 1; shape (n,).
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, found: Found, source: Source, **known: Any) -> CounterSamples:
        """Make the samples of draws; `known` is what the draws do not tell."""
        inputs, seeds, changes = source.described(found.numbers)
        own = {name: value for name, value in vars(found).items() if name != "numbers"}
        return cls(inputs=inputs, seeds=seeds, changes=changes, **own, **known)

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def available(self) -> int:
        """How many can be taken: of anchored samples those that change their label."""
        return len(self) if self.scores is None else int(self.relabelled.sum())

    def take(self, count: int) -> CounterSamples:
        """Return the first samples; of anchored ones all others too, as the model labels them."""
        if self.scores is not None:
            first = self.relabelled & (np.arange(len(self)) < count)
            return replace(
                self,
                relabelled=first,
                anchors=self.anchors | (self.relabelled & ~first),
                targets=np.where(first, float(self.favourable), self.scores),
            )
        return replace(
            self,
            inputs=self.inputs[:count],
            seeds=self.seeds[:count],
            changes=self.changes[:count],
            relabelled=self.relabelled[:count],
            targets=self.targets[:count],
            anchors=self.anchors[:count],
            weights=None if self.weights is None else self.weights[:count],
        )

    @property
    def carried(self) -> NDArray[np.bool_]:
        """Whether each carries the favourable label: all but anchors carry the counter label."""
        return np.asarray(self.anchors != self.favourable)


class Source(ABC):
    """What samples are drawn from: rows or texts by their index in all of the data."""

    def __init__(self, rows: NDArray[np.intp]) -> None:
        self._rows = rows.astype(np.int64)

    @property
    def seeds(self) -> int:
        """How many rows or texts samples are made from."""
        return len(self._rows)

    @property
    def draws(self) -> int:
        """The number of draws: one for each row or text, unless a subclass has more."""
        return len(self._rows)

    @abstractmethod
    def fresh(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Inputs]:
        """Make samples of draws, leaving out those that were made before."""

    @abstractmethod
    def make(self, numbers: NDArray[np.int64]) -> Inputs:
        """Make the samples of draws again."""

    @abstractmethod
    def described(
        self, numbers: NDArray[np.int64]
    ) -> tuple[Inputs, NDArray[np.int64], NDArray[np.object_]]:
        """Return the samples of draws, the row or text each is made from, and what was changed."""


# Where a sample is from and why it is there; if the data have such a column, "sample_" is put
# before the name.
PROVENANCE_COLUMNS = ("seed_row", "change", "why", "group", "side")

_ENDINGS = (".parquet", ".csv")


def samples_frame(
    samples: Sequence[CounterSamples],
    specification: Specification,
    targets: Sequence[Target | ControlTarget],
) -> pd.DataFrame:
    """Return samples as a data frame, one row each.

    Result: the features, or the text, under their own names; the label column with the label of
    each sample; then the columns :data:`PROVENANCE_COLUMNS`: the place of the row or text it was
    made from, counted from 0; what was changed; why it is there; the group or control effect it is
    for, as `targets` name them; and whether it is in the group or of the rest. A
    :class:`DataError` is raised if samples are to have the unfavourable label, and there is not
    just one such label.
    """
    label = specification.label
    other = _other_label(specification)
    if other is None and not all(pool.carried.all() for pool in samples):
        known = [value for value in label.values or [] if value != label.favourable]
        raise DataError(
            f"samples are to have another label than {label.favourable!r}, and there "
            + (f"are {len(known)} ({', '.join(known[:6])})" if known else "is none declared"),
            where=f"label column {label.column!r}",
            remedy="list two labels under label.values, joined with label.map if there are more",
        )
    frame = _inputs_frame(samples, specification)
    column = label.column or "label"
    labels: list[str | None] = []
    provenance: dict[str, list[Any]] = {name: [] for name in PROVENANCE_COLUMNS}
    for pool in samples:
        labels += [label.favourable if carried else other for carried in pool.carried]
        provenance["seed_row"] += pool.seeds.tolist()
        provenance["change"] += list(pool.changes)
        provenance["why"] += _reasons(pool, label.favourable, other)
        provenance["group"] += [targets[pool.target].text] * len(pool)
        provenance["side"] += [pool.side] * len(pool)
    used_names = {*frame.columns, column}
    added: dict[str, pd.Series[Any]] = {column: _texts(labels)}
    for name, values in provenance.items():
        free = name
        while free in used_names:
            free = f"sample_{free}"
        added[free] = pd.Series(values, dtype=np.int64) if name == "seed_row" else _texts(values)
    return frame.assign(**added)


def check_samples_file(target: Path) -> None:
    """Raise an error now if :func:`write_samples` could not write such a file."""
    ending = Path(target).suffix.lower()
    if ending not in _ENDINGS:
        raise ParameterError(
            f"the file {Path(target).name!r} ends in neither {' nor '.join(_ENDINGS)}",
            where="export",
            remedy="give a name such as samples.parquet",
        )
    if ending == ".parquet":
        import_pyarrow()


def write_samples(frame: pd.DataFrame, target: Path | str) -> None:
    """Write a data frame of samples, whole or not at all.

    Parameters
    ----------
    frame : pandas.DataFrame
        From :func:`samples_frame`.
    target : path-like
        A file that ends in ``.parquet``, which needs the extra ``parquet``, or in ``.csv``, where a
        text that a spreadsheet would take for a formula has an apostrophe in front.

    Raises
    ------
    ParameterError
        If the ending is another.
    MissingExtraError
        If it is a Parquet file and pyarrow is not installed.
    """
    target = Path(target)
    check_samples_file(target)
    frame = frame.assign(**{name: _writable(frame[name]) for name in frame.columns})
    if target.suffix.lower() == ".csv":
        write_text(target, csv_of(frame))
        return
    pa, pq = import_pyarrow()
    content = pa.Table.from_pandas(frame, preserve_index=False)
    with atomic_path(target) as temporary:
        pq.write_table(content, temporary)


def _inputs_frame(samples: Sequence[CounterSamples], specification: Specification) -> pd.DataFrame:
    if isinstance(specification, TextSpecification):
        texts = [text for pool in samples for text in pool.inputs]
        return pd.DataFrame({specification.text.column: _texts(texts)})
    joined: pd.DataFrame | None = None
    for pool in samples:
        assert isinstance(pool.inputs, pd.DataFrame)
        joined = pool.inputs if joined is None else joined_frames(joined, pool.inputs)
    if joined is None:
        return pd.DataFrame({name: [] for name in specification.features})
    return joined.reset_index(drop=True)


def _texts(values: Sequence[Any]) -> pd.Series[Any]:
    return pd.Series(values, dtype=object)


def _other_label(specification: Specification) -> str | None:
    """Return the label that is not favourable, None if it is not just one."""
    label = specification.label
    known = label.values or list(dict.fromkeys((label.map or {}).values()))
    others = [value for value in known if value != label.favourable]
    return others[0] if len(others) == 1 else None


def _reasons(samples: CounterSamples, favourable: str, other: str | None) -> Iterator[str]:
    names = {True: repr(favourable), False: repr(other) if other else f"not {favourable!r}"}
    counter, opposite = names[samples.favourable], names[not samples.favourable]
    if samples.kind == "odds":
        how = f"drawn by its chance of {counter}"
    elif samples.report.nearness == "unknown":
        how = "in the order drawn, for the model gives no scores"
    else:
        how = "nearest to the boundary"
    for relabelled, anchor in zip(samples.relabelled, samples.anchors, strict=True):
        if relabelled:
            yield f"relabelled: the model gives it {opposite}, {how}"
        elif anchor:
            yield f"anchor: the model gives it {opposite}, which it keeps"
        else:
            yield f"kept: the model gives it {counter}"


def _writable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column in which a file can tell all values: texts, where there are several types."""
    categorical = isinstance(column.dtype, pd.CategoricalDtype)
    values = column.cat.categories.to_series() if categorical else column
    if values.dtype != object:
        return column
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind not in ("string", "mixed", "mixed-integer"):
        return column
    cells = column.astype(object)
    return cells.map(lambda value: _plain(category_text(value)), na_action="ignore")


def _plain(text: str) -> str:
    """Replace what a Python string may hold and no file in UTF-8: lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
