"""What the pages show of the code is whole in the repository, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md"))
PART = re.compile(r"<!-- generated: [a-z-]+ -->(.*?)<!-- generated ends -->", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_generated_part_is_empty(page: Path) -> None:
    markdown = page.read_text(encoding="utf-8")
    parts = PART.findall(markdown)
    assert len(parts) == markdown.count("<!-- generated: ")
    assert [part for part in parts if len(part.split()) < 10] == []
