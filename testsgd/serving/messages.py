"""Events for a shield as JSON objects, and its answers: the same on a line and over HTTP.

An event is a recommendation, ``{"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"}``,
or the true label of a decision, ``{"label": 1, "id": "a7"}``. The cost and the id may be left out.
Where groups are by expressions, the fields that these are about may stand in place of the group,
``{"sex": "female", "age": 22, "recommendation": 1}``.
Where a person overruled the shield, ``{"decision": 0, "id": "a7"}`` says what was decided in the
end; a label and a decision can come together.
Answers are events of what happened, too: a person's group and decision, or the label, by one id. So
a reader of the answers alone, such as a monitor, can count the same as the shield.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from testsgd.data.json_objects import json_kind, json_object
from testsgd.errors import ParameterError
from testsgd.shielding import Shield

_DECISION_KEYS = ("group", "recommendation", "cost", "id")
_OUTCOME_KEYS = ("label", "decision", "id")
_ID_REMEDY = "give it in quotation marks, or leave it out"


def shield_state(shield: Shield) -> dict[str, Any]:
    """Return what a shield keeps, and its state; fractions are texts such as ``"1/10"``."""
    specification = shield.specification
    return {
        "name": specification.name,
        "groups": list(shield.inputs.groups),
        "property": specification.fairness_property.name,
        "bound": str(specification.bound),
        "shield": specification.horizon.shield,
        "horizon": specification.horizon.length,
        **shield.to_dict(),
    }


def parsed(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object that a text is.

    Parameters
    ----------
    text : str or bytes
        A line, or the body of a request.

    Returns
    -------
    dict
        Its keys are not checked; :func:`answer` does that.

    Raises
    ------
    ParameterError
        If it is no JSON object.

    Examples
    --------
    >>> parsed('{"label": 1}')
    {'label': 1}
    """
    return json_object(text, example='{"group": "female", "recommendation": 1}')


