"""Where a monitor's events come from: mappings, data frames, JSON lines, CSV files."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.data.cell_texts import with_decimal_point
from testsgd.data.cells import as_pandas, check_column_number, missing_column
from testsgd.data.json_objects import json_object
from testsgd.data.separators import declared_separator, separator_of_header
from testsgd.errors import DataError, ParameterError
from testsgd.io import read_lines, why_no_file
from testsgd.monitoring.specification import MonitorSpecification, condition_of, fields_of

_EXAMPLE = '{"id": "a7", "group": "female", "decision": 1}'
# A journal and a log of answers are JSON lines, too.
_ENDINGS = (".jsonl", ".ndjson", ".json", ".journal", ".log", ".csv", ".tsv")
_MARK = b"\xef\xbb\xbf"
# From here on, a name may be another one that is misspelt.
_SIMILAR = 0.75
# Names of fields that are kept; a stream with more has values as names.
_MOST_FIELDS = 10_000
_WORDS = {"true": True, "false": False}
# A field with more values is no list of outcomes.
_MOST_VALUES = 1_000


@dataclass(frozen=True)
class EventSource:
    """Items that are still to be read, one by one, each with its number.

    `parse` returns the event of an item, or None if the item is empty; a wrong item is an error.
    A table `has_columns`, which were checked when it was opened.
    """

    name: str
    unit: str
    items: Iterable[tuple[int, Any]]
    parse: Callable[[Any], Mapping[str, Any] | None]
    has_columns: bool = False

    def where(self, number: int) -> str:
        """Name the place of an item."""
        return f"{self.name}, {self.unit} {number}" if self.name else f"{self.unit} {number}"


def event_source(events: Any, specification: MonitorSpecification) -> EventSource:
    """Return a source of events: themselves, a data frame, or a file, which is read line by line.

    That is JSON lines (``.jsonl``, ``.ndjson``, ``.json``, ``.journal``, ``.log``) or ``.csv``
    or ``.tsv``, with a comma, a semicolon or a tab between its cells, as its header has it.
    """
    if isinstance(events, str | Path):
        return _file(Path(events), specification)
    if isinstance(events, Mapping):
        what = "one event stands where a list of events should"
        raise ParameterError(what, where="events", remedy="give a list")
    frame = as_pandas(events, where="events")
    if frame is not None:
        return _frame(frame, specification)
    if not isinstance(events, Iterable):
        remedy = "give mappings, a data frame, or the path of a .jsonl or .csv file"
        what = f"a {type(events).__name__} has no events"
        raise ParameterError(what, where="events", remedy=remedy)
    return EventSource("", "event", enumerate(events, start=1), lambda event: event)


def json_lines(name: str, lines: Iterable[bytes]) -> EventSource:
    """Return a source of lines of JSON; empty lines are no events."""

    def parse(line: bytes) -> Mapping[str, Any] | None:
        return json_object(line, example=_EXAMPLE) if line.strip() else None

    # Some editors put a byte order mark first; JSON knows none.
    marked = (line.removeprefix(_MARK) if at == 0 else line for at, line in enumerate(lines))
    return EventSource(name, "line", enumerate(marked, start=1), parse)


def _file(path: Path, specification: MonitorSpecification) -> EventSource:
    kind = path.suffix.lower()
    if kind not in _ENDINGS:
        what = f"a file of the kind {kind!r} is not known" if kind else "the file has no ending"
        remedy = "give a .jsonl file with one JSON object a line, or a .csv file with a header"
        raise DataError(what, where=str(path), remedy=remedy)
    if (reason := why_no_file(path)) is not None:
        raise DataError(reason, where=str(path), remedy="check the path")
    if kind in (".csv", ".tsv"):
        return _csv(path, specification)
    return json_lines(str(path), _lines(path))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        yield from read_lines(path)
    except OSError as error:
        what = f"the file cannot be read ({error.strerror})"
        raise DataError(what, where=str(path), remedy="check the file") from error


def _csv(path: Path, specification: MonitorSpecification) -> EventSource:
    where = str(path)
    lines = _texts(path)
    header = next(lines, "")
    declared = declared_separator(header)
    if declared is not None:
        header = next(lines, "")
    separator = declared or separator_of_header(header, path)
    skipped = 0 if declared is None else 1
    rows = _rows(path, chain([header], lines), separator, skipped=skipped)
    names = [name.strip() for name in next(rows, (1, [""]))[1]]
    check_column_number(len(names), where)
    _check_columns(names, specification, where)
    # As in the tables of an audit; beside tabs all cells of a column would have to be known.
    read = _cell_reader(specification, decimal_commas=separator == ";")

    def parse(row: list[str]) -> Mapping[str, Any] | None:
        if not any(cell.strip() for cell in row):
            return None
        if len(row) != len(names):
            what = f"the row has {len(row)} cells and the header {len(names)}"
            raise DataError(what, remedy="correct the row")
        return read(zip(names, row, strict=True))

    return EventSource(where, "line", rows, parse, has_columns=True)


def _texts(path: Path) -> Iterator[str]:
    """Yield the lines of a CSV file, each with its line break."""
    for number, line in enumerate(_lines(path), start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _no_csv(error, path, number) from error
        yield text


def _rows(
    path: Path, lines: Iterable[str], separator: str, *, skipped: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the number of the line; `skipped` lines stand before the first of `lines`."""
    rows = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise _no_csv(error, path, skipped + rows.line_num) from error
        yield skipped + rows.line_num, row


