"""At the width of a desk no table of a report is wider than its column; a page can be signed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from testsgd.report.blocks import Column, Document, Row, Section, Table
from testsgd.report.html import render_html
from testsgd.report.kinds import read_result

CHROMIUM = shutil.which("chromium")
REPORTS = Path(__file__).resolve().parents[2] / "reports"
# One of each kind, and of some kinds those with the widest tables.
NAMES = (
    "compas",
    "law",
    "wiki",
    "crime-mitigated",
    "tweets-mitigated",
    "census-frontier",
    "compas-comparison",
    "credit-certified",
    "demo-metrics",
    "generative-llm-after",
    "loans-shield",
    "loans-shield-simulated",
    "loans-monitor",
    "loans-monitor-simulated",
)
MEASURE = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
const place = document.createElement("pre");
place.id = "too-wide";
place.textContent = JSON.stringify(
  [...document.querySelectorAll(".scroll")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => [box.getAttribute("aria-label"), box.scrollWidth, box.clientWidth]));
document.body.append(place);
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]


def browse(page: str, folder: Path, *options: str) -> str:
    target = folder / "page.html"
    target.write_text(page, encoding="utf-8")
    return subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,1000",
            f"--user-data-dir={folder / 'profile'}",
            *options,
            target.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def too_wide(page: str, folder: Path) -> list[list[object]]:
    """Return the tables that are wider than their columns: the name and both widths."""
    page, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert policies == 1
    shown = browse(
        page.replace("</body>", f"<script>{MEASURE}</script></body>"), folder, "--dump-dom"
    )
    found = re.search(r'<pre id="too-wide">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None
    widths: list[list[object]] = json.loads(unescape(found[1]))
    return widths


@pytest.mark.parametrize("name", NAMES)
def test_no_table_is_wider_than_its_column(name: str, tmp_path: Path) -> None:
    page = read_result(REPORTS / name / "result.json").to_html()

    assert too_wide(page, tmp_path) == []


def test_words_of_any_length_stay_in_their_column(tmp_path: Path) -> None:
    columns = (Column("Column", "name"), Column("Values"), Column("Rows", "number"))
    rows = (Row(("region", f"{'long' * 36}, R&D <b>, née Müller", "4,000")),)
    document = Document(
        what="Audit",
        subject="",
        headline="",
        sentences=(),
        sections=(Section("columns", "Columns", (Table("Columns", columns, rows),)),),
        created=None,
        version="",
        schema_name="",
    )
    assert too_wide(render_html(document), tmp_path) == []


def test_a_table_that_is_too_wide_would_be_found(tmp_path: Path) -> None:
    """The check above can fail."""
    page = read_result(REPORTS / "compas" / "result.json").to_html()

    assert too_wide(page.replace("</style>", "table { min-width: 80rem }</style>"), tmp_path)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")
@pytest.mark.parametrize("name", ["census", "crime"])
def test_an_audit_is_signed_on_its_first_page(name: str, tmp_path: Path) -> None:
    page = read_result(REPORTS / name / "result.json").to_html()
    line = re.search(r'class="signature"[^>]*><p>([^<]+)', page)
    assert line is not None
    printed = tmp_path / "page.pdf"
    browse(page, tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={printed}")

    pages = subprocess.run(
        ["pdftotext", str(printed), "-"], capture_output=True, text=True, check=True
    ).stdout.split("\f")[:-1]

    assert line[1] in pages[0]
    if name == "census":
        assert len(pages) <= 6
