"""Which files a command reads, so that it replaces none of them, and writes each file once."""

from __future__ import annotations

import ast
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import Any

from testsgd.cli.console import OF_MODELS, REPORTS
from testsgd.errors import ConfigurationError, TestSGDError
from testsgd.io import check_no_input, keeping_inputs, loads_toml, read_bytes, read_text

# The options that name what is written. Some of these files are read too, to go on from them.
_WRITTEN = {
    "answers",
    "checkpoint",
    "dead_letters",
    "export",
    "export_regions",
    "journal",
    "model_out",
    "out",
    "state",
}
# Options that name what is written by these commands only.
_WRITTEN_BY = {"synthesize": {"shield"}, "terms": {"terms"}}
# Options that name folders, in which several may write; by some commands `out` is a file.
_FOLDERS = {"model_out", "out"}
# What commands write into a folder beside what other options name.
_IN_FOLDERS = (*REPORTS, *OF_MODELS)
# How the files of modules end.
_MODULE = ".py"
# The imports of more modules, and of larger ones, are not followed.
_MOST_MODULES = 10_000
_LARGEST_MODULE = 2**26
# A package begins at most as many folders above its module.
_DEEPEST_PACKAGE = 6
# A specification that is larger is not searched for the files it names.
_SEARCHED_BYTES = 2**20


def keep_inputs(command: Any) -> None:
    """Let a command replace none of the files that its arguments name, or their specifications.

    Two options that name the same file to be written are refused, too.

    Parameters
    ----------
    command : typer.core.TyperCommand
        Its callback is replaced.
    """
    run: Callable[..., Any] = command.callback
    written = _WRITTEN | _WRITTEN_BY.get(command.name, set())
    flags = {option.name: option.opts[0] for option in command.params}

    @wraps(run)
    def keeping(**arguments: Any) -> Any:
        inputs = _input_files(arguments, written)
        targets = [
            (name, Path(target))
            for name in sorted(written & arguments.keys())
            for target in _texts(arguments[name])
        ]
        if any(target.suffix == _MODULE for _, target in targets):
            inputs += _imported_files(inputs)
        with keeping_inputs(inputs):
            for _, target in targets:
                check_no_input(target)
            _check_apart(targets, flags)
            return run(**arguments)

    command.callback = keeping


def _check_apart(targets: Sequence[tuple[str, Path]], flags: Mapping[str, str]) -> None:
    """Raise a :class:`ConfigurationError` if two options name the same file to be written."""
    for (one, first), (other, second) in combinations(targets, 2):
        if {one, other} <= _FOLDERS:
            continue
        pairs = [(first, second)]
        pairs += [(first / name, second) for name in _IN_FOLDERS if one in _FOLDERS]
        pairs += [(first, second / name) for name in _IN_FOLDERS if other in _FOLDERS]
        if any(_is_one_file(*pair) for pair in pairs):
            raise ConfigurationError(
                f"{flags.get(one, one)} and {flags.get(other, other)} name the same file",
                where=str(second if other not in _FOLDERS else first),
                remedy="give each its own",
            )


def _is_one_file(first: Path, second: Path) -> bool:
    """Return whether two names are of one file, which need not be there."""
    try:
        return os.path.realpath(first) == os.path.realpath(second) or first.samefile(second)
    except (OSError, ValueError):
        return False


def _input_files(arguments: Mapping[str, Any], written: set[str]) -> list[Path]:
    """Return the files that are read, by the values of a command's arguments."""
    values = [value for name, value in arguments.items() if name not in written]
    files = [file for text in _texts(values) for file in _named_files(text, Path())]
    # A file that is the standard input.
    files += [file for file in [Path("/dev/stdin")] if file.is_file()]
    return [*files, *(named for file in files for named in _files_of_specification(file))]


