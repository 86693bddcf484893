"""What kind of file of testsgd's a file is, so that no other program's file is ever replaced.

A file is replaced only by one of the same kind: a report by a report, the result of an audit by the
result of an audit. Whatever testsgd did not write has no kind.
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io.reading import check_regular

# A mark of testsgd's stands at the beginning of a file or at its end.
_LOOKED_AT = 2**18
_JSON_MARK = re.compile(rb'"(?:schema|format)":\s*"(testsgd\.[\w.-]+)')
# What work goes on from is known whatever its name, which is the user's choice.
_GOING_ON = ("testsgd.monitor-state", "testsgd.journal")
_GOING_ON_MARK = re.compile(rb'\s*\{\s*"format":\s*"(testsgd\.[\w.-]+)')
_FIRST_KEY = re.compile(rb'^\s*\{\s*"((?:[^"\\]|\\.)*)"')
# Signatures of pages, those of earlier versions too. The first is searched at the beginning of a
# page, the second at its end; one is enough, but of Markdown, where both must be there. A page that
# only speaks of testsgd has none.
_HTML_MARK = re.compile(rb'<meta name="generator" content="testsgd">')
_HTML_CLOSING = re.compile(
    rb"Written by testsgd \S[^<]*, from a document of the form testsgd\.[\w.-]+/\d+\."
)
_MARKDOWN_HEADING = re.compile(rb"\A## \S")
_MARKDOWN_CLOSING = re.compile(rb"\n\*testsgd \d+\.\d[^\s,*]*(?:, [^\n*]+)?\.(?: [^\n]+)?\*\s*\Z")
_TRUTH_TABLES = re.compile(rb"\AMade by `testsgd bench [^`\n]*`, seed \d+")
_JUNIT_MARK = re.compile(rb'<testsuites name="testsgd \w')
# Columns by which tables are known; no table of people has them all.
_TABLES = {
    ("rank", "text", "support", "lower_confidence_bound"): "groups",
    ("seed_row", "change", "why"): "samples",
    ("status", "share_low", "share_high"): "regions",
    ("proof", "share", "proved_fair", "proved_unfair"): "proved regions",
    ("verdict", "counterpart_decision", "region_proof"): "answers",
    ("by", "category", "selection_rate", "impact_ratio"): "impact ratios",
}
# Members of archives of arrays: the one whose text says what it is, and how others are called.
_SHIELD = "header.npy"
_SHIELD_MEMBERS = re.compile(r"header\.npy|layer\.\d+\.npy")
_SHIELD_FORMAT = b"testsgd.shield"
_CHECKPOINT = "notes.npy"
_CHECKPOINT_MEMBERS = {_CHECKPOINT, "lo.npy", "known.npy"}
_CHECKPOINT_TREE = "tree_"
_CHECKPOINT_MARK = re.compile(rb'\{"version": \d+, "about": "')
# The file that says what a model and those beside it are: it is moved last.
CARD = "card.json"
_NETWORK = "model.keras"
_PREPROCESSING = "preprocessing.json"
# How a folder's name begins and ends in which files are written before they are moved to their
# places.
STAGING = (".testsgd-", ".part")

_replacing_any = contextvars.ContextVar("replacing_any_file", default=False)
_inputs: contextvars.ContextVar[tuple[Path, ...]] = contextvars.ContextVar(
    "kept_inputs", default=()
)


@contextlib.contextmanager
def replacing_any_file() -> Iterator[None]:
    """Let outputs replace, within the block, files that testsgd did not write.

    Examples
    --------
    >>> from testsgd.io import replacing_any_file
    >>> with replacing_any_file():
    ...     pass
    """
    token = _replacing_any.set(True)
    try:
        yield
    finally:
        _replacing_any.reset(token)


@contextlib.contextmanager
def keeping_inputs(inputs: Iterable[str | Path]) -> Iterator[None]:
    """Let no output replace some files within the block, :func:`replacing_any_file` or not.

    Parameters
    ----------
    inputs : iterable of str or pathlib.Path
        Files that are read.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import check_replaceable, keeping_inputs, replacing_any_file
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     with replacing_any_file(), keeping_inputs([file.name]):
    ...         check_replaceable(file.name)
    Traceback (most recent call last):
    testsgd.errors.ConfigurationError: ...
    """
    token = _inputs.set((*_inputs.get(), *map(Path, inputs)))
    try:
        yield
    finally:
        _inputs.reset(token)


def check_no_input(target: str | Path) -> None:
    """Raise if a file is one of those that :func:`keeping_inputs` keeps, under any name.

    Parameters
    ----------
    target : str or pathlib.Path
        Where something is to be written.

    Raises
    ------
    ConfigurationError
        If it is the same file as one that is read.
    """
    if any(_is_same(Path(target), kept) for kept in _inputs.get()):
        raise ConfigurationError(
            "cannot write there (the file is read by the same command)",
            where=str(target),
            remedy="choose another name",
        )


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two names are of one file, by links too."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def kind_of_file(path: str | Path) -> str | None:
    """Return what kind of file of testsgd's a file is.

    Parameters
    ----------
    path : str or pathlib.Path
        A file that exists.

    Returns
    -------
    str or None
        Equal for files that are written for the same purpose; None if testsgd did not write it.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import kind_of_file
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"schema": "testsgd.audit/2"}')
    ...     file.flush()
    ...     kind_of_file(file.name)
    'testsgd.audit'
    """
    path = Path(path)
    check_regular(path)
    beginning, end = _ends(path)
    suffix = path.suffix.lower()
    if _is_of_card(path):
        return f"model {path.name}"
    if beginning.startswith(b"PK"):
        return _kind_of_archive(path)
    mark = _GOING_ON_MARK.match(beginning)
    if mark and mark[1].decode() in _GOING_ON:
        return mark[1].decode()
    if suffix == ".json":
        return _kind_of_json(beginning)
    if suffix in {".html", ".md", ".xml"}:
        return f"report {suffix}" if _is_signed(suffix, beginning, end) else None
    if suffix == ".csv":
        return _kind_of_table(beginning.partition(b"\n")[0].decode(errors="replace").split(","))
    if suffix == ".parquet":
        return _kind_of_parquet(path)
    return None


def check_replaceable(target: str | Path, *, by: str | Path | None = None) -> None:
    """Raise if writing a file would replace one of another kind.

    Parameters
    ----------
    target : str or pathlib.Path
        Where something is to be written.
    by : str or pathlib.Path, optional
        What is to be moved there. Without it, before the work, a file of any kind of testsgd's
        passes.

    Raises
    ------
    ConfigurationError
        If there is something that is no file, or one that is kept by :func:`keeping_inputs`, or a
        file that is not of the same kind; not the last within :func:`replacing_any_file`.
    """
    target = Path(target)
    if not target.exists():
        return
    if not target.is_file():
        # Moving a file onto a folder fails late; onto a device such as /dev/null it would succeed.
        raise ConfigurationError(
            "cannot write there (it is no file)", where=str(target), remedy="choose another name"
        )
    check_no_input(target)
    if _replacing_any.get() or target.stat().st_size == 0:
        return
    kind = kind_of_file(target)
    if kind is None:
        raise ConfigurationError(
            "there is a file that testsgd does not know as its own",
            where=str(target),
            remedy="choose another name, or give --force",
        )
    if by is None:
        return
    new = _kind_of_new(Path(by), target)
    if new != kind and (new is not None or kind in _GOING_ON):
        raise ConfigurationError(
            f"there is another kind of file ({kind})",
            where=str(target),
            remedy="choose another name, or give --force",
        )


def _kind_of_new(new: Path, target: Path) -> str | None:
    """Return the kind of a file under a temporary name; None if it is known by its place only."""
    return None if _is_of_card(target) else kind_of_file(new)


def _ends(path: Path) -> tuple[bytes, bytes]:
    with path.open("rb") as file:
        beginning = file.read(_LOOKED_AT)
        size = file.seek(0, 2)
        file.seek(max(0, size - _LOOKED_AT))
        return beginning, file.read(_LOOKED_AT)


def _is_signed(suffix: str, beginning: bytes, end: bytes) -> bool:
    """Return whether a page has the signature of testsgd's reports."""
    if suffix == ".xml":
        return _JUNIT_MARK.search(beginning) is not None
    if suffix == ".html":
        return bool(_HTML_MARK.search(beginning) or _HTML_CLOSING.search(end))
    is_report = _MARKDOWN_HEADING.search(beginning) and _MARKDOWN_CLOSING.search(end)
    return bool(is_report or _TRUTH_TABLES.search(beginning))


