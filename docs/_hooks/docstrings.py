"""What the pages of the Python interface are made from: exports, parameters, fields, links."""

from __future__ import annotations

import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from griffe import Attribute, Class, Docstring, Extension, Module, Object

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


class FieldComments(Extension):
    """Show the comment on or above a field of a class as what the field is."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Give one field its comment, if it has no docstring."""
        in_class = attr.parent is not None and attr.parent.is_class
        if not in_class or attr.docstring is not None or attr.lineno is None:
            return
        lines = attr.lines_collection[attr.filepath]
        inline = lines[(attr.endlineno or attr.lineno) - 1].partition("  # ")[2]
        text, above = inline, attr.lineno - 2
        while not inline and lines[above].strip().startswith("# "):
            text = f"{lines[above].strip()[2:]} {text}"
            above -= 1
        if text:
            attr.docstring = Docstring(_linked(text.strip(), attr), parent=attr)


class SphinxRoles(Extension):
    """Write each role of Sphinx as a link that stays plain text where the target has no page."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite one object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _linked(obj.docstring.value, obj)


def _linked(text: str, obj: Object) -> str:
    return _ROLE.sub(lambda match: _link(match["target"], obj), text)


def _link(target: str, obj: Object) -> str:
    # A name without a dot is of the same module, one of a class within the class's docstring too.
    path = target if target.startswith("testsgd.") else f"{obj.module.path}.{target}"
    shown = target.removeprefix("testsgd.")
    return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'
