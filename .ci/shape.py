"""What the package's code looks like, in a few numbers for each of its parts.

``make shape`` prints for each package how many modules and lines it has, which share of the lines
are docstrings, how dense the code is, how many docstrings have numpydoc sections and how many have
an example. They are to be looked at beside those of an earlier commit; nothing fails because of
them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

_PACKAGE = Path(__file__).resolve().parent.parent / "testsgd"
_SECTION = re.compile(
    r"^\s*(?:Parameters|Returns|Attributes|Raises|Notes|Examples)\n\s*-{5,}", re.M
)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Shape:
    """Count what one or several modules hold."""

    modules: int = 0
    lines: int = 0
    docstring_lines: int = 0
    code_lines: int = 0
    nodes: int = 0
    sectioned_docstrings: int = 0
    examples: int = 0

    def __add__(self, other: Shape) -> Shape:
        """Return the sum of both."""
        return Shape(
            modules=self.modules + other.modules,
            lines=self.lines + other.lines,
            docstring_lines=self.docstring_lines + other.docstring_lines,
            code_lines=self.code_lines + other.code_lines,
            nodes=self.nodes + other.nodes,
            sectioned_docstrings=self.sectioned_docstrings + other.sectioned_docstrings,
            examples=self.examples + other.examples,
        )


def shape_of(source: str) -> Shape:
    """Return the shape of one module's source.

    Code lines are those that are neither empty nor comments nor parts of docstrings. Nodes are
    those of the syntax tree; imports, annotations and docstrings are left out of both.
    """
    tree = ast.parse(source)
    docstrings = [node for scope in ast.walk(tree) if (node := _docstring(scope)) is not None]
    in_docstrings = {line for node in docstrings for line in _lines_of(node)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    in_imports = {line for node in imports for line in _lines_of(node)}
    lines = source.splitlines()
    code_lines = [
        number
        for number, line in enumerate(lines, start=1)
        if line.strip()
        and not line.lstrip().startswith("#")
        and number not in in_docstrings
        and number not in in_imports
    ]
    texts = [str(ast.literal_eval(node.value)) for node in docstrings]
    return Shape(
        modules=1,
        lines=len(lines),
        docstring_lines=len(in_docstrings),
        code_lines=len(code_lines),
        nodes=sum(1 for _ in _code_nodes(tree)),
        sectioned_docstrings=sum(1 for text in texts if _SECTION.search(text)),
        examples=sum(1 for text in texts if ">>> " in text),
    )


def _docstring(scope: ast.AST) -> ast.Expr | None:
    if not isinstance(scope, _WITH_DOCSTRING) or not scope.body:
        return None
    first = scope.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first if is_text and isinstance(first.value.value, str) else None


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _code_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but imports, annotations and docstrings."""
    yield node
    docstring = _docstring(node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            is_import = isinstance(child, ast.Import | ast.ImportFrom)
            if isinstance(child, ast.AST) and not is_import and child is not docstring:
                yield from _code_nodes(child)


def main(folder: Path = _PACKAGE) -> None:
    """Print the shape of each package below a folder, and of all together."""
    table = Table("package", box=None)
    for heading in (
        "modules",
        "lines",
        "docstrings",
        "code",
        "nodes a line",
        "sections",
        "examples",
    ):
        table.add_column(heading, justify="right")
    shapes: dict[str, Shape] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        package = parts[0] if len(parts) > 1 else "."
        shapes[package] = shapes.get(package, Shape()) + shape_of(path.read_text(encoding="utf-8"))
    shapes["all"] = sum(shapes.values(), start=Shape())
    for package, shape in shapes.items():
        table.add_row(
            package,
            f"{shape.modules:,}",
            f"{shape.lines:,}",
            f"{shape.docstring_lines / shape.lines:.1%}",
            f"{shape.code_lines:,}",
            f"{shape.nodes / shape.code_lines:.2f}",
            f"{shape.sectioned_docstrings:,}",
            f"{shape.examples:,}",
        )
    Console().print(table)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
