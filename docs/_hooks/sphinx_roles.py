"""Docstrings name each other as Sphinx has it (``:class:`X```); here that becomes a link."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?(?P<target>[\w.]+)`")


class SphinxRoles(Extension):
    """Write each role as a link that stays plain text where the target has no page."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(
                lambda match: _link(match["target"], obj), obj.docstring.value
            )


def _link(target: str, obj: Object) -> str:
    # A name without a dot is of the same module, one of a class within the class's docstring too.
    path = target if target.startswith("testsgd.") else f"{obj.module.path}.{target}"
    shown = target.removeprefix("testsgd.")
    return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'
