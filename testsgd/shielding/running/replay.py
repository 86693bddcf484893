"""Taking up a journal: the state that its decisions and labels make.

What the journal says was decided is decided again and compared. Of a shield that is synthesised
anew for each period, only the last period of the journal is; what was decided in the ones before
it is taken as it stands.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testsgd.errors import JournalError, TestSGDError
from testsgd.shielding.running.journal import Journal

if TYPE_CHECKING:
    from testsgd.shielding.running.shield import Shield


def resume(shield: Shield, path: Path, *, fsync: bool) -> Journal:
    """Bring a new shield to where a journal ends, and give the journal to write on.

    Parameters
    ----------
    shield : Shield
        Which has decided nothing, and does not write to a journal yet.
    path : pathlib.Path
    fsync : bool

    Returns
    -------
    Journal

    Raises
    ------
    JournalError
        If the journal cannot be used, a line of it is damaged, or has another decision than the
        shield's.
    """
    digest = shield.specification.digest(shield.inputs)
    journal = Journal(path, digest=digest, fsync=fsync)
    try:
        _replay(shield, journal)
    except BaseException:
        journal.close()
        raise
    return journal


def _replay(shield: Shield, journal: Journal) -> None:
    last_period = 0
    if shield._policy.anew:
        for number, record in journal.records():
            if "period" in record:
                last_period = number
    for number, record in journal.records():
        try:
            if "period" in record:
                _begin_period(shield, record, is_last=number == last_period)
            elif "decision" in record:
                _decide(shield, record, trusted=number < last_period)
            else:
                shield.observe(record["label"], event=record.get("id"))
        except JournalError:
            raise
        except KeyError as error:
            raise journal.damaged(number, f"has no {error}") from error
        except TestSGDError as error:
            raise journal.damaged(number, f"does not fit the shield ({error.what})") from error
        except (TypeError, ValueError) as error:
            raise journal.damaged(number, f"does not fit the shield ({error})") from error


def _decide(shield: Shield, record: dict[str, Any], *, trusted: bool) -> None:
    group, recommendation = record["group"], record["recommendation"]
    event, decision = record.get("id"), record["decision"]
    if trusted and group in shield._places:
        if recommendation not in (0, 1) or decision not in (0, 1):
            raise ValueError("a decision is 0 or 1")
        price = shield._costs[0] if record["cost"] is None else float(record["cost"])
        shield._state.count(shield._places[group], recommendation, decision, price, event)
        if shield.step == shield._horizon:
            shield._close_period()
        return
    made = shield.decide(group, recommendation, record["cost"], event=event)
    if made != decision:
        raise ValueError(f"it has the decision {decision}, and the shield decides {made}")


def _begin_period(shield: Shield, record: dict[str, Any], *, is_last: bool) -> None:
    threshold = _promised(shield, record)
    due = shield.step == shield._horizon and shield._policy.anew
    if not due or record["period"] != shield.period + 1:
        raise ValueError("a period begins where none can")
    if is_last:
        shield._policy.begin(shield._state)
    else:
        shield._policy.pretend(shield._state, threshold)
    if shield._policy.active != (threshold is not None):
        raise ValueError("a shield for the period exists now, or then, but not both times")
    if shield._policy.threshold != threshold:
        raise ValueError(
            f"it promises a bias of {threshold}, and the shield {shield._policy.threshold}"
        )
    shield._state.next_period()


def _promised(shield: Shield, record: dict[str, Any]) -> Fraction | None:
    """Read the bound that was promised for a period, None if none was."""
    told = record.get("threshold")
    if not record["active"]:
        return None
    if told is None:
        return shield.specification.threshold
    if not shield.specification.horizon.closest:
        raise ValueError("another threshold than the specification's is promised")
    return Fraction(told)
