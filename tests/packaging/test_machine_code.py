"""Where machine code is kept: by the digest of the sources, or nowhere."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

import testsgd
from testsgd import _machine_code as machine_code

# The packages that keep machine code.
_PACKAGES = [
    path.parent
    for path in sorted(Path(testsgd.__path__[0]).rglob("*.py"))
    if "\ncompiled = Compiler(" in path.read_text(encoding="utf-8")
]

_CALLEE = """
from pathlib import Path
from testsgd._machine_code import Compiler

compiled = Compiler(Path(__file__).parent)

@compiled.inner
def inner(x):
    return x + {added}
"""
_CALLER = """
from callee_of_machine_code import compiled, inner

@compiled
def outer(x):
    return 2 * inner(x)
"""


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says where machine code is kept."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


@pytest.fixture
def written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[int], ModuleType]]:
    """Write a function that adds a number and another that calls it, and import both."""
    folder = tmp_path / "sources"
    folder.mkdir()
    names = ("callee_of_machine_code", "caller_of_machine_code")

    def load(added: int) -> ModuleType:
        module: ModuleType
        for name, text in zip(names, (_CALLEE.format(added=added), _CALLER), strict=True):
            path = folder / f"{name}.py"
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            specification = importlib.util.spec_from_file_location(name, path)
            assert specification is not None
            assert specification.loader is not None
            module = importlib.util.module_from_spec(specification)
            sys.modules[name] = module
            specification.loader.exec_module(module)
        return module

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield load
    for name in names:
        sys.modules.pop(name, None)


def digest(package: Path) -> str:
    """Compute it anew."""
    digested: Any = machine_code._digest
    return str(digested.__wrapped__(package))


@pytest.mark.parametrize("folder", _PACKAGES, ids=str)
def test_every_change_of_a_source_changes_the_digest(tmp_path: Path, folder: Path) -> None:
    for source in folder.glob("*.py"):
        shutil.copy(source, tmp_path)
    before = digest(folder)
    assert digest(tmp_path) == before
    seen = {before}
    sources = sorted(tmp_path.glob("compiled*.py"))
    for source in sources:
        with source.open("a") as file:
            file.write("# changed\n")
        assert digest(tmp_path) not in seen
        seen.add(digest(tmp_path))
    sources[0].rename(tmp_path / "renamed.py")
    assert digest(tmp_path) not in seen
    # Whatever else lies there is no source.
    now = digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "notes.txt").write_text("nothing")
    assert digest(tmp_path) == now


def test_another_numba_is_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(tmp_path)
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert digest(tmp_path) != before


def test_code_that_is_compiled_otherwise_has_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(tmp_path)
    monkeypatch.setitem(machine_code._OPTIONS, "fastmath", True)
    assert digest(tmp_path) != before


@pytest.mark.usefixtures("unset")
def test_the_folder_is_the_digest_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[int], ModuleType]
) -> None:
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(machine_code, "_digest", lambda package: "first")
    assert written(1).outer(1.0) == 4.0
    kept = tmp_path / "cache" / "machine-code" / "first"
    assert {path.suffix for path in kept.rglob("*.*")} == {".nbi", ".nbc"}
    # What is called has changed, and so has the digest: the caller is made anew.
    monkeypatch.setattr(machine_code, "_digest", lambda package: "second")
    assert written(10).outer(1.0) == 22.0
    assert (tmp_path / "cache" / "machine-code" / "second").is_dir()
    assert numba.config.CACHE_DIR == ""


def test_a_given_folder_is_used_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[int], ModuleType]
) -> None:
    given = str(tmp_path / "given")
    monkeypatch.setattr(numba.config, "CACHE_DIR", given)
    module = written(1)
    assert given == numba.config.CACHE_DIR
    path = Path(module.outer.stats.cache_path)
    assert path.is_relative_to(Path(given) / machine_code._digest(tmp_path / "sources"))
    assert module.outer(1.0) == 4.0
    assert given == numba.config.CACHE_DIR


@pytest.mark.parametrize("error", [OSError, RuntimeError, ValueError])
def test_the_folder_is_left_as_it_was_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def refuse(**options: Any) -> Callable[[Any], Any]:
        if options.pop("cache", False):
            raise error("no")
        return lambda function: ("not kept", function)

    monkeypatch.setattr(numba, "njit", refuse)
    if error is ValueError:
        with pytest.raises(ValueError, match="no"):
            machine_code.Compiler(tmp_path)(digest)
    else:
        made: Any = machine_code.Compiler(tmp_path)(digest)
        assert made == ("not kept", digest)
    assert str(tmp_path) == numba.config.CACHE_DIR


@pytest.mark.usefixtures("unset")
def test_without_a_place_to_write_nothing_is_kept_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[int], ModuleType]
) -> None:
    # A file where the folder should be: not even root can write below it.
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path / "cache")
    module = written(1)
    assert module.outer(1.0) == 4.0
    # Nor beside the sources, where no digest tells old code from new.
    assert not list((tmp_path / "sources").rglob("*.nb?"))
    assert module.outer.stats.cache_path is None
    # The caller's own file is as it was, yet it must not call what the other file was.
    assert written(10).outer(1.0) == 22.0
    assert numba.config.CACHE_DIR == ""
