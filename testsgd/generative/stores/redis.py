"""A state in Redis, for processes of several machines."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from testsgd.errors import MissingExtraError, StateError
from testsgd.generative.stores.addresses import is_clear, shown, without_secrets
from testsgd.generative.stores.combining import Combiner
from testsgd.generative.stores.protocol import Change, evaluate, sorted_keys

T = TypeVar("T")

FORMAT = "testsgd.state 1"
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
# How long updates of other processes may come first.
_CONFLICT_SECONDS = 30.0
_WRITER_SECONDS = 3600
_PAGE_LINES = 1000


class RedisStore:
    """Keeps the state in Redis, for several processes on several machines.

    What an acknowledged update survives is up to the server: with ``appendonly yes`` and
    ``appendfsync always`` it survives a server that is killed and a loss of power. The server must
    not evict keys (``maxmemory-policy noeviction``). A cluster of Redis is not supported.

    An update is an optimistic transaction: the keys are watched, and it is evaluated again where
    another process changed one of them. Each attempt writes an id of its own in the transaction; so
    where the connection is lost, the next attempt finds out whether the last one was kept.

    Parameters
    ----------
    url : str
        Such as "redis://localhost:6379/0", or "rediss://" for TLS.
    prefix : str
        All names in Redis begin with it and a colon.
    patience : float
        Seconds for which a lost connection is tried again.

    Raises
    ------
    StateError
        If the server cannot be reached, or has something else under these names.
    MissingExtraError
        If the package redis is not installed.

    Examples
    --------
    >>> store = RedisStore("redis://localhost:6379/0")  # doctest: +SKIP
    >>> store.read()  # doctest: +SKIP
    {}
    """

    waits = True

    def __init__(self, url: str, *, prefix: str = "testsgd", patience: float = 5.0) -> None:
        self._redis = _package()
        self._url = url
        self._patience = patience
        self._combiner = Combiner(self._commit)
        self._lock = threading.Lock()
        self._closed = False
        self._format = f"{prefix}:format"
        self._keys = f"{prefix}:keys"
        self._lines = f"{prefix}:journal"
        self._text = f"{prefix}:text:"
        self._writer = f"{prefix}:writer:{uuid.uuid4().hex}"
        self._client = self._connect()
        try:
            self._repeating(self._prepare)
        except BaseException:
            self.close()
            raise

    def update(self, changes: Sequence[Change]) -> list[Any]:
        """Make all changes or none; see :meth:`Store.update`."""
        return self._combiner.update(changes)

    def read(self) -> dict[str, str]:
        """Return the text of every key, all as of one moment."""
        return self._repeating(self._read)

    def journal(self) -> Iterator[str]:
        """Return the lines that updates added before, in order."""
        size = self._repeating(lambda: int(self._client.llen(self._lines)))
        for start in range(0, size, _PAGE_LINES):
            last = min(start + _PAGE_LINES, size) - 1
            yield from self._page(start, last)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._closed = True
            self._client.close()

    def _page(self, start: int, last: int) -> list[str]:
        return self._repeating(lambda: list(self._client.lrange(self._lines, start, last)))

    def _connect(self) -> Any:
        """Return a client, which connects when it is first used."""
        try:
            return self._redis.Redis.from_url(
                self._url,
                decode_responses=True,
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=_ANSWER_SECONDS,
                # A command is repeated here or not at all: only here it is known whether it may be.
                retry=self._redis.retry.Retry(self._redis.backoff.NoBackoff(), 0),
            )
        except (ValueError, TypeError) as error:
            raise self._error(error, unknown=False) from None

    def _prepare(self) -> None:
        """Mark the names as those of this format, or check that they are."""
        self._client.set(self._format, FORMAT, nx=True)
        self._check_format(self._client.mget([self._format])[0])
        for name, wanted in ((self._lines, "list"), (self._keys, "set")):
            if self._client.type(name) not in (wanted, "none"):
                raise StateError(f"{name} is of another program", where=shown(self._url))

    def _check_format(self, found: str | None) -> None:
        where = shown(self._url)
        if found is None:
            what = f"the state under {self._format} was removed while it was open"
            raise StateError(what, where=where, remedy="restore it, or open it again as a new one")
        if found != FORMAT:
            what = f"{self._format} is of another program or of a newer testsgd"
            raise StateError(what, where=where, remedy="choose another prefix")

    def _read(self) -> dict[str, str]:
        with self._client.pipeline() as pipeline:
            # Texts are only added together with their keys, so an unchanged set has them all.
            pipeline.watch(self._format, self._keys)
            self._check_format(pipeline.get(self._format))
            keys = sorted(pipeline.smembers(self._keys))
            if not keys:
                return {}
            pipeline.multi()
            pipeline.mget([self._text + key for key in keys])
            (texts,) = pipeline.execute()
        return {key: text for key, text in zip(keys, texts, strict=True) if text is not None}

    def _commit(self, updates: list[list[Change]]) -> list[list[Any] | Exception]:
        """Write updates in one transaction; one that raises is left out."""
        # What each attempt would answer, by its id.
        attempts: dict[str, list[list[Any] | Exception]] = {}
        with self._lock:
            return self._repeating(lambda: self._attempt(updates, attempts), attempts)

    def _attempt(
        self, updates: list[list[Change]], attempts: dict[str, list[list[Any] | Exception]]
    ) -> list[list[Any] | Exception]:
        """Try a transaction once; find out first whether an earlier attempt was kept."""
        keys = sorted_keys(updates)
        names = [self._text + key for key in keys]
        with self._client.pipeline() as pipeline:
            # The writer's own name is watched too: an attempt that the server executes late, after
            # its connection was given up, makes this one fail.
            pipeline.watch(self._writer, self._format, *names)
            last, found, *texts = pipeline.mget([self._writer, self._format, *names])
            if last in attempts:
                return attempts[last]
            self._check_format(found)
            evaluated = evaluate(updates, dict(zip(keys, texts, strict=True)))
            attempt = uuid.uuid4().hex
            pipeline.multi()
            for key, text in evaluated.texts.items():
                pipeline.set(self._text + key, text)
            if evaluated.texts:
                pipeline.sadd(self._keys, *evaluated.texts)
            if evaluated.lines:
                pipeline.rpush(self._lines, *evaluated.lines)
            pipeline.set(self._writer, attempt, ex=_WRITER_SECONDS)
            attempts[attempt] = evaluated.outcomes
            pipeline.execute()
        return evaluated.outcomes

    def _repeating(self, action: Callable[[], T], attempts: Any = ()) -> T:
        """Repeat what others came before, or what the connection was lost in."""
        errors = self._redis.exceptions
        start = time.monotonic()
        while True:
            if self._closed:
                raise StateError("the state is closed", where=shown(self._url))
            try:
                return action()
            except errors.WatchError as error:
                # Also raised where the connection was lost while names were watched.
                if time.monotonic() - start > _CONFLICT_SECONDS:
                    raise self._error(error, unknown=bool(attempts)) from None
                time.sleep(random.random() * 0.002)
            except (errors.ConnectionError, errors.TimeoutError) as error:
                refused = isinstance(error, errors.AuthenticationError)
                if refused or time.monotonic() - start > self._patience:
                    raise self._error(error, unknown=bool(attempts)) from None
                time.sleep(0.05)
            except errors.RedisError as error:
                raise self._error(error, unknown=False) from None

    def _error(self, error: Exception, *, unknown: bool) -> StateError:
        """Return the error for what the driver raised, without secrets of the address."""
        reason = without_secrets(str(error), self._url)
        what = f"the state in Redis cannot be used ({reason})"
        if unknown:
            what = f"{what}; the last update may have been kept or not"
        remedy = "look after the server and its address"
        if not is_clear(self._url):
            remedy = "quote the characters of the password, such as %2F for a slash"
        return StateError(what, where=shown(self._url), remedy=remedy, unknown=unknown)


def _package() -> Any:
    """Import redis, which takes long."""
    try:
        import redis
        import redis.backoff
        import redis.exceptions
        import redis.retry
    except ImportError as error:
        raise MissingExtraError(
            "redis", extra="redis", purpose="keeping the state in Redis"
        ) from error
    return redis