def _no_csv(error: Exception, path: Path, line: int) -> DataError:
    what = f"the file is no CSV file in UTF-8: {error}"
    return DataError(what, where=f"{path}, line {line}", remedy="correct the line")


def _cell_reader(
    specification: MonitorSpecification, *, decimal_commas: bool
) -> Callable[[Iterable[tuple[str, str]]], dict[str, Any]]:
    """Return a function from the names and texts of a row to its event, without empty cells.

    `decimal_commas`: a number may be written 57,5.
    """
    named = specification.events
    dates = specification.time.unit == "iso"
    texts = {
        *named.id_fields,
        named.group,
        *specification.given_fields,
        *specification.prior_fields,
    }
    conditions = frozenset(specification.condition_fields)
    numbers = frozenset((*conditions, *specification.prior_fields, named.time))
    known = {
        named.decision: (*named.favourable, *named.unfavourable),
        named.label: (*named.positive, *named.negative),
    }

    def read(cells: Iterable[tuple[str, str]]) -> dict[str, Any]:
        event: dict[str, Any] = {}
        for name, cell in cells:
            text = cell.strip()
            if decimal_commas and (name in numbers or (name in texts and text[-2:] == ",0")):
                text = with_decimal_point(text)
            if name in conditions:
                # An expression tells a number from a text by itself.
                event[name] = text or None
            elif not text:
                continue
            elif name in known:
                event[name] = _value(text, known[name])
            elif name in texts:
                event[name] = text
            elif name == named.time:
                number = None if dates else _number(text)
                event[name] = text if number is None else number
        return event

    return read


def _value(text: str, known: tuple[Any, ...]) -> Any:
    """Return a cell as text, number or boolean, one of the known values if it can be."""
    if text in known:
        return text
    for other in (_number(text), _WORDS.get(text.lower())):
        if other is not None and other in known:
            return other
    return text


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _frame(frame: pd.DataFrame, specification: MonitorSpecification) -> EventSource:
    used = dict.fromkeys(
        (
            *specification.events.names,
            *specification.given_fields,
            *specification.condition_fields,
            *specification.prior_fields,
        )
    )
    _check_columns([str(name) for name in frame.columns], specification, "events")
    columns = [name for name in used if name in frame.columns]
    values = []
    for name in columns:
        cells = zip(frame[name].tolist(), frame[name].notna(), strict=True)
        values.append([value if is_filled else None for value, is_filled in cells])

    def parse(row: tuple[Any, ...]) -> Mapping[str, Any]:
        return dict(zip(columns, row, strict=True))

    rows = enumerate(zip(*values, strict=True), start=1)
    return EventSource("", "row", rows, parse, has_columns=True)


def _check_columns(names: list[str], specification: MonitorSpecification, where: str) -> None:
    """Refuse a table that can have no trial; one of labels alone goes with another one."""
    named = specification.events
    groups = specification.group_fields
    decisions, labels = fields_of(named.decision), fields_of(named.label)
    id_columns = {*named.id_fields} & {*names}
    for name in named.id_fields if id_columns else ():
        # With a part of the id alone no row would have one.
        if name not in names:
            raise missing_column(name, names, where)
    labelled = not {*labels}.isdisjoint(names)
    if labelled and {*decisions, *groups}.isdisjoint(names):
        return
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        what = f"the column {twice!r} stands twice"
        raise DataError(what, where=where, remedy="name each column once")
    needed = (*groups, *decisions, *specification.given_fields)
    if id_columns:
        # Rows with the same id say one thing each.
        known = {*groups, *decisions} & set(names)
        misspelt = [
            field
            for field in decisions
            if field not in names and get_close_matches(field, names, cutoff=_SIMILAR)
        ]
        needed = (*misspelt, *_half_there(specification, names)) if known else needed[:1]
    for name in needed:
        if name not in names:
            raise missing_column(name, names, where)


