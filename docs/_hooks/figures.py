"""Pictures drawn into the page: as part of it they follow the reader's choice of light or dark."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

_IMAGE = re.compile(
    r'<p>\s*<img alt="(?P<alt>[^"]*)" src="[^"]*?images/(?P<name>[\w-]+\.svg)"[^>]*>\s*</p>'
)


def drawn_in(html: str, docs_folder: str) -> str:
    """Replace images that are SVG files of docs/images by what is in the files."""
    return _IMAGE.sub(lambda match: _figure(match["name"], match["alt"], docs_folder), html)


def _figure(name: str, alt: str, docs_folder: str) -> str:
    drawing = (Path(docs_folder) / "images" / name).read_text(encoding="utf-8").strip()
    if unescape(alt) != _title(drawing):
        raise ValueError(f"{name}: the page's text for the picture and its <title> differ")
    return f'<figure class="drawing" tabindex="0">{drawing}</figure>'


def _title(drawing: str) -> str:
    match = re.search(r"<title[^>]*>(.*?)</title>", drawing, re.DOTALL)
    return " ".join(unescape(match.group(1)).split()) if match else ""
