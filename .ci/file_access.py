"""Find places outside ``testsgd/io`` that open files, or read and write them whole, by themselves.

``make lint`` prints each place, and fails if there is one. Ruff bans modules and functions (TID251
in pyproject.toml); the builtin ``open`` and the methods of paths, which it does not see, are found
here.
Whatever has a method of such a name counts, so the few others are in ``_ALLOWED``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent / "testsgd"
_DOOR = "io"
_METHODS = frozenset(("open", "read_bytes", "read_text", "write_bytes", "write_text"))
# The file below the package, the method, and why it stays.
_ALLOWED = {
    ("_machine_code.py", "read_bytes"): "sources of the package",
    ("cli/data.py", "read_text"): "the package's list of terms",
    ("cli/generative.py", "write_bytes"): "pictures, which replace those of an interrupted run",
    ("data/cells.py", "read_bytes"): "a file that was read before, to say where it is no text",
    ("models/booster_files.py", "read_bytes"): "a model whose kind and size were checked",
    ("models/posting.py", "open"): "an address, by urllib",
    ("models/refitting/schedule.py", "read_bytes"): "a network that was read before",
    ("report/documents.py", "read_text"): "schemas of the package",
    ("report/html.py", "read_text"): "a script of the package",
}


def accesses(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the function of each call in a module that opens a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield node.lineno, called.id
        elif isinstance(called, ast.Attribute) and called.attr in _METHODS:
            yield node.lineno, called.attr


def main(folder: Path = _PACKAGE) -> int:
    """Print the accesses below a folder; return 1 if there is one that is not allowed."""
    found_any = False
    for path in sorted(folder.rglob("*.py")):
        file = path.relative_to(folder)
        if file.parts[0] == _DOOR:
            continue
        for line, name in accesses(path.read_text(encoding="utf-8")):
            if (file.as_posix(), name) not in _ALLOWED:
                found_any = True
                print(f"{path}:{line}: {name!r} opens a file; use testsgd.io")
    return int(found_any)


if __name__ == "__main__":
    sys.exit(main(*(Path(argument) for argument in sys.argv[1:2])))
