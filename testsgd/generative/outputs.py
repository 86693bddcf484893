"""Outputs of a model, from a file, a data frame or Python, with the value of each grouping.

A log is a table: a line for each output, with its ``prompt``, its ``output``, what was ``asked``
for if a value was, and columns named like groupings where the values are known already. What no
column says is read from the texts.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data.cells import as_pandas, check_distinct_names, check_lines
from testsgd.data.schema import CellParsing
from testsgd.data.separators import separator_of_log
from testsgd.errors import DataError, ParameterError
from testsgd.generative.neutrality import PromptJudge
from testsgd.generative.pictures import Picture, PictureFile, content, with_pictures
from testsgd.generative.readers import Classifier, FunctionReader, Reader, readers_of
from testsgd.generative.specification import GenerativeSpecification
from testsgd.io import loads_json, memory_limit, read_text

Labels = NDArray[np.int32]
Flags = NDArray[np.bool_]

PROMPT = "prompt"
OUTPUT = "output"
ASKED = "asked"
# A log with both of these is the journal of an enforcer: a line for each output and requirement.
REQUIREMENT = "requirement"
TENANT = "tenant"
TICKET = "ticket"
# Names for an output without a value.
UNRELATED = ("", "unrelated", "none", "null", "unknown")
# In the place of the number of a cell that names no value.
_WRONG = -1
# So much of a wrong value is shown in an error message.
_SHOWN = 60
_JSON_LINES = (".jsonl", ".ndjson", ".log")
_ENDINGS = (*_JSON_LINES, ".json", ".csv", ".tsv")
_REMEDY = "give a .jsonl file with an object a line, a .json list of objects, or a .csv file"


@dataclass(frozen=True)
class LabelledOutputs:
    """Outputs in their order, with a number for the value of each grouping.

    Examples
    --------
    >>> people = GenerativeSpecification.from_dict(
    ...     {"groupings": {"gender": {"values": ["female", "male"]}}})
    >>> outputs = labelled_outputs(["a male nurse", "a female nurse", "a car"], people)
    >>> outputs.labels["gender"].tolist(), len(outputs)
    ([2, 1, 0], 3)
    """

    number: int  # How many outputs there are.
    labels: Mapping[str, Labels]  # For each grouping the values, shape (n,); 0: unrelated.
    several: Mapping[str, int]  # For each grouping the outputs with several values.
    unanswered: Mapping[str, int]  # Outputs about which a chat model gave no usable answer.
    # For each grouping which prompts give no hint, shape (n,); empty if there are no prompts.
    neutral: Mapping[str, Flags]
    asked: Mapping[str, Labels]  # For each grouping the value that was asked for; 0: none.
    texts: tuple[str, ...] = ()  # The outputs themselves, if they are texts.
    # Of each output the picture that it is, None if it is none; empty if there are no pictures.
    pictures: tuple[Picture | None, ...] = ()
    requirements: tuple[str, ...] = ()  # Of a journal the requirement that each line is about.

    def __len__(self) -> int:
        return self.number


def labelled_outputs(
    source: Any,
    specification: GenerativeSpecification,
    *,
    classify: Mapping[str, Classifier] | None = None,
) -> LabelledOutputs:
    """Return outputs with the value that each has of every grouping.

    Parameters
    ----------
    source : path-like, data frame, mapping of columns, or sequence of texts or of mappings
        A log with the columns ``prompt``, ``output``, ``asked`` and those named like groupings, of
        which those that are needed must be there. A sequence of texts is the column ``output``. The
        journal of an enforcer has ``requirement`` and ``ticket`` besides. In a file an output may
        be the name of a ``.png`` file, relative to the folder of the log; it is read as that
        picture.
    specification : GenerativeSpecification
        The groupings.
    classify : mapping of str to callable, optional
        Functions that read a grouping from an output.

    Returns
    -------
    LabelledOutputs

    Raises
    ------
    DataError
        If a file cannot be read, or a value is none of its grouping, or a picture is missing.
    ModelError
        If a function that reads a grouping fails.
    """
    frame, where = _frame(source)
    pictures: tuple[Picture | None, ...] = ()
    if OUTPUT in frame.columns:
        cells = list(frame[OUTPUT])
        if isinstance(source, str | Path):
            cells = with_pictures(cells, Path(source).parent)
            frame[OUTPUT] = pd.Series(cells, dtype=object)
        pictures = _pictures(cells)
    readers = readers_of(specification, classify)
    is_journal = REQUIREMENT in frame.columns and TICKET in frame.columns
    _check_tenant(frame, where=where)
    labels: dict[str, Labels] = {}
    several = dict.fromkeys(specification.groupings, 0)
    unanswered = dict.fromkeys(specification.groupings, 0)
    for name, grouping in specification.groupings.items():
        if name in frame.columns:
            labels[name] = _numbers(frame[name], name, grouping.values, where=where)
            continue
        if is_journal:
            # No line is about a requirement that needs it.
            labels[name] = np.zeros(len(frame), dtype=np.int32)
            continue
        texts = _texts(frame, grouping.reads, name, where=where)
        if not isinstance(readers[name], FunctionReader):
            _check_texts(texts, name, where=where)
        labels[name], several[name], unanswered[name] = _read(readers[name], texts)
    texts = ()
    if OUTPUT in frame.columns and all(isinstance(text, str) for text in frame[OUTPUT]):
        texts = tuple(frame[OUTPUT])
    return LabelledOutputs(
        number=len(frame),
        labels=labels,
        several=several,
        unanswered=unanswered,
        neutral=_neutral(frame, specification),
        asked=_asked(frame, specification, where=where),
        texts=texts,
        pictures=pictures,
        requirements=tuple(frame[REQUIREMENT].astype(str)) if is_journal else (),
    )


def _pictures(cells: Sequence[Any]) -> tuple[Picture | None, ...]:
    found = tuple(cell if isinstance(cell, bytes | PictureFile) else None for cell in cells)
    return found if any(picture is not None for picture in found) else ()


def _check_tenant(frame: pd.DataFrame, *, where: str) -> None:
    """Refuse a journal of several tenants: their sequences have nothing to do with each other."""
    if not {TENANT, REQUIREMENT} <= set(frame.columns):
        return
    tenants = list(dict.fromkeys(frame[TENANT].astype(str)))
    if len(tenants) > 1:
        raise DataError(
            f"the journal is of {len(tenants)} tenants",
            where=where,
            remedy="choose one: testsgd generative journal --tenant NAME",
            tenants=tenants,
        )


def read_log(path: Path) -> list[Any]:
    """Return the objects of a file of JSON lines.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is no JSON; names the line.
    """
    return _json_lines(_text_of(path), path)


def _neutral(frame: pd.DataFrame, specification: GenerativeSpecification) -> dict[str, Flags]:
    """Return which prompts are neutral; each different prompt is judged once."""
    if PROMPT not in frame.columns:
        return {}
    judge = PromptJudge(specification)
    codes, prompts = pd.factorize(frame[PROMPT].fillna("").astype(str))
    return {
        name: np.array([judge.is_neutral(prompt, name) for prompt in prompts], dtype=bool)[codes]
        for name, grouping in specification.groupings.items()
        if grouping.reads != "prompt"
    }


def _asked(
    frame: pd.DataFrame, specification: GenerativeSpecification, *, where: str
) -> dict[str, Labels]:
    """Return what was asked for: a value, or a mapping from groupings to values."""
    if ASKED not in frame.columns:
        return {}
    asked: dict[str, Labels] = {}
    for name in specification.free_groupings:
        grouping = specification.groupings[name]
        only = len(specification.free_groupings) == 1
        values = [_asked_value(cell, name, only=only) for cell in frame[ASKED]]
        series = pd.Series(values, dtype=object)
        asked[name] = _numbers(series, f"{ASKED}: {name}", grouping.values, where=where)
    return asked


def _asked_value(cell: Any, grouping: str, *, only: bool) -> Any:
    if isinstance(cell, str) and cell.lstrip().startswith("{"):
        try:
            cell = loads_json(cell)
        except ValueError:
            return cell  # It is no value, and is refused as such.
    if isinstance(cell, Mapping):
        return cell.get(grouping)
    return cell if only else None


def _read(reader: Reader, texts: Sequence[Any]) -> tuple[Labels, int, int]:
    """Read a value from each text; equal texts are read once."""
    codes, different = _different(pd.Series(texts, dtype=object))
    readings = [reader.read(content(text)) for text in different]
    labels = np.array([reading.label for reading in readings], dtype=np.int32)
    several = np.array([reading.several for reading in readings], dtype=bool)
    unanswered = np.array([reading.unanswered for reading in readings], dtype=bool)
    return labels[codes], int(several[codes].sum()), int(unanswered[codes].sum())


def _texts(frame: pd.DataFrame, reads: str, name: str, *, where: str) -> Sequence[Any]:
    """Return what a grouping is read from, for each row: prompt, output, or both in one text."""
    needed = (PROMPT, OUTPUT) if reads == "both" else (reads,)
    for column in needed:
        if column not in frame.columns:
            raise DataError(
                f"there is no column {column!r} to read {name!r} from, and none named {name!r}",
                where=where,
                remedy=f"the columns are {', '.join(map(str, frame.columns)) or 'none'}",
            )
    if len(needed) == 1:
        cells = frame[needed[0]]
        return ["" if _is_missing(cell) else cell for cell in cells]
    if any(isinstance(cell, bytes | PictureFile) for cell in frame[OUTPUT]):
        raise DataError(
            f"{name!r} cannot be read from a prompt and a picture together",
            where=where,
            remedy=f'write reads = "output" in groupings.{name}',
        )
    both = zip(frame[PROMPT], frame[OUTPUT], strict=True)
    return ["\n".join("" if _is_missing(cell) else str(cell) for cell in cells) for cells in both]


def _check_texts(texts: Sequence[Any], name: str, *, where: str) -> None:
    """Raise an error if words or a chat model should read something that is no text."""
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str | bytes | PictureFile):
            place = f"output {number}"
            raise DataError(
                f"{name!r} cannot be read from a {type(text).__name__}",
                where=f"{where}, {place}" if where else place,
                remedy="give a text",
                row=number,
            )


def _different(cells: pd.Series[Any]) -> tuple[NDArray[np.intp], Sequence[Any]]:
    """Return the index of each cell among the different ones, shape (n,), and these."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return _different_categories(cells)
    if not isinstance(cells.dtype, pd.StringDtype):
        cells = cells.astype(object)
    try:
        codes, different = pd.factorize(cells, use_na_sentinel=False)
    except TypeError:  # Something that cannot be hashed, such as a list.
        return np.arange(len(cells)), list(cells)
    return codes, list(different)


