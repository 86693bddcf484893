"""The command that serves, in a process of its own, and its page in a browser."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import impatient_program
import pytest

pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
from fake_model import FakeModel, running, standing_before

from testsgd.generative import Enforcer
from testsgd.serving.generative_server import generative_app
from testsgd.serving.guard import BODY_SECONDS, OPEN_PATHS

pytestmark = pytest.mark.serve

CHROMIUM = shutil.which("chromium")
PROGRAM = ("-m", "testsgd")
SPECIFICATION = """
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
"""


def command(folder: Path, *further: str, program: Sequence[str] = PROGRAM) -> list[str]:
    path = folder / "fair.toml"
    path.write_text(SPECIFICATION)
    return [sys.executable, *program, "generative", "serve", "--spec", str(path), *further]


@contextmanager
def served(
    folder: Path, upstream: str, *options: str, program: Sequence[str] = PROGRAM
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    state = str(folder / "fair.sqlite")
    given = ["--upstream", f"{upstream}/v1", "--state", state, "--port", "0", *options]
    with subprocess.Popen(
        command(folder, *given, program=program),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().rpartition("//")[2].strip(), process
        finally:
            process.kill()


def written(address: str) -> str:
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("POST", "/v1/completions", json.dumps({"prompt": "A nurse"}))
    answer = json.loads(connection.getresponse().read())
    connection.close()
    text: str = answer["choices"][0]["text"]
    return text


@pytest.mark.slow
def test_a_killed_server_goes_on_where_it_was(tmp_path: Path) -> None:
    with running(FakeModel().app) as upstream:
        with served(tmp_path, upstream) as (address, process):
            assert [written(address), written(address)] == ["she slept."] * 2
            process.kill()
            process.wait()
        with served(tmp_path, upstream) as (address, process):
            assert written(address) == "he slept."
            viewer = http.client.HTTPConnection(address, timeout=60)
            viewer.request("GET", "/events")
            assert viewer.getresponse().status == 200
            process.terminate()
            assert process.wait(timeout=20) in (0, -15)
            assert process.stderr is not None
            assert process.stderr.read() == ""
            viewer.close()


@pytest.mark.parametrize(
    "options",
    [
        ["--upstream", "nowhere"],
        ["--upstream", "http://127.0.0.1:1/v1", "--host", "192.0.2.1"],
        ["--upstream", "http://127.0.0.1:1/v1", "--state", __file__],
        ["--upstream", "http://127.0.0.1:1/v1", "--token-file", "absent"],
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, options: list[str]) -> None:
    finished = subprocess.run(
        command(tmp_path, *options), capture_output=True, text=True, check=False, timeout=60
    )
    assert (finished.returncode, finished.stdout, finished.stderr.count("\n")) == (2, "", 1)


def test_a_state_of_other_values_is_not_served(tmp_path: Path) -> None:
    state = tmp_path / "fair.sqlite"
    begun = Enforcer(tomllib.loads(SPECIFICATION), state=state)
    begun.finish(begun.begin("A nurse"), "she slept.")
    begun.close()
    swapped = SPECIFICATION.replace('"female", "male"', '"male", "female"')
    given = ["--upstream", "http://127.0.0.1:1/v1", "--state", str(state), "--port", "0"]
    arguments = command(tmp_path, *given)
    (tmp_path / "fair.toml").write_text(swapped)
    finished = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode, finished.stdout, finished.stderr.count("\n")) == (2, "", 1)
    assert "female" in finished.stderr


def test_who_may_ask(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-long-secret\n")
    model = FakeModel()
    options = ("--token-file", str(token), "--allow-host", "enforcer.example")
    right = {"X-Testsgd-Token": "a-long-secret"}
    key = {"Authorization": "Bearer sk-of-the-model"}
    prompt = json.dumps({"prompt": "A nurse"})
    with running(model.app) as upstream, served(tmp_path, upstream, *options) as (address, _):
        connection = http.client.HTTPConnection(address, timeout=60)

        def answer(path: str, headers: dict[str, str], body: str | bytes | None = None) -> int:
            connection.request("GET" if body is None else "POST", path, body, headers)
            response = connection.getresponse()
            content = response.read()
            if response.status == 401:
                assert response.headers["www-authenticate"] == "X-Testsgd-Token"
                assert json.loads(content)["error"]
                assert content.count(b"\n") == 1
            return response.status

        for path in ("/healthz", "/readyz"):
            assert answer(path, {}) == 200
        wrong = {"X-Testsgd-Token": "another"}
        bearer = {"Authorization": "Bearer a-long-secret"}
        for path in ("/state", "/metrics", "/events", "/", "/openapi.json", "/v1/models", "/none"):
            for headers in ({}, key, wrong, bearer):
                assert answer(path, headers) == 401
        for headers in ({}, key, wrong, bearer):
            assert answer("/v1/completions", headers, prompt) == 401
        # A refusal is read by a client that sends a long body first.
        assert answer("/v1/completions", key, b" " * 10_000_000) == 401
        assert model.requests == []
        for path in ("/state", "/metrics", "/", "/openapi.json", "/v1/models"):
            assert answer(path, right) == 200
        connection.request("GET", "/openapi.json", headers=right)
        described = json.loads(connection.getresponse().read())
        assert described["components"]["securitySchemes"]["token"]["name"] in right
        for path, operations in described["paths"].items():
            for operation in operations.values():
                is_open = path in OPEN_PATHS
                assert ("401" in operation["responses"]) != is_open
                assert (operation.get("security") == []) == is_open
        assert answer("/state", {**right, "Host": "evil.example"}) == 421
        assert answer("/state", {**right, "Host": "enforcer.example"}) == 200
        foreign = {"Origin": "http://evil.example"}
        assert answer("/v1/completions", {**right, **foreign}, prompt) == 403
        assert answer("/v1/completions", {**right, **key}, prompt) == 200
        assert answer("/v1/completions", {**right, **key, **wrong}, prompt) == 401
        connection.close()
    # The model gets its own key, and not the token.
    (sent,) = model.headers
    assert sent["authorization"] == key["Authorization"]
    assert "a-long-secret" not in str(sent)


def test_a_body_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    model = FakeModel()
    with (
        running(model.app) as upstream,
        served(tmp_path, upstream, "--max-body", "100") as (address, process),
    ):
        host, port = address.split(":")
        for length in (b"Content-Length: 99999999999", b"Transfer-Encoding: chunked"):
            head = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n"
            with socket.create_connection((host, int(port)), timeout=60) as asking:
                started = time.monotonic()
                asking.sendall(head + b"80\r\n" + b"a" * 128)
                assert asking.recv(100).startswith(b"HTTP/1.1 413")
                assert time.monotonic() - started < BODY_SECONDS / 2
            assert model.requests == []
        assert written(address) == "she slept."
        process.terminate()
        assert "Traceback" not in process.communicate()[1]


@pytest.mark.slow
def test_slow_heads_and_bodies_are_given_up(tmp_path: Path) -> None:
    head = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
    model = FakeModel()
    impatient = (impatient_program.__file__,)
    with (
        running(model.app) as upstream,
        served(tmp_path, upstream, program=impatient) as (address, process),
    ):
        host, port = address.split(":")
        with ExitStack() as stack:
            slow = []
            for begun in (b"", head, head + b"Content-Length: 100\r\n\r\n{"):
                one = socket.create_connection((host, int(port)), timeout=3 * BODY_SECONDS)
                slow.append(stack.enter_context(one))
                one.sendall(begun)
            assert written(address) == "she slept."
            assert slow[0].recv(100) == b""
            assert slow[1].recv(100) == b""
            answer = slow[2].recv(1000)
        assert answer.startswith(b"HTTP/1.1 408")
        assert len(model.requests) == 1
        process.terminate()
        assert "Traceback" not in process.communicate()[1]


def test_events_come_when_the_state_changes() -> None:
    with standing_before(FakeModel()) as (_, address):
        place = address.rpartition("/")[2]
        written(place)
        viewer = http.client.HTTPConnection(place, timeout=20)
        viewer.request("GET", "/events")
        answer = viewer.getresponse()
        shown = []
        for _ in range(2):
            shown.append(json.loads(answer.readline().removeprefix(b"data: ")))
            answer.readline()
            written(place)
        answer.close()
        viewer.close()
    assert [one["sequences"][0]["recent"] for one in shown] == [[1], [1, 1]]


def test_the_page_allows_only_its_own_script() -> None:
    with standing_before(FakeModel()) as (_, address):
        pages = []
        for _ in range(2):
            connection = http.client.HTTPConnection(address.rpartition("/")[2])
            connection.request("GET", "/")
            answer = connection.getresponse()
            policy = answer.headers["content-security-policy"]
            text = answer.read().decode()
            connection.close()
            (nonce,) = set(re.findall(r"'nonce-([^']+)'", policy))
            assert "default-src 'none'" in policy
            assert set(re.findall(r"<(?:script|style)[^>]*nonce=\"([^\"]+)\"", text)) == {nonce}
            assert "http://" not in text
            assert "https://" not in text
            pages.append(nonce)
    assert pages[0] != pages[1]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
def test_the_page_shows_outputs_in_a_browser(tmp_path: Path) -> None:
    with standing_before(FakeModel()) as (_, address):
        for _ in range(4):
            written(address.rpartition("/")[2])
        finished = subprocess.run(
            [
                str(CHROMIUM),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                f"--user-data-dir={tmp_path / 'profile'}",
                "--enable-logging=stderr",
                "--dump-dom",
                f"{address}/",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    assert "CONSOLE" not in finished.stderr
    assert finished.stdout.count('class="cell"') == 3
    assert finished.stdout.count('class="cell asked"') == 1


def test_every_address_is_described() -> None:
    enforcer = Enforcer({"groupings": {"sex": {"values": ["f", "m"]}}})
    app = generative_app(enforcer, upstream="http://127.0.0.1:1/v1")
    with standing_before(FakeModel()) as (_, address):
        connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=60)
        connection.request("GET", "/openapi.json")
        described = json.loads(connection.getresponse().read())["paths"]
        connection.close()
    assert {route.path for route in app.routes} == set(described)
    for route in app.routes:
        assert {method.lower() for method in route.methods} - {"head"} == set(described[route.path])