def _imported_files(files: Sequence[Path]) -> list[Path]:
    """Return the modules that the modules among the files import, and those that these import.

    Nothing is run. A module whose name is put together while another runs is not found; once it is
    loaded, :func:`testsgd.io.check_no_input` knows it.
    """
    known: dict[str, Path] = {}
    left = deque(file for file in files if file.suffix == _MODULE)
    # The nearest first.
    while left and len(known) < _MOST_MODULES:
        module = left.popleft()
        name = os.path.realpath(module)
        if name not in known:
            known[name] = module
            left += _imports_of(module)
    return list(known.values())


def _imports_of(module: Path) -> list[Path]:
    """Return the files that a module's imports may name, and those of the packages it is in."""
    try:
        tree = ast.parse(read_bytes(module, at_most=_LARGEST_MODULE))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        # The caller that loads it says what is wrong.
        return []
    # The folders of the package that it may be part of, the nearest first.
    packages = list(module.absolute().parents)[:_DEEPEST_PACKAGE]
    roots = [*packages, Path(), *map(Path, _own_paths())]
    beginnings = {package / f"__init__{_MODULE}" for package in packages}
    files = {file for file in beginnings if file.is_file()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                files |= _module_files(alias.name, roots)
        elif isinstance(node, ast.ImportFrom):
            base = packages[node.level - 1 : node.level] if node.level else roots
            parts = [node.module] if node.module else []
            files |= _module_files(".".join(parts), base)
            for alias in node.names:
                files |= _module_files(".".join([*parts, alias.name]), base)
    return sorted(files)


def _own_paths() -> list[str]:
    """Return the folders that modules are found in, without those of Python's installation."""
    installed = tuple({sys.prefix, sys.base_prefix})
    return [path for path in sys.path if path and not path.startswith(installed)]


def _module_files(name: str, roots: Iterable[Path]) -> set[Path]:
    """Return the files of a module, and of the packages that it is in, below each of some roots."""
    parts = name.split(".")
    # Its own modules are never the user's.
    if not all(parts) or parts[0] == "testsgd":
        return set()
    files = set()
    for root in roots:
        for count in range(1, len(parts) + 1):
            path = os.path.join(root, *parts[:count])
            files |= {f"{path}{_MODULE}", os.path.join(path, f"__init__{_MODULE}")}
    # Some texts are no names of files at all, of which this takes no notice.
    return {Path(file) for file in files if os.path.isfile(file)}


def _files_of_specification(file: Path) -> list[Path]:
    """Return the files that a TOML file names, relative to its folder."""
    if file.suffix.lower() != ".toml":
        return []
    try:
        if file.stat().st_size > _SEARCHED_BYTES:
            return []
        document = loads_toml(read_text(file))
    except (TestSGDError, OSError, ValueError, RecursionError):
        # The caller that needs it says what is wrong.
        return []
    return [named for text in _texts(document) for named in _named_files(text, file.parent)]


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts and paths in a value, however deep."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _named_files(text: str, folder: Path) -> Iterator[Path]:
    """Yield the files that a text names, and what is read beside a model.

    It is a name, ``FILE:KEY``, ``MODULE:NAME``, the folder of a model, or a command with its words.
    """
    first = text.rpartition(":")[0]
    yield from sorted(_module_files(first, [folder, *map(Path, _own_paths())]))
    names = {text, first}
    if text.startswith("cmd:"):
        names.update(text.removeprefix("cmd:").split())
    for name in sorted(names):
        # Some texts are no names of files at all.
        try:
            is_file = bool(name) and (folder / name).is_file()
            # A word alone is rather a name of the catalogue.
            is_folder = os.sep in name and (folder / name).is_dir()
        except (OSError, ValueError):
            continue
        if is_file:
            yield folder / name
            if Path(name).name in OF_MODELS:
                yield from _of_model((folder / name).parent)
        elif is_folder:
            yield from _of_model(folder / name)


def _of_model(folder: Path) -> list[Path]:
    """Return the files of a model in a folder."""
    return [folder / name for name in OF_MODELS if (folder / name).is_file()]
