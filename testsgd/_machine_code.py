"""The decorators that turn functions into machine code, and where that code is kept.

numba keeps machine code on disk and makes it anew when the function's own file has changed, but not
when a function that it calls has changed in another file. So the code of a package's modules is
kept in a folder that is named by the digest of their sources: nothing is ever computed by an older
version of what is written there. Where numba cannot be had, the functions run uncompiled.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

import numpy as np

from testsgd.data import cache_folder

numba: Any
try:
    import numba
except ImportError:  # the same functions run as they are written, and take much longer
    numba = None

F = TypeVar("F", bound=Callable[..., Any])

# Sums are taken in the order that is written, and no two roundings become one (no `fastmath`): so
# the last bit is the same uncompiled. In the loops here it takes no longer.
# Nothing in C calls them, so no way in from there is compiled.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
}


# Packages of which no machine code was kept when they were loaded.
_compiled_anew: set[str] = set()


def is_first_use() -> bool:
    """Return whether this process compiles code that no process before it has kept."""
    return bool(_compiled_anew)


class Compiler:
    """The decorators for the modules of one package.

    What is decorated is compiled when it is first called, and the machine code is kept on disk.

    Parameters
    ----------
    package : pathlib.Path
        The folder of the modules: a function calls compiled functions of this folder only.
    """

    def __init__(self, package: Path) -> None:
        self._package = package

    def __call__(self, function: F) -> F:
        """Compile a function that Python calls."""
        return _compiled(function, self._package, _OPTIONS)

    def inner(self, function: F) -> F:
        """Compile a function that compiled functions call, and Python never does.

        Without a way in from Python it is compiled in less time.
        """
        return _compiled(function, self._package, {**_OPTIONS, "no_cpython_wrapper": True})


def _compiled(function: F, package: Path, options: Mapping[str, Any]) -> F:
    """Return a function as machine code, or as it is where numba cannot be had."""
    if numba is None:
        _warn_once()
        # Machine code divides by zero and overflows without a word; so does what stands in for it.
        return np.errstate(all="ignore")(function)
    config: Any = numba.config
    given = config.CACHE_DIR
    folder = Path(given or cache_folder() / "machine-code") / _digest(package)
    if not _is_writable(folder):  # it is compiled in every process
        _compiled_anew.add(package.name)
        return cast(F, numba.njit(**options)(function))
    if not any(folder.iterdir()):
        _compiled_anew.add(package.name)
    # numba chooses the folder while a function is decorated.
    config.CACHE_DIR = str(folder)
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except (OSError, RuntimeError):  # it does not like the folder
        return cast(F, numba.njit(**options)(function))
    finally:
        config.CACHE_DIR = given


@cache
def _warn_once() -> None:
    """Warn that what should be machine code runs as Python."""
    warnings.warn(
        "numba cannot be loaded: numerical code runs uncompiled, which takes many times as long",
        RuntimeWarning,
        stacklevel=4,
    )


def _is_writable(folder: Path) -> bool:
    """Return whether code can be kept in a folder; numba would take one without a digest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def _digest(package: Path) -> str:
    """Digest the sources of all that is compiled, and how it is."""
    digest = hashlib.sha256(numba.__version__.encode())
    digest.update(repr(_OPTIONS).encode())
    for source in sorted(package.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
