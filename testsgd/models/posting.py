"""Requests to an HTTP endpoint: at a limited rate, and again after a passing trouble."""

from __future__ import annotations

import datetime
import email.utils
import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from testsgd.errors import ModelError

# The first pause before a request is sent again, in seconds; each further one is twice as long.
FIRST_PAUSE = 0.5

# The longest pause that an endpoint may ask for, in seconds.
LONGEST_PAUSE = 300.0

TOO_MANY_REQUESTS = 429

# How much is read of an answer that only explains an error, in bytes, and shown, in characters.
_EXPLANATION = 2_000
_MOST_SHOWN = 80

# Answers about few rows may have as many bytes, others this many times those of the rows.
_FEWEST_BYTES = 2**24
_TIMES_AS_LONG = 64


class _PassingError(Exception):
    """What may be over when the request is sent again."""

    def __init__(self, what: str, remedy: str, *, pause: float = 0.0) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.pause = pause  # Seconds that the endpoint asks to wait.


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a request with a body would be sent on without it."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return no further request."""
        return


class Poster:
    """Posts JSON to one address.

    Parameters
    ----------
    url : str
        The address.
    name : str
        What errors call the model.
    timeout : float
        Seconds without a sign of the endpoint after which a request has failed.
    retries : int
        How often a request is sent again after a passing trouble: no connection, no answer in time,
        a status of 429 or of 500 and more.
    requests_per_second : float or None
        The most requests that are sent in a second.
    headers : mapping of str to str
        Sent with each request.

    Examples
    --------
    >>> poster = Poster(
    ...     "http://127.0.0.1:1/", name="nothing", timeout=1, retries=0,
    ...     requests_per_second=None, headers={},
    ... )
    >>> poster.post(b"{}")
    Traceback (most recent call last):
    ...
    testsgd.errors.ModelError: model 'nothing': the endpoint cannot be reached (...); ...
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        timeout: float,
        retries: int,
        requests_per_second: float | None,
        headers: Mapping[str, str],
    ) -> None:
        self._url = url
        self._name = name
        self._timeout = timeout
        self._retries = retries
        self._interval = 0.0 if requests_per_second is None else 1 / requests_per_second
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._headers.update(headers)
        self._next_at = 0.0

    def post(self, body: bytes) -> bytes:
        """Send a body, and return that of the answer.

        Raises
        ------
        ModelError
            If there is no answer, or one of an error.
        """
        pause = FIRST_PAUSE
        tries = self._retries + 1
        for number in range(1, tries + 1):
            self._keep_pace()
            try:
                return self._post_once(body)
            except _PassingError as trouble:
                if number == tries:
                    times = "" if tries == 1 else f", at each of {tries} tries"
                    raise self._error(f"{trouble.what}{times}", trouble.remedy) from trouble
                if trouble.pause > LONGEST_PAUSE:
                    what = f"{trouble.what}, and asks to wait {trouble.pause:,.0f} seconds"
                    raise self._error(what, "run the audit again then") from trouble
                time.sleep(max(pause, trouble.pause))
                pause *= 2
        raise AssertionError("the last try returns or raises")

    def _keep_pace(self) -> None:
        """Wait until the next request may be sent."""
        seconds = time.monotonic()
        if seconds < self._next_at:
            time.sleep(self._next_at - seconds)
        self._next_at = max(seconds, self._next_at) + self._interval

    def _post_once(self, body: bytes) -> bytes:
        request = urllib.request.Request(self._url, data=body, headers=self._headers, method="POST")
        # Made for each request: an opener holds what cannot be pickled.
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            with opener.open(request, timeout=self._timeout) as answer:
                most = max(_FEWEST_BYTES, _TIMES_AS_LONG * len(body))
                content: bytes = answer.read(most + 1)
                left: int | None = answer.length
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._no_answer(error) from error
        if len(content) <= most and left:
            raise _PassingError(
                f"the endpoint's answer broke off, {left:,} bytes before its end",
                "look into its log",
            )
        if len(content) > most:
            raise self._error(
                f"the endpoint answered with more than {most:,} bytes",
                "make it answer with one label or score a row",
            )
        return content

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """Return the error of an answer whose status is one."""
        what = f"the endpoint answered {error.code}"
        if 300 <= error.code < 400:
            moved = error.headers.get("Location", "elsewhere")
            return self._error(f"{what}, moved to {moved}", "give the address that it moved to")
        explained = _first_line(error)
        if explained:
            what = f"{what} ({explained})"
        if error.code == TOO_MANY_REQUESTS:
            pause = asked_pause(error.headers.get("Retry-After"))
            return _PassingError(what, "ask less often, with requests_per_second", pause=pause)
        if error.code >= 500:
            pause = asked_pause(error.headers.get("Retry-After"))
            return _PassingError(what, "look into its log", pause=pause)
        return self._error(what, "check the address, the headers and the columns of the rows")

    def _no_answer(self, error: Exception) -> Exception:
        """Return the error of a request that got no answer, or half of one."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return _PassingError(
                f"the endpoint gave no answer within {self._timeout:g} s",
                "give it a longer timeout, or smaller batch_rows",
            )
        explained = getattr(reason, "strerror", None) or " ".join(str(reason).split())
        what = f"the endpoint cannot be reached ({explained or type(reason).__name__})"
        remedy = "check the address, and that it is running"
        if isinstance(reason, ssl.SSLCertVerificationError):
            return self._error(what, "give an address whose certificate is valid here")
        return _PassingError(what, remedy)

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=f"model {self._name!r}", remedy=remedy, model=self._name)


def _first_line(error: urllib.error.HTTPError) -> str:
    """Return the first line of an answer's body that is not empty, as far as it can be read."""
    try:
        text = error.read(_EXPLANATION).decode("utf-8", errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
    lines = [line.strip() for line in text.splitlines()]
    line = next((line for line in lines if line), "")
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


def asked_pause(header: str | None) -> float:
    """Return the seconds that ``Retry-After`` asks to wait: a number, or the time of a day.

    Examples
    --------
    >>> asked_pause("7"), asked_pause(None)
    (7.0, 0.0)
    """
    if header is None:
        return 0.0
    if header.strip().isdecimal():
        return float(header)
    try:
        until = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=datetime.UTC)
    return max(0.0, (until - datetime.datetime.now(datetime.UTC)).total_seconds())
