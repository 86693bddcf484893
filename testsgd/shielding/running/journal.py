"""A file that has every decision of a shield, so that a restart goes on where it stopped.

Lines of JSON are only added, each in one piece before its decision is handed out: a process that is
killed has lost no decision that was handed out, and a line that was cut short is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from testsgd.errors import GuaranteeBrokenError, JournalError, TestSGDError
from testsgd.io import (
    OTHER_FILE_REMEDY,
    SHIELD_JOURNAL,
    FileInUseError,
    LineFile,
    TooLargeError,
    begins_anew,
    loads_json,
    read_beginning,
    read_lines,
)
from testsgd.shielding.running.periods import PeriodPolicy
from testsgd.shielding.running.state import ShieldState

FORMAT = SHIELD_JOURNAL
VERSION = 1
# A first line that is longer is none of a journal.
_LONGEST_HEADER = 1 << 12

_text = json.encoder.encode_basestring_ascii


def decision_line(
    group: str, recommendation: int, cost: float | None, decision: int, event: str | None
) -> bytes:
    """Return a decision as a line of a journal."""
    # Put together by hand, because the encoder of JSON takes longer than the decision.
    price = "null" if cost is None else repr(cost)
    last = "" if event is None else f',"id":{_text(event)}'
    return (
        f'{{"group":{_text(group)},"recommendation":{recommendation},"cost":{price},'
        f'"decision":{decision}{last}}}\n'
    ).encode("ascii")


def label_line(label: int, event: str | None) -> bytes:
    """Return a true label as a line of a journal."""
    last = "" if event is None else f',"id":{_text(event)}'
    return f'{{"label":{label}{last}}}\n'.encode("ascii")


def final_line(final: int, lost_since: int | None, event: str | None) -> bytes:
    """Return what a person decided in place of the shield, and what it means for the promise."""
    last = "" if event is None else f',"id":{_text(event)}'
    since = "null" if lost_since is None else lost_since
    return f'{{"final":{final},"lost_since":{since}{last}}}\n'.encode("ascii")


def period_line(period: int, active: bool, bound: Fraction | None = None) -> bytes:
    """Return the start of a period as a line, with its bound if that is not the specification's."""
    last = "" if bound is None else f',"bound":"{bound}"'
    active_text = "true" if active else "false"
    return f'{{"period":{period},"active":{active_text}{last}}}\n'.encode("ascii")