def answer(shield: Shield, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a shield to a recommendation, a label or a person's final decision.

    An event that is wrong or refused raises an error, and leaves the shield's state as it was.

    Parameters
    ----------
    shield : Shield
        What decides; its state changes.
    event : mapping
        A recommendation, with the keys ``group`` and ``recommendation``, and perhaps ``cost`` and
        ``id``; in place of ``group`` all fields that expressions of groups are about. Or what
        became of a decision, with ``label`` or ``decision`` or both, and perhaps ``id``.

    Returns
    -------
    dict
        Of a recommendation its ``group``, the ``decision`` and whether it is ``changed``;
        ``counted`` is false if the group is unknown and was passed through. Of a label the
        ``label``, and the same as ``observed``. Of a final decision it as ``final``, how many were
        ``overruled`` so far, and the ``guarantee`` that is left, of a periodic shield also the
        ``guarantee_over_periods``. Of all of them the ``period``, the ``step`` within it and
        whether a label is ``pending``, all after the event, and the ``id`` if one came or if the
        decision that it belongs to had one.

    Raises
    ------
    ParameterError
        If a key is missing or unknown, a value is wrong, or a final decision comes too late.
    UnknownGroupError
        If the group is unknown and the specification refuses unknown groups.
    LabelError
        If a label comes for no decision, or the label of the decision before is missing.
    HorizonEndedError
        If there are no more periods.
    GuaranteeBrokenError
        If a period has ended and its counters are not as the shield guarantees.
    JournalError
        If the journal cannot be written.

    Examples
    --------
    >>> import testsgd
    >>> shield = testsgd.synthesize_shield({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> reply = answer(shield, {"group": "female", "recommendation": 1, "id": "a7"})
    >>> reply["decision"], reply["changed"], reply["step"], reply["id"]
    (1, False, 1, 'a7')
    """
    if "label" in event or ("decision" in event and "recommendation" not in event):
        return outcome_answer(shield, event)
    return decision_answer(shield, event)


def decision_answer(shield: Shield, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a shield to a recommendation, see :func:`answer`."""
    fields = shield.specification.groups.fields
    if fields and "group" not in event:
        # Who the person is stands in place of the group.
        keys = (*fields, *_DECISION_KEYS[1:])
        _check_keys(event, keys, needed=(*fields, "recommendation"))
        group = shield.specification.group_of(event)
    else:
        _check_keys(event, _DECISION_KEYS, needed=("group", "recommendation"))
        group = event["group"]
    recommendation = event["recommendation"]
    cost = event.get("cost")
    event_id = event.get("id")
    _check_text(group, "group", "give its name in quotation marks")
    _check_binary(recommendation, "recommendation")
    cost = None if cost is None else _number(cost)
    if event_id is not None:
        _check_text(event_id, "id", _ID_REMEDY)
    decision = shield.decide(group, recommendation, cost, event=event_id)
    return {
        "group": group,
        "decision": decision,
        "changed": decision != recommendation,
        "counted": group in shield.inputs.groups,
        **_progress(shield, event_id),
    }


def outcome_answer(shield: Shield, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a shield to a label or a final decision, see :func:`answer`."""
    is_final = "decision" in event
    has_label = "label" in event
    _check_keys(event, _OUTCOME_KEYS, needed=() if is_final else ("label",))
    event_id = event.get("id")
    for key in ("label", "decision"):
        if key in event:
            _check_binary(event[key], key)
    if event_id is not None:
        _check_text(event_id, "id", _ID_REMEDY)
    shield.observe(event.get("label"), event=event_id, decision=event.get("decision"))
    # A label without an id belongs to the last decision.
    event_id = shield.last_event if event_id is None else event_id
    given: dict[str, Any] = {}
    if has_label:
        given |= {"label": event["label"], "observed": event["label"]}
    if is_final:
        given |= {
            "final": event["decision"],
            "overruled": shield.overruled,
            "guarantee": shield.guarantee,
        }
        if shield.guarantee_over_periods is not None:
            given["guarantee_over_periods"] = shield.guarantee_over_periods
    return given | _progress(shield, event_id)


def _progress(shield: Shield, event_id: str | None) -> dict[str, Any]:
    """Return the period and step of a shield after an event, and the id if there is one."""
    progress = {"period": shield.period, "step": shield.step, "pending": shield.pending}
    return progress if event_id is None else {**progress, "id": event_id}


def refusal(error: Exception) -> dict[str, Any]:
    """Return an error as an answer: its message, and its kind.

    Parameters
    ----------
    error : Exception
        What :func:`parsed` or :func:`answer` raised.

    Returns
    -------
    dict
        ``error`` is the message on one line, ``kind`` the name of the class.

    Examples
    --------
    >>> refusal(ParameterError("the label is 2", where="label", remedy="give 0 or 1"))
    {'error': 'label: the label is 2; give 0 or 1', 'kind': 'ParameterError'}
    """
    return {"error": " ".join(str(error).split()), "kind": type(error).__name__}


def _check_keys(event: Mapping[str, Any], keys: Sequence[str], needed: Sequence[str]) -> None:
    """Raise a ParameterError if an event lacks a needed key, or has an unknown one."""
    missing = [key for key in needed if key not in event]
    unknown = [key for key in event if key not in keys]
    for key in [*missing, *unknown]:
        what = f"no {key!r}" if key in missing else f"an unknown key {str(key)[:80]!r}"
        remedy = f"an event of this kind has the keys {', '.join(keys)}"
        raise ParameterError(f"the event has {what}", remedy=remedy, key=key)


def _check_binary(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
        raise ParameterError(
            f"the {name} is {json.dumps(value)[:80]}", where=name, remedy="give 0 or 1"
        )


def _number(cost: object) -> float:
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        remedy = "give what changing this recommendation costs, or leave it out"
        raise _wrong_kind("cost", cost, "number", remedy)
    try:
        return float(cost)
    except OverflowError as error:
        raise ParameterError(
            "the cost is too large a number", where="cost", remedy="give a smaller one"
        ) from error


def _check_text(value: object, key: str, remedy: str) -> None:
    if not isinstance(value, str):
        raise _wrong_kind(key, value, "text", remedy)


def _wrong_kind(key: str, value: object, wanted: str, remedy: str) -> ParameterError:
    what = f"the {key} is a JSON {json_kind(value)}, not a {wanted}"
    return ParameterError(what, where=key, remedy=remedy)
