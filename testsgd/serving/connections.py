"""How many connections a server holds, and which of them it closes if there are more.

A connection on which a whole request has come is never closed for want of room. All others wait for
something that may never come: the rest of a head or a body, or a next request. If there is no room
for a new connection, the one that has waited longest is closed, of that client which holds most of
them. So whoever holds many connections without asking anything loses these, and who asks at once is
answered.
"""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import suppress
from typing import Any

# Seconds in which the head of a request must have come.
HEAD_SECONDS = 10.0
# Longer heads are refused, which are kept in memory until they are complete.
MOST_HEAD_BYTES = 65_536
# Of a thousand files that a process may have open, some are others than connections.
MOST_CONNECTIONS = 800
# Files that a process has open besides its connections, and those that a model is asked through.
_OTHER_FILES = 200


class WaitingConnections:
    """The connections without a whole request, by client, those first that have waited longest.

    Examples
    --------
    >>> waiting = WaitingConnections()
    >>> for connection, client in [("a", "10.0.0.1"), ("b", "10.0.0.2"), ("c", "10.0.0.2")]:
    ...     waiting.add(connection, client)
    >>> waiting.add("b", "10.0.0.2")  # It waits already, and keeps its place.
    >>> waiting.oldest()
    'b'
    >>> waiting.discard("b", "10.0.0.2")
    >>> waiting.oldest(), len(waiting)
    ('a', 2)
    """

    def __init__(self) -> None:
        # Dictionaries without values: sets that keep the order in which something was added.
        self._by_client: dict[str, dict[Any, None]] = {}
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, connection: Any, client: str) -> None:
        """Add a connection that waits from now on; one that waits already keeps its place."""
        connections = self._by_client.setdefault(client, {})
        self._number += connection not in connections
        connections.setdefault(connection)

    def discard(self, connection: Any, client: str) -> None:
        """Remove a connection that waits no more, if it is there."""
        connections = self._by_client.get(client, {})
        if connection in connections:
            del connections[connection]
            self._number -= 1
            if not connections:
                del self._by_client[client]

    def oldest(self) -> Any | None:
        """Return the first connection of the client that has most of them; None without any."""
        connections = max(self._by_client.values(), key=len, default={})
        return next(iter(connections), None)


def bounded_protocol(most_connections: int = MOST_CONNECTIONS) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, with limits on how many connections there are and on their heads.

    If there are more than `most_connections`, some of the :class:`WaitingConnections` are closed.
    A new one is refused only if requests are being answered on that many. A connection that has not
    sent the whole head of a request within :data:`HEAD_SECONDS`, or after :data:`MOST_HEAD_BYTES`,
    is closed, too.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    waiting = WaitingConnections()

    class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """A connection whose head must come in time, and which may be closed while it waits."""

        _head_timer: asyncio.TimerHandle | None = None
        _client_name = ""
        # The bytes of a head that is not complete yet; None outside of heads. Of uvicorn's two
        # parsers this one has no limit of its own.
        _head_bytes: int | None = None

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._head_bytes = 0

        def on_headers_complete(self) -> None:
            self._head_bytes = None
            super().on_headers_complete()

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            if len(self.connections) - len(waiting) > most_connections:
                transport.abort()
                return
            self._client_name = _client_name(self.client)
            waiting.add(self, self._client_name)
            self._begin_head()
            if len(self.connections) > most_connections:
                # In the next turn of the loop what has come on new connections is read; only then
                # is it known which of them wait.
                self.loop.call_soon(self.loop.call_soon, self._make_room)

        def data_received(self, data: bytes) -> None:
            if not self._is_answering():
                self._begin_head()
            super().data_received(data)
            if self._is_answering():
                self._end_head()
            if self._head_bytes is not None and not self.transport.is_closing():
                self._head_bytes += len(data)
                if self._head_bytes > MOST_HEAD_BYTES:
                    self.send_400_response("The head of the request is too long.")
            self._note_waiting()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._note_waiting()

        def connection_lost(self, error: Exception | None) -> None:
            self._end_head()
            waiting.discard(self, self._client_name)
            super().connection_lost(error)

        def _make_room(self) -> None:
            while len(self.connections) > most_connections:
                connection = waiting.oldest()
                if connection is None:
                    return
                connection.leave()

        def leave(self) -> None:
            """Close this connection at once, to make room for another one."""
            waiting.discard(self, self._client_name)
            # It is lost in a later turn of the loop, but counts no more.
            self.connections.discard(self)
            self.transport.abort()

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _note_waiting(self) -> None:
            if self not in self.connections:
                return
            if self._is_answering() and not self.cycle.more_body:
                waiting.discard(self, self._client_name)
            else:
                waiting.add(self, self._client_name)

        def _begin_head(self) -> None:
            if self._head_timer is None:
                self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close_idle)

        def _end_head(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _close_idle(self) -> None:
            self._head_timer = None
            if not self._is_answering():
                self.transport.abort()

    return BoundedProtocol


def connections_with_files(wanted: int) -> int:
    """Return how many connections may be held with the files that the process may have open.

    The soft limit of the process is raised as far as needed and allowed. Each connection counts as
    two files: a request may be passed on to a model, and new connections come before old ones are
    closed.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit.
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * wanted + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    return min(wanted, max(1, (soft - _OTHER_FILES) // 2))


def _client_name(client: tuple[str, int] | None) -> str:
    """Return the address of a client, of IPv6 the half that names its network."""
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(client[0].partition("%")[0])
    except ValueError:
        return client[0]
    # Whoever has one address of IPv6 has all of its network.
    return str(address) if address.version == 4 else address.packed[:8].hex()