def _different_categories(cells: pd.Series[Any]) -> tuple[NDArray[np.intp], Sequence[Any]]:
    """Return the same for a column of categories, without categories that no cell has."""
    codes = cells.cat.codes.to_numpy()
    # The code of a missing cell is -1: None stands before the categories.
    counts = np.bincount(codes.astype(np.intp) + 1, minlength=len(cells.cat.categories) + 1)
    places = np.cumsum(counts > 0) - 1
    cells_of = [None, *cells.cat.categories.astype(object)]
    used = [cell for cell, count in zip(cells_of, counts, strict=True) if count]
    return places[codes.astype(np.intp) + 1], used


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)


def _numbers(column: pd.Series[Any], name: str, values: tuple[str, ...], *, where: str) -> Labels:
    """Return the numbers of the values in a column of names or of numbers."""
    are_names = any(value.strip().isdecimal() for value in values)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and not are_names:
        numbers = column.to_numpy()
        wrong = np.flatnonzero((numbers < 0) | (numbers > len(values)))
        if len(wrong):
            row = int(wrong[0])
            raise _wrong_value(numbers[row], row, name, values, where=where)
        return numbers.astype(np.int32)
    codes, names = _different(column)
    known = {value: number for number, value in enumerate(values, start=1)}
    for number, value in enumerate(values, start=1):
        # A name goes before another one that differs in its case only.
        known.setdefault(value.casefold(), number)
    numbered = np.zeros(len(names), dtype=np.int32)
    for code, cell in enumerate(names):
        found = 0 if _is_missing(cell) else _number(cell, known)
        numbered[code] = _WRONG if found is None else found
    numbers = numbered[codes]
    if _WRONG in numbered:
        row = int(np.argmax(numbers == _WRONG))
        raise _wrong_value(names[codes[row]], row, name, values, where=where)
    return numbers


