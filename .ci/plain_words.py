"""Find names and first lines of docstrings that say little to somebody who was not there.

``make lint`` prints each place with the word, and fails if there is one. Words that are right where
they stand are in ``_ALLOWED``, with the file.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent / "testsgd"

# No name has one of these as a part, as in ``is_told``.
_PARTS = frozenset(
    ("told", "tells", "said", "says", "whoever", "whatever", "somebody", "everybody", "nobody")
)
# No name is just one of these: a noun says what is meant.
_NAMES = frozenset(
    ("made", "there", "now", "some", "stand", "stands", "standing", "taken", "held", "again")
)
_PHRASES = re.compile(
    r"^(?:says?|tells?)\b|"
    r"\b(?:told|said|whoever|whatever|somebody|everybody|nobody|so many|what came of|will do)\b",
    re.IGNORECASE,
)
# Words that stay where they are, by the file below the package and the word: keys of documents that
# are published, names that are exported, texts that users see, and times that are given as `now`.
_ALLOWED = frozenset(
    {
        ("auditing/call.py", "everybody"),
        ("auditing/predictions.py", "everybody"),
        ("auditing/report/summary.py", "everybody"),
        ("certification/search/regions.py", "everybody"),
        ("cli/audit.py", "everybody"),
        ("comparison/outcome.py", "whatever"),
        ("data/schema.py", "somebody"),
        ("fairness/property.py", "made"),
        ("generative/outcome.py", "standing"),
        ("generative/report/summary.py", "standing"),
        ("generative/sequence_state.py", "now"),
        ("generative/tickets.py", "again"),
        ("mitigation/outcome.py", "standing"),
        ("mitigation/search.py", "taken"),
        ("monitoring/report/layout.py", "standing"),
        ("monitoring/report/summary.py", "standing"),
        ("monitoring/running/monitor.py", "said"),
        ("monitoring/running/status_summary.py", "standing"),
        ("monitoring/specification/parts.py", "nobody"),
        ("monitoring/specification/parts.py", "whoever"),
        ("monitoring/trials/timeline.py", "now"),
        ("monitoring/trials/timeline.py", "said"),
        ("monitoring/trials/trial_assembler.py", "said"),
        ("report/blocks.py", "standing"),
        ("report/documents.py", "again"),
    }
)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Finding:
    """Name a word and where it stands."""

    file: str
    line: int
    word: str
    text: str


def findings_in(source: str, *, file: str) -> Iterator[Finding]:
    """Yield the names and first docstring lines of a module that have one of the words."""
    for node in ast.walk(ast.parse(source)):
        for name, line in _names_given(node):
            words = _PARTS.intersection(name.lower().split("_")) or _NAMES.intersection([name])
            for word in words:
                yield Finding(file=file, line=line, word=word, text=name)
        if isinstance(node, _WITH_DOCSTRING):
            first_line = (ast.get_docstring(node) or "").partition("\n")[0]
            for match in _PHRASES.finditer(first_line):
                line = node.body[0].lineno
                yield Finding(file=file, line=line, word=match[0].lower(), text=first_line)


def _names_given(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a node gives: of what is defined, its arguments, and variables."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno


def main(folder: Path = _PACKAGE) -> int:
    """Print what is found below a folder; return 1 if there is something that is not allowed."""
    found_any = False
    for path in sorted(folder.rglob("*.py")):
        file = path.relative_to(folder).as_posix()
        for finding in findings_in(path.read_text(encoding="utf-8"), file=file):
            if (finding.file, finding.word) not in _ALLOWED:
                found_any = True
                print(f"{path}:{finding.line}: {finding.word!r} in {finding.text!r}")
    return int(found_any)


if __name__ == "__main__":
    sys.exit(main(*(Path(argument) for argument in sys.argv[1:2])))
