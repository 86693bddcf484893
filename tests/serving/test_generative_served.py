"""The command that serves, in a process of its own, and its page in a browser."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
from fake_model import FakeModel, running, standing_before

from testsgd.generative import Enforcer
from testsgd.serving.generative_server import generative_app

pytestmark = pytest.mark.serve

CHROMIUM = shutil.which("chromium")
SPECIFICATION = """
[groupings.gender]
values = ["female", "male"]
terms = { female = ["she"], male = ["he"] }
[[requirements]]
grouping = "gender"
beta = 3
"""


def command(folder: Path, *further: str) -> list[str]:
    path = folder / "fair.toml"
    path.write_text(SPECIFICATION)
    return [sys.executable, "-m", "testsgd", "generative", "serve", "--spec", str(path), *further]


@contextmanager
def served(folder: Path, upstream: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    state = str(folder / "fair.sqlite")
    options = ["--upstream", f"{upstream}/v1", "--state", state, "--port", "0"]
    with subprocess.Popen(
        command(folder, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, options: list[str]) -> None:
    finished = subprocess.run(
        command(tmp_path, *options), capture_output=True, text=True, check=False, timeout=60
    )
    assert (finished.returncode, finished.stdout, finished.stderr.count("\n")) == (2, "", 1)


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