def _number(cell: Any, known: Mapping[str, int]) -> int | None:
    """Return the number of the value that a cell names; None if it names none."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)  # A column of numbers with a missing cell has decimals.
    text = str(cell).strip()
    if text in known:
        return known[text]
    folded = text.casefold()
    if folded in known:
        return known[folded]
    if folded in UNRELATED:
        return 0
    most = len(set(known.values()))
    if text.isdecimal() and int(text) <= most:
        return int(text)
    return None


def _wrong_value(
    cell: Any, row: int, name: str, values: tuple[str, ...], *, where: str
) -> DataError:
    place = f"output {row + 1}, {name}"
    return DataError(
        f"{repr(cell)[:_SHOWN]} is no value",
        where=f"{where}, {place}" if where else place,
        remedy=f"the values are {', '.join(values)}; leave it empty if the output is unrelated",
        value=str(cell)[:_SHOWN],
        row=row + 1,
    )


def _frame(source: Any) -> tuple[pd.DataFrame, str]:
    """Return outputs as a data frame, and what errors call the source."""
    if isinstance(source, str | Path):
        path = Path(source)
        return _read_file(path), str(path)
    frame = as_pandas(source, where="outputs")
    if frame is not None:
        check_distinct_names(frame.columns, where="outputs")
        return frame.reset_index(drop=True), ""
    if isinstance(source, Mapping):
        return _of_columns(source, where=""), ""
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return _of_rows(list(source), where=""), ""
    raise ParameterError(
        f"a {type(source).__name__} has no outputs",
        where="outputs",
        remedy="give a file, a data frame, columns, or a list of texts or of mappings",
    )


def _read_file(path: Path) -> pd.DataFrame:
    """Return the outputs of a file of CSV, JSON or JSON Lines as a table."""
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        what = f"a file of the kind {ending!r} is not known" if ending else "the file has no ending"
        raise DataError(what, where=str(path), remedy=_REMEDY)
    text = _text_of(path)
    if ending in (".csv", ".tsv"):
        return _of_csv(path, text)
    if ending in _JSON_LINES:
        return _of_rows(_json_lines(text, path), where=str(path))
    try:
        content = loads_json(text)
    except ValueError as error:
        raise DataError(f"not valid JSON: {error}", where=str(path), remedy=_REMEDY) from error
    if isinstance(content, Mapping):
        return _of_columns(content, where=str(path))
    if isinstance(content, list):
        return _of_rows(content, where=str(path))
    raise DataError("the file holds no list of outputs", where=str(path), remedy=_REMEDY)


def _text_of(path: Path) -> str:
    try:
        return read_text(path, encoding="utf-8-sig", at_most=memory_limit())
    except FileNotFoundError as error:
        raise DataError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            "the file cannot be read as text", where=str(path), remedy=_REMEDY
        ) from error


def _of_csv(path: Path, text: str) -> pd.DataFrame:
    if not text.strip():
        raise DataError("the file is empty", where=str(path), remedy="give a file with a header")
    try:
        with warnings.catch_warnings():
            # pandas only warns where it drops the cells that a row has too many of.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            separator, skipped = separator_of_log(path)
            parsing = CellParsing(separator=separator, skip_rows=skipped)
            check_lines(path, parsing, str(path))
            return pd.read_csv(
                io.StringIO(text),
                sep=separator,
                skiprows=skipped,
                dtype=object,
                keep_default_na=False,
                index_col=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"not a CSV file ({reason})", where=str(path), remedy=_REMEDY) from error


def _json_lines(text: str, path: Path) -> list[Any]:
    rows = []
    # Not splitlines: a text in JSON may have other separators of lines.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(loads_json(line))
        except ValueError as error:
            raise DataError(
                f"not valid JSON: {error}", where=f"{path}, line {number}", remedy=_REMEDY
            ) from error
    return rows


def _of_rows(rows: list[Any], *, where: str) -> pd.DataFrame:
    """Return outputs, all texts or all objects, as a table with a column a key."""
    if not rows:
        # Of no outputs no column is missing.
        return pd.DataFrame({PROMPT: [], OUTPUT: []}, dtype=object)
    if all(isinstance(row, str | bytes) for row in rows):
        return pd.DataFrame({OUTPUT: pd.Series(rows, dtype=object)})
    flat = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            place = f"output {number}"
            raise DataError(
                f"a {type(row).__name__} is no output",
                where=f"{where}, {place}" if where else place,
                remedy="give a text, or an object with the keys prompt and output",
            )
        labels = row.get("labels")
        flat.append({**row, **labels} if isinstance(labels, Mapping) else dict(row))
    return pd.DataFrame.from_records(flat)


def _of_columns(columns: Mapping[str, Any], *, where: str) -> pd.DataFrame:
    """Return columns of one length as a table."""
    lengths = {
        name: len(column)
        for name, column in columns.items()
        if hasattr(column, "__len__") and not isinstance(column, str | bytes | Mapping)
    }
    if len(lengths) < len(columns) or len(set(lengths.values())) > 1:
        raise DataError(
            "the columns are not all lists of one length",
            where=where or "outputs",
            remedy="give a list for each column, with an item for each output",
        )
    return pd.DataFrame(dict(columns))
