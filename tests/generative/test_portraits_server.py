"""The server of portraits, asked over HTTP."""

from __future__ import annotations

import base64
import json
import threading
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from portrait_modules import portraits

generator = portraits("generator")
png_files = portraits("png")
server_module = portraits("server")


@pytest.fixture
def address():
    with server_module.PortraitServer(generator.Generator(random_state=7)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()


def answer(url, body=None, method=None):
    """Return the status and the JSON of an answer."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(url, data=data, method=method)
    try:
        with urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_pictures_are_those_of_the_generator(address):
    request = {
        "model": "dall-e-3",
        "prompt": "A business leader",
        "n": 3,
        "size": "64x64",
        "response_format": "b64_json",
    }
    status, content = answer(f"{address}/images/generations", request)
    assert status == 200
    assert isinstance(content["created"], int)
    pictures = [base64.b64decode(one["b64_json"], validate=True) for one in content["data"]]
    twin = generator.Generator(random_state=7)
    assert pictures == [twin.generate("A business leader", size=64).picture for _ in range(3)]
    assert png_files.read_png(pictures[0]).shape == (64, 64, 3)


def test_a_prompt_is_enough(address):
    status, content = answer(f"{address}/images/generations", {"prompt": "A nurse"})
    assert status == 200
    (one,) = content["data"]
    assert png_files.read_png(base64.b64decode(one["b64_json"])).shape == (128, 128, 3)


def test_models_are_listed(address):
    status, content = answer(f"{address}/models")
    assert status == 200
    assert [model["id"] for model in content["data"]] == [server_module.MODEL]


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({}, "prompt"),
        ({"prompt": " "}, "prompt"),
        ({"prompt": 3}, "prompt"),
        ({"prompt": "A nurse", "n": 0}, "n"),
        ({"prompt": "A nurse", "n": 11}, "n"),
        ({"prompt": "A nurse", "n": True}, "n"),
        ({"prompt": "A nurse", "size": "1x1"}, "size"),
        ({"prompt": "A nurse", "size": [1]}, "size"),
        ({"prompt": "A nurse", "response_format": "url"}, "response_format"),
        ([1], None),
        (b"{", None),
        (b"\xff", None),
        (b"[" * 50_000, None),
    ],
)
def test_bad_requests_are_refused_with_json(address, body, parameter):
    status, content = answer(f"{address}/images/generations", body)
    assert status == 400
    assert content["error"]["param"] == parameter
    assert content["error"]["message"]


def test_unknown_addresses_methods_and_long_requests_are_refused(address):
    assert answer(f"{address}/nothing")[0] == 404
    assert answer(f"{address}/images/generations")[0] == 405
    assert answer(f"{address}/models", {"prompt": "A nurse"})[0] == 405
    assert answer(f"{address}/models", method="DELETE")[0] == 405
    status, content = answer(f"{address}/images/generations", {"prompt": "A" * 65_600})
    assert status == 413
    assert content["error"]["message"]


def test_a_refusal_shifts_no_later_picture(address):
    answer(f"{address}/images/generations", {"prompt": "A nurse", "n": 99})
    request = {"prompt": "A nurse", "size": "64x64"}
    _, content = answer(f"{address}/images/generations", request)
    (one,) = content["data"]
    expected = generator.Generator(random_state=7).generate("A nurse", size=64).picture
    assert base64.b64decode(one["b64_json"]) == expected
