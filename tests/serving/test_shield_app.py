"""The HTTP application: addresses, statuses, and a horizon that goes on."""

from __future__ import annotations

import asyncio
import threading

import pytest
import small_shields
from small_shields import asked

from testsgd.errors import ParameterError, TestSGDError
from testsgd.serving import answer, refusal, shield_app
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


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_is_not_said_to_be_json_counts_nothing(kind: str) -> None:
    shield = small_shields.shield()
    app = shield_app(shield)
    assert asked(app, "POST", "/decide", PERSON, content_type=kind)[0] == 415
    assert asked(app, "POST", "/batch", {"events": [PERSON]}, content_type=kind)[0] == 415
    assert shield.step == 0
    charset = "application/json; charset=utf-8"
    assert asked(app, "POST", "/decide", PERSON, content_type=charset)[0] == 200


def test_a_batch_is_its_events_one_after_the_other() -> None:
    alone, together = small_shields.shield(after="next"), small_shields.shield(after="next")
    events = [{"group": "ab"[number % 2], "recommendation": number % 3 % 2} for number in range(25)]
    events.insert(3, {"group": "nobody", "recommendation": 1})
    events.insert(5, {"label": 1})
    singly = []
    for event in events:
        try:
            singly.append(answer(alone, event))
        except TestSGDError as error:
            singly.append(refusal(error))
    status, found = asked(shield_app(together), "POST", "/batch", {"events": events})
    assert status == 200
    statuses = [one.pop("status", 200) for one in found["answers"]]
    assert found["answers"] == singly
    assert [statuses[3], statuses[5]] == [422, 409]
    assert alone.to_dict() == together.to_dict()
    for wrong in ({}, {"events": {}}, {"events": [1]}):
        assert asked(shield_app(together), "POST", "/batch", wrong)[0] == 400


@pytest.mark.parametrize("wrong", [7, "x" * 500, [PERSON], None])
def test_a_batch_says_which_of_its_events_is_none(wrong: object) -> None:
    shield = small_shields.shield()
    body = {"events": [PERSON, PERSON, wrong, 8]}
    status, found = asked(shield_app(shield), "POST", "/batch", body)
    assert (status, shield.step) == (400, 0)
    assert "event 3 of 4" in found["error"]
    assert len(found["error"]) < 300


def test_several_shields_by_name() -> None:
    shields = {"loans": small_shields.shield(), "jobs": small_shields.shield()}
    app = shield_app(shields)
    assert asked(app, "POST", "/shields/loans/decide", PERSON)[0] == 200
    assert (shields["loans"].step, shields["jobs"].step) == (1, 0)
    assert asked(app, "GET", "/shields/jobs/state")[1]["step"] == 0
    assert asked(app, "POST", "/decide", PERSON)[0] == 404
    for name in ("", "a/b", "a b"):
        with pytest.raises(ParameterError):
            shield_app({name: shields["jobs"]})


def test_ready_as_long_as_decisions_can_be_asked_for() -> None:
    app = shield_app(small_shields.shield())
    for _ in range(10):
        assert asked(app, "GET", "/readyz")[0] == 200
        asked(app, "POST", "/decide", PERSON)
    assert asked(app, "GET", "/readyz")[0] == 503
    assert asked(app, "GET", "/healthz")[0] == 200


def test_every_address_is_described() -> None:
    app = shield_app(small_shields.shield())
    described = asked(app, "GET", "/openapi.json")[1]["paths"]
    assert {route.path for route in app.routes} == set(described)
    for route in app.routes:
        assert {method.lower() for method in route.methods} - {"head"} == set(described[route.path])


def test_others_are_answered_while_a_period_is_synthesised() -> None:
    shield = small_shields.shield(after="next")
    began, goes_on = threading.Event(), threading.Event()

    def slowly() -> None:
        began.set()
        assert goes_on.wait(60)
        type(shield).prepare(shield)

    shield.prepare = slowly  # type: ignore[method-assign]
    app = shield_app(shield)

    async def run() -> list[tuple[int, dict[str, object]]]:
        first = [
            asyncio.create_task(small_shields.asked_in_loop(app, "POST", "/decide", PERSON))
            for _ in range(11)
        ]
        await asyncio.to_thread(began.wait)
        # The eleventh waits for the next period; the server answers.
        waiting = await small_shields.asked_in_loop(app, "GET", "/readyz")
        healthy = await small_shields.asked_in_loop(app, "GET", "/healthz")
        assert (waiting[0], healthy[0]) == (503, 200)
        goes_on.set()
        return list(await asyncio.gather(*first))

    answers = asyncio.run(run())
    assert sorted((found["period"], found["step"]) for _, found in answers) == [
        *((0, step) for step in range(1, 11)),
        (1, 1),
    ]


def test_too_many_requests_that_wait_are_refused() -> None:
    shield = small_shields.shield(after="next")
    began, goes_on = threading.Event(), threading.Event()

    def slowly() -> None:
        began.set()
        assert goes_on.wait(60)
        type(shield).prepare(shield)

    shield.prepare = slowly  # type: ignore[method-assign]
    app = shield_app({"slow": shield, "other": small_shields.shield()}, most_waiting=4)
    ask = small_shields.asked_in_loop

    async def run() -> list[tuple[int, dict[str, object]]]:
        for _ in range(9):
            await ask(app, "POST", "/shields/slow/decide", PERSON)
        # The tenth ends the period, and the others wait for the next one.
        last = [
            asyncio.create_task(ask(app, "POST", "/shields/slow/decide", PERSON)) for _ in range(3)
        ]
        await asyncio.to_thread(began.wait)
        await asyncio.sleep(0)
        for method, path in (("POST", "decide"), ("GET", "state")):
            assert (await ask(app, method, f"/shields/slow/{path}", PERSON))[0] == 503
        assert (await ask(app, "POST", "/shields/other/decide", PERSON))[0] == 200
        goes_on.set()
        return list(await asyncio.gather(*last))

    assert [status for status, _ in asyncio.run(run())] == [200, 200, 200]


def test_a_long_batch_does_not_keep_others_waiting() -> None:
    app = shield_app(small_shields.shield())
    batch = {"events": [PERSON] * 1_000}

    async def run() -> None:
        long = asyncio.create_task(small_shields.asked_in_loop(app, "POST", "/batch", batch))
        await asyncio.sleep(0)
        assert (await small_shields.asked_in_loop(app, "GET", "/healthz"))[0] == 200
        assert not long.done()
        status, found = await long
        assert (status, len(found["answers"])) == (200, 1_000)

    asyncio.run(run())
