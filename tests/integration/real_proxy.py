"""The real gateway LiteLLM on loopback, before the model of the tests, in either way."""

from __future__ import annotations

import base64
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from openai_upstream import Upstream

from testsgd.generative import Enforcer

ROOT = Path(__file__).parents[2]
# The gateway refuses keys that are well known.
KEY = f"sk-{secrets.token_hex(16)}"
# A picture of these tests is its text.
CLASSIFIER = """
def gender_of(output):
    text = output.decode() if isinstance(output, bytes) else output
    return "female" if text.startswith("she") else "male"
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def post(url: str, body: dict[str, Any], *, timeout: float = 30) -> tuple[int, str]:
    request = urllib.request.Request(
        url,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise AssertionError(log.read_text()[-3000:])
        with suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise AssertionError(log.read_text()[-3000:])


def base_config(model: Upstream) -> dict[str, Any]:
    def deployment(name: str, upstream_model: str) -> dict[str, Any]:
        return {
            "model_name": name,
            "litellm_params": {
                "model": upstream_model,
                "api_base": model.url,
                "api_key": "x",
                "max_retries": 0,
            },
        }

    return {
        "model_list": [
            deployment("writer", "openai/writer"),
            deployment("old", "text-completion-openai/old"),
            deployment("painter", "openai/gpt-image-1"),
        ],
        "router_settings": {"num_retries": 0},
        "general_settings": {"master_key": KEY},
    }


@contextmanager
def proxy(config: dict[str, Any], folder: Path, **environment: str) -> Iterator[str]:
    """Run the gateway with a configuration; give its address."""
    file = folder / "config.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML.
    port = free_port()
    log = folder / "proxy.log"
    known = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "NO_PROXY": "127.0.0.1",
        **environment,
    }
    command = [str(Path(sys.executable).parent / "litellm"), "--config", str(file)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env=known,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/health/liveliness", process, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def guardrail(enforcer: Enforcer) -> Iterator[str]:
    """Run the server that the gateway asks; give its address."""
    import uvicorn

    from testsgd.serving.guardrail import guardrail_app

    port = free_port()
    config = uvicorn.Config(
        guardrail_app(enforcer), host="127.0.0.1", port=port, log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"model": "writer"}),
    "completions": ("/v1/completions", {"model": "old"}),
    "images": ("/v1/images/generations", {"model": "painter"}),
}


def ask(url: str, endpoint: str, prompt: str, *, stream: bool = False) -> str:
    """Return the text of an answer of the gateway."""
    path, body = CALLS[endpoint]
    if endpoint == "chat":
        body = {**body, "messages": [{"role": "user", "content": prompt}]}
    else:
        body = {**body, "prompt": prompt}
    if stream:
        body = {**body, "stream": True}
    status, answer = post(url + path, body)
    assert status == 200, answer
    if endpoint == "images":
        return base64.b64decode(json.loads(answer)["data"][0]["b64_json"]).decode()
    if not stream:
        choice = json.loads(answer)["choices"][0]
        return str(choice["message"]["content"] if endpoint == "chat" else choice["text"])
    text = ""
    for line in answer.splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                got = choice["delta"].get("content") if endpoint == "chat" else choice.get("text")
                text += got or ""
    return text
