"""A hook for the gateway LiteLLM: requests are edited before the model gets them.

In the gateway's ``config.yaml``::

    litellm_settings:
      callbacks: testsgd.generative.litellm.fairness_hook

with the specification in the environment variable ``TESTSGD_SPEC`` and, if several processes or a
restart must share it, the address of the state in ``TESTSGD_STATE``. Or, in a module of your own
beside the configuration, here ``fairness.py``, with ``callbacks: fairness.hook``::

    from testsgd.generative import Enforcer
    from testsgd.generative.litellm import FairnessHook
    hook = FairnessHook(Enforcer("people.toml", state="people.sqlite"))

LiteLLM is imported when a hook is made, and by nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from importlib import metadata
from typing import Any

from testsgd.errors import ConfigurationError, TestSGDError
from testsgd.generative.enforcer import Enforcer
from testsgd.generative.openai_calls import (
    OpenTickets,
    StreamedText,
    edited_call,
    output_of,
    put_before,
    request_of,
)
from testsgd.generative.readers import Output
from testsgd.generative.specification import Endpoint
from testsgd.generative.tickets import Ticket

_log = logging.getLogger(__name__)

# These releases sent the credentials of the machine away.
_REFUSED = ("1.82.7", "1.82.8")

_ENDPOINTS: dict[str, Endpoint] = {
    "completion": "chat",
    "acompletion": "chat",
    "text_completion": "completions",
    "atext_completion": "completions",
    "image_generation": "images",
    "aimage_generation": "images",
}


_HOOKS = (
    "async_pre_call_hook",
    "async_post_call_success_hook",
    "async_post_call_streaming_iterator_hook",
    "async_post_call_failure_hook",
)


class FairnessHook:
    """The hooks that LiteLLM calls around a model.

    Parameters
    ----------
    enforcer : Enforcer
        What decides. Its specification should have ``tries = 0``: a gateway delivers each output.

    Raises
    ------
    ConfigurationError
        If LiteLLM is not installed, or is a release that steals credentials.
    StateError
        If the enforcer's state cannot be read, or is that of another specification.

    Notes
    -----
    Chats, completions with one prompt, and pictures are enforced; other requests pass unchanged.
    Of several answers to one request the first is counted. The tenant is the team of the key,
    or else the hash of the key. An output that cannot be read is delivered; its ticket times out.

    Examples
    --------
    >>> hook = FairnessHook(Enforcer("people.toml"))  # doctest: +SKIP
    """

    def __new__(cls, enforcer: Enforcer) -> FairnessHook:
        """Return a hook that is also one of LiteLLM's own class, which it insists on."""
        logger = _custom_logger()
        # LiteLLM calls only hooks that stand in the class itself, not those that it inherits.
        hooks = {name: getattr(cls, name) for name in _HOOKS}
        joined = type(cls.__name__, (cls, logger), hooks)
        hook: FairnessHook = object.__new__(joined)
        return hook

    def __init__(self, enforcer: Enforcer) -> None:
        super().__init__()
        self._enforcer = enforcer
        self._tickets = OpenTickets()
        enforcer.prepare()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any] | None:
        """Begin a request; return what the model gets, or None where nothing is changed."""
        endpoint = _ENDPOINTS.get(call_type)
        if endpoint is None:
            return None
        request = request_of(data, endpoint)
        if request is None:
            return None
        tenant = _tenant(user_api_key_dict)
        ticket = await asyncio.to_thread(self._enforcer.begin, request, tenant=tenant)
        if not ticket.is_counted:
            return None
        earlier = self._tickets.put(_call(data, tenant), ticket)
        if earlier is not None:
            await asyncio.to_thread(self._enforcer.give_back, earlier)
        data.update(edited_call(data, ticket, endpoint))
        if endpoint == "images" and data.get("messages"):
            # LiteLLM takes the prompt of a picture from here after the hooks.
            data["messages"] = [{"role": "user", "content": ticket.prompt}]
        return data

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Finish a request: count its output, and return the answer for the client."""
        ticket = self._tickets.take(_call(data, _tenant(user_api_key_dict)))
        if ticket is None:
            return response
        endpoint = _endpoint(response, ticket)
        await self._finish(ticket, output_of(response, endpoint))
        put_before(response, ticket.prefix, endpoint)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Pass the pieces of an answer on, and count it at the end, or where it was cut off."""
        ticket = self._tickets.take(_call(request_data, _tenant(user_api_key_dict)))
        if ticket is None:
            async for piece in response:
                yield piece
            return
        text = StreamedText(ticket.prefix)
        ended = False
        try:
            async for piece in response:
                yield text.take(piece)
            ended = True
        finally:
            # A piece that the client did not take any more counts, too: it may have got it.
            settle = self._finish if ended else self._finish_cut_off
            await asyncio.shield(settle(ticket, text.output))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: str | None = None,
    ) -> None:
        """Give the ticket of a request back that failed."""
        ticket = self._tickets.take(_call(request_data, _tenant(user_api_key_dict)))
        if ticket is not None:
            await self._give_back(ticket)

    async def _finish(self, ticket: Ticket, output: Output | None) -> None:
        """Count an output; errors are logged, so that the client gets its answer in any case."""
        final = self._enforcer.last_try(ticket)
        try:
            await asyncio.to_thread(self._enforcer.finish, final, output)
        except TestSGDError as error:
            _log.warning("an output was not counted: %s", error)

    async def _finish_cut_off(self, ticket: Ticket, output: str | None) -> None:
        """Count what the client got of an output that was cut off; errors are logged."""
        try:
            await asyncio.to_thread(self._enforcer.finish_cut_off, ticket, output)
        except TestSGDError as error:
            _log.warning("an output that was cut off was not counted: %s", error)

    async def _give_back(self, ticket: Ticket) -> None:
        """End a request that has no output."""
        try:
            await asyncio.to_thread(self._enforcer.give_back, ticket)
        except TestSGDError as error:
            _log.warning("a ticket was not given back: %s", error)


