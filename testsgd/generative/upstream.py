"""A generative model that is asked over HTTP, by the interface that OpenAI's servers have."""

from __future__ import annotations

import base64
import binascii
import time
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from testsgd.errors import MissingExtraError, ModelError
from testsgd.generative.asking import ModelRequest
from testsgd.generative.readers import Output
from testsgd.generative.specification import Endpoint, UpstreamPart
from testsgd.models.posting import FIRST_PAUSE, LONGEST_PAUSE, TOO_MANY_REQUESTS, asked_pause

_PATHS: dict[Endpoint, str] = {
    "completions": "/completions",
    "chat": "/chat/completions",
    "images": "/images/generations",
}
# Set by `testsgd generative serve`: the values that were asked for.
ASKED_HEADER = "x-testsgd-asked"
_SHOWN = 120
_OK = 200


class _PassingError(Exception):
    """What may be over when the request is sent again."""

    def __init__(self, error: ModelError, *, asked_pause: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.asked_pause = asked_pause  # Seconds that the model asks to wait.


class Upstream:
    """Asks a model over HTTP, one output a request.

    Parameters
    ----------
    url : str
        Address of the interface, such as ``http://127.0.0.1:8080/v1``.
    settings : UpstreamPart
        Which endpoint, which model, further keys of each request.
    retries : int
        How often a request is sent again after a passing trouble: a status of 429 or of 500 and
        more, or no answer where there were answers before. Each pause is twice as long as the last,
        or as long as the model asks for.

    Examples
    --------
    >>> from testsgd.generative.specification import UpstreamPart
    >>> upstream = Upstream("http://127.0.0.1:1/v1", UpstreamPart(endpoint="completions"))
    >>> upstream.body(ModelRequest("The nurse was tired, so"), seed=3)
    {'prompt': 'The nurse was tired, so', 'seed': 3}
    """

    def __init__(self, url: str, settings: UpstreamPart, *, retries: int = 4) -> None:
        self.url = url.rstrip("/")
        self.settings = settings
        self.retries = retries
        self._has_answered = False
        self._client: Any = None

    def body(self, request: ModelRequest, *, seed: int | None = None) -> dict[str, Any]:
        """Return the JSON object that asks for an output."""
        body: dict[str, Any] = {}
        if self.settings.model:
            body["model"] = self.settings.model
        if self.settings.endpoint != "chat":
            body["prompt"] = request.prompt
        elif request.messages:
            body["messages"] = [dict(message) for message in request.messages]
        else:
            body["messages"] = [{"role": "user", "content": request.prompt}]
        if self.settings.endpoint == "images":
            body["response_format"] = "b64_json"
        body.update(self.settings.parameters)
        if seed is not None:
            body["seed"] = seed
        body.update(request.parameters)
        return body

    def ask(
        self, request: ModelRequest, *, seed: int | None = None
    ) -> tuple[Output, dict[str, str]]:
        """Ask for one output.

        Parameters
        ----------
        request : ModelRequest
            A prompt, or the messages of a chat.
        seed : int, optional
            Makes the output repeatable, if the model heeds it.

        Returns
        -------
        output : str or bytes
            A text, or a picture.
        asked : dict of str to str
            The value that an enforcer before the model asked for, of each grouping, as it says in a
            header.

        Raises
        ------
        ModelError
            If no usable answer comes.
        MissingExtraError
            If httpx is not installed.
        """
        answer = self._posted(self.body(request, seed=seed))
        try:
            output = output_of(answer.json(), self.settings.endpoint)
        except (ValueError, LookupError, TypeError, binascii.Error) as error:
            seen = " ".join(answer.text.split())[:_SHOWN]
            what = f"the answer has no output: {seen!r}"
            raise self._error(what, "choose another upstream.endpoint") from error
        return output, asked_values(answer.headers.get(ASKED_HEADER, ""))

    def _posted(self, body: dict[str, Any]) -> Any:
        """Send a body, again after a passing trouble, and return the answer of status 200."""
        pause = FIRST_PAUSE
        for retries_left in range(self.retries, -1, -1):
            try:
                return self._post_once(body)
            except _PassingError as trouble:
                if trouble.asked_pause > LONGEST_PAUSE:
                    what = f"{trouble.error.what}, and asks to wait {trouble.asked_pause:,.0f} s"
                    raise self._error(what, "ask it again then") from trouble.__cause__
                if not retries_left:
                    raise trouble.error from trouble.__cause__
                time.sleep(max(pause, trouble.asked_pause))
                pause *= 2
        raise AssertionError("the last try returns or raises")

    def _post_once(self, body: dict[str, Any]) -> Any:
        """Send a body once.

        Before the first answer a model that cannot be reached is a mistake, which is said at once.
        """
        client = self._opened()
        import httpx

        try:
            answer = client.post(self.url + _PATHS[self.settings.endpoint], json=body)
        except httpx.HTTPError as error:
            trouble = self._no_answer(error, is_late=isinstance(error, httpx.TimeoutException))
            raise (_PassingError(trouble) if self._has_answered else trouble) from error
        if answer.status_code == _OK:
            self._has_answered = True
            return answer
        seen = " ".join(answer.text.split())[:_SHOWN]
        refusal = self._error(f"status {answer.status_code}: {seen}", "see what it says")
        if answer.status_code == TOO_MANY_REQUESTS or answer.status_code >= 500:
            raise _PassingError(refusal, asked_pause=asked_pause(answer.headers.get("Retry-After")))
        raise refusal

    def _no_answer(self, error: Exception, *, is_late: bool) -> ModelError:
        if is_late:
            what = f"no answer within {self.settings.timeout:g} s"
            return self._error(what, "raise upstream.timeout, or ask a faster model")
        reason = str(error) or type(error).__name__
        return self._error(f"no answer ({reason})", "see whether it runs there")

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _opened(self) -> Any:
        if self._client is None:
            try:
                import httpx
            except ImportError as error:
                raise MissingExtraError(
                    "httpx", extra="serve", purpose="asking a model over HTTP"
                ) from error
            self._client = httpx.Client(timeout=self.settings.timeout)
        return self._client

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=self.url, remedy=remedy)


def asked_values(header: str) -> dict[str, str]:
    """Return the value of each grouping in the header of an enforcer's answer.

    Examples
    --------
    >>> asked_values("gender=male, skin=very%20dark"), asked_values("")
    ({'gender': 'male', 'skin': 'very dark'}, {})
    """
    pairs = [part.strip().partition("=") for part in header.split(",") if "=" in part]
    return {unquote(grouping): unquote(value) for grouping, _, value in pairs}


def output_of(answer: Any, endpoint: Endpoint) -> Output:
    """Return the output in the answer of an endpoint: a text, or the bytes of a picture.

    Raises
    ------
    LookupError, TypeError, ValueError
        If the answer has none.

    Examples
    --------
    >>> output_of({"choices": [{"text": " she slept"}]}, "completions")
    ' she slept'
    >>> output_of({"choices": [{"message": {"content": "Yes"}}]}, "chat")
    'Yes'
    """
    if endpoint == "images":
        return base64.b64decode(answer["data"][0]["b64_json"], validate=True)
    choice = answer["choices"][0]
    text = choice["text"] if endpoint == "completions" else choice["message"]["content"]
    if text is None:
        return ""
    if not isinstance(text, str):
        raise TypeError("the output is no text")
    return text
