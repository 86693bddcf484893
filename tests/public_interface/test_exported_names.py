"""Exported names: none is that of its module, which would stand in its place once imported."""

from __future__ import annotations

import re
from pathlib import Path

import testsgd

PACKAGE = Path(testsgd.__file__).parent


def test_no_exported_name_is_that_of_its_module() -> None:
    clashes = [
        f"{stub.parent.relative_to(PACKAGE)}: {name}"
        for stub in PACKAGE.rglob("__init__.pyi")
        for module, name in re.findall(r"from \.(\w+) import (\w+) as", stub.read_text())
        if module == name
    ]
    assert clashes == []
