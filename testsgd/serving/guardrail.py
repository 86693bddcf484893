"""An enforcer behind LiteLLM's Generic Guardrail API.

The gateway sends the texts of a request before the model gets them, and those of the answer. A
request without messages can be a completion or a picture, which the gateway does not distinguish;
so completions are enforced only with ``upstream.endpoint = "completions"`` in the specification;
otherwise chats are. Of completions that stream LiteLLM shows no answer, and of pictures neither the
answer nor what became of the prompt; they need the hook of :mod:`testsgd.generative.litellm`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from testsgd import errors
from testsgd.generative.asking import Message, ModelRequest
from testsgd.generative.enforcer import Enforcer
from testsgd.generative.openai_calls import OpenTickets
from testsgd.io import loads_json

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PATH = "/beta/litellm_basic_guardrail_api"
# A chat with its history.
MOST_BYTES = 16_777_216
# A logit bias is no text, and a prefix is lost if the answer streams.
_NOT_PASSED_ON = ("logit_bias", "prefix")
_NONE: dict[str, Any] = {"action": "NONE"}


class Guardrail:
    """The enforcer behind the Generic Guardrail API: answers its requests.

    Parameters
    ----------
    enforcer : Enforcer
        What decides.

    Raises
    ------
    ParameterError
        If the specification asks in a way that LiteLLM does not pass on, or is for pictures.
    StateError
        If the enforcer's state cannot be read, or is that of another specification.

    Examples
    --------
    >>> guardrail = Guardrail(Enforcer({
    ...     "groupings": {"gender": {"values": ["female", "male"],
    ...                              "terms": {"female": ["she"], "male": ["he"]}}},
    ...     "requirements": [{"grouping": "gender", "beta": 2}],
    ...     "upstream": {"endpoint": "completions"}}))
    >>> for text in ("she slept.", "she ate."):
    ...     call = {"litellm_call_id": text, "request_data": {}}
    ...     begun = guardrail.answer({**call, "input_type": "request", "texts": ["The nurse"]})
    ...     ended = guardrail.answer({**call, "input_type": "response", "texts": [text]})
    >>> begun["action"], begun["texts"], ended["action"]
    ('GUARDRAIL_INTERVENED', ['The nurse The gender of the person must be male.'], 'NONE')
    """

    def __init__(self, enforcer: Enforcer) -> None:
        specification = enforcer.specification
        way = specification.enforcement.way
        if way in _NOT_PASSED_ON:
            raise errors.ParameterError(
                f"LiteLLM's guardrail cannot ask by {way}",
                where="enforcement.way",
                remedy="ask in another way, or use testsgd.generative.litellm",
            )
        if specification.upstream.endpoint == "images":
            raise errors.ParameterError(
                "LiteLLM's guardrail does not pass pictures on",
                where="upstream.endpoint",
                remedy="use testsgd.generative.litellm",
            )
        self._enforcer = enforcer
        self._tickets = OpenTickets()
        enforcer.prepare()

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the gateway.

        Parameters
        ----------
        body : mapping
            A GenericGuardrailAPIRequest of LiteLLM.

        Returns
        -------
        dict
            A GenericGuardrailAPIResponse: ``action``, and ``texts`` or ``structured_messages``
            where they are changed.

        Raises
        ------
        ParameterError
            If the body is no such request.
        StateError, ModelError
            If the state cannot be read or written, or an output cannot be read.
        """
        kind = body.get("input_type")
        texts = body.get("texts") or []
        key = body.get("request_data") or {}
        messages = body.get("structured_messages") or []
        if (
            kind not in ("request", "response")
            or not _is_list_of(texts, str)
            or not isinstance(key, Mapping)
            or not _is_list_of(messages, Mapping)
        ):
            raise errors.ParameterError("this is no request of LiteLLM's Generic Guardrail API")
        tenant = str(key.get("user_api_key_team_id") or key.get("user_api_key_hash") or "")
        call = (tenant, str(body.get("litellm_call_id") or ""))
        if kind == "response":
            return self._finish(call, texts)
        return self._begin(call, texts, messages)

    def _begin(
        self, call: tuple[str, str], texts: list[str], messages: Sequence[Message]
    ) -> dict[str, Any]:
        """Return the answer to a request before the model gets it: what to change in its texts."""
        if messages:
            request = ModelRequest(messages=tuple(messages))
        elif len(texts) == 1 and self._enforcer.specification.upstream.endpoint == "completions":
            request = ModelRequest(texts[0])
        else:
            return _NONE
        ticket = self._enforcer.begin(request, tenant=call[0])
        if not ticket.is_counted:
            return _NONE
        earlier = self._tickets.put(call, ticket)
        if earlier is not None:
            self._enforcer.give_back(earlier)
        if not ticket.is_changed:
            return _NONE
        answer: dict[str, Any] = {"action": "GUARDRAIL_INTERVENED"}
        changed = _texts(ticket.messages) if messages else [ticket.prompt]
        if len(changed) == len(texts):
            answer["texts"] = changed
        else:
            # A message was added.
            answer["structured_messages"] = [dict(message) for message in ticket.messages]
        return answer

    def _finish(self, call: tuple[str, str], texts: list[str]) -> dict[str, Any]:
        """Count the model's output, and return an answer that changes nothing."""
        ticket = self._tickets.take(call)
        if ticket is None:
            return _NONE
        # An answer without a text is a call of a tool, which counts as unrelated.
        output = texts[0] if texts else None
        self._enforcer.finish(self._enforcer.last_try(ticket), output)
        return _NONE


