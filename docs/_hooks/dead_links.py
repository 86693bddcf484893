"""Links of the built site that lead nowhere, and images that are not there."""

from __future__ import annotations

from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class _Page(HTMLParser):
    """Collects what a page links to, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in ("a", "link"):
            self.links.add(given.get("href", ""))
        elif tag in ("img", "script"):
            self.links.add(given.get("src", ""))


def dead_links(site: Path) -> list[str]:
    """Return each dead link as ``page: link``; addresses of other sites are not looked at."""
    pages = {
        path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
    found: dict[str, set[str]] = defaultdict(set)
    for path, page in pages.items():
        # This page stands for any address, and its links begin at the site's own.
        if path.name == "404.html":
            continue
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlsplit(address).scheme or address.startswith("//"):
                continue
            target = (path.parent / unquote(urlsplit(address).path)).resolve() if address else path
            if target.is_dir():
                target /= "index.html"
            known = pages.get(target)
            if not target.is_file() or (known and unquote(anchor) not in known.anchors):
                found[link].add(str(path.relative_to(site.resolve())))
    return [f"{page}: {link}" for link, on in sorted(found.items()) for page in sorted(on)]
