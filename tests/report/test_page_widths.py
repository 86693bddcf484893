"""At the width of a desk no table of a report is wider than its column; a page can be signed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browsing import browse, found_on_pages, needs_chromium

from testsgd.report.blocks import Column, Document, Row, Section, Table
from testsgd.report.html import render_html
from testsgd.report.kinds import read_result

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
leave([...document.querySelectorAll(".scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => [box.getAttribute("aria-label"), box.scrollWidth, box.clientWidth]));
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    needs_chromium,
]


def with_script(page: str, script: str) -> str:
    """Put a script into a page in place of its policy."""
    page, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert policies == 1
    return page.replace("</body>", f"<script>{script}</script></body>")


def long_words() -> str:
    """Return a page with a table of words of any length."""
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
    return render_html(document)


@pytest.fixture(scope="module")
def too_wide(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[object]]]:
    """Tables of each page that are wider than their columns: the name and both widths."""
    pages = {name: read_result(REPORTS / name / "result.json").to_html() for name in NAMES}
    pages["long words"] = long_words()
    pages["wide"] = pages["compas"].replace("</style>", "table { min-width: 80rem }</style>")
    options = ("--hide-scrollbars", "--window-size=1280,1000")
    return found_on_pages(pages, MEASURE, with_script, tmp_path_factory.mktemp("pages"), *options)


@pytest.mark.parametrize("name", NAMES)
def test_no_table_is_wider_than_its_column(
    name: str, too_wide: dict[str, list[list[object]]]
) -> None:
    assert too_wide[name] == []


def test_words_of_any_length_stay_in_their_column(too_wide: dict[str, list[list[object]]]) -> None:
    assert too_wide["long words"] == []


def test_a_table_that_is_too_wide_would_be_found(too_wide: dict[str, list[list[object]]]) -> None:
    """The check above can fail."""
    assert too_wide["wide"]


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")
@pytest.mark.parametrize("name", ["census", "crime"])
def test_an_audit_is_signed_on_its_first_page(name: str, tmp_path: Path) -> None:
    page = read_result(REPORTS / name / "result.json").to_html()
    line = re.search(r'class="signature"[^>]*><p>([^<]+)', page)
    assert line is not None
    target = tmp_path / "page.html"
    target.write_text(page, encoding="utf-8")
    printed = tmp_path / "page.pdf"
    browse(target, "--no-pdf-header-footer", f"--print-to-pdf={printed}")

    pages = subprocess.run(
        ["pdftotext", str(printed), "-"], capture_output=True, text=True, check=True
    ).stdout.split("\f")[:-1]

    assert line[1] in pages[0]
    if name == "census":
        assert len(pages) <= 6