def _endpoint(response: Any, ticket: Ticket) -> Endpoint:
    if ticket.original.messages:
        return "chat"
    return "completions" if getattr(response, "choices", None) else "images"


def _tenant(key: Any) -> str:
    """Return the team of a key, or else its hash; LiteLLM keeps no key in plain text here."""
    for name in ("team_id", "token"):
        value = getattr(key, name, None)
        if value:
            return str(value)
    return ""


def _call(data: dict[str, Any], tenant: str) -> tuple[str, str]:
    """Return the name of a call. A client may choose it, so that it is unique to a tenant only."""
    return tenant, str(data.get("litellm_call_id") or "")


def _custom_logger() -> type:
    """Return the class that LiteLLM's hooks are of."""
    try:
        version = metadata.version("litellm")
    except metadata.PackageNotFoundError as error:
        raise ConfigurationError(
            "LiteLLM is not installed", remedy="run: pip install 'litellm[proxy]'"
        ) from error
    if version in _REFUSED:
        # Before it is imported.
        raise ConfigurationError(
            f"LiteLLM {version} steals credentials",
            remedy="remove it, change all keys of this machine, and install another version",
        )
    from litellm.integrations.custom_logger import CustomLogger

    logger: type = CustomLogger
    return logger


def _hook_of_environment() -> FairnessHook:
    specification = os.environ.get("TESTSGD_SPEC")
    if not specification:
        raise ConfigurationError(
            "the environment variable TESTSGD_SPEC is not set",
            remedy="set it to the TOML file of the specification",
        )
    return FairnessHook(Enforcer(specification, state=os.environ.get("TESTSGD_STATE") or None))


def __getattr__(name: str) -> Any:
    """Make the hook that the environment describes when it is first asked for."""
    if name != "fairness_hook":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    hook = _hook_of_environment()
    globals()[name] = hook
    return hook