def _half_there(specification: MonitorSpecification, names: list[str]) -> tuple[str, ...]:
    """Return the fields of groups by expressions that a table lacks, if it has others of them.

    No row of the table says the group then. One that is asked for by `missing` need not be there.
    """
    conditions = [group.condition for group in specification.groups.by or ()]
    fields = specification.group_fields if conditions else ()
    optional = {name for one in conditions if one.asks_for_missing for name in one.names}
    lacking = tuple(name for name in fields if name not in names and name not in optional)
    return lacking if not {*fields}.isdisjoint(names) else ()


class FieldsOfEvents:
    """The fields that events have, to find those of expressions that none has.

    Parameters
    ----------
    specification : MonitorSpecification
    """

    def __init__(self, specification: MonitorSpecification) -> None:
        named = specification.events
        groups = [group.condition for group in specification.groups.by or ()]
        self._needed = [*groups, *filter(None, [condition_of(named.decision)])]
        self._may_come_later = [*filter(None, [condition_of(named.label)])]
        self._labels = {*fields_of(named.label)}
        self._others = {*specification.group_fields, *fields_of(named.decision)}
        self._used = {*named.names, *specification.given_fields, *self._others, *self._labels}
        self._seen: dict[str, None] = {}

    def note(self, event: Any) -> None:
        """Take up the fields of an event, if there are expressions."""
        if not (self._needed or self._may_come_later) or not isinstance(event, Mapping):
            return
        if len(self._seen) < _MOST_FIELDS:
            self._seen.update(dict.fromkeys(map(str, event)))

    def check(self, where: str) -> None:
        """Refuse an expression about a field that no event had; without any event none is.

        Labels may come later, so their fields are refused where one of a similar name came that
        nothing else is read from. A stream of labels alone goes with another one. Where an
        expression asks for missing values, its fields need not be there.
        """
        seen = [*self._seen]
        if not seen or len(seen) >= _MOST_FIELDS:
            return
        if self._others.isdisjoint(seen) and not self._labels.isdisjoint(seen):
            return
        unused = [name for name in seen if name not in self._used]
        expressions = [*self._needed, *self._may_come_later]
        optional = {name for one in expressions if one.asks_for_missing for name in one.names}
        for one in expressions:
            for name in one.names:
                if name in self._seen or name in optional:
                    continue
                if one in self._needed or get_close_matches(name, unused, cutoff=_SIMILAR):
                    raise _missing_field(name, one.text, seen, where)


class UnnamedDecisions:
    """The values of the decision's field that no expression of a specification names.

    Of a decision by an expression that is about one field and does not compare it by size. All
    these values are decided alike, so one that is misspelt is as well.

    Parameters
    ----------
    specification : MonitorSpecification
    """

    def __init__(self, specification: MonitorSpecification) -> None:
        named = specification.events
        condition = condition_of(named.decision)
        groups = [group.condition for group in specification.groups.by or ()]
        others = [one for one in (condition, condition_of(named.label), *groups) if one is not None]
        self._field = ""
        if condition is not None and len(condition.names) == 1:
            (self._field,) = condition.names
        self._expressions = [one for one in others if self._field in one.names]
        self._empty = frozenset(named.empty or ())
        self._seen: set[tuple[type, Any]] = set()
        self._texts: dict[str, None] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of these values, in the order in which they came."""
        return tuple(self._texts)

    def note(self, event: Any) -> None:
        """Take up the value of an event that was counted."""
        if not self._field or not isinstance(event, Mapping):
            return
        value = event.get(self._field)
        if not isinstance(value, str | int | float) or value in self._empty:
            return
        if (key := (type(value), value)) in self._seen or len(self._seen) >= _MOST_VALUES:
            return
        self._seen.add(key)
        texts = [one.unnamed_text(self._field, value) for one in self._expressions]
        if texts[0] is not None and None not in texts:
            self._texts[texts[0]] = None


def _missing_field(field: str, expression: str, seen: list[str], where: str) -> DataError:
    shown = ", ".join(seen[:12]) + (", ..." if len(seen) > 12 else "")
    return DataError(
        f"no event has the field {field!r} of the expression {expression!r}",
        where=where,
        remedy="correct its name, or give events the field, null where it is not known; they have "
        + shown,
        field=field,
        present=seen,
    )
