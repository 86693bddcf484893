"""Find places outside ``testsgd/io`` that open, read, write or remove files by themselves.

``make lint`` prints each place, and fails if there is one. Ruff bans modules and functions (TID251
in pyproject.toml); the builtin ``open`` and the methods of paths, which it does not see, are found
here.
Whatever has a method of such a name counts, called or handed on (the method ``open`` only if it is
called), so the few others are in ``_ALLOWED``, each with how often. The builtin counts by its name
alone, but for modules that give the name to something else.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent / "testsgd"
_DOOR = "io"
_METHODS = frozenset(
    (
        "open",
        "read_bytes",
        "read_text",
        "write_bytes",
        "write_text",
        # What removes files, of which some may be another's.
        "unlink",
        "rmdir",
        "rmtree",
        "touch",
    )
)
# The file below the package, the method, and why it stays.
_ALLOWED = {
    ("_machine_code.py", "read_bytes"): (1, "sources of the package"),
    ("cli/data.py", "read_text"): (1, "the package's list of terms"),
    ("models/posting.py", "open"): (1, "an address, by urllib"),
    ("report/documents.py", "read_text"): (1, "schemas of the package"),
    ("report/html.py", "read_text"): (1, "a script of the package"),
}


def accesses(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the function of each place in a module that opens or removes a file."""
    nodes = list(ast.walk(ast.parse(source)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == "open"]
    others = {arg.arg for arg in nodes if isinstance(arg, ast.arg)}
    others |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    is_builtin = "open" not in others and all(isinstance(name.ctx, ast.Load) for name in names)
    for node in nodes:
        # Attributes of other things are called so, too.
        is_called = id(node) in called
        if isinstance(node, ast.Name) and node.id == "open" and (is_called or is_builtin):
            yield node.lineno, node.id
        is_method = isinstance(node, ast.Attribute) and node.attr in _METHODS
        if isinstance(node, ast.Attribute) and is_method and (is_called or node.attr != "open"):
            yield node.lineno, node.attr


def main(folder: Path = _PACKAGE) -> int:
    """Print the accesses below a folder; return 1 if there is one that is not allowed."""
    found_any = False
    for path in sorted(folder.rglob("*.py")):
        file = path.relative_to(folder)
        if file.parts[0] == _DOOR:
            continue
        seen: Counter[str] = Counter()
        for line, name in accesses(path.read_text(encoding="utf-8")):
            seen[name] += 1
            most, _ = _ALLOWED.get((file.as_posix(), name), (0, ""))
            if seen[name] > most:
                found_any = True
                print(f"{path}:{line}: {name!r} opens or removes a file; use testsgd.io")
    return int(found_any)


if __name__ == "__main__":
    sys.exit(main(*(Path(argument) for argument in sys.argv[1:2])))
