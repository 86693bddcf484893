"""The state of every sequence of an enforcer, as JSON and as a live page."""

from __future__ import annotations

import hashlib
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from testsgd.generative import Enforcer
from testsgd.generative.enforcer import SequenceStatus
from testsgd.generative.sequence_state import AWAITED

_TEMPLATES = Path(__file__).parent / "templates"
_HASH = 16


def short_hash(text: str) -> str:
    """Return a name for a text that does not show it: 16 digits of its sha256.

    Examples
    --------
    >>> short_hash("Bearer secret")
    'bffde20413347b7a'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_HASH]


def state_document(enforcer: Enforcer) -> dict[str, Any]:
    """Return the state of every sequence; tenants are shown by a hash of their name.

    Raises
    ------
    StateError
        If the state cannot be read.

    Examples
    --------
    >>> enforcer = Enforcer({"groupings": {"sex": {"values": ["f", "m"]}},
    ...                      "requirements": [{"grouping": "sex", "beta": 4}]})
    >>> _ = enforcer.begin("A person")
    >>> state_document(enforcer)["sequences"][0]["deadlines_left"]
    {'f': 4, 'm': 4}
    """
    return {
        "name": enforcer.specification.name,
        "sequences": [_sequence(status) for status in enforcer.status()],
    }


def _sequence(status: SequenceStatus) -> dict[str, Any]:
    state = status.state
    values = status.requirement.values
    return {
        "tenant": short_hash(status.tenant) if status.tenant else "",
        "requirement": status.requirement.name,
        "grouping": status.requirement.grouping,
        "condition": dict(status.requirement.condition),
        "values": list(values),
        "betas": _by_value(values, state.betas),
        "deadlines_left": _by_value(values, state.counters),
        "counts": _by_value(values, state.counts),
        "asked": _by_value(values, state.asked),
        "obeyed": _by_value(values, state.obeyed),
        "misses": _by_value(values, state.misses),
        "unrelated": state.unrelated,
        "retries": state.retries,
        "returned": state.returned,
        "expired": state.expired,
        "open": sum(slot.label == AWAITED for slot in state.slots),
        "recent": list(state.recent),
    }


def _by_value(values: tuple[str, ...], numbers: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(values, numbers, strict=True))


def live_page(document: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the page of a state and its headers; it loads nothing but this server's events."""
    nonce = secrets.token_urlsafe(16)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }
    return _template().render(state=document, nonce=nonce), headers


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("generative.html.j2")
