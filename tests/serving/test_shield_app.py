"""The HTTP application: addresses, statuses, and a horizon that goes on."""

from __future__ import annotations

import pytest
import small_shields
from small_shields import asked

from testsgd.serving import shield_app
from testsgd.serving.app import MOST_BYTES

pytest.importorskip("starlette")
pytestmark = pytest.mark.serve

PERSON = {"group": "a", "recommendation": 1}


def test_it_decides_and_says_where_it_stands() -> None:
    app = shield_app(small_shields.shield())
    assert asked(app, "GET", "/healthz") == (200, {"status": "ok"})
    status, found = asked(app, "POST", "/decide", PERSON)
    assert (status, found["decision"], found["step"]) == (200, 1, 1)
    status, state = asked(app, "GET", "/state")
    assert (status, state["step"], state["bound"], state["horizon"]) == (200, 1, "1/4", 10)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    [
        ("POST", "/decide", b"nope", 400, "ParameterError"),
        ("POST", "/decide", {"group": "a"}, 400, "ParameterError"),
        ("POST", "/decide", {"label": 1}, 400, "ParameterError"),
        ("POST", "/decide", {"group": "c", "recommendation": 1}, 422, "UnknownGroupError"),
        ("POST", "/observe", {"label": 1}, 409, "LabelError"),
        ("POST", "/observe", PERSON, 400, "ParameterError"),
        ("POST", "/decide", b" " * (MOST_BYTES + 1), 413, "ParameterError"),
        ("GET", "/decide", b"", 405, "HTTPException"),
        ("GET", "/elsewhere", b"", 404, "HTTPException"),
    ],
)
def test_a_wrong_request_is_refused_with_a_reason(
    method: str, path: str, body: bytes | dict[str, object], status: int, kind: str
) -> None:
    shield = small_shields.shield()
    found, answer = asked(shield_app(shield), method, path, body)
    assert (found, answer["kind"], shield.step) == (status, kind, 0)
    assert answer["error"]


def test_after_the_horizon_it_stops_or_goes_on() -> None:
    stops, goes_on = (shield_app(small_shields.shield(after=after)) for after in ("stop", "next"))
    for app in (stops, goes_on):
        for _ in range(10):
            assert asked(app, "POST", "/decide", PERSON)[0] == 200
    assert asked(stops, "POST", "/decide", PERSON)[1]["kind"] == "HorizonEndedError"
    assert asked(stops, "POST", "/decide", PERSON)[0] == 409
    status, found = asked(goes_on, "POST", "/decide", PERSON)
    assert (status, found["period"], found["step"]) == (200, 1, 1)


def test_labels_over_http() -> None:
    app = shield_app(small_shields.shield(property="equal_opportunity"))
    assert asked(app, "POST", "/decide", PERSON)[1]["pending"] is True
    assert asked(app, "POST", "/decide", PERSON)[0] == 409
    assert asked(app, "POST", "/observe", {"label": 0})[1]["pending"] is False
