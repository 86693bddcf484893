"""What the pages of the Python interface are made from: exports, parameters, links."""

from __future__ import annotations

import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from griffe import Attribute, Class, Extension, Module, Object

from testsgd.parameters import declared_parameters

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?(?P<target>[\w.]+)`")


class Exports(Extension):
    """Show what a package exports in its ``__init__.pyi``, from where it is loaded when used."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Name the exports of a package and of all packages in it."""
        for module in (pkg, *_modules_in(pkg)):
            stub = module.filepath
            if isinstance(stub, Path) and stub.with_suffix(".pyi").exists():
                module.exports = [
                    name
                    for name, member in module.members.items()
                    if member.is_alias and name != "lazy_loader"
                ]


def _modules_in(module: Module) -> Iterator[Module]:
    for member in module.members.values():
        if isinstance(member, Module):
            yield member
            yield from _modules_in(member)


class DeclaredParameters(Extension):
    """Show the parameters that a class declares as its attributes, each with its default."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Take over a class's docstring and defaults from the loaded class."""
        if not any(str(base) == "Parameters" for base in cls.bases):
            return
        loaded = pydoc.locate(cls.path)
        if cls.docstring is not None and isinstance(loaded, type):
            cls.docstring.value = loaded.__doc__ or ""
            for name, declared in declared_parameters(loaded).items():
                attribute = cls.members[name]
                if isinstance(attribute, Attribute):
                    attribute.value = repr(declared.default)


class SphinxRoles(Extension):
    """Write each role of Sphinx as a link that stays plain text where the target has no page."""

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