class Journal:
    """An open journal, which no other process can open meanwhile; made if it is not there.

    A journal of another shield, which has another `digest`, is refused; so is a file that is no
    journal, but within :func:`testsgd.io.replacing_any_file` it is replaced. A journal that was
    made and whose first line cannot be written, as on a full disk, is gone again. With `fsync` each
    line is on the disc before the call returns; without it a machine that loses power can lose the
    last lines.
    """

    __slots__ = ("_beginning", "_file", "path")

    def __init__(self, path: Path, *, digest: str, fsync: bool = False) -> None:
        self.path = Path(path)
        self._beginning = 0
        try:
            self._file = LineFile(self.path, fsync=fsync)
        except FileInUseError as error:
            what = "another shield writes to this journal"
            raise self._error(what, "close that one, or give each its own") from error
        except OSError as error:
            what = f"the journal cannot be opened ({error.strerror})"
            raise self._error(what, "choose another file") from error
        try:
            self._begin(digest)
        except OSError as error:
            self._file.take_back()
            what = f"the journal cannot be used ({error.strerror})"
            raise self._error(what, "choose another file") from error
        except BaseException:
            self._file.take_back()
            raise

    def _begin(self, digest: str) -> None:
        """Check that the file is a journal of this shield, and begin it if it has no first line."""
        header = {"format": FORMAT, "version": VERSION, "digest": digest}
        first_line = json.dumps(header).encode("ascii") + b"\n"
        # A file that is no journal stays as it is: its beginning is checked first.
        if begins_anew(self.path):
            self._file.begin_anew()
        elif self._file.size > 0:
            self._check_header(digest)
        else:
            self._check_cut_header(first_line)
        if self._file.size == 0:
            self._file.drop_cut_line()
            self.write(first_line)
        self._beginning = len(first_line)

    def write(self, line: bytes) -> None:
        """Add a line, which ends in a line break; if that fails, the file is as before."""
        if not self._file.is_open:
            raise self._error("the journal is closed", "open it again, which repairs its end")
        try:
            self._file.add(line)
        except OSError as error:
            what = f"the journal cannot be written ({error.strerror}), so nothing was decided"
            raise self._error(what, "make room and ask again") from error

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the records behind the first line, each with the number of its line.

        A last line that was cut short is left out.
        """
        lines = enumerate(read_lines(self.path), start=1)
        try:
            for number, line in lines:
                if number > 1 and line.endswith(b"\n"):
                    yield number, self._parsed(line, number)
        except TooLargeError as error:
            raise self._error(str(error.strerror), "choose another file") from error

    def repair_end(self) -> None:
        """Remove a last line that was cut short, as by a process that was killed.

        It must be done before a line is written, and not before all others are known to be sound:
        a journal that is refused stays as it is.
        """
        self._file.drop_cut_line()

    def close(self) -> None:
        """Close the file; it can then be opened elsewhere."""
        self._file.close()

    def take_back(self) -> None:
        """Close the file; it is gone again if it was made here, and nothing was decided."""
        self._file.take_back(beginning=self._beginning)

    def _check_header(self, digest: str) -> None:
        first = read_beginning(self.path, _LONGEST_HEADER).partition(b"\n")[0]
        try:
            header = self._parsed(first, 1)
        except JournalError:
            header = {}
        version = header.get("version")
        written_digest = header.get("digest")
        if header.get("format") != FORMAT:
            raise self._error("this is no journal of a shield", OTHER_FILE_REMEDY)
        if version != VERSION:
            what = f"the journal has version {version!r}, not {VERSION}"
            remedy = "use the testsgd that wrote it, or start a new journal"
            raise self._error(what, remedy, version=version)
        if written_digest != digest:
            what = "the journal is of a shield with another specification"
            remedy = "use the shield it was begun with, or start a new journal"
            raise self._error(what, remedy, digest=written_digest, expected=digest)

    def _check_cut_header(self, first_line: bytes) -> None:
        """Refuse a file without a whole line, unless it is the beginning of this first line."""
        beginning = read_beginning(self.path, len(first_line))
        if not first_line.startswith(beginning):
            raise self._error("this is no journal of a shield", OTHER_FILE_REMEDY)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            # Its bytes are ASCII, as it was written, and no other encoding that JSON allows.
            record = loads_json(line.decode("ascii"))
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise self.damaged(number, "is no JSON object")
        return record

    def damaged(self, number: int, what: str) -> JournalError:
        """Return the error for a damaged line."""
        remedy = "take the journal from a backup, or start a new one"
        where = f"{self.path}, line {number}"
        return JournalError(f"the line {what}", where=where, remedy=remedy, line=number)

    def _error(self, what: str, remedy: str, **details: Any) -> JournalError:
        return JournalError(what, where=str(self.path), remedy=remedy, **details)


def replay(
    journal: Journal,
    state: ShieldState,
    policy: PeriodPolicy,
    decide: Callable[..., int],
    observe: Callable[..., None],
    overrule: Callable[[int, str | None, int | None], None],
    close_period: Callable[[], None],
) -> None:
    """Bring the state of a new shield to where its journal ends.

    The functions of the shield, which does not write yet, decide again, and their decisions are
    compared with those of the journal. If each period has a policy of its own, this is done for the
    last period only; the decisions of the earlier ones are counted without being decided again.
    """
    last_period = 0  # The number of the line that begins the last period.
    if policy.is_solved_each_period:
        begun = (number for number, record in journal.records() if "period" in record)
        last_period = max(begun, default=0)
    groups = policy.inputs.groups
    default_cost = policy.inputs.costs[0]
    for number, record in journal.records():
        try:
            if "period" in record:
                _begin_period(state, policy, record, is_last=number == last_period)
            elif "final" in record:
                overrule(*_final(record))
            elif "decision" not in record:
                observe(record["label"], event=record.get("id"))
            elif number < last_period and record["group"] in groups:
                _count_unchecked(state, groups.index(record["group"]), default_cost, record)
                if state.step == policy.horizon:
                    close_period()
            else:
                group, recommendation = record["group"], record["recommendation"]
                cost, written = record["cost"], record["decision"]
                decision = decide(group, recommendation, cost, event=record.get("id"))
                if decision != written:
                    what = f"it has the decision {written}, and the shield decides {decision}"
                    raise ValueError(what)
        except (JournalError, GuaranteeBrokenError):
            raise
        except KeyError as error:
            raise journal.damaged(number, f"has no {error}") from error
        except TestSGDError as error:
            raise journal.damaged(number, f"does not fit the shield ({error.what})") from error
        except (TypeError, ValueError) as error:
            raise journal.damaged(number, f"does not fit the shield ({error})") from error


def _final(record: dict[str, Any]) -> tuple[int, str | None, int | None]:
    """Return the decision, the event and what it did to the promise, of a line about a person's."""
    final, lost_since = record["final"], record["lost_since"]
    if final not in (0, 1):
        raise ValueError("a decision is 0 or 1")
    if lost_since is not None and (not isinstance(lost_since, int) or lost_since < 1):
        raise ValueError("lost_since is null or the number of a decision")
    return int(final), record.get("id"), lost_since


def _count_unchecked(
    state: ShieldState, group: int, default_cost: float, record: dict[str, Any]
) -> None:
    """Count a written decision without deciding again; `default_cost` is for one without a cost."""
    recommendation = record["recommendation"]
    decision = record["decision"]
    if recommendation not in (0, 1) or decision not in (0, 1):
        raise ValueError("a decision is 0 or 1")
    cost = float(default_cost if record["cost"] is None else record["cost"])
    state.count(group, recommendation, decision, cost, record.get("id"))


def _begin_period(
    state: ShieldState, policy: PeriodPolicy, record: dict[str, Any], *, is_last: bool
) -> None:
    """Start the period that a record begins; a ValueError if the shield promises another bound."""
    bound = policy.specification.bound if record["active"] else None
    written_bound = record.get("bound")
    if bound is not None and written_bound is not None:
        if not policy.specification.horizon.closest:
            raise ValueError("another bound than the specification's is promised")
        bound = Fraction(written_bound)
    is_due = state.step == policy.horizon and policy.is_solved_each_period
    if not is_due or record["period"] != state.period + 1:
        raise ValueError("a period begins where none can")
    if is_last:
        policy.begin(state)
    else:
        policy.begin_unsolved(state, bound)
    if policy.active != (bound is not None):
        raise ValueError("a shield for the period exists now, or then, but not both times")
    if policy.bound != bound:
        raise ValueError(f"it promises a bias of {bound}, and the shield {policy.bound}")
    state.next_period()
