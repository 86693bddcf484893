"""What findings are of: rows or texts.

Of a table nothing that is only about texts is loaded, so the class of their findings is not asked
for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from testsgd.auditing.findings import Findings

if TYPE_CHECKING:
    from testsgd.auditing.text import TextFindings


def are_of_texts(findings: Findings) -> TypeGuard[TextFindings]:
    """Return whether findings are of texts."""
    return findings.kind == "texts"