def guardrail_app(enforcer: Enforcer) -> Starlette:
    """Return the ASGI application that answers LiteLLM's Generic Guardrail API.

    Parameters
    ----------
    enforcer : Enforcer
        What decides.

    Returns
    -------
    starlette.applications.Starlette
        It answers ``POST /beta/litellm_basic_guardrail_api`` and ``GET /healthz``; with 400 if a
        request is none of LiteLLM's, 413 if it is too long, 503 if the state or a classifier fails.

    Raises
    ------
    MissingExtraError
        If starlette is not installed.
    ParameterError
        If the specification asks in a way that LiteLLM does not pass on, or is for pictures.
    StateError
        If the enforcer's state cannot be read, or is that of another specification.

    Examples
    --------
    >>> import uvicorn  # doctest: +SKIP
    >>> uvicorn.run(guardrail_app(Enforcer("people.toml")), port=8090)  # doctest: +SKIP
    """
    try:
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse
        from starlette.routing import Route
    except ImportError as error:
        purpose = "answering LiteLLM's guardrail"
        raise errors.MissingExtraError("starlette", extra="serve", purpose=purpose) from error
    guardrail = Guardrail(enforcer)

    async def answer(request: Request) -> Response:
        if int(request.headers.get("content-length") or 0) > MOST_BYTES:
            return JSONResponse({"error": f"more than {MOST_BYTES} bytes"}, 413)
        try:
            body = loads_json(await request.body(), half_characters=True)
            if not isinstance(body, dict):
                raise errors.ParameterError("the body is no JSON object")
            return JSONResponse(await asyncio.to_thread(guardrail.answer, body))
        except (ValueError, errors.ParameterError) as error:
            return JSONResponse({"error": str(error)}, 400)
        except errors.TestSGDError as error:
            return JSONResponse({"error": str(error)}, 503)

    async def healthy(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return Starlette(
        routes=[
            Route(PATH, answer, methods=["POST"]),
            Route("/healthz", healthy, methods=["GET"]),
        ]
    )


def _is_list_of(values: object, kind: type) -> bool:
    """Whether a value is a list of one type."""
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _texts(messages: Sequence[Message]) -> list[str]:
    """Return the texts of messages in the order in which LiteLLM lists them."""
    texts = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, Sequence):
            texts += [part["text"] for part in content if part.get("text") is not None]
    return texts