def _kind_of_archive(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if _SHIELD in names and all(map(_SHIELD_MEMBERS.fullmatch, names)):
                mark = _JSON_MARK.search(_beginning_of_member(archive, _SHIELD))
                return "shield" if mark and mark[1] == _SHIELD_FORMAT else None
            has_tree = any(name.startswith(_CHECKPOINT_TREE) for name in names)
            if has_tree and names.issuperset(_CHECKPOINT_MEMBERS):
                # Four bytes a character.
                text = _beginning_of_member(archive, _CHECKPOINT).replace(b"\0", b"")
                return "checkpoint" if _CHECKPOINT_MARK.search(text) else None
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile):
        return None
    return None


def _beginning_of_member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return member.read(_LOOKED_AT)


def _kind_of_json(beginning: bytes) -> str | None:
    if mark := _JSON_MARK.search(beginning[:4096]):
        return mark[1].decode()
    first = _FIRST_KEY.match(beginning)
    return f"JSON {first[1].decode(errors='replace')}" if first else None


def _kind_of_parquet(path: Path) -> str | None:
    try:
        import pyarrow.parquet
    except ImportError:
        return None
    try:
        names: list[str] = pyarrow.parquet.read_schema(path).names
    except (OSError, ValueError):
        return None
    return _kind_of_table(names)


def _kind_of_table(columns: Iterable[str]) -> str | None:
    present = {name.strip() for name in columns}
    kinds = (kind for names, kind in _TABLES.items() if present.issuperset(names))
    return next((f"table of {kind}" for kind in kinds), None)


def _is_preprocessed(folder: Path) -> bool:
    """Return whether a folder has what testsgd writes beside a network of its own."""
    try:
        beginning = (folder / _PREPROCESSING).read_bytes()[:4096]
    except OSError:
        return False
    return _JSON_MARK.search(beginning) is not None


def _is_of_card(path: Path) -> bool:
    """Return whether a model's card stands beside a file, of this very file or written with it."""
    own = path.parent / CARD
    # Of a process that was killed while it moved a model and its card to their places.
    interrupted = path.parent.glob(f"{STAGING[0]}*{STAGING[1]}/{CARD}")
    if any(_fits_card(path, card) for card in (own, *interrupted)):
        return True
    # A training that was interrupted before it wrote the card.
    return not own.exists() and path.name == _NETWORK and _is_preprocessed(path.parent)


def _fits_card(path: Path, card_file: Path) -> bool:
    try:
        card: Any = json.loads(card_file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(card, dict) or "testsgd " not in str(card.get("versions")):
        return False
    if path.name != card.get("model file", _NETWORK):
        # What is written beside a model: how rows become inputs, a list of words, thresholds.
        return path.suffix in (".json", ".txt")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return bool(card.get("model sha256", digest) == digest)
