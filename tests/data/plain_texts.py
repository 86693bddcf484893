"""Small data sets of texts for the tests of this area: comments, and reviews in an archive."""

from __future__ import annotations

import io
import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testsgd.data import TextSpecification, specification_from_mapping

# The line numbers are what tests go by: a blank line here moves them.
COMMENTS = """\
[dataset]
name = "comments"

[text]
column = "comment"

[label]
column = "rude"
favourable = "rude"
values = ["fine", "rude"]
"""

REVIEWS = """\
[dataset]
name = "reviews"

[text]
column = "review"
folder = "set"

[label]
column = "opinion"
map = { neg = "bad", pos = "good" }
values = ["bad", "good"]
favourable = "good"
"""


def comments(**parts: Any) -> TextSpecification:
    """Describe the comments, with some parts of the description replaced."""
    return _described(COMMENTS, parts)


def reviews(**parts: Any) -> TextSpecification:
    """Describe the reviews, with some parts of the description replaced."""
    return _described(REVIEWS, parts)


def _described(text: str, parts: dict[str, Any]) -> TextSpecification:
    specification = specification_from_mapping({**tomllib.loads(text), **parts})
    assert isinstance(specification, TextSpecification)
    return specification


def pack(path: Path, members: Mapping[str, str | bytes | None], mode: str = "w:gz") -> Path:
    """Write a tar archive; a member without content is a folder."""
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if content is None:
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
                continue
            data = content.encode() if isinstance(content, str) else content
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path
