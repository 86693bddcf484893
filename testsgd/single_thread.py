"""Libraries of linear algebra and of parallel loops kept to one thread."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Literal


def on_one_thread(kind: Literal["blas"] | None = None) -> AbstractContextManager[Any]:
    """Let the libraries that are loaded use one thread while a ``with`` block lasts.

    Their threads wait for one another at the end of each product or loop, which on a busy machine
    may take twenty times as long as a small product itself, and they split sums by the number of
    processors. For most of them the setting is the whole process's: who computes in several threads
    sets it around them all.

    Parameters
    ----------
    kind : {"blas"}, optional
        Only libraries of linear algebra; by default those of parallel loops (OpenMP) as well.

    Returns
    -------
    contextlib.AbstractContextManager
        At its end the libraries have as many threads as before. The limit begins at once, not when
        the block is entered.

    Examples
    --------
    >>> import numpy as np
    >>> with on_one_thread("blas"):
    ...     product = np.ones((2, 3)) @ np.ones(3)
    >>> product.tolist()
    [3.0, 3.0]
    """
    controller = _controller_of_libraries(len(sys.modules))
    limits: AbstractContextManager[Any] = controller.limit(limits=1, user_api=kind)
    return limits


@lru_cache(maxsize=1)
def _controller_of_libraries(modules: int) -> Any:
    """Return what sets the threads of all libraries that are loaded; `modules` are imported.

    To look for libraries takes milliseconds, often more than what is computed. They are loaded with
    modules that need them: where no module came since, there is no other library either.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
