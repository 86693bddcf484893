"""Matrix products on one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def single_threaded_products() -> AbstractContextManager[Any]:
    """Let numpy's matrix products use one thread while a ``with`` block lasts.

    For many small products: the threads of a library of linear algebra wait for one another at the
    end of each, which on a busy machine takes twenty times as long as the product itself.

    The setting is the whole process's. Who asks for it from several threads sets it around them
    all, as the audit does; what is done here then changes nothing.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with single_threaded_products():
    ...     {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {1}
    True
    """
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


@cache
def _controller() -> Any:
    """Find the libraries once: it takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
