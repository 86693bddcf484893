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
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from testsgd.errors import ConfigurationError
from testsgd.io.reading import check_regular, read_beginning, read_bytes

# A mark of testsgd's stands at the beginning of a file or at its end.
_LOOKED_AT = 2**18
_JSON_MARK = re.compile(rb'"(?:schema|format)":\s*"(testsgd\.[\w.-]+)')
# What work goes on from is known whatever its name, which is the user's choice.
DEAD_LETTERS = "dead letters"
CHECKPOINT = "checkpoint"
MONITOR_STATE = "testsgd.monitor-state"
SHIELD_JOURNAL = "testsgd.shield-journal"
_GOING_ON = (MONITOR_STATE, SHIELD_JOURNAL, "testsgd.journal", DEAD_LETTERS)
_DEAD_LETTER_MARK = re.compile(rb'\{"dead_letter": "\w+", "said": "')
_GOING_ON_MARK = re.compile(rb'\s*\{\s*"format":\s*"(testsgd\.[\w.-]+)')
_BY_FIRST_KEY = "JSON "
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
# Of a file that has one of these testsgd may be the author, even if it is damaged: the form of a
# document, a version where one is written, the signature of a page, members of its archives, marks
# of its databases, a decision in a shield's journal, or a checksum where its files have one. To
# speak of testsgd is no sign.
_SIGN = re.compile(
    rb"""
    ":\ ?"testsgd\.[a-z] | ":\ ?"testsgd\ \d | \|\ testsgd\ \d | ^\*testsgd\ \d
    | Written\ by\ testsgd\ \S+,\ from | content="testsgd"> | <testsuites\ name="testsgd\
    | Made\ by\ `testsgd\ bench\
    | (?: layer\.\d+ | tree_(?: axis | left_end | right_start | fair | unfair ) ) \.npy
    | \{"version":\ \d+,\ "about":\ "
    | tSGE | tSGA | CREATE\ TABLE\ answers\ \(key\ TEXT\ PRIMARY\ KEY
    | CREATE\ TABLE\ state\ \(key\ TEXT\ PRIMARY\ KEY,\ text\ TEXT\ NOT\ NULL\)
    | "recommendation":[01],"cost":[^,]{1,40},"decision":[01]
    | "checksum":\ "[0-9a-f]{64}",\ "state":
    | "digest":\ "[0-9a-f]{64}",\ "(?:specification|entries)"
    """,
    re.VERBOSE | re.MULTILINE,
)
# How its files begin; of one that was cut this may be all that is left.
_BEGINNINGS = (b"PK\x03\x04", b"SQLite format 3\0", b'{"format": "testsgd.')
_FEW_BYTES = 8
_SHORTEST = 512
# What to do about a file that is none of those that work goes on from.
OTHER_FILE_REMEDY = "choose another file, or give --force (which still keeps what may be testsgd's)"
# The file that says what a model and those beside it are: it is moved last.
CARD = "card.json"
_NETWORK = "model.keras"
_PREPROCESSING = "preprocessing.json"
_PREPROCESSING_FORMAT = re.compile(rb"testsgd\.(?:text-)?preprocessing")
_VOCABULARY = "vocabulary.txt"
# Documents that stand beside a model under these names; others may use the names too.
_OF_MODELS = {CARD, _PREPROCESSING, "thresholds.json"}
# The packages that a card says a model was made with; testsgd is the first.
_CARD_VERSIONS = re.compile(r"testsgd \d")
_LARGEST_CARD = 2**20
# How the thresholds begin that a mitigation writes beside a model.
_THRESHOLDS = re.compile(rb'\s*\{\s*"rule": "a score of at least the threshold gets the favourable')
# How a folder's name begins and ends in which files are written before they are moved to their
# places.
STAGING = (".testsgd-", ".part")
# How the name of such a folder begins whose files are all written, and are being moved.
WHOLE = f"{STAGING[0]}whole-"

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
    """Raise if a file is read: one that :func:`keeping_inputs` keeps, or a module that is loaded.

    Parameters
    ----------
    target : str or pathlib.Path
        Where something is to be written.

    Raises
    ------
    ConfigurationError
        If it is the same file as one that is read.
    """
    target = Path(target)
    modules = _loaded_modules() if target.suffix.lower() == ".py" else ()
    if any(_is_same(target, kept) for kept in (*_inputs.get(), *modules)):
        raise ConfigurationError(
            "cannot write there (the file is read by the same command)",
            where=str(target),
            remedy="choose another name",
        )


