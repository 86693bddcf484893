"""Addresses of servers in messages: without what is secret in them."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

_HIDDEN = "***"


def shown(url: str) -> str:
    """Return what may be shown of an address: no user, no password, no options.

    Examples
    --------
    >>> shown("postgresql://me:secret@db.example:5432/fair?sslmode=require")
    'postgresql://db.example:5432/fair'
    >>> shown("redis://:not/quoted@host")
    'redis://...'
    """
    scheme = url.partition("://")[0]
    if not is_clear(url):
        return f"{scheme}://..."
    parts = urlsplit(url)
    return f"{scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_clear(url: str) -> bool:
    """Return whether it is certain which part of the address is the password.

    A password with a slash or a question mark that is not quoted ends the host's part early.

    Examples
    --------
    >>> is_clear("redis://:quoted%2Fwell@host"), is_clear("redis://:not/quoted@host")
    (True, False)
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return "@" not in parts.path + parts.query + parts.fragment


def without_secrets(text: str, url: str) -> str:
    r"""Return the first line of a driver's message, with the passwords of the address hidden.

    Examples
    --------
    >>> without_secrets("cannot log in with a/b\nhint", "redis://:a%2Fb@host")
    'cannot log in with ***'
    """
    if not is_clear(url):
        return "the address cannot be read"
    parts = urlsplit(url)
    secrets = [value for name, value in parse_qsl(parts.query) if "password" in name.lower()]
    if parts.password:
        secrets += [parts.password, unquote(parts.password)]
    lines = text.strip().splitlines()
    line = lines[0] if lines else "no reason given"
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            line = line.replace(secret, _HIDDEN)
    return line
