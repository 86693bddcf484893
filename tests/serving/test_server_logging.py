"""A server that starts leaves the handlers of other libraries' messages alone."""

from __future__ import annotations

import logging

import pytest

from testsgd.errors import ConfigurationError

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.applications import Starlette

from testsgd.serving.http import run_server


class Noted(logging.StreamHandler):  # type: ignore[type-arg]
    """Notes that it is closed, as that of TensorFlow's library then closes its stream."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True
        super().close()


def test_no_handler_of_others_is_closed() -> None:
    handler = Noted()
    with pytest.raises(ConfigurationError):
        run_server(lambda _: Starlette(), host="127.0.0.1", port=99_999, purpose="a test")
    assert not handler.is_closed