def _loaded_modules() -> list[Path]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return [Path(file) for file in files if isinstance(file, str)]


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
    if _is_of_model(path):
        return f"model {path.name}"
    if beginning.startswith(b"PK"):
        return _kind_of_archive(path)
    mark = _GOING_ON_MARK.match(beginning)
    if mark and mark[1].decode() in _GOING_ON:
        return mark[1].decode()
    if _DEAD_LETTER_MARK.match(beginning):
        return DEAD_LETTERS
    if suffix == ".json":
        return _kind_of_json(beginning, marked_only=path.name in _OF_MODELS)
    if suffix in {".html", ".md", ".xml"}:
        return f"report {suffix}" if _is_signed(suffix, beginning, end) else None
    if suffix == ".csv":
        return _kind_of_table(beginning.partition(b"\n")[0].decode(errors="replace").split(","))
    if suffix == ".parquet":
        return _kind_of_parquet(path)
    return None


def check_replaceable(
    target: str | Path,
    *,
    by: str | Path | None = None,
    kind: str | None = None,
    gone_on_with: bool = False,
) -> None:
    """Raise if writing a file would replace one of another kind.

    Parameters
    ----------
    target : str or pathlib.Path
        Where something is to be written.
    by : str or pathlib.Path, optional
        What is to be moved there. Without it, before the work, a file of any kind of testsgd's
        passes, unless `kind` is given.
    kind : str, optional
        What :func:`kind_of_file` will say of the file that is to be written, known before it is.
    gone_on_with : bool, default=False
        Whether work goes on from what is there: then :func:`replacing_any_file` changes nothing.

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
    if (_replacing_any.get() and not gone_on_with) or target.stat().st_size == 0:
        return
    remedy = OTHER_FILE_REMEDY if gone_on_with else "choose another name, or give --force"
    present = kind_of_file(target)
    if present is None:
        what = "there is a file that testsgd does not know as its own"
        if target.suffix == ".toml":
            # Specifications are written to be edited, so they carry no mark.
            what = "there is such a file already, which may have been changed by hand"
        raise ConfigurationError(what, where=str(target), remedy=remedy)
    if by is None and kind is None:
        return
    new = kind if by is None else _kind_of_new(Path(by), target)
    if new != present and (new is not None or present in _GOING_ON):
        raise ConfigurationError(
            f"there is a file of another kind that testsgd wrote ({present})",
            where=str(target),
            remedy=remedy,
        )


def may_replace_any_file() -> bool:
    """Return whether this is within :func:`replacing_any_file`.

    Examples
    --------
    >>> from testsgd.io import may_replace_any_file, replacing_any_file
    >>> with replacing_any_file():
    ...     may_replace_any_file()
    True
    """
    return _replacing_any.get()


def begins_anew(target: str | Path) -> bool:
    """Return whether a file is to be replaced where one that testsgd wrote would be gone on with.

    It is so within :func:`replacing_any_file`, if the file is there and nothing says that testsgd
    wrote it. A file of testsgd's is never replaced so, be it damaged, of another run or of another
    kind: it may be all that is left.

    Parameters
    ----------
    target : str or pathlib.Path
        What work would go on from.

    Returns
    -------
    bool

    Raises
    ------
    ConfigurationError
        If the file is one that is kept by :func:`keeping_inputs`.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import begins_anew, replacing_any_file
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("a text")
    ...     file.flush()
    ...     with replacing_any_file():
    ...         begins_anew(file.name)
    True
    """
    target = Path(target)
    if not (_replacing_any.get() and target.is_file() and target.stat().st_size > 0):
        return False
    check_no_input(target)
    return is_of_others(target)


def is_of_others(path: Path) -> bool:
    """Return whether nothing says that testsgd wrote a file, not even that it once did.

    Parameters
    ----------
    path : pathlib.Path
        A file that exists.

    Returns
    -------
    bool

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import is_of_others
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write('{"format": "testsgd.shield-jou')
    ...     file.flush()
    ...     is_of_others(Path(file.name))
    False
    """
    kind = kind_of_file(path)
    # The first key of a document says nothing of its author.
    if kind is not None and not kind.startswith(_BY_FIRST_KEY):
        return False
    beginning, end = _ends(path)
    # Of a few bytes there is nothing to lose.
    if _FEW_BYTES <= len(beginning) < _SHORTEST and any(
        beginning.startswith(known) or known.startswith(beginning) for known in _BEGINNINGS
    ):
        return False
    # Without zeros, which texts have between their characters in other encodings.
    parts = [part.replace(b"\0", b"") for part in (beginning, end)]
    return not any(map(_SIGN.search, parts))


def goes_on_from(target: str | Path) -> bool:
    """Return whether work goes on from what is there: it is there, and is not to be replaced.

    Parameters
    ----------
    target : str or pathlib.Path
        What work would go on from.

    Raises
    ------
    ConfigurationError
        As by :func:`begins_anew`.

    Examples
    --------
    >>> from testsgd.io import goes_on_from
    >>> goes_on_from("there is no such file")
    False
    """
    return Path(target).exists() and not begins_anew(target)


def remove_file(target: str | Path, *, kind: str) -> bool:
    """Remove a file if it is of a kind of testsgd's; leave any other as it is.

    Parameters
    ----------
    target : str or pathlib.Path
    kind : str
        What :func:`kind_of_file` says of it.

    Returns
    -------
    bool
        Whether it was removed.

    Examples
    --------
    >>> import tempfile
    >>> from testsgd.io import remove_file
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"mine": 1}')
    ...     file.flush()
    ...     remove_file(file.name, kind="testsgd.journal")
    False
    """
    target = Path(target)
    is_own = target.is_file() and kind_of_file(target) == kind
    if is_own:
        target.unlink(missing_ok=True)
    return is_own


def _kind_of_new(new: Path, target: Path) -> str | None:
    """Return the kind of a file under a temporary name; None if it is known by its place only."""
    return None if _is_of_model(target) else kind_of_file(new)


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
                return CHECKPOINT if _CHECKPOINT_MARK.search(text) else None
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile):
        return None
    return None


def _beginning_of_member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return member.read(_LOOKED_AT)


def _kind_of_json(beginning: bytes, *, marked_only: bool) -> str | None:
    """Return the kind of a document by its mark, or else, if that may be, by its first entry."""
    if mark := _JSON_MARK.search(beginning[:4096]):
        # Of rows or of texts, both are for the same purpose.
        is_preprocessing = _PREPROCESSING_FORMAT.fullmatch(mark[1])
        return "model preprocessing.json" if is_preprocessing else mark[1].decode()
    if _THRESHOLDS.match(beginning):
        return "model thresholds.json"
    first = None if marked_only else _FIRST_KEY.match(beginning)
    return f"{_BY_FIRST_KEY}{first[1].decode(errors='replace')}" if first else None


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
        mark = _JSON_MARK.search(read_beginning(folder / _PREPROCESSING, 4096))
    except OSError:
        return False
    return mark is not None and _PREPROCESSING_FORMAT.fullmatch(mark[1]) is not None


def _is_of_model(path: Path) -> bool:
    """Return whether a file is a model's card, or one that the card of its folder is about.

    How rows become inputs, and thresholds, are not among them: they say themselves what they are.
    """
    if path.name == CARD:
        return _card_in(path.parent) is not None
    # Of a process that was killed while it moved a model and its card to their places. In folders
    # whose files are still being written, as those of the command itself, nothing is known yet.
    interrupted = path.parent.glob(f"{WHOLE}*{STAGING[1]}")
    if any(_is_named_by_card(path, folder) for folder in (path.parent, *interrupted)):
        return True
    # A training that was interrupted before it wrote the card.
    is_first = not (path.parent / CARD).exists()
    return is_first and path.name == _NETWORK and _is_preprocessed(path.parent)


def _card_in(folder: Path) -> dict[str, Any] | None:
    """Return a folder's model card; None if it has none that testsgd wrote."""
    try:
        card: Any = json.loads(read_bytes(folder / CARD, at_most=_LARGEST_CARD))
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(card, dict) and _CARD_VERSIONS.match(str(card.get("versions")))
    return card if is_own else None


def _is_named_by_card(path: Path, folder: Path) -> bool:
    """Return whether the card of a folder is about a file, by its contents."""
    card = _card_in(folder)
    if card is None:
        return False
    if path.name == card.get("model file", _NETWORK):
        # Cards of early versions have no digest.
        return "model sha256" not in card or card["model sha256"] == _sha256(path)
    if path.suffix != ".txt":
        return False
    beside = card.get("sha256 of files beside")
    known = beside.get(path.name) if isinstance(beside, dict) else None
    if known is None and path.name == _VOCABULARY:
        known = _vocabulary_digest(folder)
    return known is not None and known == _sha256(path)


def _vocabulary_digest(folder: Path) -> Any:
    """Return the digest of a text network's words, which its preprocessing has; None without."""
    if not _is_preprocessed(folder):
        return None
    try:
        document: Any = json.loads(read_bytes(folder / _PREPROCESSING))
    except (OSError, ValueError, RecursionError):
        return None
    return document.get("vocabulary_sha256") if isinstance(document, dict) else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
