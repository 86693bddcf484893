"""Small shields to serve, and a client of ASGI applications that needs no network."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import testsgd
from testsgd.shielding.running import Shield


def specification(**changes: Any) -> dict[str, Any]:
    """Ten people of two groups, a bound of one quarter."""
    return {
        "name": "served",
        "fairness": {
            "property": changes.get("property", "demographic_parity"),
            "bound": "1/4" if "property" not in changes else "1/2",
        },
        "groups": {"names": ["a", "b"], "unknown": changes.get("unknown", "refuse")},
        "horizon": {"length": 10, "after": changes.get("after", "stop")},
    }


def shield(**changes: Any) -> Shield:
    """Synthesise one."""
    return testsgd.synthesize_shield(specification(**changes))


def asked(
    app: Any,
    method: str,
    path: str,
    body: bytes | dict[str, Any] = b"",
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    """Send a request to an application; give the status and the JSON of the answer.

    Headers are given with underscores for hyphens; the content is said to be JSON if nothing else.
    """
    return asyncio.run(asked_in_loop(app, method, path, body, **headers))


async def asked_in_loop(
    app: Any,
    method: str,
    path: str,
    body: bytes | dict[str, Any] = b"",
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    """Do the same within a loop of events that runs."""
    given = {"host": "localhost", "content_type": "application/json", **headers}
    sent: list[dict[str, Any]] = []
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    parts = [
        {"type": "http.request", "body": content[:7], "more_body": True},
        {"type": "http.request", "body": content[7:], "more_body": False},
    ]

    async def receive() -> dict[str, Any]:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in given.items()
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    await app(scope, receive, send)
    whole = b"".join(one.get("body", b"") for one in sent)
    return sent[0]["status"], json.loads(whole) if whole else {}
