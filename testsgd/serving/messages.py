"""Events for a shield as JSON objects, and its answers: the same on a line and over HTTP.

An event is a recommendation, ``{"group": "female", "recommendation": 1, "cost": 2.5, "id": "a7"}``,
or the true label of a decision, ``{"label": 1, "id": "a7"}``. The cost and the id may be left out.
Answers are events of what happened, too: a person's group and decision, or the label, by one id. So
whoever reads the answers alone can count the same as the shield.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from testsgd.data.json_objects import json_kind, json_object
from testsgd.errors import ParameterError
from testsgd.shielding import Shield

_DECISION_KEYS = ("group", "recommendation", "cost", "id")
_LABEL_KEYS = ("label", "id")
_ID_REMEDY = "give it in quotation marks, or leave it out"


def shield_state(shield: Shield) -> dict[str, Any]:
    """Describe what a shield keeps and where it stands; fractions are texts such as ``"1/10"``."""
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
    """Read a JSON object.

    Parameters
    ----------
    text : str or bytes
        A line, or the body of a request.

    Returns
    -------
    dict

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
    """Hand an event to a shield, whichever of the two kinds it is.

    Parameters
    ----------
    shield : Shield
        What decides; its state changes.
    event : mapping
        A recommendation, with the keys ``group`` and ``recommendation``, and perhaps ``cost`` and
        ``id``; or a label, with ``label`` and perhaps ``id``.

    Returns
    -------
    dict
        Of a recommendation its ``group``, the ``decision`` and whether it is ``changed``;
        ``counted`` is false if the group is unknown and was passed through. Of a label the
        ``label``, and the same as ``observed``. Of both the ``period``, the ``step`` within it and
        whether a label is ``pending``, all after the event, and the ``id`` if one came or if the
        decision that a label belongs to had one.

    Raises
    ------
    TestSGDError
        If the event is wrong, or the shield refuses it. Its state is then as it was.
    """
    return (label_answer if "label" in event else decision_answer)(shield, event)


def decision_answer(shield: Shield, event: Mapping[str, Any]) -> dict[str, Any]:
    """Let a shield decide about a recommendation."""
    _check_keys(event, _DECISION_KEYS, needed=("group", "recommendation"))
    group, recommendation = event["group"], event["recommendation"]
    cost, name = event.get("cost"), event.get("id")
    _check_text(group, "group", "give its name in quotation marks")
    _check_binary(recommendation, "recommendation")
    price = None if cost is None else _number(cost)
    if name is not None:
        _check_text(name, "id", _ID_REMEDY)
    decision = shield.decide(group, recommendation, price, event=name)
    return {
        "group": group,
        "decision": decision,
        "changed": decision != recommendation,
        "counted": group in shield.inputs.groups,
        **_standing(shield, name),
    }


def label_answer(shield: Shield, event: Mapping[str, Any]) -> dict[str, Any]:
    """Tell a shield the true label of a decision."""
    _check_keys(event, _LABEL_KEYS, needed=("label",))
    label, name = event["label"], event.get("id")
    _check_binary(label, "label")
    if name is not None:
        _check_text(name, "id", _ID_REMEDY)
    shield.observe(label, event=name)
    # A label without an id belongs to the last decision.
    name = shield.last_event if name is None else name
    return {"label": label, "observed": label, **_standing(shield, name)}


def _standing(shield: Shield, name: str | None) -> dict[str, Any]:
    """Return where a shield stands after an event, and the id if there is one."""
    standing = {"period": shield.period, "step": shield.step, "pending": shield.pending}
    return standing if name is None else {**standing, "id": name}


def refusal(error: Exception) -> dict[str, Any]:
    """Write an error as an answer: what it says, and which kind it is.

    Examples
    --------
    >>> refusal(ParameterError("the label is 2", where="label", remedy="give 0 or 1"))
    {'error': 'label: the label is 2; give 0 or 1', 'kind': 'ParameterError'}
    """
    return {"error": " ".join(str(error).split()), "kind": type(error).__name__}


def _check_keys(event: Mapping[str, Any], keys: Sequence[str], needed: Sequence[str]) -> None:
    lacking = [key for key in needed if key not in event]
    unknown = [key for key in event if key not in keys]
    for key in [*lacking, *unknown]:
        what = f"no {key!r}" if key in lacking else f"an unknown key {str(key)[:80]!r}"
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
