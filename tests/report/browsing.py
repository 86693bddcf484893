"""Pages in Debian's chromium: one at a time, or many one after the other.

A browser takes a second of a processor to start, so what is asked about many pages is asked in one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")

# The script of a page: what was found on the pages before it is behind the # of its address.
_CHECK = """
const found = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "[]");
for (const fold of document.querySelectorAll("details")) fold.open = true;
const leave = (finding) => {
  found.push(finding);
  const next = NEXT;
  if (next) {
    location.href = next + "#" + encodeURIComponent(JSON.stringify(found));
    return;
  }
  const place = document.createElement("pre");
  place.id = "found-on-pages";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
};
"""


def browse(page: Path, *options: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Have chromium open a page, and do what its options say."""
    return subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            f"--user-data-dir={page.parent / 'profile'}",
            *options,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )


def found_on_pages(
    pages: Mapping[str, str],
    check: str,
    with_script: Callable[[str, str], str],
    folder: Path,
    *options: str,
) -> dict[str, Any]:
    """Return what a script finds on each of some pages, all opened by one browser.

    The script calls ``leave`` with what it found, which JSON can hold; `with_script` puts a script
    into a page. Folds are open.
    """
    files = [folder / f"{number}.html" for number in range(len(pages))]
    for number, page in enumerate(pages.values()):
        following = files[number + 1].name if number + 1 < len(files) else ""
        script = _CHECK.replace("NEXT", json.dumps(following)) + check
        files[number].write_text(with_script(page, script), encoding="utf-8")
    finished = browse(files[0], "--dump-dom", "--virtual-time-budget=600000", *options, timeout=300)
    found = re.search(r'<pre id="found-on-pages">(.*?)</pre>', finished.stdout, re.DOTALL)
    assert found is not None, finished.stderr[-2000:]
    return dict(zip(pages, json.loads(unescape(found[1])), strict=True))
