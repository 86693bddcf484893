"""Which files a command reads, so that it replaces none of them, and writes each file once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import Any

from testsgd.cli.console import OF_MODELS, REPORTS
from testsgd.errors import ConfigurationError, TestSGDError
from testsgd.io import check_no_input, keeping_inputs, loads_toml, read_text

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
        with keeping_inputs(_input_files(arguments, written)):
            for name in sorted(written & arguments.keys()):
                for target in _texts(arguments[name]):
                    check_no_input(target)
            _check_apart(arguments, written, flags)
            return run(**arguments)

    command.callback = keeping


def _check_apart(arguments: Mapping[str, Any], written: set[str], flags: Mapping[str, str]) -> None:
    """Raise a :class:`ConfigurationError` if two options name the same file to be written."""
    targets = [
        (name, Path(target))
        for name in sorted(written & arguments.keys())
        for target in _texts(arguments[name])
    ]
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
    files += [named for file in files for named in _files_of_specification(file)]
    return [*files, *_imported_files(files)]


def _imported_files(files: list[Path]) -> list[Path]:
    """Return the modules beside those among the files that these import, and so on.

    They are found without running anything. A module whose name is put together while another runs
    is not; once it is loaded, :func:`testsgd.io.check_no_input` knows it.
    """
    modules = sorted({file for file in files if file.suffix == ".py"})
    if not modules:
        return []
    from modulefinder import ModuleFinder

    found: list[Path] = []
    for file in modules:
        root, name = _dotted_name(file)
        finder = ModuleFinder(path=[str(root), str(Path())])
        # The caller that loads it says what is wrong with it.
        with suppress(ImportError, SyntaxError, ValueError, OSError, RecursionError):
            finder.import_hook(name)
        paths = (getattr(module, "__file__", None) for module in finder.modules.values())
        found += [Path(path) for path in paths if path]
    return found


def _dotted_name(module: Path) -> tuple[Path, str]:
    """Return the folder from which a module is imported, and under which name."""
    root, names = module.absolute().parent, [module.stem]
    while (root / "__init__.py").is_file():
        root, names = root.parent, [root.name, *names]
    return root, ".".join(names)


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
    module = first.replace(".", "/")
    names = {text, first, f"{module}.py", f"{module}/__init__.py"}
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
