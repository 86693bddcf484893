"""The page on the architecture names what is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
# A name with a dot in code, such as `rules.mining`; not a file, and nothing of other packages.
NAMES = sorted(set(re.findall(r"`([a-z_]+(?:\.\w+)+)`", PAGE.read_text(encoding="utf-8"))))
FILES = re.compile(r"\.(py|pyi|toml)$|^tool\.")


@pytest.mark.parametrize("name", [name for name in NAMES if not FILES.search(name)])
def test_what_the_page_names_is_there(name: str) -> None:
    path = name.removeprefix("testsgd.").split(".")
    at = importlib.import_module("testsgd")
    for depth, part in enumerate(path, start=1):
        try:
            at = importlib.import_module(".".join(["testsgd", *path[:depth]]))
        except ModuleNotFoundError:
            at = getattr(at, part)


def test_every_package_is_in_the_tree() -> None:
    tree = PAGE.read_text(encoding="utf-8").split("```")[1]
    package = PAGE.parents[1] / "testsgd"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {name for name in folders if f"{name}/" not in tree} == set()
