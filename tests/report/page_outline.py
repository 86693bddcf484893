"""What a page says and is made of, read by a parser of HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Collects what a test asks about, and fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.headings: list[int] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.policy = ""
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []
        # A script that the page's own policy names by its hash is counted apart.
        self.tags["script"] -= sum(hash_of(script) in self.policy for script in self.scripts)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        values = dict(attributes)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        if tag == "script":
            assert not attributes
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in values:
            self.identifiers.append(values["id"])
        if "href" in values:
            self.links.append(values["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def hash_of(script: str) -> str:
    """The source of a policy that lets exactly this script run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def outline_of_report(page: str) -> Outline:
    """Check what holds for every report: well formed, in order, and asking for no other file."""
    outline = Outline(page)
    assert outline.tags["main"] == outline.tags["header"] == outline.tags["footer"] == 1
    assert outline.tags["nav"] == outline.tags["h1"] == 1
    steps = [
        later - earlier
        for earlier, later in zip([0, *outline.headings], outline.headings, strict=False)
    ]
    assert max(steps) == 1
    assert max(Counter(outline.identifiers).values()) == 1
    inner = {link[1:] for link in outline.links if link.startswith("#")}
    assert inner <= set(outline.identifiers)
    assert outline.tags["script"] == outline.tags["img"] == 0
    assert "src=" not in page
    assert "url(" not in page
    return outline
